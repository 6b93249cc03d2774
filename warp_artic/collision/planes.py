"""A plane, the solid z <= 0 of its frame, and another solid: places are points of that solid, each over the plane.

    gap = N . (p - x0),   N the z axis of the plane.

Places are ends of a capsule (its lower one first in z), corners of a box (bits 0, 1 and 2 of a place: the positive side
in x, y and z), points on the rims of cylinders and cones, and vertices of a hull.
"""

import warp as wp

from warp_artic.collision.bodies import ellipsoid_point
from warp_artic.collision.hulls import furthest_vertex
from warp_artic.collision.places import set_place, set_place_where
from warp_artic.math.directions import across_steadily, choose, unit_or
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
    div,
    minimum,
    mul,
    neg,
    real,
    sub,
)
from warp_artic.math.rotation import ratio
from warp_artic.math.spatial import column, dot, transpose_mul
from warp_artic.model.arrays import Array

STEADY = wp.constant(wp.float64(1e-4))
"""Sine of the tilt below which a cylinder stands: what is its lowest point then follows its own axes, not rounding."""
TILT = wp.constant(wp.float64(0.05))
"""By how much the directions are tilted in which a hull has four of its places."""
TILT_COSINE = wp.constant(wp.float64(0.745))
TILT_SINE = wp.constant(wp.float64(0.667))
"""Of the turn of these directions against axes of the hull: some 42 degrees, at which corners of boxes are no ties."""


@wp.func
def set_point_over(places: Array, place: int, worker: int, N: Vec3, height: Real, x1: Vec3, r: Vec3):
    """Write the place of the point x1 + r of a solid whose x1 is so far over the plane."""
    gap = height + dot(N, r)
    set_place(places, place, worker, x1 + r - N * (gap * real(0.5, gap)), N, gap)


@wp.func
def plane_sphere(places: Array, first: int, worker: int, x0: Vec3, R0: Mat3, x1: Vec3, radius: Real):
    """The lowest point."""
    N = column(R0, 2)
    set_point_over(places, first, worker, N, dot(N, x1 - x0), x1, N * neg(radius))


@wp.func
def plane_ellipsoid(places: Array, first: int, worker: int, x0: Vec3, R0: Mat3, x1: Vec3, R1: Mat3, size: Vec3):
    """The lowest point."""
    N = column(R0, 2)
    low = R1 * ellipsoid_point(size, transpose_mul(R1, neg(N)))
    set_point_over(places, first, worker, N, dot(N, x1 - x0), x1, low)


@wp.func
def plane_capsule(places: Array, first: int, worker: int, x0: Vec3, R0: Mat3, x1: Vec3, R1: Mat3, size: Vec3):
    """The lowest points of both ends."""
    N = column(R0, 2)
    a = column(R1, 2) * size.y
    height = dot(N, x1 - x0)
    low = N * neg(size.x)
    set_point_over(places, first, worker, N, height, x1, low - a)
    set_point_over(places, first + 1, worker, N, height, x1, low + a)


@wp.func
def plane_box(places: Array, first: int, worker: int, x0: Vec3, R0: Mat3, x1: Vec3, R1: Mat3, size: Vec3):
    """The corners."""
    N = column(R0, 2)
    a = column(R1, 0) * size.x
    b = column(R1, 1) * size.y
    c = column(R1, 2) * size.z
    height = dot(N, x1 - x0)
    set_point_over(places, first, worker, N, height, x1, neg(a) - b - c)
    set_point_over(places, first + 1, worker, N, height, x1, a - b - c)
    set_point_over(places, first + 2, worker, N, height, x1, b - a - c)
    set_point_over(places, first + 3, worker, N, height, x1, a + b - c)
    set_point_over(places, first + 4, worker, N, height, x1, c - a - b)
    set_point_over(places, first + 5, worker, N, height, x1, a - b + c)
    set_point_over(places, first + 6, worker, N, height, x1, b - a + c)
    set_point_over(places, first + 7, worker, N, height, x1, a + b + c)


@wp.func
def lowest_radius(N: Vec3, R1: Mat3):
    """The unit vector across the z axis of a solid that goes down steepest, and its other side, a quarter turn on.

    Where the solid stands, every one does: there it is the x axis of the solid. One that lies would roll by itself if
    that axis counted.
    """
    x = column(R1, 0)
    y = column(R1, 1)
    along_x = neg(dot(N, x))
    along_y = neg(dot(N, y))
    steady = real(STEADY, N.x)
    least = steady * steady
    along_x = along_x + steady * (least / (least + along_x * along_x + along_y * along_y))
    _size, u = unit_or(x * along_x + y * along_y, x)
    _size, v = unit_or(y * along_x - x * along_y, y)
    return u, v


