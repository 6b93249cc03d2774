"""One step of one block of environments: Moreau's midpoint, or the semi-implicit Euler step, which is the same without
a middle.

    q_M = q moved by h/2 v,   M(q_M) (v+ - v) = h f(q_M, v + h/2 a) + J^T z,   q+ = q moved by h/2 v, then by h/2 v+
with a the smooth acceleration of the step before, so that an impact does not leak into the forces of the next step.
One evaluation a step; second order where motion is smooth, and more where it is also free (`solver.history`). Springs,
drives and dampers follow `phases.implicit`: joints with drives or viscous friction have theta of v+ and the rest of v,
instead of halves, and joints that a mimic joint ties together the largest weight of any of them. Joints of one axis at
a stop have no middle: they move by h v+ from where they were. In trees with joints of two or three free rotations that
turn fast, v + h/2 a gives way to the mean of v and v+ where it is not what a has promised: then the step is evaluated
again (`velocities.expect_velocities`). So it is where drives bring their dofs to where these follow
(`boundary_layers`), and where a step does not resolve free motion, whose energy is then kept (`energy_projection`).

With n substeps the velocities and positions advance n times by h / n, with constraint rows, springs and dampers at the
positions that are reached, and the factors, responses and velocity forces of the step (Mimic Joints, PGS and TGS
Implementation).
"""

import warp as wp

from warp_artic.constraints.bearing_rows import keep_bearing, load_bearing, store_bearing
from warp_artic.constraints.contact_bias import load_contact_velocities, store_contact_velocities
from warp_artic.constraints.contact_impacts import follow_impacts, lead_by_impacts
from warp_artic.constraints.contact_memory import keep_contacts, load_contacts, store_contacts
from warp_artic.constraints.contact_residual import measure_residuals
from warp_artic.constraints.dof_weights import land_alike, set_dof_weights
from warp_artic.constraints.limit_projection import hold_limits
from warp_artic.constraints.overlap_projection import project_overlaps
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
    displace,
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
from warp_artic.solver.closed_start import close_start
from warp_artic.solver.distance_start import reach_distances
from warp_artic.solver.energy_projection import project_energy
from warp_artic.solver.held_inputs import take_inputs
from warp_artic.solver.history import (
    compare_accelerations,
    correct_end,
    expect_middle,
    keep_smooth_acceleration,
    largest_of_islands,
    take_corrected,
)
from warp_artic.solver.joined_trees import load_joined
from warp_artic.solver.plan import StepPlan
from warp_artic.solver.reports import report_step
from warp_artic.solver.rows.least_norm import share_redundant_loads
from warp_artic.solver.slow_islands import slow_islands
from warp_artic.solver.tree_work import begin_trees
from warp_artic.solver.unresolved_motion import begin_watch, watch_rows, watch_turns
from warp_artic.solver.velocities import solve_velocities
from warp_artic.solver.violent_spin import find_spins, keep_spins, note_impulses
from warp_artic.solver.violent_trees import any_watched, keep_tree_energies, watch_trees


@wp.func
def step_block(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h: Real,
    plan: StepPlan,
    solver: wp.Function,
    find_points: wp.Function,
):
    """Advance the state of one block by h.

    `forces` are written if `plan` says so. `solver` solves the active constraint rows, and `find_points` finds points
    of contact, where links are placed.
    """
    begin_step(model, state, control, work, block, worker, h, plan, solver, find_points)
    h_sub = h / real(float(plan.substeps), h)
    for substep in range(plan.substeps):
        solve_velocities(model, control, work, block, worker, h_sub, h, plan, substep, solver)
        observe(model, state, control, work, forces, block, worker, h_sub, h, plan, substep)
        move(model, state, control, work, block, worker, h_sub, h, plan, substep)
    if model.held_positions > 0:
        displace(model, work, control.contact_displacement, block, worker)
        close_loops(model, state, work, forces, block, worker, h, plan, solver)
    keep_invariants(model, state, control, work, forces, block, worker, h, plan)
    end_step(model, state, work, block, worker)


