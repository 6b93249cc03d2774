"""How far a point is from a primitive solid, negative within it, and the normal of its surface where that is nearest.

Points are in the frame of the solid. Distances of convex solids are convex functions, of which normals are slopes.
"""

import warp as wp

from warp_artic.collision.kinds import BOX, CAPSULE, PLANE
from warp_artic.collision.segments import clamp_to_box, nearest_share
from warp_artic.math.directions import unit_or
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)


@wp.func
def from_segment(c: Vec3, a: Vec3, aside: Vec3):
    """From the segment about the origin with the half a; `aside` is the normal of a point on it."""
    return unit_or(c - a * nearest_share(a, c), aside)


@wp.func
def from_box(c: Vec3, size: Vec3):
    """From a box with these half extents; from within it, out of the nearest face."""
    zero = real(0.0, c.x)
    one = real(1.0, c.x)
    x = absolute(c.x) - size.x
    y = absolute(c.y) - size.y
    z = absolute(c.z) - size.z
    depth = maximum(maximum(x, y), z)
    is_x = where_positive(depth - x, zero, one)
    is_y = where_positive(is_x, zero, where_positive(depth - y, zero, one))
    face = vec3(
        where_positive(c.x, is_x, neg(is_x)),
        where_positive(c.y, is_y, neg(is_y)),
        where_positive(c.z, one, neg(one)) * (one - is_x - is_y),
    )
    distance, m = unit_or(c - clamp_to_box(c, size), face)
    return where_positive(distance, distance, minimum(depth, zero)), m


@wp.func
def from_solid(kind: int, c: Vec3, size: Vec3):
    """From a plane, a sphere, a capsule or a box, of a size as `collision.collide` has it."""
    zero = real(0.0, c.x)
    one = real(1.0, c.x)
    if kind == PLANE:
        return c.z, vec3(zero, zero, one)
    if kind == BOX:
        return from_box(c, size)
    if kind == CAPSULE:
        distance, m = from_segment(c, vec3(zero, zero, size.y), vec3(one, zero, zero))
        return distance - size.x, m
    from_center, n = from_segment(c, vec3(zero, zero, zero), vec3(zero, zero, one))
    return from_center - size.x, n