@wp.func
def plane_cylinder(places: Array, first: int, worker: int, x0: Vec3, R0: Mat3, x1: Vec3, R1: Mat3, size: Vec3):
    """The ends of the lowest line of its side, upper end in z first, then two more points of the lower rim.

    These are a third of a turn to both sides, so that the three of the lower rim carry a cylinder that stands.
    """
    N = column(R0, 2)
    z = column(R1, 2)
    u, v = lowest_radius(N, R1)
    height = dot(N, x1 - x0)
    a = z * size.y
    set_point_over(places, first, worker, N, height, x1, u * size.x + a)
    set_point_over(places, first + 1, worker, N, height, x1, u * size.x - a)
    low = choose(dot(N, z), neg(a), a) - u * (size.x * real(0.5, size.x))
    aside = v * (size.x * third_sine(size.x))
    set_point_over(places, first + 2, worker, N, height, x1, low + aside)
    set_point_over(places, first + 3, worker, N, height, x1, low - aside)


@wp.func
def third_sine(like: Real):
    """The sine of a third of a turn."""
    return ratio(8660254037844386.0, 10000000000000000.0, like)


@wp.func
def plane_cone(places: Array, first: int, worker: int, x0: Vec3, R0: Mat3, x1: Vec3, R1: Mat3, size: Vec3):
    """The apex, the lowest point of the rim, and two more points of it a third of a turn to both sides."""
    N = column(R0, 2)
    a = column(R1, 2) * size.y
    u, v = lowest_radius(N, R1)
    height = dot(N, x1 - x0)
    set_point_over(places, first, worker, N, height, x1, a)
    set_point_over(places, first + 1, worker, N, height, x1, u * size.x - a)
    base = neg(a) - u * (size.x * real(0.5, size.x))
    aside = v * (size.x * third_sine(size.x))
    set_point_over(places, first + 2, worker, N, height, x1, base + aside)
    set_point_over(places, first + 3, worker, N, height, x1, base - aside)


@wp.func
def set_vertex_over(places: Array, place: int, worker: int, used: Real, N: Vec3, height: Real, x1: Vec3, r: Vec3):
    """Write the place of the point x1 + r, that is used where a number is positive."""
    gap = height + dot(N, r)
    set_place_where(places, place, worker, used, x1 + r - N * (gap * real(0.5, gap)), N, gap)


@wp.func
def plane_convex(
    places: Array,
    first: int,
    worker: int,
    x0: Vec3,
    R0: Mat3,
    x1: Vec3,
    R1: Mat3,
    hull_points: Array,
    hull_first: int,
    hull_count: int,
    block: int,
):
    """The vertices that are lowest where the plane is tilted, a little, to four sides that turn with the hull, and the
    lowest vertex. Of places with the same vertex only the first one is used."""
    N = column(R0, 2)
    height = dot(N, x1 - x0)
    one = real(1.0, height)
    down = transpose_mul(R1, neg(N))
    s, t = across_steadily(down)
    e = s * real(TILT_COSINE, one) + t * real(TILT_SINE, one)
    f = t * real(TILT_COSINE, one) - s * real(TILT_SINE, one)
    tilt = real(TILT, one)
    v_0, number_0 = furthest_vertex(hull_points, hull_first, hull_count, block, down + e * tilt)
    v_1, number_1 = furthest_vertex(hull_points, hull_first, hull_count, block, down + f * tilt)
    v_2, number_2 = furthest_vertex(hull_points, hull_first, hull_count, block, down - e * tilt)
    v_3, number_3 = furthest_vertex(hull_points, hull_first, hull_count, block, down - f * tilt)
    v_4, number_4 = furthest_vertex(hull_points, hull_first, hull_count, block, down)
    new_1 = absolute(number_1 - number_0)
    new_2 = minimum(absolute(number_2 - number_0), absolute(number_2 - number_1))
    new_3 = minimum(absolute(number_3 - number_0), absolute(number_3 - number_1))
    new_3 = minimum(new_3, absolute(number_3 - number_2))
    new_4 = minimum(absolute(number_4 - number_0), absolute(number_4 - number_1))
    new_4 = minimum(new_4, minimum(absolute(number_4 - number_2), absolute(number_4 - number_3)))
    set_vertex_over(places, first, worker, one, N, height, x1, R1 * v_0)
    set_vertex_over(places, first + 1, worker, new_1, N, height, x1, R1 * v_1)
    set_vertex_over(places, first + 2, worker, new_2, N, height, x1, R1 * v_2)
    set_vertex_over(places, first + 3, worker, new_3, N, height, x1, R1 * v_3)
    set_vertex_over(places, first + 4, worker, new_4, N, height, x1, R1 * v_4)
