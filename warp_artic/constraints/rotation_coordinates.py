"""Coordinates that limits of joints with two or three free rotations bound, with their Jacobians.

Two rotations: each component of the rotation vector (a, b) stays in its limits; with the letters of `joints.swing`,
    adot = (1 + kappa b^2) w_1 - kappa a b w_2,   bdot = (1 + kappa a^2) w_2 - kappa a b w_1.

Three rotations: the relative rotation is a twist about x followed by a swing without twist, R = exp(0, s_y, s_z) Rx(t).
    twist limit   lower <= t <= upper
    swing limit   lower <= s_y <= upper, and the same for s_z: a pyramid
    cone limit    e = sqrt((s_y / alpha_1)^2 + (s_z / alpha_2)^2) <= 1
With theta = |s|, n = s / theta, x' = R x and the relative angular velocity w in the frame that R maps to,
    sdot = n (n.w) + (x cross n) (theta / sin theta) ((x' cross n).w)
    tdot = w_x + ((x y -+ w z) w_y + (x z +- w y) w_z) / (w^2 + x^2)   of the quaternion (x, y, z, w) of R,
upper signs for w in the frame that R maps from. The public velocity of a joint is given in the moving frame: that is
where R maps from, or, for a reversed joint, where R maps to.
"""

import warp as wp

from warp_artic.constraints.rows import forget_response, set_jacobian_entry
from warp_artic.joints import spherical, swing
from warp_artic.joints.swing import coefficients
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    add,
    arctan2,
    cosine,
    div,
    maximum,
    mul,
    neg,
    real,
    sine,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.rotation import quaternion_exp, quaternion_matrix, ratio
from warp_artic.math.spatial import cross, dot, transpose_mul
from warp_artic.model.arrays import ModelArrays, WorkArrays

ROTATION_LIMIT_ORDER = wp.constant(910)


TWIST_LIMIT_ORDER = wp.constant(911)


SWING_LIMIT_ORDER = wp.constant(912)


CONE_LIMIT_ORDER = wp.constant(913)
"""Of the families, in kernels."""


HARD_FROM_SOFT = wp.constant(200)
"""From the order of a soft limit to that of the hard one that bounds the same."""


@wp.func
def in_axes(model: ModelArrays, dof: int, count: int, first: Real, second: Real, third: Real):
    """The entries of the two or three dofs of a rotational joint as a vector in the axes of M."""
    zero = real(0.0, first)
    v = vec3(zero, zero, zero)
    for k in range(count):
        value = first
        if k == 1:
            value = second
        if k == 2:
            value = third
        axis = model.dof_axis[dof + k]
        if axis == 0:
            v.x = value
        if axis == 1:
            v.y = value
        if axis == 2:
            v.z = value
    return v


@wp.func
def start_rotation(model: ModelArrays, work: WorkArrays, dof: int, item: int, count: int, worker: int):
    """Public positions of a rotational joint at the start of the step, as a vector in the axes of M."""
    q = work.position
    return in_axes(model, dof, count, q[item, worker], q[item + 1, worker], q[item + count - 1, worker])


@wp.func
def moved_rotation(model: ModelArrays, item: int, count: int, block: int, start: Vec3, v: Vec3, time: Real):
    """Public positions of a rotational joint in the axes of M after a time with v, which is in these axes."""
    sign = model.dof_sign[item, block]
    phi = start * sign
    if count == 2:
        a, b = swing.advance(phi.x, phi.y, v.x * sign, v.y * sign, time)
        phi = vec3(a, b, real(0.0, time))
    else:
        phi = spherical.advance(phi, v * sign, time)
    return phi * sign


@wp.func
def component(v: Vec3, axis: int):
    """Component 0, 1 or 2 of v."""
    if axis == 0:
        return v.x
    if axis == 1:
        return v.y
    return v.z


