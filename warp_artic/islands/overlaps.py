"""Jointed bodies that are deep in each other, moved apart at the end of a step by a change of positions.

It leaves no velocity, as `constraints.overlap_projection` says, and goes no further than hard limits of joints let it.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.contact_lever import YIELD, lever_share
from warp_artic.constraints.overlap_projection import SWEEPS
from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs
from warp_artic.islands.joint_rows import joint_rows
from warp_artic.islands.responses import point_functions

PROJECTED = wp.constant(0.1)
"""Overlap, as a share of half of the thinner shape, from which on jointed bodies are moved apart: what is less bears
loads by its bias, since impulses do not know how drives give way."""


@cache
def overlap_functions(precision: str) -> SimpleNamespace:
    """The functions that tell such points, and move them apart."""
    types = island_types(precision)
    T, Colliders, Movers, Points = types.T, types.Colliders, types.Movers, types.Points
    Islands, Island = island_structs()
    rows = joint_rows(precision)
    first_dof, forget_rows, row_rate, push_row = rows.first_dof, rows.forget, rows.rate, rows.push
    point_motion = point_functions(precision).motion

    @wp.func
    def is_projected(colliders: Colliders, points: Points, point: int, gap: T):
        """Whether a point is deep in another shape, on a tree with joints, and rigid."""
        i = points.first[point]
        j = points.second[point]
        deep = T(PROJECTED) * wp.min(colliders.thickness[i], colliders.thickness[j])
        is_soft = wp.isfinite(colliders.stiffness[colliders.surface[i] * colliders.surfaces + colliders.surface[j]])
        return points.reach[point] > T(0.0) and gap < -deep and not is_soft

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
    def hold_limit(movers: Movers, env: int, m: int, row: int, h: T):
        """Take a hard limit of joints into account."""
        k = env * movers.row_count + row
        G = movers.G[k]
        is_hard = movers.compliance[k] == T(0.0) and not wp.isfinite(movers.impulse_upper[k])
        if G > T(0.0) and is_hard:
            moved = row_rate(movers, env, m, row, movers.path)
            change = row_rate(movers, env, m, row, movers.projected)
            least = wp.min(h * movers.least[k] - moved, T(0.0)) - change
            most = wp.max(h * movers.most[k] - moved, T(0.0)) - change
            z = movers.impulse[k]
            found = wp.max(z + least / G, T(0.0)) + wp.min(z + most / G, T(0.0))
            movers.impulse[k] = found
            if found != z:
                push_row(movers, env, m, row, found - z, movers.projected)

    @wp.func
    def gap_change(colliders: Colliders, points: Points, point: int, gap: T, h: T):
        """By how much a deep point is moved apart at least."""
        i = points.first[point]
        j = points.second[point]
        fastest = wp.min(colliders.depenetration[i], colliders.depenetration[j])
        return wp.min(T(-0.5) * gap, fastest * h) * lever_share(points.normal[point][0], points.reach[point])

    @wp.func
    def sweep(movers: Movers, points: Points, islands: Islands, island: Island, h: T):
        for place in range(island.first_point, island.end_point):
            point = islands.points[place]
            if points.normal[point][0] > T(0.0):
                push_apart(movers, points, point)
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            for row in range(movers.row_first[m], movers.row_first[m + 1]):
                hold_limit(movers, island.env, m, row, h)

    @wp.func
    def project_overlaps(colliders: Colliders, movers: Movers, points: Points, islands: Islands, island: Island, h: T):
        """Add to paths what jointed bodies are moved apart by."""
        found = bool(False)
        for place in range(island.first_point, island.end_point):
            point = islands.points[place]
            _y, gap = point_motion(points, movers, point, h)
            points.projection[point] = T(0.0)
            points.gap_change[point] = -wp.max(gap, T(0.0))
            if is_projected(colliders, points, point, gap) and points.normal[point][0] > T(0.0):
                found = bool(True)
                points.gap_change[point] = gap_change(colliders, points, point, gap, h)
        if found:
            for place in range(island.first_mover, island.end_mover):
                m = islands.movers[place]
                first = first_dof(movers, island.env, m)
                for dof in range(first, first + movers.dofs[m]):
                    movers.projected[dof] = T(0.0)
                forget_rows(movers, island.env, m)
            for _ in range(SWEEPS):
                sweep(movers, points, islands, island, h)
            for place in range(island.first_mover, island.end_mover):
                m = islands.movers[place]
                first = first_dof(movers, island.env, m)
                for dof in range(first, first + movers.dofs[m]):
                    movers.path[dof] = movers.path[dof] + movers.projected[dof]

    return SimpleNamespace(is_projected=is_projected, project=project_overlaps)
