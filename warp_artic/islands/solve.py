"""Impulses of islands over a step, in substeps (`substep`), and the forces on bodies that they are.

M^-1 and J of mechanisms with joints are those of the middle of a midpoint step, where it evaluates forces. Where drives
exceed their maximum force, impulses are found again with those released (`limited_drives`).
"""

from functools import cache

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs
from warp_artic.islands.joint_rows import joint_rows
from warp_artic.islands.limited_drives import limited_drives
from warp_artic.islands.overlaps import overlap_functions
from warp_artic.islands.point_law import IMPACT_ACCELERATION, friction_functions, point_law
from warp_artic.islands.predicted_motion import prediction_functions
from warp_artic.islands.responses import point_functions, response_functions
from warp_artic.islands.substep import MOST_SWEEPS, substep_functions
from warp_artic.kernels.launch import OPTIONS

SUBSTEPS = 6
"""Of a step."""
PASSES = wp.constant(4)
"""Times that impulses may be found in a step."""


@cache
def solve_kernel(precision: str) -> wp.Kernel:
    """Find the impulses of all islands, each in a thread, and what they do to bodies."""
    types = island_types(precision)
    T, V = types.T, types.V
    Colliders, Bodies, Mechanisms, Points = types.Colliders, types.Bodies, types.Mechanisms, types.Points
    Islands, Island = island_structs()
    of_points, of_responses = point_functions(precision), response_functions(precision)
    tangents_of, mechanism_of, point_rate = of_points.tangents_of, of_points.mechanism_of, of_points.rate
    arm_at = prediction_functions(precision).arm_at
    write_responses, recall = of_responses.write, of_responses.recall
    release_drives = limited_drives(precision).release
    rows = joint_rows(precision)
    first_dof, recall_rows, keep_rows = rows.first_dof, rows.recall, rows.keep
    softness, disc_response = point_law(precision).softness, friction_functions(precision).disc_response
    of_substeps = substep_functions(precision)
    Substep, Effort, solve_substep = of_substeps.Substep, of_substeps.Effort, of_substeps.solve
    project_overlaps = overlap_functions(precision).project

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
    def stay(mechanisms: Mechanisms, islands: Islands, island: Island):
        """Have mechanisms keep their velocities and move by nothing, as those that sleep do."""
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            first = first_dof(mechanisms, island.env, m)
            for dof in range(first, first + mechanisms.dofs[m]):
                mechanisms.v[dof] = mechanisms.start[dof]
                mechanisms.displacement[dof] = T(0.0)

    @wp.func
    def begin(mechanisms: Mechanisms, points: Points, islands: Islands, island: Island):
        """Have mechanisms begin with the velocities before the step, and sum up no impulses of points yet."""
        stay(mechanisms, islands, island)
        for index in range(island.first_mechanism, island.end_mechanism):
            recall_rows(mechanisms, island.env, islands.mechanisms[index])
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            points.world[point] = V()
            points.turn_world[point] = V()
            most, inverse = disc_response(points.across[point])
            points.across_most[point] = most
            points.across_inverse[point] = inverse

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
                weight = mechanisms.end_weight[dof]
                mean = (T(1.0) - weight) * mechanisms.start[dof] + weight * mechanisms.v[dof]
                own = mechanisms.displacement[dof] - h * mean
                mechanisms.displacement[dof] = own * T(mechanisms.is_pushed[island.env * mechanisms.count + m])

    @wp.func
    def are_known(points: Points, islands: Islands, island: Island, known: Points):
        """Whether all points of an island are among those that are known."""
        for number in range(island.first_point, island.end_point):
            key = points.key[islands.points[number]]
            if known.key[wp.lower_bound(known.key, 0, known.count, key)] != key:
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
                arm = arm_at(bodies, b, points.position[point], points.lead[point])
                bodies.force[b] = bodies.force[b] + F * sign
                bodies.moment[b] = bodies.moment[b] + (wp.cross(arm, F) + N) * sign

    @wp.func
    def solve_island(
        colliders: Colliders,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        h: T,
        substeps: int,
    ):
        """Find the impulses of an island over the step."""
        k = h / T(substeps)
        usual = Effort(softness(k), 0, MOST_SWEEPS, T(IMPACT_ACCELERATION) * k)
        begin(mechanisms, points, islands, island)
        for substep in range(substeps):
            part = T(substep + 1) / T(substeps)
            now = Substep(substep, substeps, k, part, usual)
            solve_substep(colliders, mechanisms, points, islands, island, now)

    @wp.func
    def begin_again(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        island: Island,
        old: Points,
    ):
        """Find the responses of points without released drives; start from the impulses of the step before."""
        for index in range(island.first_point, island.end_point):
            point = islands.points[index]
            first = points.first_mechanism[point]
            second = points.second_mechanism[point]
            write_responses(colliders, bodies, mechanisms, points, point, first, second)
            recall(points, point, old, points.earlier[point])

    @wp.kernel(**OPTIONS)
    def solve(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        islands: Islands,
        old: Points,
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
            if prediction > 0 and are_known(points, islands, island, known):
                for index in range(island.first_point, island.end_point):
                    point = islands.points[index]
                    recall(points, point, known, wp.lower_bound(known.key, 0, known.count, points.key[point]))
            elif islands.asleep[env * mechanisms.count + number] == 0:
                solve_island(colliders, mechanisms, points, islands, island, h, substeps)
                passes = int(1)
                while passes < PASSES and release_drives(mechanisms, islands, island) > 0:
                    begin_again(colliders, bodies, mechanisms, points, islands, island, old)
                    solve_island(colliders, mechanisms, points, islands, island, h, substeps)
                    passes += 1
                for index in range(island.first_mechanism, island.end_mechanism):
                    keep_rows(mechanisms, env, islands.mechanisms[index])
                project_overlaps(colliders, mechanisms, points, islands, island, h)
                finish(colliders, bodies, mechanisms, points, islands, island, h)
            else:
                stay(mechanisms, islands, island)
            for index in range(island.first_point, island.end_point):
                point = islands.points[index]
                points.rate[point] = point_rate(points, points.J, point, mechanisms.v, points.rate[point])
                add_to_bodies(colliders, bodies, points, point, T(1.0) / h)

    return solve
