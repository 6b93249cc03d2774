"""How far each row is from a switch, where the derivative of a step is another on either side.

With t = y + compliance z (`solver.rows.problem`) a row
    is free    z = 0, lower < t < upper    until  min(t - lower, upper - t)  is zero,
    slips      |z| = slide                 until  |t - target|               is zero,
    acts       z other than zero, a stop   until  |z| / h, or (hold - |z|) / h,
    holds      an equality                 until  (hold - |z|) / h,
    sticks     a tangent of a contact      until  (mu z_n - |z_t|) / h,   and slides until  |y_t|  is zero.
The first two margins are velocities [m/s or rad/s] and written as they are; the others are forces [N or N m], and
written as negative numbers. A drive that is folded into the factors holds with its force, within its maximum. What
cannot switch has an infinite margin.

A stop and friction that sticks may hold one dof together, with impulses z and z_f. How they share what holds it does
not matter to its motion, and so with s the sign of z
    the stop      lets go      until  (|z| - (hold - s z_f)) / h  is zero: then friction could hold alone. Where it
                               could already, the stop is at its bound, min(t - lower, upper - t),
    the friction  slips        until  (hold + s z_f + |z|) / h  is zero: away from the stop.
"""

import warp as wp

from warp_artic.constraints.drive import DRIVE_ORDER, folded_force
from warp_artic.constraints.rows import row_velocity
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ForceArrays, ModelArrays, WorkArrays
from warp_artic.model.families import IS_CONTACT, ON_ONE_DOF, has_trait

AT_BOUND = wp.constant(1e-5)
"""Share of a bound by which an impulse may differ from it and still be at it."""


@wp.func
def report_margins(
    model: ModelArrays, work: WorkArrays, forces: ForceArrays, block: int, worker: int, h: Real, substep: int
):
    """Write the margins of all rows; with substeps those that are nearest to a switch."""
    for row in range(model.row_count):
        margin = row_margin(model, work, row, worker, h)
        if has_trait(model, row, ON_ONE_DOF):
            friction = model.dof_friction[model.row_dof[row]]
            stop = model.dof_stop[model.row_dof[row]]
            if friction >= 0 and stop >= 0 and (row == friction or row == stop):
                margin = shared_margin(model, work, row, friction, stop, worker, h, margin)
        if has_trait(model, row, IS_CONTACT) and model.row_item[row] % 3 > 0:
            margin = tangent_margin(model, work, row, worker, h)
        if model.row_family[row] == DRIVE_ORDER:
            item = model.row_item[row]
            force = folded_force(model, work, model.row_dof[row], block, worker, h)
            folded = absolute(force) - model.drive_max_force[item, block]
            margin = where_positive(work.saturated[item, worker], margin, folded)
        if substep > 0:
            before = forces.row_margin[row, block]
            margin = where_positive(absolute(margin) - absolute(before), before, margin)
        forces.row_margin[row, block] = margin


@wp.func
def row_margin(model: ModelArrays, work: WorkArrays, row: int, worker: int, h: Real):
    """The margin of a row at the end of a substep of length h."""
    zero = real(0.0, h)
    one = real(1.0, h)
    infinite = one / zero
    z = total_impulse(work, row, worker)
    size = absolute(z)
    t = row_velocity(model, work, row, worker) + work.compliance[row, worker] * z
    lower = work.velocity_bounds[2 * row, worker]
    upper = work.velocity_bounds[2 * row + 1, worker]
    hold = work.impulse_bounds[2 * row, worker]
    slide = work.impulse_bounds[2 * row + 1, worker]
    near = real(AT_BOUND, h)
    inside = minimum(t - lower, upper - t)
    at_bound = minimum(size - (one - near) * slide, (one + near) * slide - size)
    is_stop = where_positive(upper - lower, one, zero)
    room = hold - size
    of_stop = where_positive(size, minimum(size, room), infinite)
    acts = neg(where_positive(is_stop, of_stop, room)) / h
    margin = where_positive(is_stop * (one - where_positive(size, one, zero)), inside, acts)
    margin = where_positive(minimum(at_bound, size), absolute(minimum(inside, zero)), margin)
    return where_positive(hold, margin, infinite)


@wp.func
def shared_margin(
    model: ModelArrays, work: WorkArrays, row: int, friction: int, stop: int, worker: int, h: Real, margin: Real
):
    """The margin of one of two rows: that of both together where both hold a dof, else its own."""
    one = real(1.0, h)
    zero = one - one
    z = total_impulse(work, stop, worker)
    z_f = where_positive(z, one, neg(one)) * total_impulse(work, friction, worker)
    hold = work.impulse_bounds[2 * friction, worker]
    sticks = where_positive(hold * (one - real(AT_BOUND, h)) - absolute(z_f), one, zero)
    needed = absolute(z) - (hold - z_f)
    y = row_velocity(model, work, stop, worker)
    inside = minimum(y - work.velocity_bounds[2 * stop, worker], work.velocity_bounds[2 * stop + 1, worker] - y)
    shared = where_positive(needed, neg(needed) / h, absolute(inside))
    if row == friction:
        shared = neg(hold + z_f + absolute(z)) / h
    return where_positive(sticks * absolute(z), shared, margin)


@wp.func
def tangent_margin(model: ModelArrays, work: WorkArrays, row: int, worker: int, h: Real):
    """The margin of friction at the point of contact that a row is a tangent of."""
    zero = real(0.0, h)
    one = real(1.0, h)
    item = model.row_item[row]
    normal = row - item % 3
    z_n = total_impulse(work, normal, worker)
    z_1 = total_impulse(work, normal + 1, worker)
    z_2 = total_impulse(work, normal + 2, worker)
    y_1 = row_velocity(model, work, normal + 1, worker)
    y_2 = row_velocity(model, work, normal + 2, worker)
    most = work.contact_friction[item // 3, worker] * z_n
    room = most - sqrt(z_1 * z_1 + z_2 * z_2)
    margin = where_positive(room - real(AT_BOUND, h) * most, neg(room) / h, sqrt(y_1 * y_1 + y_2 * y_2))
    return where_positive(most, margin, one / zero)


@wp.func
def total_impulse(work: WorkArrays, row: int, worker: int):
    """The impulse of a row in a substep, with what it has been given."""
    return work.impulse[row, worker] + work.given[row, worker]
