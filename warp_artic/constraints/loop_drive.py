"""Drives of the free axes of loop joints: rows of springs and dampers, bounded as a whole, as in `spring`.

Of one coordinate y of `loop_axis` (a translation, one rotation, the twist or the swing of a universal joint):
    f = k (y* - y) + d (v* - ydot),   |f| <= f_max
where of y* - y of a twist the shortest way is meant.
Of several rotations the rows are about the axes a_i of frame 1, on which the torque is
    f_i = tau_i + d_i (v*_i - a_i . w),   |f_i| <= f_max,   w = w_1 - w_0
with the tau of a potential, that of joints of trees (`rotation_drive`), or for a slerp drive
    tau_i = k_i phi_i,   phi the rotation vector of the shortest turn from the pose to the target, |phi| <= pi.
The potential of one axis has a torque about all of them, so that every free rotation has a row: without gains of its
own it has its tau_i alone, unbounded, as in trees.
Without a twist tau is the torque of a zero-twist joint up to `joints.swing.FAR`, and falls short of it beyond.
A step takes tau where links are placed, and lets it give way by the sum of the entries of a row of the matrix K of the
potential, or by k_i: these bound how it changes, so that any k is stable, and it is of second order.

An acceleration drive has its gains multiplied by 1 / (J M^-1 J^T) of its row, M with armature but without drives, and
without what loop joints hold.
"""

import warp as wp

from warp_artic.constraints.loop_axis import followed, leave_broken, loop_items, of_axes, place_loop_axis, shortest
from warp_artic.constraints.loop_geometry import frame_axes, loops
from warp_artic.constraints.loop_rate import acts_on_rates, place_turn_about
from warp_artic.constraints.rotation_coordinates import component
from warp_artic.constraints.rotation_drive import ball_torque, drive_error, swing_torque, sym_entry
from warp_artic.constraints.rows import delassus_entry, row_rate, set_impulse_bounds
from warp_artic.constraints.spring import set_law_row, spring_theta
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.joint import Axis
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Sym3,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.rotation import quaternion_from_matrix, quaternion_log
from warp_artic.math.spatial import mat_mul, transpose
from warp_artic.model.allowed_values import FINITE, LARGEST, NOT_NEGATIVE
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.model.kinds import LOOP_TWIST, TURN_NONE, TURN_POTENTIAL, TURN_SLERP
from warp_artic.phases.implicit import spring_drag, spring_slope

ROTATIONS = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)


