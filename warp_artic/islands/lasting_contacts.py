"""Contacts that last from step to step are found in the middle of a step, as those of one mechanism alone are.

Points of two colliders that pressed each other in the step before are found in the middle of the step, `lead` after its
start, to which both are moved with their velocities: there J of links with joints and M^-1 are too. J turns with what
rolls, and impulses neither slow it down nor drive it. Other points are found at the start of the step; there lead is
zero. With the velocity o by which kinematic bodies carry a point, and the velocity-product acceleration c
(`constraints.contact_bias`), measured as  h c = (J v + o) - (J_before v + o_before),  a time s after the step begins
    y = J v + o + (s - lead) c,   g = g_lead + J_n (dx - lead v_0) + c_n (s - lead)^2 / 2
c is limited to twice its value of the step before, and zero where the sign has changed, where it is more than forces
and impulses can give, along normals of links with joints, and along tangents that slide with all of their friction.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.contact_bias import LEAST_SHARE
from warp_artic.constraints.contact_law import LEFT, SLIDES, STUCK
from warp_artic.islands.arrays import island_types


@cache
def lasting_functions(precision: str) -> SimpleNamespace:
    """The functions `lead` of a pair, and `bias` of a point."""
    types = island_types(precision)
    T, V, Points = types.T, types.V, types.Points

    @wp.func
    def lead_of(old: Points, first_key: wp.int64, keys: int, ahead: T):
        """When points of a pair are found after the start of a step, whose keys begin at the first one [s]."""
        if ahead > T(0.0) and old.count > 0:
            index = wp.lower_bound(old.key, 0, old.count, first_key)
            for k in range(index, wp.min(index + keys, old.count)):
                is_own = old.key[k] >= first_key and old.key[k] < first_key + wp.int64(keys)
                if is_own and wp.length_sq(old.warm[k]) > T(0.0):
                    return ahead
        return T(0.0)

    @wp.func
    def bias_of(points: Points, point: int, old: Points, y: V, free: T, h: T):
        """What acts of c at a point with y = J v + o, for the acceleration `free` along its normal without contacts."""
        acts = V()
        points.bias[point] = V()
        pressed = points.warm[point]
        goes_on = points.lead[point] > T(0.0) or points.is_free[point] == 0
        if goes_on and wp.length_sq(pressed) > T(0.0):
            index = points.earlier[point]
            c = (y - old.rate[index]) / h
            points.bias[point] = c
            n = points.n[point]
            along = wp.max(wp.dot(n, points.world[point]), T(0.0))
            allowed = wp.abs(free) + points.normal[point][0] * along / h
            across = wp.length(points.world[point] - n * wp.dot(n, points.world[point]))
            directions = int(3)
            first = 1 - points.is_free[point]
            slip = y - c * points.lead[point]
            least = wp.max(T(SLIDES), T(LEFT) * h * wp.sqrt(c[1] * c[1] + c[2] * c[2]))
            slides = slip[1] * slip[1] + slip[2] * slip[2] > least * least
            if across > T(STUCK) * points.friction[point] * along and slides:
                directions = 1
            for axis in range(first, directions):
                twice = T(2.0) * old.bias[index][axis]
                part = wp.clamp(c[axis], wp.min(twice, T(0.0)), wp.max(twice, T(0.0)))
                if wp.abs(part) < allowed and wp.abs(part) > T(LEAST_SHARE) * allowed:
                    acts[axis] = part
        return acts

    return SimpleNamespace(lead=lead_of, bias=bias_of)
