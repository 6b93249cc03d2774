"""Which colliders come near each other in a step: boxes around them, a hierarchy of these, and pairs in order.

A box holds its collider all along its motion in the step, widened by the contact offset. Planes have no box: they are
compared with all. Fine static meshes have a hierarchy of their own, which stays.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.collision.kinds import PLANE
from warp_artic.islands.arrays import island_types

OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def broad_phase_kernels(precision: str) -> SimpleNamespace:
    """The kernels `place` and `count_pairs`, which also lists them."""
    types = island_types(precision)
    T, V = types.T, types.V
    Colliders, Solids, Bodies, JointFilters = types.Colliders, types.Solids, types.Bodies, types.JointFilters

    @wp.func
    def index_in(keys: wp.array(dtype=wp.int64), colliders: Colliders, i: int, j: int):
        """The index of a pair among keys in order; -1 where it is not among them."""
        size = keys.shape[0]
        if size > 0:
            key = wp.int64(i) * wp.int64(colliders.count) + wp.int64(j)
            found = wp.lower_bound(keys, key)
            if found < size:
                if keys[found] == key:
                    return found
        return -1

    @wp.func
    def may_meet(colliders: Colliders, joint_filters: JointFilters, env: int, i: int, j: int):
        """Whether two colliders may touch now."""
        if colliders.weld[i] == colliders.weld[j]:
            return False
        if colliders.allowed[colliders.family[i], colliders.family[j]] == 0:
            return False
        if index_in(colliders.apart, colliders, i, j) >= 0:
            return False
        kept = index_in(joint_filters.pairs, colliders, i, j)
        if kept >= 0:
            for k in range(joint_filters.first[kept], joint_filters.first[kept + 1]):
                if joint_filters.broken[env * joint_filters.count + joint_filters.joint[k]] == T(0.0):
                    return False
        return True

    @wp.kernel(**OPTIONS)
    def place(colliders: Colliders, bodies: Bodies, h: T, solids: Solids):
        """Place colliders, and boxes around them."""
        env, i = wp.tid()
        box = env * colliders.coarse + i
        body = colliders.body[i]
        R = colliders.axes[i]
        x = colliders.position[i]
        reach = colliders.contact_offset[i]
        before = V()
        after = V()
        if body >= 0:
            b = env * bodies.count + body
            R_b = bodies.axes[b]
            x = bodies.position[b] + wp.vec3d(R_b * V(T(x[0]), T(x[1]), T(x[2])))
            R = R_b * R
            from_center = x - bodies.center[b]
            arm = V(T(from_center[0]), T(from_center[1]), T(from_center[2]))
            w = bodies.angular[b]
            swept = (bodies.linear[b] + wp.cross(w, arm)) * h
            before, after = wp.min(before, swept), wp.max(after, swept)
            turned = wp.min(wp.length(w) * h, T(2.0))
            for prediction in range(bodies.prediction_count[env]):
                w = bodies.predicted_angular[prediction, b]
                swept = (bodies.predicted_linear[prediction, b] + wp.cross(w, arm)) * h
                before, after = wp.min(before, swept), wp.max(after, swept)
                turned = wp.max(turned, wp.min(wp.length(w) * h, T(2.0)))
            reach += turned * wp.length(colliders.half[i])
        if i < colliders.coarse:
            solids.position[box] = x
            solids.axes[box] = R
        half = colliders.half[i]
        extent = V()
        for axis in range(3):
            row = V(R[axis, 0], R[axis, 1], R[axis, 2])
            extent[axis] = wp.abs(row[0]) * half[0] + wp.abs(row[1]) * half[1] + wp.abs(row[2]) * half[2] + reach
        middle = x + wp.vec3d(R * colliders.middle[i])
        # A little more than rounding to single precision takes away.
        slack = wp.float64(1.0e-6) * (wp.length(middle) + wp.float64(wp.length(extent)))
        lower = wp.vec3()
        upper = wp.vec3()
        for axis in range(3):
            first = middle[axis] - wp.float64(extent[axis]) - slack
            last = middle[axis] + wp.float64(extent[axis]) + slack
            lower[axis] = wp.float32(first + wp.float64(before[axis]))
            upper[axis] = wp.float32(last + wp.float64(after[axis]))
        if i < colliders.coarse:
            solids.lower[box] = lower
            solids.upper[box] = upper
        elif env == 0:
            solids.fine_lower[i - colliders.coarse] = lower
            solids.fine_upper[i - colliders.coarse] = upper

    @wp.func
    def height_over(solids: Solids, plane: int, box: int):
        """How far a box is above a plane [m]."""
        R = solids.axes[plane]
        lower = wp.vec3d(solids.lower[box]) - solids.position[plane]
        upper = wp.vec3d(solids.upper[box]) - solids.position[plane]
        least = wp.float64(0.0)
        for axis in range(3):
            n = wp.float64(R[axis, 2])
            least += wp.min(n * lower[axis], n * upper[axis])
        return least

    @wp.func
    def list_pair(
        firsts: wp.array(dtype=int), seconds: wp.array(dtype=int), start: int, count: int, k: int, other: int
    ):
        """Put a pair where its second number says among those of the first: the hierarchy has its own order."""
        place = start + count
        while place > start and seconds[wp.max(place - 1, 0)] > other:
            seconds[place] = seconds[place - 1]
            place -= 1
        seconds[place] = other
        firsts[start + count] = k

    @wp.kernel(**OPTIONS)
    def count_pairs(
        colliders: Colliders,
        joint_filters: JointFilters,
        solids: Solids,
        tree: wp.uint64,
        fine: wp.uint64,
        planes: wp.array(dtype=int),
        is_listed: int,
        starts: wp.array(dtype=int),
        counts: wp.array(dtype=int),
        firsts: wp.array(dtype=int),
        seconds: wp.array(dtype=int),
    ):
        """Count the pairs of each collider with those of higher numbers, or list them from `starts` on, in order."""
        env, i = wp.tid()
        first = env * colliders.count
        k = first + i
        box = env * colliders.coarse + i
        start = int(0)
        if is_listed == 1:
            start = starts[box]
        found = int(0)
        is_plane = colliders.kind[i] == PLANE
        for p in range(planes.shape[0]):
            j = planes[p]
            if not is_plane and may_meet(colliders, joint_filters, env, wp.min(i, j), wp.max(i, j)):
                plane = first + j
                if height_over(solids, env * colliders.coarse + j, box) <= wp.float64(colliders.contact_offset[j]):
                    if is_listed == 1:
                        list_pair(firsts, seconds, start, found, k, plane)
                    found += 1
        if not is_plane:
            query = wp.bvh_query_aabb(tree, solids.lower[box], solids.upper[box], wp.bvh_get_group_root(tree, env))
            other = int(0)
            while wp.bvh_query_next(query, other):
                j = other - env * colliders.coarse
                if j > i and colliders.kind[j] != PLANE and may_meet(colliders, joint_filters, env, i, j):
                    if is_listed == 1:
                        list_pair(firsts, seconds, start, found, k, first + j)
                    found += 1
            if colliders.coarse < colliders.count and colliders.weld[i] >= 0:
                of_fine = wp.bvh_query_aabb(fine, solids.lower[box], solids.upper[box])
                patch = int(0)
                while wp.bvh_query_next(of_fine, patch):
                    j = colliders.coarse + patch
                    if may_meet(colliders, joint_filters, env, i, j):
                        if is_listed == 1:
                            list_pair(firsts, seconds, start, found, k, first + j)
                        found += 1
        if is_listed == 0:
            counts[box] = found

    return SimpleNamespace(place=place, count_pairs=count_pairs)
