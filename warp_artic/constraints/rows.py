"""Constraint rows: the contract between a constraint family and a solver.

A row speaks about the velocity y = J v+ of its Jacobian at the end of the step and about the impulse z along its push,
which is J^T but for tendons whose forces do not follow from their length:
    y + compliance z = y*,   y* = y clamped to [lower, upper]  (a single value for an equality)
    |z| <= hold, else |z| = slide  (a bound on the impulse, and what is left of it once it gives way)
A family writes, each step: the window [lower, upper], the compliance, the bounds (hold, slide) and the coefficients of
J and of the push. A row outside its window becomes active, is given its response Y = M^-1 push, and is solved; an
inactive row costs a comparison. J is sparse: `row_terms` coefficients on the dofs `term_dof`. Rows with the same push
share the response slot.

A row of a tree with a force law that is linear in v+ (an unsaturated drive, a damper) is better folded into the factors
of the articulated inertia, where it is exact; see `drive`.
"""

import warp as wp

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
    vec3,
    where_positive,
)
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.model.islands import island_dof
from warp_artic.phases.impulse_response import innovate, keep_innovations, pass_outward, respond

RECOVERY = wp.constant(0.2)
"""Share of a violated limit that is taken back in a step."""


REDUNDANT = wp.constant(1e-6)
"""Part of its square, G_aa or what J could be at most, that a redundant row of positions that hold has left."""


@wp.func
def set_window(work: WorkArrays, row: int, slot: int, lower: Real, upper: Real):
    """Write the velocities that a row allows."""
    work.window[2 * row, slot] = lower
    work.window[2 * row + 1, slot] = upper


@wp.func
def set_bounds(work: WorkArrays, row: int, slot: int, hold: Real, slide: Real):
    """Write the largest impulse of a row, and the impulse it keeps where that is not enough."""
    work.bound[2 * row, slot] = hold
    work.bound[2 * row + 1, slot] = slide


@wp.func
def set_unbounded(work: WorkArrays, row: int, slot: int, like: Real):
    """No bound on the impulse of a row."""
    infinite = real(1.0, like) / real(0.0, like)
    set_bounds(work, row, slot, infinite, infinite)


@wp.func
def set_coefficient(work: WorkArrays, term: int, slot: int, coefficient: Real):
    """Write an entry of J whose push is the same."""
    work.coefficient[term, slot] = coefficient
    work.push[term, slot] = coefficient


@wp.func
def allow_every_velocity(work: WorkArrays, row: int, slot: int, enabled: Real):
    """Open the window of a row where it is not enabled."""
    infinite = real(1.0, enabled) / real(0.0, enabled)
    lower = work.window[2 * row, slot]
    upper = work.window[2 * row + 1, slot]
    set_window(work, row, slot, where_positive(enabled, lower, neg(infinite)), where_positive(enabled, upper, infinite))


@wp.func
def set_single_coefficient(model: ModelArrays, work: WorkArrays, row: int, slot: int, like: Real):
    """J = 1 on the only dof of a row."""
    set_coefficient(work, model.row_term[row], slot, real(1.0, like))


@wp.func
def gap_velocity(gap: Real, h: Real):
    """The velocity that uses up a gap in one step; of a violated limit (gap < 0) a share of it, backwards."""
    rate = gap / h
    return where_positive(neg(gap), rate * real(RECOVERY, gap), rate)


@wp.func
def set_position_window(
    work: WorkArrays, row: int, slot: int, y: Real, lower: Real, upper: Real, fastest: Real, h: Real
):
    """Keep a position y in [lower, upper] at the end of the step, or bring it back no faster than `fastest`."""
    down = neg(gap_velocity(y - lower, h))
    up = gap_velocity(upper - y, h)
    set_window(work, row, slot, minimum(down, fastest), maximum(up, neg(fastest)))


@wp.func
def row_rate(model: ModelArrays, work: WorkArrays, rates: Array, row: int, slot: int):
    """J times the rates of the dofs."""
    start = model.row_term[row]
    y = work.coefficient[start, slot] * rates[model.term_dof[start], slot]
    for term in range(start + 1, start + model.row_terms[row]):
        y = y + work.coefficient[term, slot] * rates[model.term_dof[term], slot]
    return y


