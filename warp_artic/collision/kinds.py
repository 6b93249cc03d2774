"""The kinds of solids, as the numbers that kernels branch on, in the order in which a pair has them."""

from enum import IntEnum

import warp as wp


class Solid(IntEnum):
    """What a shape is, in its own frame. The kind of shape 0 of a pair is never greater than that of its shape 1."""

    PLANE = 0
    """z <= 0."""
    SPHERE = 1
    CAPSULE = 2
    """Along z."""
    CYLINDER = 3
    """Along z."""
    BOX = 4
    CONVEX = 5
    """The hull of points."""
    CONE = 6
    """Along z: its base at minus half its height, its apex at plus half of it."""
    ELLIPSOID = 7
    """Its semi-axes are x, y and z."""


PLANE = wp.constant(int(Solid.PLANE))
SPHERE = wp.constant(int(Solid.SPHERE))
CAPSULE = wp.constant(int(Solid.CAPSULE))
CYLINDER = wp.constant(int(Solid.CYLINDER))
BOX = wp.constant(int(Solid.BOX))
CONVEX = wp.constant(int(Solid.CONVEX))
CONE = wp.constant(int(Solid.CONE))
ELLIPSOID = wp.constant(int(Solid.ELLIPSOID))
