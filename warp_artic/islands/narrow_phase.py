"""Where near colliders touch or may touch within a step, as a list in the order of pairs and of their places.

Points are found at the start of the step. One takes part where its gap may close within the step, by the velocity of
the bodies there, or is below that at which contacts are looked at: what is fast does not pass through what is thin.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.collision.collide import collide
from warp_artic.collision.places import UNUSED
from warp_artic.constraints.contact_detection import TILT
from warp_artic.islands.arrays import island_types
from warp_artic.kernels.launch import OPTIONS
from warp_artic.math.numbers import mat3, vec3

MOST_PLACES = 8
"""Places of a pair, at most (`collision.collide.contact_points`)."""


@cache
def narrow_phase_kernels(precision: str) -> SimpleNamespace:
    """The kernels `find`, of places and how many take part, and `list_points`; and the function `velocity_at`."""
    types = island_types(precision)
    T, V, M = types.T, types.V, types.M
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
        between = solids.place[second] - solids.place[first]
        size0 = colliders.size[i]
        size1 = colliders.size[j]
        collide(
            colliders.hull_points,
            0,
            places,
            0,
            pair,
            colliders.kind[i],
            colliders.kind[j],
            vec3(T(0.0), T(0.0), T(0.0)),
            as_rows(solids.axes[first]),
            vec3(size0[0], size0[1], size0[2]),
            colliders.hull[i],
            colliders.hull_count[i],
            vec3(T(between[0]), T(between[1]), T(between[2])),
            as_rows(solids.axes[second]),
            vec3(size1[0], size1[1], size1[2]),
            colliders.hull[j],
            colliders.hull_count[j],
        )
        used = int(0)
        reach = colliders.offset[i] + colliders.offset[j]
        for place in range(points_of_kinds[colliders.kind[i], colliders.kind[j]]):
            row = 7 * place
            gap = places[row + 6, pair]
            takes_part = gap < T(0.5) * T(UNUSED)
            if takes_part:
                n = V(places[row + 3, pair], places[row + 4, pair], places[row + 5, pair])
                x = solids.place[first] + wp.vec3d(
                    wp.float64(places[row, pair]), wp.float64(places[row + 1, pair]), wp.float64(places[row + 2, pair])
                )
                closing = wp.dot(
                    n, velocity_at(bodies, colliders, env, i, x) - velocity_at(bodies, colliders, env, j, x)
                )
                takes_part = gap < reach + h * wp.max(closing, T(0.0))
                if takes_part and colliders.is_patch[i] == 1:
                    takes_part = is_of_surface(colliders, i, wp.transpose(solids.axes[first]) * n)
                if takes_part and colliders.is_patch[j] == 1:
                    takes_part = is_of_surface(colliders, j, wp.transpose(solids.axes[second]) * -n)
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
        for place in range(points_of_kinds[colliders.kind[i], colliders.kind[j]]):
            row = 7 * place
            gap = places[row + 6, pair]
            if gap < T(0.5) * T(UNUSED):
                points.key[point] = pair_key * wp.int64(MOST_PLACES) + wp.int64(place)
                points.environment[point] = env
                points.first[point] = i
                points.second[point] = j
                points.place[point] = solids.place[env * colliders.count + i] + wp.vec3d(
                    wp.float64(places[row, pair]), wp.float64(places[row + 1, pair]), wp.float64(places[row + 2, pair])
                )
                points.n[point] = V(places[row + 3, pair], places[row + 4, pair], places[row + 5, pair])
                points.gap[point] = gap - colliders.rest[i] - colliders.rest[j]
                point += 1

    return SimpleNamespace(find=find, list_points=list_points, velocity_at=velocity_at)
