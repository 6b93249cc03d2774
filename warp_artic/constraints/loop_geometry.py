"""Where the two frames of a loop joint are, how they move against each other, and J of what they hold.

The frames are 0 and 1, on links or the world; `loop_joint` has the laws of held axes, `loop_axis` what acts on the
others. The links are where `work` has placed them, in the middle of a step or at its end.
"""

import warp as wp

from warp_artic.constraints.loop_place import LoopPlace
from warp_artic.constraints.loop_scales import scaled_excess
from warp_artic.constraints.rotation_coordinates import component
from warp_artic.constraints.rows import REDUNDANT, set_jacobian_entry
from warp_artic.description.articulation import Articulation
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    arctan2,
    div,
    mat3,
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
from warp_artic.math.rotation import quaternion_from_matrix, ratio
from warp_artic.math.spatial import column, cross, dot, mat_mul, transpose
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_mat3, load_vec3
from warp_artic.model.dofs import DofLayout
from warp_artic.model.kinds import LOOP_AXIS, LOOP_LOCKED, LOOP_UNIVERSAL, LOOP_ZERO_TWIST
from warp_artic.phases.point_motion import point_velocity

LOOP_JOINT_ORDER = wp.constant(795)
"""Of the family of held axes, `loop_joint`."""


@wp.func
def is_first_row(model: ModelArrays, row: int, loop: int):
    """Whether a row is the first one of the held axes of a loop joint."""
    before = wp.max(row - 1, 0)
    return row == 0 or model.row_item[before] // 6 != loop or model.row_family[before] != LOOP_JOINT_ORDER


@wp.func
def velocity_seen(model: ModelArrays, work: WorkArrays, loop: int, x_0: Vec3, x_1: Vec3, worker: int):
    """u with `work.v_middle`, where the links are placed."""
    inner = model.loop_link0[loop]
    meet = model.loop_meet[loop]
    v_1 = point_velocity(model, work, model.loop_link1[loop], meet, x_1, work.v_middle, worker)
    v_0 = point_velocity(model, work, inner, meet, x_0, work.v_middle, worker)
    turn = load_vec3(work.w, 3 * meet, worker) - load_vec3(work.w, 3 * inner, worker)
    return v_1 - v_0 + cross(turn, x_1 - x_0)


@wp.func
def bias_seen(linear: Vec3, w_0: Vec3, wdot_0: Vec3, arm: Vec3, u: Vec3):
    """The acceleration of the origin 1 as it is seen from frame 0, from that of the origins against each other."""
    return linear - cross(wdot_0, arm) - cross(w_0, u + u + cross(w_0, arm))


@wp.func
def spin_bias(model: ModelArrays, work: WorkArrays, tip: int, until: int, worker: int):
    """The angular acceleration of a link while vdot is zero, without what is that of the link `until`."""
    link = int(tip)
    zero = real(0.0, work.D_inverse[0, worker])
    total = vec3(zero, zero, zero)
    while link != until:
        total = total + load_vec3(work.velocity_moment, 3 * link, worker)
        link = model.link_parent[link]
    return total


@wp.func
def frame_origin(rotations: Array, origins: Array, link: int, frames: Array, loop: int, block: int, worker: int):
    """Where the origin of a frame of a loop joint on a link is in the world."""
    r = load_mat3(rotations, 9 * link, worker) * load_vec3(frames, 12 * loop + 9, block)
    return load_vec3(origins, 3 * link, worker) + r


@wp.func
def frame_axes(rotations: Array, link: int, frames: Array, loop: int, block: int, worker: int):
    """Orientation of a frame of a loop joint on a link in the world."""
    return mat_mul(load_mat3(rotations, 9 * link, worker), load_mat3(frames, 12 * loop, block))


