"""Where the shapes of contact pairs touch, or may touch in a step.

The points are those where a step places the links. Shapes that move against each other by more than the half of the
thinner one until then might have passed each other: there the points are those at the start of the step, with the gap
that their velocity leaves, and go on with the smaller shape, as a wheel takes along where it touches the road. Pairs
whose balls do not come near are not looked at. Of a patch of a surface a point counts where its normal is one of the
patch, and not of what the patch goes on in; of what slides level with a face, where it is of that face
(`collision.level_faces`). A pair that joints keep apart has points once all of them have broken.
"""

import warp as wp

from warp_artic.collision.bodies import Body, add_body, body
from warp_artic.collision.box_faces import add_face
from warp_artic.collision.box_pair import add_box_pair
from warp_artic.collision.collide import collide
from warp_artic.collision.kinds import CONE, CYLINDER, PLANE
from warp_artic.collision.level_faces import (
    LEVEL,
    face_toward,
    first_face_axis,
    half_across,
    nearest_to_face,
    parts_at,
)
from warp_artic.collision.places import UNUSED, set_unused
from warp_artic.constraints.contact_given import has_contact, set_given_place
from warp_artic.constraints.contact_motion import shape_axes, shape_origin, shape_turning, shape_velocity
from warp_artic.math.directions import length
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Numbers,
    Real,
    Vec3,
    add,
    any_positive,
    maximum,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import column, cross, dot, transpose_mul
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.phases.link_velocities import move_base, move_link

TILT = wp.constant(1e-3)
"""Sine of the angle up to which what touches a patch of a surface at an edge to another one touches both."""
FAST_SPIN = wp.constant(0.25)
"""Square of the angle of a step from which on a spin is fast [rad^2]."""
UNRESOLVED_SPIN = wp.constant(0.36)
"""The same, times `uneven_inertia`, from which on velocity forces feed themselves (`solver.violent_spin`)."""


