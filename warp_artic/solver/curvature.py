"""Velocity bounds of limits of finite rotations, corrected for the curvature of the limits."""

import warp as wp

from warp_artic.constraints.rotation_limit import bend_window, may_bend
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

BENDS = wp.constant(4.0)
"""Times that the limits of finite rotations are corrected for curvature in a step, in each environment."""


@wp.func
def bend_windows(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real, is_start: bool, with_late: int):
    """Correct the limits of finite rotations for curvature in the environments that have an active one; these join.

    If `is_start`, what is active in islands that begin is to be solved yet: this counts for nothing, and all that join
    already do. Else islands that leave it for later (`model.island_bends_late`) are left out unless `with_late` is 1.
    """
    first = model.row_count - model.rotation_rows
    zero = real(0.0, h)
    for island in range(model.island_count):
        work.bending[island, slot] = zero
    most = zero
    for row in range(first, model.row_count):
        most = maximum(most, work.active[row, slot])
        if model.island_count > 1:
            island = model.row_island[row]
            work.bending[island, slot] = maximum(work.bending[island, slot], work.active[row, slot])
    if model.island_count == 1:
        work.bending[0, slot] = most
    found = zero
    for island in range(model.island_count):
        takes_part = int(with_late >= model.island_bends_late[island])
        if is_start:
            takes_part = work.begins[island, slot]
        waits = (real(BENDS, h) - real(0.5, h) - work.bends[island, slot]) * real(float(takes_part), h)
        work.bending[island, slot] = where_positive(waits, work.bending[island, slot], zero)
        work.bent_now[island, slot] = zero
        found = maximum(found, work.bending[island, slot])
    if any_positive(found):
        for row in range(first, model.row_count):
            island = model.row_island[row]
            own = where_positive(may_bend(model, work, row, slot, h), work.bending[island, slot], zero)
            if any_positive(own):
                bent = bend_window(model, work, row, column, slot, h, own, is_start)
                work.bent_now[island, slot] = maximum(work.bent_now[island, slot], bent)
    found = zero
    for island in range(model.island_count):
        bent = work.bent_now[island, slot]
        found = maximum(found, bent)
        if not is_start:
            work.bends[island, slot] = work.bends[island, slot] + bent
            work.environment_mask[island, slot] = bent
    return any_positive(found)
