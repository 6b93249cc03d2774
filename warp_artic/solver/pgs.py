"""Projected Gauss-Seidel over the active constraint rows.

A row becomes active in the environments in which the velocities so far leave its window, and stays active for the step.
Each iteration visits the active rows in order, gives each the impulse that solves it alone, and applies the difference
through its response. It visits them in reversed order first, then in order, so that what comes last has the last word:
back and there leave of each error a real share below one, and what many coupled rows leave of their errors in a step
dies out in the following ones, where sweeps in one direction can make it grow. Rows whose window is left only because
of the impulses of others join in the next round, which iterates again in just those environments (`work.joining`): what
an environment does never depends on its neighbours in a lane.
"""

import warp as wp

from warp_artic.constraints.rotation_limit import bend_window, may_bend
from warp_artic.constraints.rows import (
    prepare_response,
    project,
    push_row,
    row_response,
    row_velocity,
)
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
def activate_rows(model: ModelArrays, work: WorkArrays, slot: int):
    """Activate the rows that are outside their window; says whether there are new ones."""
    found = bool(False)
    work.joining[0, slot] = real(0.0, work.v_next[0, slot])
    # Those of limits on speeds join by `speed_limit.turn_limits`.
    left_out = 3 * model.speed_limits
    for k in range(model.row_count - left_out):
        row = int(k)
        if k >= model.limit_row:
            row = k + left_out
        if activate_row(model, work, row, slot):
            found = bool(True)
    return found


@wp.func
def activate_row(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """Activate a row where it is outside its window; says whether it is new anywhere."""
    y = row_velocity(model, work, row, slot)
    outside = maximum(work.window[2 * row, slot] - y, y - work.window[2 * row + 1, slot])
    active = work.active[row, slot]
    newly = where_positive(outside, real(1.0, y) - active, real(0.0, y))
    if not any_positive(newly):
        return False
    work.active[row, slot] = maximum(active, newly)
    work.joining[0, slot] = maximum(work.joining[0, slot], newly)
    return True


@wp.func
def prepare_responses(model: ModelArrays, work: WorkArrays, slot: int):
    """Compute the responses that the active rows need and do not have."""
    for row in range(model.row_count):
        if any_positive(work.active[row, slot]):
            prepare_response(model, work, row, slot)


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
        work.joining[0, slot] = joining
    return any_positive(joining)


@wp.func
def settle_pgs(model: ModelArrays, work: WorkArrays, slot: int, iterations: int):
    """Solve the active rows one after the other, back and there, `iterations` times."""
    for sweep in range(2 * iterations):
        sweep_rows(model, work, slot, sweep % 2)


@wp.func
def sweep_rows(model: ModelArrays, work: WorkArrays, slot: int, forward: int):
    """Solve the active rows one after the other, in order or, if `forward` is 0, in reversed order."""
    joining = work.joining[0, slot]
    last = model.row_count - 1
    for k in range(model.row_count):
        row = forward * k + (1 - forward) * (last - k)
        active = work.active[row, slot]
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