@wp.func
def find_contacts(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Find the points of all pairs, for located links, and which of them may touch in a step of length h.

    Those of pairs whose balls do not come near in any environment of the block are unused.
    """
    find_contacts_within(model, work, block, worker, h, h - h)


@wp.func
def find_contacts_within(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real, further: Real):
    """The same, but the points of pairs are found too that are further apart than may touch, by so much [m]."""
    move_base(model, work, block, worker)
    for k in range(model.link_count):
        move_link(model, work, work.v, model.order[k], worker)
    for pair in range(model.contact_count):
        if model.contact_is_given[pair] == 1:
            follow_given(model, work, pair, block, worker, h)
        else:
            find_points(model, work, pair, block, worker, h, further)
    find_landing(model, work, block, worker, h)


@wp.func
def find_landing(model: ModelArrays, work: WorkArrays, block: int, worker: int, like: Real):
    """Write which islands land on what they hit: those with joints and several points that may touch, none of which
    can bounce.

    Where there is one point only, the impact may act from its own moment on, as nothing else can be passed by it.
    """
    zero = real(0.0, like)
    one = real(1.0, like)
    for island in range(model.island_count):
        work.contact_lands[island, worker] = zero
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        island = model.row_island[row]
        near = work.contact_near[model.row_item[row] // 3, worker]
        work.contact_lands[island, worker] = work.contact_lands[island, worker] + near
    for island in range(model.island_count):
        several = work.contact_lands[island, worker] - one
        jointed = real(float(int(model.island_joints[island] > 0)), like)
        work.contact_lands[island, worker] = where_positive(several, jointed, zero)
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        point = model.row_item[row] // 3
        island = model.row_island[row]
        e = model.contact_restitution[model.contact_of_point[point], block]
        lands = where_positive(e * work.contact_near[point, worker], zero, work.contact_lands[island, worker])
        work.contact_lands[island, worker] = lands


@wp.func
def follow_given(model: ModelArrays, work: WorkArrays, pair: int, block: int, worker: int, h: Real):
    """Find where the contact is that a host has given to a pair."""
    place = model.contact_first[pair]
    work.contact_roll[place, worker] = h - h
    if any_positive(has_contact(model, pair, block)):
        set_given_place(model, work, pair, place, block, worker)
        work.contact_near[place, worker] = nearness(model, work, pair, place, block, worker, h)
    else:
        set_unused(work.contact_point, place, worker, load_vec3(work.p_WM, 3 * model.contact_link1[pair], worker))
        work.contact_near[place, worker] = h - h


@wp.func
def find_points(model: ModelArrays, work: WorkArrays, pair: int, block: int, worker: int, h: Real, further: Real):
    """Find the points of a pair of shapes."""
    inner = model.contact_link0[pair]
    outer = model.contact_link1[pair]
    first = model.contact_first[pair]
    motion0 = model.contact_motion0[pair]
    motion1 = model.contact_motion1[pair]
    x_0 = shape_origin(model, work, motion0, inner, model.contact_frame0, pair, block, worker)
    x_1 = shape_origin(model, work, motion1, outer, model.contact_frame1, pair, block, worker)
    moved = closing_at(model, work, pair, x_0, x_1, block, worker) * neg(work.since_placed[0, worker])
    thin = model.contact_thickness[pair, block]
    moved = moved * where_positive(dot(moved, moved) - thin * thin, real(1.0, thin), thin - thin)
    reach = ball_reach(model, work, pair, x_0, x_1, moved, block, worker, h) + further
    if model.contact_keepers[pair] > 0:
        reach = where_positive(is_let_go(model, work, pair, worker, reach), reach, neg(real(1.0, reach)))
    if any_positive(reach):
        body0 = body(
            model.contact_kind0[pair],
            model.contact_hull0[pair],
            model.contact_hull0_count[pair],
            block,
            shape_axes(model, work, motion0, inner, model.contact_frame0, pair, block, worker),
            load_vec3(model.contact_size0, 3 * pair, block),
        )
        body1 = body(
            model.contact_kind1[pair],
            model.contact_hull1[pair],
            model.contact_hull1_count[pair],
            block,
            shape_axes(model, work, motion1, outer, model.contact_frame1, pair, block, worker),
            load_vec3(model.contact_size1, 3 * pair, block),
        )
        collide(model.contact_hull_point, work.contact_point, first, worker, x_0, body0, x_1 + moved, body1)
        goes_on = moved * second_carries(model, pair, block)
        spin_0 = fast_spin(body0, shape_turning(model, work, motion0, inner, block, worker), h)
        spin_1 = fast_spin(body1, shape_turning(model, work, motion1, outer, block, worker), h)
        rolls = any_positive(dot(spin_0, spin_0) + dot(spin_1, spin_1))
        for point in range(first, first + model.contact_points[pair]):
            n = load_vec3(work.contact_point, 7 * point + 3, worker)
            x = load_vec3(work.contact_point, 7 * point, worker)
            if rolls:
                v = cross(spin_0, x - x_0) - cross(spin_1, x - x_1 - moved)
                work.contact_roll[point, worker] = dot(n, v)
            else:
                work.contact_roll[point, worker] = h - h
            store_vec3(work.contact_point, 7 * point, worker, x - goes_on)
            gap = work.contact_point[7 * point + 6, worker] - dot(n, moved)
            if model.contact_keepers[pair] > 0:
                gap = where_positive(is_let_go(model, work, pair, worker, gap), gap, real(UNUSED, gap))
            work.contact_point[7 * point + 6, worker] = gap
            work.contact_near[point, worker] = nearness(model, work, pair, point, block, worker, h)
        if body0.kind != PLANE:
            leave_level(model, work, pair, x_0, body0, x_1 + moved, body1, real(1.0, h), block, worker, h)
            leave_level(model, work, pair, x_1 + moved, body1, x_0, body0, real(-1.0, h), block, worker, h)
    else:
        for point in range(first, first + model.contact_points[pair]):
            set_unused(work.contact_point, point, worker, x_0)
            work.contact_near[point, worker] = h - h


@wp.func
def leave_level(
    model: ModelArrays,
    work: WorkArrays,
    pair: int,
    x: Vec3,
    own: Body,
    x_other: Vec3,
    other: Body,
    sense: Real,
    block: int,
    worker: int,
    h: Real,
):
    """Leave out the points of a pair that a face of one of its shapes, with which the other one is level, parts.

    `sense` is 1 where the face is of the first one, -1 where it is of the second one.
    """
    first = model.contact_first[pair]
    level = real(LEVEL, h) * model.contact_thickness[pair, block]
    zero = h - h
    for axis in range(first_face_axis(own), 3):
        c = face_toward(model.contact_hull_point, own, axis, other, x_other - x)
        nearest = x_other + nearest_to_face(model.contact_hull_point, c, other)
        between = dot(c, nearest - x) - half_across(own, axis)
        if any_positive(between + level):
            closing = sense * dot(c, closing_at(model, work, pair, nearest, nearest, block, worker))
            between = between - h * maximum(closing, zero)
            for point in range(first, first + model.contact_points[pair]):
                n = load_vec3(work.contact_point, 7 * point + 3, worker) * sense
                gap = work.contact_point[7 * point + 6, worker]
                near = work.contact_near[point, worker]
                work.contact_near[point, worker] = near - near * parts_at(c, n, between, level, gap, other)


@wp.func
def fast_spin(body: Body, w: Vec3, h: Real):
    """The part of an angular velocity about the axis of a cylinder or cone, where it turns far by that in a step h.

    Turning about its axis does not move such a surface along its normals.
    """
    zero = h - h
    if body.kind == CYLINDER or body.kind == CONE:
        axis = column(body.R, 2)
        spin = dot(axis, w)
        return axis * where_positive(spin * spin * h * h - real(FAST_SPIN, h), spin, zero)
    return vec3(zero, zero, zero)


@wp.func
def second_carries(model: ModelArrays, pair: int, block: int):
    """One where points of a pair go on with the second shape: it is smaller, or slides over a plane or a patch.

    Half of it where both are as large.
    """
    inner = model.contact_radius0[pair, block]
    outer = model.contact_radius1[pair, block]
    one = real(1.0, inner)
    zero = one - one
    if model.contact_kind0[pair] == PLANE or model.contact_patch[pair] == 0:
        return one
    if model.contact_patch[pair] == 1:
        return zero
    half = real(0.5, inner)
    return half + where_positive(inner - outer, half, zero) - where_positive(outer - inner, half, zero)


@wp.func
def is_let_go(model: ModelArrays, work: WorkArrays, pair: int, worker: int, like: Real):
    """One where all joints have broken that keep a pair apart, else zero."""
    found = real(1.0, like)
    first = model.contact_keeper[pair]
    for keeper in range(first, first + model.contact_keepers[pair]):
        found = found * work.loop_is_broken[model.keeper_loop[keeper], worker]
    return found


@wp.func
def ball_reach(
    model: ModelArrays,
    work: WorkArrays,
    pair: int,
    x_0: Vec3,
    x_1: Vec3,
    moved: Vec3,
    block: int,
    worker: int,
    h: Real,
):
    """Not positive where no point of a pair may touch in a step, by the balls about the frames of its shapes.

    Points are in the ball of the second shape, but for what they are away from it along their normals.
    """
    x = x_1 + moved
    inner = model.contact_link0[pair]
    outer = model.contact_link1[pair]
    radius = model.contact_radius1[pair, block]
    turning_0 = shape_turning(model, work, model.contact_motion0[pair], inner, block, worker)
    turning_1 = shape_turning(model, work, model.contact_motion1[pair], outer, block, worker)
    closing = length(closing_at(model, work, pair, x, x, block, worker)) + length(turning_1 - turning_0) * radius
    height = pair_distance(model, work, pair, x - x_0, block, worker)
    reach = model.contact_distance[pair, block] + h * closing + length(moved)
    return reach + model.contact_radius0[pair, block] + radius - height


@wp.func
def pair_distance(model: ModelArrays, work: WorkArrays, pair: int, c: Vec3, block: int, worker: int):
    """How far the second frame of a pair is from the first one, or over it where that is of a plane."""
    if model.contact_kind0[pair] == PLANE:
        R = first_axes(model, work, pair, block, worker)
        return dot(column(R, 2), c)
    return length(c)


@wp.func
def first_axes(model: ModelArrays, work: WorkArrays, pair: int, block: int, worker: int):
    """The orientation of the first shape of a pair."""
    motion0 = model.contact_motion0[pair]
    return shape_axes(model, work, motion0, model.contact_link0[pair], model.contact_frame0, pair, block, worker)


@wp.func
def closing_at(model: ModelArrays, work: WorkArrays, pair: int, x_0: Vec3, x_1: Vec3, block: int, worker: int):
    """The velocity of a point of the first shape of a pair less that of a point of the second one."""
    v_0 = shape_velocity(model, work, model.contact_motion0[pair], model.contact_link0[pair], x_0, block, worker)
    v_1 = shape_velocity(model, work, model.contact_motion1[pair], model.contact_link1[pair], x_1, block, worker)
    return v_0 - v_1


@wp.func
def nearness(model: ModelArrays, work: WorkArrays, pair: int, point: int, block: int, worker: int, h: Real):
    """One where a point may touch in a step, zero elsewhere."""
    x = load_vec3(work.contact_point, 7 * point, worker)
    n = load_vec3(work.contact_point, 7 * point + 3, worker)
    gap = work.contact_point[7 * point + 6, worker]
    one = real(1.0, gap)
    closing = dot(n, closing_at(model, work, pair, x, x, block, worker)) - work.contact_roll[point, worker]
    closing = maximum(closing, one - one)
    reach = model.contact_distance[pair, block] + h * closing - gap
    near = where_positive(reach, one, one - one)
    if model.contact_patch[pair] >= 0 and any_positive(near):
        return near * is_of_patch(model, work, pair, n, block, worker)
    return near


@wp.func
def is_of_patch(model: ModelArrays, work: WorkArrays, pair: int, n: Vec3, block: int, worker: int):
    """One where n, toward the second shape, is a normal of the patch and not of what it goes on in, else zero.

    Beyond an edge, n is tilted from the normal of the patch to the side, at most by the angle that the surface bends.
    """
    if model.contact_patch[pair] == 0:
        return is_of_surface(model, pair, transpose_mul(first_axes(model, work, pair, block, worker), n), block)
    motion1 = model.contact_motion1[pair]
    R_1 = shape_axes(model, work, motion1, model.contact_link1[pair], model.contact_frame1, pair, block, worker)
    return is_of_surface(model, pair, neg(transpose_mul(R_1, n)), block)


@wp.func
def is_of_surface(model: ModelArrays, pair: int, n: Vec3, block: int):
    """The same, for n in the frame of the patch and away from it."""
    one = real(1.0, n.x)
    zero = one - one
    found = where_positive(n.z + real(float(2 - 2 * model.contact_one_sided[pair]), one), one, zero)
    first = model.contact_seam[pair]
    for seam in range(first, first + model.contact_seams[pair]):
        row = 4 * seam
        out = n.x * model.contact_seam_way[row, block] + n.y * model.contact_seam_way[row + 1, block]
        bent = out * model.contact_seam_way[row + 2, block] - n.z * model.contact_seam_way[row + 3, block]
        # Seen from the back of the patch the bend has the other sign: any tilt beyond the edge is refused there.
        found = where_positive(where_positive(n.z, bent, out) - real(TILT, one), zero, found)
    return found


def add_detection(numbers: Numbers) -> None:
    """Let the shapes that are looked at take a further number type."""
    add_body(numbers)
    add_box_pair(numbers)
    add_face(numbers)
