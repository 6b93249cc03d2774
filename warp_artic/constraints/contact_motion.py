"""What the motion of kinematic bodies adds to the velocities of points of contact.

Shapes of a kinematic body are where it has moved them since the start, X_WB of `model.base`, and so are their
velocities: those of the body where the point x is at the time s after bodies are placed, as x goes with the centre of
mass of the link that touches it, at its velocity u before the step,
    c(x) = V + w x r + s (A + alpha x r + w x (u - V)),   r = x - p_WB
Where neither shape has a motion of its own both are on the links, or on the world as it carries these, and y = J v.
Else y = J v + o with the drift  o = d^T (c_1 - c_0),  where c of a shape on a link is that of the base of its tree.
Velocities before a substep are those at its start, or earlier by the lead of a point (`constraints.contact_bias`). The
gap at the time s is that where bodies are placed, and  s (o_V + s o_A / 2)  more. A surface that moves beside its body,
as a belt does, adds its velocity to o across the normal, likewise where the point is at the time s. Along the
normal o has what takes a fast spin off J v that does not change the gap (`constraints.contact_detection`).
"""

import warp as wp

from warp_artic.constraints.contact import tangents
from warp_artic.constraints.loop_geometry import frame_axes, frame_origin
from warp_artic.constraints.rows import row_rate, row_velocity
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    mul,
    real,
    sub,
    vec3,
)
from warp_artic.math.spatial import cross, dot, mat_mul
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_mat3, load_vec3
from warp_artic.model.base import (
    BASE_ANGULAR,
    BASE_ANGULAR_RATE,
    BASE_LINEAR,
    BASE_LINEAR_RATE,
    BASE_POSITION,
    BASE_ROTATION,
)
from warp_artic.model.families import IS_CONTACT, has_trait
from warp_artic.phases.point_motion import point_velocity

ROWS = wp.constant(30)
"""Of a motion in `model.contact_motion`: those of a base, and the velocity of its surface beside it."""
SURFACE_ANGULAR = wp.constant(24)
SURFACE_LINEAR = wp.constant(27)


@wp.func
def contact_sign(model: ModelArrays, point: int, like: Real):
    """-1 where detection takes the shapes of the pair the other way round, else 1."""
    return real(float(model.contact_sense[model.contact_of_point[point]]), like)


@wp.func
def shape_origin(
    model: ModelArrays, work: WorkArrays, motion: int, link: int, frames: Array, pair: int, block: int, worker: int
):
    """Where the frame of a shape is, on a link or with a motion."""
    if motion >= 0:
        first = ROWS * motion
        r = load_mat3(model.contact_motion, first + BASE_ROTATION, block) * load_vec3(frames, 12 * pair + 9, block)
        return load_vec3(model.contact_motion, first + BASE_POSITION, block) + r
    return frame_origin(work.R_WM, work.p_WM, link, frames, pair, block, worker)


@wp.func
def shape_axes(
    model: ModelArrays, work: WorkArrays, motion: int, link: int, frames: Array, pair: int, block: int, worker: int
):
    """Its orientation."""
    if motion >= 0:
        R_WB = load_mat3(model.contact_motion, ROWS * motion + BASE_ROTATION, block)
        return mat_mul(R_WB, load_mat3(frames, 12 * pair, block))
    return frame_axes(work.R_WM, link, frames, pair, block, worker)


@wp.func
def shape_velocity(model: ModelArrays, work: WorkArrays, motion: int, link: int, x: Vec3, block: int, worker: int):
    """The velocity of a point of a shape, with those of links in `work.angular` and `work.linear`."""
    if motion >= 0:
        return rate_at(model.contact_motion, ROWS * motion, BASE_ANGULAR, BASE_LINEAR, x, block)
    r = x - load_vec3(work.p_WM, 3 * link, worker)
    return load_vec3(work.linear, 3 * link, worker) + cross(load_vec3(work.angular, 3 * link, worker), r)


@wp.func
def shape_turning(model: ModelArrays, work: WorkArrays, motion: int, link: int, block: int, worker: int):
    """The angular velocity of a shape."""
    if motion >= 0:
        return load_vec3(model.contact_motion, ROWS * motion + BASE_ANGULAR, block)
    return load_vec3(work.angular, 3 * link, worker)


