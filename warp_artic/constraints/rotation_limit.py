"""Limits of joints with two or three free rotations: what they bound, and the rows of hard ones.

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

A row is y at the start of the step, with its Jacobian there. A violated limit is recovered by a share a step, and no
faster than velocity limits of the dofs allow along the shortest way back: there the two do not contradict.

The window is corrected for what y(q+) is, so that a joint that slides along its limit keeps its energy: the impulse at
each corner of its path reverses the velocity along J (SHAKE). Where that is not enough, as in a step that is inelastic,
the velocity is stopped along J, and q+ is brought onto the limit afterwards.
"""

import warp as wp

from warp_artic.constraints.joint_limit import is_limited
from warp_artic.constraints.rows import (
    RECOVERY,
    add_responses,
    forget_response,
    prepare_response,
    row_rate,
    row_response,
    row_velocity,
    set_coefficient,
    set_position_window,
    set_unbounded,
    set_window,
)
from warp_artic.constraints.single_dofs import places_of_joints
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Dof, Joint
from warp_artic.description.limit import ConeLimit
from warp_artic.joints import spherical, swing
from warp_artic.joints.swing import coefficients
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
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
from warp_artic.model.allowed_values import ANGLE
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import IS_CURVED, ConstraintFamily, Parameter
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.roots import pose_rows
from warp_artic.model.row import Place
from warp_artic.phases.integrate import move_joints

REVERSED = wp.constant(1.1)
"""Share of a velocity that a limit may reverse to make a joint follow its curve."""
SETTLED = wp.constant(1e-6)
"""What a limit may be missed by [rad]."""
BENT = wp.constant(1e-5)
"""The same where velocities follow its curve, before positions are brought back onto it [rad]."""
HOLDS = wp.constant(6)
"""Times that joints beyond their limits are brought back in a step."""
HOLDS_BY_INERTIA = wp.constant(2)
"""Of these, the times that it is by the shortest way in terms of M; then the joint alone moves."""


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
def start_triple(model: ModelArrays, work: WorkArrays, dof: int, item: int, count: int, slot: int):
    """Public positions of a rotational joint at the start of the step, as a vector in the axes of M."""
    q = work.position
    return in_axes(model, dof, count, q[item, slot], q[item + 1, slot], q[item + count - 1, slot])


@wp.func
def solved_triple(
    model: ModelArrays, work: WorkArrays, row: int, dof: int, count: int, column: int, slot: int, h: Real, excess: Real
):
    """v+ of a rotational joint without the excess of a row, in the axes that M has at the start of the step."""
    v = work.v_next
    J = work.coefficient
    term = model.row_term[row]
    solved = in_axes(model, dof, count, v[dof, slot], v[dof + 1, slot], v[dof + count - 1, slot])
    way = in_axes(model, dof, count, J[term, slot], J[term + 1, slot], J[term + count - 1, slot])
    square = dot(way, way)
    solved = solved - way * (excess / where_positive(square, square, real(1.0, h)))
    if count == 3:
        solved = turn_to_middle(model, work, dof, column, slot, h) * solved
    return solved


@wp.func
def moved_triple(model: ModelArrays, item: int, count: int, column: int, start: Vec3, v: Vec3, time: Real):
    """Public positions of a rotational joint in the axes of M after a time with v, which is in these axes."""
    sign = model.dof_sign[item, column]
    phi = start * sign
    if count == 2:
        a, b = swing.advance(phi.x, phi.y, v.x * sign, v.y * sign, time)
        phi = vec3(a, b, real(0.0, time))
    else:
        phi = spherical.advance(phi, v * sign, time)
    return phi * sign


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
def set_coefficients(model: ModelArrays, work: WorkArrays, row: int, slot: int, J: Vec3):
    """Write a Jacobian given in the axes of M on the dofs of a joint."""
    start = model.row_term[row]
    for term in range(start, start + model.row_terms[row]):
        set_coefficient(work, term, slot, component(J, model.dof_axis[model.term_dof[term]]))
    forget_response(model, work, row, slot)


