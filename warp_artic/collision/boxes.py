"""Two boxes: how the face of one lies on a face of the other, or an edge across an edge, or which corner is nearest.

Boxes with the half extents a and b, the centre c of box 1 in the frame of box 0, C its axes: of the directions n
    the axes of box 0, those of box 1, and each axis of box 0 across each of box 1
one has them furthest apart, or, where they overlap, least deep in each other:
    s(n) = |n . c| - sum_i a_i |n_i| - sum_j b_j |n . C_j|.
Where boxes touch or overlap, axes of box 0 are preferred to those of box 1, and both to edges, by TIE of the size of
the smaller box: what rests does not flicker.

An axis of a box: its face is cut with the face of the other box that looks most at it. The corners of what is common
are the places. Going round it, every one of them begins a piece of one of eight edges:
    place k      begins the piece of edge k of the incident face,    its corner k, or where edge k enters the reference
    place 4 + k  begins the piece of edge k of the reference face,   its corner k, or where edge k enters the incident.
Two edges: place 0. Where boxes are apart and neither has points at the distance s, a corner of one is nearest: place 0.
"""

import warp as wp

from warp_artic.collision.places import set_place, set_place_where
from warp_artic.collision.segments import clamp_one, clamp_to_box, over
from warp_artic.collision.signs import signed, signed_vector
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
from warp_artic.math.spatial import cross, dot, mat_mul, transpose, transpose_mul
from warp_artic.model.arrays import Array, load_vec3

TIE = wp.constant(wp.float64(2e-5))
"""Of the size of the smaller box: of two directions that differ by less, the one that is preferred is taken."""
ROUNDING = wp.constant(wp.float64(3e-7))
"""Of the size of a pair: how far rounding may have boxes apart; across two edges over the sine of their angle."""
PARALLEL = wp.constant(wp.float64(1e-8))
"""Squared sine of the angle of two edges below which nothing is across both."""
CORNER_REACH = wp.constant(wp.float64(5e-5))
"""Of the size of the smaller box: by how much a corner may be beyond it and is on it all the same."""


@wp.func
def component(v: Vec3, index: int):
    """Component 0, 1 or 2."""
    if index == 0:
        return v.x
    if index == 1:
        return v.y
    return v.z


@wp.func
def absolute_vector(v: Vec3):
    """Its components without their signs."""
    return vec3(absolute(v.x), absolute(v.y), absolute(v.z))


@wp.func
def reach(m: Mat3, size: Vec3):
    """How far a box with these half extents goes along directions: the rows of m, in its frame."""
    return vec3(dot(absolute_vector(m.x), size), dot(absolute_vector(m.y), size), dot(absolute_vector(m.z), size))


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
def best_edges(c: Vec3, a: Vec3, b: Vec3, B: Mat3, rounding: Real):
    """The greatest s of directions across an edge of both boxes, that direction, and the edges: half of each.

    B has the axes of box 1 as its rows. What rounding can make of s is taken off it.
    """
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
    slot: int,
    used: Real,
    on_face: Vec3,
    u: Vec3,
    v: Vec3,
    n: Vec3,
    outward: Real,
    p_u: Real,
    p_v: Real,
    gap: Real,
):
    """Write a place over the point (p_u, p_v) of a face with the normal n; it is that of shape 0 if outward is 1."""
    x = on_face + u * p_u + v * p_v + n * (gap * real(0.5, gap))
    set_place_where(places, place, slot, used, x, n * outward, gap)


@wp.func
def set_incident_places(
    places: Array,
    first: int,
    slot: int,
    used: Real,
    on_face: Vec3,
    u: Vec3,
    v: Vec3,
    n: Vec3,
    outward: Real,
    h_u: Real,
    h_v: Real,
    f: Vec3,
    e1: Vec3,
    e2: Vec3,
):
    """Write the four places of the edges of the incident face, and return the least of their gaps.

    f is its centre in the frame (u, v, n) of the reference face, e1 and e2 half its edges.
    """
    least = real(1.0e9, used)
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
        t, piece = begins(p.x, p.y, d.x, d.y, h_u, h_v)
        is_used = where_positive(neg(piece), piece, used)
        t = where_positive(is_used, t, used - used)
        gap = p.z + d.z * t
        least = minimum(least, where_positive(is_used, gap, least))
        set_face_place(places, first + k, slot, is_used, on_face, u, v, n, outward, p.x + d.x * t, p.y + d.y * t, gap)
    return least


