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
Small steps are worth more than sweeps: what is left of an error in a substep is smaller by n^2. But with one sweep in
each, and the last one in the other direction, a pyramid of ten rows sways more and more; with several of one direction
it comes to rest.

Source: Macklin et al., Small steps in physics simulation (2019).
"""

from functools import cache

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.bearing_rows import bearing_rows
from warp_artic.islands.find_islands import island_structs
from warp_artic.islands.joint_rows import GROWS, joint_rows
from warp_artic.islands.limited_drives import limited_drives
from warp_artic.islands.overlaps import overlap_functions
from warp_artic.islands.point_law import HARD, point_law
from warp_artic.islands.responses import response_kernels
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
    Colliders, Bodies, Movers, Points = types.Colliders, types.Bodies, types.Movers, types.Points
    Islands, Island = island_structs()
    kernels = response_kernels(precision)
    tangents_of, mover_of = kernels.tangents_of, kernels.mover_of
    answer_point, recall = kernels.answer, kernels.recall
    release_drives = limited_drives(precision).release
    rows, bearing = joint_rows(precision), bearing_rows(precision)
    first_dof, solve_rows, warm_start_rows, forget_rows = rows.first_dof, rows.solve, rows.warm_start, rows.forget
    end_rows = rows.end
    borne_response, solve_bearing = bearing.borne_response, bearing.solve
    law = point_law(precision)
    Softness, softness, solve_point = law.Softness, law.softness, law.solve
    find_impact, warm_start, leave_impact_out = law.find_impact, law.warm_start, law.leave_impact_out
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
    def island_at(movers: Movers, islands: Islands, env: int, number: int):
        at = env * movers.count + env + number
        return Island(
            env,
            islands.point_start[at],
            islands.point_start[at + 1],
            islands.mover_start[at],
            islands.mover_start[at + 1],
        )

    @wp.func
    def begin(movers: Movers, points: Points, islands: Islands, island: Island):
        """Have mechanisms begin with the velocities before the step, and sum up no impulses yet."""
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            first = first_dof(movers, island.env, m)
            for dof in range(first, first + movers.dofs[m]):
                movers.v[dof] = movers.start[dof]
                movers.path[dof] = T(0.0)
            forget_rows(movers, island.env, m)
        for place in range(island.first_point, island.end_point):
            points.world[islands.points[place]] = V()
            points.turn_world[islands.points[place]] = V()

    @wp.func
    def stay(movers: Movers, islands: Islands, island: Island):
        """Have mechanisms that sleep move by nothing."""
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            first = first_dof(movers, island.env, m)
            for dof in range(first, first + movers.dofs[m]):
                movers.v[dof] = movers.start[dof]
                movers.path[dof] = T(0.0)

    @wp.func
    def accelerate(movers: Movers, islands: Islands, island: Island, share: T):
        """Add a share of what velocities change by without contacts."""
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            movers.is_hit[island.env * movers.count + m] = 0
            first = first_dof(movers, island.env, m)
            for dof in range(first, first + movers.dofs[m]):
                movers.before[dof] = movers.v[dof]
                movers.v[dof] = movers.v[dof] + share * (movers.free[dof] - movers.start[dof])

    @wp.func
    def move(movers: Movers, islands: Islands, island: Island, k: T):
        """Move on by velocities times k."""
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            first = first_dof(movers, island.env, m)
            for dof in range(first, first + movers.dofs[m]):
                movers.path[dof] = movers.path[dof] + k * movers.v[dof]

    @wp.func
    def sweep(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
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
            place = island.first_point + number
            if (substep.number + is_relaxed) % 2 == 1:
                place = island.end_point - 1 - number
            point = islands.points[place]
            # What has no impulse is apart: slowed down without a bias, it would not come to where it closes.
            is_idle = is_relaxed == 1 and points.z[point][0] == T(0.0)
            if points.normal[point][0] > T(0.0) and not is_idle:
                first = mover_of(colliders, bodies, points.first[point])
                second = mover_of(colliders, bodies, points.second[point])
                term = points.term[point]
                other = term + points.first_dofs[point]
                borne = borne_response(movers, points, point, first, term)
                if second != first:
                    borne += borne_response(movers, points, point, second, other)
                before = points.z[point]
                solve_point(colliders, movers, points, point, substep.k, elapsed, substep.soft, is_relaxed, borne)
                change = points.z[point] - before
                if wp.length_sq(change) > T(0.0):
                    largest = wp.max(largest, wp.abs(change[0]) * points.normal[point][0])
                    solve_bearing(movers, points, point, first, term, substep.part)
                    if second != first:
                        solve_bearing(movers, points, point, second, other, substep.part)
        solve_rows(movers, islands, island, substep.part)
        return largest

    @wp.func
    def solve_substep(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        islands: Islands,
        island: Island,
        substep: Substep,
    ):
        for place in range(island.first_point, island.end_point):
            point = islands.points[place]
            find_impact(colliders, movers, points, point, substep.k, substep.number, substep.count)
        accelerate(movers, islands, island, T(1.0) / T(substep.count))
        for place in range(island.first_point, island.end_point):
            warm_start(colliders, movers, points, islands.points[place])
        warm_start_rows(movers, islands, island)
        sweeps = int(0)
        change = T(0.0)
        while sweeps < SWEEPS or (sweeps < MOST_SWEEPS and change > T(HARD) * substep.k):
            change = sweep(colliders, bodies, movers, points, islands, island, substep, 0)
            sweeps += 1
        move(movers, islands, island, substep.k)
        sweep(colliders, bodies, movers, points, islands, island, substep, 1)
        for place in range(island.first_point, island.end_point):
            point = islands.points[place]
            points.world[point] = points.world[point] + points.z[point]
            points.turn_world[point] = points.turn_world[point] + points.turn[point]
            if points.z[point][0] > T(GROWS) * points.begun[point]:
                first = mover_of(colliders, bodies, points.first[point])
                second = mover_of(colliders, bodies, points.second[point])
                leave_impact_out(movers, points, point, first, second, substep.k)
        for place in range(island.first_mover, island.end_mover):
            end_rows(movers, island.env, islands.movers[place])

    @wp.func
    def note_pushed(colliders: Colliders, bodies: Bodies, movers: Movers, env: int, collider: int):
        """Mark the mechanism of a collider as pushed."""
        mover = mover_of(colliders, bodies, collider)
        if mover >= 0:
            movers.is_pushed[env * movers.count + mover] = 1

    @wp.func
    def finish(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        islands: Islands,
        island: Island,
        h: T,
    ):
        """Turn impulses to world axes, and take the mean of velocities off paths: the step itself moves by that.

        What no contact pushes has no path of its own: it moves as it does without neighbours.
        """
        for place in range(island.first_mover, island.end_mover):
            movers.is_pushed[island.env * movers.count + islands.movers[place]] = 0
        for place in range(island.first_point, island.end_point):
            point = islands.points[place]
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
                note_pushed(colliders, bodies, movers, island.env, points.first[point])
                note_pushed(colliders, bodies, movers, island.env, points.second[point])
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            first = first_dof(movers, island.env, m)
            for dof in range(first, first + movers.dofs[m]):
                mean = T(0.5) * (movers.start[dof] + movers.v[dof])
                own = movers.path[dof] - h * mean
                movers.path[dof] = own * T(movers.is_pushed[island.env * movers.count + m])

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
                arm = points.place[point] - bodies.center[b]
                bodies.force[b] = bodies.force[b] + F * sign
                bodies.moment[b] = bodies.moment[b] + (wp.cross(V(T(arm[0]), T(arm[1]), T(arm[2])), F) + N) * sign

    @wp.func
    def solve_island(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        islands: Islands,
        island: Island,
        h: T,
        substeps: int,
    ):
        """Find the impulses of an island over the step."""
        k = h / T(substeps)
        soft = softness(k)
        begin(movers, points, islands, island)
        for substep in range(substeps):
            part = T(substep + 1) / T(substeps)
            now = Substep(substep, substeps, k, part, soft)
            solve_substep(colliders, bodies, movers, points, islands, island, now)

    @wp.func
    def begin_again(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        islands: Islands,
        island: Island,
        old_count: int,
        old: Points,
    ):
        """Have points answer with what drives hold now, and the impulses of the step before."""
        for place in range(island.first_point, island.end_point):
            point = islands.points[place]
            first = mover_of(colliders, bodies, points.first[point])
            second = mover_of(colliders, bodies, points.second[point])
            answer_point(colliders, movers, points, point, first, second)
            recall(points, point, old_count, old)

    @wp.kernel(**OPTIONS)
    def solve(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        islands: Islands,
        old_count: int,
        old: Points,
        known_count: int,
        known: Points,
        look: int,
        h: T,
        substeps: int,
        workers: int,
    ):
        """Islands whose points are all `known`, by an earlier look in the step, keep the impulses found then."""
        env, worker = wp.tid()
        for number in range(worker, islands.count[env], workers):
            island = island_at(movers, islands, env, number)
            if look > 0 and are_known(points, islands, island, known_count, known):
                for place in range(island.first_point, island.end_point):
                    recall(points, islands.points[place], known_count, known)
            elif islands.asleep[env * movers.count + number] == 0:
                solve_island(colliders, bodies, movers, points, islands, island, h, substeps)
                passes = int(1)
                while passes < PASSES and release_drives(movers, islands, island) > 0:
                    begin_again(colliders, bodies, movers, points, islands, island, old_count, old)
                    solve_island(colliders, bodies, movers, points, islands, island, h, substeps)
                    passes += 1
                project_overlaps(colliders, movers, points, islands, island, h)
                finish(colliders, bodies, movers, points, islands, island, h)
            else:
                stay(movers, islands, island)
            for place in range(island.first_point, island.end_point):
                add_to_bodies(colliders, bodies, points, islands.points[place], T(1.0) / h)

    return solve
