"""Pairs of colliders that are level with a face of one of them, which parts them (`collision.level_faces`).

A contact point whose normal is not that of such a face does not count while it goes on parting the pair.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.collision.kinds import PLANE
from warp_artic.collision.level_faces import (
    LEVEL,
    face_toward,
    first_face_axis,
    half_across,
    nearest_to_face,
    parts_at,
)
from warp_artic.islands.arrays import island_types
from warp_artic.islands.candidates import candidate_functions
from warp_artic.islands.predicted_motion import prediction_functions
from warp_artic.math.numbers import vec3


@cache
def level_functions(precision: str) -> SimpleNamespace:
    """The struct `Placed`, a collider at a pose, and the function `is_parted`, of two of them."""
    types = island_types(precision)
    T, V, M, Colliders, Bodies = types.T, types.V, types.M, types.Colliders, types.Bodies
    solid = candidate_functions(precision).solid
    velocity_at = prediction_functions(precision).velocity_at

    @wp.struct
    class Placed:
        """A collider of an environment, and where it is."""

        collider: int
        x: wp.vec3d  # [m]
        R: M

    @wp.func
    def face(colliders: Colliders, own: Placed, other: Placed, axis: int):
        """The normal of a face of one solid toward another one, and the place of that which is nearest to it."""
        u, w = solid(colliders, own.collider, own.R), solid(colliders, other.collider, other.R)
        way = other.x - own.x
        toward = face_toward(colliders.hull_points, u, axis, w, vec3(T(way[0]), T(way[1]), T(way[2])))
        least = nearest_to_face(colliders.hull_points, toward, w)
        c = V(toward.x, toward.y, toward.z)
        place = other.x + wp.vec3d(V(least.x, least.y, least.z))
        return c, place, wp.dot(c, V(place - own.x)) - half_across(u, axis)

    @wp.func
    def parts(colliders: Colliders, own: Placed, other: Placed, c: V, n: V, between: T, gap: T):
        """Whether a face of one solid with the normal c parts it from another one at a point."""
        level = T(LEVEL) * wp.min(colliders.thickness[own.collider], colliders.thickness[other.collider])
        w = solid(colliders, other.collider, other.R)
        return parts_at(vec3(c[0], c[1], c[2]), vec3(n[0], n[1], n[2]), between, level, gap, w) > T(0.0)

    @wp.func
    def is_parted_by(colliders: Colliders, bodies: Bodies, env: int, own: Placed, other: Placed, n: V, gap: T, h: T):
        """Whether a face of a collider parts it from another one for a time h, at a point whose n is away from it."""
        for axis in range(first_face_axis(solid(colliders, own.collider, own.R)), 3):
            c, place, between = face(colliders, own, other, axis)
            if parts(colliders, own, other, c, n, between, gap):
                v = velocity_at(bodies, colliders, env, own.collider, place, T(0.0))
                v -= velocity_at(bodies, colliders, env, other.collider, place, T(0.0))
                between -= h * wp.max(wp.dot(c, v), T(0.0))
                if parts(colliders, own, other, c, n, between, gap):
                    return True
        return False

    @wp.func
    def is_parted(colliders: Colliders, bodies: Bodies, env: int, first: Placed, second: Placed, n: V, gap: T, h: T):
        """Whether a face of either collider, which n is not along, parts them for a time h."""
        if colliders.kind[first.collider] == PLANE:
            return False
        parted = is_parted_by(colliders, bodies, env, first, second, n, gap, h)
        return parted or is_parted_by(colliders, bodies, env, second, first, -n, gap, h)

    return SimpleNamespace(Placed=Placed, is_parted=is_parted)
