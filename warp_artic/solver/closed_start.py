"""The state that loop joints allow next to the one that an environment starts from, whose energy is then kept.

With phi, y and J of the held axes, M and G = J M^-1 J^T at the state (q, v) that was given:
    q moved by - M^-1 J^T G^-1 phi, and once more;   then v - M^-1 J^T G^-1 y,
as at the end of each step (`solver.close_loops`). What is taken of v is lost as in an inelastic impact, and the weight
that closing a gap lifts is lifted by nobody: neither is energy that `solver.closed_energy` may give back as speed.
"""

import warp as wp

from warp_artic.constraints.drive import clear_efforts, leave_drives_out
from warp_artic.constraints.loop_joint import holds
from warp_artic.constraints.rows import allow_every_velocity, set_unbounded_impulse, set_velocity_bounds
from warp_artic.math.numbers import Real, add, mul, neg, real, sub  # noqa: F401 (operators)
from warp_artic.model.arrays import ControlArrays, ModelArrays, WorkArrays
from warp_artic.model.families import HOLDS_POSITIONS, has_trait
from warp_artic.model.islands import assembly_of_dof
from warp_artic.phases.integrate import move_joints
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_frames import pose_links
from warp_artic.solver.close_loops import WAYS, find_all_gaps, find_change, take_moved
from warp_artic.solver.plan import StepPlan, sweeps_of_step
from warp_artic.solver.velocities import factor


@wp.func
def close_start(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h: Real,
    plan: StepPlan,
    solver: wp.Function,
    starts: Real,
):
    """Have `work.position`, `work.root` and `work.v` satisfy the loop joints of assemblies that keep their energy.

    Where `starts` is positive; the others stay as they are.
    """
    one = real(1.0, h)
    place_links(model, work, work.position, work.root, work.v, block, worker)
    clear_efforts(model, work, worker, one - one)
    leave_drives_out(model, control, work, block, worker)
    factor(model, control, work, block, worker, h)
    for way in range(WAYS + 1):
        pose_links(model, work, work.position, work.root, work.v, block, worker)
        find_all_gaps(model, work, block, worker)
        set_start_changes(model, work, worker, way == WAYS, starts)
        find_change(model, work, model.island_is_looped, worker, sweeps_of_step(plan), solver, one)
        if way == WAYS:
            for dof in range(model.dof_count):
                if model.tree_keeps_energy[assembly_of_dof(model, dof)] == 1:
                    work.v[dof, worker] = work.v[dof, worker] + work.v_next[dof, worker]
        else:
            move_joints(model, work, work.end_position, work.end_root, block, worker, one, 0, 1)
            take_moved(model, work, model.island_is_looped, worker)


@wp.func
def set_start_changes(model: ModelArrays, work: WorkArrays, worker: int, is_last: bool, starts: Real):
    """Write what is to change of positions, or in the last way of velocities, and that no other rows hold."""
    for island in range(model.island_count):
        work.loop_is_open[island, worker] = starts - starts
    for tree in range(model.tree_count):
        if model.tree_keeps_energy[tree] == 1:
            work.loop_is_open[model.tree_island[tree], worker] = starts
    for row in range(model.row_count):
        work.active[row, worker] = starts - starts
        tree = assembly_of_dof(model, model.row_dof[row])
        if has_trait(model, row, HOLDS_POSITIONS) and model.tree_keeps_energy[tree] == 1:
            change = neg(work.loop_gap[row, worker])
            if is_last:
                change = neg(work.loop_gap_rate[row, worker])
            active = holds(work, row, model.row_item[row] // 6, worker)
            work.active[row, worker] = active
            work.compliance[row, worker] = starts - starts
            set_velocity_bounds(work, row, worker, change, change)
            allow_every_velocity(work, row, worker, active)
            set_unbounded_impulse(work, row, worker, starts)
