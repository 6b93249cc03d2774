"""Islands that bear much more than the weights of their bodies: a truck on a crate, the lowest boxes of a tall stack.

The load of an island is the largest
    L = G_nn z_n / k
of its points, by the impulses z of the substep before: the acceleration of what a point pushes, if that were free. A
point at rest overlaps by c / (m s) z_n G_nn, in proportion to it. Light bodies below heavy ones would sink in and tip
over, and a sweep removes about the ratio of their masses of the error that is left. So from L = LOAD on
    c' = c LOAD / L,  m' = 1 - c'   for the softness of `point_law`, and no less than sweeps find an answer for,
    a sweep that changes z by d is followed by  z += beta p,  p = beta p + d,  beta = |d|^2 / |d before|^2 < 1, else 0
with |d|^2 the sum of G d^2: conjugate gradients, if no point changed its state. As they converge with the square root
of the least eigenvalue, there are at most LOADED_SWEEPS / sqrt(c' / c) sweeps, fewer in an island of many points. They
end with one that changes no velocity by SETTLED k. Islands with joints stay as they are: the rows of these have no
direction, and energies grew without it.

Source: Silcowitz-Hansen, Niebe, Erleben, A nonsmooth nonlinear conjugate gradient method for interactive contact force
problems (2010).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs
from warp_artic.islands.point_law import point_law
from warp_artic.islands.responses import point_functions

LOAD = wp.constant(200.0)
"""Load up to which softness is what `point_law` says [m/s^2]."""
LEAST_SHARE = wp.constant(0.01)
"""Of c' / c."""
LOADED_SWEEPS = wp.constant(40.0)
"""By the square root of that share."""
POINT_SWEEPS = wp.constant(40_000.0)
"""Most sweeps times points of an island, while there are more than LOADED_SWEEPS."""
SETTLED = wp.constant(0.002)
"""[m/s^2]"""


@cache
def load_functions(precision: str) -> SimpleNamespace:
    """The struct `Effort`, and the functions `effort`, `begin`, `remember` and `go_on`."""
    types = island_types(precision)
    T, V, Mechanisms, Points = types.T, types.V, types.Mechanisms, types.Points
    Islands, Island = island_structs()
    push_point = point_functions(precision).push
    Softness = point_law(precision).Softness

    @wp.struct
    class Effort:
        """What sweeps of a substep are to find."""

        soft: Softness
        is_loaded: int
        sweeps: int  # at most
        settled: T  # [m/s]

    @wp.func
    def effort(points: Points, islands: Islands, island: Island, k: T, usual: Effort):
        """What an island needs, `usual` where its load is small."""
        found = usual
        load = T(0.0)
        is_free = int(1)
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            load = wp.max(load, points.z[point][0] * points.normal[point][0])
            is_free = wp.min(is_free, points.is_free[point])
        load = load * T(is_free)
        room = wp.max(T(POINT_SWEEPS) / T(island.end_point - island.first_point), T(LOADED_SWEEPS))
        least = wp.max(T(LEAST_SHARE), T(LOADED_SWEEPS) * T(LOADED_SWEEPS) / (room * room))
        share = wp.max(T(LOAD) * k / load, least)
        if share < T(1.0):
            found.is_loaded = 1
            found.soft.c = usual.soft.c * share
            found.soft.m = T(1.0) - found.soft.c
            found.sweeps = int(T(LOADED_SWEEPS) / wp.sqrt(share))
            found.settled = T(SETTLED) * k
        return found

    @wp.func
    def begin(points: Points, islands: Islands, island: Island):
        """Begin without a direction."""
        for index in range(island.first_point, island.end_point):
            points.path[islands.points[index]] = V()

    @wp.func
    def remember(points: Points, islands: Islands, island: Island):
        """Remember z before a sweep."""
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            points.swept[point] = points.z[point]

    @wp.func
    def go_on(mechanisms: Mechanisms, points: Points, islands: Islands, island: Island, before: T):
        """Move z on after a sweep, with |d|^2 of the one `before`; returns |d|^2."""
        size = T(0.0)
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            d = points.z[point] - points.swept[point]
            size += points.normal[point][0] * d[0] * d[0] + points.across_most[point] * (d[1] * d[1] + d[2] * d[2])
        beta = T(0.0)
        if size < before:
            beta = size / before
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            if points.normal[point][0] > T(0.0):
                path = points.path[point] * beta
                points.path[point] = path + points.z[point] - points.swept[point]
                points.z[point] = points.z[point] + path
                push_point(points, points.Y, point, mechanisms.v, path)
        return size

    return SimpleNamespace(Effort=Effort, effort=effort, begin=begin, remember=remember, go_on=go_on)
