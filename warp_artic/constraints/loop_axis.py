"""Coordinates of the free axes of a loop joint, on which its limits and drives act, with their gradients.

With d = x_1 - x_0 and u its rate, both as seen from frame 0, w = w_1 - w_0, e_k the axes of frame 0 and P onto those
that are free:
    translation   y = e_k . d                       ydot = e_k . u
    distance      y = |P d|                         ydot = n . u,  n = P d / y
    range         y = +-(|P d|^2 - s^2) / (2 s)     likewise;  positive beyond the end s that |P d| is nearer to
Rotations are a twist t about the twist axis x after a swing without twist, R_01 = exp(0, s_1, s_2) R_x(t). The swing is
a function of where the twist axis of frame 1 points in frame 0, x' = (c, p, q) in the axes x, y, z that follow each
other from the twist axis on, with f(c) = theta / sin theta of its angle theta:
    swing         s_1 = - q f,  s_2 = p f           sdot = (x' x ds/dx') . w
    twist         y = t                             ydot = n . w,  n = (x + x') / (1 + c)
    cone          y = alpha (e^2 - 1) / 2           e^2 = (s_1 / alpha_1)^2 + (s_2 / alpha_2)^2,  alpha the smaller one
    cone angle    y = |s| - |s| / e                 the angle to the cone in the direction of the swing; within the cone
                                                    |s| / e is held, as there a small swing has any direction
A single rotation is a twist. The acceleration by velocities alone is
    c = n . (acceleration of d seen from frame 0) + ndot . u,   or   n . (wdot_1 - wdot_0 - w_0 x w_1) + ndot . w,
with ndot as it is seen from frame 0. Range and cone have squares of lengths, whose c is finite where these are zero;
the springs that act on distances and cone angles need no c.
"""

from dataclasses import dataclass

import warp as wp

from warp_artic.constraints.loop_geometry import (
    bias_seen,
    frame_axes,
    frame_origin,
    joined_dofs,
    loops,
    set_loop_jacobian,
    spin_bias,
    velocity_seen,
)
from warp_artic.constraints.loop_place import loop_place
from warp_artic.constraints.rotation_coordinates import component, twist_of
from warp_artic.constraints.rows import allow_every_velocity
from warp_artic.description.articulation import Articulation
from warp_artic.description.loop_joint import LoopAxis, LoopJoint
from warp_artic.joints.swing import HALF_TURN
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    add,
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
from warp_artic.math.spatial import column, cross, dot, mat_mul, transpose, transpose_mul
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_mat3, load_vec3
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import Parameter
from warp_artic.model.kinds import (
    LOOP_CONE,
    LOOP_RANGE,
    LOOP_SWING,
    LOOP_TRANSLATION,
    LOOP_TWIST,
    LoopCoordinate,
    LoopTurn,
)
from warp_artic.model.row import Place
from warp_artic.phases.point_motion import point_bias
from warp_artic.phases.transmitted_forces import subtract_force, subtract_wrench

TERMS = wp.constant(10)
"""Of the series of f."""