@wp.func
def set_reference_places(
    places: Array,
    first: int,
    slot: int,
    used: Real,
    on_face: Vec3,
    u: Vec3,
    v: Vec3,
    n: Vec3,
    outward: Real,
    h_u: Real,
    h_v: Real,
    f: Vec3,
    e1: Vec3,
    e2: Vec3,
):
    """Write the four places of the edges of the reference face, and return the least of their gaps; see
    `set_incident_places`. A point of the plane of the incident face is f + alpha e1 + beta e2."""
    one = real(1.0, used)
    least = real(1.0e9, used)
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
        is_used = where_positive(neg(piece), piece, used)
        t = where_positive(is_used, t, one - one)
        gap = f.z + e1.z * (alpha + d_alpha * t) + e2.z * (beta + d_beta * t)
        least = minimum(least, where_positive(is_used, gap, least))
        set_face_place(
            places, first + 4 + k, slot, is_used, on_face, u, v, n, outward, p_x + d_x * t, p_y + d_y * t, gap
        )
    return least


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
def keep_or_set(places: Array, place: int, slot: int, used: Real, x: Vec3, n: Vec3, gap: Real):
    """Write a place where a number is positive, and leave it as it is elsewhere."""
    row = 7 * place
    x = choose(used, x, load_vec3(places, row, slot))
    n = choose(used, n, load_vec3(places, row + 3, slot))
    set_place(places, place, slot, x, n, where_positive(used, gap, places[row + 6, slot]))


@wp.func
def set_nearest_corner(
    places: Array,
    place: int,
    slot: int,
    used: Real,
    x0: Vec3,
    R0: Mat3,
    c: Vec3,
    a: Vec3,
    b: Vec3,
    B: Mat3,
    reached: Real,
):
    """Write, where a number is positive, the place of the corner of either box that is nearest to the other box, if
    they are nearer to each other there than what is reached by now."""
    C = transpose(B)
    p, q, square = nearest_corner(c, mat3(B.x * b.x, B.y * b.y, B.z * b.z), a)
    corner, on_box, other_square = nearest_corner(neg(B * c), mat3(C.x * a.x, C.y * a.y, C.z * a.z), b)
    nearer = square - other_square
    p_0 = choose(nearer, c + C * corner, q)
    p_1 = choose(nearer, c + C * on_box, p)
    gap, n = unit_or(p_1 - p_0, c)
    x = x0 + R0 * ((p_0 + p_1) * real(0.5, gap))
    keep_or_set(places, place, slot, minimum(used, reached - gap), x, R0 * n, gap)


@wp.func
def set_edge_place(
    places: Array,
    place: int,
    slot: int,
    used: Real,
    x0: Vec3,
    R0: Mat3,
    c: Vec3,
    a: Vec3,
    b: Vec3,
    B: Mat3,
    n: Vec3,
    edge_0: Vec3,
    edge_1: Vec3,
    tie: Real,
):
    """Write, where a number is positive, the place of two edges; returns how far their points are apart."""
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
    keep_or_set(places, place, slot, used, x0 + R0 * ((p_0 + p_1) * real(0.5, one)), R0 * direction, gap)
    return distance


@wp.func
def edge_distance(
    places: Array,
    place: int,
    slot: int,
    by_edge: Real,
    x0: Vec3,
    R0: Mat3,
    c: Vec3,
    a: Vec3,
    b: Vec3,
    B: Mat3,
    n: Vec3,
    edge_0: Vec3,
    edge_1: Vec3,
    tie: Real,
    otherwise: Real,
):
    """Write the place of two edges where `by_edge` is positive, and return how far its points are apart there."""
    if any_positive(by_edge):
        distance = set_edge_place(places, place, slot, by_edge, x0, R0, c, a, b, B, n, edge_0, edge_1, tie)
        return where_positive(by_edge, distance, otherwise)
    return otherwise


