"""Drives:  f = k (q* - q) + d (v* - v), the spring and damper of a dof of `phases.implicit`:
    f = bias - drag v - slope v+,   bias = k (q* - q) + d v*,   q and v at the start of the step.

A drive within its maximum force is exact: its spring and damper are folded into the factors. A drive that would exceed
its maximum leaves them and becomes a row
    v+ + z / (h slope) = (bias - drag v) / slope,   |z| <= h f_max
so that f_max bounds the whole reaction. An acceleration drive has its gains multiplied by the effective inertia
1 / (M^-1)_ii of its dof, M with armature. In a joint with several rotations k is an entry of a matrix, and k (q* - q) a
part of a torque; see `rotation_drive`.
"""

import math
from collections.abc import Callable

import warp as wp

from warp_artic.constraints.drive_envelope import choose_line, set_envelope_row
from warp_artic.constraints.rotation_drive import fold_rotation_drives
from warp_artic.constraints.rows import (
    allow_every_velocity,
    delassus_entry,
    set_impulse_bounds,
    set_unit_jacobian,
    set_velocity_bounds,
)
from warp_artic.constraints.single_dofs import places_of_dofs
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.joint import Dof
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.allowed_values import LARGEST, NOT_NEGATIVE
from warp_artic.model.arrays import ControlArrays, ModelArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import HAS_OWN_WEIGHT, ON_ONE_DOF, ConstraintFamily, of_dofs
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place
from warp_artic.phases.implicit import joint_resistance
from warp_artic.phases.joint_springs import cross_loss

DRIVE_ORDER = wp.constant(100)
"""Of the family, in kernels."""


