"""Velocity bounds of limits of finite rotations, corrected for the curvature of the limits."""

import warp as wp

from warp_artic.constraints.limit_curvature import correct_bounds, may_need_correction
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    maximum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays

CURVATURE_ROUNDS = wp.constant(4.0)
"""Times that the limits of finite rotations are corrected for curvature in a step, in each environment."""


@wp.func
def correct_for_curvature(
    model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real, is_start: bool, with_late: int
):
    """Correct the limits of finite rotations for curvature in the environments that have an active one; these join.

    If `is_start`, the active rows of islands that begin have not been solved yet: the correction is not counted, and
    environments that join have joined before. Else islands that leave it for later (`model.island_corrects_late`) are
    left out unless `with_late` is 1.
    """
    first = model.row_count - model.rotation_rows
    zero = real(0.0, h)
    for island in range(model.island_count):
        work.needs_correction[island, worker] = zero
    most = zero
    for row in range(first, model.row_count):
        most = maximum(most, work.active[row, worker])
        if model.island_count > 1:
            island = model.row_island[row]
            work.needs_correction[island, worker] = maximum(
                work.needs_correction[island, worker], work.active[row, worker]
            )
    if model.island_count == 1:
        work.needs_correction[0, worker] = most
    found = zero
    for island in range(model.island_count):
        takes_part = int(with_late >= model.island_corrects_late[island])
        if is_start:
            takes_part = work.begins[island, worker]
        waits = (real(CURVATURE_ROUNDS, h) - real(0.5, h) - work.curvature_rounds[island, worker]) * real(
            float(takes_part), h
        )
        work.needs_correction[island, worker] = where_positive(waits, work.needs_correction[island, worker], zero)
        work.is_corrected[island, worker] = zero
        found = maximum(found, work.needs_correction[island, worker])
    if any_positive(found):
        for row in range(first, model.row_count):
            island = model.row_island[row]
            own = where_positive(
                may_need_correction(model, work, row, worker, h), work.needs_correction[island, worker], zero
            )
            if any_positive(own):
                corrected = correct_bounds(model, work, row, block, worker, h, own, is_start)
                work.is_corrected[island, worker] = maximum(work.is_corrected[island, worker], corrected)
    found = zero
    for island in range(model.island_count):
        corrected = work.is_corrected[island, worker]
        found = maximum(found, corrected)
        if not is_start:
            work.curvature_rounds[island, worker] = work.curvature_rounds[island, worker] + corrected
            work.environment_mask[island, worker] = corrected
    return any_positive(found)
