"""Jointed bodies that are deep in each other, moved apart at the end of a step by a change of positions.

It leaves no velocity, as `constraints.overlap_projection` says, and goes no further than hard limits of joints let it.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.contact_lever import YIELD, lever_share
from warp_artic.constraints.overlap_projection import SWEEPS
from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_struct
from warp_artic.islands.joint_rows import joint_rows

PROJECTED = wp.constant(0.1)
"""Overlap, as a share of half of the thinner shape, from which on jointed bodies are moved apart: what is less bears
loads by its bias, since impulses do not know how drives give way."""


@cache
def overlap_functions(precision: str) -> SimpleNamespace:
    """The functions that tell such points, and move them apart."""
    types = island_types(precision)
    T, Colliders, Movers, Points = types.T, types.Colliders, types.Movers, types.Points
    Islands = island_struct()
    rows = joint_rows(precision)
    first_dof, forget_rows, hold_projected = rows.first_dof, rows.forget, rows.hold_projected

    @wp.func
    def is_projected(colliders: Colliders, points: Points, point: int, gap: T):
        """Whether a point is deep in another shape, on a tree with joints, and rigid."""
        i = points.first[point]
        j = points.second[point]
        deep = T(PROJECTED) * wp.min(colliders.thickness[i], colliders.thickness[j])
        is_soft = wp.isfinite(colliders.stiffness[colliders.surface[i] * colliders.surfaces + colliders.surface[j]])
        return points.reach[point] > T(0.0) and gap < -deep and not is_soft

    @wp.func
    def gap_along(movers: Movers, points: Points, point: int, elapsed: T):
        """The gap of a point some time after the start of the step."""
        term = points.term[point]
        dof_a = points.first_dof[point]
        n_a = points.first_dofs[point]
        dof_b = points.second_dof[point]
        gap = points.gap[point] + points.carried[point][0] * elapsed
        for d in range(n_a):
            gap += points.J[term + d][0] * movers.path[dof_a + d]
        for d in range(points.second_dofs[point]):
            gap += points.J[term + n_a + d][0] * movers.path[dof_b + d]
        return gap

    @wp.func
    def push_apart(movers: Movers, points: Points, point: int):
        """Take a point into account of what jointed bodies are moved apart by."""
        term = points.term[point]
        dof_a = points.first_dof[point]
        n_a = points.first_dofs[point]
        dof_b = points.second_dof[point]
        n_b = points.second_dofs[point]
        give = T(YIELD) * points.reach[point]
        z = points.projection[point]
        missing = points.gap_change[point] - give * z
        for d in range(n_a):
            missing -= points.J[term + d][0] * movers.projected[dof_a + d]
        for d in range(n_b):
            missing -= points.J[term + n_a + d][0] * movers.projected[dof_b + d]
        found = wp.max(z + missing / (points.normal[point][0] + give), T(0.0))
        points.projection[point] = found
        for d in range(n_a):
            movers.projected[dof_a + d] = movers.projected[dof_a + d] + points.Y[term + d][0] * (found - z)
        for d in range(n_b):
            movers.projected[dof_b + d] = movers.projected[dof_b + d] + points.Y[term + n_a + d][0] * (found - z)

    @wp.func
    def project_overlaps(
        colliders: Colliders, movers: Movers, points: Points, islands: Islands, env: int, island: int, h: T
    ):
        """Add to paths what jointed bodies are moved apart by."""
        base = env * movers.count + env + island
        found = bool(False)
        for place in range(islands.point_start[base], islands.point_start[base + 1]):
            point = islands.points[place]
            gap = gap_along(movers, points, point, h)
            points.projection[point] = T(0.0)
            points.gap_change[point] = -wp.max(gap, T(0.0))
            if is_projected(colliders, points, point, gap) and points.normal[point][0] > T(0.0):
                found = bool(True)
                deepest = wp.min(
                    colliders.depenetration[points.first[point]], colliders.depenetration[points.second[point]]
                )
                share = lever_share(points.normal[point][0], points.reach[point])
                points.gap_change[point] = wp.min(T(-0.5) * gap, deepest * h) * share
        if found:
            for place in range(islands.mover_start[base], islands.mover_start[base + 1]):
                first = first_dof(movers, env, islands.movers[place])
                for dof in range(first, first + movers.dofs[islands.movers[place]]):
                    movers.projected[dof] = T(0.0)
                forget_rows(movers, env, islands.movers[place])
            for _ in range(SWEEPS):
                for place in range(islands.point_start[base], islands.point_start[base + 1]):
                    if points.normal[islands.points[place]][0] > T(0.0):
                        push_apart(movers, points, islands.points[place])
                hold_projected(movers, islands, env, islands.mover_start[base], islands.mover_start[base + 1], h)
            for place in range(islands.mover_start[base], islands.mover_start[base + 1]):
                first = first_dof(movers, env, islands.movers[place])
                for dof in range(first, first + movers.dofs[islands.movers[place]]):
                    movers.path[dof] = movers.path[dof] + movers.projected[dof]

    return SimpleNamespace(is_projected=is_projected, project=project_overlaps)
