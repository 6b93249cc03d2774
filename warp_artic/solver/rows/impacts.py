"""Impacts that travel through bodies that touch, one after the other within a step.

A body that an impact sets in motion may strike another one that it touches already: that is a second impact, after the
first. Newton's law of restitution for all contacts at once would have a whole row of touching balls take part in the
first impact. So impacts of an island in which something may bounce are passed on in rounds, each from the velocities v+
that the impulses so far leave:
    round 1     points with an impact of their own (`constraints.contact_law`) and no others
    then        points whose gap closes before the end of the step, now with an impact
The impulses of a round are given from then on. With the gap G that the path so far leaves at the end of the step, the
closing speed u+ there, and the acceleration a_n without rows along n, a gap closes for the time r before the end, at
    r = - G / u+,  u = u+ + a_n r,   and   v+ is to be   e u + a_n r   where u is above the bounce threshold, else 0
Points that do not close when a round begins have no part in it, and each that does loses energy, e <= 1: so no round
gains any. Rounds end where nothing closes faster than the threshold, or after ROUNDS. Then a last one has all points
that still have an impact end it together, while no other comes closer. In the end what rests, or is pressed by forces,
is held together with all the other rows by v+ >= 0. Both are projections, which gain no energy either.

Each environment ends its rounds by itself. Without an impact, or without restitution, there is none.
"""

import warp as wp

from warp_artic.constraints.bearing_rows import begin_without_loads
from warp_artic.constraints.contact_motion import (
    acceleration_before,
    drift_of,
    gap_before,
    velocity_after,
    velocity_before,
)
from warp_artic.constraints.rows import add_responses, row_rate, set_velocity_bounds
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.activation import activate_rows

ROUNDS = wp.constant(100)
"""Rounds of a step, after which impacts are passed on without a bounce."""


