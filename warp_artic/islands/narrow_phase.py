"""Contact points of near colliders, as a list in the order of pairs and of their candidates.

Points are found at the start of the step, or in its middle (`lasting_contacts`), and at the predicted poses of its end
(`predicted_motion`). One takes part where its gap may close in the step, or is below the contact offsets: what is fast
does not pass through what is thin.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.collision.kinds import PLANE
from warp_artic.collision.places import PLACE_ROWS, UNUSED
from warp_artic.islands.arrays import island_types
from warp_artic.islands.candidates import candidate_functions
from warp_artic.islands.lasting_contacts import lasting_functions
from warp_artic.islands.level_pairs import level_functions
from warp_artic.islands.predicted_motion import MAX_PREDICTIONS, prediction_functions
from warp_artic.kernels.launch import OPTIONS

CANDIDATES = 8
"""Contact points of a pair in one pose, at most (`collision.collide.contact_points`)."""
MAX_CANDIDATES = (1 + MAX_PREDICTIONS) * CANDIDATES
"""The same with those at predicted poses, which come last."""
THROUGH = wp.constant(-0.5)
"""Sine of the slope of a normal against a patch from which on it leads to the other side."""
SAME = wp.constant(0.1)
"""Distance, as a share of half of the smaller shape, to a point of the same number in the middle of a step up to which
one at its end is the same, of a pair that lasts: it has rolled there."""


@cache
def narrow_phase_kernels(precision: str) -> SimpleNamespace:
    """The kernels `find`, of candidates and how many take part, and `list_points`."""
    types = island_types(precision)
    T, V, M = types.T, types.V, types.M
    Colliders, Solids, Bodies, Points = types.Colliders, types.Solids, types.Bodies, types.Points
    candidates_of, predicted = candidate_functions(precision), prediction_functions(precision)
    find_candidates, vector_of = candidates_of.find, candidates_of.vector
    is_hidden, deepest, side_of_patch = candidates_of.is_hidden, candidates_of.deepest, candidates_of.side
    level = level_functions(precision)
    Placed, is_parted = level.Placed, level.is_parted
    Contact, may_close, at_start = predicted.Contact, predicted.may_close, predicted.at_start
    closing_of, pose_ahead = predicted.closing, predicted.pose_ahead
    lead_of = lasting_functions(precision).lead
    predicted_pose, prediction_count = predicted.pose, predicted.count

    @wp.func
    def pose_of(colliders: Colliders, solids: Solids, env: int, i: int):
        """Where the frame of a collider is, and its axes; fine meshes are where they are in all environments."""
        if i >= colliders.coarse:
            return colliders.position[i], colliders.axes[i]
        return solids.position[env * colliders.coarse + i], solids.axes[env * colliders.coarse + i]

    @wp.func
    def members(colliders: Colliders, first: int, second: int):
        """The environment and the colliders of a pair, in the order of their kinds."""
        env = first / colliders.count
        i = first - env * colliders.count
        j = second - env * colliders.count
        if colliders.kind[i] > colliders.kind[j]:
            j = i
            i = second - env * colliders.count
        return env, i, j

    @wp.func
    def key_of(colliders: Colliders, first: int, second: int):
        """The first key of a pair."""
        other = second % colliders.count
        return (wp.int64(first) * wp.int64(colliders.count) + wp.int64(other)) * wp.int64(MAX_CANDIDATES)

    @wp.func
    def side_of(colliders: Colliders, i: int, j: int, between: wp.vec3d, R_0: M, R_1: M):
        """The side of a patch, one of two colliders, on which the other one is; 0 where neither or both are patches."""
        side = T(0.0)
        if colliders.is_patch[i] == 1 and colliders.is_patch[j] == 0:
            side = side_of_patch(colliders, i, j, between, R_0, R_1)
        elif colliders.is_patch[j] == 1 and colliders.is_patch[i] == 0:
            side = side_of_patch(colliders, j, i, -between, R_1, R_0)
        return side

    @wp.func
    def is_through(colliders: Colliders, i: int, R_0: M, R_1: M, n: V, side: T):
        """Whether a normal leads out of a patch on the other side."""
        out = wp.dot(n, R_0 * V(T(0.0), T(0.0), side))
        if colliders.is_patch[i] == 0:
            out = -wp.dot(n, R_1 * V(T(0.0), T(0.0), side))
        return out < T(THROUGH)

    @wp.func
    def deepest_of(colliders: Colliders, i: int, j: int, between: wp.vec3d, R_0: M, R_1: M, side: T):
        """The point of one of two colliders that is deepest behind the other, a patch, from the origin of the first."""
        if colliders.is_patch[i] == 1:
            point, n, gap = deepest(colliders, i, j, between, R_0, R_1, side)
            return point, n, gap
        point, n, gap = deepest(colliders, j, i, -between, R_1, R_0, side)
        return point + V(T(between[0]), T(between[1]), T(between[2])), -n, gap

    @wp.func
    def write_place(candidates: wp.array2d(dtype=T), row: int, pair: int, found: Contact, origin: wp.vec3d):
        """Write the place and the gap of a contact."""
        from_first = found.x - origin
        for axis in range(3):
            candidates[row + axis, pair] = T(from_first[axis])
        candidates[row + 6, pair] = found.gap

    @wp.kernel(**OPTIONS)
    def find(
        colliders: Colliders,
        solids: Solids,
        bodies: Bodies,
        firsts: wp.array(dtype=int),
        seconds: wp.array(dtype=int),
        points_of_kinds: wp.array2d(dtype=int),
        h: T,
        ahead: T,
        old: Points,
        candidates: wp.array2d(dtype=T),
        counts: wp.array(dtype=int),
    ):
        """Find the candidates of each pair; what does not take part has a gap of UNUSED."""
        pair = wp.tid()
        env, i, j = members(colliders, firsts[pair], seconds[pair])
        count = points_of_kinds[colliders.kind[i], colliders.kind[j]]
        used = int(0)
        side = T(0.0)
        lead = lead_of(old, key_of(colliders, firsts[pair], seconds[pair]), MAX_CANDIDATES, ahead)
        near = wp.length(colliders.half[j])
        if colliders.kind[i] != PLANE:
            near = wp.min(near, wp.length(colliders.half[i]))
        for pose in range(1, 1 + MAX_PREDICTIONS):
            for candidate in range(count):
                candidates[PLACE_ROWS * (CANDIDATES * pose + candidate) + 6, pair] = T(UNUSED)
        for pose in range(1 + prediction_count(bodies, colliders, env, i, j)):
            x_0, R_0 = pose_of(colliders, solids, env, i)
            x_1, R_1 = pose_of(colliders, solids, env, j)
            origin = x_0
            if pose == 0:
                x_0, R_0 = pose_ahead(bodies, colliders, env, i, x_0, R_0, lead)
                x_1, R_1 = pose_ahead(bodies, colliders, env, j, x_1, R_1, lead)
            else:
                x_0, R_0 = predicted_pose(bodies, colliders, env, i, x_0, R_0, h, pose - 1)
                x_1, R_1 = predicted_pose(bodies, colliders, env, j, x_1, R_1, h, pose - 1)
            if pose == 0:
                side = side_of(colliders, i, j, x_1 - x_0, R_0, R_1)
            find_candidates(colliders, candidates, CANDIDATES * pose, pair, i, j, x_1 - x_0, R_0, R_1)
            used_before = used
            for candidate in range(count):
                row = PLACE_ROWS * (CANDIDATES * pose + candidate)
                gap = candidates[row + 6, pair]
                takes_part = gap < T(0.5) * T(UNUSED)
                if takes_part:
                    n = vector_of(candidates, row + 3, pair)
                    found = Contact(x_0 + wp.vec3d(vector_of(candidates, row, pair)), n, gap)
                    if pose > 0:
                        own = PLACE_ROWS * candidate
                        from_own = V(found.x - origin) - vector_of(candidates, own, pair)
                        goes_on = lead > T(0.0) and candidates[own + 6, pair] < T(0.5) * T(UNUSED)
                        goes_on = goes_on and wp.length(from_own) < T(SAME) * near
                        goes_on = goes_on or (side != T(0.0) and is_through(colliders, i, R_0, R_1, n, side))
                        found = at_start(colliders, bodies, env, i, j, found, h, pose - 1)
                        takes_part = found.gap < T(0.5) * T(UNUSED) and not goes_on
                    else:
                        closing = closing_of(colliders, bodies, env, i, j, found, h, lead)
                        found.gap += lead * closing
                        takes_part = may_close(colliders, bodies, env, i, j, found, closing, h)
                    write_place(candidates, row, pair, found, origin)
                    takes_part = takes_part and not is_hidden(colliders, i, j, R_0, R_1, n)
                    if takes_part:
                        left = wp.where(pose == 0, h, T(0.0))
                        first, second = Placed(i, x_0, R_0), Placed(j, x_1, R_1)
                        takes_part = not is_parted(colliders, bodies, env, first, second, n, gap, left)
                if takes_part:
                    used += 1
                else:
                    candidates[row + 6, pair] = T(UNUSED)
            if used == used_before and side != T(0.0) and (pose > 0 or used == 0):
                point, n, gap = deepest_of(colliders, i, j, x_1 - x_0, R_0, R_1, side)
                if gap < T(0.5) * T(UNUSED):
                    found = Contact(x_0 + wp.vec3d(point), n, gap)
                    if pose > 0:
                        found = at_start(colliders, bodies, env, i, j, found, h, pose - 1)
                    else:
                        found.gap += lead * closing_of(colliders, bodies, env, i, j, found, h, lead)
                    if found.gap < T(0.5) * T(UNUSED):
                        row = PLACE_ROWS * CANDIDATES * pose
                        write_place(candidates, row, pair, found, origin)
                        for axis in range(3):
                            candidates[row + 3 + axis, pair] = n[axis]
                        used += 1
        counts[pair] = used

    @wp.kernel(**OPTIONS)
    def list_points(
        colliders: Colliders,
        solids: Solids,
        bodies: Bodies,
        firsts: wp.array(dtype=int),
        seconds: wp.array(dtype=int),
        points_of_kinds: wp.array2d(dtype=int),
        ahead: T,
        old: Points,
        candidates: wp.array2d(dtype=T),
        starts: wp.array(dtype=int),
        points: Points,
    ):
        """Write those that take part, from `starts` on."""
        pair = wp.tid()
        env, i, j = members(colliders, firsts[pair], seconds[pair])
        first_key = key_of(colliders, firsts[pair], seconds[pair])
        lead = lead_of(old, first_key, MAX_CANDIDATES, ahead)
        point = starts[pair]
        count = points_of_kinds[colliders.kind[i], colliders.kind[j]]
        for number in range((1 + MAX_PREDICTIONS) * count):
            candidate = number + (CANDIDATES - count) * (number / count)
            row = PLACE_ROWS * candidate
            gap = candidates[row + 6, pair]
            if gap < T(0.5) * T(UNUSED):
                points.key[point] = first_key + wp.int64(candidate)
                points.lead[point] = wp.where(candidate < CANDIDATES, lead, T(0.0))
                points.environment[point] = env
                points.first[point] = i
                points.second[point] = j
                x_0, R_0 = pose_of(colliders, solids, env, i)
                x_1, R_1 = pose_of(colliders, solids, env, j)
                place = vector_of(candidates, row, pair)
                points.position[point] = x_0 + wp.vec3d(place)
                points.in_first[point] = wp.transpose(R_0) * place
                points.in_second[point] = wp.transpose(R_1) * (place - V(x_1 - x_0))
                points.n[point] = vector_of(candidates, row + 3, pair)
                points.gap[point] = gap - colliders.rest_offset[i] - colliders.rest_offset[j]
                point += 1

    return SimpleNamespace(find=find, list_points=list_points)