@wp.func
def rate_at(motions: Array, first: int, angular: int, linear: int, x: Vec3, block: int):
    """A velocity, or the rate of one, at a point of a body whose rows begin at `first`."""
    r = x - load_vec3(motions, first + BASE_POSITION, block)
    return load_vec3(motions, first + linear, block) + cross(load_vec3(motions, first + angular, block), r)


@wp.func
def carrier_rate(model: ModelArrays, motion: int, angular: int, linear: int, x: Vec3, block: int):
    """The same of what moves a shape from outside: its motion, or the base of its tree."""
    if motion >= 0:
        return rate_at(model.contact_motion, ROWS * motion, angular, linear, x, block)
    return rate_at(model.base, 0, angular, linear, x, block)


@wp.func
def drift_at(model: ModelArrays, pair: int, angular: int, linear: int, x: Vec3, block: int):
    """The same of what moves the second shape of a pair, less that of the first one."""
    inner = model.contact_motion0[pair]
    outer = model.contact_motion1[pair]
    if inner < 0 and outer < 0:
        return x - x
    moves = carrier_rate(model, outer, angular, linear, x, block)
    return moves - carrier_rate(model, inner, angular, linear, x, block)


@wp.func
def turning_drift(model: ModelArrays, work: WorkArrays, pair: int, angular: int, block: int, worker: int):
    """w x (u - V) of what moves the second shape of a pair, less that of the first one; w is at `angular`."""
    inner = model.contact_motion0[pair]
    outer = model.contact_motion1[pair]
    if inner >= 0:
        return turning_at(model, work, outer, inner, angular, model.contact_link1[pair], block, worker)
    if outer >= 0:
        return turning_at(model, work, outer, inner, angular, model.contact_link0[pair], block, worker)
    zero = real(0.0, work.v_free[0, worker])
    return vec3(zero, zero, zero)


@wp.func
def turning_at(
    model: ModelArrays, work: WorkArrays, outer: int, inner: int, angular: int, link: int, block: int, worker: int
):
    """The same for the link that is touched."""
    x = load_vec3(work.p_WM, 3 * link, worker)
    x = x + load_mat3(work.R_WM, 9 * link, worker) * load_vec3(model.link_center, 3 * link, block)
    u = point_velocity(model, work, link, model.link_count, x, work.v, worker)
    u = u + rate_at(model.base, 0, BASE_ANGULAR, BASE_LINEAR, x, block)
    return turning_of(model, outer, angular, u, block) - turning_of(model, inner, angular, u, block)


@wp.func
def turning_of(model: ModelArrays, motion: int, angular: int, u: Vec3, block: int):
    """w x (u - V) of a motion, or of the base, whose surface does not move beside it."""
    if motion >= 0:
        first = ROWS * motion
        w = load_vec3(model.contact_motion, first + angular, block)
        return cross(w, u - load_vec3(model.contact_motion, first + BASE_LINEAR, block))
    if angular == SURFACE_ANGULAR:
        return u - u
    return cross(load_vec3(model.base, BASE_ANGULAR, block), u - load_vec3(model.base, BASE_LINEAR, block))


@wp.func
def surface_rate(model: ModelArrays, motion: int, x: Vec3, block: int):
    """The velocity of a surface beside that of its body."""
    if motion >= 0:
        return rate_at(model.contact_motion, ROWS * motion, SURFACE_ANGULAR, SURFACE_LINEAR, x, block)
    return x - x


@wp.func
def time_of_rate(work: WorkArrays, point: int, worker: int, h: Real):
    """The time from where links are placed to that at which y of a point counts before a substep (`contact_bias`)."""
    return work.since_placed[0, worker] - work.contact_lead[point, worker] * h


