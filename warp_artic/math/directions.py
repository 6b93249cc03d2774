"""Lengths of vectors, their directions, and what lies across them."""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (add, sub, mul and div are the operators below)
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
from warp_artic.math.spatial import cross, dot

SHORTEST_SQUARE = wp.constant(wp.float64(1e-30))
"""Squared length from which on a vector has a direction."""


@wp.func
def length(v: Vec3):
    """|v|"""
    return sqrt(dot(v, v))


@wp.func
def choose(x: Real, a: Vec3, b: Vec3):
    """a where x is positive, else b."""
    return vec3(where_positive(x, a.x, b.x), where_positive(x, a.y, b.y), where_positive(x, a.z, b.z))


@wp.func
def unit_or(v: Vec3, fallback: Vec3):
    """|v| and v / |v|; where v has no direction, zero and the fallback."""
    square = dot(v, v)
    enough = square - real(SHORTEST_SQUARE, square)
    one = real(1.0, square)
    size = where_positive(enough, sqrt(where_positive(enough, square, one)), one - one)
    return size, choose(enough, v * (one / where_positive(enough, size, one)), fallback)


@wp.func
def across(d: Vec3):
    """Two unit vectors that are normal to a unit vector and to each other (Duff et al., Building an orthonormal basis,
    revisited, 2017)."""
    one = real(1.0, d.x)
    side = where_positive(neg(d.z), neg(one), one)
    a = neg(one) / (side + d.z)
    b = d.x * d.y * a
    return vec3(one + side * d.x * d.x * a, side * b, neg(side * d.x)), vec3(b, side + d.y * d.y * a, neg(d.y))


@wp.func
def across_steadily(d: Vec3):
    """Two unit vectors that are normal to a unit vector and to each other, which turn only a little with it unless it
    comes to be at some 37 degrees to the z axis; never along an axis or across one."""
    one = real(1.0, d.x)
    zero = one - one
    is_steep = d.z * d.z - real(0.64, one)
    e = choose(is_steep, vec3(one, zero, zero), vec3(zero, zero, one))
    s = e - d * dot(e, d)
    s = s * (one / length(s))
    return s, cross(d, s)
