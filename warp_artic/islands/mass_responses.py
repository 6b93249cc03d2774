"""How an impulse at a point changes the velocities of a mechanism.

    Y = M^-1 J^T,   G = J Y                 with what constraints hold
    p = S J^T,   Y = S^T p,   G = p^T p     with M^-1 = S^T S (`phases.impulse_response`), of trees that no row and no
                                            drive with a maximum force holds

With S, single precision knows G of the end of a long chain. In M^-1 of its joints the levers cancel each other.

Both cost the square of the dofs for each point, and were most of a step of a long rope on the ground. Their sums are
in native code, with so many partial sums that the compiler has vectors of them: a sixth of the time with 96 links.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types

SUMS = 8
"""Partial sums of a product, which are added in order in the end."""
ROWS = 4
"""Rows whose multiples are added at once: each entry of Y is loaded and written once for all of them."""


@cache
def mass_responses(precision: str) -> SimpleNamespace:
    """The functions `freely` and `with_constraints`."""
    types = island_types(precision)
    T, V, Mechanisms = types.T, types.V, types.Mechanisms
    P = wp.types.matrix(shape=(ROWS, 3), dtype=T)
    number = {wp.float32: "float", wp.float64: "double"}[T]
    vector = f"wp::vec_t<3, {number}>"

    @wp.func_native(f"""
    const {number}* row = matrix.data + first_entry;
    const {vector}* x = J.data + term;
    {number} sums[3][{SUMS}] = {{}};
    {vector} product;
    int dof = first;
    for (; dof + {SUMS} <= end; dof += {SUMS})
        for (int k = 0; k < {SUMS}; ++k)
            for (int axis = 0; axis < 3; ++axis) sums[axis][k] += x[dof + k].c[axis] * row[dof + k];
    for (int axis = 0; axis < 3; ++axis)
        for (int k = 0; k < {SUMS}; ++k) product.c[axis] += sums[axis][k];
    for (; dof < end; ++dof)
        for (int axis = 0; axis < 3; ++axis) product.c[axis] += x[dof].c[axis] * row[dof];
    return product;""")
    def row_product(
        matrix: wp.array(dtype=T), J: wp.array(dtype=V), term: int, first_entry: int, first: int, end: int
    ) -> V:
        """Product of the dofs `first` to `end` of a row of a matrix, which begins at an entry, with J."""
        ...

    @wp.func_native(f"""
    const {number}* row_a = matrix.data + first_entry;
    const {number}* row_b = row_a + (rows > 1 ? dofs : 0);
    const {number}* row_c = row_b + (rows > 2 ? dofs : 0);
    const {number}* row_d = row_c + (rows > 3 ? dofs : 0);
    {vector}* __restrict y = Y.data + term;
    for (int dof = first; dof < end; ++dof)
        for (int axis = 0; axis < 3; ++axis)
            y[dof].c[axis] = (((y[dof].c[axis] + p.data[0][axis] * row_a[dof]) + p.data[1][axis] * row_b[dof])
                              + p.data[2][axis] * row_c[dof]) + p.data[3][axis] * row_d[dof];""")
    def add_rows(
        matrix: wp.array(dtype=T),
        Y: wp.array(dtype=V),
        term: int,
        first_entry: int,
        dofs: int,
        rows: int,
        first: int,
        end: int,
        p: P,
    ):
        """Add rows of a matrix, each times its p, to Y of the dofs `first` to `end`; p of further rows is zero."""
        ...

    @wp.func
    def across_of(J: V, Y: V):
        """What a dof with J and Y adds to G across the normal."""
        return V(J[1] * Y[1], J[1] * Y[2], J[2] * Y[2])

    @wp.func
    def end_of(J: wp.array(dtype=V), term: int, dofs: int):
        """The end of the dofs that move a point: that after the last one with an entry in J."""
        end = int(0)
        for dof in range(dofs):
            if wp.length_sq(J[term + dof]) > T(0.0):
                end = dof + 1
        return end

    @wp.func
    def respond_freely(
        mechanisms: Mechanisms,
        J: wp.array(dtype=V),
        Y: wp.array(dtype=V),
        term: int,
        row: int,
        own: int,
        dofs: int,
        normal_before: V,
        across_before: V,
    ):
        """Write Y by the square root of M^-1; returns G with that of another mechanism."""
        normal = normal_before
        across = across_before
        for dof in range(dofs):
            Y[term + dof] = V()
        moved = end_of(J, term, dofs)
        for k in range(0, dofs, ROWS):
            rows = wp.min(dofs - k, ROWS)
            first = mechanisms.outward[own + k]
            end = mechanisms.outward_end[own + k]
            for other in range(own + k + 1, own + k + rows):
                first = wp.min(first, mechanisms.outward[other])
                end = wp.max(end, mechanisms.outward_end[other])
            if first < moved:
                p = P()
                entry = row + k * dofs
                for n in range(rows):
                    x = row_product(mechanisms.square_root, J, term, entry + n * dofs, first, wp.min(end, moved))
                    p[n] = x
                    normal += x * x[0]
                    across += across_of(x, x)
                add_rows(mechanisms.square_root, Y, term, entry, dofs, rows, first, end, p)
        return normal, across

    @wp.func
    def respond_with_constraints(
        mechanisms: Mechanisms,
        J: wp.array(dtype=V),
        Y: wp.array(dtype=V),
        term: int,
        row: int,
        dofs: int,
        normal_before: V,
        across_before: V,
    ):
        """The same by M^-1 with what constraints hold."""
        normal = normal_before
        across = across_before
        moved = end_of(J, term, dofs)
        for dof in range(dofs):
            y = row_product(mechanisms.inverse, J, term, row + dof * dofs, 0, moved)
            x = J[term + dof]
            Y[term + dof] = y
            normal += y * x[0]
            across += across_of(x, y)
        return normal, across

    return SimpleNamespace(freely=respond_freely, with_constraints=respond_with_constraints)
