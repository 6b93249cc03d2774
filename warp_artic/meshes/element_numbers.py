"""The numbers, vectors and matrices that elements are computed with: of one element, or of several in lanes.

A CPU core computes 8 or 16 elements with one instruction when their numbers are lane vectors, as those of `numbers`;
a CUDA thread computes one. A vector or a matrix of elements has the lane vectors of its components one after the other.
What follows is elementwise: no element can see another one before it is added to the nodes. Elements of a lane vector
are added one after the other, so that sums have the order of the elements, however wide a lane vector is.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.math import numbers
from warp_artic.meshes.types import MeshTypes, mesh_types


def wide_types(types: MeshTypes) -> tuple[type, type, type]:
    """Number, vector and matrix of elements in lanes."""
    found = numbers.register_numbers(types.precision)
    vec = wp.types.matrix(shape=(types.dim, found.lanes), dtype=types.real)
    mat = wp.types.matrix(shape=(types.dim**2, found.lanes), dtype=types.real)
    return found.real, vec, mat


class LaneBodies:
    """Native bodies of functions that see numbers of type V."""

    def __init__(self, lanes: int, real: type):
        self._lanes = lanes
        self.scalar = "float" if real is wp.float32 else "double"
        """Its native type."""
        self.alignment = 4 if real is wp.float32 else 8
        """Of what is not known to lie on more [bytes]."""
        self._number = f"typedef {self.scalar} V __attribute__((ext_vector_type({lanes}), aligned({self.alignment})));"

    def number(self, expression: str) -> str:
        """Gives a number."""
        return f"{self._number} wp::vec_t<{self._lanes}, {self.scalar}> R; *(V*)&R = {expression}; return R;"

    def rows(self, count: int, statements: str) -> str:
        """Sets so many numbers R[k]."""
        rows = f"wp::mat_t<{count}, {self._lanes}, {self.scalar}> r; V* R = (V*)&r;"
        return f"{self._number} {rows} {statements} return r;"

    def width(self, size: int) -> int:
        """How many of `size` numbers are turned at once: as many lanes, a power of two."""
        return 1 << (min(size, self._lanes, 8).bit_length() - 1)

    def narrow(self, size: int) -> str:
        """The type W of as many."""
        kind = f"ext_vector_type({self.width(size)}), aligned({self.alignment})"
        return f"typedef {self.scalar} W __attribute__(({kind}));"

    def turned(self, size: int, vector: str, put: str) -> str:
        """Statements that turn `size` numbers of each lane, as far as they fill vectors W, from one order to the other.

        Of lanes `part` and numbers `block`, as many of each as a W has: `vector` gives the W of one of them, by `k`;
        `put` takes the W a[k] of one of the others. It sees `width`, too.
        """
        width = self.width(size)
        lines = [f"constexpr int width = {width};"]
        for part in range(self._lanes // width):
            for block in range(size // width):
                lines.append(f"{{ constexpr int part = {part}, block = {block}; W a[{width}];")
                lines += [f"{{ constexpr int k = {k}; a[k] = {vector}; }}" for k in range(width)]
                step = width // 2
                while step:
                    lines += [_exchange(k, k + step, step, width) for k in range(width) if not k & step]
                    step //= 2
                lines += [f"{{ constexpr int k = {k}; {put} = a[k]; }}" for k in range(width)]
                lines.append("}")
        return "\n".join(lines)

    def each(self, count: int, expression: str) -> str:
        """The same, by an expression of k."""
        return self.rows(count, f"for (int k = 0; k < {count}; ++k) R[k] = {expression};")


def _exchange(first: int, second: int, step: int, width: int) -> str:
    """Statements that exchange the halves of two vectors that a transposition by halves exchanges."""
    upper = [width + j - step if j & step else j for j in range(width)]
    lower = [width + j if j & step else j + step for j in range(width)]
    one, other = (", ".join(map(str, places)) for places in (upper, lower))
    return f"""{{
        const W p = __builtin_shufflevector(a[{first}], a[{second}], {one});
        const W q = __builtin_shufflevector(a[{first}], a[{second}], {other});
        a[{first}] = p; a[{second}] = q;
    }}"""


def _number_operators(types: MeshTypes, add, sub, mul, div):
    """Add the operators between numbers; the arguments are the functions so far, which Warp extends by name."""
    T, S = wide_types(types)[0], types.real
    body = LaneBodies(T._length_, S).number
    number_add, number_sub, number_mul, number_div = numbers.add, numbers.sub, numbers.mul, numbers.div

    @wp.func
    def add(a: T, b: T):
        return number_add(a, b)

    @wp.func
    def sub(a: T, b: T):
        return number_sub(a, b)

    @wp.func
    def mul(a: T, b: T):
        return number_mul(a, b)

    @wp.func
    def div(a: T, b: T):
        return number_div(a, b)

    @wp.func_native(body("a + *(const V*)&b"))
    def add(a: S, b: T) -> T: ...

    @wp.func_native(body("*(const V*)&a + b"))
    def add(a: T, b: S) -> T: ...

    @wp.func_native(body("a - *(const V*)&b"))
    def sub(a: S, b: T) -> T: ...

    @wp.func_native(body("*(const V*)&a - b"))
    def sub(a: T, b: S) -> T: ...

    @wp.func_native(body("a * *(const V*)&b"))
    def mul(a: S, b: T) -> T: ...

    @wp.func_native(body("a / *(const V*)&b"))
    def div(a: S, b: T) -> T: ...

    @wp.func_native(body("*(const V*)&a / b"))
    def div(a: T, b: S) -> T: ...

    return add, sub, mul, div


def _row_operators(types: MeshTypes, rows: type, add, sub, mul):
    """Add sums and multiples of vectors, or of matrices."""
    T, S = wide_types(types)[0], types.real
    count, lanes = rows._shape_
    bodies = LaneBodies(lanes, S)

    @wp.func_native(bodies.each(count, "((const V*)&a)[k] + ((const V*)&b)[k]"))
    def add(a: rows, b: rows) -> rows: ...

    @wp.func_native(bodies.each(count, "((const V*)&a)[k] - ((const V*)&b)[k]"))
    def sub(a: rows, b: rows) -> rows: ...

    @wp.func_native(bodies.each(count, "*(const V*)&a * ((const V*)&b)[k]"))
    def mul(a: T, b: rows) -> rows: ...

    @wp.func_native(bodies.each(count, "a * ((const V*)&b)[k]"))
    def mul(a: S, b: rows) -> rows: ...

    return add, sub, mul


def _product_operators(types: MeshTypes, mul):
    """Add the products of matrices with matrices and vectors."""
    Vec, Mat = wide_types(types)[1:]
    dim = types.dim
    bodies = LaneBodies(Mat._shape_[1], types.real)
    row_times = f"""
        const V* A = (const V*)&a; const V* B = (const V*)&b;
        for (int i = 0; i < {dim}; ++i)
            for (int j = 0; j < {{width}}; ++j) {{{{
                V total = A[i * {dim}] * B[j];
                for (int k = 1; k < {dim}; ++k) total += A[i * {dim} + k] * B[k * {{width}} + j];
                R[i * {{width}} + j] = total;
            }}}}"""

    @wp.func_native(bodies.rows(dim * dim, row_times.format(width=dim)))
    def mul(a: Mat, b: Mat) -> Mat: ...

    @wp.func_native(bodies.rows(dim, row_times.format(width=1)))
    def mul(a: Mat, b: Vec) -> Vec: ...

    return mul


add = sub = mul = div = None
for _precision in ("float32", "float64"):
    add, sub, mul, div = _number_operators(mesh_types(2, _precision), add, sub, mul, div)
    for _types in (mesh_types(2, _precision), mesh_types(3, _precision)):
        for _rows in wide_types(_types)[1:]:
            add, sub, mul = _row_operators(_types, _rows, add, sub, mul)
        mul = _product_operators(_types, mul)


@cache
def element_numbers(types: MeshTypes, wide: bool) -> SimpleNamespace:
    """The numbers of elements of a dimension and a precision, in lanes or of one element.

    It has the count of `lanes`, the types `real`, `vec` and `mat`, and functions for kernels:

        component(v, i), entry(A, i, j)                  v_i and A_ij
        with_component(v, i, x), with_entry(A, i, j, x)  the same v or A with x there
        unit(i, like), one(like)                         an axis, the unit matrix
        row(A, i), column(A, j), outer(a, b), transpose(A), dot(a, b), ddot(A, B), trace(A)
        choose(x, a, b)                                  a where the number x is positive, else b; vectors or matrices
        log(x)
        total(x)                                         the sum over elements, in their order
        gather(vectors, env, nodes, first, corner)       the vectors of nodes[first + lane, corner]
        scatter(sums, env, places, first, count, column, x)
                                                         adds x of each element to sums[env, places[first + lane,
                                                         column]]
        items(n)                                         the type of n numbers, with item(x, k) and
                                                         with_item(x, k, number)
    """
    basic = _wide_numbers(types) if wide else _scalar_numbers(types)
    return SimpleNamespace(**vars(basic), **vars(_sums(types.dim, basic)))


def _sums(dim: int, basic: SimpleNamespace) -> SimpleNamespace:
    """What is made of components and entries."""
    T, Vec, Mat = basic.real, basic.vec, basic.mat
    component, with_component, entry, with_entry = (
        basic.component, basic.with_component, basic.entry, basic.with_entry,
    )  # fmt: skip

    real = numbers.real

    @wp.func
    def unit(i: int, like: T):
        return with_component(Vec(), i, real(1.0, like))

    @wp.func
    def one(like: T):
        found = Mat()
        for i in range(dim):
            found = with_entry(found, i, i, real(1.0, like))
        return found

    @wp.func
    def row(A: Mat, i: int):
        found = Vec()
        for j in range(dim):
            found = with_component(found, j, entry(A, i, j))
        return found

    @wp.func
    def column(A: Mat, j: int):
        found = Vec()
        for i in range(dim):
            found = with_component(found, i, entry(A, i, j))
        return found

    @wp.func
    def dot(a: Vec, b: Vec):
        found = component(a, 0) * component(b, 0)
        for i in range(1, dim):
            found = found + component(a, i) * component(b, i)
        return found

    @wp.func
    def ddot(A: Mat, B: Mat):
        found = entry(A, 0, 0) * entry(B, 0, 0)
        for i in range(dim):
            for j in range(dim):
                if i + j > 0:
                    found = found + entry(A, i, j) * entry(B, i, j)
        return found

    @wp.func
    def trace(A: Mat):
        found = entry(A, 0, 0)
        for i in range(1, dim):
            found = found + entry(A, i, i)
        return found

    return SimpleNamespace(unit=unit, one=one, row=row, column=column, dot=dot, ddot=ddot, trace=trace)


def _scalar_numbers(types: MeshTypes) -> SimpleNamespace:
    Real, Vec, Mat = types.real, types.vec, types.mat

    @wp.func
    def component(v: Vec, i: int):
        return v[i]

    @wp.func
    def with_component(v: Vec, i: int, x: Real):
        found = Vec(v)
        found[i] = x
        return found

    @wp.func
    def entry(A: Mat, i: int, j: int):
        return A[i, j]

    @wp.func
    def with_entry(A: Mat, i: int, j: int, x: Real):
        found = Mat(A)
        found[i, j] = x
        return found

    @wp.func
    def choose(x: Real, a: Vec, b: Vec):
        return wp.where(x > Real(0.0), a, b)

    @wp.func
    def choose(x: Real, a: Mat, b: Mat):
        return wp.where(x > Real(0.0), a, b)

    @wp.func
    def total(x: Real):
        return x

    @cache
    def items(count: int) -> SimpleNamespace:
        Items = wp.types.vector(length=count, dtype=Real)

        @wp.func
        def item(x: Items, k: int):
            return x[k]

        @wp.func
        def with_item(x: Items, k: int, number: Real):
            found = Items(x)
            found[k] = number
            return found

        return SimpleNamespace(type=Items, item=item, with_item=with_item)

    return SimpleNamespace(
        lanes=1, real=Real, vec=Vec, mat=Mat, outer=wp.outer, transpose=wp.transpose, log=wp.log,
        component=component, with_component=with_component, entry=entry, with_entry=with_entry, choose=choose,
        total=total, items=items, **vars(sums_of_nodes(Vec, Mat)),
    )  # fmt: skip


def sums_of_nodes(Vec: type, Mat: type) -> SimpleNamespace:
    """`gather` and `scatter` of one element at a time."""

    @wp.func
    def gather(vectors: wp.array2d(dtype=Vec), env: int, nodes: wp.array2d(dtype=int), first: int, corner: int):
        return vectors[env, nodes[first, corner]]

    @wp.func
    def scatter(
        sums: wp.array2d(dtype=Vec),
        env: int,
        places: wp.array2d(dtype=int),
        first: int,
        count: int,
        column: int,
        x: Vec,
    ):
        place = places[first, column]
        sums[env, place] = sums[env, place] + x

    @wp.func
    def scatter(
        sums: wp.array2d(dtype=Mat),
        env: int,
        places: wp.array2d(dtype=int),
        first: int,
        count: int,
        column: int,
        x: Mat,
    ):
        place = places[first, column]
        sums[env, place] = sums[env, place] + x

    return SimpleNamespace(gather=gather, scatter=scatter)


def _wide_numbers(types: MeshTypes) -> SimpleNamespace:
    T, Vec, Mat = wide_types(types)
    NodeVec, NodeMat, dim, size, lanes = types.vec, types.mat, types.dim, types.dim**2, T._length_
    bodies = LaneBodies(lanes, types.real)
    a_or_b = "*(const V*)&x > 0 ? ((const V*)&a)[k] : ((const V*)&b)[k]"
    scalar = "float" if types.real is wp.float32 else "double"
    gathered = f"""
        const int* node = wp::address(nodes, first, corner);
        const char* start = (const char*)wp::address(vectors, env, 0);
        for (int lane = 0; lane < {lanes}; ++lane) {{
            const auto* v = (const {scalar}*)(start + *node * vectors.strides[1]);
            for (int k = 0; k < {dim}; ++k) R[k][lane] = v[k];
            node = (const int*)((const char*)node + nodes.strides[0]);
        }}"""
    scattered = f"""
        const int* place = wp::address(places, first, column);
        char* start = (char*)wp::address(sums, env, 0);
        // One number after the other: compilers would gather those of an element into a vector, which takes longer.
        for (int lane = 0; lane < count; ++lane) {{
            auto* sum = (volatile {scalar}*)(start + *place * sums.strides[1]);
            for (int k = 0; k < {dim}; ++k) sum[k] = sum[k] + ((const {scalar}*)&x)[k * {lanes} + lane];
            place = (const int*)((const char*)place + places.strides[0]);
        }}"""

    width = bodies.width(size)
    of_lanes = f"((const W*)&x)[(block * width + k) * {lanes // width} + part]"
    scattered_blocks = f"""
        {bodies.narrow(size)}
        W rows[{lanes}][{size // width}];
        {bodies.turned(size, of_lanes, "rows[part * width + k][block]")}
        const int* place = wp::address(places, first, column);
        char* start = (char*)wp::address(sums, env, 0);
        for (int lane = 0; lane < count; ++lane) {{
            auto* sum = ({scalar}*)(start + *place * sums.strides[1]);
            for (int k = 0; k < {size // width}; ++k) ((W*)sum)[k] += rows[lane][k];
            for (int k = {size // width * width}; k < {size}; ++k) sum[k] += ((const {scalar}*)&x)[k * {lanes} + lane];
            place = (const int*)((const char*)place + places.strides[0]);
        }}"""

    @wp.func_native(bodies.number("((const V*)&v)[i]"))
    def component(v: Vec, i: int) -> T: ...

    @wp.func_native(bodies.rows(dim, "r = v; R[i] = *(const V*)&x;"))
    def with_component(v: Vec, i: int, x: T) -> Vec: ...

    @wp.func_native(bodies.number(f"((const V*)&A)[i * {dim} + j]"))
    def entry(A: Mat, i: int, j: int) -> T: ...

    @wp.func_native(bodies.rows(size, f"r = A; R[i * {dim} + j] = *(const V*)&x;"))
    def with_entry(A: Mat, i: int, j: int, x: T) -> Mat: ...

    @wp.func_native(bodies.each(size, f"((const V*)&a)[k / {dim}] * ((const V*)&b)[k % {dim}]"))
    def outer(a: Vec, b: Vec) -> Mat: ...

    @wp.func_native(bodies.each(size, f"((const V*)&A)[k % {dim} * {dim} + k / {dim}]"))
    def transpose(A: Mat) -> Mat: ...

    @wp.func_native(bodies.each(dim, a_or_b))
    def choose(x: T, a: Vec, b: Vec) -> Vec: ...

    @wp.func_native(bodies.each(size, a_or_b))
    def choose(x: T, a: Mat, b: Mat) -> Mat: ...

    @wp.func_native(bodies.number(f"V(); for (int k = 0; k < {lanes}; ++k) R[k] = wp::log(x[k])"))
    def log(x: T) -> T: ...

    @wp.func
    def total(x: T):
        found = x[0]
        for lane in range(1, lanes):
            found += x[lane]
        return found

    @wp.func_native(bodies.rows(dim, gathered))
    def gather(
        vectors: wp.array2d(dtype=NodeVec), env: int, nodes: wp.array2d(dtype=int), first: int, corner: int
    ) -> Vec: ...

    @wp.func_native(scattered)
    def scatter(
        sums: wp.array2d(dtype=NodeVec),
        env: int,
        places: wp.array2d(dtype=int),
        first: int,
        count: int,
        column: int,
        x: Vec,
    ): ...

    @wp.func_native(scattered_blocks)
    def scatter(
        sums: wp.array2d(dtype=NodeMat),
        env: int,
        places: wp.array2d(dtype=int),
        first: int,
        count: int,
        column: int,
        x: Mat,
    ): ...

    @cache
    def items(count: int) -> SimpleNamespace:
        Items = wp.types.matrix(shape=(count, lanes), dtype=types.real)

        @wp.func_native(bodies.number("((const V*)&x)[k]"))
        def item(x: Items, k: int) -> T: ...

        @wp.func_native(bodies.rows(count, "r = x; R[k] = *(const V*)&number;"))
        def with_item(x: Items, k: int, number: T) -> Items: ...

        return SimpleNamespace(type=Items, item=item, with_item=with_item)

    return SimpleNamespace(
        lanes=lanes, real=T, vec=Vec, mat=Mat, outer=outer, transpose=transpose, log=log,
        component=component, with_component=with_component, entry=entry, with_entry=with_entry, choose=choose,
        total=total, gather=gather, scatter=scatter, items=items,
    )  # fmt: skip
