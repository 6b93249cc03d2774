"""Hard limits of joints with two or three free rotations.

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

from warp_artic.constraints.rows import (
    forget_response,
    gap_velocity,
    row_velocity,
    set_coefficient,
    set_position_window,
    set_unbounded,
    set_window,
)
from warp_artic.joints import spherical, swing
from warp_artic.joints.swing import coefficients
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    add,
    arctan2,
    cosine,
    div,
    maximum,
    minimum,
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
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.model.families import ROTATION_LIMIT, SWING_LIMIT, TWIST_LIMIT


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
def start_triple(model: ModelArrays, work: WorkArrays, dof: int, item: int, count: int, slot: int):
    """Public positions of a rotational joint at the start of the step, as a vector in the axes of M."""
    q = work.position
    return in_axes(model, dof, count, q[item, slot], q[item + 1, slot], q[item + count - 1, slot])


@wp.func
def solved_triple(model: ModelArrays, work: WorkArrays, dof: int, count: int, column: int, slot: int, h: Real):
    """v+ of a rotational joint, in the axes that M has at the start of the step."""
    v = work.v_next
    solved = in_axes(model, dof, count, v[dof, slot], v[dof + 1, slot], v[dof + count - 1, slot])
    if count == 3:
        solved = turn_to_middle(model, work, dof, column, slot, h) * solved
    return solved


@wp.func
def turn_to_middle(model: ModelArrays, work: WorkArrays, dof: int, column: int, slot: int, h: Real):
    """The rotation of a ball joint from the start of the step to where forces are evaluated."""
    v = in_axes(model, dof, 3, work.v[dof, slot], work.v[dof + 1, slot], work.v[dof + 2, slot])
    before = (real(1.0, h) - work.free_share[0, slot]) * h * model.dof_sign[dof - model.root_dofs, column]
    x, w = quaternion_exp(v * before)
    return quaternion_matrix(x, w)


@wp.func
def component(v: Vec3, axis: int):
    """Component 0, 1 or 2 of v."""
    if axis == 0:
        return v.x
    if axis == 1:
        return v.y
    return v.z


@wp.func
def set_triple_coefficients(
    model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, J_start: Vec3, h: Real
):
    """Write a Jacobian given in the axes that M has at the start of the step on the dofs of a ball joint."""
    turn = turn_to_middle(model, work, model.term_dof[model.row_term[row]], column, slot, h)
    set_coefficients(model, work, row, slot, transpose_mul(turn, J_start))


@wp.func
def set_coefficients(model: ModelArrays, work: WorkArrays, row: int, slot: int, J: Vec3):
    """Write a Jacobian given in the axes of M on the dofs of a joint."""
    start = model.row_term[row]
    for term in range(start, start + model.row_terms[row]):
        set_coefficient(work, term, slot, component(J, model.dof_axis[model.term_dof[term]]))
    forget_response(model, work, row, slot)


@wp.func
def set_hard(work: WorkArrays, row: int, slot: int, h: Real):
    """No compliance, no bound, and no correction of the window yet."""
    work.compliance[row, slot] = real(0.0, h)
    work.bend[row, slot] = real(0.0, h)
    set_unbounded(work, row, slot, h)


@wp.func
def set_rotation_limit_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of one component of a joint with two free rotations."""
    item = model.row_item[row]
    dof = model.term_dof[model.row_term[row]]
    phi = start_triple(model, work, dof, dof - model.root_dofs, 2, slot)
    tau, kappa, rho = coefficients(phi.x, phi.y)
    zero = real(0.0, h)
    one = real(1.0, h)
    mixed = neg(kappa * phi.x * phi.y)
    J = vec3(one + kappa * phi.y * phi.y, mixed, zero)
    if model.dof_axis[model.root_dofs + item] == 1:
        J = vec3(mixed, one + kappa * phi.x * phi.x, zero)
    q = work.position[item, slot]
    set_position_window(work, row, slot, q, model.limit_lower[item, column], model.limit_upper[item, column], h)
    set_coefficients(model, work, row, slot, J)
    set_hard(work, row, slot, h)


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
def in_moving_frame(J: Vec3, R: Array, reversed: Real):
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
def set_twist_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of a twist limit of a joint with three free rotations."""
    item = model.row_item[row]
    dof = model.term_dof[model.row_term[row]]
    x, w = quaternion_exp(start_triple(model, work, dof, dof - model.root_dofs, 3, slot))
    square = maximum(w * w + x.x * x.x, ratio(1.0, 1000000.0, h))
    flip = where_positive(model.dof_sign[item, column], w, neg(w))
    J = vec3(real(1.0, h), (x.x * x.y - flip * x.z) / square, (x.x * x.z + flip * x.y) / square)
    set_triple_coefficients(model, work, row, column, slot, J, h)
    lower = model.limit_lower[item, column]
    set_position_window(work, row, slot, twist_of(x, w), lower, model.limit_upper[item, column], h)
    set_hard(work, row, slot, h)


@wp.func
def set_swing_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of a swing limit of a joint with three free rotations."""
    item = model.row_item[row]
    dof = model.term_dof[model.row_term[row]]
    x, w = quaternion_exp(start_triple(model, work, dof, dof - model.root_dofs, 3, slot))
    axis = model.dof_axis[model.root_dofs + item]
    theta, n = swing_of(x, w)
    side, side_rate = swing_rates(theta, n)
    J = n * component(n, axis) + side_rate * component(side, axis)
    J = in_moving_frame(J, quaternion_matrix(x, w), neg(model.dof_sign[item, column]))
    set_triple_coefficients(model, work, row, column, slot, J, h)
    lower = model.limit_lower[item, column]
    set_position_window(work, row, slot, theta * component(n, axis), lower, model.limit_upper[item, column], h)
    set_hard(work, row, slot, h)


