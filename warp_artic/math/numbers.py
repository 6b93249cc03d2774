"""The number a kernel works on: a scalar, or one lane vector that holds the same quantity of several environments.

Where derivatives are asked for it is a dual number: a value and its derivatives along some directions, the lanes of one
environment (`math.dual_functions`).

A CPU core computes 8 or 16 environments at a time when a number is a lane vector; a CUDA thread computes
one. Phases are written once, on `Real`, `Vec3`, `Mat3` and `Sym3`: the annotations below, which accept any of the
number types. The operators + - * / and the functions of this file are what the number types have in common; all are
elementwise, so that no environment can see another.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import warp as wp

from warp_artic.math.dual_functions import dual_functions
from warp_artic.math.kernel_digest import come_late
from warp_artic.math.lane_body import lane_body
from warp_artic.math.processor import lane_bytes, register_bytes

Real = Any
"""Annotation of a number: float32, float64, or a lane vector of them."""
Vec3 = Any
"""Annotation of a vector (x, y, z)."""
Mat3 = Any
"""Annotation of a matrix by its rows (x, y, z)."""
Sym3 = Any
"""Annotation of a symmetric matrix (xx, xy, xz, yy, yz, zz)."""


@dataclass(frozen=True)
class Numbers:
    """A number type and the vectors and matrices made of it."""

    lanes: int
    """Scalars in one number: environments, or of a dual number the value and its derivatives."""
    scalar: type
    """wp.float32 or wp.float64."""
    real: type
    """The scalar itself, or the lane vector."""
    vec3: type
    mat3: type
    sym3: type
    is_dual: bool = False
    """Whether a number is a value of one environment with its derivatives along some directions, or on a tape."""
    is_taped: bool = False
    """Whether it leaves what it is made of on a tape, and derivatives are found backward."""


_SINE_COSINE_FLOAT = """
    typedef int I __attribute__((ext_vector_type({lanes})));
    const V x = *(const V*)&a;
    // Cody-Waite reduction to [-pi/4, pi/4], then minimax polynomials; one rounding for |x| < 1e4.
    const V turns = __builtin_elementwise_rint(x * 0.6366197723675814f);
    const I quadrant = __builtin_convertvector(turns, I);
    const V r = ((x - turns * 1.5703125f) - turns * 4.837512969970703e-4f) - turns * 7.549789948768648e-8f;
    const V z = r * r;
    const V sine = r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
    const V cosine = 1.0f - 0.5f * z
        + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
    const I odd = (quadrant & 1) != 0;
"""

_ARCTAN2_FLOAT = """
    // Half an octant by a minimax polynomial (Cephes), and the rest by reflections; two roundings.
    const V ay = __builtin_elementwise_abs(y), ax = __builtin_elementwise_abs(x);
    const V most = ay > ax ? ay : ax, least = ay > ax ? ax : ay;
    const V t = most > 0.0f ? least / most : 0.0f * most;
    const V upper = t > 0.41421356f ? V(1.0f) : V(0.0f);
    const V r = (t - upper) / (1.0f + upper * t);
    const V z = r * r;
    const V arc = r + r * z * (-3.33329491539e-1f + z * (1.99777106478e-1f
        + z * (-1.38776856032e-1f + z * 8.05374449538e-2f)));
    V angle = upper * 0.785398185f + (arc - upper * 2.18556941e-8f);
    angle = ay > ax ? 1.57079637f - (angle + 4.37113883e-8f) : angle;
    angle = x < 0.0f ? 3.14159274f - (angle + 8.74227766e-8f) : angle;
    angle = x != x ? x : angle;
    R = y < 0.0f ? -angle : angle;
