"""Where near colliders touch or may touch within a step, as a list in the order of pairs and of their places.

Points are found at the start of the step. One takes part where its gap may close within the step, by the velocity of
the bodies there or by a way that contacts have given them (`paths`), or is below that at which contacts are looked at:
what is fast does not pass through what is thin.

Bodies that turn come to touch with other features than those that are near at the start. Where there is such a way,
places of bodies without joints are found at its end too. One that overlaps there, and more so by the way, takes
part with the gap, with J at the start of the step and the mean velocities u of the way,
    g = gap at the end - h J_n u, but no less than zero.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.collision.collide import collide
from warp_artic.collision.places import UNUSED
from warp_artic.constraints.contact_detection import TILT
from warp_artic.islands.arrays import island_types
from warp_artic.islands.paths import MOST_LOOKS, OVERLAPS, way_functions
from warp_artic.kernels.launch import OPTIONS
from warp_artic.math.numbers import mat3, vec3

FOUND = 8
"""Places of a pair, at most (`collision.collide.contact_points`)."""
MOST_PLACES = (1 + MOST_LOOKS) * FOUND
"""The same with those at the ends of ways in the step, which come last."""


@cache
def narrow_phase_kernels(precision: str) -> SimpleNamespace:
    """The kernels `find`, of places and how many take part, and `list_points`; and the function `velocity_at`."""
    types = island_types(precision)
    T, V, M = types.T, types.V, types.M
    ways = way_functions(precision)
    velocity_along, end_of_way, half_of_way = ways.velocity, ways.end, ways.half
    ways_of_pair = ways.of_pair
    Colliders, Solids, Bodies, Points = types.Colliders, types.Solids, types.Bodies, types.Points

    @wp.func
    def as_rows(R: M):
        return mat3(vec3(R[0, 0], R[0, 1], R[0, 2]), vec3(R[1, 0], R[1, 1], R[1, 2]), vec3(R[2, 0], R[2, 1], R[2, 2]))

    @wp.func
    def velocity_at(bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d):
        """Velocity of a point of a collider."""
        body = colliders.body[i]
        v = V()
        if body >= 0:
            b = env * bodies.count + body
            arm = x - bodies.center[b]
            v = bodies.linear[b] + wp.cross(bodies.angular[b], V(T(arm[0]), T(arm[1]), T(arm[2])))
        return v

    @wp.func
    def is_of_surface(colliders: Colliders, i: int, n: V):
        """Whether n, in the frame of a patch and away from it, is a normal of it and not of what it goes on in."""
        if colliders.one_sided[i] == 1 and n[2] <= T(0.0):
            return False
        for seam in range(colliders.seam[i], colliders.seam[i] + colliders.seams[i]):
            out = n[0] * colliders.seam_ways[seam, 0] + n[1] * colliders.seam_ways[seam, 1]
            if n[2] > T(0.0):
                out = out * colliders.seam_ways[seam, 2] - n[2] * colliders.seam_ways[seam, 3]
            if out > T(TILT):
                return False
        return True

    @wp.func
    def find_places(
        colliders: Colliders,
        places: wp.array2d(dtype=T),
        first: int,
        pair: int,
        i: int,
        j: int,
        between: wp.vec3d,
        R_0: M,
        R_1: M,
    ):
        """Write the places of two colliders, about the origin of the frame of the first one."""
        size0 = colliders.size[i]
        size1 = colliders.size[j]
        collide(
            colliders.hull_points,
            0,
            places,
            first,
            pair,
            colliders.kind[i],
            colliders.kind[j],
            vec3(T(0.0), T(0.0), T(0.0)),
            as_rows(R_0),
            vec3(size0[0], size0[1], size0[2]),
            colliders.hull[i],
            colliders.hull_count[i],
            vec3(T(between[0]), T(between[1]), T(between[2])),
            as_rows(R_1),
            vec3(size1[0], size1[1], size1[2]),
            colliders.hull[j],
            colliders.hull_count[j],
        )

    @wp.func
    def vector_of(places: wp.array2d(dtype=T), row: int, pair: int):
        return V(places[row, pair], places[row + 1, pair], places[row + 2, pair])

    @wp.func
    def seen_overlap(colliders: Colliders, i: int, j: int):
        """From which on an overlap at the end of a way is looked at [m]."""
        return T(OVERLAPS) * wp.min(colliders.thickness[i], colliders.thickness[j])

    @wp.func
    def may_close(colliders: Colliders, bodies: Bodies, env: int, i: int, j: int, x: wp.vec3d, n: V, gap: T, h: T):
        """Whether a gap may close within a time, is one that is looked at anyway, or closes by a way."""
        closing = wp.dot(n, velocity_at(bodies, colliders, env, i, x) - velocity_at(bodies, colliders, env, j, x))
        may = gap < colliders.offset[i] + colliders.offset[j] + h * wp.max(closing, T(0.0))
        least = gap - colliders.rest[i] - colliders.rest[j] + seen_overlap(colliders, i, j)
        for look in range(bodies.looks[env]):
            along = velocity_along(bodies, colliders, env, i, x, look)
            along -= velocity_along(bodies, colliders, env, j, x, look)
            may = may or least < h * wp.dot(n, along)
        return may

    @wp.func
    def is_hidden(colliders: Colliders, i: int, j: int, R_0: M, R_1: M, n: V):
        """Whether a normal is of what a patch goes on in."""
        hidden = False
        if colliders.is_patch[i] == 1:
            hidden = not is_of_surface(colliders, i, wp.transpose(R_0) * n)
        if colliders.is_patch[j] == 1 and not hidden:
            hidden = not is_of_surface(colliders, j, wp.transpose(R_1) * -n)
        return hidden

    @wp.func
    def bring_back(
        colliders: Colliders,
        solids: Solids,
        bodies: Bodies,
        env: int,
        i: int,
        j: int,
        x: wp.vec3d,
        n: V,
        places: wp.array2d(dtype=T),
        row: int,
        pair: int,
        h: T,
        look: int,
    ):
        """Write a place at the end of a way as one at the start of the step; says whether it takes part."""
        half_0, moves_0 = half_of_way(bodies, colliders, env, i, x, h, look)
        half_1, moves_1 = half_of_way(bodies, colliders, env, j, x, h, look)
        x -= wp.vec3d((half_0 + half_1) / wp.max(moves_0 + moves_1, T(1.0)))
        closing = wp.dot(
            n,
            velocity_along(bodies, colliders, env, i, x, look) - velocity_along(bodies, colliders, env, j, x, look),
        )
        end = places[row + 6, pair]
        rest = colliders.rest[i] + colliders.rest[j]
        place = x - solids.place[env * colliders.count + i]
        for axis in range(3):
            places[row + axis, pair] = T(place[axis])
        places[row + 6, pair] = wp.max(end + h * closing, rest)
        deep = seen_overlap(colliders, i, j)
        return end < rest - deep and h * closing > deep

    @wp.kernel(**OPTIONS)
    def find(
        colliders: Colliders,
        solids: Solids,
        bodies: Bodies,
        firsts: wp.array(dtype=int),
        seconds: wp.array(dtype=int),
        points_of_kinds: wp.array2d(dtype=int),
        h: T,
        places: wp.array2d(dtype=T),
        counts: wp.array(dtype=int),
    ):
        """Find the places of each pair; what does not take part has a gap of UNUSED."""
        pair = wp.tid()
        k = firsts[pair]
        env = k / colliders.count
        i = k - env * colliders.count
        j = seconds[pair] - env * colliders.count
        if colliders.kind[i] > colliders.kind[j]:
            j = i
            i = seconds[pair] - env * colliders.count
        first = env * colliders.count + i
        second = env * colliders.count + j
        count = points_of_kinds[colliders.kind[i], colliders.kind[j]]
        used = int(0)
        for way in range(1, 1 + MOST_LOOKS):
            for place in range(count):
                places[7 * (FOUND * way + place) + 6, pair] = T(UNUSED)
        for way in range(1 + ways_of_pair(bodies, colliders, env, i, j)):
            x_0 = solids.place[first]
            x_1 = solids.place[second]
            R_0 = solids.axes[first]
            R_1 = solids.axes[second]
            if way > 0:
                x_0, R_0 = end_of_way(bodies, colliders, env, i, x_0, R_0, h, way - 1)
                x_1, R_1 = end_of_way(bodies, colliders, env, j, x_1, R_1, h, way - 1)
            find_places(colliders, places, FOUND * way, pair, i, j, x_1 - x_0, R_0, R_1)
            for place in range(count):
                row = 7 * (FOUND * way + place)
                gap = places[row + 6, pair]
                takes_part = gap < T(0.5) * T(UNUSED)
                if takes_part:
                    n = vector_of(places, row + 3, pair)
                    x = x_0 + wp.vec3d(vector_of(places, row, pair))
                    if way > 0:
                        takes_part = bring_back(
                            colliders, solids, bodies, env, i, j, x, n, places, row, pair, h, way - 1
                        )
                    else:
                        takes_part = may_close(colliders, bodies, env, i, j, x, n, gap, h)
                    takes_part = takes_part and not is_hidden(colliders, i, j, R_0, R_1, n)
                if takes_part:
                    used += 1
                else:
                    places[row + 6, pair] = T(UNUSED)
        counts[pair] = used

    @wp.kernel(**OPTIONS)
    def list_points(
        colliders: Colliders,
        solids: Solids,
        firsts: wp.array(dtype=int),
        seconds: wp.array(dtype=int),
        points_of_kinds: wp.array2d(dtype=int),
        places: wp.array2d(dtype=T),
        starts: wp.array(dtype=int),
        points: Points,
    ):
        """Write those that take part, from `starts` on."""
        pair = wp.tid()
        k = firsts[pair]
        env = k / colliders.count
        i = k - env * colliders.count
        j = seconds[pair] - env * colliders.count
        pair_key = wp.int64(k) * wp.int64(colliders.count) + wp.int64(j)
        if colliders.kind[i] > colliders.kind[j]:
            j = i
            i = seconds[pair] - env * colliders.count
        point = starts[pair]
        count = points_of_kinds[colliders.kind[i], colliders.kind[j]]
        for number in range((1 + MOST_LOOKS) * count):
            place = number + (FOUND - count) * (number / count)
            row = 7 * place
            gap = places[row + 6, pair]
            if gap < T(0.5) * T(UNUSED):
                points.key[point] = pair_key * wp.int64(MOST_PLACES) + wp.int64(place)
                points.environment[point] = env
                points.first[point] = i
                points.second[point] = j
                points.place[point] = solids.place[env * colliders.count + i] + wp.vec3d(vector_of(places, row, pair))
                points.n[point] = vector_of(places, row + 3, pair)
                points.gap[point] = gap - colliders.rest[i] - colliders.rest[j]
                point += 1

    return SimpleNamespace(find=find, list_points=list_points, velocity_at=velocity_at)
