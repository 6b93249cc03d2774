"""One step of one column: Moreau's midpoint, or the semi-implicit Euler step, which is the same without a middle.

    q_M = q moved by h/2 v,   M(q_M) (v+ - v) = h f(q_M, v + h/2 a) + J^T z,   q+ = q moved by h/2 v, then by h/2 v+
with a the smooth acceleration of the step before, so that an impact does not leak into the forces of the next step.
One evaluation a step; second order where motion is smooth, and more where it is also free (`solver.history`). Springs,
drives and dampers follow `phases.implicit`: joints with drives or viscous friction have theta of v+ and the rest of v,
instead of halves, and joints that a mimic joint ties together the largest share of any of them. Joints at a stop have
no middle: they move by h v+ from where they were. In trees with joints of two or three free rotations that turn fast,
v + h/2 a gives way to the mean of v and v+ where it is not what a has promised: then the step is evaluated again
(`velocities.expect_velocities`). So it is where drives bring their dofs to where these follow (`boundary_layers`), and
where a step does not resolve free motion, whose energy is then kept (`energy_projection`).

With n substeps the velocities and positions advance n times by h / n, with constraint rows, springs and dampers at the
positions that are reached, and the factors, responses and velocity forces of the step (Mimic Joints, PGS and TGS
Implementation).
"""

import warp as wp

from warp_artic.constraints.contact_impacts import follow_impacts, lead_by_impacts
from warp_artic.constraints.contact_memory import keep_contacts, load_contacts, store_contacts
from warp_artic.constraints.contact_residual import measure_residuals
from warp_artic.constraints.joint_limit import land_on_limits
from warp_artic.constraints.rotation_limit import hold_limits
from warp_artic.constraints.shares import set_shares
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    div,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ForceArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.phases.integrate import (
    count_step,
    find_failure,
    load_state,
    move_joints,
    store_state,
    turn_swings_round,
)
from warp_artic.phases.joint_loads import set_joint_loads
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_drag import set_link_drag
from warp_artic.phases.link_positions import locate_links
from warp_artic.phases.link_velocities import move_links
from warp_artic.phases.sleep import fall_asleep, forget_accelerations, measure_calm
from warp_artic.solver.break_loops import add_loads, break_loops, load_loops
from warp_artic.solver.close_loops import close_loops
from warp_artic.solver.closed_energy import keep_energies, note_acting_rows, note_start
from warp_artic.solver.energy_projection import begin_watch, project_energy, watch_rows, watch_turns
from warp_artic.solver.history import (
    compare_accelerations,
    correct_end,
    expect_middle,
    keep_smooth_acceleration,
    largest_of_islands,
    take_corrected,
)
from warp_artic.solver.reports import report_step
from warp_artic.solver.slow_islands import slow_islands
from warp_artic.solver.velocities import solve_velocities
from warp_artic.solver.violent_spin import keep_spins