@wp.func
def set_drift(model: ModelArrays, work: WorkArrays, point: int, block: int, worker: int, h: Real):
    """Write what motions give the directions of a point beside J v before and after a step, and its gap."""
    zero = real(0.0, h)
    s = work.since_placed[0, worker]
    t = time_of_rate(work, point, worker, h)
    for item in range(3 * point, 3 * point + 3):
        work.contact_drift_before[item, worker] = zero
        work.contact_drift[item, worker] = zero
    work.contact_moved[point, worker] = zero
    if model.contact_motions > 0:
        pair = model.contact_of_point[point]
        x = load_vec3(work.contact_point, 7 * point, worker)
        n = load_vec3(work.contact_point, 7 * point + 3, worker)
        V = drift_at(model, pair, BASE_ANGULAR, BASE_LINEAR, x, block)
        A = drift_at(model, pair, BASE_ANGULAR_RATE, BASE_LINEAR_RATE, x, block)
        A = A + turning_drift(model, work, pair, BASE_ANGULAR, block, worker)
        before = V + A * t
        after = V + A * (t + h)
        work.contact_moved[point, worker] = dot(n, V + A * (s * real(0.5, s))) * s
        t_1, t_2 = tangents(n)
        set_drift_along(work, 3 * point, worker, n, before, after)
        slides = surface_rate(model, model.contact_motion1[pair], x, block)
        slides = slides - surface_rate(model, model.contact_motion0[pair], x, block)
        turns = turning_drift(model, work, pair, SURFACE_ANGULAR, block, worker)
        before = before + slides + turns * t
        after = after + slides + turns * (t + h)
        set_drift_along(work, 3 * point + 1, worker, t_1, before, after)
        set_drift_along(work, 3 * point + 2, worker, t_2, before, after)
    roll = work.contact_roll[point, worker]
    if any_positive(absolute(roll)):
        work.contact_drift_before[3 * point, worker] = work.contact_drift_before[3 * point, worker] + roll
        work.contact_drift[3 * point, worker] = work.contact_drift[3 * point, worker] + roll
        work.contact_moved[point, worker] = work.contact_moved[point, worker] + roll * s


@wp.func
def set_drift_along(work: WorkArrays, item: int, worker: int, d: Vec3, before: Vec3, after: Vec3):
    """Write those of a direction."""
    work.contact_drift_before[item, worker] = dot(d, before)
    work.contact_drift[item, worker] = dot(d, after)


@wp.func
def add_bias(work: WorkArrays, item: int, worker: int, h: Real):
    """Add what c gives a direction (`constraints.contact_bias`)."""
    t = time_of_rate(work, item // 3, worker, h)
    c = work.contact_bias[item, worker]
    work.contact_drift_before[item, worker] = work.contact_drift_before[item, worker] + c * t
    work.contact_drift[item, worker] = work.contact_drift[item, worker] + c * (t + h)
    if item % 3 == 0:
        s = work.since_placed[0, worker]
        moved = c * s * s * real(0.5, s)
        work.contact_moved[item // 3, worker] = work.contact_moved[item // 3, worker] + moved


@wp.func
def drift_of(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """What y of a row of contacts has beside J v+."""
    return work.contact_drift[model.row_item[row], worker]


@wp.func
def velocity_before(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """y of a row of contacts before the step."""
    return row_rate(model, work, work.v, row, worker) + work.contact_drift_before[model.row_item[row], worker]


@wp.func
def velocity_after(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """y of a row of contacts with the velocities v+ so far."""
    return row_velocity(model, work, row, worker) + drift_of(model, work, row, worker)


@wp.func
def acceleration_before(model: ModelArrays, work: WorkArrays, row: int, worker: int, h: Real):
    """The rate of y of a row of contacts without impulses, in a step of length h."""
    item = model.row_item[row]
    drift = work.contact_drift[item, worker] - work.contact_drift_before[item, worker]
    return row_rate(model, work, work.vdot, row, worker) + drift / h


@wp.func
def gap_before(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """The gap of a normal, beyond that at which contacts rest, at the start of the step."""
    point = model.row_item[row] // 3
    gap = work.contact_point[7 * point + 6, worker] - model.contact_rest[model.contact_of_point[point], block]
    return gap + row_rate(model, work, work.shift, row, worker) + work.contact_moved[point, worker]


@wp.func
def add_drift(model: ModelArrays, work: WorkArrays, a: int, row: int, worker: int):
    """Add what a gathered row of contacts has beside J v+ to its velocity without impulses."""
    if has_trait(model, row, IS_CONTACT):
        work.y_free[a, worker] = work.y_free[a, worker] + work.contact_drift[model.row_item[row], worker]
