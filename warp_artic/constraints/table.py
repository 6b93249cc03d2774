"""Constraint family -> the function that fills its rows: the only switch over families."""

import warp as wp

from warp_artic.constraints.bouncing_limit import set_bouncing_limit_row
from warp_artic.constraints.drive import set_drive_row
from warp_artic.constraints.fixed_tendon import (
    set_fixed_tendon_limit_row,
    set_fixed_tendon_row,
    set_tendon_coefficients,
)
from warp_artic.constraints.joint_friction import set_friction_row
from warp_artic.constraints.joint_limit import set_joint_limit_row
from warp_artic.constraints.mimic import set_gears, set_mimic_row
from warp_artic.constraints.rotation_limit import set_rotation_limit_row
from warp_artic.constraints.rows import prepare_response, row_response
from warp_artic.constraints.soft_limit import set_soft_limit_gradient, set_soft_limit_row
from warp_artic.constraints.soft_rotation_limit import set_soft_rotation_limit_gradient, set_soft_rotation_limit_row
from warp_artic.constraints.spatial_tendon import (
    set_spatial_tendon_gradients,
    set_spatial_tendon_limit_row,
    set_spatial_tendon_row,
)
from warp_artic.constraints.speed_limit import set_speed_limit_row
from warp_artic.constraints.velocity_limit import set_velocity_limit_row
from warp_artic.math.numbers import Real, real
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import (
    BOUNCING_LIMIT,
    DRIVE,
    FIXED_TENDON,
    FIXED_TENDON_LIMIT,
    FRICTION,
    JOINT_LIMIT,
    LINK_SPEED,
    MIMIC,
    SOFT_CONE_LIMIT,
    SOFT_LIMIT,
    SOFT_ROTATION_LIMIT,
    SPATIAL_TENDON,
    SPATIAL_TENDON_LIMIT,
    TREE_SPIN,
    VELOCITY_LIMIT,
)


@wp.func
def set_rows(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Fill all rows for this step; none is active yet."""
    zero = real(0.0, h)
    for row in range(model.row_count):
        work.active[row, slot] = zero
        work.impulse[row, slot] = zero
        work.given[row, slot] = zero
        if row < model.stop_row:
            if set_gradient(model, work, row, column, slot, h):
                prepare_response(model, work, row, slot)
                work.row_mobility[row, slot] = row_response(model, work, row, slot)
            set_law(model, work, row, column, slot, h)
        else:
            set_stop_law(model, work, row, column, slot, h)


@wp.func
def set_gradient(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Write J and the push of the rows whose law needs J Y; says whether this one does."""
    family = model.row_family[row]
    needs = bool(False)
    if family == FIXED_TENDON or family == FIXED_TENDON_LIMIT:
        needs = set_tendon_coefficients(model, work, row, column, slot, h)
    elif family == SPATIAL_TENDON or family == SPATIAL_TENDON_LIMIT:
        needs = set_spatial_tendon_gradients(model, work, row, column, slot, h)
    elif family == SOFT_LIMIT:
        needs = set_soft_limit_gradient(model, work, row, column, slot, h)
    elif family >= SOFT_ROTATION_LIMIT and family <= SOFT_CONE_LIMIT:
        needs = set_soft_rotation_limit_gradient(model, work, row, column, slot, h)
    elif family == MIMIC:
        needs = set_gears(model, work, row, column, slot, h)
    return needs


@wp.func
def set_law(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Write the window, the compliance, the bounds and the other J of a row that is no stop."""
    family = model.row_family[row]
    if family == DRIVE:
        set_drive_row(model, work, row, column, slot, h)
    elif family == FRICTION:
        set_friction_row(model, work, row, column, slot, h)
    elif family == VELOCITY_LIMIT:
        set_velocity_limit_row(model, work, row, column, slot, h)
    elif family >= LINK_SPEED and family <= TREE_SPIN:
        set_speed_limit_row(work, row, slot, h)
    elif family == FIXED_TENDON:
        set_fixed_tendon_row(model, work, row, column, slot, h)
    elif family == FIXED_TENDON_LIMIT:
        set_fixed_tendon_limit_row(model, work, row, column, slot, h)
    elif family == SPATIAL_TENDON:
        set_spatial_tendon_row(model, work, row, column, slot, h)
    elif family == SPATIAL_TENDON_LIMIT:
        set_spatial_tendon_limit_row(model, work, row, column, slot, h)
    elif family == SOFT_LIMIT:
        set_soft_limit_row(model, work, row, column, slot, h)
    elif family >= SOFT_ROTATION_LIMIT and family <= SOFT_CONE_LIMIT:
        set_soft_rotation_limit_row(model, work, row, column, slot, h)
    elif family == MIMIC:
        set_mimic_row(model, work, row, column, slot, h)


@wp.func
def set_stop_law(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Write the same of a stop."""
    family = model.row_family[row]
    if family == JOINT_LIMIT:
        set_joint_limit_row(model, work, row, column, slot, h)
    elif family == BOUNCING_LIMIT:
        set_bouncing_limit_row(model, work, row, column, slot, h)
    elif row >= model.row_count - model.rotation_rows:
        set_rotation_limit_row(model, work, row, column, slot, h)
