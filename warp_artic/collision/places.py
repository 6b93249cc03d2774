"""A place where two solids touch or may touch, as it is written for those who read it: 7 rows of an array.

    x    middle between the points of both surfaces, in world axes [m]
    n    unit normal from solid 0 to solid 1
    gap  distance of these points along n [m], negative where the solids overlap

A place that is not used has a gap of UNUSED, and an x and n that are finite.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (add, sub, mul and div are the operators below)
    Real,
    Vec3,
    add,
    mul,
    real,
    vec3,
    where_positive,
)
from warp_artic.model.arrays import Array, store_vec3

PLACE_ROWS = 7
"""Rows of a place."""

UNUSED = wp.constant(1.0e9)
"""The gap of a place that is not used [m]."""


@wp.func
def set_place(places: Array, place: int, worker: int, x: Vec3, n: Vec3, gap: Real):
    """Write a place."""
    row = 7 * place
    store_vec3(places, row, worker, x)
    store_vec3(places, row + 3, worker, n)
    places[row + 6, worker] = gap


@wp.func
def set_place_where(places: Array, place: int, worker: int, used: Real, x: Vec3, n: Vec3, gap: Real):
    """Write a place that is used where a number is positive."""
    set_place(places, place, worker, x, n, where_positive(used, gap, real(UNUSED, gap)))


@wp.func
def set_unused(places: Array, place: int, worker: int, x: Vec3):
    """Write that a place is not used in any environment of the block."""
    zero = real(0.0, x.x)
    set_place(places, place, worker, x, vec3(zero, zero, real(1.0, zero)), real(UNUSED, zero))
