"""The new velocities of one column, as a list of phases.

Drives are folded into the factors until one exceeds its maximum force. Then it leaves them, and the step is solved
again with the rest: each pass can only take further drives out, so the passes end.
"""

import warp as wp

from warp_artic.constraints.drive import fold_drives, saturate_drive, set_drive_law
from warp_artic.constraints.rows import set_single_coefficient
from warp_artic.constraints.table import set_row
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    div,
    mul,
    real,
    where_positive,
)
from warp_artic.model.arrays import Array, ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import DRIVE
from warp_artic.phases.articulated_inertia import factor_inertias
from warp_artic.phases.impulse_response import respond
from warp_artic.phases.joint_accelerations import accelerate_links
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_drag import set_link_drag
from warp_artic.phases.link_inertias import set_link_inertias
from warp_artic.phases.link_positions import locate_links
from warp_artic.phases.link_velocities import move_links
from warp_artic.solver.pgs import activate_rows, bend_windows, prepare_responses

ROUNDS = wp.constant(16)
"""Times that rows may join the active ones within a pass."""
BENDS = wp.constant(3)
"""Times that the limits of finite rotations are corrected for curvature."""
PASSES = wp.constant(4)
"""Times that saturated drives may leave the factors within a step."""


@wp.func
def measure_inertias(model: ModelArrays, work: WorkArrays, column: int, slot: int):
    """Write the effective inertia 1 / (M^-1)_ii of the dofs of acceleration drives, from factors without drives."""
    one = real(1.0, work.D_inverse[0, slot])
    for row in range(model.row_count):
        if model.row_family[row] == DRIVE:
            item = model.row_item[row]
            set_single_coefficient(model, work, row, slot, one)
            respond(model, work, row, 0, slot)
            inertia = one / work.response[model.row_dof[row], slot]
            work.drive_scale[item, slot] = where_positive(model.is_acceleration_drive[item, column], inertia, one)


@wp.func
def leave_drives_out(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """No drive in the factors, and gains as they are authored."""
    for item in range(model.dof_count - model.root_dofs):
        work.drive_scale[item, slot] = real(1.0, h)
        work.drive_bias[item, slot] = real(0.0, h)
        work.drive_slope[item, slot] = real(0.0, h)
        work.saturated[item, slot] = real(0.0, h)


@wp.func
def find_free_velocities(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """v+ without constraint rows, and the acceleration that leads to it, from the factors."""
    accelerate_links(model, work, work.v_next, column, slot)
    for dof in range(model.dof_count):
        vdot = work.v_next[dof, slot]
        state.smooth_acceleration[dof, column] = vdot
        work.v_next[dof, slot] = work.v[dof, slot] + h * vdot


@wp.func
def solve_rows(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    h: Real,
    reach: Real,
    iterations: int,
    settle: wp.Function,
):
    """v+ with constraint rows."""
    zero = real(0.0, h)
    for row in range(model.row_count):
        work.active[row, slot] = zero
        work.impulse[row, slot] = zero
        set_row(model, state, work, row, column, slot, h, reach)
    for response in range(model.slot_count):
        work.ready[response, slot] = 0
    rounds = int(0)
    bends = int(0)
    unsolved = activate_rows(model, work, slot)
    while unsolved:
        prepare_responses(model, state, work, column, slot, h, reach)
        settle(model, work, slot, iterations)
        rounds += 1
        unsolved = rounds < ROUNDS
        if unsolved:
            unsolved = activate_rows(model, work, slot)
        if not unsolved and bends < BENDS and model.rotation_rows > 0:
            unsolved = bend_windows(model, work, column, slot, h)
            bends += 1


@wp.func
def saturate_drives(model: ModelArrays, work: WorkArrays, column: int, slot: int):
    """Mark the folded drives that exceed their maximum force; says whether there are any."""
    found = bool(False)
    for row in range(model.row_count):
        if model.row_family[row] == DRIVE:
            if saturate_drive(model, work, row, column, slot):
                found = bool(True)
    return found


@wp.func
def solve_velocities(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    h: Real,
    reach: Real,
    iterations: int,
    settle: wp.Function,
):
    """v+ in `work.v_next`, from positions and velocities that `place_links` has put into the work space.

    `reach` is the time from those positions to the end of the step.
    """
    if model.spatial_leaves > 0:
        locate_links(model, state, work, column, slot)
    leave_drives_out(model, work, slot, h)
    measuring = model.acceleration_drives == 1
    if not measuring:
        set_drive_law(model, state, control, work, column, slot, reach)
    passes = int(0)
    unsolved = bool(True)
    while unsolved:
        fold_drives(model, control, work, column, slot, h)
        set_link_inertias(model, control, work, column, slot)
        factor_inertias(model, work, column, slot)
        if measuring:
            measure_inertias(model, work, column, slot)
            set_drive_law(model, state, control, work, column, slot, reach)
            measuring = bool(False)
        else:
            find_free_velocities(model, state, work, column, slot, h)
            solve_rows(model, state, work, column, slot, h, reach, iterations, settle)
            passes += 1
            unsolved = passes < PASSES
            if unsolved:
                unsolved = saturate_drives(model, work, column, slot)


@wp.func
def drag_links(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Link damping at the velocities that `place_links` has put into the work space."""
    if model.link_damping == 1:
        move_links(model, work, slot)
        set_link_drag(model, work, column, slot, h)


@wp.func
def solve_accelerations(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    joint_force: Array,
    column: int,
    slot: int,
):
    """vdot in `work.v_next` under gravity, external link forces and given generalized forces alone, without drag."""
    zero = real(0.0, model.gravity[0, column])
    place_links(model, state, work, column, slot)
    if model.link_damping == 1:
        for k in range(3 * model.link_count):
            work.drag_moment[k, slot] = zero
            work.drag_force[k, slot] = zero
    for dof in range(model.dof_count):
        work.effort[dof, slot] = joint_force[dof, column]
        work.folded[dof, slot] = zero
    for dof in range(model.root_dofs, model.dof_count):
        work.folded[dof, slot] = model.armature[dof - model.root_dofs, column]
    set_link_inertias(model, control, work, column, slot)
    factor_inertias(model, work, column, slot)
    accelerate_links(model, work, work.v_next, column, slot)
