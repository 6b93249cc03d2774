"""The point of a tetrahedron, or of what it degenerates to, that is nearest to the origin, as weights of its vertices.

It is on one of the six edges or four faces, as the origin is never within. A degenerate face has no normal, and is left
out; its edges have the point.
"""

import warp as wp

from warp_artic.math.directions import choose
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Vec3,
    add,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import cross, dot

SLIVER = wp.constant(wp.float64(1e-9))
"""Squared sine of an angle of a face below which it is degenerate."""
ROUNDING = wp.constant(wp.float64(5e-7))
"""Of a squared distance."""
SMALLEST = wp.constant(wp.float64(1e-30))


@wp.func
def edge_weight(a: Vec3, b: Vec3):
    """The weight of b in the point of an edge that is nearest to the origin, and its squared distance."""
    one = real(1.0, a.x)
    e = b - a
    square = dot(e, e)
    enough = square - real(SMALLEST, one)
    t = where_positive(enough, neg(dot(a, e)) / where_positive(enough, square, one), one - one)
    t = minimum(maximum(t, one - one), one)
    p = a + e * t
    return t, dot(p, p)


@wp.func
def face_weights(a: Vec3, b: Vec3, c: Vec3):
    """The weights of b and c in the foot of the origin on a face, and its squared distance; 1e30 where it is none."""
    one = real(1.0, a.x)
    e = b - a
    f = c - a
    normal = cross(e, f)
    square = dot(normal, normal)
    enough = square - real(SLIVER, one) * dot(e, e) * dot(f, f) - real(SMALLEST, one)
    inverse = one / where_positive(enough, square, one)
    s = dot(cross(f, a), normal) * inverse
    t = dot(cross(a, e), normal) * inverse
    p = a + e * s + f * t
    valid = minimum(minimum(s, t), minimum(one - s - t, enough))
    return s, t, where_positive(valid, dot(p, p), real(1.0e30, one))


@wp.func
def nearest_weights(a: Vec3, b: Vec3, c: Vec3, d: Vec3):
    """The weights of a, b and c, as a vector, and that of d, the new one, in the nearest point; one of them is zero."""
    one = real(1.0, a.x)
    zero = one - one
    t, best = edge_weight(a, b)
    w = vec3(one - t, t, zero)
    t, square = edge_weight(a, c)
    w = choose(best - square, vec3(one - t, zero, t), w)
    best = minimum(best, square)
    t, square = edge_weight(b, c)
    w = choose(best - square, vec3(zero, one - t, t), w)
    best = minimum(best, square)
    # What has more vertices, or the new one, is nearer, though squares may not tell it after rounding.
    wide = one + real(ROUNDING, one)
    s, t, square = face_weights(a, b, c)
    w = choose(best * wide - square, vec3(one - s - t, s, t), w)
    best = minimum(best, square)
    w_d = zero
    t, square = edge_weight(a, d)
    w = choose(best * wide - square, vec3(one - t, zero, zero), w)
    w_d = where_positive(best * wide - square, t, w_d)
    best = minimum(best, square)
    t, square = edge_weight(b, d)
    w = choose(best * wide - square, vec3(zero, one - t, zero), w)
    w_d = where_positive(best * wide - square, t, w_d)
    best = minimum(best, square)
    t, square = edge_weight(c, d)
    w = choose(best * wide - square, vec3(zero, zero, one - t), w)
    w_d = where_positive(best * wide - square, t, w_d)
    best = minimum(best, square)
    s, t, square = face_weights(a, b, d)
    w = choose(best * wide - square, vec3(one - s - t, s, zero), w)
    w_d = where_positive(best * wide - square, t, w_d)
    best = minimum(best, square)
    s, t, square = face_weights(a, c, d)
    w = choose(best * wide - square, vec3(one - s - t, zero, s), w)
    w_d = where_positive(best * wide - square, t, w_d)
    best = minimum(best, square)
    s, t, square = face_weights(b, c, d)
    w = choose(best * wide - square, vec3(zero, one - s - t, s), w)
    w_d = where_positive(best * wide - square, t, w_d)
    return w, w_d
