"""Which point of the step before a contact point goes on from, whose impulses it then begins with.

Features of solids change where contacts last: of two faces on each other either may be the reference, and a corner on
an edge may be the end of that edge too. So points go on by place. A point of a pair goes on from the one of the step
before whose point it is nearest to, if that one has no nearer point now; d is the least of the distances in the frames
of both colliders, and numbers of candidates count where points are at the same place:
    d^2 + (number is another) (SAME thickness)^2
A point without such an earlier one begins without impulses.
"""

from functools import cache

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.narrow_phase import MAX_CANDIDATES
from warp_artic.kernels.launch import OPTIONS

SAME = wp.constant(0.01)
"""Of the half thickness of the thinner collider: points that are nearer to each other are at the same place."""


@cache
def match_kernel(precision: str) -> wp.Kernel:
    """Write the index of the earlier point of each one, -1 for none."""
    types = island_types(precision)
    T, Colliders, Points = types.T, types.Colliders, types.Points

    @wp.func
    def first_key(key: wp.int64):
        """Of the pair of a point with this key."""
        return key - key % wp.int64(MAX_CANDIDATES)

    @wp.func
    def difference(points: Points, point: int, others: Points, other: int, apart: T):
        """Of the places of two points of a pair, squared."""
        in_first = wp.length_sq(points.in_first[point] - others.in_first[other])
        in_second = wp.length_sq(points.in_second[point] - others.in_second[other])
        return wp.min(in_first, in_second) + wp.where(points.key[point] == others.key[other], T(0.0), apart)

    @wp.func
    def nearest(points: Points, point: int, others: Points, apart: T):
        """The nearest one of others, of the same pair; -1: there is none."""
        first = first_key(points.key[point])
        start = wp.lower_bound(others.key, 0, others.count, first)
        best = int(-1)
        least = T(wp.inf)
        for other in range(start, wp.min(start + MAX_CANDIDATES, others.count)):
            if first_key(others.key[other]) == first:
                found = difference(points, point, others, other, apart)
                if found < least:
                    least = found
                    best = other
        return best

    @wp.kernel(**OPTIONS)
    def match(colliders: Colliders, points: Points, old: Points):
        point = wp.tid()
        points.earlier[point] = -1
        if old.count > 0:
            thickness = wp.min(colliders.thickness[points.first[point]], colliders.thickness[points.second[point]])
            apart = T(SAME) * thickness
            if not wp.isfinite(apart):
                apart = T(0.0)
            earlier = nearest(points, point, old, apart * apart)
            if earlier >= 0:
                if nearest(old, earlier, points, apart * apart) == point:
                    points.earlier[point] = earlier

    return match
