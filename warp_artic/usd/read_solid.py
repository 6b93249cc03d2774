"""The solid that a collider encloses, in its own axes and in stage units."""

from __future__ import annotations

import numpy as np
from pxr import Usd, Vt

from warp_artic.usd import solids
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.solids import Solid

AXES = ("X", "Y", "Z")
POINTS = (Vt.Vec3fArray, Vt.Vec3dArray, Vt.Vec3hArray)


def read_solid(prim: Usd.Prim, attributes: Attributes) -> Solid | None:
    """The solid of a collider; None for one without a volume, which is reported."""
    reader = READERS.get(prim.GetTypeName())
    if reader is None:
        if prim.GetTypeName() not in ("Plane", "Xform", "Scope", ""):
            allowed = ", ".join(READERS)
            text = f"a collider of type {prim.GetTypeName()} gives no mass to its body; types that do are {allowed}"
            attributes.report.warn("collider-shape", prim.GetPath(), text)
        return None
    solid = reader(Sizes(prim, attributes))
    if solid is not None and not solid.volume > 0.0:
        attributes.report.warn(
            "collider-shape",
            prim.GetPath(),
            "encloses no volume, so it gives no mass to its body; it must have a size above zero to do so",
        )
        return None
    return solid


class Sizes:
    """Sizes of a gprim, with the fallbacks of its schema."""

    def __init__(self, prim: Usd.Prim, attributes: Attributes):
        self.prim, self.attributes = prim, attributes

    def size(self, name: str) -> float:
        """A length of the shape."""
        fallback = self.prim.GetPrimDefinition().GetAttributeFallbackValue(name)
        value = self.attributes.number(self.prim, name, fallback)
        if value < 0.0:
            text = f"is {value:g}, must not be negative"
            self.attributes.report.error("attribute-value", f"{self.prim.GetPath()}.{name}", text)
            return fallback
        return value

    def array(self, name: str, kinds: tuple[type, ...]) -> np.ndarray:
        """An array of the shape; empty where it is not authored or of a wrong type."""
        value = self.attributes.authored(self.prim, name)
        if value is not None and not isinstance(value, kinds):
            text = f"is of the type {type(value).__name__}, must be of {' or '.join(kind.__name__ for kind in kinds)}"
            self.attributes.report.error("attribute-value", f"{self.prim.GetPath()}.{name}", text)
            value = None
        return np.array(() if value is None else value)

    def along_axis(self, solid: Solid) -> Solid:
        """A solid along z, turned along the authored axis."""
        return solid.along(self.axis())

    def axis(self) -> str:
        """X, Y or Z."""
        fallback = self.prim.GetPrimDefinition().GetAttributeFallbackValue("axis")
        return self.attributes.token(self.prim, "axis", fallback, AXES)


def _cube(shape: Sizes) -> Solid:
    return solids.box(*3 * (shape.size("size"),))


def _sphere(shape: Sizes) -> Solid:
    return solids.sphere(shape.size("radius"))


def _cylinder(shape: Sizes) -> Solid:
    return shape.along_axis(solids.frustum(*2 * (shape.size("radius"),), shape.size("height")))


def _cylinder_1(shape: Sizes) -> Solid:
    solid = solids.frustum(shape.size("radiusBottom"), shape.size("radiusTop"), shape.size("height"))
    return shape.along_axis(solid)


def _cone(shape: Sizes) -> Solid:
    return shape.along_axis(solids.frustum(shape.size("radius"), 0.0, shape.size("height")))


def _capsule(shape: Sizes) -> Solid:
    return shape.along_axis(solids.capsule(*2 * (shape.size("radius"),), shape.size("height")))


def _capsule_1(shape: Sizes) -> Solid:
    solid = solids.capsule(shape.size("radiusBottom"), shape.size("radiusTop"), shape.size("height"))
    return shape.along_axis(solid)


def _mesh(shape: Sizes) -> Solid | None:
    """The inside of a closed mesh, or the box around an open one."""
    surface = read_surface_mesh(shape)
    report, path = shape.attributes.report, shape.prim.GetPath()
    if surface is None:
        if not report.is_refused(f"{path}.points") and not report.is_refused(f"{path}.faceVertexIndices"):
            text = "a mesh without points or faces gives no mass to its body; it must have both to do so"
            report.warn("collider-shape", path, text)
        return None
    points, triangles = surface
    if solids.is_closed(points, triangles):
        return solids.mesh(points, triangles)
    report.warn("collider-open", path, "the mesh is not closed: mass properties are those of the box around it")
    low, high = points.min(axis=0), points.max(axis=0)
    X = np.eye(4)
    X[:3, 3] = 0.5 * (low + high)
    return solids.box(*(high - low)).transformed(X)


def read_surface_mesh(shape: Sizes) -> tuple[np.ndarray, np.ndarray] | None:
    """Points (N, 3) and triangles (M, 3) of a mesh; None where it has none, or, with an error, wrong ones."""
    report, path = shape.attributes.report, shape.prim.GetPath()
    points = shape.array("points", POINTS)
    counts = shape.array("faceVertexCounts", (Vt.IntArray,))
    corners = shape.array("faceVertexIndices", (Vt.IntArray,))
    if not len(points) or not len(counts):
        return None
    if not np.isfinite(points).all():
        report.error("attribute-value", f"{path}.points", "has a point that is not finite, must have finite ones")
        return None
    if counts.min() < 3 or counts.sum() != len(corners) or corners.min() < 0 or corners.max() >= len(points):
        text = (
            f"has {len(corners)} places for {counts.sum()} corners of faces and {len(points)} points; each face must "
            "have three corners or more, each corner one place, from 0 to below the number of points"
        )
        report.error("attribute-value", f"{path}.faceVertexIndices", text)
        return None
    return points.astype(float), _triangles(counts, corners)


def _triangles(counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Each face as a fan, shape (M, 3)."""
    starts = np.cumsum(counts) - counts
    face = np.repeat(np.arange(len(counts)), counts - 2)
    fan = np.arange(len(face)) - np.repeat(np.cumsum(counts - 2) - (counts - 2), counts - 2)
    first = starts[face]
    return np.stack([corners[first], corners[first + fan + 1], corners[first + fan + 2]], axis=1)


READERS = {
    "Cube": _cube,
    "Sphere": _sphere,
    "Cylinder": _cylinder,
    "Cylinder_1": _cylinder_1,
    "Cone": _cone,
    "Capsule": _capsule,
    "Capsule_1": _capsule_1,
    "Mesh": _mesh,
}