@wp.func
def held_rotation(model: ModelArrays, loop: int, axis: int, R_0: Mat3, R_1: Mat3, w_0: Vec3, w_1: Vec3):
    """n of a held rotation, its rate, and phi."""
    kind = model.loop_rotation[loop]
    one = real(1.0, R_0.x.x)
    two = real(2.0, one)
    e = column(R_0, axis)
    n = e
    ndot = cross(w_0, e)
    phi = one - one
    if kind == LOOP_LOCKED:
        q, w = quaternion_from_matrix(mat_mul(transpose(R_0), R_1))
        phi = two * component(q, axis)
    if kind == LOOP_AXIS:
        a_0 = column(R_0, model.loop_axis[loop])
        a_1 = column(R_1, model.loop_axis[loop])
        # |a_0 x a_1| is the sine: half of the angle has a sine that grows up to half a turn.
        cosine = maximum(one + dot(a_0, a_1), ratio(1.0, 1000000.0, one))
        phi = dot(e, cross(a_0, a_1)) * sqrt(two / cosine)
    if kind == LOOP_ZERO_TWIST:
        q, w = quaternion_from_matrix(mat_mul(transpose(R_0), R_1))
        phi = two * arctan2(component(q, axis), w)
        a_0 = column(R_0, axis)
        a_1 = column(R_1, axis)
        a_0dot = cross(w_0, a_0)
        a_1dot = cross(w_1, a_1)
        scale = one / maximum(one + dot(a_0, a_1), ratio(1.0, 1000000.0, one))
        n = (a_0 + a_1) * scale
        ndot = (a_0dot + a_1dot - n * (dot(a_0dot, a_1) + dot(a_0, a_1dot))) * scale
    if kind == LOOP_UNIVERSAL:
        twist = model.loop_axis[loop]
        swing = 3 - twist - axis
        sign = one
        if (twist + 1) % 3 != swing:
            sign = neg(one)
        a_1 = column(R_1, twist)
        b_0 = column(R_0, swing)
        phi = sign * dot(a_1, b_0)
        n = cross(a_1, b_0) * sign
        ndot = (cross(cross(w_1, a_1), b_0) + cross(a_1, cross(w_0, b_0))) * sign
    return n, ndot, phi


@wp.func
def set_loop_jacobian(model: ModelArrays, work: WorkArrays, at: LoopPlace, row: int, is_linear: bool, n: Vec3):
    """Write J of  n . (velocity of the point x_1 of link 1, less that of x_0 on link 0), or of angular velocities."""
    set_jacobian_along(model, work, at, row, 1, is_linear, mat3(n, n, n))


@wp.func
def set_jacobian_along(
    model: ModelArrays, work: WorkArrays, at: LoopPlace, first: int, count: int, is_linear: bool, along: Mat3
):
    """Write J as `set_loop_jacobian` does, of `count` rows from the first one on, which may be several held axes.

    Row k of `along` is n of the axes of which the numbers are k and k + 3. A row across all that the joints of the loop
    can do, as out of the plane of a linkage, has a J of rounding, or of the errors of frames, and no part that could be
    told redundant: it is zero, and `work.loop_acts` too, which else is one. P is J^T but where the joint scales
    inverse masses (`loop_scales`).
    Returns the sum of the squares of the arms of rotations, or the number of these for rows of angular velocities.
    """
    zero = real(0.0, at.x_0.x)
    own = at.x_0 * zero
    whole = zero
    reach = zero
    entry = int(0)
    worker = at.worker
    meet = model.loop_meet[at.loop]
    link = int(model.loop_link1[at.loop])
    x = at.x_1
    sign = real(1.0, zero)
    for side in range(2):
        if side == 1:
            link = model.loop_link0[at.loop]
            x = at.x_0
            sign = neg(sign)
        while link != meet:
            dofs = model.link_dof[link]
            arm = x - load_vec3(at.origins, 3 * link, worker)
            for dof in range(dofs, dofs + model.link_dofs[link]):
                s = load_vec3(at.axes, 3 * dof, worker)
                slides = model.dof_is_linear[dof] == 1
                if is_linear:
                    if not slides:
                        s = cross(s, arm)
                elif slides:
                    s = s * zero
                square = dot(s, s)
                whole = whole + square
                if not slides:
                    reach = reach + square
                parts = along * s * sign
                own = own + vec3(parts.x * parts.x, parts.y * parts.y, parts.z * parts.z)
                for row in range(first, first + count):
                    term = model.row_term[row] + entry
                    set_jacobian_entry(work, term, worker, component(parts, model.row_item[row] % 3))
                if model.scaled_loops == 1:
                    for row in range(first, first + count):
                        n = row_of(along, model.row_item[row] % 3) * sign
                        force, moment = scaled_excess(model, at, side, link, is_linear, n, arm)
                        excess = dot(load_vec3(at.axes, 3 * dof, worker), moment)
                        if slides:
                            excess = dot(load_vec3(at.axes, 3 * dof, worker), force)
                        term = model.row_term[row] + entry
                        work.P[term, worker] = work.J[term, worker] + excess
                entry += 1
            link = model.link_parent[link]
    least = whole * real(REDUNDANT, zero)
    for row in range(first, first + count):
        acts = where_positive(component(own, model.row_item[row] % 3) - least, real(1.0, zero), zero)
        work.loop_acts[row, worker] = acts
        if any_positive(real(1.0, zero) - acts):
            for k in range(model.row_term[row], model.row_term[row] + entry):
                work.J[k, worker] = work.J[k, worker] * acts
                work.P[k, worker] = work.P[k, worker] * acts
    return reach