@wp.func
def row_velocity(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """y = J v+ with the velocities so far."""
    return row_rate(model, work, work.v_next, row, slot)


@wp.func
def prepare_response(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """Compute the response of a row unless it is known for the present factors."""
    response = model.row_slot[row]
    if work.ready[response, slot] == 0:
        respond(model, work, model.slot_row[response], response * model.dof_count, slot)
        work.ready[response, slot] = 1


@wp.func
def prepare_rate(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """Compute the innovations of J of a row whose push is another, unless they are known."""
    place = model.row_rate_slot[row]
    if place != model.row_slot[row] and work.ready[place, slot] == 0:
        nonsymmetric = real(0.0, work.D_inverse[0, slot])
        for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
            nonsymmetric = maximum(nonsymmetric, absolute(work.coefficient[term, slot] - work.push[term, slot]))
        work.nonsymmetric[row, slot] = nonsymmetric
        if any_positive(nonsymmetric):
            innovate(model, work, work.coefficient, row, slot)
            keep_innovations(model, work, row, place * model.dof_count, slot)
        work.ready[place, slot] = 1


@wp.func
def rate_place(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """Where the innovations of J of a row start: they are those of its push unless it is nonsymmetric."""
    place = model.row_slot[row]
    if any_positive(work.nonsymmetric[row, slot]):
        place = model.row_rate_slot[row]
    return place * model.dof_count


@wp.func
def forget_rate(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """Have the innovations of J of a row computed anew, after J has changed while its push has not."""
    if model.row_rate_slot[row] != model.row_slot[row]:
        work.ready[model.row_rate_slot[row], slot] = 0


@wp.func
def forget_response(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """Have the response of a row computed anew, and what J has beside it, after its push has changed in a substep."""
    work.ready[model.row_slot[row], slot] = 0
    work.known_rows[0, slot] = 0
    forget_rate(model, work, row, slot)


@wp.func
def push_row(model: ModelArrays, work: WorkArrays, row: int, slot: int, impulse: Real):
    """Add what an impulse of a row changes to the velocities so far."""
    response = model.row_slot[row] * model.dof_count
    island = model.row_island[row]
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        work.v_next[dof, slot] = work.v_next[dof, slot] + work.response[response + dof, slot] * impulse


@wp.func
def add_responses(model: ModelArrays, work: WorkArrays, impulses: Array, first: int, end: int, rates: Array, slot: int):
    """Add what impulses of the rows from `first` to `end` change to the rates of the dofs."""
    found = bool(False)
    zero = real(0.0, rates[0, slot])
    for row in range(first, end):
        z = impulses[row, slot]
        if any_positive(absolute(z)):
            response = model.row_slot[row] * model.dof_count
            if model.innovations_only == 0:
                island = model.row_island[row]
                for k in range(model.island_first[island], model.island_first[island + 1]):
                    dof = island_dof(model, k)
                    rates[dof, slot] = rates[dof, slot] + work.response[response + dof, slot] * z
            else:
                if not found:
                    for dof in range(model.dof_count):
                        work.innovation[dof, slot] = zero
                found = bool(True)
                add_innovations(model, work, row, z, slot)
    if found:
        add_velocity_change(model, work, rates, slot)


@wp.func
def add_innovations(model: ModelArrays, work: WorkArrays, row: int, impulse: Real, slot: int):
    """Add the innovations of an impulse of a row to `work.innovation`."""
    push = model.row_slot[row] * model.dof_count
    start = model.row_support[row]
    for k in range(model.row_supports[row]):
        dof = model.support_dof[start + k]
        work.innovation[dof, slot] = work.innovation[dof, slot] + work.response[push + k, slot] * impulse


@wp.func
def change_of_rate(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """What innovations add to the velocity of a row, from these by D in `work.scaled_innovation`."""
    rate = rate_place(model, work, row, slot)
    start = model.row_support[row]
    change = real(0.0, work.D_inverse[0, slot])
    for k in range(model.row_supports[row]):
        change = change + work.response[rate + k, slot] * work.scaled_innovation[model.support_dof[start + k], slot]
    return change


@wp.func
def add_velocity_change(model: ModelArrays, work: WorkArrays, rates: Array, slot: int):
    """Add the change of rates  W^T D^-1 w  that the innovations w in `work.innovation` cause: one outward pass."""
    zero = real(0.0, rates[0, slot])
    for dof in range(model.dof_count):
        work.u[dof, slot] = work.innovation[dof, slot]
    pass_outward(model, work, work.velocity_change, 0, slot, vec3(zero, zero, zero))
    for dof in range(model.dof_count):
        rates[dof, slot] = rates[dof, slot] + work.velocity_change[dof, slot]


@wp.func
def row_response(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """J Y: the velocity of a row that a unit impulse along it causes."""
    if model.innovations_only == 1:
        prepare_rate(model, work, row, slot)
        push = model.row_slot[row] * model.dof_count
        rate = rate_place(model, work, row, slot)
        total = real(0.0, work.D_inverse[0, slot])
        first = model.row_support[row]
        for k in range(model.row_supports[row]):
            p = work.response[push + k, slot] * work.D_inverse[model.support_dof[first + k], slot]
            total = total + work.response[rate + k, slot] * p
        return total
    start = model.row_term[row]
    response = model.row_slot[row] * model.dof_count
    r = work.coefficient[start, slot] * work.response[response + model.term_dof[start], slot]
    for term in range(start + 1, start + model.row_terms[row]):
        r = r + work.coefficient[term, slot] * work.response[response + model.term_dof[term], slot]
    return r


@wp.func
def mobility(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """J M^-1 push of a row that has coefficients."""
    forget_response(model, work, row, slot)
    prepare_response(model, work, row, slot)
    return row_response(model, work, row, slot)


@wp.func
def project(y_free: Real, r: Real, lower: Real, upper: Real, compliance: Real, hold: Real, slide: Real):
    """The impulse z of a row whose velocity without it is y_free and with it y_free + r z; none where nothing moves."""
    gives = r + compliance
    z = where_positive(gives, (minimum(maximum(y_free, lower), upper) - y_free) / gives, r - r)
    sliding = where_positive(z, slide, neg(slide))
    return where_positive(absolute(z) - hold, sliding, z)