"""


def _lane_functions(numbers, add, sub, mul, div, neg, real, sqrt, sine, cosine, arctan2, minimum, maximum,
                    absolute, where_positive, any_positive, is_finite, with_derivatives):  # fmt: skip
    """Add the overloads for a lane vector; the arguments are the functions so far, which Warp extends by name."""
    T, S, lanes = numbers.real, numbers.scalar, numbers.lanes
    scalar = "float" if S is wp.float32 else "double"

    def body(statements):
        return lane_body(lanes, scalar, statements)

    def each(expression):
        return body(f"for (int i = 0; i < {lanes}; ++i) result[i] = {expression};")

    A, B, X = "(*(const V*)&a)", "(*(const V*)&b)", "(*(const V*)&x)"
    reduction = _SINE_COSINE_FLOAT.format(lanes=lanes)
    if scalar == "float":
        sine_body = body(reduction + "const V s = odd ? cosine : sine; R = ((quadrant & 2) != 0) ? -s : s;")
        cosine_body = body(reduction + "const V c = odd ? sine : cosine; R = (((quadrant + 1) & 2) != 0) ? -c : c;")
        arctan2_body = body("const V y = *(const V*)&a, x = *(const V*)&b;" + _ARCTAN2_FLOAT)
    else:
        sine_body, cosine_body = each("wp::sin(a[i])"), each("wp::cos(a[i])")
        arctan2_body = each("wp::atan2(a[i], b[i])")

    @wp.func_native(body(f"R = {A} + {B};"))
    def add(a: T, b: T) -> T: ...

    @wp.func_native(body(f"R = {A} - {B};"))
    def sub(a: T, b: T) -> T: ...

    @wp.func_native(body(f"R = {A} * {B};"))
    def mul(a: T, b: T) -> T: ...

    @wp.func_native(body(f"R = {A} / {B};"))
    def div(a: T, b: T) -> T: ...

    @wp.func_native(body(f"R = -{A};"))
    def neg(a: T) -> T: ...

    @wp.func_native(body(f"R = V(({scalar})value);"))
    def real(value: wp.float32, like: T) -> T: ...

    @wp.func_native(body(f"R = V(({scalar})value);"))
    def real(value: wp.float64, like: T) -> T: ...

    @wp.func_native(body(f"R = __builtin_elementwise_sqrt({A});"))
    def sqrt(a: T) -> T: ...

    @wp.func_native(sine_body)
    def sine(a: T) -> T: ...

    @wp.func_native(cosine_body)
    def cosine(a: T) -> T: ...

    @wp.func_native(arctan2_body)
    def arctan2(a: T, b: T) -> T: ...

    # One comparison of a whole vector: a loop over lanes compiles to a comparison and a branch for each lane.
    any_positive_body = f"""
    typedef {scalar} V __attribute__((ext_vector_type({lanes}), aligned({4 if scalar == "float" else 8})));
    return __builtin_reduce_or(*(const V*)&x > ({scalar})0) != 0;"""

    @wp.func_native(body(f"R = {A} < {B} ? {A} : {B};"))
    def minimum(a: T, b: T) -> T: ...

    @wp.func_native(body(f"R = {A} > {B} ? {A} : {B};"))
    def maximum(a: T, b: T) -> T: ...

    @wp.func_native(body(f"R = __builtin_elementwise_abs({A});"))
    def absolute(a: T) -> T: ...

    @wp.func_native(body(f"R = {X} > ({scalar})0 ? {A} : {B};"))
    def where_positive(x: T, a: T, b: T) -> T: ...

    @wp.func_native(any_positive_body)
    def any_positive(x: T) -> bool: ...

    @wp.func_native(body(f"R = ({X} - {X} == ({scalar})0) ? V(({scalar})1) : V(({scalar})0);"))
    def is_finite(x: T) -> T: ...

    @wp.func_native("return value;")
    def with_derivatives(value: T, derivatives: T) -> T: ...

    return (add, sub, mul, div, neg, real, sqrt, sine, cosine, arctan2, minimum, maximum,
            absolute, where_positive, any_positive, is_finite, with_derivatives)  # fmt: skip


def _scalar_functions(numbers, neg, real, sqrt, sine, cosine, arctan2, minimum, maximum, absolute, where_positive,
                      any_positive, is_finite, with_derivatives):  # fmt: skip
    """Add the overloads for a scalar, whose operators Warp has."""
    T = numbers.scalar

    @wp.func
    def neg(a: T):
        return -a

    @wp.func
    def real(value: wp.float32, like: T):
        return T(value)

    @wp.func
    def real(value: wp.float64, like: T):
        return T(value)

    @wp.func
    def sqrt(a: T):
        return wp.sqrt(a)

    @wp.func
    def sine(a: T):
        return wp.sin(a)

    @wp.func
    def cosine(a: T):
        return wp.cos(a)

    @wp.func
    def arctan2(a: T, b: T):
        return wp.atan2(a, b)

    @wp.func
    def minimum(a: T, b: T):
        return wp.where(a < b, a, b)

    @wp.func
    def maximum(a: T, b: T):
        return wp.where(a > b, a, b)

    @wp.func
    def absolute(a: T):
        return wp.abs(a)

    @wp.func
    def where_positive(x: T, a: T, b: T):
        return wp.where(x > T(0.0), a, b)

    @wp.func
    def any_positive(x: T):
        return x > T(0.0)

    @wp.func
    def is_finite(x: T):
        return wp.where(x - x == T(0.0), T(1.0), T(0.0))

    @wp.func
    def with_derivatives(value: T, derivatives: T):
        return value

    return (neg, real, sqrt, sine, cosine, arctan2, minimum, maximum, absolute, where_positive, any_positive,
            is_finite, with_derivatives)  # fmt: skip


def _compound_types(real: type):
    """Vector, matrix and symmetric matrix of a number type."""

    @wp.struct
    class Vec3:
        x: real
        y: real
        z: real

    @wp.struct
    class Mat3:
        x: Vec3
        y: Vec3
        z: Vec3

    @wp.struct
    class Sym3:
        xx: real
        xy: real
        xz: real
        yy: real
        yz: real
        zz: real

    return Vec3, Mat3, Sym3


def compound_functions(numbers, add, sub, mul, neg, vec3, mat3, sym3):
    """Add constructors, and sums and multiples of vectors and matrices."""
    T, V, M, S = numbers.real, numbers.vec3, numbers.mat3, numbers.sym3

    @wp.func
    def vec3(x: T, y: T, z: T):
        return V(x, y, z)

    @wp.func
    def mat3(x: V, y: V, z: V):
        return M(x, y, z)

    @wp.func
    def sym3(xx: T, xy: T, xz: T, yy: T, yz: T, zz: T):
        return S(xx, xy, xz, yy, yz, zz)

    @wp.func
    def add(a: V, b: V):
        return V(a.x + b.x, a.y + b.y, a.z + b.z)

    @wp.func
    def sub(a: V, b: V):
        return V(a.x - b.x, a.y - b.y, a.z - b.z)

    @wp.func
    def mul(a: V, s: T):
        return V(a.x * s, a.y * s, a.z * s)

    @wp.func
    def neg(a: V):
        return V(neg(a.x), neg(a.y), neg(a.z))

    @wp.func
    def add(a: M, b: M):
        return M(a.x + b.x, a.y + b.y, a.z + b.z)

    @wp.func
    def sub(a: M, b: M):
        return M(a.x - b.x, a.y - b.y, a.z - b.z)

    @wp.func
    def mul(a: M, v: V):
        return V(
            a.x.x * v.x + a.x.y * v.y + a.x.z * v.z,
            a.y.x * v.x + a.y.y * v.y + a.y.z * v.z,
            a.z.x * v.x + a.z.y * v.y + a.z.z * v.z,
        )

    @wp.func
    def add(a: S, b: S):
        return S(a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz)

    @wp.func
    def sub(a: S, b: S):
        return S(a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz)

    @wp.func
    def mul(a: S, s: T):
        return S(a.xx * s, a.xy * s, a.xz * s, a.yy * s, a.yz * s, a.zz * s)

    @wp.func
    def mul(a: S, v: V):
        return V(
            a.xx * v.x + a.xy * v.y + a.xz * v.z,
            a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z,
        )

    return add, sub, mul, neg, vec3, mat3, sym3


def _numbers(lanes: int, scalar: type, is_dual: bool = False) -> Numbers:
    return numbers_of(lanes, scalar, scalar if lanes == 1 else wp.types.vector(length=lanes, dtype=scalar), is_dual)


def numbers_of(lanes: int, scalar: type, real: type, is_dual: bool = False, is_taped: bool = False) -> Numbers:
    """A number type that takes so many scalars, with vectors and matrices."""
    compounds = _compound_types(real)
    if is_dual:
        come_late(real, *compounds)
    return Numbers(lanes, scalar, real, *compounds, is_dual, is_taped)


WIDE32 = _numbers(lane_bytes() // 4, wp.float32)
WIDE64 = _numbers(lane_bytes() // 8, wp.float64)
ONE_REGISTER = register_bytes() == lane_bytes()
"""Whether a lane vector fills one register of this processor, and not two."""
REGISTER32 = WIDE32 if ONE_REGISTER else _numbers(register_bytes() // 4, wp.float32)
REGISTER64 = WIDE64 if ONE_REGISTER else _numbers(register_bytes() // 8, wp.float64)
SCALAR32 = _numbers(1, wp.float32)
SCALAR64 = _numbers(1, wp.float64)
LANE_NUMBERS = (WIDE32, WIDE64) if ONE_REGISTER else (WIDE32, WIDE64, REGISTER32, REGISTER64)
"""All kinds of lane vectors."""
NUMBERS = (*LANE_NUMBERS, SCALAR32, SCALAR64)
"""All number types, for each of which the functions of kernels are defined."""

add = sub = mul = div = neg = real = sqrt = sine = cosine = arctan2 = minimum = maximum = absolute = None
where_positive = any_positive = is_finite = with_derivatives = vec3 = mat3 = sym3 = None
for _type in LANE_NUMBERS:
    (add, sub, mul, div, neg, real, sqrt, sine, cosine, arctan2, minimum, maximum, absolute, where_positive,
     any_positive, is_finite, with_derivatives) = _lane_functions(
        _type, add, sub, mul, div, neg, real, sqrt, sine, cosine, arctan2, minimum, maximum, absolute, where_positive,
        any_positive, is_finite, with_derivatives)  # fmt: skip
for _type in (SCALAR32, SCALAR64):
    (neg, real, sqrt, sine, cosine, arctan2, minimum, maximum, absolute, where_positive, any_positive,
     is_finite, with_derivatives) = _scalar_functions(
        _type, neg, real, sqrt, sine, cosine, arctan2, minimum, maximum, absolute, where_positive, any_positive,
        is_finite, with_derivatives)  # fmt: skip
for _type in NUMBERS:
    add, sub, mul, neg, vec3, mat3, sym3 = compound_functions(_type, add, sub, mul, neg, vec3, mat3, sym3)


def numbers_for(precision: str, wide: bool, environments: int | None = None) -> Numbers:
    """The number type of a precision ("float32" or "float64"), one environment or one lane vector at a time.

    A lane vector is one register wide where that holds all `environments`.
    """
    if not wide:
        return SCALAR64 if precision == "float64" else SCALAR32
    narrow = register_numbers(precision)
    if environments is not None and environments <= narrow.lanes:
        return narrow
    return WIDE64 if precision == "float64" else WIDE32


def register_numbers(precision: str) -> Numbers:
    """The lane vector of a precision ("float32" or "float64") that fills one register."""
    return REGISTER64 if precision == "float64" else REGISTER32


DUAL_ON_CUDA = 3
"""Scalars of a dual number of a CUDA thread. No lane vector has as many, so that it is a type of its own."""


@cache
def dual_numbers_for(precision: str, on_cpu: bool) -> Numbers:
    """The dual numbers of a precision: a value of one environment with its derivatives along some directions.

    On a CPU they take two lane vectors, so that their type is none of those. Functions know them from the first call
    on: who asks for no derivatives does not wait for them.
    """
    scalar = wp.float64 if precision == "float64" else wp.float32
    lanes = 2 * lane_bytes() // wp.types.type_size_in_bytes(scalar) if on_cpu else DUAL_ON_CUDA
    numbers = _numbers(lanes, scalar, is_dual=True)
    dual_functions(numbers, on_cpu, add, sub, mul, div, neg, real, sqrt, sine, cosine, arctan2, minimum, maximum,
                   absolute, where_positive, any_positive, is_finite, with_derivatives)  # fmt: skip
    compound_functions(numbers, add, sub, mul, neg, vec3, mat3, sym3)
    return numbers
