"""Impulses of the points of an island: small steps, with sweeps over the points in each, and one without a bias.

The step h is cut into n substeps k = h / n. M^-1, J and normals are those of the step; in each substep velocities v,
displacements dx, and with them gaps g = g_0 + J_n dx, change. Impulses z start from those of the substep before, and
the first ones from those of the step before, but for impacts (`point_law`):
    v += k a + Y z,   a the acceleration of the step without contacts
    sweeps      over all points (`point_law`), then over the rows of joints (`joint_rows`)
    dx += k v
    sweep       relaxed: without the velocities that take overlaps back
M^-1 and J of mechanisms with joints are those of the middle of a midpoint step, where it evaluates forces. Where drives
exceed their maximum force, impulses are found again with those released (`limited_drives`).
Small steps are worth more than sweeps: the error left by a substep is smaller by n^2. But with one sweep in each, and
the last one in the other direction, a pyramid of ten rows sways more and more; with several of one direction it comes
to rest.

Source: Macklin et al., Small steps in physics simulation (2019).
"""

from functools import cache

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs
from warp_artic.islands.joint_rows import IMPACT_GROWTH, joint_rows
from warp_artic.islands.limited_drives import limited_drives
from warp_artic.islands.overlaps import overlap_functions
from warp_artic.islands.point_law import IMPACT_ACCELERATION, point_law
from warp_artic.islands.responses import response_kernels
from warp_artic.islands.supporting_rows import supporting_rows
from warp_artic.kernels.launch import OPTIONS

SUBSTEPS = 6
"""Of a step."""
SWEEPS = wp.constant(3)
"""Of a substep, with a bias."""
MOST_SWEEPS = wp.constant(6)
"""While one changes velocities by more than HARD k."""
PASSES = wp.constant(4)
"""Times that impulses may be found in a step."""


