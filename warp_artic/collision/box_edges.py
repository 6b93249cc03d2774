"""Edges of two boxes that are across each other, and corners that are nearest to another box."""

import warp as wp

from warp_artic.collision.box_pair import BoxPair
from warp_artic.collision.places import UNUSED, set_place
from warp_artic.collision.segments import clamp_one, clamp_to_box, over
from warp_artic.collision.signs import absolute_vector, signed_vector
from warp_artic.math.directions import choose, unit_or
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    mat3,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import cross, dot, transpose, transpose_mul
from warp_artic.model.arrays import Array, load_vec3

PARALLEL = wp.constant(wp.float64(1e-8))
"""Squared sine of the angle of two edges below which nothing is across both."""


@wp.func
def component(v: Vec3, index: int):
    """Component 0, 1 or 2."""
    if index == 0:
        return v.x
    if index == 1:
        return v.y
    return v.z


@wp.func
def best_edges(boxes: BoxPair, rounding: Real):
    """The greatest s of directions across an edge of both boxes, that direction, and the edges: half of each.

    What rounding can make of s is taken off it.
    """
    c = boxes.c
    a = boxes.a
    b = boxes.b
    B = boxes.B
    zero = real(0.0, c.x)
    one = real(1.0, c.x)
    most = neg(real(1.0e9, one))
    best = vec3(zero, zero, one)
    edge_0 = vec3(zero, zero, zero)
    edge_1 = vec3(zero, zero, zero)
    for i in range(3):
        e = vec3(one, zero, zero)
        if i == 1:
            e = vec3(zero, one, zero)
        if i == 2:
            e = vec3(zero, zero, one)
        for j in range(3):
            axis = B.x
            if j == 1:
                axis = B.y
            if j == 2:
                axis = B.z
            n = cross(e, axis)
            square = dot(n, n)
            acts = square - real(PARALLEL, one)
            inverse = one / sqrt(where_positive(acts, square, one))
            n = n * inverse
            s = absolute(dot(n, c)) - dot(a, absolute_vector(n)) - dot(b, absolute_vector(B * n)) - rounding * inverse
            better = minimum(s - most, acts)
            most = where_positive(better, s, most)
            best = choose(better, n, best)
            edge_0 = choose(better, e * component(a, i), edge_0)
            edge_1 = choose(better, axis * component(b, j), edge_1)
    return most, best, edge_0, edge_1


@wp.func
def keep_or_set(places: Array, place: int, worker: int, used: Real, x: Vec3, n: Vec3, gap: Real):
    """Write a place where a number is positive, and leave it as it is elsewhere."""
    row = 7 * place
    x = choose(used, x, load_vec3(places, row, worker))
    n = choose(used, n, load_vec3(places, row + 3, worker))
    set_place(places, place, worker, x, n, where_positive(used, gap, places[row + 6, worker]))


@wp.func
def keep_or_unset(places: Array, place: int, worker: int, unused: Real):
    """Have a place unused where a number is positive, and leave it as it is elsewhere."""
    gap = places[7 * place + 6, worker]
    places[7 * place + 6, worker] = where_positive(unused, real(UNUSED, gap), gap)


@wp.func
def set_edge_place(
    places: Array,
    place: int,
    worker: int,
    used: Real,
    boxes: BoxPair,
    n: Vec3,
    edge_0: Vec3,
    edge_1: Vec3,
    tie: Real,
):
    """Write, where a number is positive, the place of two edges; returns how far their points are apart."""
    a = boxes.a
    b = boxes.b
    c = boxes.c
    B = boxes.B
    one = real(1.0, a.x)
    square_0 = dot(edge_0, edge_0)
    square_1 = dot(edge_1, edge_1)
    p_0 = signed_vector(a, n)
    p_0 = p_0 - edge_0 * over(dot(edge_0, p_0), square_0, one - one)
    r = signed_vector(b, neg(B * n))
    p_1 = c + transpose_mul(B, r)
    p_1 = p_1 - edge_1 * over(dot(edge_1, p_1 - c), square_1, one - one)
    # The points of both lines that are nearest to each other.
    normal = cross(edge_0, edge_1)
    square = dot(normal, normal)
    d = p_1 - p_0
    s = dot(n, d)
    p_0 = p_0 + edge_0 * clamp_one(over(dot(cross(d, edge_1), normal), square, one - one))
    p_1 = p_1 + edge_1 * clamp_one(over(dot(cross(d, edge_0), normal), square, one - one))
    distance, direction = unit_or(p_1 - p_0, n)
    apart = s - tie
    direction = choose(apart, direction, n)
    gap = where_positive(apart, distance, s)
    keep_or_set(
        places, place, worker, used, boxes.x0 + boxes.R0 * ((p_0 + p_1) * real(0.5, one)), boxes.R0 * direction, gap
    )
    return distance


@wp.func
def edge_distance(
    places: Array,
    place: int,
    worker: int,
    by_edge: Real,
    boxes: BoxPair,
    n: Vec3,
    edge_0: Vec3,
    edge_1: Vec3,
    tie: Real,
    otherwise: Real,
):
    """Write the place of two edges where `by_edge` is positive, and none of two faces; return how far its points are
    apart there."""
    if any_positive(by_edge):
        for other in range(1, 8):
            keep_or_unset(places, place + other, worker, by_edge)
        distance = set_edge_place(places, place, worker, by_edge, boxes, n, edge_0, edge_1, tie)
        return where_positive(by_edge, distance, otherwise)
    return otherwise


@wp.func
def nearest_corner(p: Vec3, along: Mat3, size: Vec3):
    """The corner of a box that is nearest to another box, the point of that nearest to it, and their squared distance.

    In the frame of the other box, which has half extents `size` and its centre at the origin: p is the centre of the
    first box, and the rows of `along` its axes times its half extents.
    """
    best = vec3(size.x, size.y, size.z)
    on_box = best
    most = real(1.0e30, p.x)
    for k in range(8):
        corner = p
        if k % 2 == 0:
            corner = corner - along.x
        else:
            corner = corner + along.x
        if k // 2 % 2 == 0:
            corner = corner - along.y
        else:
            corner = corner + along.y
        if k // 4 == 0:
            corner = corner - along.z
        else:
            corner = corner + along.z
        q = clamp_to_box(corner, size)
        square = dot(corner - q, corner - q)
        best = choose(most - square, corner, best)
        on_box = choose(most - square, q, on_box)
        most = minimum(square, most)
    return best, on_box, most


@wp.func
def set_nearest_corner(places: Array, place: int, worker: int, used: Real, boxes: BoxPair, reached: Real):
    """Write, where a number is positive, the place of the corner of either box that is nearest to the other box, if
    they are nearer to each other there than what is reached by now."""
    a = boxes.a
    b = boxes.b
    c = boxes.c
    B = boxes.B
    C = transpose(B)
    p, q, square = nearest_corner(c, mat3(B.x * b.x, B.y * b.y, B.z * b.z), a)
    corner, on_box, other_square = nearest_corner(neg(B * c), mat3(C.x * a.x, C.y * a.y, C.z * a.z), b)
    nearer = square - other_square
    p_0 = choose(nearer, c + C * corner, q)
    p_1 = choose(nearer, c + C * on_box, p)
    gap, n = unit_or(p_1 - p_0, c)
    x = boxes.x0 + boxes.R0 * ((p_0 + p_1) * real(0.5, gap))
    keep_or_set(places, place, worker, minimum(used, reached - gap), x, boxes.R0 * n, gap)