@wp.func
def begin_step(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h: Real,
    plan: StepPlan,
    solver: wp.Function,
    find_points: wp.Function,
):
    """Load the state, place the links, and find what acts where they are placed."""
    count_step(state, block)
    failure = state.failure[0, block]
    work.stopped[0, worker] = where_positive(failure, real(1.0, failure), real(0.0, failure))
    load_state(model, state, work, block, worker)
    if model.loop_count > 0:
        load_loops(model, state, work, block, worker)
    if model.breakable_loops == 1:
        load_joined(model, state, work, block, worker)
    set_position_weight(state, work, block, worker, plan.has_middle)
    if model.distance_rows > 0:
        reach_distances(model, state, control, work, block, worker, h, plan, solver)
    if plan.has_middle == 1 and model.closed_assemblies > 0:
        started = state.started[0, block]
        starts = real(1.0, started) - started
        if any_positive(starts):
            close_start(model, control, work, block, worker, h, plan, solver, starts)
        note_start(model, control, work, block, worker, h)
        if any_positive(starts):
            load_state(model, state, work, block, worker)
    place_step(model, state, work, block, worker, h, plan.has_middle)
    if model.contact_count > 0:
        load_contacts(model, state, work, block, worker, plan.substeps)
        load_bearing(model, state, work, block, worker)
        find_points(model, work, block, worker, h)
        load_contact_velocities(model, state, work, block, worker, plan.has_middle)
    find_spins(model, control, work, block, worker, h)
    if model.free_motion == 1:
        begin_watch(model, state, work, block, worker, h)
    if model.guards_impacts == 1:
        begin_trees(model, work, worker)
    if model.load_friction == 1:
        set_joint_loads(model, state, control, work, block, worker)


@wp.func
def observe(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h_sub: Real,
    h: Real,
    plan: StepPlan,
    substep: int,
):
    """Note what the velocities of a substep tell: failures, loads, forces, and accelerations for later steps."""
    find_failure(model, state, work, block, worker)
    if model.contact_count > 0:
        measure_residuals(model, work, worker, h_sub)
        note_impulses(model, work, worker, substep)
    if plan.has_middle == 1 and model.closed_assemblies > 0:
        note_acting_rows(model, work, block, worker)
    if model.loop_count > 0 and (plan.with_forces == 1 or model.breakable_loops == 1):
        share_redundant_loads(model, work, worker)
    if model.breakable_loops == 1:
        add_loads(model, work, block, worker, h_sub, real(1.0, h) / real(float(plan.substeps), h))
    if plan.with_forces == 1:
        report_step(model, state, control, work, forces, block, worker, h_sub, substep, plan.substeps)
    if model.free_motion == 1:
        watch_rows(model, work, block, worker, h)
    if model.guards_trees == 1:
        watch_trees(model, work, block, worker, h_sub, h, substep)
    keep_smooth_acceleration(model, state, work, block, worker, h_sub, substep, plan.substeps)


@wp.func
def move(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h_sub: Real,
    h: Real,
    plan: StepPlan,
    substep: int,
):
    """Move positions by the velocities of a substep, which become v."""
    set_dof_weights(model, work, worker, h, plan.has_middle)
    if plan.has_middle == 1:
        land_alike(model, work, block, worker, h_sub)
    is_corrected = plan.has_middle == 1 and model.free_motion == 1 and plan.substeps == 1
    if is_corrected:
        take_inputs(model, state, control, work, block, worker)
        compare_accelerations(model, state, work, block, worker)
        correct_end(model, state, work, block, worker, h)
    leads = model.contact_count > 0 and plan.has_middle == 1
    if leads:
        lead_by_impacts(model, work, block, worker, h_sub)
    if model.contact_count > 0:
        keep_contacts(model, work, worker)
        keep_bearing(model, work, worker)
    move_joints(model, work, work.position, work.root, block, worker, h_sub, plan.has_middle, 1)
    if leads:
        follow_impacts(model, work, worker, h_sub)
    take_velocities(model, work, worker, h_sub)
    if is_corrected:
        take_corrected(model, state, work, block, worker)
    if model.contact_count > 0:
        project_overlaps(model, work, block, worker)
    if model.stop_row < model.row_count:
        hold_limits(model, work, block, worker, h, int(substep == plan.substeps - 1))


