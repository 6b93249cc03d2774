"""Flat faces that part two solids, so that one slides past the other level with such a face.

A box that slides over a floor of boxes comes to the next one of them at an edge. Before, the two are apart across that
edge, and so a contact point there would stop the box, or trip it up; but they are also apart by the plane of the upper
face, which it slides along. Two convex solids are apart where any plane parts them, so points whose normal is not that
of such a face do not count while it goes on parting them. A box that leans on an edge is held by it, and so is any hull
that is no box.
"""

import warp as wp

from warp_artic.collision.bodies import Body, middle_of, round_radius, support
from warp_artic.collision.kinds import BOX, CONE, CONVEX, CYLINDER
from warp_artic.collision.signs import signed
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    add,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.math.spatial import column, dot
from warp_artic.model.arrays import Array

LEVEL = wp.constant(0.01)
"""Overlap, as a share of half of the thinner solid, up to which a face parts two solids: what rests sinks in less."""
ALONG = wp.constant(0.99)
"""Cosine of the angle to the normal of a face up to which a contact point is one of it."""
EDGE = wp.constant(0.999999)
"""The same, up to which what is round and apart is above the face."""
UPRIGHT = wp.constant(0.8)
"""Square of the cosine between the axis of a cylinder or cone and a face from which on it stands on that one."""
LYING = wp.constant(0.999)
"""Square of the cosine between an axis of a box and a face from which on the box lies on it."""
LEAST_GAP = wp.constant(1e-3)
"""Gap from which on it is apart, as a share of LEVEL."""


@wp.func
def first_face_axis(body: Body):
    """The first of the axes x, y and z of a solid across which it has flat faces on both sides; 3 where none has."""
    if body.kind == BOX:
        return 0
    if body.kind == CYLINDER:
        return 2
    return 3


@wp.func
def half_across(body: Body, axis: int):
    """How far a face is from the middle of a solid."""
    if body.kind == CYLINDER:
        return body.size.y
    if axis == 0:
        return body.size.x
    if axis == 1:
        return body.size.y
    return body.size.z


@wp.func
def face_toward(hull_points: Array, body: Body, axis: int, other: Body, way: Vec3):
    """The normal of the face across an axis that is on the side of another solid, `way` from the first one."""
    c = column(body.R, axis)
    middle, _size = middle_of(hull_points, other)
    return c * signed(real(1.0, way.x), dot(c, way + middle))


@wp.func
def nearest_to_face(hull_points: Array, c: Vec3, other: Body):
    """The point of a solid that is nearest to a face with the normal c, or behind it, from the origin of the solid."""
    return support(hull_points, other, neg(c)) - c * round_radius(other)


@wp.func
def along_an_axis(body: Body, c: Vec3):
    """The largest square of the cosine between a direction and an axis of a solid."""
    x, y, z = dot(column(body.R, 0), c), dot(column(body.R, 1), c), dot(column(body.R, 2), c)
    return maximum(x * x, maximum(y * y, z * z))


@wp.func
def parts_at(c: Vec3, n: Vec3, between: Real, level: Real, gap: Real, other: Body):
    """One where a face with the normal c parts two solids, by a distance `between`, from a point with n and gap.

    What is round and comes to an edge does so along a normal that is nearly c: there the gap tells whether it rolls off
    over the edge, or on over the next face.
    """
    one = real(1.0, gap)
    zero = one - one
    along = dot(n, c)
    across = real(ALONG, gap) - along
    parted = where_positive(across, where_positive(between + level, one, zero), zero)
    if other.kind == CONVEX:
        return zero
    if other.kind == BOX:
        return where_positive(along_an_axis(other, c) - real(LYING, gap), parted, zero)
    tolerated = where_positive(across, level, minimum(gap * real(0.5, gap), level))
    comes = where_positive(gap - level * real(LEAST_GAP, gap), real(EDGE, gap) - along, neg(one))
    rolls = where_positive(maximum(across, comes), where_positive(between + tolerated, one, zero), zero)
    if other.kind == CYLINDER or other.kind == CONE:
        axis = dot(column(other.R, 2), c)
        return where_positive(axis * axis - real(UPRIGHT, gap), parted, rolls)
    return rolls