@wp.func
def drive_stiffness(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """k of a drive, of force type."""
    k = model.drive_stiffness[item, block]
    if model.acceleration_drives == 1:
        return k * work.drive_scale[item, worker]
    return k


@wp.func
def drive_damping(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """d of a drive, of force type."""
    d = model.drive_damping[item, block]
    if model.acceleration_drives == 1:
        return d * work.drive_scale[item, worker]
    return d


@wp.func
def clear_efforts(model: ModelArrays, work: WorkArrays, worker: int, zero: Real):
    """No effort on the root, and no drive saturated."""
    for dof in range(model.root_dofs):
        work.effort[dof, worker] = zero
    for item in range(model.dof_count - model.root_dofs):
        work.saturated[item, worker] = zero


@wp.func
def leave_drives_out(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int):
    """Write spring, damper and effort of every joint dof without drives, and gains as they are authored."""
    for dof in range(model.root_dofs, model.dof_count):
        item = dof - model.root_dofs
        effort = control.joint_effort[item, block]
        work.drive_scale[item, worker] = real(1.0, effort)
        work.spring[dof, worker] = real(0.0, effort)
        work.cross_spring[dof, worker] = real(0.0, effort)
        work.damper[dof, worker] = real(0.0, effort)
        work.effort[dof, worker] = effort


@wp.func
def fold_drives(
    model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real, is_first: int
):
    """Write spring, damper and effort of every joint dof: viscous friction, unsaturated drives and given efforts.

    `is_first` is 1 in the first substep.
    """
    for item in range(model.dof_count - model.root_dofs):
        k = drive_stiffness(model, work, item, block, worker)
        work.drive_spring[item, worker] = k
        work.drive_bias[item, worker] = k * (control.drive_position_target[item, block] - work.position[item, worker])
    if model.rotation_drives > 0:
        fold_rotation_drives(model, control, work, block, worker, h, is_first)
    for dof in range(model.root_dofs, model.dof_count):
        item = dof - model.root_dofs
        k = work.drive_spring[item, worker]
        d = drive_damping(model, work, item, block, worker)
        bias = work.drive_bias[item, worker] + d * control.drive_velocity_target[item, block]
        saturated = work.saturated[item, worker]
        effort = control.joint_effort[item, block]
        viscous = model.friction_viscous[item, block]
        work.drive_bias[item, worker] = bias
        work.spring[dof, worker] = where_positive(saturated, real(0.0, k), k)
        work.damper[dof, worker] = where_positive(saturated, viscous, viscous + d)
        work.effort[dof, worker] = where_positive(saturated, effort, effort + bias)


@wp.func
def mean_velocity(work: WorkArrays, dof: int, worker: int, theta: Real):
    """w of `phases.implicit`."""
    v = work.v[dof, worker]
    return v + theta * (work.v_next[dof, worker] - v)


@wp.func
def folded_force(model: ModelArrays, work: WorkArrays, dof: int, block: int, worker: int, h: Real):
    """The force of a drive through the factors, over a step of length h; none of one that has left them."""
    item = dof - model.root_dofs
    zero = real(0.0, h)
    d = work.damper[dof, worker] - model.friction_viscous[item, block]
    bias = where_positive(work.saturated[item, worker], zero, work.drive_bias[item, worker])
    w = mean_velocity(work, dof, worker, work.theta[dof, worker])
    driven = bias - joint_resistance(work.spring[dof, worker], d, work.reach[dof, worker], h) * w
    return driven - cross_loss(model, work, dof, worker, work.v_next, h)


@wp.func
def set_drive_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a drive; while it is folded into the factors the row allows every velocity."""
    one = real(1.0, h)
    item = model.row_item[row]
    saturated = work.saturated[item, worker]
    theta = work.drive_theta[item, worker]
    k = work.drive_spring[item, worker]
    d = drive_damping(model, work, item, block, worker)
    resistance = joint_resistance(k, d, work.drive_reach[item, worker], h)
    slope = theta * resistance
    safe = where_positive(slope, slope, one)
    drag = (one - theta) * resistance
    target = (work.drive_bias[item, worker] - drag * work.v[model.row_dof[row], worker]) / safe
    set_velocity_bounds(work, row, worker, target, target)
    allow_every_velocity(work, row, worker, saturated)
    work.compliance[row, worker] = one / (h * safe)
    limit = h * model.drive_max_force[item, block]
    set_impulse_bounds(work, row, worker, limit, limit)
    set_unit_jacobian(model, work, row, worker, h)
    if model.drive_envelopes == 1:
        set_envelope_row(model, work, row, block, worker, h)


@wp.func
def saturate_drive(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Mark a folded drive whose force exceeds its maximum; says in which environments there is one."""
    item = model.row_item[row]
    dof = model.row_dof[row]
    theta = work.theta[dof, worker]
    reach = work.reach[dof, worker]
    k = work.drive_spring[item, worker]
    d = drive_damping(model, work, item, block, worker)
    lost = joint_resistance(k, d, reach, h) * mean_velocity(work, dof, worker, theta)
    wanted = work.drive_bias[item, worker] - lost - cross_loss(model, work, dof, worker, work.v_next, h)
    saturated = work.saturated[item, worker]
    if model.drive_envelopes == 1:
        return choose_line(model, work, row, block, worker, wanted, theta, reach, h)
    excess = absolute(wanted) - model.drive_max_force[item, block]
    one = real(1.0, excess)
    newly = where_positive(excess, one - saturated, real(0.0, excess))
    work.drive_theta[item, worker] = where_positive(newly, theta, work.drive_theta[item, worker])
    work.drive_reach[item, worker] = where_positive(newly, reach, work.drive_reach[item, worker])
    work.saturated[item, worker] = maximum(saturated, newly)
    return newly


@wp.func
def saturate_drives(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real, halves: int):
    """Mark the folded drives that exceed their maximum force; writes where there are any to `work.is_solved_again`.

    Once boundary layers have been found (`halves` is 2) it looks at what is in them.
    """
    zero = real(0.0, h)
    found = real(0.0, h)
    for row in range(model.row_count):
        if model.row_family[row] == DRIVE_ORDER:
            item = model.row_item[row]
            island = model.row_island[row]
            looks = work.in_boundary_layer[island, worker] + real(1.0 - 0.5 * float(halves), h)
            before = work.saturated[item, worker]
            newly = where_positive(looks, saturate_drive(model, work, row, block, worker, h), zero)
            work.saturated[item, worker] = where_positive(looks, work.saturated[item, worker], before)
            found = maximum(found, newly)
            if model.island_count > 1:
                work.is_solved_again[island, worker] = maximum(work.is_solved_again[island, worker], newly)
    if model.island_count == 1:
        work.is_solved_again[0, worker] = found


@wp.func
def bound_drives(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int):
    """Replace the drives whose force exceeds its maximum by an effort."""
    for row in range(model.row_count):
        if model.row_family[row] == DRIVE_ORDER:
            dof = model.row_dof[row]
            item = model.row_item[row]
            force = (
                work.drive_bias[item, worker] - drive_damping(model, work, item, block, worker) * work.v[dof, worker]
            )
            limit = model.drive_max_force[item, block]
            excess = absolute(force) - limit
            effort = control.joint_effort[item, block] + where_positive(force, limit, neg(limit))
            work.effort[dof, worker] = where_positive(excess, effort, work.effort[dof, worker])
            viscous = model.friction_viscous[item, block]
            work.damper[dof, worker] = where_positive(excess, viscous, work.damper[dof, worker])


@wp.func
def saturated_weight(model: ModelArrays, work: WorkArrays, row: int, worker: int, free: Real):
    """The weight of a dof by a drive that has left the factors: theta where it follows its own law."""
    item = model.row_item[row]
    within = work.impulse_bounds[2 * row, worker] - absolute(work.impulse[row, worker])
    of_law = minimum(within, real(1.5, free) - work.saturated[item, worker])
    return where_positive(of_law, work.drive_theta[item, worker], free)


@wp.func
def measure_drive(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write the effective inertia 1 / (M^-1)_ii of the dof of an acceleration drive."""
    one = real(1.0, work.D_inverse[0, worker])
    item = model.row_item[row]
    set_unit_jacobian(model, work, row, worker, one)
    inertia = one / delassus_entry(model, work, row, worker)
    work.drive_scale[item, worker] = where_positive(model.is_acceleration_drive[item, block], inertia, one)


def _leaves_the_factors(dof: Dof) -> bool:
    """Whether a dof has a drive that is more than a spring and a damper that are always folded in."""
    drive = dof.drive
    if drive is None:
        return False
    return math.isfinite(drive.max_force) or drive.kind is DriveKind.ACCELERATION or drive.has_envelope


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    return places_of_dofs(layout, _leaves_the_factors)


def _any_drive(has) -> Callable[[Articulation], bool]:
    return lambda articulation: any(dof.drive is not None and has(dof.drive) for dof in articulation.dofs)


def _of_drives(name: str, value: Callable[[Drive], float], allowed=None, flag: str | None = None):
    return of_dofs(name, lambda dof: value(dof.drive or Drive()), allowed, flag)


DRIVE = ConstraintFamily(
    name="drive",
    order=DRIVE_ORDER,
    part=ForcePart.DRIVE,
    places=_places,
    traits=HAS_OWN_WEIGHT | ON_ONE_DOF,
    law=set_drive_row,
    measure=measure_drive,
    parameters=(
        _of_drives("is_acceleration_drive", lambda drive: float(drive.kind is DriveKind.ACCELERATION)),
        _of_drives("drive_stiffness", lambda drive: drive.stiffness, NOT_NEGATIVE),
        _of_drives("drive_damping", lambda drive: drive.damping, NOT_NEGATIVE),
        _of_drives("drive_max_force", lambda drive: drive.max_force, LARGEST),
        _of_drives("drive_max_velocity", lambda drive: drive.max_velocity, LARGEST, "drive_envelopes"),
        _of_drives("drive_velocity_gradient", lambda drive: drive.velocity_gradient, NOT_NEGATIVE, "drive_envelopes"),
        _of_drives(
            "drive_velocity_resistance", lambda drive: drive.velocity_resistance, NOT_NEGATIVE, "drive_envelopes"
        ),
    ),
    flags={
        "acceleration_drives": _any_drive(lambda drive: drive.kind is DriveKind.ACCELERATION),
        "drive_envelopes": _any_drive(lambda drive: drive.has_envelope),
    },
)
"""Drives that can leave the factors; they are smooth forces, and the integrator "rk4" has them too."""