@wp.func
def step_column(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    forces: ForceArrays,
    column: int,
    slot: int,
    h: Real,
    has_middle: int,
    substeps: int,
    sweeps: int,
    last_sweeps: int,
    with_forces: int,
    settle: wp.Function,
    find_points: wp.Function,
):
    """Advance the state of one column by h, with `sweeps` in a substep and `last_sweeps` more in the last one.

    `forces` are written if `with_forces` is 1. `find_points` finds points of contact, where links are placed.
    """
    h_sub = h / real(float(substeps), h)
    count_step(state, column)
    load_state(model, state, work, column, slot)
    if model.loop_count > 0:
        load_loops(model, state, work, column, slot)
    keeps_energy = has_middle == 1 and model.closed_islands > 0
    if keeps_energy:
        note_start(model, control, work, column, slot)
    find_least_share(state, work, column, slot, has_middle)
    place_step(model, state, work, column, slot, h, has_middle)
    if model.contact_count > 0:
        load_contacts(model, state, work, column, slot)
        find_points(model, work, column, slot, h)
    is_watched = model.free_motion == 1
    if is_watched:
        begin_watch(model, state, work, column, slot)
    if model.load_friction == 1:
        set_joint_loads(model, state, control, work, column, slot)
    for substep in range(substeps):
        own_sweeps = int(sweeps)
        if substep == substeps - 1:
            own_sweeps += last_sweeps
        solve_velocities(
            model, control, work, column, slot, h_sub, h, has_middle, substep, substeps, own_sweeps, settle
        )
        find_failure(model, state, work, column, slot)
        if model.contact_count > 0:
            measure_residuals(model, work, slot)
        if keeps_energy:
            note_acting_rows(model, work, slot)
        if model.breakable_loops == 1:
            add_loads(model, work, column, slot, h_sub, real(1.0, h) / real(float(substeps), h))
        if with_forces == 1:
            report_step(model, state, control, work, forces, column, slot, h_sub, substep, substeps)
        if is_watched:
            watch_rows(model, work, column, slot, h)
        keep_smooth_acceleration(model, state, work, column, slot, h_sub, substep, substeps)
        set_shares(model, work, slot, h, has_middle)
        if has_middle == 1:
            land_on_limits(model, work, column, slot, h_sub)
        is_corrected = has_middle == 1 and model.free_motion == 1 and substeps == 1
        if is_corrected:
            compare_accelerations(model, state, work, column, slot)
            correct_end(model, state, work, column, slot, h)
        leads = model.contact_count > 0 and has_middle == 1
        if leads:
            lead_by_impacts(model, work, slot)
        if model.contact_count > 0:
            keep_contacts(model, work, slot)
        move_joints(model, work, work.position, work.root, column, slot, h_sub, has_middle, 1)
        if leads:
            follow_impacts(model, work, slot, h_sub)
        take_velocities(model, work, slot, h_sub)
        if is_corrected:
            take_corrected(model, state, work, column, slot)
        if model.rotation_rows > 0:
            hold_limits(model, work, column, slot, h_sub)
    if model.held_positions > 0:
        close_loops(model, state, work, forces, column, slot, h, sweeps + last_sweeps, with_forces, settle)
    if keeps_energy:
        keep_energies(model, work, column, slot)
    if model.sleep_steps > 0:
        measure_calm(model, work, column, slot)
    if model.contact_count > 0:
        keep_spins(model, state, control, work, column, slot, h)
    for is_turned in range(1 + int(model.swing_joints > 0)):
        if is_turned == 1:
            turn_swings_round(model, state, work, column, slot)
            if is_watched:
                watch_turns(model, control, work, column, slot)
        if is_watched and any_positive(largest_of_islands(model, work.unresolved, slot)):
            project_energy(model, state, work, column, slot, h, is_turned)
        if is_turned == 0 and model.speed_limits > 0:
            slow_islands(model, state, control, work, forces, column, slot, h, with_forces)
    store_state(model, state, work, column, slot)
    if model.contact_count > 0:
        store_contacts(model, state, work, column, slot)
    if model.breakable_loops == 1:
        break_loops(model, state, work, column, slot)
    started = state.started[0, column]
    state.started[0, column] = real(1.0, started)
    if any_positive(state.failure[0, column]):
        forget_accelerations(model, state, column, state.failure[0, column])
    if model.sleep_steps > 0:
        fall_asleep(model, state, work, column, slot)


@wp.func
def place_step(
    model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int, h: Real, has_middle: int
):
    """Place the links where forces are evaluated, with the velocities expected there; drag is that of v."""
    if has_middle == 1:
        expect_middle(model, state, work, column, slot, h)
    move_joints(model, work, work.middle, work.middle_root, column, slot, h, 0, has_middle)
    if model.placed_rows > 0:
        work.since_placed[0, slot] = real(-0.5 * float(has_middle), h) * h
        work.end_weight[0, slot] = real(0.5 + 0.5 * float(has_middle), h)
        for dof in range(model.dof_count):
            work.shift[dof, slot] = real(0.0, h)
            if has_middle == 1:
                work.shift[dof, slot] = neg(h * work.v_next[dof, slot])
    for turn in range(1 - model.link_damping, 2):
        for dof in range(model.dof_count):
            work.v_middle[dof, slot] = work.v[dof, slot]
            if turn == 1 and has_middle == 1:
                work.v_middle[dof, slot] = work.u[dof, slot]
        place_links(model, work, work.middle, work.middle_root, work.v_middle, column, slot)
        if turn == 0:
            move_links(model, work, column, slot)
            set_link_drag(model, work, column, slot, h)
    if model.placed_rows > 0:
        locate_links(model, work, work.middle_root, column, slot)


@wp.func
def find_least_share(state: StateArrays, work: WorkArrays, column: int, slot: int, has_middle: int):
    """Write the share of rows in `phases.implicit`: one without a middle and in the first step, else a half."""
    started = state.started[0, column]
    one = real(1.0, started)
    work.least[0, slot] = one
    work.free_share[0, slot] = one
    if has_middle == 1:
        work.least[0, slot] = one - real(0.5, started) * started
        work.free_share[0, slot] = real(0.5, started)


@wp.func
def take_velocities(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """Make v+ the velocities, and add up how far the dofs are from where the links are placed."""
    if model.placed_rows > 0:
        work.since_placed[0, slot] = work.since_placed[0, slot] + h
        for dof in range(model.dof_count):
            after = h * work.share[dof, slot]
            path = (h - after) * work.v[dof, slot] + after * work.v_next[dof, slot]
            work.shift[dof, slot] = work.shift[dof, slot] + path
    for dof in range(model.dof_count):
        work.v[dof, slot] = work.v_next[dof, slot]
