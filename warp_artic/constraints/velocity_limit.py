"""Velocity limits:  |v+| <= v_max, by whatever impulse it takes."""

import warp as wp

from warp_artic.constraints.rows import set_single_coefficient, set_unbounded, set_window
from warp_artic.math.numbers import Real, neg, real
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def set_velocity_limit_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the velocity limit of one dof."""
    fastest = model.velocity_limit[model.row_item[row], column]
    set_window(work, row, slot, neg(fastest), fastest)
    work.compliance[row, slot] = real(0.0, h)
    set_unbounded(work, row, slot, h)
    set_single_coefficient(model, work, row, slot, h)
