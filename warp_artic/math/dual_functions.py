"""What the functions of `math.numbers` do with dual numbers: a value, and its derivatives along some directions.

A dual number (a, a1, a2, ...) has the value a first, and then its derivative along each direction. Functions of values
are those of scalars, and derivatives follow by the chain rule:
    (a b)k = ak b + a bk,   (a / b)k = (ak - bk a / b) / b,   sqrt(a)k = ak / (2 sqrt(a)),
    sin(a)k = cos(a) ak,    cos(a)k = -sin(a) ak,             atan2(a, b)k = (ak b - bk a) / (a^2 + b^2)
Choices look at values only: what is differentiated is the branch that is taken, and where two meet the one-sided
derivative of one of them. `any_positive`, by which kernels pass over zeros, is true of a zero that has a derivative.
A derivative is a finite number where its value is, within the range of the type. That of a value that is not finite is
zero, so that 0 times infinity comes of no infinite bound; so are those of a root and of an angle at zero (Griewank and
Walther, Evaluating Derivatives, 2008, chapter 14).
"""

import warp as wp

from warp_artic.math.lane_body import lane_body


def dual_functions(numbers, on_cpu, add, sub, mul, div, neg, real, sqrt, sine, cosine, arctan2, minimum, maximum,
                   absolute, where_positive, any_positive, is_finite, with_derivatives):  # fmt: skip
    """Add the overloads for dual numbers to the functions, which Warp extends by name.

    On a CPU a dual number is a vector of the compiler; elsewhere its entries are computed one after the other.
    """
    T, lanes = numbers.real, numbers.lanes
    s = "float" if numbers.scalar is wp.float32 else "double"
    A, B = ("(*(const V*)&a)", "(*(const V*)&b)") if on_cpu else ("a[k]", "b[k]")

    def body(derivative, value=None, before=""):
        """A native body: the derivatives, or all entries, as an expression of entries A and B, and the value."""
        before = f"typedef {s} S; {before}"
        last = f"result[0] = {value};" if value else ""
        if on_cpu:
            return lane_body(lanes, s, f"{before} R = {derivative}; {last}")
        loop = f"for (int k = 0; k < {lanes}; ++k) result[k] = {derivative};"
        return f"typedef {s} V; {before} wp::vec_t<{lanes}, {s}> result; {loop} {last} return result;"

    @wp.func_native(body(f"{A} + {B}"))
    def add(a: T, b: T) -> T: ...

    @wp.func_native(body(f"{A} - {B}"))
    def sub(a: T, b: T) -> T: ...

    finite_product = "const S p = a[0] * b[0]; const bool ok = p - p == S(0);"
    factors = "const S x = ok ? a[0] : S(0), y = ok ? b[0] : S(0);"

    @wp.func_native(body(f"{A} * V(y) + V(x) * {B}", "p", finite_product + factors))
    def mul(a: T, b: T) -> T: ...

    finite_quotient = "const S i = S(1) / b[0], q = a[0] / b[0]; const bool ok = q - q == S(0) && i - i == S(0);"
    factors = "const S x = ok ? q : S(0), y = ok ? i : S(0);"

    @wp.func_native(body(f"({A} - {B} * V(x)) * V(y)", "q", finite_quotient + factors))
    def div(a: T, b: T) -> T: ...

    @wp.func_native(body(f"-{A}"))
    def neg(a: T) -> T: ...

    @wp.func_native(body("V(S(0))", "(S)value"))
    def real(value: wp.float32, like: T) -> T: ...

    @wp.func_native(body("V(S(0))", "(S)value"))
    def real(value: wp.float64, like: T) -> T: ...  # noqa: F811 (an overload)

    @wp.func_native(body(f"{A} * V(i)", "r", "const S r = wp::sqrt(a[0]), i = r > S(0) ? S(0.5) / r : S(0);"))
    def sqrt(a: T) -> T: ...

    at = "const S f = wp::{0}(a[0]), g = wp::{1}(a[0]), i = g - g == S(0) ? g : S(0);"

    @wp.func_native(body(f"{A} * V(i)", "f", at.format("sin", "cos")))
    def sine(a: T) -> T: ...

    @wp.func_native(body(f"{A} * V(-i)", "f", at.format("cos", "sin")))
    def cosine(a: T) -> T: ...

    # Of the point (b, a), made as large as one before it is squared
    scaled = """
        const S most = wp::max(wp::abs(a[0]), wp::abs(b[0])), i = most > S(0) ? S(1) / most : S(0);
        const S u = a[0] * i, w = b[0] * i, n = i / (u * u + w * w);
        const bool ok = n - n == S(0) && i > S(0);
        const S x = ok ? u * n : S(0), y = ok ? w * n : S(0);
    """

    @wp.func_native(body(f"{A} * V(y) - {B} * V(x)", "wp::atan2(a[0], b[0])", scaled))
    def arctan2(a: T, b: T) -> T: ...

    @wp.func_native("return a[0] < b[0] ? a : b;")
    def minimum(a: T, b: T) -> T: ...

    @wp.func_native("return a[0] > b[0] ? a : b;")
    def maximum(a: T, b: T) -> T: ...

    @wp.func_native(body(f"a[0] < S(0) ? -{A} : {A}"))
    def absolute(a: T) -> T: ...

    @wp.func_native(f"return x[0] > ({s})0 ? a : b;")
    def where_positive(x: T, a: T, b: T) -> T: ...

    # What is zero has to be added all the same where it has a derivative.
    @wp.func_native(f"""
        bool found = x[0] > ({s})0;
        for (int k = 1; k < {lanes}; ++k) found = found || (x[0] == ({s})0 && x[k] != ({s})0);
        return found;""")
    def any_positive(x: T) -> bool: ...

    @wp.func_native(body("V(S(0))", "x[0] - x[0] == S(0) ? S(1) : S(0)"))
    def is_finite(x: T) -> T: ...

    @wp.func_native(body("(*(const V*)&derivatives)" if on_cpu else "derivatives[k]", "value[0]"))
    def with_derivatives(value: T, derivatives: T) -> T: ...
