"""Contacts that rest: what pushed in the step before is taken to do so and stick, and the answer is checked.

Where no point is hit, and none slides with the impulses of the step before, the velocities of the points that push
follow from linear equations (`solver.rows.contact_rows`) with what else is in the working set. These do not say what
points share. So from the impulses before, of which friction is no more than SHARED of the cone, it goes by turns
    to the nearest impulses that obey the equations,  and from these to the nearest ones that do not pull, with such
    friction, while any of them pulls or is outside of the cone:
alternating projections, which come to what is in both sets, if there is anything. It is the answer of the law where in
the end
    no impulse in it pulls or is beyond its bound, friction is within the cone,
    no point that does not push comes nearer than it may, and
    no velocity misses its target by more than LEFT of the velocities without impulses.
Elsewhere `solver.rows.contacts` finds one by splitting; in the end both solve the same equations. Each environment is
checked by itself, so that its neighbours do not change which of the answers it takes.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.contact_rows import (
    STICKS,
    add_missing,
    bound_excess,
    friction_excess,
    is_contact,
    is_normal,
    miss_velocities,
    missing_velocity,
    set_change,
    solve_stiffened,
    stiffen_row,
)
from warp_artic.solver.rows.contact_splitting import impulse_before
from warp_artic.solver.rows.factors import triangle

LEFT = wp.constant(1e-5)
"""Part of the velocities without impulses by which those of an answer may miss their targets."""
MOVES = wp.constant(1e-2)
"""Part of these velocities with which a point with all of its friction moves, if it does not rest."""
SHARED = wp.constant(0.9)
"""Part of the cone that friction starts from, at most: at the end of it, it slides with the next change of a normal."""
STEADY = wp.constant(16.0)
"""How much more a change of friction counts than one of a normal, in what is nearest."""
PROJECTIONS = wp.constant(30)
"""Most turns."""


@wp.func
def find_resting_impulses(model: ModelArrays, work: WorkArrays, count: int, scale: Real, worker: int):
    """Write the impulses of all rows where contacts rest, `work.split_impulse`; says where. The others stay."""
    one = real(1.0, scale)
    zero = one - one
    rests = where_positive(scale, set_resting_rows(model, work, count, worker), zero)
    if any_positive(rests):
        rests = where_positive(sliding_speed(model, work, count, worker) - scale * real(MOVES, scale), zero, rests)
    if any_positive(rests):
        for a in range(count):
            if is_normal(model, work, a, worker):
                stiffen_row(model, work, a, worker, one)
                for k in range(1, 3):
                    stiffen_row(model, work, a - k, worker, real(STEADY, one))
        left = project_impulses(model, work, count, rests, worker)
        tolerance = scale * real(LEFT, scale)
        wrong = maximum(left - tolerance, find_wrong_rows(model, work, count, tolerance, worker))
        rests = where_positive(wrong, zero, rests)
        for a in range(count):
            work.delassus[triangle(a) + a, worker] = work.split_diagonal[a, worker]
            work.split_dual[a, worker] = zero
            row = work.gathered[a, worker]
            z = work.split_impulse[a, worker]
            if is_contact(model, work, a, worker):
                item = model.row_item[row]
                z = where_positive(rests, z, work.contact_start[item, worker])
                work.contact_start[item, worker] = z
            else:
                z = where_positive(rests, z, impulse_before(work, row, worker))
            work.split_impulse[a, worker] = z
    return rests


@wp.func
def set_resting_rows(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Put the rows of points that pushed into the working set; returns where none hits, and no other row gives way."""
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    rests = one
    for a in range(count):
        mask = work.row_mask[a, worker]
        if is_normal(model, work, a, worker):
            point = model.row_item[work.gathered[a, worker]] // 3
            pushes = where_positive(work.split_impulse[a, worker], mask, zero)
            sticks = where_positive(work.contact_friction[point, worker], pushes, zero)
            rests = where_positive(work.contact_hits[point, worker] * mask, zero, rests)
            work.in_working_set[a, worker] = pushes
            work.in_working_set[a - 1, worker] = sticks
            work.in_working_set[a - 2, worker] = sticks
        elif not is_contact(model, work, a, worker):
            is_given = where_positive(absolute(work.trial_impulse[a, worker]), mask, zero)
            rests = where_positive(maximum(is_given, mask - work.in_working_set[a, worker]), zero, rests)
    return rests


