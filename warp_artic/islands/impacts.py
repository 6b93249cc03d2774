"""Impacts of points that bounce, passed on within a substep of an island, as within a step of `solver.rows.impacts`.

A round has the points that close within the substep faster than the bounce threshold, or little later, and no others;
the next one those that close by what it has done. So a row of balls that touch passes an impact on from one to the
next. With the time t of the substep after which a point closes, its impulses z change velocities from its start on, and
therefore
    v += Y z,   dx -= t Y z
What rows of joints do in a round comes at the latest time of its points. Points and rows have impulses of their own in
a round, with which nothing begins later on.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs
from warp_artic.islands.joint_rows import joint_rows
from warp_artic.islands.point_law import NO_BOUNCE, impact_functions
from warp_artic.islands.responses import point_functions

TOGETHER = wp.constant(1.1)
"""Of a substep: what closes within it has a part in a round, so that a face that lands hits with all of its points."""


@cache
def impact_rounds(precision: str) -> SimpleNamespace:
    """The functions `begin_round`, `move_back` of what a point has been pushed by, and `end_round`."""
    types = island_types(precision)
    T, V, Colliders, Mechanisms, Points = types.T, types.V, types.Colliders, types.Mechanisms, types.Points
    Islands, Island = island_structs()
    push_point = point_functions(precision).push
    rows = joint_rows(precision)
    first_dof, forget_rows, end_rows = rows.first_dof, rows.forget, rows.end_round
    find_impact = impact_functions(precision).find_impact

    @wp.func
    def begin_round(
        colliders: Colliders,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        k: T,
        elapsed: T,
        h: T,
    ):
        """Find the points of a round and begin it without impulses; returns how many close in the substep."""
        count = int(0)
        for index in range(island.first_point, island.end_point):
            count += find_impact(colliders, mechanisms, points, islands.points[index], k, elapsed, h)
        if count > 0:
            for index in range(island.first_point, island.end_point):
                point = islands.points[index]
                if find_impact(colliders, mechanisms, points, point, T(TOGETHER) * k, elapsed, h) == 1:
                    points.warm[point] = points.z[point]
                    points.turn_warm[point] = points.turn[point]
                    points.z[point] = V()
                    points.turn[point] = V()
            for index in range(island.first_mechanism, island.end_mechanism):
                m = islands.mechanisms[index]
                first = first_dof(mechanisms, island.env, m)
                for dof in range(first, first + mechanisms.dofs[m]):
                    mechanisms.before[dof] = mechanisms.v[dof]
                forget_rows(mechanisms, island.env, m)
        return count

    @wp.func
    def move_back(colliders: Colliders, mechanisms: Mechanisms, points: Points, point: int, z: V, turn: V):
        """Take off the path that impulses would give before the point closes, and note the velocities they give."""
        t = points.hit[point]
        push_point(points, points.Y, point, mechanisms.displacement, z * -t)
        push_point(points, points.Y, point, mechanisms.before, z)
        if colliders.resist_turning == 1:
            push_point(points, points.Y_w, point, mechanisms.displacement, turn * -t)
            push_point(points, points.Y_w, point, mechanisms.before, turn)

    @wp.func
    def end_round(mechanisms: Mechanisms, points: Points, islands: Islands, island: Island):
        """Add up the impulses of a round, and go on with those of before."""
        latest = T(0.0)
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            if points.bounce[point] > T(NO_BOUNCE):
                points.world[point] = points.world[point] + points.z[point]
                points.turn_world[point] = points.turn_world[point] + points.turn[point]
                points.z[point] = points.warm[point]
                points.turn[point] = points.turn_warm[point]
                points.bounce[point] = T(NO_BOUNCE)
                latest = wp.max(latest, points.hit[point])
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            first = first_dof(mechanisms, island.env, m)
            for dof in range(first, first + mechanisms.dofs[m]):
                mechanisms.displacement[dof] = mechanisms.displacement[dof] - latest * (
                    mechanisms.v[dof] - mechanisms.before[dof]
                )
            end_rows(mechanisms, island.env, m)

    return SimpleNamespace(begin_round=begin_round, move_back=move_back, end_round=end_round)
