"""The new velocities of one block, as a list of phases.

Drives are folded into the factors until one exceeds its maximum force. Then it leaves them, and the step is solved
again with the rest: each pass can only take further drives out, so the passes end.

Where velocity forces are found again (`expect_velocities`) the factors stay, and so do rows and their responses unless
they look at accelerations: the solution goes on from the rows that are active, in the environments that change.

The factors, and the forces of gravity and velocities, are those where `solver.step` has placed the links. They are kept
for the following substeps, in which only the loads of springs and dampers are new.

What is solved again is decided for each island of a mechanism, as for each environment: `work.is_solved_again` says
where, and the others keep their answers bitwise.
"""

import warp as wp

from warp_artic.constraints.dispatch import measure_row
from warp_artic.constraints.drive import clear_efforts, fold_drives, leave_drives_out, saturate_drives
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ModelArrays, WorkArrays
from warp_artic.phases.articulated_inertia import factor_inertias
from warp_artic.phases.implicit import joint_resistance
from warp_artic.phases.impulse_response import respond_to_loads
from warp_artic.phases.joint_accelerations import accelerate_links
from warp_artic.phases.joint_springs import cross_loss
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_inertias import set_link_inertias
from warp_artic.solver.active_rows import solve_rows
from warp_artic.solver.boundary_layers import find_layer, forget_weights, measure_weights
from warp_artic.solver.expectation import expect_velocities, most_expectations
from warp_artic.solver.history import largest_of_islands
from warp_artic.solver.plan import StepPlan, sweeps_of
from warp_artic.solver.violent_spin import damp_velocity_forces

PASSES = wp.constant(4)
"""Times that saturated drives may leave the factors within a step."""


