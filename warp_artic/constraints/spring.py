"""Rows of springs and dampers on a coordinate e with edot = J v, as in `phases.implicit`.

Always acting:     f = - k e - drag edot - slope edot+
    y + z / (h slope) = - (k e + drag edot) / slope
Acting beyond an end of [lower, upper] only, pushing and never pulling, with f(e, edot) the force there:
    f = (1 - theta) f(e, edot) + theta f(e + h ((1 - weight) edot + theta edot+), edot+)
The first part is known and is given before rows are solved. The second is a row whose target is the speed that e may
have; for an e that is not beyond an end yet, the damper acts on the part of the motion that is.
"""

import warp as wp

from warp_artic.constraints.rows import allow_every_velocity, row_rate, set_unbounded_impulse, set_velocity_bounds
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    div,
    maximum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.phases.implicit import implicit_theta, spring_drag, spring_slope


@wp.func
def spring_theta(work: WorkArrays, row: int, worker: int, k: Real, d: Real, h: Real):
    """theta of the spring of a row whose J Y is known."""
    r = work.row_delassus[row, worker]
    return implicit_theta(maximum(r * h * (d + h * k), real(0.0, h)), real(1.0, h), work.position_weight[0, worker])


@wp.func
def set_spring_row(
    model: ModelArrays, work: WorkArrays, row: int, worker: int, e: Real, k: Real, d: Real, theta: Real, h: Real
):
    """Fill the row of a spring and damper that always act; without either it allows every velocity."""
    drag = spring_drag(k, d, theta, work.position_weight[0, worker], h)
    lost = k * e + drag * row_rate(model, work, work.v, row, worker)
    set_law_row(work, row, worker, lost, spring_slope(k, d, theta, h), h)


@wp.func
def set_law_row(work: WorkArrays, row: int, worker: int, lost: Real, slope: Real, h: Real):
    """Fill the row of the law f = - lost - slope y; without a slope it allows every velocity."""
    safe = where_positive(slope, slope, real(1.0, h))
    target = neg(lost) / safe
    set_velocity_bounds(work, row, worker, target, target)
    allow_every_velocity(work, row, worker, slope)
    work.compliance[row, worker] = real(1.0, h) / (h * safe)
    set_unbounded_impulse(work, row, worker, h)


@wp.func
def set_stop_spring_row(
    model: ModelArrays,
    work: WorkArrays,
    row: int,
    worker: int,
    e: Real,
    lower: Real,
    upper: Real,
    k: Real,
    d: Real,
    theta: Real,
    h: Real,
):
    """Fill the row of a spring and damper that act beyond [lower, upper], and what is given: their known part."""
    zero = real(0.0, h)
    one = real(1.0, h)
    speed = row_rate(model, work, work.v, row, worker)
    slope = spring_slope(k, d, theta, h)
    safe = where_positive(slope, slope, one)
    drifted = e + h * (one - work.position_weight[0, worker]) * speed
    set_velocity_bounds(
        work,
        row,
        worker,
        neg(free_speed(drifted - lower, k, d, theta, h)),
        free_speed(upper - drifted, k, d, theta, h),
    )
    allow_every_velocity(work, row, worker, slope)
    work.compliance[row, worker] = one / (h * safe)
    set_unbounded_impulse(work, row, worker, h)
    up = where_positive(lower - e, maximum(k * (lower - e) - d * speed, zero), zero)
    down = where_positive(e - upper, maximum(k * (e - upper) + d * speed, zero), zero)
    work.given[row, worker] = h * (one - theta) * (up - down)


@wp.func
def set_resolved(work: WorkArrays, row: int, worker: int, theta: Real):
    """Write how far the step resolves the motion on the spring of a row: one with the least theta, none with one."""
    one = real(1.0, theta)
    least = work.position_weight[0, worker]
    rest = one - least
    work.spring_resolution[row, worker] = where_positive(rest, (one - theta) / where_positive(rest, rest, one), rest)


@wp.func
def free_speed(gap: Real, k: Real, d: Real, theta: Real, h: Real):
    """The largest speed towards an end at a distance `gap` without a force; away from it where it is passed."""
    resistance = d + theta * h * k
    beyond = k * gap / where_positive(resistance, resistance, real(1.0, gap))
    return where_positive(gap, gap / (theta * h), beyond)
