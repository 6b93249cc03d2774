"""One step of one block without constraint rows: the classical Runge-Kutta method of fourth order.

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
    block: int,
    worker: int,
    h: Real,
):
    """Advance the state of one block by h; `work.middle` and `work.v_next` have the sums of the k so far."""
    zero = real(0.0, h)
    half = real(0.5, h)
    one = real(1.0, h)
    count_step(state, block)
    load_state(model, state, work, block, worker)
    clear_efforts(model, work, worker, zero)
    for dof in range(model.dof_count):
        work.shift[dof, worker] = zero
        work.middle[dof, worker] = zero
        work.v_next[dof, worker] = zero
    stage = int(0)
    while stage < 4:
        accelerate(model, control, work, block, worker, zero)
        replace_by_rates(model, work, block, worker)
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
        go_ahead(model, state, work, block, worker, weight, ahead, mean)
        stage += 1
    for dof in range(model.dof_count):
        work.v_next[dof, worker] = work.v[dof, worker]
    find_failure(model, state, work, block, worker)
    if model.swing_joints > 0:
        turn_swings_round(model, state, work, block, worker)
    store_state(model, state, work, block, worker)
    if model.sleep_steps > 0:
        measure_calm(model, work, block, worker)
        fall_asleep(model, state, work, block, worker)


@wp.func
def go_ahead(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    weight: Real,
    ahead: Real,
    mean: Real,
):
    """Add k to the sums with its weight, and go from the start of the step by `ahead` k + `mean` times the sum."""
    for dof in range(model.dof_count):
        rate = work.shift[dof, worker]
        displacement = work.middle[dof, worker] + weight * rate
        work.middle[dof, worker] = displacement
        work.shift[dof, worker] = ahead * rate + mean * displacement
        vdot = work.vdot[dof, worker]
        change = work.v_next[dof, worker] + weight * vdot
        work.v_next[dof, worker] = change
        work.v[dof, worker] = ahead * vdot + mean * change
    for dof in range(model.root_dofs):
        work.v[dof, worker] = state.root_velocity[dof, block] + work.v[dof, worker]
    for dof in range(model.root_dofs, model.dof_count):
        work.v[dof, worker] = state.joint_velocity[dof - model.root_dofs, block] + work.v[dof, worker]
    displace_joints(model, state, work, block, worker)


@wp.func
def accelerate(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, zero: Real):
    """Write vdot at the positions and velocities of the work space, with all forces as they are there."""
    place_links(model, work, work.position, work.root, work.v, block, worker)
    if model.link_damping == 1:
        move_links(model, work, block, worker)
        set_link_drag(model, work, block, worker, zero)
    if model.acceleration_drives == 1:
        leave_drives_out(model, control, work, block, worker)
        factor(model, control, work, block, worker, zero)
        measure_inertias(model, work, block, worker, zero)
    fold_drives(model, control, work, block, worker, zero, 1)
    bound_drives(model, control, work, block, worker)
    factor(model, control, work, block, worker, zero)
    accelerate_links(model, work, work.vdot, block, worker)
