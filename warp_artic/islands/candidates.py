"""Contact points of two colliders, and which of them a flat patch of a static surface hides.

A solid that overlaps a surface by more than its distance from an edge of a patch leaves that patch the shortest way
across the edge, into the next patch, and such contacts are hidden. So where all contacts with a patch are, the point of
the solid that is deepest behind the plane of the patch is one, with the normal of the patch, if it is behind the patch.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.collision.bodies import body, round_radius, support
from warp_artic.collision.collide import collide
from warp_artic.collision.places import UNUSED
from warp_artic.constraints.contact_detection import TILT
from warp_artic.islands.arrays import island_types
from warp_artic.math.numbers import mat3, vec3


@cache
def candidate_functions(precision: str) -> SimpleNamespace:
    """The functions `find`, of all points of a pair, `vector`, of one of them, and what says which of them count."""
    types = island_types(precision)
    T, V, M, Colliders = types.T, types.V, types.M, types.Colliders

    @wp.func
    def as_rows(R: M):
        return mat3(vec3(R[0, 0], R[0, 1], R[0, 2]), vec3(R[1, 0], R[1, 1], R[1, 2]), vec3(R[2, 0], R[2, 1], R[2, 2]))

    @wp.func
    def solid(colliders: Colliders, i: int, R: M):
        size = colliders.size[i]
        return body(
            colliders.kind[i],
            colliders.hull[i],
            colliders.hull_count[i],
            0,
            as_rows(R),
            vec3(size[0], size[1], size[2]),
        )

    @wp.func
    def find_candidates(
        colliders: Colliders,
        candidates: wp.array2d(dtype=T),
        first: int,
        pair: int,
        i: int,
        j: int,
        between: wp.vec3d,
        R_0: M,
        R_1: M,
    ):
        """Write the contact points of two colliders, about the origin of the frame of the first one."""
        origin = vec3(T(0.0), T(0.0), T(0.0))
        x = vec3(T(between[0]), T(between[1]), T(between[2]))
        collide(
            colliders.hull_points,
            candidates,
            first,
            pair,
            origin,
            solid(colliders, i, R_0),
            x,
            solid(colliders, j, R_1),
        )

    @wp.func
    def vector_of(candidates: wp.array2d(dtype=T), row: int, pair: int):
        return V(candidates[row, pair], candidates[row + 1, pair], candidates[row + 2, pair])

    @wp.func
    def is_of_patch(colliders: Colliders, i: int, n: V):
        """Whether n, in the frame of a patch and away from it, is a normal of it and not of a neighbouring patch."""
        if colliders.one_sided[i] == 1 and n[2] <= T(0.0):
            return False
        for seam in range(colliders.seam[i], colliders.seam[i] + colliders.seams[i]):
            out = n[0] * colliders.seam_directions[seam, 0] + n[1] * colliders.seam_directions[seam, 1]
            if n[2] > T(0.0):
                out = out * colliders.seam_directions[seam, 2] - n[2] * colliders.seam_directions[seam, 3]
            if out > T(TILT):
                return False
        return True

    @wp.func
    def is_hidden(colliders: Colliders, i: int, j: int, R_0: M, R_1: M, n: V):
        """Whether a normal belongs to a neighbour of the patch that one of two colliders is."""
        hidden = False
        if colliders.is_patch[i] == 1:
            hidden = not is_of_patch(colliders, i, wp.transpose(R_0) * n)
        if colliders.is_patch[j] == 1 and not hidden:
            hidden = not is_of_patch(colliders, j, wp.transpose(R_1) * -n)
        return hidden

    @wp.func
    def is_behind(colliders: Colliders, patch: int, x: V):
        """Whether a point in the frame of a patch is behind or before its polygon."""
        count = colliders.hull_count[patch]
        row = 3 * colliders.hull[patch]
        for k in range(count):
            a = row + 3 * k
            b = row + 3 * ((k + 1) % count)
            along_x = colliders.hull_points[b, 0] - colliders.hull_points[a, 0]
            along_y = colliders.hull_points[b + 1, 0] - colliders.hull_points[a + 1, 0]
            from_x = x[0] - colliders.hull_points[a, 0]
            from_y = x[1] - colliders.hull_points[a + 1, 0]
            if along_x * from_y - along_y * from_x < -T(TILT) * (along_x * along_x + along_y * along_y):
                return False
        return True

    @wp.func
    def side_of(colliders: Colliders, patch: int, other: int, between: wp.vec3d, R_p: M, R_o: M):
        """The side of a patch on which the middle of a solid is, 1 or -1; 0 behind one that has one side."""
        x = V(T(between[0]), T(between[1]), T(between[2]))
        height = wp.dot(R_p * V(T(0.0), T(0.0), T(1.0)), x + R_o * colliders.middle[other])
        side = T(1.0)
        if height < T(0.0):
            side = T(colliders.one_sided[patch] - 1)
        return side

    @wp.func
    def deepest(colliders: Colliders, patch: int, other: int, between: wp.vec3d, R_p: M, R_o: M, side: T):
        """The point of a solid on one side that is deepest behind a patch, from its origin, the normal and the gap.

        The gap is UNUSED where the solid is not in the patch there; `between` is from the patch to the solid, and so is
        the normal.
        """
        x = V(T(between[0]), T(between[1]), T(between[2]))
        n = R_p * V(T(0.0), T(0.0), side)
        u = solid(colliders, other, R_o)
        down = support(colliders.hull_points, u, vec3(-n[0], -n[1], -n[2]))
        point = x + V(down.x, down.y, down.z) - n * round_radius(u)
        gap = wp.dot(n, point)
        if side == T(0.0) or gap >= T(0.0) or not is_behind(colliders, patch, wp.transpose(R_p) * point):
            gap = T(UNUSED)
        return point - n * (T(0.5) * gap), n, gap

    return SimpleNamespace(
        side=side_of,
        deepest=deepest,
        find=find_candidates,
        vector=vector_of,
        is_hidden=is_hidden,
        solid=solid,
    )