@wp.func
def rotation_at(model: ModelArrays, row: int, column: int, phi: Vec3):
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
def twist_at(model: ModelArrays, row: int, column: int, x: Vec3, w: Real):
    """The twist, and its Jacobian in the axes of M."""
    square = maximum(w * w + x.x * x.x, ratio(1.0, 1000000.0, w))
    flip = where_positive(model.dof_sign[model.row_item[row], column], w, neg(w))
    J = vec3(real(1.0, w), (x.x * x.y - flip * x.z) / square, (x.x * x.z + flip * x.y) / square)
    return twist_of(x, w), J


@wp.func
def swing_at(model: ModelArrays, row: int, column: int, x: Vec3, w: Real):
    """One component of the swing, and its Jacobian in the axes of M."""
    axis = model.dof_axis[model.root_dofs + model.row_item[row]]
    theta, n = swing_of(x, w)
    side, side_rate = swing_rates(theta, n)
    J = n * component(n, axis) + side_rate * component(side, axis)
    J = in_moving_frame(J, quaternion_matrix(x, w), neg(model.dof_sign[model.row_item[row], column]))
    return theta * component(n, axis), J


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
def cone_at(model: ModelArrays, row: int, column: int, x: Vec3, w: Real):
    """The swing theta, the angle of the cone in this direction, and a Jacobian, which comes second.

    Beyond the cone it is that of theta - angle, and within that of e times the angle, which goes on to where all
    directions meet.
    """
    theta, n = swing_of(x, w)
    side, side_rate = swing_rates(theta, n)
    angle = cone_angle_towards(model, row, column, n)
    # The rate of e angle is angle^2 (m.sdot); m.n = 1 / angle^2 makes its part along n the swing rate itself.
    beyond = angle / maximum(theta, angle)
    J = n + side_rate * (dot(cone_steepness(model, row, column, n), side) * angle * angle * beyond)
    item = model.term_dof[model.row_term[row]] - model.root_dofs
    return theta, in_moving_frame(J, quaternion_matrix(x, w), neg(model.dof_sign[item, column])), angle


@wp.func
def hard_family(model: ModelArrays, row: int):
    """The family of the hard limit that bounds what a row bounds."""
    family = model.row_family[row]
    if family < ROTATION_LIMIT_ORDER:
        family += HARD_FROM_SOFT
    return family


@wp.func
def limit_at(model: ModelArrays, row: int, column: int, phi: Vec3):
    """At a public rotation vector: y of a row, its Jacobian in the axes of M, and its limits."""
    family = hard_family(model, row)
    item = model.row_item[row]
    if family == ROTATION_LIMIT_ORDER:
        y, J = rotation_at(model, row, column, phi)
        return y, J, model.limit_lower[item, column], model.limit_upper[item, column]
    x, w = quaternion_exp(phi)
    if family == CONE_LIMIT_ORDER:
        theta, J_cone, angle = cone_at(model, row, column, x, w)
        return theta, J_cone, neg(real(1.0, w) / real(0.0, w)), angle
    if family == TWIST_LIMIT_ORDER:
        twist, J_twist = twist_at(model, row, column, x, w)
        return twist, J_twist, model.limit_lower[item, column], model.limit_upper[item, column]
    swing_part, J_swing = swing_at(model, row, column, x, w)
    return swing_part, J_swing, model.limit_lower[item, column], model.limit_upper[item, column]


