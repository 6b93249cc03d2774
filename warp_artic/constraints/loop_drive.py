"""Drives of the free axes of loop joints: rows of springs and dampers, bounded as a whole, as in `spring`.

Of one coordinate y of `loop_axis` (a translation, one rotation, the twist or the swing of a universal joint):
    f = k (y* - y) + d (v* - ydot),   |f| <= f_max
where of y* - y of a twist the shortest way is meant.
Of several rotations the rows are about the axes a_i of frame 1, on which the torque is
    f_i = tau_i + d_i (v*_i - a_i . w),   |f_i| <= f_max,   w = w_1 - w_0
with the tau of a potential, that of joints of trees (`rotation_drive`), or for a slerp drive
    tau_i = - k_i phi_i,   phi the rotation vector, of at most half a turn, that turns the target into the pose.
A step takes tau where links are placed, and lets it give way by the sum of the entries of a row of the matrix K of the
potential, or by k_i: these bound how it changes, so that any k is stable, and it is of second order.

An acceleration drive has its gains multiplied by 1 / (J M^-1 J^T) of its row, M with armature but without drives.
"""

import math

import warp as wp

from warp_artic.constraints.loop_axis import axis_places, of_axes, place_loop_axis, shortest, take_loop_axis_off
from warp_artic.constraints.rows import mobility, row_rate, set_bounds
from warp_artic.constraints.spring import set_law_row, spring_theta
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    div,
    maximum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.allowed_values import FINITE, LARGEST, NOT_NEGATIVE
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import PUSHES_LINKS, ConstraintFamily
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.kinds import LOOP_TWIST
from warp_artic.phases.implicit import spring_drag, spring_slope


@wp.func
def loop_drive_gains(model: ModelArrays, work: WorkArrays, item: int, column: int, slot: int):
    """k and d of a drive, of force type."""
    k = model.loop_drive_stiffness[item, column]
    d = model.loop_drive_damping[item, column]
    if model.acceleration_loop_drives == 1:
        k = k * work.loop_drive_scale[item, slot]
        d = d * work.loop_drive_scale[item, slot]
    return k, d


@wp.func
def set_loop_drive_gradient(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Write J, and by how far the coordinate is from its target; says whether any environment has gains."""
    item = model.row_item[row]
    y, c = place_loop_axis(model, work, row, column, slot)
    away = y - model.loop_drive_position_target[item, column]
    if model.loop_axis_kind[item] == LOOP_TWIST:
        away = shortest(shortest(away))
    k, d = loop_drive_gains(model, work, item, column, slot)
    work.loop_drive_torque[row, slot] = k * away
    work.loop_drive_spring[row, slot] = k
    return any_positive(k + d)


@wp.func
def set_loop_drive_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of a drive."""
    item = model.row_item[row]
    authored, d = loop_drive_gains(model, work, item, column, slot)
    k = work.loop_drive_spring[row, slot]
    theta = spring_theta(work, row, slot, k, d, h)
    # What has been lost where the links are placed, and on the way there from the start.
    lost = work.loop_drive_torque[row, slot] + k * row_rate(model, work, work.shift, row, slot)
    lost = lost + spring_drag(k, d, theta, work.least[0, slot], h) * row_rate(model, work, work.v, row, slot)
    lost = lost - d * model.loop_drive_velocity_target[item, column]
    set_law_row(work, row, slot, lost, spring_slope(k, d, theta, h), h)
    limit = h * model.loop_drive_max_force[item, column]
    set_bounds(work, row, slot, limit, limit)


@wp.func
def measure_loop_drive(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Write the effective inertia of the row of an acceleration drive."""
    one = real(1.0, work.D_inverse[0, slot])
    item = model.row_item[row]
    place_loop_axis(model, work, row, column, slot)
    inertia = one / mobility(model, work, row, slot)
    work.loop_drive_scale[item, slot] = where_positive(model.is_acceleration_loop_drive[item, column], inertia, one)


def _accelerates(articulation: Articulation) -> bool:
    """Whether any drive of a loop joint is an acceleration drive."""
    loops = articulation.constraints_of(LoopJoint)
    return any(drive.kind is DriveKind.ACCELERATION for loop in loops if loop.enabled for _, drive in loop.drives)


def _number(name: str, value, allowed=None):
    return of_axes(name, lambda own: [value(own.drive or Drive())], allowed)


LOOP_DRIVE = ConstraintFamily(
    name="loop drive",
    order=120,
    label=("drive of a loop joint", "drives of loop joints"),
    part=ForcePart.DRIVE,
    places=lambda articulation, layout: axis_places(articulation, layout, lambda own: own.drive is not None),
    traits=PUSHES_LINKS,
    acts_always=True,
    needs_places=True,
    law=set_loop_drive_row,
    gradient=set_loop_drive_gradient,
    measure=measure_loop_drive,
    take_off=take_loop_axis_off,
    parameters=(
        _number("is_acceleration_loop_drive", lambda drive: float(drive.kind is DriveKind.ACCELERATION)),
        _number("loop_drive_stiffness", lambda drive: drive.stiffness, NOT_NEGATIVE),
        _number("loop_drive_damping", lambda drive: drive.damping, NOT_NEGATIVE),
        _number("loop_drive_position_target", lambda drive: drive.position_target, FINITE),
        _number("loop_drive_velocity_target", lambda drive: drive.velocity_target, FINITE),
        _number("loop_drive_max_force", lambda drive: drive.max_force, LARGEST),
    ),
    flags={"acceleration_loop_drives": _accelerates},
    scratch={
        "loop_drive_torque": lambda tree: len(tree.rows) * (tree.count(LOOP_DRIVE) > 0),
        "loop_drive_spring": lambda tree: len(tree.rows) * (tree.count(LOOP_DRIVE) > 0),
        "loop_drive_scale": lambda tree: tree.kinds["loop_axis"] * (tree.count(LOOP_DRIVE) > 0),
    },
)
"""Smooth forces, but rows of an island that the integrator "rk4" does not have."""
