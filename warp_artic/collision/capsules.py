"""A capsule and another capsule, or a box: the spheres of the capsule where it may touch.

Any sphere about a point of its axis is within the capsule, and a place is one of these against the other solid. Which
ones: the ends of the part of the axis that is along the other solid, so that what lies along it rests at two places,
and the nearest point of the axis where that is between them.
"""

import warp as wp

from warp_artic.collision.places import set_place_where
from warp_artic.collision.segments import clamp, clamp_one, clamp_to_box, crossing, nearest_to_box, over
from warp_artic.math.directions import across, choose, length, unit_or
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
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
from warp_artic.math.spatial import column, cross, dot, transpose_mul
from warp_artic.model.arrays import Array

SAME = wp.constant(wp.float64(1e-6))
"""Of the size of a pair: distances below are none, and of two that differ by less, either is the least."""
REACH = wp.constant(wp.float64(1e-8))
"""Of the size of a pair of capsules: by how much places may be further away than the nearest one."""
MERGED = wp.constant(wp.float64(0.01))
"""Of the size of a capsule: contact points closer to each other than this are merged."""
ALIGNED = wp.constant(wp.float64(1e-3))
"""Sine of the angle up to which two directions are one."""


@wp.func
def set_axis_place(
    places: Array, place: int, worker: int, used: Real, x0: Vec3, p: Vec3, n: Vec3, radius: Real, gap: Real
):
    """Write the place of the sphere of a capsule about x0 + p, that is used where a number is positive."""
    set_place_where(places, place, worker, used, x0 + p + n * (radius + gap * real(0.5, gap)), n, gap)


@wp.func
def capsule_capsule_place(
    places: Array,
    place: int,
    worker: int,
    used: Real,
    x0: Vec3,
    p: Vec3,
    c: Vec3,
    a1: Vec3,
    radius0: Real,
    radius1: Real,
    sideways: Vec3,
    least: Real,
):
    """Write the place of the sphere about x0 + p against the capsule about x0 + c; with axes that meet, `sideways`."""
    share = clamp_one(over(dot(a1, p - c), dot(a1, a1), least - least))
    distance, n = unit_or(c + a1 * share - p, sideways)
    n = choose(distance - least, n, sideways)
    set_axis_place(places, place, worker, used, x0, p, n, radius0, distance - radius0 - radius1)


@wp.func
def capsule_capsule(
    places: Array, first: int, worker: int, x0: Vec3, R0: Mat3, size0: Vec3, x1: Vec3, R1: Mat3, size1: Vec3
):
    """Two places, the first one towards the end of capsule 0 that is lower in z; where axes cross, only that one.

    The squared distance of a point s on axis 0 from axis 1 is  d^2 + |sine of the angle * (s - s*)|^2  with s* the
    nearest one: where that is within the parts of the axes that are along each other, places are at most so far from
    it that the distance grows by REACH of the size. So parallel capsules touch at both ends of these parts.
    """
    one = real(1.0, size0.x)
    z0 = column(R0, 2)
    z1 = column(R1, 2)
    c = x1 - x0
    h0 = size0.y
    a1 = z1 * size1.y
    # The part of axis 0 along axis 1.
    middle = dot(z0, c)
    half = absolute(dot(z0, a1))
    low = clamp(middle - half, neg(h0), h0)
    high = clamp(middle + half, neg(h0), h0)
    # Its nearest point.
    normal = cross(z0, z1)
    sine_square = dot(normal, normal)
    s = clamp(over(dot(cross(c, z1), normal), sine_square, middle), neg(h0), h0)
    t = clamp(dot(z1, z0 * s - c), neg(size1.y), size1.y)
    s = clamp(dot(z0, c + z1 * t), low, high)
    size = h0 + size1.y + size0.x + size1.x
    least = size * real(SAME, one)
    distance = length(c + z1 * t - z0 * s)
    nearly = size * real(REACH, one)
    reach = sqrt((distance + distance + nearly) * nearly)
    side = over(reach, sqrt(sine_square), size + size)
    is_within = minimum(s - low, high - s) - least
    near_low = where_positive(is_within, maximum(low, s - side), low)
    near_high = where_positive(is_within, minimum(high, s + side), high)
    two = near_high - near_low - (h0 + size0.x) * real(MERGED, one)
    near_low = where_positive(two, near_low, s)
    aside, _other = across(z0)
    _sine, sideways = unit_or(normal * where_positive(dot(normal, c), one, neg(one)), aside)
    sideways = choose(sine_square - real(SAME, one), sideways, aside)
    capsule_capsule_place(places, first, worker, one, x0, z0 * near_low, c, a1, size0.x, size1.x, sideways, least)
    capsule_capsule_place(places, first + 1, worker, two, x0, z0 * near_high, c, a1, size0.x, size1.x, sideways, least)


@wp.func
def axis_in_box(c: Vec3, a: Vec3, size: Vec3, tie: Real):
    """The direction m out of a box in which a segment c + a s, that meets it, is least deep in it, and how far that is,
    as a negative number; with the coordinates that places along the segment are limited in.

    The least depth is that along the normal of a face of the sum of box and segment: of the box, or across one of its
    edges and the segment.
    """
    zero = real(0.0, c.x)
    one = real(1.0, c.x)
    m = vec3(zero, zero, one)
    most = neg(real(1.0e9, zero))
    free = vec3(one, one, zero)
    reach = vec3(absolute(a.x), absolute(a.y), absolute(a.z))
    for i in range(3):
        axis = axis_vector(i, one)
        along = dot(axis, c)
        apart = absolute(along) - dot(axis, size) - dot(axis, reach)
        better = apart - most
        m = choose(better, axis * where_positive(along, one, neg(one)), m)
        free = choose(better, vec3(one, one, one) - axis, free)
        most = maximum(apart, most)
    square = dot(a, a)
    for i in range(3):
        axis = axis_vector(i, one)
        sine, normal = unit_or(cross(axis, a), axis)
        along = dot(normal, c)
        apart = absolute(along) - dot(size, vec3(absolute(normal.x), absolute(normal.y), absolute(normal.z)))
        better = minimum(apart - most - tie, sine * sine - square * real(SAME, one))
        m = choose(better, normal * where_positive(along, one, neg(one)), m)
        free = choose(better, axis, free)
        most = where_positive(better, apart, most)
    return m, most, free