@wp.func
def sliding_speed(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """The largest velocity across the normal of a point with all of its friction, with the impulses before."""
    fastest = real(0.0, work.y_free[0, worker])
    zero = fastest
    one = real(1.0, zero)
    slides = zero
    for a in range(count):
        if is_normal(model, work, a, worker):
            excess = friction_excess(model, work, a, worker, real(STICKS, one))
            slides = maximum(slides, where_positive(excess, work.in_working_set[a - 1, worker], zero))
    if any_positive(slides):
        set_change(model, work, count, worker)
        for a in range(count):
            if is_normal(model, work, a, worker):
                excess = friction_excess(model, work, a, worker, real(STICKS, one))
                slides = where_positive(excess, work.in_working_set[a - 1, worker], zero)
                for k in range(1, 3):
                    speed = absolute(missing_velocity(model, work, a - k, worker))
                    fastest = maximum(fastest, where_positive(slides, speed, zero))
    return fastest


@wp.func
def project_impulses(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, worker: int):
    """Take turns of projections where `chosen`; returns the largest miss of a velocity that is left."""
    share_impulses(model, work, count, chosen, worker)
    left, factored = solve_stiffened(model, work, count, chosen, worker)
    wrong = where_positive(outside(model, work, count, worker), chosen, chosen - chosen)
    turns = int(0)
    while turns < PROJECTIONS and any_positive(wrong):
        share_impulses(model, work, count, wrong, worker)
        miss_velocities(model, work, count, factored, worker)
        add_missing(model, work, factored, wrong, worker)
        left = miss_velocities(model, work, count, factored, worker)
        wrong = where_positive(outside(model, work, count, worker), wrong, chosen - chosen)
        turns += 1
    return left


@wp.func
def share_impulses(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, worker: int):
    """Where `chosen`, have no point pull, and have less friction where it is more than SHARED of the cone."""
    one = real(1.0, chosen)
    zero = one - one
    for a in range(count):
        if is_normal(model, work, a, worker):
            takes = chosen * work.in_working_set[a, worker]
            z = work.split_impulse[a, worker]
            normal = where_positive(takes, maximum(z, zero), z)
            work.split_impulse[a, worker] = normal
            z_1 = work.split_impulse[a - 1, worker]
            z_2 = work.split_impulse[a - 2, worker]
            size = sqrt(z_1 * z_1 + z_2 * z_2)
            mu = work.contact_friction[model.row_item[work.gathered[a, worker]] // 3, worker]
            most = real(SHARED, one) * mu * normal
            exceeds = where_positive(size - most, takes, zero)
            share = where_positive(exceeds, most / where_positive(size, size, one), one)
            work.split_impulse[a - 1, worker] = z_1 * share
            work.split_impulse[a - 2, worker] = z_2 * share


@wp.func
def outside(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Positive where a point of the working set pulls, or friction is outside of the cone."""
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    found = zero
    for a in range(count):
        if is_normal(model, work, a, worker):
            is_active = work.in_working_set[a, worker] * work.row_mask[a, worker]
            pulls = where_positive(neg(work.split_impulse[a, worker]), is_active, zero)
            sticks = work.in_working_set[a - 1, worker] * is_active
            slides = where_positive(friction_excess(model, work, a, worker, one), sticks, zero)
            found = maximum(found, maximum(pulls, slides))
    return found


@wp.func
def find_wrong_rows(model: ModelArrays, work: WorkArrays, count: int, tolerance: Real, worker: int):
    """Positive where a row is on the wrong side of its law with the impulses found."""
    wrong = outside(model, work, count, worker)
    zero = tolerance - tolerance
    for a in range(count):
        mask = work.row_mask[a, worker]
        is_active = work.in_working_set[a, worker] * mask
        if is_normal(model, work, a, worker):
            nears = missing_velocity(model, work, a, worker) - tolerance
            wrong = maximum(wrong, where_positive(nears, mask - is_active, zero))
        elif not is_contact(model, work, a, worker):
            pull, excess = bound_excess(work, a, is_active, worker)
            wrong = maximum(wrong, maximum(pull, excess))
    return wrong