@wp.func
def box_box(places: Array, first: int, slot: int, x0: Vec3, R0: Mat3, a: Vec3, x1: Vec3, R1: Mat3, b: Vec3):
    """Eight places: corners of what two faces have in common; or place 0, of two edges or of a corner."""
    zero = real(0.0, a.x)
    one = real(1.0, a.x)
    c = transpose_mul(R0, x1 - x0)
    B = mat_mul(transpose(R1), R0)
    size0 = a.x + a.y + a.z
    size1 = b.x + b.y + b.z
    small = minimum(size0, size1)
    error = (size0 + size1) * real(ROUNDING, one)
    tie = small * real(TIE, one) + error
    # The direction.
    s_0 = absolute_vector(c) - a - reach(transpose(B), b)
    s_1 = absolute_vector(B * c) - b - reach(B, a)
    face_0, is_x_0, is_y_0 = best_face(s_0)
    face_1, is_x_1, is_y_1 = best_face(s_1)
    # What is apart has one nearest place, and no preference.
    apart = maximum(face_0, face_1) - tie
    preferred = where_positive(apart, zero, tie)
    rounding = where_positive(apart, zero, error)
    by_1 = face_1 - face_0 - preferred
    face = where_positive(by_1, face_1, face_0)
    edge, n_edge, edge_0, edge_1 = best_edges(c, a, b, B, rounding)
    by_edge = edge - face - preferred
    by_face = where_positive(by_edge, zero, one)
    # Both faces, in the axes of box 0: P of the reference box and Q of the other.
    I = mat3(vec3(one, zero, zero), vec3(zero, one, zero), vec3(zero, zero, one))
    P = mat3(choose(by_1, B.x, I.x), choose(by_1, B.y, I.y), choose(by_1, B.z, I.z))
    Q = mat3(choose(by_1, I.x, B.x), choose(by_1, I.y, B.y), choose(by_1, I.z, B.z))
    p = choose(by_1, b, a)
    q = choose(by_1, a, b)
    d = choose(by_1, neg(c), c)
    is_x = where_positive(by_1, is_x_1, is_x_0)
    is_y = where_positive(by_1, is_y_1, is_y_0)
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
    _most, is_x, is_y = best_face(absolute_vector(looks))
    f = d - chosen_row(is_x, is_y, Q) * signed(chosen(is_x, is_y, q), chosen(is_x, is_y, looks))
    e1 = chosen_row(is_x, is_y, mat3(Q.y, Q.z, Q.x)) * chosen(is_x, is_y, vec3(q.y, q.z, q.x))
    e2 = chosen_row(is_x, is_y, mat3(Q.z, Q.x, Q.y)) * chosen(is_x, is_y, vec3(q.z, q.x, q.y))
    f = vec3(dot(u, f), dot(v, f), dot(n, f) - h_n)
    e1 = vec3(dot(u, e1), dot(v, e1), dot(n, e1))
    e2 = vec3(dot(u, e2), dot(v, e2), dot(n, e2))
    e2 = e2 * signed(one, e1.x * e2.y - e1.y * e2.x)
    on_face = x0 + R0 * (n * h_n + choose(by_1, c, vec3(zero, zero, zero)))
    u = R0 * u
    v = R0 * v
    normal = R0 * n
    outward = where_positive(by_1, neg(one), one)
    gap = set_incident_places(places, first, slot, by_face, on_face, u, v, normal, outward, h_u, h_v, f, e1, e2)
    gap = minimum(
        gap,
        set_reference_places(places, first, slot, by_face, on_face, u, v, normal, outward, h_u, h_v, f, e1, e2),
    )
    s = where_positive(by_edge, edge, face)
    n = choose(by_edge, n_edge * signed(one, dot(n_edge, c)), n * outward)
    reached = edge_distance(places, first, slot, by_edge, x0, R0, c, a, b, B, n, edge_0, edge_1, tie, gap)
    missed = minimum(s - tie, reached - s - error)
    if any_positive(missed):
        set_nearest_corner(places, first, slot, missed, x0, R0, c, a, b, B, reached)
