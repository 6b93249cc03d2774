"""Velocity limits of the free axes of loop joints:  |ydot+| <= v_max on a rate ydot of `loop_rate`, by any impulse."""

import math

import warp as wp

from warp_artic.constraints.loop_axis import leave_broken, of_axes
from warp_artic.constraints.loop_rate import acts_on_rates, place_loop_rate
from warp_artic.constraints.rows import set_unbounded_impulse, set_velocity_bounds
from warp_artic.math.numbers import Real, neg, real
from warp_artic.model.allowed_values import LARGEST
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import TURNS_ROUND


@wp.func
def set_loop_velocity_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a velocity limit."""
    place_loop_rate(model, work, row, block, worker)
    fastest = model.loop_velocity_limit[model.row_item[row], block]
    set_velocity_bounds(work, row, worker, neg(fastest), fastest)
    set_unbounded_impulse(work, row, worker, h)
    leave_broken(model, work, row, worker)
    work.compliance[row, worker] = real(0.0, h)


LOOP_VELOCITY_LIMIT = acts_on_rates(
    lambda own: math.isfinite(own.velocity_limit),
    name="loop velocity limit",
    order=310,
    traits=TURNS_ROUND,
    label=("velocity limit of a loop joint", "velocity limits of loop joints"),
    law=set_loop_velocity_limit_row,
    parameters=(of_axes("loop_velocity_limit", lambda own: [own.velocity_limit], LARGEST),),
)
