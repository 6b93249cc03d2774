"""Contacts that rest: what held and stuck in the step before is taken to do so again, and the answer is checked.

Where no point is hit, and every point that pushed in the step before stuck, the points that push are known, and the
velocities follow from linear equations (`solver.rows.contact_rows`) with what else is in the working set. It is the
answer of the law where then
    no impulse in it pulls or is beyond its bound, friction is within the cone,
    no point that did not push comes nearer than it may, and
    no velocity misses its target by more than LEFT of the velocities without impulses.
Elsewhere `solver.rows.contacts` finds one by splitting; in the end both solve the same equations. Each environment is
checked by itself, so that its neighbours do not change which of the answers it takes.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    any_positive,
    maximum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.contact_rows import (
    STICKS,
    bound_excess,
    friction_excess,
    is_contact,
    is_normal,
    missing_velocity,
    solve_stiffened,
    stiffen_row,
)
from warp_artic.solver.rows.factors import triangle

LEFT = wp.constant(1e-5)
"""Part of the velocities without impulses by which those of an answer may miss their targets."""


@wp.func
def find_resting_impulses(model: ModelArrays, work: WorkArrays, count: int, scale: Real, worker: int):
    """Write the impulses of all rows where contacts rest, `work.split_impulse`; says where. The others stay."""
    rests = where_positive(scale, set_resting_rows(model, work, count, worker), scale - scale)
    if any_positive(rests):
        for a in range(count):
            work.split_dual[a, worker] = work.split_impulse[a, worker]
            if is_contact(model, work, a, worker):
                stiffen_row(model, work, a, worker)
        left, _factored = solve_stiffened(model, work, count, rests, worker)
        tolerance = scale * real(LEFT, scale)
        wrong = maximum(left - tolerance, find_wrong_rows(model, work, count, tolerance, worker))
        rests = where_positive(wrong, rests - rests, rests)
        for a in range(count):
            work.delassus[triangle(a) + a, worker] = work.split_diagonal[a, worker]
            z = where_positive(rests, work.split_impulse[a, worker], work.split_dual[a, worker])
            work.split_impulse[a, worker] = z
            work.split_dual[a, worker] = rests - rests
            if is_contact(model, work, a, worker):
                item = model.row_item[work.gathered[a, worker]]
                work.contact_start[item, worker] = where_positive(rests, z, work.contact_start[item, worker])
    return rests


@wp.func
def set_resting_rows(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Put the rows of points that pushed and stuck into the working set; returns where none slides or hits,
    and no other row gives way."""
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    rests = one
    for a in range(count):
        mask = work.row_mask[a, worker]
        if is_normal(model, work, a, worker):
            point = model.row_item[work.gathered[a, worker]] // 3
            pushes = where_positive(work.split_impulse[a, worker], mask, zero)
            sticks = where_positive(friction_excess(model, work, a, worker, real(STICKS, one)), zero, pushes)
            slides = where_positive(work.contact_friction[point, worker], pushes - sticks, zero)
            rests = where_positive(maximum(slides, work.contact_hits[point, worker] * mask), zero, rests)
            work.in_working_set[a, worker] = pushes
            work.in_working_set[a - 1, worker] = sticks
            work.in_working_set[a - 2, worker] = sticks
        elif not is_contact(model, work, a, worker):
            is_given = where_positive(absolute(work.trial_impulse[a, worker]), mask, zero)
            rests = where_positive(maximum(is_given, mask - work.in_working_set[a, worker]), zero, rests)
    return rests


@wp.func
def find_wrong_rows(model: ModelArrays, work: WorkArrays, count: int, tolerance: Real, worker: int):
    """Positive where a row is on the wrong side of its law with the impulses found."""
    wrong = tolerance - tolerance
    zero = wrong
    one = real(1.0, zero)
    for a in range(count):
        mask = work.row_mask[a, worker]
        is_active = work.in_working_set[a, worker] * mask
        z = work.split_impulse[a, worker]
        if is_normal(model, work, a, worker):
            pulls = where_positive(z, zero, is_active)
            sticks = work.in_working_set[a - 1, worker] * is_active
            slides = where_positive(friction_excess(model, work, a, worker, one), sticks, zero)
            nears = missing_velocity(model, work, a, worker) - tolerance
            nears = where_positive(nears, mask - is_active, zero)
            wrong = maximum(wrong, maximum(pulls, maximum(slides, nears)))
        elif not is_contact(model, work, a, worker):
            pull, excess = bound_excess(work, a, is_active, worker)
            wrong = maximum(wrong, maximum(pull, excess))
    return wrong