@wp.func
def set_rotation_jacobian(model: ModelArrays, work: WorkArrays, row: int, worker: int, J: Vec3):
    """Write a Jacobian given in the axes of M on the dofs of a joint."""
    start = model.row_term[row]
    for term in range(start, start + model.row_terms[row]):
        set_jacobian_entry(work, term, worker, component(J, model.dof_axis[model.term_dof[term]]))
    forget_response(model, work, row, worker)


@wp.func
def rotation_at(model: ModelArrays, row: int, phi: Vec3):
    """y of one component of two free rotations, and its Jacobian."""
    _tau, kappa, _mu = coefficients(phi.x, phi.y)
    zero = real(0.0, phi.x)
    one = real(1.0, phi.x)
    mixed = neg(kappa * phi.x * phi.y)
    J = vec3(one + kappa * phi.y * phi.y, mixed, zero)
    if model.dof_axis[model.root_dofs + model.row_item[row]] == 1:
        J = vec3(mixed, one + kappa * phi.x * phi.x, zero)
    return component(phi, model.dof_axis[model.root_dofs + model.row_item[row]]), J


@wp.func
def swing_of(x: Vec3, w: Real):
    """theta and n of the swing of a quaternion, n a unit vector in the yz plane."""
    one = real(1.0, w)
    zero = real(0.0, w)
    s_y = w * x.y - x.x * x.z
    s_z = w * x.z + x.x * x.y
    length = sqrt(s_y * s_y + s_z * s_z)
    enough = length - ratio(1.0, 1000000.0, w)
    safe = where_positive(enough, length, one)
    theta = real(2.0, w) * arctan2(length, w * w + x.x * x.x)
    return theta, vec3(zero, where_positive(enough, s_y / safe, one), where_positive(enough, s_z / safe, zero))


@wp.func
def in_moving_frame(J: Vec3, R: Mat3, reversed: Real):
    """A Jacobian in the frame that R maps to, in the frame of the public velocity."""
    moved = transpose_mul(R, J)
    return vec3(
        where_positive(reversed, J.x, moved.x),
        where_positive(reversed, J.y, moved.y),
        where_positive(reversed, J.z, moved.z),
    )


@wp.func
def swing_rates(theta: Real, n: Vec3):
    """(x cross n), and the Jacobian of its part of sdot, (theta / sin theta) (x' cross n), in the frame R maps to."""
    zero = real(0.0, theta)
    one = real(1.0, theta)
    x = vec3(one, zero, zero)
    side = cross(x, n)
    s = sine(theta)
    c = cosine(theta)
    swung = x * c + cross(n, x) * s
    factor = where_positive(theta - ratio(1.0, 1000.0, theta), theta / maximum(s, ratio(1.0, 1000.0, theta)), one)
    return side, cross(swung, n) * factor


@wp.func
def twist_of(x: Vec3, w: Real):
    """The twist angle of a quaternion about x, in (-pi, pi]."""
    upright = where_positive(neg(w), neg(real(1.0, w)), real(1.0, w))
    return real(2.0, w) * arctan2(x.x * upright, w * upright)


@wp.func
def twist_at(model: ModelArrays, row: int, block: int, x: Vec3, w: Real):
    """The twist, and its Jacobian in the axes of M."""
    square = maximum(w * w + x.x * x.x, ratio(1.0, 1000000.0, w))
    flip = where_positive(model.dof_sign[model.row_item[row], block], w, neg(w))
    J = vec3(real(1.0, w), (x.x * x.y - flip * x.z) / square, (x.x * x.z + flip * x.y) / square)
    return twist_of(x, w), J


@wp.func
def swing_at(model: ModelArrays, row: int, block: int, x: Vec3, w: Real):
    """One component of the swing, and its Jacobian in the axes of M."""
    axis = model.dof_axis[model.root_dofs + model.row_item[row]]
    theta, n = swing_of(x, w)
    side, side_rate = swing_rates(theta, n)
    J = n * component(n, axis) + side_rate * component(side, axis)
    J = in_moving_frame(J, quaternion_matrix(x, w), neg(model.dof_sign[model.row_item[row], block]))
    return theta * component(n, axis), J


