"""What a face of a box and the face of another box that looks most at it have in common.

The reference face has the axes u and v and the normal n, out of its box. In the frame (u, v, n) about its middle the
incident face has the centre f, and half its edges are e1 and e2: points of its plane are  f + alpha e1 + beta e2.  The
height of such a point over the reference face is the gap.
The corners of what is common are the places. Going round it, every one of them begins a piece of one of eight edges:
    place k      begins the piece of edge k of the incident face,    its corner k, or where edge k enters the reference
    place 4 + k  begins the piece of edge k of the reference face,   its corner k, or where edge k enters the incident.
"""

from typing import Any

import warp as wp

from warp_artic.collision.box_pair import BoxPair
from warp_artic.collision.places import set_place_where
from warp_artic.collision.segments import over
from warp_artic.collision.signs import absolute_vector, signed
from warp_artic.math.directions import choose
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    NUMBERS,
    Mat3,
    Numbers,
    Real,
    Vec3,
    absolute,
    add,
    div,
    mat3,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import Array

Face = Any
"""Annotation of a reference face: its middle and the axes u, v and n in the world; `outward`, 1 for one of box 0, else
-1; and half its sides h_u and h_v."""


def _face_of(numbers: Numbers, face_of):
    """Add the overload for a number type; the argument is the function so far, which Warp extends by name."""
    Number, Vector = numbers.real, numbers.vec3

    @wp.struct
    class Face:
        middle: Vector
        u: Vector
        v: Vector
        n: Vector
        outward: Number
        h_u: Number
        h_v: Number

    @wp.func
    def face_of(middle: Vector, u: Vector, v: Vector, n: Vector, outward: Number, h_u: Number, h_v: Number):
        return Face(middle, u, v, n, outward, h_u, h_v)

    return face_of


face_of = None
for _type in NUMBERS:
    face_of = _face_of(_type, face_of)


def add_face(numbers: Numbers) -> None:
    """Let `face_of` take a further number type."""
    _face_of(numbers, face_of)


CORNER_REACH = wp.constant(wp.float64(5e-5))
"""Of the size of the smaller box: by how much a corner may be beyond a face and is on it all the same."""


@wp.func
def chosen_row(is_x: Real, is_y: Real, m: Mat3):
    """The first row where is_x is positive, the second where is_y is, else the third."""
    return choose(is_x, m.x, choose(is_y, m.y, m.z))


@wp.func
def chosen(is_x: Real, is_y: Real, v: Vec3):
    """The first component where is_x is positive, the second where is_y is, else the third."""
    return where_positive(is_x, v.x, where_positive(is_y, v.y, v.z))


@wp.func
def best_face(s: Vec3):
    """The greatest of three numbers, and which it is: of equals the first one."""
    one = real(1.0, s.x)
    zero = one - one
    most = maximum(maximum(s.x, s.y), s.z)
    is_x = where_positive(most - s.x, zero, one)
    is_y = where_positive(is_x, zero, where_positive(most - s.y, zero, one))
    return most, is_x, is_y


@wp.func
def slab(p: Real, d: Real, h: Real, low: Real, high: Real):
    """The part of what is from one t to another on which p + d t is between -h and h."""
    moves = absolute(d) - real(1.0e-30, d)
    inverse = real(1.0, d) / where_positive(moves, d, real(1.0e-30, d))
    first = (neg(h) - p) * inverse
    second = (h - p) * inverse
    return maximum(low, minimum(first, second)), minimum(high, maximum(first, second))


@wp.func
def begins(p_x: Real, p_y: Real, d_x: Real, d_y: Real, h_x: Real, h_y: Real):
    """Where on an edge from p to p + d the piece in a rectangle begins; and how much of the edge it is, or less than
    nothing."""
    low = real(0.0, p_x)
    high = real(1.0, p_x)
    low, high = slab(p_x, d_x, h_x, low, high)
    low, high = slab(p_y, d_y, h_y, low, high)
    return low, high - low


@wp.func
def set_face_place(
    places: Array,
    place: int,
    worker: int,
    used: Real,
    face: Face,
    p_u: Real,
    p_v: Real,
    gap: Real,
):
    """Write a place over the point (p_u, p_v) of a face."""
    x = face.middle + face.u * p_u + face.v * p_v + face.n * (gap * real(0.5, gap))
    set_place_where(places, place, worker, used, x, face.n * face.outward, gap)


@wp.func
def set_incident_places(
    places: Array,
    first: int,
    worker: int,
    face: Face,
    f: Vec3,
    e1: Vec3,
    e2: Vec3,
):
    """Write the four places of the edges of the incident face, and return the least of their gaps.

    f is its centre in the frame (u, v, n) of the reference face, e1 and e2 half its edges.
    """
    one = real(1.0, face.outward)
    least = real(1.0e9, one)
    p = f - e1 - e2
    d = e1 + e1
    for k in range(4):
        if k == 1:
            p = f + e1 - e2
            d = e2 + e2
        if k == 2:
            p = f + e1 + e2
            d = neg(e1 + e1)
        if k == 3:
            p = f - e1 + e2
            d = neg(e2 + e2)
        t, piece = begins(p.x, p.y, d.x, d.y, face.h_u, face.h_v)
        is_used = where_positive(neg(piece), piece, one)
        t = where_positive(is_used, t, one - one)
        gap = p.z + d.z * t
        least = minimum(least, where_positive(is_used, gap, least))
        set_face_place(places, first + k, worker, is_used, face, p.x + d.x * t, p.y + d.y * t, gap)
    return least


