"""One step of one column without constraint rows: the classical Runge-Kutta method of fourth order.

    k_1 = f(y),  k_2 = f(y + h/2 k_1),  k_3 = f(y + h/2 k_2),  k_4 = f(y + h k_3)
    y+ = y + h (k_1 + 2 k_2 + 2 k_3 + k_4) / 6
with y the displacements of the joints since the start of the step (`phases.displacements`) and the velocities. f is the
forward dynamics with every force as it is at y: the laws of `drive` and `link_drag` for a step of no length.
"""

import warp as wp

from warp_artic.constraints.drive import bound_drives, clear_efforts, fold_drives, leave_drives_out
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    div,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.phases.displacements import displace_joints, replace_by_rates
from warp_artic.phases.integrate import count_step, find_failure, load_state, store_state, turn_swings_round
from warp_artic.phases.joint_accelerations import accelerate_links
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_drag import set_link_drag
from warp_artic.phases.link_velocities import move_links
from warp_artic.phases.sleep import fall_asleep, measure_calm
from warp_artic.solver.velocities import factor, measure_inertias


@wp.func
def step_runge_kutta(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    h: Real,
):
    """Advance the state of one column by h; `work.middle` and `work.v_next` have the sums of the k so far."""
    zero = real(0.0, h)
    half = real(0.5, h)
    one = real(1.0, h)
    count_step(state, column)
    load_state(model, state, work, column, slot)
    clear_efforts(model, work, slot, zero)
    for dof in range(model.dof_count):
        work.shift[dof, slot] = zero
        work.middle[dof, slot] = zero
        work.v_next[dof, slot] = zero
    stage = int(0)
    while stage < 4:
        accelerate(model, control, work, column, slot, zero)
        replace_by_rates(model, work, column, slot)
        weight = one
        ahead = half * h
        mean = zero
        if stage == 1 or stage == 2:
            weight = one + one
        if stage == 2:
            ahead = h
        if stage == 3:
            ahead = zero
            mean = h / real(6.0, h)
        go_ahead(model, state, work, column, slot, weight, ahead, mean)
        stage += 1
    for dof in range(model.dof_count):
        work.v_next[dof, slot] = work.v[dof, slot]
    find_failure(model, state, work, column, slot)
    if model.swing_joints > 0:
        turn_swings_round(model, state, work, column, slot)
    store_state(model, state, work, column, slot)
    if model.sleep_steps > 0:
        measure_calm(model, work, column, slot)
        fall_asleep(model, state, work, column, slot)


@wp.func
def go_ahead(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    weight: Real,
    ahead: Real,
    mean: Real,
):
    """Add k to the sums with its weight, and go from the start of the step by `ahead` k + `mean` times the sum."""
    for dof in range(model.dof_count):
        rate = work.shift[dof, slot]
        displacement = work.middle[dof, slot] + weight * rate
        work.middle[dof, slot] = displacement
        work.shift[dof, slot] = ahead * rate + mean * displacement
        vdot = work.vdot[dof, slot]
        change = work.v_next[dof, slot] + weight * vdot
        work.v_next[dof, slot] = change
        work.v[dof, slot] = ahead * vdot + mean * change
    for dof in range(model.root_dofs):
        work.v[dof, slot] = state.root_velocity[dof, column] + work.v[dof, slot]
    for dof in range(model.root_dofs, model.dof_count):
        work.v[dof, slot] = state.joint_velocity[dof - model.root_dofs, column] + work.v[dof, slot]
    displace_joints(model, state, work, column, slot)


@wp.func
def accelerate(model: ModelArrays, control: ControlArrays, work: WorkArrays, column: int, slot: int, zero: Real):
    """Write vdot at the positions and velocities of the work space, with all forces as they are there."""
    place_links(model, work, work.position, work.root, work.v, column, slot)
    if model.link_damping == 1:
        move_links(model, work, column, slot)
        set_link_drag(model, work, column, slot, zero)
    if model.acceleration_drives == 1:
        leave_drives_out(model, control, work, column, slot)
        factor(model, control, work, column, slot, zero)
        measure_inertias(model, work, column, slot, zero)
    fold_drives(model, control, work, column, slot, zero, 1)
    bound_drives(model, control, work, column, slot)
    factor(model, control, work, column, slot, zero)
    accelerate_links(model, work, work.vdot, column, slot)