@wp.func
def cone_steepness(model: ModelArrays, row: int, column: int, n: Vec3):
    """(0, n_y / alpha_1^2, n_z / alpha_2^2): its product with n is 1 / (angle of the cone in the direction n)^2."""
    narrow = ratio(1.0, 10000.0, n.y)
    alpha_1 = maximum(model.cone_angle[2 * model.row_item[row], column], narrow)
    alpha_2 = maximum(model.cone_angle[2 * model.row_item[row] + 1, column], narrow)
    return vec3(real(0.0, n.y), n.y / (alpha_1 * alpha_1), n.z / (alpha_2 * alpha_2))


@wp.func
def cone_angle_towards(model: ModelArrays, row: int, column: int, n: Vec3):
    """The largest swing angle in the direction n."""
    steep = dot(cone_steepness(model, row, column, n), n)
    return real(1.0, steep) / sqrt(maximum(steep, ratio(1.0, 100000000.0, steep)))


@wp.func
def set_cone_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the cone limit of a spherical joint; y is e times the angle of the cone in this direction."""
    dof = model.term_dof[model.row_term[row]]
    item = dof - model.root_dofs
    x, w = quaternion_exp(start_triple(model, work, dof, item, 3, slot))
    theta, n = swing_of(x, w)
    side, side_rate = swing_rates(theta, n)
    angle = cone_angle_towards(model, row, column, n)
    # y has the rate angle^2 (m.sdot); m.n = 1 / angle^2 makes its part along n the swing rate itself.
    J = n + side_rate * (dot(cone_steepness(model, row, column, n), side) * angle * angle)
    J = in_moving_frame(J, quaternion_matrix(x, w), neg(model.dof_sign[item, column]))
    set_triple_coefficients(model, work, row, column, slot, J, h)
    set_window(work, row, slot, neg(real(1.0, h) / real(0.0, h)), gap_velocity(angle - theta, h))
    set_hard(work, row, slot, h)


@wp.func
def limited_rotation(model: ModelArrays, row: int, phi: Vec3, start: Vec3, column: int):
    """The y of a row at the public rotation vector phi; the direction of a cone's angle is that at `start`."""
    family = model.row_family[row]
    y = phi.x
    if family == ROTATION_LIMIT:
        y = component(phi, model.dof_axis[model.root_dofs + model.row_item[row]])
    else:
        x, w = quaternion_exp(phi)
        if family == TWIST_LIMIT:
            y = twist_of(x, w)
        else:
            theta, n = swing_of(x, w)
            if family == SWING_LIMIT:
                y = theta * component(n, model.dof_axis[model.root_dofs + model.row_item[row]])
            else:
                z, s = quaternion_exp(start)
                _, n_start = swing_of(z, s)
                angle = cone_angle_towards(model, row, column, n)
                y = theta / angle * cone_angle_towards(model, row, column, n_start)
    return y


@wp.func
def bend_window(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real, bends: Real):
    """Move the window of a row by what the end of the step, with v+ so far, misses of its linear prediction.

    Only where `bends` is positive.

    y(q+) is not y + h J v+ for finite rotations; after one or two such corrections the limit holds at q+ itself.
    """
    dof = model.term_dof[model.row_term[row]]
    item = dof - model.root_dofs
    count = model.row_terms[row]
    sign = model.dof_sign[item, column]
    start = start_triple(model, work, dof, item, count, slot)
    v = solved_triple(model, work, dof, count, column, slot, h)
    phi = start * sign
    if count == 2:
        a, b = swing.advance(phi.x, phi.y, v.x * sign, v.y * sign, h)
        phi = vec3(a, b, real(0.0, h))
    else:
        phi = spherical.advance(phi, v * sign, h)
    change = limited_rotation(model, row, phi * sign, start, column) - limited_rotation(
        model, row, start, start, column
    )
    old = work.bend[row, slot]
    bend = where_positive(bends, row_velocity(model, work, row, slot) - change / h, old)
    shift = bend - old
    work.bend[row, slot] = bend
    set_window(work, row, slot, work.window[2 * row, slot] + shift, work.window[2 * row + 1, slot] + shift)
