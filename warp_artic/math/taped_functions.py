"""What the functions of `math.numbers` do with taped numbers: a value, and where on a tape it comes from.

A taped number is a value and the address of its node, or 0 where it depends on nothing that derivatives are taken by.
A node is what an operation leaves on the tape: for each number that it depends on the partial derivative p and the
place of the node of that, then its adjoint, and the length of what comes before. Backward from the last node, an
adjoint a adds p a to that of each of these (Griewank and Walther, Evaluating Derivatives, 2008, section 4.3).

A tape lies at a multiple of TAPE_BYTES, so that the address of any node tells where it begins: with an adjoint that
nothing reads, the address at which the next node begins, and whether there was no room for one. Partial derivatives are
those of `math.dual_functions`, and so are the choices, that of `any_positive` included. What passes on derivatives as
they are, such as the sum with a constant, or passes on none, leaves no node.
"""

import warp as wp

TAPE_BYTES = 1 << 26
"""Room of a tape, some 1.5 million operations; it takes the memory that is written to."""
NEXT, IS_FULL, FIRST = 8, 16, 24
"""Places of the address of the next node, of whether there was no room, and of the first node."""
ENTRY = 12
"""Bytes of a partial derivative and a place, and of an adjoint and a length."""
LONGEST = 4096
"""Bytes that are more than those of any operation."""


def taped_functions(numbers, add, sub, mul, div, neg, real, sqrt, sine, cosine, arctan2, minimum, maximum,
                    absolute, where_positive, any_positive, is_finite, with_derivatives):  # fmt: skip
    """Add the overloads for taped numbers to the functions, which Warp extends by name."""
    T, begin = numbers.real, _begin(numbers)

    def body(parents, value, partials, before="", ok="value - value == S(0)"):
        """A native body: what a value `v` is of parents with values `av` and `bv`, and its derivatives by each."""
        return f"{begin}{_number(parents, value, partials, ok)}".replace("/* before */", before)

    def sum_body(sign):
        return f"""{begin}
        const S value = value_of(a) {sign} value_of(b);
        if (!b.c[1])
            return number(value, a.c[1]);
        if (!a.c[1] && {sign}1 == 1)
            return number(value, b.c[1]);
        const auto leave = [](U a, U b) __attribute__((noinline)) -> U {{
            Node node(b);
            node.by(a, 1);
            node.by(b, {sign}1);
            return node.end();
        }};
        return number(value, leave(a.c[1], b.c[1]));"""

    @wp.func_native(sum_body("+"))
    def add(a: T, b: T) -> T: ...

    @wp.func_native(sum_body("-"))
    def sub(a: T, b: T) -> T: ...

    @wp.func_native(body("ab", "av * bv", ["bv", "av"]))
    def mul(a: T, b: T) -> T: ...

    is_safe = "value - value == S(0) && S(1) / bv - S(1) / bv == S(0)"

    @wp.func_native(body("ab", "av / bv", ["S(1) / bv", "-v / bv"], ok=is_safe))
    def div(a: T, b: T) -> T: ...

    @wp.func_native(body("a", "-av", ["-1"]))
    def neg(a: T) -> T: ...

    @wp.func_native(f"{begin}return number((S)value, 0);")
    def real(value: wp.float32, like: T) -> T: ...

    @wp.func_native(f"{begin}return number((S)value, 0);")
    def real(value: wp.float64, like: T) -> T: ...  # noqa: F811 (an overload)

    @wp.func_native(body("a", "wp::sqrt(av)", ["S(0.5) / v"], ok="value > S(0)"))
    def sqrt(a: T) -> T: ...

    @wp.func_native(body("a", "wp::sin(av)", ["wp::cos(av)"]))
    def sine(a: T) -> T: ...

    @wp.func_native(body("a", "wp::cos(av)", ["-wp::sin(av)"]))
    def cosine(a: T) -> T: ...

    # Of the point (b, a), made as large as one before it is squared
    scaled = """
        const S most = wp::max(wp::abs(av), wp::abs(bv)), i = most > S(0) ? S(1) / most : S(0);
        const S x = av * i, y = bv * i, n = i / (x * x + y * y);
        if (!(n - n == S(0) && i > S(0)))
            return 0;"""

    @wp.func_native(body("ab", "wp::atan2(av, bv)", ["y * n", "-x * n"], scaled))
    def arctan2(a: T, b: T) -> T: ...

    @wp.func_native(f"{begin}return value_of(a) < value_of(b) ? a : b;")
    def minimum(a: T, b: T) -> T: ...

    @wp.func_native(f"{begin}return value_of(a) > value_of(b) ? a : b;")
    def maximum(a: T, b: T) -> T: ...

    @wp.func_native(f"{begin}if (!(value_of(a) < S(0))) return a;" + body("a", "-av", ["-1"])[len(begin) :])
    def absolute(a: T) -> T: ...

    @wp.func_native(f"{begin}return value_of(x) > S(0) ? a : b;")
    def where_positive(x: T, a: T, b: T) -> T: ...

    # What is zero has to be added all the same where it may have a derivative.
    @wp.func_native(f"{begin}return value_of(x) > S(0) || (value_of(x) == S(0) && x.c[1]);")
    def any_positive(x: T) -> bool: ...

    @wp.func_native(f"{begin}return number(value_of(x) - value_of(x) == S(0) ? S(1) : S(0), 0);")
    def is_finite(x: T) -> T: ...

    @wp.func_native(f"{begin}return number(value_of(value), derivatives.c[1]);")
    def with_derivatives(value: T, derivatives: T) -> T: ...


