"""A solid as the general method sees it: the point of its core that is furthest in a direction, and a radius.

A sphere is the core of one point and a capsule that of a segment, both with a radius; what else has none.
"""

from typing import Any

import warp as wp

from warp_artic.collision.hulls import furthest_vertex, hull_middle
from warp_artic.collision.kinds import BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, SPHERE
from warp_artic.collision.signs import signed, signed_vector
from warp_artic.math.directions import choose, length, unit_or
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    NUMBERS,
    Numbers,
    Real,
    Vec3,
    add,
    div,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import dot, transpose_mul
from warp_artic.model.arrays import Array

Body = Any
"""Annotation of a solid: its kind, axes and size, and the vertices that it has if it is a hull."""


def _body_of(numbers: Numbers, body):
    """Add the overload for a number type; the argument is the function so far, which Warp extends by name."""
    Matrix, Vector = numbers.mat3, numbers.vec3

    @wp.struct
    class Body:
        kind: int
        first: int
        count: int
        block: int
        R: Matrix
        size: Vector

    @wp.func
    def body(kind: int, first: int, count: int, block: int, R: Matrix, size: Vector):
        return Body(kind, first, count, block, R, size)

    return body


body = None
for _type in NUMBERS:
    body = _body_of(_type, body)


def add_body(numbers: Numbers) -> None:
    """Let `body` take a further number type."""
    _body_of(numbers, body)


@wp.func
def support(hull_points: Array, body: Body, u: Vec3):
    """The point of a core that is furthest along u, from the origin of the solid, in world axes."""
    local = transpose_mul(body.R, u)
    return body.R * local_support(hull_points, body, local, local)


@wp.func
def tilted_support(hull_points: Array, body: Body, u: Vec3, tilt: Vec3):
    """The point that is furthest along u + tilt, for a short tilt across the unit vector u.

    Of a rim it is where the rim is furthest along u, unless u is that close to its axis that all of it is about as far:
    a cylinder that lies is not taken to lie beside its lowest line.
    """
    local = transpose_mul(body.R, u)
    aside = transpose_mul(body.R, tilt)
    square = dot(aside, aside)
    share = square / (square + local.x * local.x + local.y * local.y)
    return body.R * local_support(hull_points, body, local + aside, local + aside * share)


@wp.func
def local_support(hull_points: Array, body: Body, u: Vec3, around: Vec3):
    """The point that is furthest along u, of a rim that which is furthest along `around`; in the frame of the solid."""
    zero = real(0.0, u.x)
    if body.kind == CAPSULE:
        return vec3(zero, zero, signed(body.size.y, u.z))
    if body.kind == CYLINDER:
        return rim_point(body.size.x, around, signed(body.size.y, u.z))
    if body.kind == BOX:
        return signed_vector(body.size, u)
    if body.kind == CONVEX:
        v, _number = furthest_vertex(hull_points, body.first, body.count, body.block, u)
        return v
    if body.kind == CONE:
        rim = rim_point(body.size.x, around, neg(body.size.y))
        apex = vec3(zero, zero, body.size.y)
        return choose(dot(u, apex - rim), apex, rim)
    if body.kind == ELLIPSOID:
        return ellipsoid_point(body.size, u)
    return vec3(zero, zero, zero)


@wp.func
def ellipsoid_point(size: Vec3, u: Vec3):
    """The point of an ellipsoid that is furthest along u: A^2 u / |A u|, A of its semi-axes."""
    s = vec3(size.x * u.x, size.y * u.y, size.z * u.z)
    _size, d = unit_or(s, s - s)
    return vec3(size.x * d.x, size.y * d.y, size.z * d.z)


@wp.func
def rim_point(radius: Real, u: Vec3, z: Real):
    """The point of a circle about the z axis that is furthest along u, at some z; of all of it, that along x."""
    one = real(1.0, radius)
    square = u.x * u.x + u.y * u.y
    moves = square - real(1.0e-30, one)
    scale = where_positive(moves, radius / sqrt(where_positive(moves, square, one)), one - one)
    return vec3(where_positive(moves, u.x * scale, radius), u.y * scale, z)


@wp.func
def round_radius(body: Body):
    """The radius about the core."""
    if body.kind == SPHERE or body.kind == CAPSULE:
        return body.size.x
    return body.size.x - body.size.x


@wp.func
def middle_of(hull_points: Array, body: Body):
    """A point in the core, from the origin of the solid, in world axes; and a length of the size of the solid."""
    zero = real(0.0, body.size.x)
    if body.kind == CONVEX:
        middle, size = hull_middle(hull_points, body.first, body.count, body.block)
        return body.R * middle, size
    return vec3(zero, zero, zero), solid_size(body)


@wp.func
def solid_size(body: Body):
    """A length of the size of a solid that is no hull."""
    if body.kind == SPHERE:
        return body.size.x
    if body.kind == BOX or body.kind == ELLIPSOID:
        return length(body.size)
    return body.size.x + body.size.y