@wp.func
def loop_axis_motion(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """y, n and c of a coordinate where the links are placed with `work.v_middle`, and the origin of frame 1."""
    loop = model.loop_axis_loop[item]
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    meet = model.loop_meet[loop]
    R_0 = frame_axes(work.R_WM, inner, model.loop_frame0, loop, block, worker)
    R_1 = frame_axes(work.R_WM, outer, model.loop_frame1, loop, block, worker)
    x_0 = frame_origin(work.R_WM, work.p_WM, inner, model.loop_frame0, loop, block, worker)
    x_1 = frame_origin(work.R_WM, work.p_WM, outer, model.loop_frame1, loop, block, worker)
    w_0 = load_vec3(work.w, 3 * inner, worker)
    w_1 = load_vec3(work.w, 3 * outer, worker)
    wdot_0 = spin_bias(model, work, inner, meet, worker)
    if model.loop_axis_kind[item] <= LOOP_RANGE:
        u = velocity_seen(model, work, loop, x_0, x_1, worker)
        a = point_bias(model, work, outer, meet, x_1, worker) - point_bias(model, work, inner, meet, x_0, worker)
        y, n, bend = linear_coordinate(model, item, block, R_0, x_1 - x_0, u)
        return y, n, dot(n, bias_seen(a, w_0, wdot_0, x_1 - x_0, u)) + bend, x_1
    angle, m, turn = angular_coordinate(model, item, loop, block, R_0, R_1, w_1 - w_0)
    wdot = spin_bias(model, work, outer, meet, worker) - wdot_0 - cross(w_0, w_1)
    return angle, m, dot(m, wdot) + turn, x_1


@wp.func
def place_loop_axis(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """y and c of the coordinate of a row where the links are placed with `work.v_middle`; writes J."""
    item = model.row_item[row]
    y, n, c, x_1 = loop_axis_motion(model, work, item, block, worker)
    linear = model.loop_axis_kind[item] <= LOOP_RANGE
    loop = model.loop_axis_loop[item]
    at = loop_place(loop, block, worker, work.R_WM, work.axis, work.p_WM, x_1, x_1)
    set_loop_jacobian(model, work, at, row, linear, n)
    return y, c


@wp.func
def leave_broken(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Let a row do nothing where its joint has broken."""
    broken = work.loop_is_broken[model.loop_axis_loop[model.row_item[row]], worker]
    allow_every_velocity(work, row, worker, real(1.0, broken) - broken)
    work.given[row, worker] = where_positive(broken, broken - broken, work.given[row, worker])


@wp.func
def take_loop_axis_off(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, force: Real):
    """Take what a row on a coordinate does to its links off what these need: other joints do not transmit it."""
    item = model.row_item[row]
    y, n, c, x_1 = loop_axis_motion(model, work, item, block, worker)
    apply_wrench(model, work, item, worker, n * force, x_1)


@wp.func
def apply_wrench(model: ModelArrays, work: WorkArrays, item: int, worker: int, F: Vec3, x_1: Vec3):
    """Take a force at x_1, or a moment, on link 1, and its reaction on link 0, off what these need."""
    loop = model.loop_axis_loop[item]
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    if model.loop_axis_kind[item] <= LOOP_RANGE:
        subtract_force(model, work, outer, x_1, F, worker)
        subtract_force(model, work, inner, x_1, neg(F), worker)
    else:
        if outer < model.link_count:
            subtract_wrench(work, outer, worker, F - F, F)
        if inner < model.link_count:
            subtract_wrench(work, inner, worker, F - F, neg(F))


@wp.func
def loop_axis_at_end(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """y, ydot, n and the origin of frame 1 where `phases.link_frames.pose_links` has placed the links."""
    loop = model.loop_axis_loop[item]
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    R_0 = frame_axes(work.end_rotation, inner, model.loop_frame0, loop, block, worker)
    R_1 = frame_axes(work.end_rotation, outer, model.loop_frame1, loop, block, worker)
    w_0 = load_vec3(work.end_spin, 3 * inner, worker)
    w_1 = load_vec3(work.end_spin, 3 * outer, worker)
    r_1 = load_mat3(work.end_rotation, 9 * outer, worker) * load_vec3(model.loop_frame1, 12 * loop + 9, block)
    x_1 = load_vec3(work.end_origin, 3 * outer, worker) + r_1
    if model.loop_axis_kind[item] <= LOOP_RANGE:
        x_0 = frame_origin(work.end_rotation, work.end_origin, inner, model.loop_frame0, loop, block, worker)
        r_0 = x_1 - load_vec3(work.end_origin, 3 * inner, worker)
        u = load_vec3(work.end_velocity, 3 * outer, worker) + cross(w_1, r_1)
        u = u - load_vec3(work.end_velocity, 3 * inner, worker) - cross(w_0, r_0)
        y, n, bend = linear_coordinate(model, item, block, R_0, x_1 - x_0, u)
        return y, dot(n, u), n, x_1
    angle, m, turn = angular_coordinate(model, item, loop, block, R_0, R_1, w_1 - w_0)
    return angle, dot(m, w_1 - w_0), m, x_1


@wp.func
def place_loop_axis_at_end(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """y and ydot of the coordinate of a row there; writes J."""
    item = model.row_item[row]
    y, rate, n, x_1 = loop_axis_at_end(model, work, item, block, worker)
    linear = model.loop_axis_kind[item] <= LOOP_RANGE
    loop = model.loop_axis_loop[item]
    at = loop_place(loop, block, worker, work.end_rotation, work.end_axis, work.end_origin, x_1, x_1)
    set_loop_jacobian(model, work, at, row, linear, n)
    return y, rate


@wp.func
def linear_coordinate(model: ModelArrays, item: int, block: int, R_0: Mat3, d: Vec3, u: Vec3):
    """y of a translation, a distance or a range, n, and ndot . u."""
    if model.loop_axis_kind[item] == LOOP_TRANSLATION:
        n = column(R_0, model.loop_axis_part[item])
        return dot(n, d), n, d.x - d.x
    p = free_part(transpose_mul(R_0, d), model.loop_axis_part[item])
    one = real(1.0, d.x)
    square = dot(p, p)
    if model.loop_axis_kind[item] == LOOP_RANGE:
        v = free_part(transpose_mul(R_0, u), model.loop_axis_part[item])
        lower = model.loop_limit_lower[item, block]
        upper = model.loop_limit_upper[item, block]
        is_near = lower * upper - square
        end = where_positive(is_near, lower, upper)
        scale = where_positive(is_near, neg(one), one) / end
        return (square - end * end) * scale * real(0.5, one), R_0 * p * scale, dot(v, v) * scale
    length = sqrt(square)
    return length, R_0 * p * (one / maximum(length, ratio(1.0, 1000000000.0, one))), one - one


@wp.func
def free_part(v: Vec3, axes: int):
    """The components of a vector whose bits are set."""
    zero = real(0.0, v.x)
    x = zero
    y = zero
    z = zero
    if axes & 1 != 0:
        x = v.x
    if axes & 2 != 0:
        y = v.y
    if axes & 4 != 0:
        z = v.z
    return vec3(x, y, z)


@wp.func
def angular_coordinate(model: ModelArrays, item: int, loop: int, block: int, R_0: Mat3, R_1: Mat3, w: Vec3):
    """y of an angle, n in the world, and ndot . w as it is seen from frame 0."""
    kind = model.loop_axis_kind[item]
    A_0 = axes_from(R_0, model.loop_axis[loop])
    A_1 = axes_from(R_1, model.loop_axis[loop])
    spin = transpose_mul(A_0, w)
    to = transpose_mul(A_0, column(A_1, 0))
    rate = cross(spin, to)
    if kind == LOOP_TWIST:
        t, n, turn = twist_coordinate(A_0, A_1, to, rate, spin)
        return nearest_turn(model, item, block, t), A_0 * n, turn
    s_1, s_2, g_1, g_2, b_1, b_2 = swing_coordinates(to, rate, spin)
    if kind == LOOP_SWING:
        if model.loop_axis_part[item] == 1:
            return s_1, A_0 * g_1, b_1
        return s_2, A_0 * g_2, b_2
    k_1, k_2, alpha = cone_weights(model, item, block)
    of_1 = s_1 * k_1
    of_2 = s_2 * k_2
    square = s_1 * of_1 + s_2 * of_2
    one = real(1.0, square)
    if kind == LOOP_CONE:
        v_1 = dot(g_1, spin)
        v_2 = dot(g_2, spin)
        b = of_1 * b_1 + of_2 * b_2 + k_1 * v_1 * v_1 + k_2 * v_2 * v_2
        half = real(0.5, square)
        return alpha * (square - one) * half, A_0 * ((g_1 * of_1 + g_2 * of_2) * alpha), alpha * b
    small = ratio(1.0, 1000000.0, square)
    e = maximum(sqrt(square), small)
    theta = maximum(sqrt(s_1 * s_1 + s_2 * s_2), small)
    towards = theta / e
    # Beyond the cone  d(theta - theta / e) = (1 - 1 / e) dtheta + (theta / e^2) de.
    of_theta = maximum(one - one / e, one - one) / theta
    of_e = towards / (e * maximum(e, one))
    g = g_1 * (of_theta * s_1 + of_e * of_1) + g_2 * (of_theta * s_2 + of_e * of_2)
    return where_positive(e - one, theta - towards, towards * (e - one)), A_0 * g, one - one


@wp.func
def cone_weights(model: ModelArrays, item: int, block: int):
    """1 / alpha_1^2 and 1 / alpha_2^2, and the smaller angle."""
    narrow = ratio(1.0, 10000.0, model.loop_cone_angle[2 * item, block])
    alpha_1 = maximum(model.loop_cone_angle[2 * item, block], narrow)
    alpha_2 = maximum(model.loop_cone_angle[2 * item + 1, block], narrow)
    one = real(1.0, narrow)
    return one / (alpha_1 * alpha_1), one / (alpha_2 * alpha_2), minimum(alpha_1, alpha_2)


@wp.func
def axes_from(R: Mat3, axis: int):
    """The columns of a rotation matrix from one on, in the order X, Y, Z, X."""
    return mat3(followed(R.x, axis), followed(R.y, axis), followed(R.z, axis))


@wp.func
def followed(v: Vec3, axis: int):
    """The components of a vector from one on, in the order X, Y, Z, X."""
    return vec3(component(v, axis), component(v, (axis + 1) % 3), component(v, (axis + 2) % 3))


@wp.func
def twist_coordinate(A_0: Mat3, A_1: Mat3, to: Vec3, rate: Vec3, spin: Vec3):
    """t, n and ndot . w in frame 0, from x' and its rate."""
    x, w = quaternion_from_matrix(mat_mul(transpose(A_0), A_1))
    one = real(1.0, w)
    scale = one / maximum(one + to.x, ratio(1.0, 1000000.0, w))
    n = vec3(one + to.x, to.y, to.z) * scale
    return twist_of(x, w), n, dot(rate - n * rate.x, spin) * scale


@wp.func
def nearest_turn(model: ModelArrays, item: int, block: int, angle: Real):
    """The angle whose difference from the middle of its limits is at most half a turn; without these from zero."""
    lower = model.loop_limit_lower[item, block]
    upper = model.loop_limit_upper[item, block]
    turn = real(2.0, angle) * real(HALF_TURN, angle)
    has_middle = turn * real(2.0, angle) - (upper - lower)
    middle = where_positive(has_middle, (lower + upper) * real(0.5, angle), angle - angle)
    return middle + shortest(shortest(angle - middle))


@wp.func
def shortest(angle: Real):
    """An angle of at most a turn and a half with at most one turn less, from - pi to pi."""
    pi = real(HALF_TURN, angle)
    down = where_positive(angle - pi, angle - pi - pi, angle)
    return where_positive(neg(pi) - down, down + pi + pi, down)


@wp.func
def swing_factor(c: Real):
    """f(c) = theta / sin theta with c = cos theta, and its first two derivatives; a series in 1 - c near c = 1."""
    one = real(1.0, c)
    u = one - c
    a = one
    power = one
    f = one
    slope = one - one
    curve = one - one
    before = one - one
    for k in range(1, TERMS):
        a = a * real(float(k), c) / real(float(2 * k + 1), c)
        curve = curve + a * before * real(float(k * (k - 1)), c)
        slope = slope - a * power * real(float(k), c)
        before = power
        power = power * u
        f = f + a * power
    square = maximum(u * (one + c), ratio(1.0, 1000000.0, c))
    root = sqrt(square)
    far = arctan2(root, c) / root
    far_slope = (c * far - one) / square
    is_far = u - ratio(1.0, 20.0, c)
    return (
        where_positive(is_far, far, f),
        where_positive(is_far, far_slope, slope),
        where_positive(is_far, (far + real(3.0, c) * c * far_slope) / square, curve),
    )


@wp.func
def swing_coordinates(to: Vec3, rate: Vec3, spin: Vec3):
    """s_1 and s_2, their gradients in w, and what is left of their accelerations, in frame 0."""
    zero = real(0.0, to.x)
    two = real(2.0, to.x)
    f, slope, curve = swing_factor(to.x)
    back = cross(spin, rate)
    d_1 = vec3(neg(to.z * slope), zero, neg(f))
    d_2 = vec3(to.y * slope, f, zero)
    b_1 = dot(d_1, back) - rate.x * (two * rate.z * slope + to.z * curve * rate.x)
    b_2 = dot(d_2, back) + rate.x * (two * rate.y * slope + to.y * curve * rate.x)
    return neg(to.z * f), to.y * f, cross(to, d_1), cross(to, d_2), b_1, b_2


@dataclass(frozen=True)
class LoopItem:
    """An axis of an articulation on which something acts."""

    loop: int
    """Among the loop joints that are enabled."""
    joint: LoopJoint
    own: LoopAxis
    kind: LoopCoordinate
    part: int
    """The axis of a translation, the bits of the axes of a distance, 0 of a twist, 1 or 2 of a component of a swing."""

    @property
    def turn(self) -> LoopTurn:
        """The law that its drive has, or would have."""
        if self.own.axis is None or self.own.axis.is_linear or self.joint.has_angles:
            return LoopTurn.NONE
        if len(self.joint.free_rotations) == 2:
            return LoopTurn.SWING_POTENTIAL
        return LoopTurn.SLERP if self.joint.slerp else LoopTurn.POTENTIAL


def loop_items(articulation: Articulation) -> list[LoopItem]:
    """All axes on which limits or drives of loop joints act, joint by joint."""
    return [
        LoopItem(number, loop, own, *_coordinate(loop, own))
        for number, loop in enumerate(loops(articulation))
        for own in loop.axes
    ]


def _coordinate(loop: LoopJoint, own: LoopAxis) -> tuple[LoopCoordinate, int]:
    """What a coordinate is, and its part."""
    if own.cone is not None:
        return LoopCoordinate.CONE_ANGLE if own.cone.is_soft else LoopCoordinate.CONE, 0
    if own.axis is None:
        kind = LoopCoordinate.DISTANCE if own.limit.is_soft else LoopCoordinate.RANGE
        return kind, sum(1 << axis.index for axis in loop.free if axis.is_linear)
    if own.axis.is_linear:
        return LoopCoordinate.TRANSLATION, own.axis.index
    if len(loop.free_rotations) == 1 or own.axis is loop.twist_axis:
        return LoopCoordinate.TWIST, 0
    return LoopCoordinate.SWING, (own.axis.index - loop.twist_axis.index) % 3


def axis_places(articulation: Articulation, layout: DofLayout, has) -> list[Place]:
    """A row for each axis that has what is asked for."""
    places = [(number, item, joined_dofs(item.joint, layout)) for number, item in enumerate(loop_items(articulation))]
    return [Place(item.own.name, dofs, number) for number, item, dofs in places if dofs and has(item.own)]


def of_axes(name: str, value, allowed, size: int = 1) -> Parameter:
    """A number of each axis."""
    return Parameter(
        name=name,
        of="loop_axis",
        values=lambda articulation: [number for item in loop_items(articulation) for number in value(item.own)],
        allowed=allowed,
        size=size,
    )
