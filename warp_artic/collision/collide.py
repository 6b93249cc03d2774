"""Where the solids of a pair touch, or may touch soon: the places of every pair of kinds."""

import warp as wp

from warp_artic.collision.bodies import Body
from warp_artic.collision.boxes import box_box
from warp_artic.collision.capsules import capsule_box, capsule_capsule
from warp_artic.collision.convex import convex_convex, smooth_convex
from warp_artic.collision.kinds import BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, PLANE, SPHERE, Solid
from warp_artic.collision.planes import (
    plane_box,
    plane_capsule,
    plane_cone,
    plane_convex,
    plane_cylinder,
    plane_ellipsoid,
    plane_sphere,
)
from warp_artic.collision.spheres import sphere_box, sphere_capsule, sphere_cone, sphere_cylinder, sphere_sphere
from warp_artic.math.numbers import Vec3
from warp_artic.model.arrays import Array

_PLACES = {
    Solid.PLANE: {
        Solid.PLANE: 0,
        Solid.SPHERE: 1,
        Solid.CAPSULE: 2,
        Solid.CYLINDER: 4,
        Solid.BOX: 8,
        Solid.CONVEX: 5,
        Solid.CONE: 4,
        Solid.ELLIPSOID: 1,
    },
    Solid.SPHERE: {
        Solid.SPHERE: 1,
        Solid.CAPSULE: 1,
        Solid.CYLINDER: 1,
        Solid.BOX: 1,
        Solid.CONVEX: 1,
        Solid.CONE: 1,
        Solid.ELLIPSOID: 1,
    },
    Solid.CAPSULE: {
        Solid.CAPSULE: 2,
        Solid.CYLINDER: 5,
        Solid.BOX: 3,
        Solid.CONVEX: 5,
        Solid.CONE: 5,
        Solid.ELLIPSOID: 1,
    },
    Solid.CYLINDER: {Solid.CYLINDER: 5, Solid.BOX: 5, Solid.CONVEX: 5, Solid.CONE: 5, Solid.ELLIPSOID: 1},
    Solid.BOX: {Solid.BOX: 8, Solid.CONVEX: 5, Solid.CONE: 5, Solid.ELLIPSOID: 1},
    Solid.CONVEX: {Solid.CONVEX: 5, Solid.CONE: 5, Solid.ELLIPSOID: 1},
    Solid.CONE: {Solid.CONE: 5, Solid.ELLIPSOID: 1},
    Solid.ELLIPSOID: {Solid.ELLIPSOID: 1},
}


def contact_points(kind0: Solid | int, kind1: Solid | int) -> int:
    """The number of places of a pair, kind0 <= kind1; zero where a pair is not looked at."""
    return _PLACES.get(Solid(kind0), {}).get(Solid(kind1), 0)


@wp.func
def collide(hull_points: Array, places: Array, first: int, worker: int, x0: Vec3, body0: Body, x1: Vec3, body1: Body):
    """Write the places of a pair of solids, `contact_points` of them, from `first` on.

    Place k is the same feature of the solids while they move little.

    Args:
        hull_points: Vertices of hulls in the frames of their shapes [m], three rows each.
        places: What is written: 7 rows a place, `places`.
        first: The first of the places.
        worker: The block of the places.
        x0: Origin of the frame of solid 0, in world axes about the origin of both [m].
        body0: Solid 0, whose kind is not greater than that of solid 1. Its size is, of a sphere, the radius; of a
            capsule, cylinder or cone, radius and half height (of a capsule without its round ends); of a box half
            extents; of an ellipsoid semi-axes [m].
        x1: Likewise of solid 1.
        body1: Likewise.
    """
    kind0 = body0.kind
    kind1 = body1.kind
    if kind0 == PLANE:
        if kind1 == SPHERE:
            plane_sphere(places, first, worker, x0, body0.R, x1, body1.size.x)
        elif kind1 == CAPSULE:
            plane_capsule(places, first, worker, x0, body0.R, x1, body1.R, body1.size)
        elif kind1 == CYLINDER:
            plane_cylinder(places, first, worker, x0, body0.R, x1, body1.R, body1.size)
        elif kind1 == BOX:
            plane_box(places, first, worker, x0, body0.R, x1, body1.R, body1.size)
        elif kind1 == CONVEX:
            plane_convex(
                places, first, worker, x0, body0.R, x1, body1.R, hull_points, body1.first, body1.count, body1.block
            )
        elif kind1 == CONE:
            plane_cone(places, first, worker, x0, body0.R, x1, body1.R, body1.size)
        elif kind1 == ELLIPSOID:
            plane_ellipsoid(places, first, worker, x0, body0.R, x1, body1.R, body1.size)
    elif kind0 == SPHERE and kind1 == SPHERE:
        sphere_sphere(places, first, worker, x0, body0.size.x, x1, body1.size.x)
    elif kind0 == SPHERE and kind1 == CAPSULE:
        sphere_capsule(places, first, worker, x0, body0.size.x, x1, body1.R, body1.size)
    elif kind0 == SPHERE and kind1 == CYLINDER:
        sphere_cylinder(places, first, worker, x0, body0.size.x, x1, body1.R, body1.size)
    elif kind0 == SPHERE and kind1 == BOX:
        sphere_box(places, first, worker, x0, body0.size.x, x1, body1.R, body1.size)
    elif kind0 == SPHERE and kind1 == CONE:
        sphere_cone(places, first, worker, x0, body0.size.x, x1, body1.R, body1.size)
    elif kind0 == CAPSULE and kind1 == CAPSULE:
        capsule_capsule(places, first, worker, x0, body0.R, body0.size, x1, body1.R, body1.size)
    elif kind0 == CAPSULE and kind1 == BOX:
        capsule_box(places, first, worker, x0, body0.R, body0.size, x1, body1.R, body1.size)
    elif kind0 == BOX and kind1 == BOX:
        box_box(places, first, worker, x0, body0.R, body0.size, x1, body1.R, body1.size)
    elif kind0 == SPHERE or kind1 == ELLIPSOID:
        smooth_convex(hull_points, places, first, worker, x0, body0, x1, body1)
    else:
        convex_convex(hull_points, places, first, worker, x0, body0, x1, body1)
