"""Two boxes: how the face of one lies on a face of the other, or an edge across an edge, or which corner is nearest.

Boxes with the half extents a and b, the centre c of box 1 in the frame of box 0, C its axes: of the directions n
    the axes of box 0, those of box 1, and each axis of box 0 across each of box 1
one has them furthest apart, or, where they overlap, least deep in each other:
    s(n) = |n . c| - sum_i a_i |n_i| - sum_j b_j |n . C_j|.
Axes of boxes are preferred to edges by TIE of the size of the smaller box, and those of box 0 to those of box 1 where
boxes touch or overlap: what rests does not flicker, and what falls flat lands on all corners. Where a box stands on
another, and is turned a little, a direction across two edges that are nearly parallel may have the greatest s, and is
nearly that of the faces. It differs from the least gap of these, over what they have in common, by less than TIE, and
they are preferred: what stands on a face is not held at one point.

An axis of a box has the places of `box_faces`, and two edges have place 0. Where boxes are apart and neither has points
at the distance s, a corner of one box is nearest, and has place 0.
"""

import warp as wp

from warp_artic.collision.box_edges import best_edges, edge_distance, set_nearest_corner
from warp_artic.collision.box_faces import best_face, set_face_places
from warp_artic.collision.box_pair import seen_from_first
from warp_artic.collision.signs import absolute_vector, signed
from warp_artic.math.directions import choose
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Vec3,
    absolute,
    add,
    any_positive,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import dot, transpose
from warp_artic.model.arrays import Array

TIE = wp.constant(wp.float64(2e-5))
"""Of the size of the smaller box: of two directions that differ by less, the one that is preferred is taken."""
ROUNDING = wp.constant(wp.float64(3e-7))
"""Of the size of a pair: how far rounding may have boxes apart; across two edges over the sine of their angle."""
FLAT = wp.constant(wp.float64(0.0025))
"""Squared sine of the angles to the normal of a face, of the other face and of the direction across two edges, below
which faces may be preferred to edges."""


@wp.func
def reach(m: Mat3, size: Vec3):
    """How far a box with these half extents goes along directions: the rows of m, in its frame."""
    return vec3(dot(absolute_vector(m.x), size), dot(absolute_vector(m.y), size), dot(absolute_vector(m.z), size))


@wp.func
def box_box(places: Array, first: int, worker: int, x0: Vec3, R0: Mat3, a: Vec3, x1: Vec3, R1: Mat3, b: Vec3):
    """Eight places: corners of what two faces have in common; or place 0, of two edges or of a corner."""
    zero = real(0.0, a.x)
    one = real(1.0, a.x)
    boxes = seen_from_first(x0, R0, a, x1, R1, b)
    c = boxes.c
    B = boxes.B
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
    # Of faces of boxes that are apart none is preferred.
    preferred = where_positive(maximum(face_0, face_1) - tie, zero, tie)
    by_1 = face_1 - face_0 - preferred
    face = where_positive(by_1, face_1, face_0)
    edge, n_edge, edge_0, edge_1 = best_edges(boxes, error)
    is_x = where_positive(by_1, is_x_1, is_x_0)
    is_y = where_positive(by_1, is_y_1, is_y_0)
    gap, n, cosine = set_face_places(places, first, worker, by_1, is_x, is_y, boxes, small)
    cosine = minimum(cosine, absolute(dot(n_edge, n)))
    is_flat = minimum(tie - absolute(edge - gap), cosine * cosine - one + real(FLAT, one))
    by_edge = where_positive(is_flat, neg(one), edge - face - tie)
    s = where_positive(by_edge, edge, face)
    n = choose(by_edge, n_edge * signed(one, dot(n_edge, c)), n)
    reached = edge_distance(places, first, worker, by_edge, boxes, n, edge_0, edge_1, tie, gap)
    missed = minimum(s - tie, reached - s - error)
    if any_positive(missed):
        set_nearest_corner(places, first, worker, missed, boxes, reached)
