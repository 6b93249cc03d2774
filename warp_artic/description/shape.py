"""Shapes: what a link, or the world, is solid in for contacts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from warp_artic.description.pose import Pose

UNIT = 1e-6
"""By how much the length of a quaternion may differ from one."""


class ShapeKind(Enum):
    """What a shape is, in its own frame; where it has an axis, that is Z."""

    PLANE = "plane"
    """All with z <= 0; its normal is +Z."""
    SPHERE = "sphere"
    CAPSULE = "capsule"
    """All within the radius of a segment from -half_height to +half_height."""
    CYLINDER = "cylinder"
    CONE = "cone"
    """The base is at -half_height, the apex at +half_height."""
    BOX = "box"
    ELLIPSOID = "ellipsoid"
    """Its semi-axes are X, Y and Z."""
    CONVEX = "convex"
    """The hull of points."""
    MESH = "mesh"
    """A surface of triangles, which are wound counter-clockwise as seen from outside."""


ROUND = (ShapeKind.SPHERE, ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.CONE)
"""Kinds with a radius."""
LONG = (ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.CONE)
"""Kinds with a length along Z."""
BY_HALF_EXTENTS = (ShapeKind.BOX, ShapeKind.ELLIPSOID)
"""Kinds with a size along each axis."""
FACETED = (ShapeKind.CONVEX, ShapeKind.MESH)
"""Kinds of points and triangles."""
LEAST_POINTS = {ShapeKind.CONVEX: 3, ShapeKind.MESH: 3}
LEAST_TRIANGLES = {ShapeKind.CONVEX: 2, ShapeKind.MESH: 1}
"""A convex hull may be flat: its faces are then those of both sides."""


@dataclass(frozen=True, kw_only=True)
class Seam:
    """Edges of a flat hull at which the surface continues."""

    direction: tuple[float, float]
    """The way out of the hull there: x and y in its frame, a unit vector."""
    bend: float = 0.0
    """By which angle the surface bends away from +Z there [rad]; zero where it continues flat, or bends towards +Z."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A collider in SI units; it is of one piece, and without scale."""

    path: str
    """Prim path of the collider."""
    kind: ShapeKind
    frame: Pose = Pose()
    """Of the shape in the frame of its link, or in the world."""
    radius: float = 0.0
    """Of a sphere, capsule, cylinder or cone [m]."""
    half_height: float = 0.0
    """Of the segment of a capsule, of a cylinder or of a cone [m]."""
    half_extents: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of a box; of an ellipsoid its semi-axes [m]."""
    points: tuple[tuple[float, float, float], ...] = ()
    """Vertices of a convex hull or of a mesh, in the frame of the shape [m]."""
    triangles: tuple[tuple[int, int, int], ...] = ()
    """Faces of a convex hull or of a mesh as indices of points, counter-clockwise as seen from outside."""
    seams: tuple[Seam, ...] = ()
    """Of a flat convex hull with z = 0 that is a part of a surface: what touches it from beyond them touches that."""
    is_one_sided: bool = False
    """Whether a flat convex hull with z = 0 is solid below: it is touched from +Z alone."""

    @property
    def size(self) -> tuple[float, float, float]:
        """The numbers that say how large it is, as detection takes them [m]."""
        return self.half_extents if self.kind in BY_HALF_EXTENTS else (self.radius, self.half_height, 0.0)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with it: what was found, and what is allowed."""
        return tuple(self._problems())

    def _problems(self) -> Iterator[str]:
        place = (*self.frame.position, *self.frame.quaternion)
        if not all(map(math.isfinite, place)) or abs(math.hypot(*self.frame.quaternion) - 1.0) > UNIT:
            yield f"has the frame {self.frame}; it must be finite, with a quaternion of unit length"
        if self.kind in ROUND and not 0.0 < self.radius < math.inf:
            yield f"has the radius {self.radius:g} m; it must be positive and finite"
        if self.kind in LONG:
            is_allowed = 0.0 <= self.half_height < math.inf
            if not is_allowed or (self.half_height == 0.0 and self.kind is not ShapeKind.CAPSULE):
                yield (
                    f"has the half height {self.half_height:g} m; it must be finite, and positive, or zero where it is "
                    "that of a capsule"
                )
        if self.kind in BY_HALF_EXTENTS and not all(0.0 < half < math.inf for half in self.half_extents):
            yield f"has the half extents {self.half_extents} m; they must be positive and finite"
        if self.kind in FACETED:
            yield from self._problems_of_faces()

    def _problems_of_faces(self) -> Iterator[str]:
        counts = (len(self.points), len(self.triangles))
        least = (LEAST_POINTS[self.kind], LEAST_TRIANGLES[self.kind])
        if counts[0] < least[0] or counts[1] < least[1]:
            found = f"{counts[0]} points and {counts[1]} triangles"
            yield f"has {found}; a {self.kind.value} shape has at least {least[0]} and {least[1]}"
        if not all(math.isfinite(x) for point in self.points for x in point):
            yield "has points that are not finite"
        wrong = next(
            (one for one in self.triangles if len(set(one)) < 3 or not 0 <= min(one) <= max(one) < counts[0]), None
        )
        if wrong is not None:
            yield f"has the triangle {wrong}; its corners must be three of the {counts[0]} points, counted from 0"