@wp.func
def set_held_axes(
    model: ModelArrays, work: WorkArrays, at: LoopPlace, first: int, turns: int, end: int, R_0: Mat3, along: Mat3
):
    """Write J of held translations, the rows before `turns`, and of held rotations, with n as rows; squares of arms."""
    arms = at.x_0.x - at.x_0.x
    turning = arms
    if turns > first:
        arms = set_jacobian_along(model, work, at, first, turns - first, True, transpose(R_0))
    if turns < end:
        turning = set_jacobian_along(model, work, at, turns, end - turns, False, along)
    return arms, turning


@wp.func
def set_doubt(model: ModelArrays, work: WorkArrays, first: int, turns: int, end: int, arms: Real, worker: int):
    """Write the share of G_aa that may be off the path: 8 gaps by the arms.

    Where a share of J squared is above that, it is of the path (Kantorovich). A small share of a row that is not
    redundant may be that of a light link.
    """
    square = arms - arms
    for row in range(first, turns):
        square = square + work.loop_gap[row, worker] * work.loop_gap[row, worker]
    doubt = sqrt(square / where_positive(arms, arms, real(1.0, arms)))
    doubt = minimum(doubt * real(8.0, arms), ratio(1.0, 100.0, arms))
    for row in range(first, end):
        work.doubt[row, worker] = doubt * real(float(model.loop_is_redundant[model.row_item[row] // 6]), arms)


@wp.func
def with_row(A: Mat3, index: int, v: Vec3):
    """A matrix with another row 0, 1 or 2."""
    if index == 0:
        return mat3(v, A.y, A.z)
    if index == 1:
        return mat3(A.x, v, A.z)
    return mat3(A.x, A.y, v)


@wp.func
def row_of(A: Mat3, index: int):
    """Row 0, 1 or 2 of a matrix."""
    if index == 0:
        return A.x
    if index == 1:
        return A.y
    return A.z


def loops(articulation: Articulation) -> tuple[LoopJoint, ...]:
    """Those that are enabled."""
    return tuple(loop for loop in articulation.constraints_of(LoopJoint) if loop.enabled)


def joined_dofs(loop: LoopJoint, layout: DofLayout) -> tuple[int, ...]:
    """The dofs from the second link to where the paths meet, then those of the first."""
    first, second = layout.inward(loop.link0), layout.inward(loop.link1)
    return (*(dof for dof in second if dof not in first), *(dof for dof in first if dof not in second))
