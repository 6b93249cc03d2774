"""Hard ends of a coordinate L, lower <= L <= upper, whose gradient J turns in a step: of joints, of loops and of links.

With c the acceleration of L by velocities alone, and tau the time since J was that of the links (- h / 2 at the start
of a midpoint step), the step sees
    L(start) = L + J shift + c tau^2 / 2,
    L(end) = L(start) + h ((1 - weight) J v + weight J v+) + c h (tau + h / 2).
Where an end would be passed within the step, J v+ brings L onto it, but it is at most turned into
    J v+ = - c (tau + h / (2 weight)),
which is the speed with which L neither grows nor shrinks: v and v+ are then tangents of the same circle, and energy is
kept to second order, while what comes in fast does not come out again. Of an end that is passed already a share `back`
is taken back by the velocity of the step.

Where J v differs from that of a tangent by less than ALONG, L has slid along its end. In trees, where nothing else
would keep energy, J v is reversed then, and is otherwise no faster than before (`rows.bent_speed`).
"""

import warp as wp

from warp_artic.constraints.rows import bent_speed, row_rate, start_rate
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
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays

ALONG = wp.constant(0.1)
"""Part of the J v of a tangent."""


@wp.func
def at_start(model: ModelArrays, work: WorkArrays, row: int, worker: int, placed: Real, c: Real):
    """L(start) of a row whose J is known."""
    tau = work.since_placed[0, worker]
    return placed + row_rate(model, work, work.shift, row, worker) + real(0.5, c) * c * tau * tau


@wp.func
def tangent_speed(c: Real, tau: Real, weight: Real, h: Real):
    """J v+ with which L neither grows nor shrinks."""
    return neg(c) * (tau + real(0.5, h) * h / weight)


@wp.func
def sliding_speed(model: ModelArrays, work: WorkArrays, row: int, worker: int, tangent: Real):
    """The same where it may do no work."""
    rate, size = start_rate(model, work, row, worker)
    slides = real(ALONG, rate) * absolute(tangent) - absolute(rate + tangent)
    return where_positive(slides, neg(rate), bent_speed(tangent, rate, size))


@wp.func
def stop_bounds(
    model: ModelArrays,
    work: WorkArrays,
    row: int,
    worker: int,
    c: Real,
    tau: Real,
    weight: Real,
    tangent: Real,
    before: Real,
    lower: Real,
    upper: Real,
    back: Real,
    h: Real,
):
    """The least and the largest J v+ that ends allow, from L(start) = `before`, along them with that of `tangent`."""
    drift = (real(1.0, h) - weight) * row_rate(model, work, work.v, row, worker)
    drift = drift + c * (tau + real(0.5, h) * h)
    below = before - lower
    above = upper - before
    least = where_positive(neg(below), tangent - back * below / h, minimum((neg(below) / h - drift) / weight, tangent))
    most = where_positive(neg(above), tangent + back * above / h, maximum((above / h - drift) / weight, tangent))
    return least, most