@wp.func
def axis_vector(axis: int, one: Real):
    """A unit vector along x, y or z."""
    zero = one - one
    if axis == 0:
        return vec3(one, zero, zero)
    if axis == 1:
        return vec3(zero, one, zero)
    return vec3(zero, zero, one)


@wp.func
def within_faces(c: Real, a: Real, h: Real, limits: Real, low: Real, high: Real):
    """The part of a segment, from one share to another, on which a coordinate is between -h and h, if it limits it."""
    first = crossing(c, a, neg(h))
    second = crossing(c, a, h)
    return (
        where_positive(limits, maximum(low, minimum(first, second)), low),
        where_positive(limits, minimum(high, maximum(first, second)), high),
    )


@wp.func
def distance_to_box(p: Vec3, size: Vec3, meets: Real, m: Vec3):
    """m and how far a point is from the box along it: from the nearest point, or where the axis meets the box, along
    the one m of all places."""
    distance, out = unit_or(p - clamp_to_box(p, size), m)
    depth = dot(m, p) - dot(size, vec3(absolute(m.x), absolute(m.y), absolute(m.z)))
    return choose(meets, m, out), where_positive(meets, depth, distance)


@wp.func
def set_box_place(
    places: Array,
    place: int,
    worker: int,
    used: Real,
    x0: Vec3,
    R1: Mat3,
    p: Vec3,
    m: Vec3,
    radius: Real,
    distance: Real,
):
    """Write the place of the sphere about x0 + p, so far from the box along m, which is in the frame of the box."""
    set_axis_place(places, place, worker, used, x0, p, R1 * neg(m), radius, distance - radius)


@wp.func
def capsule_box(
    places: Array, first: int, worker: int, x0: Vec3, R0: Mat3, size0: Vec3, x1: Vec3, R1: Mat3, size: Vec3
):
    """Two places at the ends of the part of the axis that is along the box, the first one towards the lower end in z,
    and the nearest point of the axis where it is nearer than both."""
    zero = real(0.0, size.x)
    one = real(1.0, size.x)
    radius = size0.x
    z0 = column(R0, 2)
    c = transpose_mul(R1, x0 - x1)
    a = transpose_mul(R1, z0 * size0.y)
    scale = size.x + size.y + size.z + size0.x + size0.y
    least = scale * real(SAME, one)
    share = nearest_to_box(c, a, size)
    p = c + a * share
    d = p - clamp_to_box(p, size)
    distance, m = unit_or(d, vec3(zero, zero, one))
    meets = least - distance
    aligned = real(ALIGNED, one)
    limits = vec3(aligned - absolute(m.x), aligned - absolute(m.y), aligned - absolute(m.z))
    m_in, distance_in, limits_in = axis_in_box(c, a, size, least)
    m = choose(meets, m_in, m)
    distance = where_positive(meets, distance_in, distance)
    limits = choose(meets, limits_in, limits)
    # Deepest in the box are an end, or, across an edge of the box, where the segment passes that.
    share = where_positive(meets, where_positive(dot(m_in, a), neg(one), one), share)
    edge_normal = cross(limits_in, m_in)
    corner = vec3(
        where_positive(m_in.x, size.x, neg(size.x)),
        where_positive(m_in.y, size.y, neg(size.y)),
        where_positive(m_in.z, size.z, neg(size.z)),
    )
    toward = dot(edge_normal, a)
    past = dot(edge_normal, corner - c)
    pass_share = clamp_one(over(where_positive(toward, past, neg(past)), absolute(toward), share))
    is_edge = where_positive(meets, real(1.5, one) - limits_in.x - limits_in.y - limits_in.z, zero)
    share = where_positive(is_edge, pass_share, share)
    low = neg(one)
    high = one
    low, high = within_faces(c.x, a.x, size.x, limits.x, low, high)
    low, high = within_faces(c.y, a.y, size.y, limits.y, low, high)
    low, high = within_faces(c.z, a.z, size.z, limits.z, low, high)
    span = where_positive(is_edge, zero, high - low)
    close = over((size0.y + radius) * real(MERGED, one), size0.y, one)
    two = span - close
    low = where_positive(minimum(two, share - low - close), low, share)
    high = where_positive(minimum(two, high - share - close), high, share)
    m_low, d_low = distance_to_box(c + a * low, size, meets, m)
    m_high, d_high = distance_to_box(c + a * high, size, meets, m)
    nearer = where_positive(two, minimum(d_low, d_high) - distance - least, zero)
    set_box_place(places, first, worker, one, x0, R1, z0 * (size0.y * low), m_low, radius, d_low)
    set_box_place(places, first + 1, worker, two, x0, R1, z0 * (size0.y * high), m_high, radius, d_high)
    set_box_place(places, first + 2, worker, nearer, x0, R1, z0 * (size0.y * share), m, radius, distance)
