"""Impulses of redundant loop joints: of all that move the bodies alike, those of least norm.

    z least in z^T z with P z given,   z over the held axes of loop joints, in N s and N m s
The direct solver gives none to a row that depends on those before it, so that of two hinges on one axis the first
would carry all. With L of G = L diag(d) L^T (`solver.rows.factors`), whose columns are zero for such dependent rows r,
    C = L_r L_i^-1,   p_r = C p_i,   N = [-C, 1],   P N^T = 0   over the independent rows i
so that N z is z solved forward by L, at the dependent rows, and N^T x is x solved back by L^T. z - N^T x with
N N^T x = N z is found by conjugate gradients on N N^T = 1 + C C^T, whose eigenvalues are one or more; most are one.

That is what joints transmit, by which they break and which other joints need not: motion is the same to rounding, or to
what redundant rows differ by off their path, and so it is left as it is.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    div,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.model.families import HOLDS_POSITIONS, has_trait
from warp_artic.solver.rows.factors import factor_end, factor_first, factor_working_set, substitute_forward, triangle
from warp_artic.solver.rows.orthogonal import orthogonalize
from warp_artic.solver.rows.problem import order_place

SOLVED = wp.constant(4.0)
"""Times the rounding error of solved numbers: what is left of N z is no more than that share of z."""


@wp.func
def share_redundant_loads(model: ModelArrays, work: WorkArrays, worker: int):
    """Write what the least norm adds to the impulses of rows, `work.redundant_impulse`, after `solve_direct`."""
    zero = real(0.0, work.D_inverse[0, worker])
    for row in range(model.row_count):
        work.redundant_impulse[row, worker] = zero
    if model.innovations_only == 1:
        count = work.gathered_before[model.row_count, worker]
        dependent, factored = factor_held_rows(model, work, count, worker)
        if dependent > 0:
            minimize_norm(model, work, dependent, factored, worker)


@wp.func
def factor_held_rows(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write L of the held axes of loop joints that act; returns how many depend on others, at most, and rows of L."""
    zero = real(0.0, work.D_inverse[0, worker])
    for a in range(count):
        row = work.gathered[a, worker]
        holds = zero
        if has_trait(model, row, HOLDS_POSITIONS):
            is_solved = where_positive(real(1.5, zero) - work.last_status[row, worker], real(1.0, zero), zero)
            holds = work.row_mask[a, worker] * is_solved
        work.in_working_set[a, worker] = holds
    factored, inaccurate, smallest = factor_working_set(model, work, count, worker)
    if any_positive(inaccurate):
        orthogonalize(model, work, 0, count, worker)
        work.orthogonal_rows[0, worker] = 0
        take_orthogonal_factors(model, work, inaccurate, factored, worker)
    dependent = int(0)
    for i in range(factored):
        a = work.factored[i, worker]
        if any_positive(work.in_working_set[a, worker] - work.is_met[a, worker]):
            dependent += 1
    return dependent, factored


@wp.func
def take_orthogonal_factors(model: ModelArrays, work: WorkArrays, chosen: Real, factored: int, worker: int):
    """Where `chosen`, make R^T of `solver.rows.orthogonal` L, which it is but for rounding."""
    for i in range(factored):
        a = work.factored[i, worker]
        work.is_met[a, worker] = where_positive(chosen, work.is_independent[a, worker], work.is_met[a, worker])
        order = order_place(model, work, a, worker)
        for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
            for j in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
                b = work.factored[j, worker]
                r_ab = work.R_factor[a * model.row_count + b, worker]
                place = triangle(i) + j
                work.L_factor[place, worker] = where_positive(chosen, r_ab, work.L_factor[place, worker])


@wp.func
def minimize_norm(model: ModelArrays, work: WorkArrays, dependent: int, factored: int, worker: int):
    """Conjugate gradients, in as many turns as there are dependent rows, or fewer."""
    zero = real(0.0, work.D_inverse[0, worker])
    one = real(1.0, zero)
    size = zero
    for i in range(factored):
        z = work.impulse[work.gathered[work.factored[i, worker], worker], worker]
        work.null_residual[i, worker] = z
        size = size + z * z
    left = at_dependent_rows(model, work, work.null_residual, factored, worker)
    for i in range(factored):
        work.null_direction[i, worker] = work.null_residual[i, worker]
    known = real(SOLVED, zero) * model.rounding[0, 0]
    known = known * known * size
    turns = int(0)
    while turns < dependent and any_positive(left - known):
        for i in range(factored):
            work.null_impulse[i, worker] = work.null_direction[i, worker]
        square = substitute_backward(model, work, work.null_impulse, factored, worker)
        step = where_positive(left - known, left, zero) / where_positive(square, square, one)
        for i in range(factored):
            row = work.gathered[work.factored[i, worker], worker]
            work.redundant_impulse[row, worker] = (
                work.redundant_impulse[row, worker] - step * work.null_impulse[i, worker]
            )
        at_dependent_rows(model, work, work.null_impulse, factored, worker)
        before = left
        left = zero
        for i in range(factored):
            r = work.null_residual[i, worker] - step * work.null_impulse[i, worker]
            work.null_residual[i, worker] = r
            left = left + r * r
        ratio = left / where_positive(before, before, one)
        for i in range(factored):
            work.null_direction[i, worker] = work.null_residual[i, worker] + ratio * work.null_direction[i, worker]
        turns += 1


@wp.func
def at_dependent_rows(model: ModelArrays, work: WorkArrays, values: Array, factored: int, worker: int):
    """Write N z of values z of rows of L in their place, zero at independent rows, and return its square."""
    zero = real(0.0, work.D_inverse[0, worker])
    substitute_forward(model, work, values, factored, worker)
    square = zero
    for i in range(factored):
        a = work.factored[i, worker]
        x = where_positive(work.in_working_set[a, worker] - work.is_met[a, worker], values[i, worker], zero)
        values[i, worker] = x
        square = square + x * x
    return square


@wp.func
def substitute_backward(model: ModelArrays, work: WorkArrays, values: Array, factored: int, worker: int):
    """Write N^T x of values x that are zero at independent rows in their place, and return its square."""
    square = real(0.0, work.D_inverse[0, worker])
    for k in range(factored):
        i = factored - 1 - k
        x = values[i, worker]
        order = order_place(model, work, work.factored[i, worker], worker)
        for r in range(model.later_range[order], model.later_range[order + 1]):
            for j in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
                x = x - work.L_factor[triangle(j) + i, worker] * values[j, worker]
        values[i, worker] = x
        square = square + x * x
    return square
