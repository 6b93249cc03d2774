"""Velocity bounds of limits of finite rotations, corrected for the curvature of the limits."""

import warp as wp

from warp_artic.constraints.rotation_limit import bend_window, may_bend
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    maximum,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays

BENDS = wp.constant(4.0)
"""Times that the limits of finite rotations are corrected for curvature in a step, in each environment."""


@wp.func
def bend_windows(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real, is_start: bool):
    """Correct the limits of finite rotations for curvature in the environments that have an active one; these join.

    If `is_start`, what is active is to be solved yet: this counts for nothing, and all that join already do.
    """
    first = model.row_count - model.rotation_rows
    bends = real(0.0, h)
    waits = real(BENDS, h) - real(0.5, h) - work.bends[0, slot]
    for row in range(first, model.row_count):
        bends = maximum(bends, work.active[row, slot])
    bends = where_positive(waits, bends, real(0.0, h))
    joining = real(0.0, h)
    if any_positive(bends):
        for row in range(first, model.row_count):
            own = where_positive(may_bend(model, work, row, slot, h), bends, real(0.0, h))
            if any_positive(own):
                joining = maximum(joining, bend_window(model, work, row, column, slot, h, own, is_start))
    if not is_start:
        work.bends[0, slot] = work.bends[0, slot] + joining
        work.environment_mask[0, slot] = joining
    return any_positive(joining)
