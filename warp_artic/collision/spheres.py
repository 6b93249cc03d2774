"""A sphere and another solid: one place, where the solid is nearest to the centre of the sphere.

With c the centre of the sphere, q the nearest point of the surface of solid 1 and m its normal from there to c,
    n = -m,   gap = m . (c - q) - r,
which is negative too where the centre is in the solid: q is then the nearest point of its surface all the same.
"""

import warp as wp

from warp_artic.collision.places import set_place
from warp_artic.collision.point_distance import from_box, from_segment
from warp_artic.collision.segments import clamp, over
from warp_artic.math.directions import across, choose, unit_or
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
from warp_artic.math.spatial import column, dot, transpose_mul
from warp_artic.model.arrays import Array


@wp.func
def set_sphere_place(places: Array, place: int, worker: int, x0: Vec3, radius: Real, m: Vec3, distance: Real):
    """Write the place of a sphere whose centre is so far from a solid, along m."""
    gap = distance - radius
    set_place(places, place, worker, x0 - m * (radius + gap * real(0.5, gap)), neg(m), gap)


@wp.func
def sphere_sphere(places: Array, first: int, worker: int, x0: Vec3, radius0: Real, x1: Vec3, radius1: Real):
    """Between the centres; where these coincide, along the z axis of the world."""
    zero = real(0.0, radius0)
    distance, m = unit_or(x0 - x1, vec3(zero, zero, neg(real(1.0, zero))))
    set_sphere_place(places, first, worker, x0, radius0, m, distance - radius1)


@wp.func
def sphere_capsule(places: Array, first: int, worker: int, x0: Vec3, radius: Real, x1: Vec3, R1: Mat3, size: Vec3):
    """From the nearest point of the axis; where the centre is on it, across the axis."""
    z = column(R1, 2)
    aside, _other = across(z)
    distance, m = from_segment(x0 - x1, z * size.y, aside)
    set_sphere_place(places, first, worker, x0, radius, m, distance - size.x)


@wp.func
def sphere_box(places: Array, first: int, worker: int, x0: Vec3, radius: Real, x1: Vec3, R1: Mat3, size: Vec3):
    """From the nearest point of the box, or, with the centre in it, out of the nearest face."""
    distance, m = from_box(transpose_mul(R1, x0 - x1), size)
    set_sphere_place(places, first, worker, x0, radius, R1 * m, distance)


@wp.func
def around_axis(c: Vec3, R1: Mat3):
    """The distance of c from the z axis of a frame, the direction across it, and how far it is along it."""
    z = column(R1, 2)
    along = dot(c, z)
    outward = c - z * along
    # Across the axis once more: what rounding left along it would be much of a short vector.
    distance, u = unit_or(outward - z * dot(outward, z), column(R1, 0))
    return distance, u, along


@wp.func
def sphere_cylinder(places: Array, first: int, worker: int, x0: Vec3, radius: Real, x1: Vec3, R1: Mat3, size: Vec3):
    """In the half plane of the axis and the centre, where the cylinder is a rectangle."""
    zero = real(0.0, radius)
    one = real(1.0, radius)
    across_axis, u, along = around_axis(x0 - x1, R1)
    z = column(R1, 2) * where_positive(along, one, neg(one))
    side = across_axis - size.x
    cap = absolute(along) - size.y
    nearest = choose(cap - side, z, u)
    distance, m = unit_or(u * maximum(side, zero) + z * maximum(cap, zero), nearest)
    distance = where_positive(distance, distance, minimum(maximum(side, cap), zero))
    set_sphere_place(places, first, worker, x0, radius, m, distance)


@wp.func
def sphere_cone(places: Array, first: int, worker: int, x0: Vec3, radius: Real, x1: Vec3, R1: Mat3, size: Vec3):
    """In the half plane of the axis and the centre, where the cone is a triangle of the axis, its base and its side."""
    zero = real(0.0, radius)
    one = real(1.0, radius)
    across_axis, u, along = around_axis(x0 - x1, R1)
    z = column(R1, 2)
    # From the rim, with e the direction of the side towards the apex and f its normal.
    x = across_axis - size.x
    y = along + size.y
    height = size.y + size.y
    slant = sqrt(size.x * size.x + height * height)
    e_x = neg(over(size.x, slant, zero))
    e_y = over(height, slant, one)
    f = u * e_y - z * e_x
    share = clamp(x * e_x + y * e_y, zero, slant)
    to_side = u * (x - e_x * share) + z * (y - e_y * share)
    side = x * e_y - y * e_x
    off_ends = where_positive(x * e_x + y * e_y - share, one, where_positive(share - x * e_x - y * e_y, one, zero))
    side_distance, side_normal = unit_or(to_side, f)
    side_normal = choose(off_ends, side_normal, f)
    side_distance = where_positive(off_ends, side_distance, side)
    to_base = u * maximum(x, zero) + z * y
    base_distance, base_normal = unit_or(to_base, neg(z))
    inside = where_positive(maximum(side, neg(y)), zero, one)
    base_distance = where_positive(inside, neg(y), base_distance)
    base_normal = choose(inside, neg(z), base_normal)
    side_distance = where_positive(inside, side, side_distance)
    side_normal = choose(inside, f, side_normal)
    # In the cone the face that is less deep, out of it the nearer one of those that face the centre.
    by_base = where_positive(inside, base_distance - side_distance, side_distance - base_distance)
    by_base = where_positive(inside, by_base, where_positive(y, neg(one), by_base))
    by_base = where_positive(inside, by_base, where_positive(side, by_base, one))
    m = choose(by_base, base_normal, side_normal)
    set_sphere_place(places, first, worker, x0, radius, m, where_positive(by_base, base_distance, side_distance))