@wp.func
def measure_inertias(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write what laws need of the mechanism without drives, from factors without them.

    Of acceleration drives the effective inertia 1 / (M^-1)_ii of their dof or 1 / (J M^-1 J^T) of their row, of
    compliant mimic joints r = J M^-1 J^T.
    """
    for row in range(model.row_count):
        measure_row(model, work, row, block, worker, h)


@wp.func
def factor(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write the factors with what is to be folded into them."""
    set_link_inertias(model, control, work, block, worker)
    damp_velocity_forces(model, work, worker)
    factor_inertias(model, work, block, worker, h)


@wp.func
def forget_responses(model: ModelArrays, work: WorkArrays, worker: int):
    """Mark all responses as unknown, since the factors have changed."""
    for response in range(model.response_count):
        work.ready[response, worker] = 0


@wp.func
def solve_velocities(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h: Real,
    step: Real,
    plan: StepPlan,
    substep: int,
    solver: wp.Function,
):
    """v+ in `work.v_next`, from `work.v`, the positions at the start of the substep and the placement of the step.

    It is found again until nothing more is to be changed: with drives out of the factors that exceed their force, with
    weights measured in two halves where the step is in a boundary layer, and then with velocity forces at the
    velocities of the middle.
    """
    has_middle = plan.has_middle
    has_layers = model.driven == 1 and has_middle == 1 and plan.substeps == 1
    sweeps = sweeps_of(plan, substep)
    halves = int(0)
    zero = real(0.0, h)
    measures = int(0)
    most = int(0)
    for island in range(model.island_count):
        work.in_boundary_layer[island, worker] = zero
        work.is_solved_again[island, worker] = real(1.0, h)
        if substep == 0:
            work.unresolved[island, worker] = zero
            most = wp.max(most, most_expectations(model, island, has_middle))
    is_unsolved = bool(True)
    if substep == 0:
        clear_efforts(model, work, worker, zero)
        if model.acceleration_drives == 1 or model.compliant_mimics == 1 or model.acceleration_loop_drives == 1:
            measures = int(1)
    passes = int(0)
    expectations = int(0)
    continues = int(0)
    goes = bool(True)
    while goes:
        is_placed = int(1)
        if measures == 1:
            leave_drives_out(model, control, work, block, worker)
        elif continues == 0 or (is_unsolved and model.restarts == 1):
            fold_drives(model, control, work, block, worker, h * whole_or_half(halves, h), int(substep == 0))
        if is_unsolved and (substep == 0 or passes > 0):
            factor(model, control, work, block, worker, h * whole_or_half(halves, h))
            if continues == 0 or model.restarts == 1:
                forget_responses(model, work, worker)
            if measures == 0:
                accelerate_links(model, work, work.v_free, block, worker)
                for dof in range(model.dof_count):
                    again = work.is_solved_again[model.dof_island[dof], worker]
                    work.vdot[dof, worker] = where_positive(again, work.v_free[dof, worker], work.vdot[dof, worker])
        elif substep > 0 and passes == 0:
            change_loads(model, work, worker, h)
        if measures == 1:
            measure_inertias(model, work, block, worker, h)
            measures = 0
        elif halves == 1:
            measure_weights(model, work, worker, h)
            halves = 2
            is_placed = 0
        else:
            begin_islands(model, work, worker, h, continues)
            if model.row_count == 0:
                for dof in range(model.dof_count):
                    work.v_next[dof, worker] = work.v[dof, worker] + h * work.vdot[dof, worker]
            else:
                solve_rows(model, control, work, block, worker, h, has_middle, sweeps, solver, continues)
                passes += 1
                if passes < PASSES and expectations == 0:
                    saturate_drives(model, work, block, worker, h, halves)
            is_unsolved = any_positive(largest_of_islands(model, work.is_solved_again, worker))
            goes = is_unsolved
            if has_layers and halves == 0 and expectations == 0 and not goes:
                is_unsolved = any_positive(find_layer(model, control, work, block, worker, h))
                goes = is_unsolved
                if goes:
                    halves = 1
                    passes = 1
                    is_placed = 0
            if most > 0 and not goes:
                if expectations < most:
                    expectations += 1
                    expect_velocities(
                        model, control, work, block, worker, h, step, has_middle, expectations, plan.substeps
                    )
                    is_unsolved = any_positive(largest_of_islands(model, work.is_solved_again, worker))
                    if is_unsolved:
                        is_placed = 0
                        goes = bool(True)
                        continues = 1
        if is_placed == 0:
            place_links(model, work, work.middle, work.middle_root, work.v_middle, block, worker)
    if halves == 2:
        forget_weights(model, work, worker, h)


@wp.func
def whole_or_half(halves: int, like: Real):
    """The part of a step that is solved for: a half where weights are measured."""
    return real(1.0 - 0.5 * float(int(halves == 1)), like)


@wp.func
def begin_islands(model: ModelArrays, work: WorkArrays, worker: int, like: Real, continues: int):
    """Write which islands begin again, and where v+ is to be found again; from then on nothing is
    `work.is_solved_again`.

    If `continues` is 1 these are, of islands with rows that look at the accelerations without rows, those that have
    other velocity forces; the rows of the others are as they were.
    """
    zero = real(0.0, like)
    one = real(1.0, like)
    for island in range(model.island_count):
        again = work.is_solved_again[island, worker]
        begins = int(1)
        if continues == 1 and not (model.island_restarts[island] == 1 and any_positive(again)):
            begins = 0
        work.begins[island, worker] = begins
        if begins == 1:
            work.is_changed[island, worker] = one
        else:
            work.is_changed[island, worker] = where_positive(again, one, zero)
        work.is_solved_again[island, worker] = zero


@wp.func
def change_loads(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Bring `work.vdot` up to date with the loads that springs and dampers have now, by the factors of before."""
    changed = bool(False)
    for dof in range(model.dof_count):
        work.u[dof, worker] = real(0.0, h)
    for dof in range(model.root_dofs, model.dof_count):
        k = work.spring[dof, worker]
        d = work.damper[dof, worker]
        resistance = joint_resistance(k, d, work.reach[dof, worker], h)
        load = (
            work.effort[dof, worker]
            - resistance * work.v[dof, worker]
            - cross_loss(model, work, dof, worker, work.v, h)
        )
        change = load - work.load[dof, worker]
        work.u[dof, worker] = change
        work.load[dof, worker] = load
        if any_positive(absolute(change)):
            changed = bool(True)
    if changed:
        respond_to_loads(model, work, work.v_next, worker)
        for dof in range(model.dof_count):
            work.vdot[dof, worker] = work.vdot[dof, worker] + work.v_next[dof, worker]
