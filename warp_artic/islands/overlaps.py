"""Projection of positions at the end of a step, of jointed bodies that are deep in each other.

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

PROJECTED_OVERLAP = wp.constant(0.1)
"""Overlap, as a share of half of the thinner shape, from which on jointed bodies are projected apart. A smaller one
carries loads by its bias, since impulses do not know how drives give way."""


@cache
def overlap_functions(precision: str) -> SimpleNamespace:
    """The functions `is_projected` of a point and `project` of an island."""
    types = island_types(precision)
    T, Colliders, Mechanisms, Points = types.T, types.Colliders, types.Mechanisms, types.Points
    Islands, Island = island_structs()
    rows = joint_rows(precision)
    first_dof, forget_rows, row_rate, push_row = rows.first_dof, rows.forget, rows.rate, rows.push
    functions = point_functions(precision)
    point_motion = functions.motion

    @wp.func
    def is_projected(colliders: Colliders, points: Points, point: int, gap: T):
        """Whether a point is deep in another shape, on a tree with joints, and rigid."""
        i = points.first[point]
        j = points.second[point]
        deep = T(PROJECTED_OVERLAP) * wp.min(colliders.thickness[i], colliders.thickness[j])
        is_soft = wp.isfinite(colliders.stiffness[points.surfaces[point]])
        return points.reach[point] > T(0.0) and gap < -deep and not is_soft

    @wp.func
    def push_apart(mechanisms: Mechanisms, points: Points, point: int):
        """Solve a point for the projection."""
        term = points.term[point]
        dof_a = points.first_dof[point]
        n_a = points.first_dofs[point]
        dof_b = points.second_dof[point]
        n_b = points.second_dofs[point]
        give = T(YIELD) * points.reach[point]
        z = points.projection[point]
        missing = points.gap_change[point] - give * z
        for d in range(n_a):
            missing -= points.J[term + d][0] * mechanisms.projected[dof_a + d]
        for d in range(n_b):
            missing -= points.J[term + n_a + d][0] * mechanisms.projected[dof_b + d]
        found = wp.max(z + missing / (points.normal[point][0] + give), T(0.0))
        points.projection[point] = found
        for d in range(n_a):
            mechanisms.projected[dof_a + d] = mechanisms.projected[dof_a + d] + points.Y[term + d][0] * (found - z)
        for d in range(n_b):
            mechanisms.projected[dof_b + d] = mechanisms.projected[dof_b + d] + points.Y[term + n_a + d][0] * (
                found - z
            )

    @wp.func
    def hold_limit(mechanisms: Mechanisms, env: int, m: int, row: int, h: T):
        """Solve a hard limit of a joint for the projection."""
        k = env * mechanisms.row_count + row
        G = mechanisms.G[k]
        is_hard = mechanisms.compliance[k] == T(0.0) and not wp.isfinite(mechanisms.impulse_upper[k])
        if G > T(0.0) and is_hard:
            moved = row_rate(mechanisms, env, m, row, mechanisms.displacement)
            change = row_rate(mechanisms, env, m, row, mechanisms.projected)
            least = wp.min(h * mechanisms.velocity_lower[k] - moved, T(0.0)) - change
            most = wp.max(h * mechanisms.velocity_upper[k] - moved, T(0.0)) - change
            z = mechanisms.impulse[k]
            found = wp.max(z + least / G, T(0.0)) + wp.min(z + most / G, T(0.0))
            mechanisms.impulse[k] = found
            if found != z:
                push_row(mechanisms, env, m, row, found - z, mechanisms.projected)

    @wp.func
    def gap_change(colliders: Colliders, points: Points, point: int, gap: T, h: T):
        """By how much a deep point is moved apart at least."""
        i = points.first[point]
        j = points.second[point]
        fastest = wp.min(colliders.depenetration_speed[i], colliders.depenetration_speed[j])
        return wp.min(T(-0.5) * gap, fastest * h) * lever_share(points.normal[point][0], points.reach[point])

    @wp.func
    def sweep(mechanisms: Mechanisms, points: Points, islands: Islands, island: Island, h: T):
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            if points.normal[point][0] > T(0.0):
                push_apart(mechanisms, points, point)
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
                hold_limit(mechanisms, island.env, m, row, h)

    @wp.func
    def project_overlaps(
        colliders: Colliders, mechanisms: Mechanisms, points: Points, islands: Islands, island: Island, h: T
    ):
        """Add the projection to displacements."""
        found = bool(False)
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            _y, gap = point_motion(points, mechanisms, point, h)
            points.projection[point] = T(0.0)
            points.gap_change[point] = -wp.max(gap, T(0.0))
            if is_projected(colliders, points, point, gap) and points.normal[point][0] > T(0.0):
                found = bool(True)
                points.gap_change[point] = gap_change(colliders, points, point, gap, h)
        if found:
            for index in range(island.first_mechanism, island.end_mechanism):
                m = islands.mechanisms[index]
                first = first_dof(mechanisms, island.env, m)
                for dof in range(first, first + mechanisms.dofs[m]):
                    mechanisms.projected[dof] = T(0.0)
                forget_rows(mechanisms, island.env, m)
            for _ in range(SWEEPS):
                sweep(mechanisms, points, islands, island, h)
            for index in range(island.first_mechanism, island.end_mechanism):
                m = islands.mechanisms[index]
                first = first_dof(mechanisms, island.env, m)
                for dof in range(first, first + mechanisms.dofs[m]):
                    mechanisms.displacement[dof] = mechanisms.displacement[dof] + mechanisms.projected[dof]

    return SimpleNamespace(is_projected=is_projected, project=project_overlaps)
