"""Contact points of two colliders, and which of them a flat part of a static surface hides."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.collision.bodies import body
from warp_artic.collision.collide import collide
from warp_artic.constraints.contact_detection import TILT
from warp_artic.islands.arrays import island_types
from warp_artic.math.numbers import mat3, vec3


@cache
def candidate_functions(precision: str) -> SimpleNamespace:
    """The functions `find`, of all points of a pair, `vector`, of one of them, and `is_hidden`."""
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

    return SimpleNamespace(find=find_candidates, vector=vector_of, is_hidden=is_hidden)
