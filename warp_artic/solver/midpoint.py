"""Moreau's midpoint: half a drift, a full kick at the middle, half a drift. Second order, one evaluation a step.

    q_M = q moved by h/2 v,   M(q_M) (v+ - v) = h f(q_M, v + h/2 a) + J^T z,   q+ = q_M moved by h/2 v+
with a the smooth acceleration of the step before, so that an impact does not leak into the forces of the next step.
Springs and drives are implicit at q+, which is q_M + h/2 v+: their slope is d + h/2 k.

A joint whose limit acts in the step has no middle: it moves by h v+ from its start, as the limit row has it.
"""

import warp as wp

from warp_artic.math.numbers import Real, add, any_positive, maximum, mul, real, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import JOINT_LIMIT
from warp_artic.phases.integrate import drift, find_failure, go_back, remember_start, set_spans, set_velocities
from warp_artic.phases.kinematics import place_links
from warp_artic.solver.step import drag_links, solve_velocities


@wp.func
def move_velocities(model: ModelArrays, state: StateArrays, column: int, h: Real):
    """v + h a."""
    for dof in range(model.root_dofs):
        change = h * state.smooth_acceleration[dof, column]
        state.root_velocity[dof, column] = state.root_velocity[dof, column] + change
    for dof in range(model.root_dofs, model.dof_count):
        item = dof - model.root_dofs
        change = h * state.smooth_acceleration[dof, column]
        state.joint_velocity[item, column] = state.joint_velocity[item, column] + change


@wp.func
def keep_velocities(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Copy the velocities of the state to `work.v_next`."""
    for dof in range(model.root_dofs):
        work.v_next[dof, slot] = state.root_velocity[dof, column]
    for dof in range(model.root_dofs, model.dof_count):
        work.v_next[dof, slot] = state.joint_velocity[dof - model.root_dofs, column]


@wp.func
def restore_velocities(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Copy `work.v_next` back to the state, and to the velocities that the kick starts from."""
    for dof in range(model.root_dofs):
        work.v[dof, slot] = work.v_next[dof, slot]
        state.root_velocity[dof, column] = work.v_next[dof, slot]
    for dof in range(model.root_dofs, model.dof_count):
        work.v[dof, slot] = work.v_next[dof, slot]
        state.joint_velocity[dof - model.root_dofs, column] = work.v_next[dof, slot]


@wp.func
def restart_stopped_joints(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Put the joints whose limits act back to their start, with the whole step before them."""
    for row in range(model.row_count):
        if model.row_family[row] >= JOINT_LIMIT:
            active = work.active[row, slot]
            if any_positive(active):
                start = model.row_term[row]
                for term in range(start, start + model.row_terms[row]):
                    item = model.term_dof[term] - model.root_dofs
                    q = state.joint_position[item, column]
                    work.span[item, slot] = where_positive(active, h, work.span[item, slot])
                    state.joint_position[item, column] = where_positive(active, work.start_position[item, slot], q)


@wp.func
def step_midpoint(
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
    half = h * real(0.5, h)
    remember_start(model, state, work, column, slot)
    set_spans(model, work, slot, half)
    drift(model, state, work, column, slot, half)
    if model.link_damping == 1:
        place_links(model, state, work, column, slot)
        drag_links(model, work, column, slot, h)
    keep_velocities(model, state, work, column, slot)
    move_velocities(model, state, column, half)
    place_links(model, state, work, column, slot)
    restore_velocities(model, state, work, column, slot)
    solve_velocities(model, state, control, work, column, slot, h, half, iterations, settle)
    find_failure(model, state, work, column, slot)
    set_velocities(model, state, work, column, slot)
    restart_stopped_joints(model, state, work, column, slot, h)
    drift(model, state, work, column, slot, half)
    go_back(model, state, work, column, slot)
