"""Vertices of convex hulls, three rows each of an array."""

import warp as wp

from warp_artic.math.directions import choose
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Vec3,
    add,
    div,
    maximum,
    mul,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import Array, load_vec3


@wp.func
def furthest_vertex(hull_points: Array, hull_first: int, hull_count: int, block: int, u: Vec3):
    """The vertex that is furthest along u, and which one it is; of equals the first one. In the frame of the hull."""
    best = load_vec3(hull_points, 3 * hull_first, block)
    most = dot(u, best)
    number = real(0.0, most)
    for i in range(1, hull_count):
        v = load_vec3(hull_points, 3 * (hull_first + i), block)
        along = dot(u, v)
        number = where_positive(along - most, real(float(i), most), number)
        best = choose(along - most, v, best)
        most = maximum(along, most)
    return best, number


@wp.func
def hull_middle(hull_points: Array, hull_first: int, hull_count: int, block: int):
    """The mean of the vertices, and how far the one furthest from the first one is from it."""
    first = load_vec3(hull_points, 3 * hull_first, block)
    sum = first
    most = real(0.0, first.x)
    for i in range(1, hull_count):
        v = load_vec3(hull_points, 3 * (hull_first + i), block)
        sum = sum + v
        most = maximum(dot(v - first, v - first), most)
    return sum * (real(1.0, most) / real(float(hull_count), most)), sqrt(most)