@wp.func
def keep_invariants(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h: Real,
    plan: StepPlan,
):
    """Keep energy, momentum and largest velocities at the end of a step, where it has not kept them by itself."""
    if plan.has_middle == 1 and model.closed_assemblies > 0:
        keep_energies(model, state, control, work, block, worker, h)
    if model.sleep_steps > 0:
        measure_calm(model, work, block, worker)
    if model.contact_count > 0:
        keep_spins(model, state, control, work, block, worker, h)
    if model.guards_trees == 1 and any_watched(model, work, worker):
        keep_tree_energies(model, state, control, work, block, worker, h)
    is_watched = model.free_motion == 1
    for is_turned in range(1 + int(model.swing_joints > 0)):
        if is_turned == 1:
            turn_swings_round(model, state, work, block, worker)
            if is_watched:
                watch_turns(model, control, work, block, worker)
        if is_watched and any_positive(largest_of_islands(model, work.unresolved, worker)):
            project_energy(model, state, control, work, block, worker, h, is_turned)
        if is_turned == 0 and model.speed_limits > 0:
            slow_islands(model, state, control, work, forces, block, worker, h, plan.with_forces)


@wp.func
def end_step(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Store the state, and what later steps need to know of this one."""
    store_state(model, state, work, block, worker)
    if model.contact_count > 0:
        store_contacts(model, state, work, block, worker)
        store_bearing(model, state, work, block, worker)
        store_contact_velocities(model, state, work, block, worker)
    if model.breakable_loops == 1:
        break_loops(model, state, work, block, worker)
    started = state.started[0, block]
    state.started[0, block] = real(1.0, started)
    if any_positive(state.failure[0, block]):
        forget_accelerations(model, state, block, state.failure[0, block])
    if model.sleep_steps > 0:
        fall_asleep(model, state, work, block, worker)


@wp.func
def place_step(
    model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int, h: Real, has_middle: int
):
    """Place the links where forces are evaluated, with the velocities expected there; drag is that of v."""
    if has_middle == 1:
        expect_middle(model, state, work, block, worker, h)
    move_joints(model, work, work.middle, work.middle_root, block, worker, h, 0, has_middle)
    if model.placed_rows > 0:
        work.since_placed[0, worker] = real(-0.5 * float(has_middle), h) * h
        work.end_weight[0, worker] = real(0.5 + 0.5 * float(has_middle), h)
        for dof in range(model.dof_count):
            work.shift[dof, worker] = real(0.0, h)
            if has_middle == 1:
                work.shift[dof, worker] = neg(h * work.v_next[dof, worker])
    for turn in range(1 - model.link_damping, 2):
        for dof in range(model.dof_count):
            work.v_middle[dof, worker] = work.v[dof, worker]
            if turn == 1 and has_middle == 1:
                work.v_middle[dof, worker] = work.u[dof, worker]
        place_links(model, work, work.middle, work.middle_root, work.v_middle, block, worker)
        if turn == 0:
            move_links(model, work, block, worker)
            set_link_drag(model, work, block, worker, h)
    if model.placed_rows > 0:
        locate_links(model, work, work.middle_root, block, worker)


@wp.func
def set_position_weight(state: StateArrays, work: WorkArrays, block: int, worker: int, has_middle: int):
    """Write the weight of v+ in `phases.implicit`: one without a middle and in the first step, else a half."""
    started = state.started[0, block]
    one = real(1.0, started)
    work.position_weight[0, worker] = one
    work.free_weight[0, worker] = one
    if has_middle == 1:
        work.position_weight[0, worker] = one - real(0.5, started) * started
        work.free_weight[0, worker] = real(0.5, started)


@wp.func
def take_velocities(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Make v+ the velocities, and add up how far the dofs are from where the links are placed."""
    if model.placed_rows > 0:
        work.since_placed[0, worker] = work.since_placed[0, worker] + h
        for dof in range(model.dof_count):
            after = h * work.dof_weight[dof, worker]
            path = (h - after) * work.v[dof, worker] + after * work.v_next[dof, worker]
            work.shift[dof, worker] = work.shift[dof, worker] + path
    for dof in range(model.dof_count):
        work.v[dof, worker] = work.v_next[dof, worker]