def taped_compounds(numbers, mul, dot, cross, transpose_mul, skew_mul_sym, shift_rotational, sym_less, mat_less):
    """Add overloads for vectors and matrices of taped numbers, in which each sum of products is one node."""
    T, V, M, S = numbers.real, numbers.vec3, numbers.mat3, numbers.sym3
    begin = _begin(numbers)
    copies = "const T p = a.x, q = a.y, r = a.z, x = b.x, y = b.y, z = b.z;"
    partials = ["xv", "yv", "zv", "pv", "qv", "rv"]

    @wp.func_native(f"{begin}{copies}{_number('pqrxyz', 'pv * xv + qv * yv + rv * zv', partials)}")
    def dot(a: V, b: V) -> T: ...

    @wp.func_native(f"{begin}{_number('abcd', 'av * bv - cv * dv', ['bv', 'av', '-dv', '-cv'])}")
    def difference(a: T, b: T, c: T, d: T) -> T: ...

    @wp.func
    def cross(a: V, b: V):
        return V(difference(a.y, b.z, a.z, b.y), difference(a.z, b.x, a.x, b.z), difference(a.x, b.y, a.y, b.x))

    @wp.func_native(f"{begin}{_number('abcd', 'av - bv * cv * dv', ['1', '-(cv * dv)', '-(bv * dv)', '-(bv * cv)'])}")
    def less(a: T, b: T, c: T, d: T) -> T: ...

    @wp.func_native(f"{begin}{_number('abc', 'av - bv * cv', ['1', '-cv', '-bv'])}")
    def less(a: T, b: T, c: T) -> T: ...  # noqa: F811 (an overload)

    sum_of_differences = _number(
        "abcdefghi", "av + ((bv * cv - dv * ev) + (fv * gv - hv * iv))",
        ["1", "cv", "bv", "-ev", "-dv", "gv", "fv", "-iv", "-hv"],
    )  # fmt: skip

    @wp.func_native(f"{begin}{sum_of_differences}")
    def shifted(a: T, b: T, c: T, d: T, e: T, f: T, g: T, h: T, i: T) -> T: ...

    @wp.func
    def skew_mul_sym(r: V, m: S):
        return M(
            V(difference(r.y, m.xz, r.z, m.xy), difference(r.y, m.yz, r.z, m.yy), difference(r.y, m.zz, r.z, m.yz)),
            V(difference(r.z, m.xx, r.x, m.xz), difference(r.z, m.xy, r.x, m.yz), difference(r.z, m.xz, r.x, m.zz)),
            V(difference(r.x, m.xy, r.y, m.xx), difference(r.x, m.yy, r.y, m.xy), difference(r.x, m.yz, r.y, m.xz)),
        )

    @wp.func
    def shift_rotational(A: S, B: M, C: M, r: V):
        return S(
            shifted(A.xx, r.y, B.x.z, r.z, B.x.y, r.y, C.x.z, r.z, C.x.y),
            shifted(A.xy, r.y, B.y.z, r.z, B.y.y, r.z, C.x.x, r.x, C.x.z),
            shifted(A.xz, r.y, B.z.z, r.z, B.z.y, r.x, C.x.y, r.y, C.x.x),
            shifted(A.yy, r.z, B.y.x, r.x, B.y.z, r.z, C.y.x, r.x, C.y.z),
            shifted(A.yz, r.z, B.z.x, r.x, B.z.z, r.x, C.y.y, r.y, C.y.x),
            shifted(A.zz, r.x, B.z.y, r.y, B.z.x, r.x, C.z.y, r.y, C.z.x),
        )

    @wp.func
    def sym_less(A: S, v: V, s: T):
        return S(
            less(A.xx, v.x, v.x, s), less(A.xy, v.x, v.y, s), less(A.xz, v.x, v.z, s),
            less(A.yy, v.y, v.y, s), less(A.yz, v.y, v.z, s), less(A.zz, v.z, v.z, s),
        )  # fmt: skip

    @wp.func
    def mat_less(B: M, a: V, b: V):
        return M(
            V(less(B.x.x, b.x, a.x), less(B.x.y, b.y, a.x), less(B.x.z, b.z, a.x)),
            V(less(B.y.x, b.x, a.y), less(B.y.y, b.y, a.y), less(B.y.z, b.z, a.y)),
            V(less(B.z.x, b.x, a.z), less(B.z.y, b.y, a.z), less(B.z.z, b.z, a.z)),
        )

    @wp.func
    def mul(a: M, v: V):
        return V(dot(a.x, v), dot(a.y, v), dot(a.z, v))

    @wp.func
    def mul(a: S, v: V):  # noqa: F811 (an overload)
        return V(dot(V(a.xx, a.xy, a.xz), v), dot(V(a.xy, a.yy, a.yz), v), dot(V(a.xz, a.yz, a.zz), v))

    @wp.func
    def transpose_mul(B: M, v: V):
        return V(dot(V(B.x.x, B.y.x, B.z.x), v), dot(V(B.x.y, B.y.y, B.z.y), v), dot(V(B.x.z, B.y.z, B.z.z), v))