@cache
def solve_kernel(precision: str) -> wp.Kernel:
    """Find the impulses of all islands, each in a thread, and what they do to bodies."""
    types = island_types(precision)
    T, V = types.T, types.V
    Colliders, Bodies, Mechanisms, Points = types.Colliders, types.Bodies, types.Mechanisms, types.Points
    Islands, Island = island_structs()
    kernels = response_kernels(precision)
    tangents_of, mechanism_of = kernels.tangents_of, kernels.mechanism_of
    write_responses, recall = kernels.write_responses, kernels.recall
    release_drives = limited_drives(precision).release
    rows, supporting = joint_rows(precision), supporting_rows(precision)
    first_dof, solve_rows, warm_start_rows, forget_rows = rows.first_dof, rows.solve, rows.warm_start, rows.forget
    end_rows = rows.end
    supported_response, solve_supporting = supporting.supported_response, supporting.solve
    law = point_law(precision)
    Softness, softness, solve_point = law.Softness, law.softness, law.solve
    find_impact, warm_start, discard_impact = law.find_impact, law.warm_start, law.discard_impact
    project_overlaps = overlap_functions(precision).project

    @wp.struct
    class Substep:
        """One of a step."""

        number: int
        count: int
        k: T  # [s]
        part: T  # of the step that it ends
        soft: Softness

    @wp.func
    def island_at(mechanisms: Mechanisms, islands: Islands, env: int, number: int):
        at = env * mechanisms.count + env + number
        return Island(
            env,
            islands.point_start[at],
            islands.point_start[at + 1],
            islands.mechanism_start[at],
            islands.mechanism_start[at + 1],
        )

    @wp.func
    def begin(mechanisms: Mechanisms, points: Points, islands: Islands, island: Island):
        """Have mechanisms begin with the velocities before the step, and sum up no impulses yet."""
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            first = first_dof(mechanisms, island.env, m)
            for dof in range(first, first + mechanisms.dofs[m]):
                mechanisms.v[dof] = mechanisms.start[dof]
                mechanisms.displacement[dof] = T(0.0)
            forget_rows(mechanisms, island.env, m)
        for index in range(island.first_point, island.end_point):
            points.world[islands.points[index]] = V()
            points.turn_world[islands.points[index]] = V()

    @wp.func
    def stay(mechanisms: Mechanisms, islands: Islands, island: Island):
        """Have mechanisms that sleep move by nothing."""
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            first = first_dof(mechanisms, island.env, m)
            for dof in range(first, first + mechanisms.dofs[m]):
                mechanisms.v[dof] = mechanisms.start[dof]
                mechanisms.displacement[dof] = T(0.0)

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
        """Move on by velocities times k."""
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            first = first_dof(mechanisms, island.env, m)
            for dof in range(first, first + mechanisms.dofs[m]):
                mechanisms.displacement[dof] = mechanisms.displacement[dof] + k * mechanisms.v[dof]

    @wp.func
    def sweep(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        substep: Substep,
        is_relaxed: int,
    ):
        """Solve one point after the other, then the rows of joints.

        Points go forward, and backward in every other substep; the other way round where they are relaxed. Returns the
        largest change of the velocity of a point along its normal.
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
                first = mechanism_of(colliders, bodies, points.first[point])
                second = mechanism_of(colliders, bodies, points.second[point])
                term = points.term[point]
                other = term + points.first_dofs[point]
                supported = supported_response(mechanisms, points, point, first, term)
                if second != first:
                    supported += supported_response(mechanisms, points, point, second, other)
                before = points.z[point]
                solve_point(
                    colliders, mechanisms, points, point, substep.k, elapsed, substep.soft, is_relaxed, supported
                )
                change = points.z[point] - before
                if wp.length_sq(change) > T(0.0):
                    largest = wp.max(largest, wp.abs(change[0]) * points.normal[point][0])
                    solve_supporting(mechanisms, points, point, first, term, substep.part)
                    if second != first:
                        solve_supporting(mechanisms, points, point, second, other, substep.part)
        solve_rows(mechanisms, islands, island, substep.part)
        return largest

    @wp.func
    def solve_substep(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        substep: Substep,
    ):
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            find_impact(colliders, mechanisms, points, point, substep.k, substep.number, substep.count)
        accelerate(mechanisms, islands, island, T(1.0) / T(substep.count))
        for index in range(island.first_point, island.end_point):
            warm_start(colliders, mechanisms, points, islands.points[index])
        warm_start_rows(mechanisms, islands, island)
        sweeps = int(0)
        change = T(0.0)
        while sweeps < SWEEPS or (sweeps < MOST_SWEEPS and change > T(IMPACT_ACCELERATION) * substep.k):
            change = sweep(colliders, bodies, mechanisms, points, islands, island, substep, 0)
            sweeps += 1
        move(mechanisms, islands, island, substep.k)
        sweep(colliders, bodies, mechanisms, points, islands, island, substep, 1)
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            points.world[point] = points.world[point] + points.z[point]
            points.turn_world[point] = points.turn_world[point] + points.turn[point]
            if points.z[point][0] > T(IMPACT_GROWTH) * points.initial[point]:
                first = mechanism_of(colliders, bodies, points.first[point])
                second = mechanism_of(colliders, bodies, points.second[point])
                discard_impact(mechanisms, points, point, first, second, substep.k)
        for index in range(island.first_mechanism, island.end_mechanism):
            end_rows(mechanisms, island.env, islands.mechanisms[index])

    @wp.func
    def mark_pushed(colliders: Colliders, bodies: Bodies, mechanisms: Mechanisms, env: int, collider: int):
        """Mark the mechanism of a collider as pushed."""
        mechanism = mechanism_of(colliders, bodies, collider)
        if mechanism >= 0:
            mechanisms.is_pushed[env * mechanisms.count + mechanism] = 1

    @wp.func
    def finish(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        h: T,
    ):
        """Turn impulses to world axes, and subtract the motion of the step itself from displacements.

        What no contact pushes has no displacement beside the step: it moves as it does without neighbours.
        """
        for index in range(island.first_mechanism, island.end_mechanism):
            mechanisms.is_pushed[island.env * mechanisms.count + islands.mechanisms[index]] = 0
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            n = points.n[point]
            t_1, t_2 = tangents_of(n)
            z = points.z[point]
            total = points.world[point]
            points.warm[point] = n * z[0] + t_1 * z[1] + t_2 * z[2]
            points.world[point] = n * total[0] + t_1 * total[1] + t_2 * total[2]
            z = points.turn[point]
            total = points.turn_world[point]
            points.turn_warm[point] = n * z[0] + t_1 * z[1] + t_2 * z[2]
            points.turn_world[point] = n * total[0] + t_1 * total[1] + t_2 * total[2]
            pushes = wp.length_sq(points.world[point]) + wp.length_sq(points.turn_world[point])
            if pushes + wp.abs(points.projection[point]) > T(0.0):
                mark_pushed(colliders, bodies, mechanisms, island.env, points.first[point])
                mark_pushed(colliders, bodies, mechanisms, island.env, points.second[point])
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            first = first_dof(mechanisms, island.env, m)
            for dof in range(first, first + mechanisms.dofs[m]):
                mean = T(0.5) * (mechanisms.start[dof] + mechanisms.v[dof])
                own = mechanisms.displacement[dof] - h * mean
                mechanisms.displacement[dof] = own * T(mechanisms.is_pushed[island.env * mechanisms.count + m])

    @wp.func
    def are_known(points: Points, islands: Islands, island: Island, known_count: int, known: Points):
        """Whether all points of an island are among those that are known."""
        for number in range(island.first_point, island.end_point):
            key = points.key[islands.points[number]]
            if known.key[wp.lower_bound(known.key, 0, known_count, key)] != key:
                return False
        return True

    @wp.func
    def add_to_bodies(colliders: Colliders, bodies: Bodies, points: Points, point: int, rate: T):
        """Add the force of a point to its bodies."""
        env = points.environment[point]
        F = points.world[point] * rate
        N = points.turn_world[point] * rate
        for side in range(2):
            body = colliders.body[points.first[point]]
            sign = T(-1.0)
            if side == 1:
                body = colliders.body[points.second[point]]
                sign = T(1.0)
            if body >= 0:
                b = env * bodies.count + body
                arm = points.position[point] - bodies.center[b]
                bodies.force[b] = bodies.force[b] + F * sign
                bodies.moment[b] = bodies.moment[b] + (wp.cross(V(T(arm[0]), T(arm[1]), T(arm[2])), F) + N) * sign

    @wp.func
    def solve_island(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        h: T,
        substeps: int,
    ):
        """Find the impulses of an island over the step."""
        k = h / T(substeps)
        soft = softness(k)
        begin(mechanisms, points, islands, island)
        for substep in range(substeps):
            part = T(substep + 1) / T(substeps)
            now = Substep(substep, substeps, k, part, soft)
            solve_substep(colliders, bodies, mechanisms, points, islands, island, now)

    @wp.func
    def begin_again(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        old_count: int,
        old: Points,
    ):
        """Find the responses of points without released drives; start from the impulses of the step before."""
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            first = mechanism_of(colliders, bodies, points.first[point])
            second = mechanism_of(colliders, bodies, points.second[point])
            write_responses(colliders, mechanisms, points, point, first, second)
            recall(points, point, old_count, old)

    @wp.kernel(**OPTIONS)
    def solve(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        old_count: int,
        old: Points,
        known_count: int,
        known: Points,
        prediction: int,
        h: T,
        substeps: int,
        workers: int,
    ):
        """Islands whose points were all `known` before a prediction keep the impulses found then."""
        env, worker = wp.tid()
        for number in range(worker, islands.count[env], workers):
            island = island_at(mechanisms, islands, env, number)
            if prediction > 0 and are_known(points, islands, island, known_count, known):
                for index in range(island.first_point, island.end_point):
                    recall(points, islands.points[index], known_count, known)
            elif islands.asleep[env * mechanisms.count + number] == 0:
                solve_island(colliders, bodies, mechanisms, points, islands, island, h, substeps)
                passes = int(1)
                while passes < PASSES and release_drives(mechanisms, islands, island) > 0:
                    begin_again(colliders, bodies, mechanisms, points, islands, island, old_count, old)
                    solve_island(colliders, bodies, mechanisms, points, islands, island, h, substeps)
                    passes += 1
                project_overlaps(colliders, mechanisms, points, islands, island, h)
                finish(colliders, bodies, mechanisms, points, islands, island, h)
            else:
                stay(mechanisms, islands, island)
            for index in range(island.first_point, island.end_point):
                add_to_bodies(colliders, bodies, points, islands.points[index], T(1.0) / h)

    return solve
