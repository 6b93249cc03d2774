"""Performance envelopes of drives:  |v| <= v_max - gradient |f|,  |f| <= f_max - resistance |v|.

A force with the motion is bounded at the end of the step, by whichever is least of three lines,
    f = f_max,   f = (v_max - v+) / gradient, not below zero,   f = f_max - resistance v+, not below zero.
A drive that would be beyond leaves the factors as a saturated one does. Its row is then that of a line: a stop that
pushes up to the speed at which the line has no force left, with its compliance, and with the bound h f_max:
    speed line   v+ + (gradient / h) z >= v_max,   effort line   v+ + z / (h resistance) >= f_max / resistance.
The lines fall with the speed, as the law of the drive does, so that each step has one answer, corners included. It is
found by passes: where a row is beyond another line, or pushes more than the law of the drive wants, it changes over.

A force against the motion has less room the faster the motion is. It is bounded by the lines at the start of the step:
at the end of it there would be two answers. So a drive that is carried beyond v_max gives nothing, unless its speed
line has no slope: without a gradient v_max does not bound what slows the motion down.
"""

import warp as wp

from warp_artic.constraints.rows import set_impulse_bounds, set_velocity_bounds
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


@wp.func
def braking_bound(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """The largest force against the motion, from the speed at the start of the step."""
    speed = absolute(work.v[model.root_dofs + item, worker])
    zero = real(0.0, speed)
    gradient = model.drive_velocity_gradient[item, block]
    safe = where_positive(gradient, gradient, real(1.0, zero))
    effort = model.drive_max_force[item, block] - model.drive_velocity_resistance[item, block] * speed
    by_speed = (model.drive_max_velocity[item, block] - speed) / safe
    return maximum(where_positive(gradient, minimum(effort, by_speed), effort), zero)


@wp.func
def set_envelope_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Replace what the row of a drive has of the law of the drive by the line that bounds it."""
    item = model.row_item[row]
    one = real(1.0, h)
    zero = real(0.0, h)
    infinite = one / zero
    line = work.saturated[item, worker]
    side = work.drive_side[item, worker]
    f_max = model.drive_max_force[item, block]
    resistance = model.drive_velocity_resistance[item, block]
    on_line = line - real(1.5, h)
    on_effort = line - real(2.5, h)
    safe = where_positive(resistance, resistance, one)
    end = where_positive(on_effort, f_max / safe, model.drive_max_velocity[item, block])
    gradient = where_positive(on_effort, one / safe, model.drive_velocity_gradient[item, block])
    lower = where_positive(side, end, neg(infinite))
    upper = where_positive(side, infinite, neg(end))
    set_velocity_bounds(
        work,
        row,
        worker,
        where_positive(on_line, lower, work.velocity_bounds[2 * row, worker]),
        where_positive(on_line, upper, work.velocity_bounds[2 * row + 1, worker]),
    )
    work.compliance[row, worker] = where_positive(on_line, gradient / h, work.compliance[row, worker])
    against = neg(side * work.v[model.row_dof[row], worker])
    bound = where_positive(against, braking_bound(model, work, item, block, worker), f_max)
    set_impulse_bounds(work, row, worker, h * bound, h * bound)


@wp.func
def choose_line(
    model: ModelArrays,
    work: WorkArrays,
    row: int,
    block: int,
    worker: int,
    wanted: Real,
    theta: Real,
    reach: Real,
    h: Real,
):
    """Write to `work.saturated` what a drive is to follow: 0 folded, 1 its own law, 2 the speed, 3 the effort line.

    `wanted` is the force of its law at the velocities so far, and `theta` and `reach` those of its spring while it is
    folded. Says in which environments anything is new.
    """
    item = model.row_item[row]
    one = real(1.0, h)
    zero = real(0.0, h)
    two = real(2.0, h)
    line = work.saturated[item, worker]
    old_side = work.drive_side[item, worker]
    side = where_positive(line - real(1.5, h), old_side, where_positive(wanted, one, neg(one)))
    force = side * where_positive(line, work.impulse[row, worker] / h, wanted)
    s = side * work.v_next[model.row_dof[row], worker]
    v_max = model.drive_max_velocity[item, block]
    f_max = model.drive_max_force[item, block]
    gradient = model.drive_velocity_gradient[item, block]
    resistance = model.drive_velocity_resistance[item, block]

    known = model.rounding[0, 0] * real(4.0, h)
    too_fast = (s + gradient * force - v_max) - known * (absolute(s) + gradient * force)
    too_strong = (force + resistance * s - f_max) - known * (force + resistance * absolute(s))
    too_fast = where_positive(s, too_fast, neg(one))
    too_strong = where_positive(s, too_strong, neg(one))
    # With both beyond, the line that leaves less force at this speed.
    speed_is_less = gradient * (f_max - resistance * s) - (v_max - s)
    takes_speed = where_positive(too_fast, where_positive(too_strong, speed_is_less, one), neg(one))
    takes_effort = where_positive(too_strong, where_positive(resistance, one, neg(one)), neg(one))
    against = neg(side * work.v[model.row_dof[row], worker])
    bound = where_positive(against, braking_bound(model, work, item, block, worker), f_max)
    saturates = force - bound

    of_law = where_positive(saturates, maximum(line, one), line)
    of_law = where_positive(takes_speed, two, where_positive(takes_effort, real(3.0, h), of_law))
    pushes_more = force - side * wanted - known * (force + absolute(wanted))
    of_speed = where_positive(pushes_more, one, where_positive(takes_effort, real(3.0, h), two))
    of_effort = where_positive(pushes_more, one, where_positive(too_fast, two, real(3.0, h)))
    chosen = where_positive(line - real(2.5, h), of_effort, where_positive(line - real(1.5, h), of_speed, of_law))
    work.drive_theta[item, worker] = where_positive(line, work.drive_theta[item, worker], theta)
    work.drive_reach[item, worker] = where_positive(line, work.drive_reach[item, worker], reach)
    work.drive_side[item, worker] = side
    work.saturated[item, worker] = chosen
    turned = where_positive(chosen, absolute(side - old_side), zero)
    return absolute(chosen - line) + turned
