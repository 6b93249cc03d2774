"""Drives:  f = k (q* - q+) + d (v* - v+) = bias - slope v+,  bias = k (q* - q) + d v*,  slope = d + reach k.

q is the position that forces are evaluated at, and q+ = q + reach v+ that at the end of the step.

The law holds at the end of the step. A drive within its maximum force is exact: h slope joins the joint-space inertia
in the factors, and bias - slope v the effort. A drive that would exceed its maximum leaves the factors and becomes
a row  v+ + z / (h slope) = bias / slope,  |z| <= h f_max
so that f_max bounds the whole reaction. An acceleration drive has its gains multiplied by the effective inertia
1 / (M^-1)_ii of its dof, M with armature.
"""

import warp as wp

from warp_artic.constraints.rows import set_bounds, set_single_coefficient, set_window
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays


@wp.func
def set_drive_law(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    reach: Real,
):
    """Write bias and slope of the law of every joint dof; no drive is saturated yet."""
    for item in range(model.dof_count - model.root_dofs):
        scale = work.drive_scale[item, slot]
        k = model.drive_stiffness[item, column] * scale
        d = model.drive_damping[item, column] * scale
        error = control.drive_position_target[item, column] - state.joint_position[item, column]
        work.drive_bias[item, slot] = k * error + d * control.drive_velocity_target[item, column]
        work.drive_slope[item, slot] = d + reach * k
        work.saturated[item, slot] = real(0.0, reach)


@wp.func
def fold_drives(model: ModelArrays, control: ControlArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Write effort and folded diagonal of every dof: armature, viscous friction and unsaturated drives."""
    zero = real(0.0, h)
    for dof in range(model.root_dofs):
        work.effort[dof, slot] = zero
        work.folded[dof, slot] = zero
    for dof in range(model.root_dofs, model.dof_count):
        item = dof - model.root_dofs
        v = work.v[dof, slot]
        viscous = model.friction_viscous[item, column]
        is_folded = real(1.0, h) - work.saturated[item, slot]
        slope = work.drive_slope[item, slot] * is_folded
        bias = work.drive_bias[item, slot] * is_folded
        work.effort[dof, slot] = control.joint_effort[item, column] + bias - (slope + viscous) * v
        work.folded[dof, slot] = model.armature[item, column] + h * (slope + viscous)


@wp.func
def set_drive_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of a drive; while it is folded into the factors the row allows every velocity."""
    one = real(1.0, h)
    infinite = one / real(0.0, h)
    item = model.row_item[row]
    slope = work.drive_slope[item, slot]
    saturated = work.saturated[item, slot]
    safe = where_positive(slope, slope, one)
    goal = work.drive_bias[item, slot] / safe
    set_window(
        work, row, slot, where_positive(saturated, goal, neg(infinite)), where_positive(saturated, goal, infinite)
    )
    work.compliance[row, slot] = one / (h * safe)
    limit = h * model.drive_max_force[item, column]
    set_bounds(work, row, slot, limit, limit)
    set_single_coefficient(model, work, row, slot, h)


@wp.func
def saturate_drive(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int):
    """Mark a folded drive whose force exceeds its maximum; says whether any environment of the column has one."""
    item = model.row_item[row]
    force = work.drive_bias[item, slot] - work.drive_slope[item, slot] * work.v_next[model.row_dof[row], slot]
    excess = absolute(force) - model.drive_max_force[item, column]
    saturated = work.saturated[item, slot]
    one = real(1.0, force)
    newly = where_positive(excess, one - saturated, real(0.0, force))
    work.saturated[item, slot] = maximum(saturated, newly)
    return any_positive(newly)
