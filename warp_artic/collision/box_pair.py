"""Two boxes as one value: where box 0 is in the world, and where box 1 is in the frame of box 0."""

from typing import Any

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    NUMBERS,
    Mat3,
    Numbers,
    Vec3,
    mul,
    sub,
)
from warp_artic.math.spatial import mat_mul, transpose, transpose_mul

BoxPair = Any
"""Annotation of two boxes: x0 and R0, the middle and axes of box 0; a and b, half extents; c, the middle of box 1 in
the frame of box 0; B, its axes there, as rows."""


def _box_pair_of(numbers: Numbers, box_pair):
    """Add the overload for a number type; the argument is the function so far, which Warp extends by name."""
    Matrix, Vector = numbers.mat3, numbers.vec3

    @wp.struct
    class BoxPair:
        x0: Vector
        R0: Matrix
        a: Vector
        b: Vector
        c: Vector
        B: Matrix

    @wp.func
    def box_pair(x0: Vector, R0: Matrix, a: Vector, b: Vector, c: Vector, B: Matrix):
        return BoxPair(x0, R0, a, b, c, B)

    return box_pair


box_pair = None
for _type in NUMBERS:
    box_pair = _box_pair_of(_type, box_pair)


def add_box_pair(numbers: Numbers) -> None:
    """Let `box_pair` take a further number type."""
    _box_pair_of(numbers, box_pair)


@wp.func
def seen_from_first(x0: Vec3, R0: Mat3, a: Vec3, x1: Vec3, R1: Mat3, b: Vec3):
    """Two boxes with their middles x, axes R and half extents, in world axes."""
    return box_pair(x0, R0, a, b, transpose_mul(R0, x1 - x0), mat_mul(transpose(R1), R0))
