"""Semi-implicit Euler: v+ from forces at q, then q+ = q moved by h v+. First order, one evaluation a step."""

import warp as wp

from warp_artic.math.numbers import Real
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.phases.integrate import drift, find_failure, remember_start, set_spans, set_velocities
from warp_artic.phases.kinematics import place_links
from warp_artic.solver.step import drag_links, solve_velocities


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
    settle: wp.Function,
):
    """Advance the state of one column by h."""
    remember_start(model, state, work, column, slot)
    place_links(model, state, work, column, slot)
    drag_links(model, work, column, slot, h)
    solve_velocities(model, state, control, work, column, slot, h, h, iterations, settle)
    find_failure(model, state, work, column, slot)
    set_velocities(model, state, work, column, slot)
    set_spans(model, work, slot, h)
    drift(model, state, work, column, slot, h)