def _begin(numbers) -> str:
    """Definitions at the beginning of a native body."""
    is_short = numbers.scalar is wp.float32
    scalar, bits, half = ("float", "wp::uint32", "wp::int64") if is_short else ("double", "wp::uint64", "wp::uint64")
    return f"""
    typedef {scalar} S;
    typedef wp::uint64 U;
    typedef wp::vec_t<2, {half}> T;
    const auto value_of = [](const T& of) {{ return __builtin_bit_cast(S, ({bits})of.c[0]); }};
    const auto number = [](S is, U node) {{ return T((U)__builtin_bit_cast({bits}, is), node); }};
    struct Node
    {{
        char* base;
        char* first;
        char* next;
        inline Node(U of)
        {{
            base = (char*)(of & ~(U){TAPE_BYTES - 1});
            first = *(char**)(base + {NEXT});
            if (first > base + {TAPE_BYTES - LONGEST}) {{
                first = base + {FIRST};
                *(U*)(base + {IS_FULL}) = 1;
            }}
            next = first;
        }}
        inline void by(U of, double p)
        {{
            const unsigned place = (unsigned)(of & {TAPE_BYTES - 1});
            __builtin_memcpy(next, &p, 8);
            __builtin_memcpy(next + 8, &place, 4);
            next += {ENTRY} * (int)((of != 0) & (p != 0));
        }}
        inline U end()
        {{
            const unsigned length = (unsigned)(next - first);
            const double none = 0;
            __builtin_memcpy(next, &none, 8);
            __builtin_memcpy(next + 8, &length, 4);
            *(char**)(base + {NEXT}) = length ? next + {ENTRY} : first;
            return length ? (U)next : 0;
        }}
    }};
    """


def _number(parents: str, value: str, partials: list[str], ok: str = "value - value == S(0)") -> str:
    """The end of a native body: a number of some value, with partial derivatives by parents, of values `av`, `bv`, ...

    What leaves a node is compiled once, and called.
    """
    values = "".join(f"const S {name}v = value_of({name});" for name in parents)
    refs = [f"{name}.c[1]" for name in parents]
    by = "".join(f"node.by({name}, {partial});" for name, partial in zip(parents, partials))
    names = ", ".join([f"U {name}" for name in parents] + [f"S {name}v" for name in parents] + ["S v"])
    given = ", ".join([*refs, *(f"{name}v" for name in parents), "value"])
    return f"""{values}
    const S value = {value};
    if (!({" | ".join(refs)}) || !({ok}))
        return number(value, 0);
    const auto leave = []({names}) __attribute__((noinline)) -> U {{
        /* before */
        Node node({" | ".join(parents)});
        {by}
        return node.end();
    }};
    return number(value, leave({given}));"""
