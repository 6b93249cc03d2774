"""Islands: mechanisms that contact points connect, with their points; static bodies connect nothing.

An island falls asleep as a whole: all of it has been at rest for as long as the one that moved last. A kinematic body
that moves keeps it awake. Rows of joints remember nothing where nothing is near.
"""

from functools import cache

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.narrow_phase import MAX_CANDIDATES

OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def island_structs():
    """The structs `Islands` and `Island`."""

    @wp.struct
    class Island:
        """One island: ranges of `Islands.points` and `Islands.mechanisms`."""

        env: int
        first_point: int
        end_point: int
        first_mechanism: int
        end_mechanism: int

    @wp.struct
    class Islands:
        """Those of all environments; each environment has its own ranges of points and mechanisms."""

        count: wp.array(dtype=int)  # in an environment
        leader: wp.array(dtype=int)  # of a mechanism: one of its island
        number: wp.array(dtype=int)  # of a leader: its island
        point_start: wp.array(dtype=int)  # of an island: its first point in `points`, and the end of the last one
        points: wp.array(dtype=int)
        mechanism_start: wp.array(dtype=int)
        mechanisms: wp.array(dtype=int)
        point_range: wp.array(dtype=int)  # of an environment: its first point, and the end of the last one
        asleep: wp.array(dtype=int)  # of an island

    return Islands, Island


@cache
def island_kernel(precision: str) -> wp.Kernel:
    """Find the islands of each environment, in the order of their first points."""
    types = island_types(precision)
    T = types.T
    Colliders, Bodies, Mechanisms, Points = types.Colliders, types.Bodies, types.Mechanisms, types.Points
    Islands, _Island = island_structs()

    @wp.func
    def leader_of(islands: Islands, mechanism: int):
        found = mechanism
        while islands.leader[found] != found:
            islands.leader[found] = islands.leader[islands.leader[found]]
            found = islands.leader[found]
        return found

    @wp.func
    def first_of(points: Points, key: wp.int64):
        """The first point whose key is not below one; the number of points where there is none."""
        found = int(0)
        if points.count > 0:
            found = wp.lower_bound(points.key, 0, points.count, key)
            if points.key[found] < key:  # Warp gives the last entry at most
                found += 1
        return found

    @wp.func
    def is_moved(colliders: Colliders, bodies: Bodies, env: int, i: int):
        """Whether a collider is on a kinematic body that moves now."""
        moves = False
        body = colliders.body[i]
        if body >= 0:
            b = env * bodies.count + body
            if bodies.mechanism[body] < 0:
                moves = wp.length_sq(bodies.linear[b]) + wp.length_sq(bodies.angular[b]) > T(0.0)
        return moves

    @wp.kernel(**OPTIONS)
    def find(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        sleep_steps: T,
        islands: Islands,
    ):
        env = wp.tid()
        base = env * mechanisms.count
        keys = wp.int64(colliders.count) * wp.int64(colliders.count) * wp.int64(MAX_CANDIDATES)
        begin = first_of(points, wp.int64(env) * keys)
        end = first_of(points, wp.int64(env + 1) * keys)
        islands.point_range[2 * env] = begin
        islands.point_range[2 * env + 1] = end
        for m in range(mechanisms.count):
            islands.leader[base + m] = base + m
            islands.number[base + m] = -1
        for point in range(begin, end):
            first = points.first_mechanism[point]
            second = points.second_mechanism[point]
            if first >= 0 and second >= 0 and first != second:
                a = leader_of(islands, base + first)
                b = leader_of(islands, base + second)
                islands.leader[wp.max(a, b)] = wp.min(a, b)
        # Islands have room from the first mechanism of the environment on: there are at most as many.
        count = int(0)
        for point in range(begin, end):
            mechanism = wp.max(points.first_mechanism[point], points.second_mechanism[point])
            leader = leader_of(islands, base + mechanism)
            if is_moved(colliders, bodies, env, points.first[point]):
                mechanisms.steps_at_rest[leader] = T(0.0)
            if is_moved(colliders, bodies, env, points.second[point]):
                mechanisms.steps_at_rest[leader] = T(0.0)
            if islands.number[leader] < 0:
                islands.number[leader] = count
                islands.point_start[base + env + count] = 0
                islands.mechanism_start[base + env + count] = 0
                islands.asleep[base + count] = 1
                count += 1
            number = islands.number[leader]
            islands.point_start[base + env + number] = islands.point_start[base + env + number] + 1
        islands.count[env] = count
        least = mechanisms.steps_at_rest
        for m in range(mechanisms.count):
            leader = leader_of(islands, base + m)
            number = islands.number[leader]
            if number >= 0:
                islands.mechanism_start[base + env + number] = islands.mechanism_start[base + env + number] + 1
                least[leader] = wp.min(least[leader], mechanisms.steps_at_rest[base + m])
        # Counts become ends, and as entries are placed from behind, starts.
        point_total = begin
        mechanism_total = base
        for number in range(count):
            point_total += islands.point_start[base + env + number]
            islands.point_start[base + env + number] = point_total
            mechanism_total += islands.mechanism_start[base + env + number]
            islands.mechanism_start[base + env + number] = mechanism_total
        islands.point_start[base + env + count] = point_total
        islands.mechanism_start[base + env + count] = mechanism_total
        for k in range(end - begin):
            point = end - 1 - k
            mechanism = wp.max(points.first_mechanism[point], points.second_mechanism[point])
            number = islands.number[leader_of(islands, base + mechanism)]
            index = islands.point_start[base + env + number] - 1
            islands.point_start[base + env + number] = index
            islands.points[index] = point
        for k in range(mechanisms.count):
            m = mechanisms.count - 1 - k
            leader = leader_of(islands, base + m)
            number = islands.number[leader]
            if number >= 0:
                index = islands.mechanism_start[base + env + number] - 1
                islands.mechanism_start[base + env + number] = index
                islands.mechanisms[index] = m
                mechanisms.steps_at_rest[base + m] = least[leader]
                if sleep_steps == T(0.0) or mechanisms.steps_at_rest[base + m] < sleep_steps:
                    islands.asleep[base + number] = 0
            else:
                for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
                    mechanisms.row_warm[env * mechanisms.row_count + row] = T(0.0)

    return find
