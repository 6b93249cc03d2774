"""Projected Gauss-Seidel over the active constraint rows.

A row becomes active in the environments in which the velocities so far leave its window, and stays active for the step.
Each iteration visits the active rows in order, gives each the impulse that solves it alone, and applies the difference
through its response. Rows whose window is left only because of the impulses of others join in the next round, which
iterates again in just those environments (`work.joining`): what an environment does never depends on its neighbours in
a lane.
"""

import warp as wp

from warp_artic.constraints.mimic import soften_mimic_row
from warp_artic.constraints.rotation_limit import bend_window
from warp_artic.constraints.rows import project, row_response, row_velocity
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
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import MIMIC
from warp_artic.phases.impulse_response import respond


@wp.func
def activate_rows(model: ModelArrays, work: WorkArrays, slot: int):
    """Activate the rows that are outside their window; says whether there are new ones."""
    found = bool(False)
    joining = real(0.0, work.v_next[0, slot])
    for row in range(model.row_count):
        y = row_velocity(model, work, row, slot)
        outside = maximum(work.window[2 * row, slot] - y, y - work.window[2 * row + 1, slot])
        active = work.active[row, slot]
        newly = where_positive(outside, real(1.0, y) - active, real(0.0, y))
        if any_positive(newly):
            found = bool(True)
            work.active[row, slot] = maximum(active, newly)
            joining = maximum(joining, newly)
    work.joining[0, slot] = joining
    return found


@wp.func
def prepare_responses(
    model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int, h: Real, reach: Real
):
    """Compute the responses that the active rows need and do not have, and what depends on them."""
    for row in range(model.row_count):
        if any_positive(work.active[row, slot]):
            response = model.row_slot[row]
            if work.ready[response, slot] == 0:
                respond(model, work, model.slot_row[response], response * model.dof_count, slot)
                work.ready[response, slot] = 1
                if model.row_family[row] == MIMIC:
                    soften_mimic_row(model, state, work, row, column, slot, h, reach)


@wp.func
def bend_windows(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Correct the active limits of finite rotations for curvature; only the environments that have some join."""
    joining = real(0.0, h)
    for row in range(model.row_count - model.rotation_rows, model.row_count):
        active = work.active[row, slot]
        if any_positive(active):
            bend_window(model, work, row, column, slot, h)
            joining = maximum(joining, active)
    work.joining[0, slot] = joining
    return any_positive(joining)


@wp.func
def settle_pgs(model: ModelArrays, work: WorkArrays, slot: int, iterations: int):
    """Solve the active rows one after the other, `iterations` times."""
    joining = work.joining[0, slot]
    for _iteration in range(iterations):
        for row in range(model.row_count):
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
                change = impulse - old
                response = model.row_slot[row] * model.dof_count
                for dof in range(model.dof_count):
                    work.v_next[dof, slot] = work.v_next[dof, slot] + work.response[response + dof, slot] * change
