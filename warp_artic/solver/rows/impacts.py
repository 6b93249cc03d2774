"""Impacts that travel through bodies that touch, one after the other within a step.

What an impact throws at a body that it touches meets that in a further impact, which takes place after the first one.
Newton's law for all of them at once has a row of balls take part in the first one as a whole. So impacts of an island
in which something may bounce are passed on in rounds, each from the velocities v+ that the impulses so far leave:
    round 1     points with an impact of their own (`constraints.contact_pair`) and no others
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

from warp_artic.constraints.contact_motion import (
    acceleration_before,
    drift_of,
    gap_before,
    velocity_after,
    velocity_before,
)
from warp_artic.constraints.rows import add_responses, row_rate, set_window
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
def begin_impacts(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """Leave the points with an impact alone among contacts, where something may bounce; says whether that is anywhere.

    It is in islands that begin, in environments in which a point with restitution may touch.
    """
    zero = real(0.0, h)
    one = real(1.0, h)
    found = bool(False)
    for island in range(model.island_count):
        bounces = work.contact_bounces[island, slot]
        passing = where_positive(bounces, work.contact_passing[island, slot], zero)
        work.contact_bounces[island, slot] = zero
        work.contact_passing[island, slot] = passing
        if work.begins[island, slot] == 1:
            work.contact_has_passed[island, slot] = passing
        found = found or any_positive(passing)
    if found:
        for dof in range(model.dof_count):
            work.contact_path[dof, slot] = zero
        for k in range(model.contact_rows // 3):
            row = model.contact_row + 3 * k
            point = model.row_item[row] // 3
            for item in range(3 * point, 3 * point + 3):
                work.contact_kept[item, slot] = work.contact_anchor[item, slot]
                if work.begins[model.row_island[row], slot] == 1:
                    work.contact_led[item, slot] = zero
            waits = work.contact_passing[model.row_island[row], slot] * (one - work.contact_hits[point, slot])
            open_row(work, row, slot, waits * work.contact_near[point, slot])
    return found


@wp.func
def open_row(work: WorkArrays, row: int, slot: int, opens: Real):
    """Let a normal have every velocity where `opens`."""
    lower = work.window[2 * row, slot]
    infinite = real(1.0, opens) / real(0.0, opens)
    set_window(work, row, slot, where_positive(opens, neg(infinite), lower), work.window[2 * row + 1, slot])


@wp.func
def pass_impacts_on(
    model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real, has_middle: int, rounds: int
):
    """Begin the next round where there is one, and let contacts rest where there is none.

    Says whether any row is to be solved, and whether any environment has a further round.
    """
    zero = real(0.0, h)
    one = real(1.0, h)
    give_impulses(model, work, slot, h)
    for island in range(model.island_count):
        work.contact_bounces[island, slot] = zero
        work.contact_slow[island, slot] = zero
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        passing = passes_on(model, work, row, slot)
        if any_positive(passing):
            island = model.row_island[row]
            closes, fast, _aim, rest, gap = meet(model, work, row, column, slot, h, has_middle)
            meets = where_positive(gap, zero, where_positive(passing, closes, zero))
            slow = where_positive(passing - one, zero, meets * (one + rest / h))
            work.contact_slow[island, slot] = maximum(work.contact_slow[island, slot], slow)
            if rounds < ROUNDS:
                work.contact_bounces[island, slot] = maximum(work.contact_bounces[island, slot], meets * fast)
    goes = bool(False)
    for island in range(model.island_count):
        ends = where_positive(work.contact_slow[island, slot], one + one, zero)
        next_round = where_positive(work.contact_bounces[island, slot], one, ends)
        work.contact_bounces[island, slot] = next_round
        goes = goes or any_positive(next_round)
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        passing = passes_on(model, work, row, slot)
        if any_positive(passing):
            set_round(model, work, row, column, slot, h, has_middle, passing)
    found = activate_rows(model, work, slot)
    for k in range(model.contact_rows):
        row = model.contact_row + k
        rests = where_positive(
            work.contact_bounces[model.row_island[row], slot], zero, passes_on(model, work, row, slot)
        )
        held = rests * work.contact_hits[model.row_item[row] // 3, slot]
        work.active[row, slot] = where_positive(held, one, work.active[row, slot])
    for island in range(model.island_count):
        work.contact_passing[island, slot] = work.contact_bounces[island, slot]
    return found, goes


@wp.func
def passes_on(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """Which round has come to an end where a point may touch: 1, or 2 for the one without a bounce; else 0."""
    near = work.contact_near[model.row_item[row] // 3, slot]
    return work.contact_passing[model.row_island[row], slot] * near


@wp.func
def give_impulses(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """Make the impulses of contacts of a round given ones, with what they change of the path of the step."""
    zero = real(0.0, h)
    first = model.contact_row
    end = model.contact_row + model.contact_rows
    for row in range(first, end):
        passing = work.contact_passing[model.row_island[row], slot]
        z = work.impulse[row, slot]
        work.contact_passed[row, slot] = where_positive(passing, z, zero)
        work.given[row, slot] = work.given[row, slot] + work.contact_passed[row, slot]
        work.impulse[row, slot] = where_positive(passing, zero, z)
        work.active[row, slot] = where_positive(passing, zero, work.active[row, slot])
    add_responses(model, work, work.contact_passed, first, end, work.v_free, slot)
    for row in range(first, end):
        item = model.row_item[row]
        z = work.contact_passed[row, slot]
        led = z * work.contact_share[item // 3, slot]
        work.contact_led[item, slot] = work.contact_led[item, slot] + led
        work.contact_passed[row, slot] = led - real(0.5, h) * z
    add_responses(model, work, work.contact_passed, first, end, work.contact_path, slot)


@wp.func
def meet(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real, has_middle: int):
    """How a point closes with the velocities so far.

    These are whether it closes as fast as an impact, whether that is faster than the bounce threshold, the velocity
    that it is to have after the impact, the time from then to the end of the step, and the gap that is there without.
    """
    point = model.row_item[row] // 3
    pair = model.contact_of_point[point]
    zero = real(0.0, h)
    one = real(1.0, h)
    y = velocity_after(model, work, row, slot)
    a = acceleration_before(model, work, row, slot, h)
    late = real(1.0 - 0.5 * float(has_middle), h)
    path = (one - late) * velocity_before(model, work, row, slot) + late * y
    path = path + real(float(has_middle), h) * row_rate(model, work, work.contact_path, row, slot)
    gap = gap_before(model, work, row, column, slot) + h * path
    closing = where_positive(neg(y), neg(y), one)
    rest = minimum(maximum(neg(gap) / closing, zero), h)
    u = a * rest - y
    closes = where_positive(minimum(neg(y), u - work.contact_still[point, slot]), one, zero)
    bounce = model.contact_restitution[pair, column] * u + a * rest
    fast = where_positive(u - model.contact_bounce_threshold[pair, column], one, zero)
    bounces = where_positive(model.contact_restitution[pair, column], where_positive(bounce, fast, zero), zero)
    aim = maximum(where_positive(bounces, bounce, zero), work.contact_resting[point, slot])
    return closes, fast, aim, rest, gap


@wp.func
def set_round(
    model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real, has_middle: int, passing: Real
):
    """Write the velocities that a normal may have in the next round, or, where that is none, at rest."""
    point = model.row_item[row] // 3
    zero = real(0.0, h)
    one = real(1.0, h)
    island = model.row_island[row]
    again = work.contact_bounces[island, slot]
    is_last = where_positive(again - one, passing, zero)
    is_next = where_positive(again, passing - is_last, zero)
    rests = where_positive(again, zero, passing)
    closes, _fast, aim, rest, gap = meet(model, work, row, column, slot, h, has_middle)
    y = velocity_after(model, work, row, slot)
    joins = where_positive(gap, zero, closes) * where_positive(again, passing, zero)
    had = maximum(work.contact_hits[point, slot], where_positive(work.given[row, slot], one, zero))
    hits = where_positive(passing, where_positive(joins, one, had), work.contact_hits[point, slot])
    work.contact_hits[point, slot] = hits
    share = where_positive(joins, rest / h, work.contact_share[point, slot])
    work.contact_share[point, slot] = where_positive(is_last, work.contact_slow[island, slot] - one, share)
    for k in range(3 * point, 3 * point + 3):
        anchor = where_positive(rests, where_positive(hits, zero, work.contact_kept[k, slot]), zero)
        work.contact_start[k, slot] = where_positive(passing, anchor, work.contact_start[k, slot])
        work.contact_anchor[k, slot] = where_positive(passing, anchor, work.contact_anchor[k, slot])
    resting = work.contact_resting[point, slot]
    at_rest = where_positive(hits, maximum(resting, zero), resting)
    no_closer = minimum(y, zero) - maximum(gap, zero) / h
    speed = where_positive(joins, aim, where_positive(is_last, no_closer, at_rest))
    speed = where_positive(passing, speed, work.contact_speed[point, slot])
    work.contact_speed[point, slot] = speed
    lower = speed + work.contact_give[3 * point, slot] * work.contact_anchor[3 * point, slot]
    lower = lower - drift_of(model, work, row, slot)
    lower = where_positive(passing, lower, work.window[2 * row, slot])
    set_window(work, row, slot, lower, work.window[2 * row + 1, slot])
    # What is not to be there until the end of the step may close.
    waits = where_positive(gap, maximum(closes * is_last, maximum(closes, hits) * rests), zero)
    open_row(work, row, slot, where_positive(joins, zero, maximum(is_next, waits)))
