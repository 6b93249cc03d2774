"""Where a loop joint is: the links that carry it, and the points of its two sides, as one value."""

from typing import Any

import warp as wp

from warp_artic.math.numbers import NUMBERS, Numbers

LoopPlace = Any
"""Annotation of the place of a loop joint."""


def _loop_place_of(numbers: Numbers, loop_place):
    """Add the overload for a number type; the argument is the function so far, which Warp extends by name."""
    Reals, Vector = wp.array2d(dtype=numbers.real), numbers.vec3

    @wp.struct
    class LoopPlace:
        loop: int
        block: int
        worker: int
        # Orientations, axes of dofs and origins of all links: where forces are evaluated, or at the end of the step.
        rotations: Reals
        axes: Reals
        origins: Reals
        # The points that are held together: of link 0, or of link 1 where it slides, and of link 1.
        x_0: Vector
        x_1: Vector

    @wp.func
    def loop_place(
        loop: int, block: int, worker: int, rotations: Reals, axes: Reals, origins: Reals, x_0: Vector, x_1: Vector
    ):
        return LoopPlace(loop, block, worker, rotations, axes, origins, x_0, x_1)

    return loop_place


loop_place = None
for _type in NUMBERS:
    loop_place = _loop_place_of(_type, loop_place)


def add_loop_place(numbers: Numbers) -> None:
    """Let `loop_place` take a further number type."""
    _loop_place_of(numbers, loop_place)
