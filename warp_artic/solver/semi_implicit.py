"""Semi-implicit Euler: v+ from forces at q, then q+ = q moved by h v+. First order, one evaluation a step."""

import warp as wp

from warp_artic.math.numbers import Real
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.phases.integrate import drift, find_failure, set_velocities
from warp_artic.solver.step import solve_velocities


@wp.func
def step_semi_implicit(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    h: Real,
    iterations: int,
):
    """Advance the state of one column by h."""
    solve_velocities(model, state, control, work, column, slot, h, iterations)
    find_failure(model, state, work, column, slot)
    set_velocities(model, state, work, column, slot)
    drift(model, state, column, h)
