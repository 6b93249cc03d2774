"""What is reported of loop joints: by how much they are open, and what they do to their links.

The load is force and torque on link 1 in frame 1, about its origin, of the axes that a joint holds and of the limits
of the others, hard and soft. Drives of free axes, their friction and armature and velocity limits are not in it.

Source: document 004 (force reporting, breakage).
"""

import warp as wp

from warp_artic.constraints.loop_axis import loop_axis_at_end, loop_axis_motion
from warp_artic.constraints.loop_geometry import frame_axes, frame_origin, held_rotation, is_first_row
from warp_artic.constraints.rotation_coordinates import component
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    arctan2,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.rotation import quaternion_from_matrix
from warp_artic.math.spatial import column, cross, dot, mat_mul, transpose, transpose_mul
from warp_artic.model.arrays import Array, ModelArrays, ReportArrays, StateArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.model.families import Measure
from warp_artic.model.kinds import LOOP_AXIS, LOOP_LOCKED, LOOP_RANGE, LOOP_UNIVERSAL, LOOP_ZERO_TWIST
from warp_artic.phases.outputs import report_value
from warp_artic.phases.transmitted_forces import subtract_force, subtract_wrench

LOOP_FORCE = Measure(
    name="loop_force",
    meaning="Mean force [N], then torque [N m], of the axes that it holds and of its limits on the second body over "
    "the last step before a record, in the second joint frame about its origin; where loop joints are redundant, the "
    "loads with the least sum of squares",
    size=6,
)


@wp.func
def take_loop_joint_off(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, force: Real):
    """Take what a held axis does to its links off what these need: other joints do not transmit it."""
    loop = model.row_item[row] // 6
    axis = model.row_item[row] % 6
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    R_0 = frame_axes(work.R_WM, inner, model.loop_frame0, loop, block, worker)
    if axis < 3:
        F = column(R_0, axis) * force
        x_1 = frame_origin(work.R_WM, work.p_WM, outer, model.loop_frame1, loop, block, worker)
        x_0 = frame_origin(work.R_WM, work.p_WM, inner, model.loop_frame0, loop, block, worker)
        if model.loop_slides[loop] == 1:
            x_0 = x_1
        subtract_force(model, work, outer, x_1, F, worker)
        subtract_force(model, work, inner, x_0, neg(F), worker)
    else:
        R_1 = frame_axes(work.R_WM, outer, model.loop_frame1, loop, block, worker)
        w_0 = load_vec3(work.w, 3 * inner, worker)
        n, ndot, phi = held_rotation(model, loop, axis - 3, R_0, R_1, w_0, load_vec3(work.w, 3 * outer, worker))
        if outer < model.link_count:
            subtract_wrench(work, outer, worker, n - n, n * force)
        if inner < model.link_count:
            subtract_wrench(work, inner, worker, n - n, n * neg(force))


@wp.func
def report_loop(
    model: ModelArrays, state: StateArrays, work: WorkArrays, report: ReportArrays, row: int, block: int, worker: int
):
    """Write by how much a loop joint is open, with its first row: along the axes that it holds, and about them."""
    loop = model.row_item[row] // 6
    if is_first_row(model, row, loop):
        inner = model.loop_link0[loop]
        outer = model.loop_link1[loop]
        R_0 = frame_axes(work.R_WM, inner, model.loop_frame0, loop, block, worker)
        R_1 = frame_axes(work.R_WM, outer, model.loop_frame1, loop, block, worker)
        x_1 = frame_origin(work.R_WM, work.p_WM, outer, model.loop_frame1, loop, block, worker)
        d = x_1 - frame_origin(work.R_WM, work.p_WM, inner, model.loop_frame0, loop, block, worker)
        squares = real(0.0, d.x)
        held = int(0)
        for other in range(row, row + model.loop_rows[loop]):
            axis = model.row_item[other] % 6
            held = axis % 3
            if axis < 3:
                phi = dot(column(R_0, axis), d)
                squares = squares + phi * phi
        failure = state.failure[0, block]
        report_value(report.loop_error, 2 * loop, block, failure, sqrt(squares))
        report_value(report.loop_error, 2 * loop + 1, block, failure, held_angle(model, loop, held, R_0, R_1))