@wp.func
def limit_value(model: ModelArrays, row: int, column: int, phi: Vec3):
    """y of a row and its limits without the Jacobian, which costs more than these."""
    family = hard_family(model, row)
    item = model.row_item[row]
    axis = model.dof_axis[model.root_dofs + item]
    if family == ROTATION_LIMIT_ORDER:
        return component(phi, axis), model.limit_lower[item, column], model.limit_upper[item, column]
    x, w = quaternion_exp(phi)
    if family == TWIST_LIMIT_ORDER:
        return twist_of(x, w), model.limit_lower[item, column], model.limit_upper[item, column]
    theta, n = swing_of(x, w)
    if family == CONE_LIMIT_ORDER:
        return theta, neg(real(1.0, w) / real(0.0, w)), cone_angle_towards(model, row, column, n)
    return theta * component(n, axis), model.limit_lower[item, column], model.limit_upper[item, column]


@wp.func
def set_rotation_limit_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of a limit of two or three free rotations."""
    dof = model.term_dof[model.row_term[row]]
    count = model.row_terms[row]
    zero = real(0.0, h)
    start = start_triple(model, work, dof, dof - model.root_dofs, count, slot)
    y, J, lower, upper = limit_at(model, row, column, start)
    if count == 3:
        J = transpose_mul(turn_to_middle(model, work, dof, column, slot, h), J)
    set_coefficients(model, work, row, slot, J)
    fastest = fastest_way_back(model, work, row, column, slot, dot(J, J))
    set_position_window(work, row, slot, y, lower, upper, fastest, h)
    work.stretch[3 * row, slot] = y
    work.stretch[3 * row + 1, slot] = lower
    work.stretch[3 * row + 2, slot] = upper
    set_unbounded(work, row, slot, h)
    work.compliance[row, slot] = zero
    work.bend[row, slot] = zero
    violation = maximum(maximum(lower - y, y - upper), zero)
    work.slack[row, slot] = violation - minimum(violation * real(RECOVERY, h), h * fastest)


@wp.func
def fastest_way_back(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, square: Real):
    """The rate of y with which the way along J, whose square is given, keeps the velocity limits of the dofs."""
    fastest = real(1.0, square) / real(0.0, square)
    start = model.row_term[row]
    for term in range(start, start + model.row_terms[row]):
        own = absolute(work.coefficient[term, slot])
        most = model.velocity_limit[model.term_dof[term] - model.root_dofs, column] * square
        fastest = where_positive(own, minimum(fastest, most / where_positive(own, own, square)), fastest)
    return fastest


@wp.func
def may_bend(model: ModelArrays, work: WorkArrays, row: int, slot: int, h: Real):
    """Positive where a limit is active, or may be once its curve counts.

    That is (h w)^2 cot(angle) / 2 of a cone that is followed all around it: it is looked at where 4 (h w)^2 would do.
    """
    y = row_velocity(model, work, row, slot)
    gap = minimum(y - work.window[2 * row, slot], work.window[2 * row + 1, slot] - y)
    rate = real(0.0, y)
    for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
        rate = rate + absolute(work.v_next[model.term_dof[term], slot])
    return maximum(work.active[row, slot], rate * rate * h * real(4.0, h) - gap)


@wp.func
def bend_window(
    model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real, bends: Real, is_start: bool
):
    """Move the window of a row by what the end of the step, with v+ so far, misses of its linear prediction.

    If `is_start` that is v+ without rows, but for what leaves the window along J.

    Only where `bends` is positive, and by more than a rounding error: then it returns 1.

    y(q+) is not y + h J v+ for finite rotations; after one or two such corrections the limit holds at q+ itself. To
    follow a curve a limit reverses a velocity. Where it would have to do more, it would give energy: there it stops
    the joint as if it were straight, and `hold_limits` does the rest.
    """
    dof = model.term_dof[model.row_term[row]]
    item = dof - model.root_dofs
    count = model.row_terms[row]
    start = start_triple(model, work, dof, item, count, slot)
    solved = row_velocity(model, work, row, slot)
    within = solved
    if is_start:
        within = minimum(maximum(solved, work.window[2 * row, slot]), work.window[2 * row + 1, slot])
    v = solved_triple(model, work, row, dof, count, column, slot, h, solved - within)
    end = moved_triple(model, item, count, column, start, v, h)
    before = work.stretch[3 * row, slot]
    upper = work.stretch[3 * row + 2, slot]
    after, lower_after, upper_after = limit_value(model, row, column, end)
    if model.row_family[row] == CONE_LIMIT_ORDER:
        after = after * upper / upper_after
    old = work.bend[row, slot]
    bend = within - (after - before) / h
    zero = real(0.0, h)
    y = row_rate(model, work, work.v, row, slot)
    straight_lower = work.window[2 * row, slot] - old
    straight_upper = work.window[2 * row + 1, slot] - old
    most = real(REVERSED, h)
    above = neg(maximum(y, zero) * most) - straight_upper - bend
    below = bend + straight_lower - maximum(neg(y), zero) * most
    bend = where_positive(minimum(above, neg(bend)), zero, where_positive(minimum(below, bend), zero, bend))
    moves = where_positive(absolute(bend - old) * h - real(BENT, h), bends, zero)
    shift = where_positive(moves, bend - old, zero)
    work.bend[row, slot] = old + shift
    set_window(work, row, slot, work.window[2 * row, slot] + shift, work.window[2 * row + 1, slot] + shift)
    return moves


@wp.func
def hold_limits(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Bring joints that have passed limits of finite rotations back onto them, by the shortest way in terms of M.

    What two such ways leave is taken back in the joint alone. Velocities stay as they were. A limit that was violated
    before the step may still be by what `rows.RECOVERY` leaves.
    """
    passes = int(0)
    while passes < HOLDS and find_way_back(model, work, column, slot, passes, h):
        one = real(1.0, h)
        if model.placed_rows > 0:
            for dof in range(model.dof_count):
                work.shift[dof, slot] = work.shift[dof, slot] + work.v_next[dof, slot]
        move_joints(model, work, work.end_position, work.end_root, column, slot, one, 0, 1)
        for item in range(model.dof_count - model.root_dofs):
            moved = work.environment_mask[model.dof_island[model.root_dofs + item], slot]
            work.position[item, slot] = where_positive(moved, work.end_position[item, slot], work.position[item, slot])
        for k in range(pose_rows(model.root_dofs)):
            moved = work.environment_mask[model.dof_island[6 * (k // 7)], slot]
            work.root[k, slot] = where_positive(moved, work.end_root[k, slot], work.root[k, slot])
        passes += 1


@wp.func
def linearize_limit(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int):
    """Write J of a limit at the positions so far."""
    dof = model.term_dof[model.row_term[row]]
    phi = start_triple(model, work, dof, dof - model.root_dofs, model.row_terms[row], slot)
    y, J, lower, upper = limit_at(model, row, column, phi)
    set_coefficients(model, work, row, slot, J)


@wp.func
def find_way_back(model: ModelArrays, work: WorkArrays, column: int, slot: int, passes: int, h: Real):
    """Write to `work.v_next` how the dofs are to move so that no limit is passed; says whether any has to."""
    zero = real(0.0, h)
    found = bool(False)
    for island in range(model.island_count):
        work.environment_mask[island, slot] = zero
    for row in range(model.row_count - model.rotation_rows, model.row_count):
        dof = model.term_dof[model.row_term[row]]
        phi = start_triple(model, work, dof, dof - model.root_dofs, model.row_terms[row], slot)
        y, lower, upper = limit_value(model, row, column, phi)
        over = y - upper - work.slack[row, slot]
        under = lower - y - work.slack[row, slot]
        passed = maximum(over, under) - real(SETTLED, h)
        if any_positive(passed):
            if not found:
                for k in range(model.dof_count):
                    work.v_next[k, slot] = zero
            found = bool(True)
            island = model.row_island[row]
            joining = where_positive(passed, real(1.0, h), zero)
            work.environment_mask[island, slot] = maximum(work.environment_mask[island, slot], joining)
            y_again, J, lower_again, upper_again = limit_at(model, row, column, phi)
            set_coefficients(model, work, row, slot, J)
            way = where_positive(over, neg(over), under) - row_velocity(model, work, row, slot)
            way = where_positive(passed, way, zero)
            if passes < HOLDS_BY_INERTIA:
                prepare_response(model, work, row, slot)
                work.smooth[row, slot] = way / row_response(model, work, row, slot)
                add_responses(model, work, work.smooth, row, row + 1, work.v_next, slot)
            else:
                start = model.row_term[row]
                for term in range(start, start + model.row_terms[row]):
                    k = model.term_dof[term]
                    work.v_next[k, slot] = work.v_next[k, slot] + work.coefficient[term, slot] * way / dot(J, J)
    return found


def rotation_places(articulation: Articulation, layout: DofLayout, is_soft: bool) -> list[Place]:
    """Limits of joints with two rotations."""
    return places_of_joints(layout, lambda joint, dof: len(joint.dofs) == 2 and is_limited(dof, is_soft), is_whole=True)


def twist_places(articulation: Articulation, layout: DofLayout, is_soft: bool) -> list[Place]:
    """Limits of the twist of joints with three rotations."""
    return places_of_joints(layout, lambda joint, dof: _is_of_ball(joint, dof, is_soft, is_twist=True), is_whole=True)


def swing_places(articulation: Articulation, layout: DofLayout, is_soft: bool) -> list[Place]:
    """Limits of components of the swing of joints with three rotations."""
    return places_of_joints(layout, lambda joint, dof: _is_of_ball(joint, dof, is_soft, is_twist=False), is_whole=True)


def _is_of_ball(joint: Joint, dof: Dof, is_soft: bool, is_twist: bool) -> bool:
    has_limit = len(joint.dofs) > 2 and is_limited(dof, is_soft)
    return has_limit and (dof.axis is joint.cone_axis) == is_twist


def cone_places(articulation: Articulation, layout: DofLayout, is_soft: bool) -> list[Place]:
    """Cones; hard and soft ones are counted together."""
    joints = [joint for joint in articulation.joints if joint.cone_limit is not None]
    places = [Place(layout.place(joint), layout.of_joint(joint), cone) for cone, joint in enumerate(joints)]
    return [place for place, joint in zip(places, joints) if joint.cone_limit.is_soft == is_soft]


def cones(articulation: Articulation) -> list[ConeLimit]:
    """All cones, in the order of joints."""
    return [joint.cone_limit for joint in articulation.joints if joint.cone_limit is not None]


def _stop(order: int, name: str, places, label: str = "joint limit", **own) -> ConstraintFamily:
    return ConstraintFamily(
        name=name,
        order=order,
        label=(label, f"{label}s"),
        part=ForcePart.LIMIT,
        places=lambda articulation, layout: places(articulation, layout, False),
        is_stop=True,
        traits=IS_CURVED,
        keeps_stretch=True,
        law=set_rotation_limit_row,
        **own,
    )


ROTATION_LIMIT = _stop(ROTATION_LIMIT_ORDER, "rotation limit", rotation_places)
TWIST_LIMIT = _stop(TWIST_LIMIT_ORDER, "twist limit", twist_places)
SWING_LIMIT = _stop(SWING_LIMIT_ORDER, "swing limit", swing_places)
CONE_LIMIT = _stop(
    CONE_LIMIT_ORDER,
    "cone limit",
    cone_places,
    "cone limit",
    kinds={"cone": lambda articulation: len(cones(articulation))},
    parameters=(
        Parameter(
            name="cone_angle",
            of="cone",
            values=lambda articulation: [end for cone in cones(articulation) for end in (cone.angle_1, cone.angle_2)],
            allowed=ANGLE,
            size=2,
        ),
    ),
)
