"""A substep of an island: its points and rows of joints are swept, the island moves, and velocities are relaxed.

The step h is cut into n substeps k = h / n. M^-1, J and normals are those of the step; in each substep velocities v,
displacements dx, and with them gaps g = g_0 + J_n dx, change. Impulses z start from those of the substep before, and
the first ones from those of the step before, but for impacts (`point_law`):
    impacts     of points that bounce, round by round, at their times within the substep (`impacts`)
    v += k a + Y z,   a the acceleration of the step without contacts
    sweeps      over all points (`point_law`), then over the rows of joints (`joint_rows`); more of them, and with
                conjugate directions, where the island bears much more than its weights (`loads`)
    dx += k (v_before + v) / 2,  k v of what is hit or touches jointed bodies
    sweep       relaxed: without the velocities that take overlaps back
Small steps are worth more than sweeps: the error left by a substep is smaller by n^2. But with one sweep in each, and
the last one in the other direction, a pyramid of ten rows sways more and more; with several of one direction it comes
to rest.

Source: Macklin et al., Small steps in physics simulation (2019).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs
from warp_artic.islands.impacts import impact_rounds
from warp_artic.islands.joint_rows import joint_rows
from warp_artic.islands.loads import load_functions
from warp_artic.islands.point_law import NO_BOUNCE, impact_functions, point_law
from warp_artic.islands.supporting_rows import supporting_rows

SWEEPS = wp.constant(3)
"""Of a substep, with a bias."""
MOST_SWEEPS = 20
"""While one changes velocities by more than IMPACT_ACCELERATION k, relaxed sweeps too: they stop what closes as a
substep ends. Islands with a great load have others."""
ROUNDS = wp.constant(50)
"""Of impacts in a substep, after which they are passed on without a bounce."""
IMPACT_SWEEPS = wp.constant(20)
"""Most of a round."""
SETTLED = wp.constant(1e-3)
"""Largest change of a velocity with which a round ends, as a share of the bounce threshold."""


@cache
def substep_functions(precision: str) -> SimpleNamespace:
    """The struct `Substep` and the function `solve`."""
    types = island_types(precision)
    T, V, Colliders = types.T, types.V, types.Colliders
    Mechanisms, Points = types.Mechanisms, types.Points
    Islands, Island = island_structs()
    rows, supporting = joint_rows(precision), supporting_rows(precision)
    law, impacts = point_law(precision), impact_functions(precision)
    first_dof, solve_rows, warm_start_rows, end_rows = rows.first_dof, rows.solve, rows.warm_start, rows.end
    supported_response, solve_supporting = supporting.supported_response, supporting.solve
    solve_point = law.solve
    loads = load_functions(precision)
    Effort, find_effort, begin_paths, remember, go_on = (
        loads.Effort,
        loads.effort,
        loads.begin,
        loads.remember,
        loads.go_on,
    )
    warm_start, is_impact = impacts.warm_start, impacts.is_impact
    discard_impact, mark_hit = impacts.discard_impact, impacts.mark_hit
    rounds = impact_rounds(precision)
    begin_round, move_back, end_round = rounds.begin_round, rounds.move_back, rounds.end_round

    @wp.struct
    class Substep:
        """One of a step."""

        number: int
        count: int
        k: T  # [s]
        part: T  # of the step that it ends
        effort: Effort

    @wp.func
    def accelerate(mechanisms: Mechanisms, islands: Islands, island: Island, share: T):
        """Add a share of what velocities change by without contacts."""
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            mechanisms.is_hit[island.env * mechanisms.count + m] = 0
            first = first_dof(mechanisms, island.env, m)
            for dof in range(first, first + mechanisms.dofs[m]):
                mechanisms.before[dof] = mechanisms.v[dof]
                mechanisms.v[dof] = mechanisms.v[dof] + share * (mechanisms.free[dof] - mechanisms.start[dof])

    @wp.func
    def move(mechanisms: Mechanisms, islands: Islands, island: Island, k: T):
        """Move on by mean velocities times k, and by those of the end where something hits or joints push."""
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            first = first_dof(mechanisms, island.env, m)
            goes_on = mechanisms.is_hit[island.env * mechanisms.count + m] == 0
            for dof in range(first, first + mechanisms.dofs[m]):
                weight = wp.where(goes_on, mechanisms.end_weight[dof], T(1.0))
                mean = mechanisms.before[dof] + weight * (mechanisms.v[dof] - mechanisms.before[dof])
                mechanisms.displacement[dof] = mechanisms.displacement[dof] + k * mean

    @wp.func
    def solve_at(
        colliders: Colliders,
        mechanisms: Mechanisms,
        points: Points,
        point: int,
        substep: Substep,
        elapsed: T,
        is_relaxed: int,
    ):
        """Solve a point, and the rows that support what it pushes; returns about how much its velocity changes."""
        first = points.first_mechanism[point]
        second = points.second_mechanism[point]
        term = points.term[point]
        other = term + points.first_dofs[point]
        supported = supported_response(mechanisms, points, point, first, term)
        if second != first:
            supported += supported_response(mechanisms, points, point, second, other)
        before = points.z[point]
        solve_point(
            colliders, mechanisms, points, point, substep.k, elapsed, substep.effort.soft, is_relaxed, supported
        )
        change = points.z[point] - before
        if wp.length_sq(change) > T(0.0):
            solve_supporting(mechanisms, points, point, first, term, substep.part)
            if second != first:
                solve_supporting(mechanisms, points, point, second, other, substep.part)
        across = wp.length(V(T(0.0), change[1], change[2])) * wp.max(points.across[point][0], points.across[point][2])
        return wp.max(wp.abs(change[0]) * points.normal[point][0], across)

    @wp.func
    def sweep(
        colliders: Colliders,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        substep: Substep,
        is_relaxed: int,
    ):
        """Solve one point after the other, then the rows of joints.

        Points go forward, and backward in every other substep; the other way round where they are relaxed. Returns the
        largest change of the velocity of a point.
        """
        largest = T(0.0)
        elapsed = substep.k * T(substep.number + is_relaxed)
        for number in range(island.end_point - island.first_point):
            index = island.first_point + number
            if (substep.number + is_relaxed) % 2 == 1:
                index = island.end_point - 1 - number
            point = islands.points[index]
            # What has no impulse is apart: slowed down without a bias, it would not come to where it closes.
            is_idle = is_relaxed == 1 and points.z[point][0] == T(0.0)
            if points.normal[point][0] > T(0.0) and not is_idle:
                change = solve_at(colliders, mechanisms, points, point, substep, elapsed, is_relaxed)
                largest = wp.max(largest, change)
        solve_rows(mechanisms, islands, island, substep.part)
        return largest

    @wp.func
    def sweep_until_settled(
        colliders: Colliders,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        substep: Substep,
        is_relaxed: int,
    ):
        """Sweep at least SWEEPS times, and once where points are relaxed."""
        effort = substep.effort
        least = wp.where(is_relaxed == 1, 1, SWEEPS)
        if effort.is_loaded == 1:
            begin_paths(points, islands, island)
        sweeps = int(0)
        change = T(0.0)
        size = T(0.0)
        while sweeps < least or (sweeps < effort.sweeps and change > effort.settled):
            if effort.is_loaded == 1:
                if sweeps > 0:
                    size = go_on(mechanisms, points, islands, island, size)
                remember(points, islands, island)
            change = sweep(colliders, mechanisms, points, islands, island, substep, is_relaxed)
            sweeps += 1

    @wp.func
    def pass_impacts_on(
        colliders: Colliders,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        substep: Substep,
    ):
        """Have points that close in a substep bounce, then those that close by that."""
        elapsed = substep.k * T(substep.number)
        h = substep.k * T(substep.count)
        settled = T(SETTLED) * colliders.bounce_threshold
        rounds = int(0)
        count = begin_round(colliders, mechanisms, points, islands, island, substep.k, elapsed, h)
        while count > 0:
            sweeps = int(0)
            change = T(wp.inf)
            while sweeps < IMPACT_SWEEPS and change > settled:
                change = T(0.0)
                for number in range(island.end_point - island.first_point):
                    index = island.first_point + number
                    if sweeps % 2 == 1:
                        index = island.end_point - 1 - number
                    point = islands.points[index]
                    if points.bounce[point] > T(NO_BOUNCE):
                        z = points.z[point]
                        turn = points.turn[point]
                        found = solve_at(colliders, mechanisms, points, point, substep, elapsed, 0)
                        move_back(colliders, mechanisms, points, point, points.z[point] - z, points.turn[point] - turn)
                        change = wp.max(change, found)
                solve_rows(mechanisms, islands, island, substep.part)
                sweeps += 1
            end_round(mechanisms, points, islands, island)
            rounds += 1
            count = 0
            if rounds < ROUNDS:
                count = begin_round(colliders, mechanisms, points, islands, island, substep.k, elapsed, h)

    @wp.func
    def mark_sides(mechanisms: Mechanisms, points: Points, point: int, mark: int):
        mark_hit(mechanisms, points.environment[point], points.first_mechanism[point], mark)
        mark_hit(mechanisms, points.environment[point], points.second_mechanism[point], mark)

    @wp.func
    def mark_hits(
        colliders: Colliders,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        k: T,
    ):
        """Mark what is hit in a substep, and what touches jointed bodies."""
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            is_soft = wp.isfinite(colliders.stiffness[points.surfaces[point]])
            if not is_soft and is_impact(mechanisms, points, point, k):
                mark_sides(mechanisms, points, point, 1)
            elif points.z[point][0] > T(0.0):
                if points.is_free[point] == 0:
                    mark_sides(mechanisms, points, point, 2)

    @wp.func
    def solve_substep(
        colliders: Colliders,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        substep: Substep,
    ):
        pass_impacts_on(colliders, mechanisms, points, islands, island, substep)
        accelerate(mechanisms, islands, island, T(1.0) / T(substep.count))
        for index in range(island.first_point, island.end_point):
            warm_start(colliders, mechanisms, points, islands.points[index])
        warm_start_rows(mechanisms, islands, island)
        substep.effort = find_effort(points, islands, island, substep.k, substep.effort)
        sweep_until_settled(colliders, mechanisms, points, islands, island, substep, 0)
        mark_hits(colliders, mechanisms, points, islands, island, substep.k)
        move(mechanisms, islands, island, substep.k)
        sweep_until_settled(colliders, mechanisms, points, islands, island, substep, 1)
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            points.world[point] = points.world[point] + points.z[point]
            points.turn_world[point] = points.turn_world[point] + points.turn[point]
            if is_impact(mechanisms, points, point, substep.k):
                mark_sides(mechanisms, points, point, 1)
                discard_impact(points, point)
        for index in range(island.first_mechanism, island.end_mechanism):
            end_rows(mechanisms, island.env, islands.mechanisms[index])

    return SimpleNamespace(Substep=Substep, Effort=Effort, solve=solve_substep)