@wp.func
def held_angle(model: ModelArrays, loop: int, held: int, R_0: Mat3, R_1: Mat3):
    """The angle by which frames are turned against each other about the axes that are held, `held` the last of them."""
    kind = model.loop_rotation[loop]
    axis = model.loop_axis[loop]
    zero = real(0.0, R_0.x.x)
    two = real(2.0, zero)
    angle = zero
    if kind == LOOP_LOCKED:
        q, w = quaternion_from_matrix(mat_mul(transpose(R_0), R_1))
        angle = two * arctan2(sqrt(dot(q, q)), absolute(w))
    if kind == LOOP_AXIS:
        a_0 = column(R_0, axis)
        a_1 = column(R_1, axis)
        turned = cross(a_0, a_1)
        angle = arctan2(sqrt(dot(turned, turned)), dot(a_0, a_1))
    if kind == LOOP_ZERO_TWIST:
        q, w = quaternion_from_matrix(mat_mul(transpose(R_0), R_1))
        angle = two * arctan2(absolute(component(q, axis)), absolute(w))
    if kind == LOOP_UNIVERSAL:
        # The held axis is across the twist of frame 1 and the free swing of frame 0, which are to stay at right angles.
        a_1 = column(R_1, axis)
        b_0 = column(R_0, 3 - axis - held)
        across = cross(a_1, b_0)
        angle = arctan2(absolute(dot(a_1, b_0)), sqrt(dot(across, across)))
    return angle


@wp.func
def add_loop_load(
    model: ModelArrays, work: WorkArrays, values: Array, row: int, place: int, block: int, worker: int, force: Real
):
    """Add what a held axis does to link 1: force and torque in frame 1, about its origin, in a column of six rows."""
    add_load_at(model, work.R_WM, work.w, values, row, place, block, worker, force)


@wp.func
def add_closing_load(
    model: ModelArrays, work: WorkArrays, values: Array, row: int, place: int, block: int, worker: int, force: Real
):
    """The same at the end of a step, where `phases.link_frames.pose_links` has placed the links."""
    add_load_at(model, work.end_rotation, work.end_spin, values, row, place, block, worker, force)


@wp.func
def add_load_at(
    model: ModelArrays,
    rotations: Array,
    spins: Array,
    values: Array,
    row: int,
    place: int,
    block: int,
    worker: int,
    force: Real,
):
    """Add the load of a held axis where links have these rotations and angular velocities."""
    loop = model.row_item[row] // 6
    axis = model.row_item[row] % 6
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    R_0 = frame_axes(rotations, inner, model.loop_frame0, loop, block, worker)
    R_1 = frame_axes(rotations, outer, model.loop_frame1, loop, block, worker)
    w_0 = load_vec3(spins, 3 * inner, worker)
    if axis < 3:
        add_force(values, loop, place, transpose_mul(R_1, column(R_0, axis)) * force)
    else:
        n, ndot, phi = held_rotation(model, loop, axis - 3, R_0, R_1, w_0, load_vec3(spins, 3 * outer, worker))
        add_turn(values, loop, place, transpose_mul(R_1, n) * force)


@wp.func
def add_force(values: Array, loop: int, place: int, F: Vec3):
    """Add to the force of a loop joint."""
    store_vec3(values, 6 * loop, place, load_vec3(values, 6 * loop, place) + F)


@wp.func
def add_turn(values: Array, loop: int, place: int, turn: Vec3):
    """Add to its torque."""
    store_vec3(values, 6 * loop + 3, place, load_vec3(values, 6 * loop + 3, place) + turn)


@wp.func
def loop_of_axis(model: ModelArrays, row: int):
    """The loop joint of a row on a free axis."""
    return model.loop_axis_loop[model.row_item[row]]


@wp.func
def add_limit_load(
    model: ModelArrays, work: WorkArrays, values: Array, row: int, place: int, block: int, worker: int, force: Real
):
    """Add what a limit of a free axis does to link 1, as `add_loop_load` does for a held one."""
    y, n, c, x_1 = loop_axis_motion(model, work, model.row_item[row], block, worker)
    add_along(model, work.R_WM, values, row, place, block, worker, n * force)


@wp.func
def add_closing_limit_load(
    model: ModelArrays, work: WorkArrays, values: Array, row: int, place: int, block: int, worker: int, force: Real
):
    """The same at the end of a step, where `phases.link_frames.pose_links` has placed the links."""
    y, rate, n, x_1 = loop_axis_at_end(model, work, model.row_item[row], block, worker)
    add_along(model, work.end_rotation, values, row, place, block, worker, n * force)


@wp.func
def add_along(
    model: ModelArrays, rotations: Array, values: Array, row: int, place: int, block: int, worker: int, load: Vec3
):
    """Add a force at the origin of frame 1, or a torque, of a row on a free axis where links have these rotations."""
    loop = loop_of_axis(model, row)
    R_1 = frame_axes(rotations, model.loop_link1[loop], model.loop_frame1, loop, block, worker)
    if model.loop_axis_kind[model.row_item[row]] <= LOOP_RANGE:
        add_force(values, loop, place, transpose_mul(R_1, load))
    else:
        add_turn(values, loop, place, transpose_mul(R_1, load))