@wp.func
def loop_drive_gains(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """k and d of a drive, of force type."""
    k = model.loop_drive_stiffness[item, block]
    d = model.loop_drive_damping[item, block]
    if model.acceleration_loop_drives == 1:
        k = k * work.loop_drive_scale[item, worker]
        d = d * work.loop_drive_scale[item, worker]
    return k, d


@wp.func
def set_loop_drive_gradient(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J, and what the spring has lost where the links are placed; says whether it acts in any environment."""
    item = model.row_item[row]
    k, d = loop_drive_gains(model, work, item, block, worker)
    if model.loop_axis_turn[item] == TURN_NONE:
        y, c = place_loop_axis(model, work, row, block, worker)
        away = y - model.loop_drive_position_target[item, block]
        if model.loop_axis_kind[item] == LOOP_TWIST:
            away = shortest(shortest(away))
        work.loop_drive_torque[row, worker] = k * away
        work.loop_drive_spring[row, worker] = k
    else:
        tau, spring = place_turn(model, work, row, block, worker)
        work.loop_drive_torque[row, worker] = neg(tau)
        work.loop_drive_spring[row, worker] = spring
        k = k + spring
    return any_positive(k + d)


@wp.func
def place_turn(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """tau_i of a row about an axis, and what bounds its stiffness; writes J."""
    item = model.row_item[row]
    loop = model.loop_axis_loop[item]
    axis = (model.loop_axis_part[item] + model.loop_axis[loop]) % 3
    place_turn_about(model, work, row, block, worker)
    R_0 = frame_axes(work.R_WM, model.loop_link0[loop], model.loop_frame0, loop, block, worker)
    R_1 = frame_axes(work.R_WM, model.loop_link1[loop], model.loop_frame1, loop, block, worker)
    x, w = quaternion_from_matrix(mat_mul(transpose(R_0), R_1))
    q = quaternion_log(x, w)
    k = of_rotations(model, model.loop_drive_stiffness, loop, block)
    if model.acceleration_loop_drives == 1:
        k = scaled(model, work, k, loop, worker)
    target = of_rotations(model, model.loop_drive_position_target, loop, block)
    if model.loop_axis_turn[item] == TURN_SLERP:
        y, s = drive_error(q, target)
        return component(quaternion_log(y, s), axis) * component(k, axis), component(k, axis)
    if model.loop_axis_turn[item] == TURN_POTENTIAL:
        tau, K = ball_torque(q, target, k, real(0.0, w))
        return component(tau, axis), stiffness_about(K, axis)
    first = (model.loop_axis[loop] + 1) % 3
    own = model.loop_axis_part[item] - 1
    torque, L = swing_torque(swings(followed(q, first)), swings(followed(target, first)), followed(k, first))
    return component(torque, own), stiffness_about(L, own)


@wp.func
def swings(v: Vec3):
    """A rotation vector in the axes of both swings, and then the twist, without that."""
    return vec3(v.x, v.y, real(0.0, v.x))


@wp.func
def of_rotations(model: ModelArrays, values: Array, loop: int, block: int):
    """What the rotations of a loop joint have in an array; zero where nothing acts."""
    zero = real(0.0, values[0, block])
    v = vec3(zero, zero, zero)
    for axis in range(3):
        item = model.loop_rotation_items[3 * loop + axis]
        value = zero
        if item >= 0:
            value = values[item, block]
        if axis == 0:
            v.x = value
        if axis == 1:
            v.y = value
        if axis == 2:
            v.z = value
    return v


@wp.func
def scaled(model: ModelArrays, work: WorkArrays, k: Vec3, loop: int, worker: int):
    """Gains of the rotations of a loop joint, of force type."""
    v = vec3(k.x, k.y, k.z)
    for axis in range(3):
        item = model.loop_rotation_items[3 * loop + axis]
        if item >= 0:
            scale = work.loop_drive_scale[item, worker]
            if axis == 0:
                v.x = v.x * scale
            if axis == 1:
                v.y = v.y * scale
            if axis == 2:
                v.z = v.z * scale
    return v


@wp.func
def stiffness_about(K: Sym3, axis: int):
    """The sum of the entries of a row of K, without their signs."""
    x = absolute(sym_entry(K, axis, 0))
    return x + absolute(sym_entry(K, axis, 1)) + absolute(sym_entry(K, axis, 2))


@wp.func
def set_loop_drive_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a drive."""
    item = model.row_item[row]
    authored, d = loop_drive_gains(model, work, item, block, worker)
    k = work.loop_drive_spring[row, worker]
    theta = spring_theta(work, row, worker, k, d, h)
    # What has been lost where the links are placed, and on the way there from the start.
    lost = work.loop_drive_torque[row, worker] + k * row_rate(model, work, work.shift, row, worker)
    lost = lost + spring_drag(k, d, theta, work.position_weight[0, worker], h) * row_rate(
        model, work, work.v, row, worker
    )
    lost = lost - d * model.loop_drive_velocity_target[item, block]
    set_law_row(work, row, worker, lost, spring_slope(k, d, theta, h), h)
    limit = h * model.loop_drive_max_force[item, block]
    set_impulse_bounds(work, row, worker, limit, limit)
    leave_broken(model, work, row, worker)


@wp.func
def measure_loop_drive(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write the effective inertia of the row of an acceleration drive."""
    one = real(1.0, work.D_inverse[0, worker])
    item = model.row_item[row]
    # tau is of no account, but it reads the scales.
    for axis in range(3):
        other = model.loop_rotation_items[3 * model.loop_axis_loop[item] + axis]
        if other > item:
            work.loop_drive_scale[other, worker] = one
    work.loop_drive_scale[item, worker] = one
    set_loop_drive_gradient(model, work, row, block, worker, h)
    inertia = one / delassus_entry(model, work, row, worker)
    work.loop_drive_scale[item, worker] = where_positive(model.is_acceleration_loop_drive[item, block], inertia, one)


def _accelerates(articulation: Articulation) -> bool:
    """Whether any drive of a loop joint is an acceleration drive."""
    loops = articulation.constraints_of(LoopJoint)
    return any(drive.kind is DriveKind.ACCELERATION for loop in loops if loop.enabled for _, drive in loop.drives)


def _rotations(articulation: Articulation) -> tuple[int, ...]:
    """Of each loop joint the axes of its three rotations among all on which something acts, or -1."""
    items = {(item.loop, item.own.axis): number for number, item in enumerate(loop_items(articulation))}
    return tuple(items.get((loop, axis), -1) for loop in range(len(loops(articulation))) for axis in ROTATIONS)


def _number(name: str, value, allowed=None):
    return of_axes(name, lambda own: [value(own.drive or Drive())], allowed)


LOOP_DRIVE = acts_on_rates(
    lambda own: own.drive is not None,
    name="loop drive",
    order=120,
    label=("drive of a loop joint", "drives of loop joints"),
    law=set_loop_drive_row,
    gradient=set_loop_drive_gradient,
    measure=measure_loop_drive,
    parameters=(
        _number("is_acceleration_loop_drive", lambda drive: float(drive.kind is DriveKind.ACCELERATION)),
        _number("loop_drive_stiffness", lambda drive: drive.stiffness, NOT_NEGATIVE),
        _number("loop_drive_damping", lambda drive: drive.damping, NOT_NEGATIVE),
        _number("loop_drive_position_target", lambda drive: drive.position_target, FINITE),
        _number("loop_drive_velocity_target", lambda drive: drive.velocity_target, FINITE),
        _number("loop_drive_max_force", lambda drive: drive.max_force, LARGEST),
    ),
    flags={"acceleration_loop_drives": _accelerates},
    structure=_rotations,
    tables={"loop_rotation_items": lambda tree: tree.structure_of(LOOP_DRIVE)},
    scratch={
        "loop_drive_torque": lambda tree: len(tree.rows) * (tree.count(LOOP_DRIVE) > 0),
        "loop_drive_spring": lambda tree: len(tree.rows) * (tree.count(LOOP_DRIVE) > 0),
        "loop_drive_scale": lambda tree: tree.kinds["loop_axis"] * (tree.count(LOOP_DRIVE) > 0),
    },
)
"""Smooth forces, but rows of an island that the integrator "rk4" does not have."""