@wp.func
def begin_impacts(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Begin the first round: let only those contact points act that have an impact, in islands where one may bounce.

    Returns whether any island has such a round: those that begin, in environments in which a point with restitution may
    touch.
    """
    zero = real(0.0, h)
    one = real(1.0, h)
    found = bool(False)
    for island in range(model.island_count):
        bounces = work.contact_bounces[island, worker]
        passing = where_positive(bounces, work.contact_passing[island, worker], zero)
        work.contact_bounces[island, worker] = zero
        work.contact_passing[island, worker] = passing
        if work.begins[island, worker] == 1:
            work.contact_has_passed[island, worker] = passing
        if any_positive(passing):
            found = bool(True)
            begin_without_loads(model, work, island, passing, worker)
    if found:
        for dof in range(model.dof_count):
            work.contact_path[dof, worker] = zero
        for k in range(model.contact_rows // 3):
            row = model.contact_row + 3 * k
            point = model.row_item[row] // 3
            for item in range(3 * point, 3 * point + 3):
                work.contact_kept[item, worker] = work.contact_anchor[item, worker]
                if work.begins[model.row_island[row], worker] == 1:
                    work.contact_led[item, worker] = zero
            waits = work.contact_passing[model.row_island[row], worker] * (one - work.contact_hits[point, worker])
            open_row(work, row, worker, waits * work.contact_near[point, worker])
    return found


@wp.func
def open_row(work: WorkArrays, row: int, worker: int, opens: Real):
    """Let a normal have every velocity where `opens`."""
    lower = work.velocity_bounds[2 * row, worker]
    infinite = real(1.0, opens) / real(0.0, opens)
    set_velocity_bounds(
        work, row, worker, where_positive(opens, neg(infinite), lower), work.velocity_bounds[2 * row + 1, worker]
    )


@wp.func
def pass_impacts_on(
    model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real, has_middle: int, rounds: int
):
    """Begin the next round where there is one, and let contacts rest where there is none.

    Says whether any row is to be solved, and whether any environment has a further round.
    """
    zero = real(0.0, h)
    one = real(1.0, h)
    give_impulses(model, work, worker, h)
    for island in range(model.island_count):
        work.contact_bounces[island, worker] = zero
        work.contact_slow[island, worker] = zero
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        passing = passes_on(model, work, row, worker)
        if any_positive(passing):
            island = model.row_island[row]
            closes, fast, _aim, rest, gap = meet(model, work, row, block, worker, h, has_middle)
            meets = where_positive(gap, zero, where_positive(passing, closes, zero))
            slow = where_positive(passing - one, zero, meets * (one + rest / h))
            work.contact_slow[island, worker] = maximum(work.contact_slow[island, worker], slow)
            if rounds < ROUNDS:
                work.contact_bounces[island, worker] = maximum(work.contact_bounces[island, worker], meets * fast)
    goes = bool(False)
    for island in range(model.island_count):
        ends = where_positive(work.contact_slow[island, worker], one + one, zero)
        next_round = where_positive(work.contact_bounces[island, worker], one, ends)
        work.contact_bounces[island, worker] = next_round
        goes = goes or any_positive(next_round)
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        passing = passes_on(model, work, row, worker)
        if any_positive(passing):
            set_round(model, work, row, block, worker, h, has_middle, passing)
    found = activate_rows(model, work, worker)
    for k in range(model.contact_rows):
        row = model.contact_row + k
        rests = where_positive(
            work.contact_bounces[model.row_island[row], worker], zero, passes_on(model, work, row, worker)
        )
        held = rests * work.contact_hits[model.row_item[row] // 3, worker]
        work.active[row, worker] = where_positive(held, one, work.active[row, worker])
    for island in range(model.island_count):
        work.contact_passing[island, worker] = work.contact_bounces[island, worker]
    return found, goes


@wp.func
def passes_on(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Which round has come to an end where a point may touch: 1, or 2 for the one without a bounce; else 0."""
    near = work.contact_near[model.row_item[row] // 3, worker]
    return work.contact_passing[model.row_island[row], worker] * near


@wp.func
def give_impulses(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Make the impulses of contacts of a round given ones, with what they change of the path of the step."""
    zero = real(0.0, h)
    first = model.contact_row
    end = model.contact_row + model.contact_rows
    for row in range(first, end):
        passing = work.contact_passing[model.row_island[row], worker]
        z = work.impulse[row, worker]
        work.contact_passed[row, worker] = where_positive(passing, z, zero)
        work.given[row, worker] = work.given[row, worker] + work.contact_passed[row, worker]
        work.impulse[row, worker] = where_positive(passing, zero, z)
        work.active[row, worker] = where_positive(passing, zero, work.active[row, worker])
    add_responses(model, work, work.contact_passed, first, end, work.v_free, worker)
    for row in range(first, end):
        item = model.row_item[row]
        z = work.contact_passed[row, worker]
        led = z * work.contact_weight[item // 3, worker]
        work.contact_led[item, worker] = work.contact_led[item, worker] + led
        work.contact_passed[row, worker] = led - real(0.5, h) * z
    add_responses(model, work, work.contact_passed, first, end, work.contact_path, worker)


@wp.func
def meet(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real, has_middle: int):
    """How a point closes with the velocities so far.

    These are whether it closes as fast as an impact, whether that is faster than the bounce threshold, the velocity
    that it is to have after the impact, the time from then to the end of the step, and the gap that is there without.
    """
    point = model.row_item[row] // 3
    pair = model.contact_of_point[point]
    zero = real(0.0, h)
    one = real(1.0, h)
    y = velocity_after(model, work, row, worker)
    a = acceleration_before(model, work, row, worker, h)
    late = real(1.0 - 0.5 * float(has_middle), h)
    path = (one - late) * velocity_before(model, work, row, worker) + late * y
    path = path + real(float(has_middle), h) * row_rate(model, work, work.contact_path, row, worker)
    gap = gap_before(model, work, row, block, worker) + h * path
    closing = where_positive(neg(y), neg(y), one)
    rest = minimum(maximum(neg(gap) / closing, zero), h)
    u = a * rest - y
    closes = where_positive(minimum(neg(y), u - work.contact_still[point, worker]), one, zero)
    bounce = model.contact_restitution[pair, block] * u + a * rest
    fast = where_positive(u - model.contact_bounce_threshold[pair, block], one, zero)
    bounces = where_positive(model.contact_restitution[pair, block], where_positive(bounce, fast, zero), zero)
    aim = maximum(where_positive(bounces, bounce, zero), work.contact_resting[point, worker])
    return closes, fast, aim, rest, gap


@wp.func
def set_round(
    model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real, has_middle: int, passing: Real
):
    """Write the velocities that a normal may have in the next round, or, where that is none, at rest."""
    point = model.row_item[row] // 3
    zero = real(0.0, h)
    one = real(1.0, h)
    island = model.row_island[row]
    again = work.contact_bounces[island, worker]
    is_last = where_positive(again - one, passing, zero)
    is_next = where_positive(again, passing - is_last, zero)
    rests = where_positive(again, zero, passing)
    closes, _fast, aim, rest, gap = meet(model, work, row, block, worker, h, has_middle)
    y = velocity_after(model, work, row, worker)
    joins = where_positive(gap, zero, closes) * where_positive(again, passing, zero)
    had = maximum(work.contact_hits[point, worker], where_positive(work.given[row, worker], one, zero))
    hits = where_positive(passing, where_positive(joins, one, had), work.contact_hits[point, worker])
    work.contact_hits[point, worker] = hits
    weight = where_positive(joins, rest / h, work.contact_weight[point, worker])
    work.contact_weight[point, worker] = where_positive(is_last, work.contact_slow[island, worker] - one, weight)
    for k in range(3 * point, 3 * point + 3):
        anchor = where_positive(rests, where_positive(hits, zero, work.contact_kept[k, worker]), zero)
        work.contact_start[k, worker] = where_positive(passing, anchor, work.contact_start[k, worker])
        work.contact_anchor[k, worker] = where_positive(passing, anchor, work.contact_anchor[k, worker])
    resting = work.contact_resting[point, worker]
    at_rest = where_positive(hits, maximum(resting, zero), resting)
    no_closer = minimum(y, zero) - maximum(gap, zero) / h
    speed = where_positive(joins, aim, where_positive(is_last, no_closer, at_rest))
    speed = where_positive(passing, speed, work.contact_speed[point, worker])
    work.contact_speed[point, worker] = speed
    lower = speed + work.contact_give[3 * point, worker] * work.contact_anchor[3 * point, worker]
    lower = lower - drift_of(model, work, row, worker)
    lower = where_positive(passing, lower, work.velocity_bounds[2 * row, worker])
    set_velocity_bounds(work, row, worker, lower, work.velocity_bounds[2 * row + 1, worker])
    # A normal with a gap left at the end of the step is released: in the last round if it closes, and once contacts
    # rest if it closes or had an impact.
    waits = where_positive(gap, maximum(closes * is_last, maximum(closes, hits) * rests), zero)
    open_row(work, row, worker, where_positive(joins, zero, maximum(is_next, waits)))
