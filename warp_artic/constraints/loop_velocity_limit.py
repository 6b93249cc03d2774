"""Velocity limits of the free axes of loop joints:  |ydot+| <= v_max on a coordinate y of `loop_axis`, by any impulse.

Of translations, of one rotation, and of the twist and the swing of a universal joint.
"""

import math

import warp as wp

from warp_artic.constraints.loop_axis import axis_places, leave_broken, of_axes, place_loop_axis, take_loop_axis_off
from warp_artic.constraints.loop_scales import SCALED_LOOPS
from warp_artic.constraints.rows import set_unbounded, set_window
from warp_artic.math.numbers import Real, neg, real
from warp_artic.model.allowed_values import LARGEST
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import PUSHES_LINKS, ConstraintFamily
from warp_artic.model.force_parts import ForcePart


@wp.func
def set_loop_velocity_limit_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of a velocity limit."""
    place_loop_axis(model, work, row, column, slot)
    fastest = model.loop_velocity_limit[model.row_item[row], column]
    set_window(work, row, slot, neg(fastest), fastest)
    set_unbounded(work, row, slot, h)
    leave_broken(model, work, row, slot)
    work.compliance[row, slot] = real(0.0, h)


LOOP_VELOCITY_LIMIT = ConstraintFamily(
    name="loop velocity limit",
    order=310,
    label=("velocity limit of a loop joint", "velocity limits of loop joints"),
    part=ForcePart.LOOP,
    places=lambda articulation, layout: axis_places(
        articulation, layout, lambda own: math.isfinite(own.velocity_limit)
    ),
    traits=PUSHES_LINKS,
    acts_always=True,
    needs_places=True,
    pushes_otherwise=SCALED_LOOPS,
    law=set_loop_velocity_limit_row,
    take_off=take_loop_axis_off,
    parameters=(of_axes("loop_velocity_limit", lambda own: [own.velocity_limit], LARGEST),),
)
