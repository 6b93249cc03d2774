"""Projected Gauss-Seidel over the active rows.

Each iteration visits the active rows, gives each the impulse that solves it alone, and applies the difference through
its response. It visits them in reversed order first, then in order, so that what comes last has the last word: a sweep
in both directions leaves a real share below one of each error, and what many coupled rows leave of their errors in a
step dies out in the following ones, where sweeps in one direction can make it grow.
"""

import warp as wp

from warp_artic.constraints.rows import project, push_row, row_response, row_velocity
from warp_artic.math.numbers import add, any_positive, mul, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def solve_pgs(model: ModelArrays, work: WorkArrays, slot: int, iterations: int):
    """Solve the active rows one after the other, back and there, `iterations` times."""
    for sweep in range(2 * iterations):
        sweep_rows(model, work, slot, sweep % 2)


@wp.func
def sweep_rows(model: ModelArrays, work: WorkArrays, slot: int, forward: int):
    """Solve the active rows one after the other, in order or, if `forward` is 0, in reversed order."""
    last = model.row_count - 1
    for k in range(model.row_count):
        row = forward * k + (1 - forward) * (last - k)
        active = work.active[row, slot]
        joining = work.environment_mask[model.row_island[row], slot]
        if any_positive(active):
            old = work.impulse[row, slot]
            r = row_response(model, work, row, slot)
            y_free = row_velocity(model, work, row, slot) - r * old
            solved = project(
                y_free,
                r,
                work.window[2 * row, slot],
                work.window[2 * row + 1, slot],
                work.compliance[row, slot],
                work.bound[2 * row, slot],
                work.bound[2 * row + 1, slot],
            )
            impulse = where_positive(active * joining, solved, old)
            work.impulse[row, slot] = impulse
            push_row(model, work, row, slot, impulse - old)
