"""Islands: mechanisms that points join, one after the other, with their points; static bodies join nothing.

All of an island fall asleep together: each has been at rest for as long as the one that has been for the shortest time.
Nothing rests on a body that is moved from outside.
"""

from functools import cache

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.narrow_phase import MOST_PLACES
from warp_artic.islands.responses import response_kernels

OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def island_structs():
    """The structs `Islands` and `Island`."""

    @wp.struct
    class Island:
        """Its points and its movers are those from one place on and before another one in `Islands`."""

        env: int
        first_point: int
        end_point: int
        first_mover: int
        end_mover: int

    @wp.struct
    class Islands:
        """Those of all environments, by number, from the first point or mover of an environment on."""

        count: wp.array(dtype=int)  # in an environment
        leader: wp.array(dtype=int)  # of a mover, one of its island
        number: wp.array(dtype=int)  # of a leader: its island
        point_start: wp.array(dtype=int)  # of an island: its first point in `points`, and the end of the last one
        points: wp.array(dtype=int)
        mover_start: wp.array(dtype=int)
        movers: wp.array(dtype=int)
        point_range: wp.array(dtype=int)  # of an environment: its first point, and the end of the last one
        asleep: wp.array(dtype=int)  # of an island

    return Islands, Island


@cache
def island_kernel(precision: str) -> wp.Kernel:
    """Find the islands of each environment, in the order of their first points."""
    types = island_types(precision)
    T = types.T
    Colliders, Bodies, Movers, Points = types.Colliders, types.Bodies, types.Movers, types.Points
    Islands, _Island = island_structs()
    mover_of = response_kernels(precision).mover_of

    @wp.func
    def leader_of(islands: Islands, mover: int):
        found = mover
        while islands.leader[found] != found:
            islands.leader[found] = islands.leader[islands.leader[found]]
            found = islands.leader[found]
        return found

    @wp.func
    def first_of(points: Points, count: int, key: wp.int64):
        """The first point whose key is not below one; the number of points where there is none."""
        found = int(0)
        if count > 0:
            found = wp.lower_bound(points.key, 0, count, key)
            if points.key[found] < key:  # Warp gives the last entry at most
                found += 1
        return found

    @wp.func
    def is_moved(colliders: Colliders, bodies: Bodies, env: int, i: int):
        """Whether a collider is on a body that is moved from outside, and moves now."""
        moves = False
        body = colliders.body[i]
        if body >= 0:
            b = env * bodies.count + body
            if bodies.mover[body] < 0:
                moves = wp.length_sq(bodies.linear[b]) + wp.length_sq(bodies.angular[b]) > T(0.0)
        return moves

    @wp.kernel(**OPTIONS)
    def find(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        point_count: int,
        sleep_steps: T,
        islands: Islands,
    ):
        env = wp.tid()
        base = env * movers.count
        keys = wp.int64(colliders.count) * wp.int64(colliders.count) * wp.int64(MOST_PLACES)
        begin = first_of(points, point_count, wp.int64(env) * keys)
        end = first_of(points, point_count, wp.int64(env + 1) * keys)
        islands.point_range[2 * env] = begin
        islands.point_range[2 * env + 1] = end
        for m in range(movers.count):
            islands.leader[base + m] = base + m
            islands.number[base + m] = -1
        for point in range(begin, end):
            first = mover_of(colliders, bodies, points.first[point])
            second = mover_of(colliders, bodies, points.second[point])
            if first >= 0 and second >= 0 and first != second:
                a = leader_of(islands, base + first)
                b = leader_of(islands, base + second)
                islands.leader[wp.max(a, b)] = wp.min(a, b)
        # Islands have room from the first mover of the environment on: there are at most as many.
        count = int(0)
        for point in range(begin, end):
            mover = wp.max(
                mover_of(colliders, bodies, points.first[point]), mover_of(colliders, bodies, points.second[point])
            )
            leader = leader_of(islands, base + mover)
            if is_moved(colliders, bodies, env, points.first[point]):
                movers.rest[leader] = T(0.0)
            if is_moved(colliders, bodies, env, points.second[point]):
                movers.rest[leader] = T(0.0)
            if islands.number[leader] < 0:
                islands.number[leader] = count
                islands.point_start[base + env + count] = 0
                islands.mover_start[base + env + count] = 0
                islands.asleep[base + count] = 1
                count += 1
            number = islands.number[leader]
            islands.point_start[base + env + number] = islands.point_start[base + env + number] + 1
        islands.count[env] = count
        least = movers.rest
        for m in range(movers.count):
            leader = leader_of(islands, base + m)
            number = islands.number[leader]
            if number >= 0:
                islands.mover_start[base + env + number] = islands.mover_start[base + env + number] + 1
                least[leader] = wp.min(least[leader], movers.rest[base + m])
        # Counts become ends, and as entries are placed from behind, starts.
        point_total = begin
        mover_total = base
        for number in range(count):
            point_total += islands.point_start[base + env + number]
            islands.point_start[base + env + number] = point_total
            mover_total += islands.mover_start[base + env + number]
            islands.mover_start[base + env + number] = mover_total
        islands.point_start[base + env + count] = point_total
        islands.mover_start[base + env + count] = mover_total
        for k in range(end - begin):
            point = end - 1 - k
            mover = wp.max(
                mover_of(colliders, bodies, points.first[point]), mover_of(colliders, bodies, points.second[point])
            )
            number = islands.number[leader_of(islands, base + mover)]
            place = islands.point_start[base + env + number] - 1
            islands.point_start[base + env + number] = place
            islands.points[place] = point
        for k in range(movers.count):
            m = movers.count - 1 - k
            leader = leader_of(islands, base + m)
            number = islands.number[leader]
            if number >= 0:
                place = islands.mover_start[base + env + number] - 1
                islands.mover_start[base + env + number] = place
                islands.movers[place] = m
                movers.rest[base + m] = least[leader]
                if sleep_steps == T(0.0) or movers.rest[base + m] < sleep_steps:
                    islands.asleep[base + number] = 0

    return find
