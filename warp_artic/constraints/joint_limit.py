"""Hard limits of one dof:  lower <= q + h v+ <= upper with q at the start of the step, an inelastic stop.

The stop acts in the step in which the limit would be crossed and brings q onto it, not past it. A limit that is
violated at the start of a step is recovered by a share a step, and no faster than the velocity limit of the dof, so
that a bad start pose does not become a shot.
"""

import warp as wp

from warp_artic.constraints.rows import gap_velocity, set_single_coefficient, set_unbounded, set_window
from warp_artic.math.numbers import Real, maximum, minimum, neg, real, sub  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def set_joint_limit_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the limits of a revolute or prismatic dof."""
    item = model.row_item[row]
    q = work.start_position[item, slot]
    fastest = model.velocity_limit[item, column]
    lower = neg(gap_velocity(q - model.limit_lower[item, column], h))
    upper = gap_velocity(model.limit_upper[item, column] - q, h)
    set_window(work, row, slot, minimum(lower, fastest), maximum(upper, neg(fastest)))
    work.compliance[row, slot] = real(0.0, h)
    set_unbounded(work, row, slot, h)
    set_single_coefficient(model, work, row, slot, h)