@wp.func
def cone_steepness(model: ModelArrays, row: int, block: int, n: Vec3):
    """(0, n_y / alpha_1^2, n_z / alpha_2^2): its product with n is 1 / (angle of the cone in the direction n)^2."""
    narrow = ratio(1.0, 10000.0, n.y)
    alpha_1 = maximum(model.cone_angle[2 * model.row_item[row], block], narrow)
    alpha_2 = maximum(model.cone_angle[2 * model.row_item[row] + 1, block], narrow)
    return vec3(real(0.0, n.y), n.y / (alpha_1 * alpha_1), n.z / (alpha_2 * alpha_2))


@wp.func
def cone_angle_towards(model: ModelArrays, row: int, block: int, n: Vec3):
    """The largest swing angle in the direction n."""
    steep = dot(cone_steepness(model, row, block, n), n)
    return real(1.0, steep) / sqrt(maximum(steep, ratio(1.0, 100000000.0, steep)))


@wp.func
def cone_at(model: ModelArrays, row: int, block: int, x: Vec3, w: Real):
    """The swing theta, the angle of the cone in this direction, and a Jacobian, which comes second.

    Beyond the cone it is that of theta - angle, and within that of e times the angle, which goes on to where all
    directions meet.
    """
    theta, n = swing_of(x, w)
    side, side_rate = swing_rates(theta, n)
    angle = cone_angle_towards(model, row, block, n)
    # The rate of e angle is angle^2 (m.sdot); m.n = 1 / angle^2 makes its part along n the swing rate itself.
    beyond = angle / maximum(theta, angle)
    J = n + side_rate * (dot(cone_steepness(model, row, block, n), side) * angle * angle * beyond)
    item = model.term_dof[model.row_term[row]] - model.root_dofs
    return theta, in_moving_frame(J, quaternion_matrix(x, w), neg(model.dof_sign[item, block])), angle


@wp.func
def hard_family(model: ModelArrays, row: int):
    """The family of the hard limit that bounds what a row bounds."""
    family = model.row_family[row]
    if family < ROTATION_LIMIT_ORDER:
        family += HARD_FROM_SOFT
    return family


@wp.func
def limit_at(model: ModelArrays, row: int, block: int, phi: Vec3):
    """At a public rotation vector: y of a row, its Jacobian in the axes of M, and its limits."""
    family = hard_family(model, row)
    item = model.row_item[row]
    if family == ROTATION_LIMIT_ORDER:
        y, J = rotation_at(model, row, phi)
        return y, J, model.limit_lower[item, block], model.limit_upper[item, block]
    x, w = quaternion_exp(phi)
    if family == CONE_LIMIT_ORDER:
        theta, J_cone, angle = cone_at(model, row, block, x, w)
        return theta, J_cone, neg(real(1.0, w) / real(0.0, w)), angle
    if family == TWIST_LIMIT_ORDER:
        twist, J_twist = twist_at(model, row, block, x, w)
        return twist, J_twist, model.limit_lower[item, block], model.limit_upper[item, block]
    swing_part, J_swing = swing_at(model, row, block, x, w)
    return swing_part, J_swing, model.limit_lower[item, block], model.limit_upper[item, block]


@wp.func
def limit_value(model: ModelArrays, row: int, block: int, phi: Vec3):
    """y of a row and its limits without the Jacobian, which costs more than these."""
    family = hard_family(model, row)
    item = model.row_item[row]
    axis = model.dof_axis[model.root_dofs + item]
    if family == ROTATION_LIMIT_ORDER:
        return component(phi, axis), model.limit_lower[item, block], model.limit_upper[item, block]
    x, w = quaternion_exp(phi)
    if family == TWIST_LIMIT_ORDER:
        return twist_of(x, w), model.limit_lower[item, block], model.limit_upper[item, block]
    theta, n = swing_of(x, w)
    if family == CONE_LIMIT_ORDER:
        return theta, neg(real(1.0, w) / real(0.0, w)), cone_angle_towards(model, row, block, n)
    return theta * component(n, axis), model.limit_lower[item, block], model.limit_upper[item, block]