@wp.func
def set_reference_places(
    places: Array,
    first: int,
    worker: int,
    face: Face,
    f: Vec3,
    e1: Vec3,
    e2: Vec3,
):
    """Write the four places of the edges of the reference face, and return the least of their gaps; see
    `set_incident_places`."""
    one = real(1.0, face.outward)
    least = real(1.0e9, one)
    h_u = face.h_u
    h_v = face.h_v
    inverse = over(one, e1.x * e2.y - e1.y * e2.x, one - one)
    for k in range(4):
        p_x = neg(h_u)
        p_y = neg(h_v)
        d_x = h_u + h_u
        d_y = one - one
        if k == 1:
            p_x = h_u
            p_y = neg(h_v)
            d_x = one - one
            d_y = h_v + h_v
        if k == 2:
            p_x = h_u
            p_y = h_v
            d_x = neg(h_u + h_u)
            d_y = one - one
        if k == 3:
            p_x = neg(h_u)
            p_y = h_v
            d_x = one - one
            d_y = neg(h_v + h_v)
        r_x = p_x - f.x
        r_y = p_y - f.y
        alpha = (r_x * e2.y - r_y * e2.x) * inverse
        beta = (e1.x * r_y - e1.y * r_x) * inverse
        d_alpha = (d_x * e2.y - d_y * e2.x) * inverse
        d_beta = (e1.x * d_y - e1.y * d_x) * inverse
        t, piece = begins(alpha, beta, d_alpha, d_beta, one, one)
        is_used = where_positive(neg(piece), piece, one)
        t = where_positive(is_used, t, one - one)
        gap = f.z + e1.z * (alpha + d_alpha * t) + e2.z * (beta + d_beta * t)
        least = minimum(least, where_positive(is_used, gap, least))
        set_face_place(places, first + 4 + k, worker, is_used, face, p_x + d_x * t, p_y + d_y * t, gap)
    return least


@wp.func
def set_face_places(
    places: Array,
    first: int,
    worker: int,
    by_1: Real,
    is_x: Real,
    is_y: Real,
    boxes: BoxPair,
    small: Real,
):
    """Write the eight places; returns the least gap, n from box 0 to 1, and the cosine of the angle of the faces.

    The reference box is box 1 where `by_1` is positive, and its face is across its x axis, its y axis, or its z axis.
    """
    zero = real(0.0, small)
    one = real(1.0, small)
    R0 = boxes.R0
    a = boxes.a
    b = boxes.b
    c = boxes.c
    B = boxes.B
    # P of the reference box and Q of the other, in the axes of box 0.
    I = mat3(vec3(one, zero, zero), vec3(zero, one, zero), vec3(zero, zero, one))
    P = mat3(choose(by_1, B.x, I.x), choose(by_1, B.y, I.y), choose(by_1, B.z, I.z))
    Q = mat3(choose(by_1, I.x, B.x), choose(by_1, I.y, B.y), choose(by_1, I.z, B.z))
    p = choose(by_1, b, a)
    q = choose(by_1, a, b)
    d = choose(by_1, neg(c), c)
    n = chosen_row(is_x, is_y, P)
    side = signed(one, dot(n, d))
    n = n * side
    u = chosen_row(is_x, is_y, mat3(P.y, P.z, P.x))
    v = chosen_row(is_x, is_y, mat3(P.z, P.x, P.y)) * side
    h_n = chosen(is_x, is_y, p)
    wide = small * real(CORNER_REACH, one)
    h_u = chosen(is_x, is_y, vec3(p.y, p.z, p.x)) + wide
    h_v = chosen(is_x, is_y, vec3(p.z, p.x, p.y)) + wide
    looks = Q * n
    cosine, is_x, is_y = best_face(absolute_vector(looks))
    f = d - chosen_row(is_x, is_y, Q) * signed(chosen(is_x, is_y, q), chosen(is_x, is_y, looks))
    e1 = chosen_row(is_x, is_y, mat3(Q.y, Q.z, Q.x)) * chosen(is_x, is_y, vec3(q.y, q.z, q.x))
    e2 = chosen_row(is_x, is_y, mat3(Q.z, Q.x, Q.y)) * chosen(is_x, is_y, vec3(q.z, q.x, q.y))
    f = vec3(dot(u, f), dot(v, f), dot(n, f) - h_n)
    e1 = vec3(dot(u, e1), dot(v, e1), dot(n, e1))
    e2 = vec3(dot(u, e2), dot(v, e2), dot(n, e2))
    e2 = e2 * signed(one, e1.x * e2.y - e1.y * e2.x)
    middle = boxes.x0 + R0 * (n * h_n + choose(by_1, c, vec3(zero, zero, zero)))
    outward = where_positive(by_1, neg(one), one)
    reference = face_of(middle, R0 * u, R0 * v, R0 * n, outward, h_u, h_v)
    gap = set_incident_places(places, first, worker, reference, f, e1, e2)
    gap = minimum(gap, set_reference_places(places, first, worker, reference, f, e1, e2))
    return gap, n * outward, cosine
