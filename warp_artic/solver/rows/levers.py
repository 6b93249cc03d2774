"""Overlaps where closed loops, mimic joints and gears leave a point hardly any way to move along its normal.

What is deep in another shape is taken back as `constraints.contact_lever` says, by G_nn of the point beside the rows e
of loops, mimic joints and gears that have no bound, which its impulse cannot move: with the Delassus matrix G and
compliances,
    G_nn - G_ne x,   G_ee x = G_en
The share by what joints let it do alone has been taken before, in `constraints.contact_pair`. Mechanisms that have none
of these rows have no more to do; springs of tendons leave a point what it has.
"""

import warp as wp

from warp_artic.constraints.contact_lever import LEAST_LEVER, lever_share
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    any_positive,
    is_finite,
    maximum,
    minimum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import HOLDS_POSITIONS, MOVES_DOFS_ALIKE, has_trait
from warp_artic.solver.rows.contact_rows import is_normal
from warp_artic.solver.rows.factors import (
    factor_end,
    factor_first,
    factor_working_set,
    find_products,
    solve_consistent,
    triangle,
)
from warp_artic.solver.rows.problem import order_place


@wp.func
def is_equality(work: WorkArrays, row: int, worker: int):
    """One where a row has one velocity to have, and no bound on its impulse."""
    one = real(1.0, work.velocity_bounds[2 * row, worker])
    zero = one - one
    single = where_positive(
        work.velocity_bounds[2 * row + 1, worker] - work.velocity_bounds[2 * row, worker], zero, one
    )
    return single * (one - is_finite(work.impulse_bounds[2 * row, worker]))


@wp.func
def slow_overlaps(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Take overlaps back more slowly where ties leave points a short lever, and leave out those without any."""
    if has_deep_point(model, work, count, worker) and set_ties(model, work, count, worker):
        factored, _inaccurate, _smallest = factor_working_set(model, work, count, worker)
        for a in range(count):
            if is_normal(model, work, a, worker):
                point = model.row_item[work.gathered[a, worker]] // 3
                reach = work.contact_reach[point, worker] * work.row_mask[a, worker]
                if any_positive(reach):
                    slow_point(model, work, a, point, reach, factored, worker)


@wp.func
def has_deep_point(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Whether any point is deep in another shape, and on joints."""
    found = bool(False)
    for a in range(count):
        if is_normal(model, work, a, worker):
            reach = work.contact_reach[model.row_item[work.gathered[a, worker]] // 3, worker]
            found = found or any_positive(reach * work.row_mask[a, worker])
    return found


@wp.func
def set_ties(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Let the working set be the rows of loops, mimic joints and gears; says whether there are any."""
    found = bool(False)
    for a in range(count):
        row = work.gathered[a, worker]
        is_in = work.row_mask[a, worker]
        if has_trait(model, row, HOLDS_POSITIONS | MOVES_DOFS_ALIKE):
            is_in = is_in * is_equality(work, row, worker)
        else:
            is_in = is_in - is_in
        work.in_working_set[a, worker] = is_in
        found = found or any_positive(is_in)
    return found


@wp.func
def slow_point(model: ModelArrays, work: WorkArrays, a: int, point: int, reach: Real, factored: int, worker: int):
    """Write the velocity of the normal at a place where `reach` is positive, or leave its point out."""
    zero = reach - reach
    one = real(1.0, reach)
    jointed = where_positive(reach, reach, one)
    left = maximum(response_beside(model, work, a, factored, worker), zero)
    slowed = minimum(
        work.contact_speed[point, worker], work.contact_unslowed[point, worker] * lever_share(left, jointed)
    )
    acts = where_positive(reach, where_positive(left - real(LEAST_LEVER, one) * reach, one, zero), one)
    work.contact_speed[point, worker] = where_positive(reach, slowed * acts, work.contact_speed[point, worker])
    work.contact_resting[point, worker] = where_positive(reach, slowed * acts, work.contact_resting[point, worker])
    for k in range(3):
        work.row_mask[a - k, worker] = work.row_mask[a - k, worker] * acts


@wp.func
def response_beside(model: ModelArrays, work: WorkArrays, a: int, factored: int, worker: int):
    """G_aa of a gathered row that is not in the working set, without its compliance, beside the rows that are."""
    if work.has_products[a, worker] == 0:
        find_products(model, work, a, worker)
    order = order_place(model, work, a, worker)
    left = work.row_delassus[work.gathered[a, worker], worker]
    for i in range(factored):
        work.residual[i, worker] = left - left
    for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for i in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
            work.residual[i, worker] = product_with(work, a, i, worker)
    for r in range(model.later_range[order], model.later_range[order + 1]):
        for i in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
            work.residual[i, worker] = product_with(work, a, i, worker)
    solve_consistent(model, work, factored, worker)
    for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for i in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
            left = left - product_with(work, a, i, worker) * work.residual[i, worker]
    for r in range(model.later_range[order], model.later_range[order + 1]):
        for i in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
            left = left - product_with(work, a, i, worker) * work.residual[i, worker]
    return left


@wp.func
def product_with(work: WorkArrays, a: int, i: int, worker: int):
    """G of a gathered row and row i of the factors, where that is in the working set."""
    b = work.factored[i, worker]
    place = triangle(wp.max(a, b)) + wp.min(a, b)
    return work.delassus[place, worker] * work.in_working_set[b, worker]
