"""The numbers that linear systems are solved with: of one environment, or of several in lanes.

A CPU core solves the systems of 8 or 16 environments at once when their numbers are lane vectors: matrices, residuals
and directions then have a row for each group of environments, in lanes side by side. What others read and write has a
row for each environment; functions here gather it, and scatter what is found where that is asked for. All else is
elementwise, with the same operations in the same order for both: an environment has the same result to the last bit in
whatever group it is.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.math.numbers import absolute, neg, real, where_positive
from warp_artic.meshes.element_numbers import LaneBodies, add, div, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.types import MeshTypes


@cache
def system_numbers(types: MeshTypes, in_lanes: bool) -> SimpleNamespace:
    """What `element_numbers` has, and functions for kernels; a group is one environment, or as many as there are lanes.

    flag_of(asked, count, group)                          one where the number is positive; `count` environments
    number_of(numbers, count, group), number_at(table, count, group, k)
    vector_at(table, count, group, k), shape_at(table, count, group, k, c)
    set_number_of(numbers, count, group, where, x), set_number_at(table, count, group, k, where, x)
    set_count_of(counts, count, group, where, x), set_vector_at(table, count, group, k, where, x)
    product(A, v), cw_mul(a, b), inverse(A), sum_of(v)    the inverse of a singular matrix is zero
    put(table, group, k, x), put_block(table, group, k, x)
                                                          set numbers of a group that may be chosen from those before
    items(n)                                              a type of n numbers, and its functions item(x, k) and
                                                          with_item(x, k, number)
    """
    basic = element_numbers(types, in_lanes)
    ends = _ends_in_lanes(types, basic) if in_lanes else _ends_of_one(types)
    return SimpleNamespace(**vars(basic), **vars(_algebra(types.dim, basic)), **vars(ends))


def _algebra(dim: int, basic: SimpleNamespace) -> SimpleNamespace:
    Vec, Mat = basic.vec, basic.mat
    component, with_component, entry, with_entry = (
        basic.component, basic.with_component, basic.entry, basic.with_entry,
    )  # fmt: skip

    @wp.func
    def product(A: Mat, v: Vec):
        found = Vec()
        for i in range(dim):
            total = entry(A, i, 0) * component(v, 0)
            for j in range(1, dim):
                total = total + entry(A, i, j) * component(v, j)
            found = with_component(found, i, total)
        return found

    @wp.func
    def cw_mul(a: Vec, b: Vec):
        found = Vec()
        for i in range(dim):
            found = with_component(found, i, component(a, i) * component(b, i))
        return found

    @wp.func
    def sum_of(v: Vec):
        total = component(v, 0)
        for i in range(1, dim):
            total = total + component(v, i)
        return total

    if dim == 2:

        @wp.func
        def cofactor(A: Mat, i: int, j: int):
            found = entry(A, 1 - i, 1 - j)
            if i != j:
                found = neg(found)
            return found

    else:

        @wp.func
        def cofactor(A: Mat, i: int, j: int):
            i_1, i_2, j_1, j_2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
            return entry(A, i_1, j_1) * entry(A, i_2, j_2) - entry(A, i_1, j_2) * entry(A, i_2, j_1)

    @wp.func
    def inverse(A: Mat):
        det = entry(A, 0, 0) * cofactor(A, 0, 0)
        for j in range(1, dim):
            det = det + entry(A, 0, j) * cofactor(A, 0, j)
        share = where_positive(absolute(det), real(1.0, det) / det, det)
        found = Mat()
        for i in range(dim):
            for j in range(dim):
                found = with_entry(found, j, i, cofactor(A, i, j) * share)
        return found

    return SimpleNamespace(product=product, cw_mul=cw_mul, sum_of=sum_of, inverse=inverse)


def _ends_of_one(types: MeshTypes) -> SimpleNamespace:
    Real, Vec, Mat = types.real, types.vec, types.mat

    @wp.func
    def flag_of(asked: wp.array(dtype=int), count: int, group: int):
        return wp.where(asked[group] > 0, Real(1.0), Real(0.0))

    @wp.func
    def number_of(numbers: wp.array(dtype=Real), count: int, group: int):
        return numbers[group]

    @wp.func
    def number_at(table: wp.array2d(dtype=Real), count: int, group: int, k: int):
        return table[group, k]

    @wp.func
    def vector_at(table: wp.array2d(dtype=Vec), count: int, group: int, k: int):
        return table[group, k]

    @wp.func
    def shape_at(table: wp.array3d(dtype=Vec), count: int, group: int, k: int, c: int):
        return table[group, k, c]

    @wp.func
    def set_number_of(numbers: wp.array(dtype=Real), count: int, group: int, where: Real, x: Real):
        if where > Real(0.0):
            numbers[group] = x

    @wp.func
    def set_count_of(counts: wp.array(dtype=int), count: int, group: int, where: Real, x: Real):
        if where > Real(0.0):
            counts[group] = int(x)

    @wp.func
    def set_number_at(table: wp.array2d(dtype=Real), count: int, group: int, k: int, where: Real, x: Real):
        if where > Real(0.0):
            table[group, k] = x

    @wp.func
    def set_vector_at(table: wp.array2d(dtype=Vec), count: int, group: int, k: int, where: Real, x: Vec):
        if where > Real(0.0):
            table[group, k] = x

    @wp.func
    def put(table: wp.array2d(dtype=Vec), group: int, k: int, x: Vec):
        table[group, k] = x

    @wp.func
    def put_block(table: wp.array2d(dtype=Mat), group: int, k: int, x: Mat):
        table[group, k] = x

    return SimpleNamespace(
        flag_of=flag_of, number_of=number_of, number_at=number_at, vector_at=vector_at, shape_at=shape_at,
        set_number_of=set_number_of, set_count_of=set_count_of, set_number_at=set_number_at,
        set_vector_at=set_vector_at, put=put, put_block=put_block,
    )  # fmt: skip


def _ends_in_lanes(types: MeshTypes, basic: SimpleNamespace) -> SimpleNamespace:
    Real, NodeVec, lanes = types.real, types.vec, basic.lanes
    T, Vec, Mat = basic.real, basic.vec, basic.mat
    bodies = LaneBodies(lanes, Real)

    def gathered(size: int, place: str) -> str:
        """Numbers of an item of each environment; lanes that have none take the last one."""
        address = f"wp::address({place.format('(env < count ? env : count - 1)')})"
        return f"""
            for (int lane = 0; lane < {lanes}; ++lane) {{
                const int env = group * {lanes} + lane;
                const auto* from = (const {bodies.scalar}*){address};
                for (int i = 0; i < {size}; ++i) R[i][lane] = from[i];
            }}"""

    def scattered(size: int, place: str, scalar: str) -> str:
        return f"""
            for (int lane = 0; lane < {lanes}; ++lane) {{
                const int env = group * {lanes} + lane;
                if (env >= count || !(where[lane] > 0)) continue;
                auto* to = ({scalar}*)wp::address({place.format("env")});
                for (int i = 0; i < {size}; ++i) to[i] = ({scalar})((const {bodies.scalar}*)&x)[i * {lanes} + lane];
            }}"""

    def number(statements: str) -> str:
        return bodies.number(f"V(); V* const R_ = (V*)&R; {statements.replace('R[i]', 'R_[i]')}")

    dim = types.dim

    @wp.func_native(
        bodies.number(
            f"""V(); for (int lane = 0; lane < {lanes}; ++lane) {{
                const int env = group * {lanes} + lane;
                R[lane] = env < count && *wp::address(asked, env) > 0;
            }}"""
        )
    )
    def flag_of(asked: wp.array(dtype=int), count: int, group: int) -> T: ...

    @wp.func_native(number(gathered(1, "numbers, {}")))
    def number_of(numbers: wp.array(dtype=Real), count: int, group: int) -> T: ...

    @wp.func_native(number(gathered(1, "table, {}, k")))
    def number_at(table: wp.array2d(dtype=Real), count: int, group: int, k: int) -> T: ...

    @wp.func_native(bodies.rows(dim, gathered(dim, "table, {}, k")))
    def vector_at(table: wp.array2d(dtype=NodeVec), count: int, group: int, k: int) -> Vec: ...

    @wp.func_native(bodies.rows(dim, gathered(dim, "table, {}, k, c")))
    def shape_at(table: wp.array3d(dtype=NodeVec), count: int, group: int, k: int, c: int) -> Vec: ...

    @wp.func_native(scattered(1, "numbers, {}", bodies.scalar))
    def set_number_of(numbers: wp.array(dtype=Real), count: int, group: int, where: T, x: T): ...

    @wp.func_native(scattered(1, "counts, {}", "int"))
    def set_count_of(counts: wp.array(dtype=int), count: int, group: int, where: T, x: T): ...

    @wp.func_native(scattered(1, "table, {}, k", bodies.scalar))
    def set_number_at(table: wp.array2d(dtype=Real), count: int, group: int, k: int, where: T, x: T): ...

    @wp.func_native(scattered(dim, "table, {}, k", bodies.scalar))
    def set_vector_at(table: wp.array2d(dtype=NodeVec), count: int, group: int, k: int, where: T, x: Vec): ...

    # Compilers would make masked stores of numbers that are chosen from those before, which take processors of AMD as
    # long as twenty others; they leave volatile ones alone.
    def kept(size: int) -> str:
        return f"""
            typedef {bodies.scalar} V __attribute__((ext_vector_type({lanes}), aligned({bodies.alignment})));
            volatile V* const to = (volatile V*)wp::address(table, group, k);
            for (int i = 0; i < {size}; ++i) to[i] = ((const V*)&x)[i];"""

    @wp.func_native(kept(dim))
    def put(table: wp.array2d(dtype=Vec), group: int, k: int, x: Vec): ...

    @wp.func_native(kept(dim**2))
    def put_block(table: wp.array2d(dtype=Mat), group: int, k: int, x: Mat): ...

    return SimpleNamespace(
        flag_of=flag_of, number_of=number_of, number_at=number_at, vector_at=vector_at, shape_at=shape_at,
        set_number_of=set_number_of, set_count_of=set_count_of, set_number_at=set_number_at,
        set_vector_at=set_vector_at, put=put, put_block=put_block,
    )  # fmt: skip
