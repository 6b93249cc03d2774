"""A collider becomes a shape, in the frame of its link or in the world, with all scale above it.

A scale that turns a shape into no known kind applies its largest factor, as UsdPhysics says: a ball under a non-uniform
scale is as large as its largest half axis. Boxes and meshes are exact under any transform. Planes are infinite.

A mesh is its bounding ball or box, or its convex hull, where its approximation says so. Otherwise a static mesh is its
surface, and a moving one the hulls of its connected parts, if these are convex. Parts that are not are decomposed where
the approximation asks for several shapes or for details, and CoACD is installed (`convex_parts`); else they become
their hulls, with a warning. A hull that is a box becomes one (`box_hulls`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from pxr import Usd

from warp_artic.description.pose import Pose
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.usd import solids, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.box_hulls import as_box
from warp_artic.usd.convex_hull import convex_hull
from warp_artic.usd.convex_parts import can_decompose, convex_parts
from warp_artic.usd.flat_patches import MOST_TRIANGLES, Patch, flat_patches, is_convex
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import Source, resolve
from warp_artic.usd.mesh_parts import connected_parts
from warp_artic.usd.placement import SHEAR, Placements, decompose
from warp_artic.usd.read_solid import Sizes, read_surface_mesh

UNEVEN = 1e-3
"""By how much sizes that should be the same may differ, relative to the largest."""
HULL_VERTICES = 64
"""Most vertices of a convex hull, where nothing is authored; that of PhysX."""
HULL_FIELDS = {
    "vertices": (
        Source("newton:maxHullVertices", units.NUMBER),
        Source("physxConvexHullCollision:hullVertexLimit", units.NUMBER),
        Source("physxConvexDecompositionCollision:hullVertexLimit", units.NUMBER),
        Source("mjc:maxhullvert", units.NUMBER),
    )
}
"""A negative number means any."""
HULLS, MOST_HULLS = "physxConvexDecompositionCollision:maxConvexHulls", 32
"""How many parts a solid is decomposed into at most, and where nothing is authored; that of PhysX."""
ANY = int(np.iinfo(np.int32).max)
HOLLOW = 0.01
"""By how much the volume of a mesh may be less than that of its hull to be taken for it."""
MOST_PARTS = 64
"""Parts of a mesh, each of which has a hull of its own."""
EXACT = ("none", "meshSimplification", "sdf")
"""Approximations of a mesh by its triangles."""
FILLS = ("convexDecomposition", "sphereFill")
"""Approximations by several convex shapes."""
DETAILED = (*FILLS, "sdf")
"""Those for which solids that are not convex are decomposed."""
MISSING = {True: "", False: "; closed solids are decomposed with CoACD: pip install 'warp-artic[decompose]'"}
"""What is said where CoACD is not there."""
HULL, SPHERE, CUBE = "convexHull", "boundingSphere", "boundingCube"
APPROXIMATIONS = (*EXACT, HULL, *FILLS, SPHERE, CUBE)
CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
HALF_TURN = Pose(quaternion=(1.0, 0.0, 0.0, 0.0))
"""About X: it turns Z round."""


@dataclass(frozen=True)
class Place:
    """Where the axes of a collider are, in the frame of its link or in the world."""

    X: np.ndarray
    """Affine, from its space in stage units to metres, shape (4, 4)."""
    pose: Pose
    """Without scale."""
    scale: np.ndarray
    """Metres in a unit along each axis, shape (3)."""
    is_mirrored: bool
    is_sheared: bool

    def apply(self, points: np.ndarray) -> np.ndarray:
        """Points (N, 3) in its space, in metres."""
        return points @ self.X[:3, :3].T + self.X[:3, 3]


def place_of(collider: Usd.Prim, body: Usd.Prim | None, placements: Placements) -> Place | None:
    """Where a collider is in the frame of a body, or in the world; None, and an error, where there is no such place."""
    X = placements.matrix(collider)
    if X is not None and body is not None:
        own = placements.of(body)
        X = None if own is None else placements.relative(collider, body)
        if X is not None:
            X = np.array([*own.scale, 1.0])[:, None] * X
    if X is None:
        return None
    poses, scale, cosine = decompose(X[None])
    return Place(X, poses[0], np.abs(scale[0]), bool(scale[0, 0] < 0.0), bool(cosine[0] > SHEAR))


@dataclass
class ShapeReader:
    """Reads the shape of one collider."""

    prim: Usd.Prim
    place: Place
    is_static: bool
    inventory: Inventory
    attributes: Attributes

    def __post_init__(self):
        self.sizes = Sizes(self.prim, self.attributes)

    @property
    def path(self) -> str:
        """Of the collider."""
        return str(self.prim.GetPath())

    def kind(self) -> ShapeKind | None:
        """What it is; None where it is no shape that there is."""
        name = str(self.prim.GetTypeName())
        if self.path in self.inventory.elastic_bodies:
            return None
        if name == "Mesh":
            return self._kind_of_mesh()
        if name == "Cube" and self.place.is_sheared:
            return ShapeKind.CONVEX
        if name == "Sphere" and not self._is_round():
            return ShapeKind.ELLIPSOID
        return KINDS.get(name)

    def patches(self) -> list[Shape]:
        """The shapes of a mesh that stays: itself where it is convex, else flat patches; none where there are too many
        triangles, which is told."""
        surface = read_surface_mesh(self.sizes)
        if surface is None:
            return []
        points, triangles = self.place.apply(surface[0]), self._outward(surface[1])
        is_closed = len(triangles) > 0 and solids.is_closed(points, triangles)
        if is_closed and is_convex(points, triangles):
            hull = self._hull(surface[0][np.unique(triangles)], ANY)
            if hull is not None and len(hull.points) <= HULL_VERTICES:
                return [as_box(hull)]
        found = flat_patches(points, triangles)
        if found is None and self._approximation() in FILLS:
            return [one for one in self.shapes(ShapeKind.CONVEX) if one is not None]
        if found is None:
            self._tell(f"its surface has {len(triangles)} triangles; at most {MOST_TRIANGLES} are simulated")
            return []
        if not found:
            self._tell("has no size that something could touch, so it touches nothing")
        return [self._patch(one, is_closed) for one in found]

    def _patch(self, patch: Patch, is_closed: bool) -> Shape:
        count = len(patch.corners)
        front = [(0, k, k + 1) for k in range(1, count - 1)]
        return Shape(
            path=self.path,
            kind=ShapeKind.CONVEX,
            frame=Pose.of(patch.origin, patch.axes),
            points=_rows(np.column_stack([patch.corners, np.zeros(count)])),
            triangles=(*front, *((c, b, a) for a, b, c in front)),
            seams=patch.seams,
            is_one_sided=is_closed,
        )

    def shapes(self, kind: ShapeKind) -> list[Shape | None]:
        """Its shape, or those of the parts of a mesh."""
        if self.prim.GetTypeName() == "Mesh" and kind is ShapeKind.CONVEX and self._approximation() != HULL:
            parts = self._parts()
            if parts:
                return [as_box(part) for part in parts]
        shape = self.read(kind)
        return [shape if shape is None else as_box(shape)]

    def _parts(self) -> list[Shape]:
        """The hulls of the parts of a mesh, and of what those that are not convex are decomposed into.

        None of them where it is one part, or too many, or some are not convex and not to be hulls.
        """
        surface = read_surface_mesh(self.sizes)
        if surface is None:
            return []
        points, triangles = surface
        parts, word = connected_parts(points, triangles), self._approximation()
        if len(parts) > MOST_PARTS:
            return []
        found, hollow, split = [], 0, 0
        for part in parts:
            hull = self._hull(points[np.unique(triangles[part])])
            is_convex_part = hull is not None and self._is_filled_by(hull, points, triangles[part])
            pieces = self._pieces(points, triangles[part]) if not is_convex_part and word in DETAILED else []
            found += pieces or ([] if hull is None else [hull])
            hollow += not (is_convex_part or pieces)
            split += len(pieces)
        if split:
            text = f"is decomposed into {split} convex parts by CoACD, as its approximation is {word}"
            self.attributes.report.note("convex-parts", self.path, text)
        elif len(parts) == 1 or (hollow and word not in FILLS):
            return []
        if hollow:
            self._tell(
                f"its approximation is {word}, and {hollow} of its {len(parts)} parts are not convex: the convex hull "
                f"of each part is taken{MISSING[can_decompose()]}"
            )
        return found

    def _pieces(self, points: np.ndarray, triangles: np.ndarray) -> list[Shape]:
        """What CoACD decomposes a part into; nothing where that is not installed, or the part is no closed solid."""
        if not (can_decompose() and solids.is_closed(points, triangles)):
            return []
        A = self.place.pose.rotation.T @ self.place.X[:3, :3]
        used, corners = np.unique(triangles, return_inverse=True)
        most = self.attributes.number(self.prim, HULLS, MOST_HULLS)
        parts = convex_parts(points[used] @ A.T, corners.reshape(-1, 3), max(1, int(most)))
        hulls = [self._hull(part @ np.linalg.inv(A).T) for part in parts]
        return [hull for hull in hulls if hull is not None]

    def read(self, kind: ShapeKind) -> Shape | None:
        """Its shape; None, and a warning unless there is an error, where it has no size."""
        is_mesh = self.prim.GetTypeName() == "Mesh"
        shape = self._of_mesh(kind) if is_mesh else READERS[kind](self)
        if shape is not None and not next(iter(shape.problems), None):
            return shape
        if not any(error.path.partition(".")[0] == self.path for error in self.attributes.report.errors):
            self._tell("has no size that something could touch, so it touches nothing")
        return None

    def _tell(self, text: str) -> None:
        self.attributes.report.warn("contact-shape", self.path, text)

    def _approximation(self) -> str:
        name = "physics:approximation"
        word = self.attributes.text(self.prim, name, "none")
        if word not in APPROXIMATIONS:
            text = f"is {word}, which is none of {', '.join(APPROXIMATIONS)}: none is taken"
            self.attributes.report.warn("contact-shape", f"{self.path}.{name}", text)
            return "none"
        return word

    def _kind_of_mesh(self) -> ShapeKind:
        word = self._approximation()
        if word in (*EXACT, *FILLS) and self.is_static:
            return ShapeKind.MESH
        return {SPHERE: ShapeKind.SPHERE, CUBE: ShapeKind.BOX}.get(word, ShapeKind.CONVEX)

    def _of_mesh(self, kind: ShapeKind) -> Shape | None:
        surface = read_surface_mesh(self.sizes)
        if surface is None:
            return None
        points, triangles = surface
        points = points[np.unique(triangles)]
        if kind is ShapeKind.SPHERE:
            center = 0.5 * (points.min(axis=0) + points.max(axis=0))
            middle = self.place.apply(center[None])[0]
            radius = float(np.linalg.norm(self.place.apply(points) - middle, axis=1).max())
            return Shape(path=self.path, kind=kind, frame=Pose(tuple(map(float, middle))), radius=radius)
        if kind is ShapeKind.BOX:
            low, high = points.min(axis=0), points.max(axis=0)
            return self._box(0.5 * (low + high), 0.5 * (high - low))
        shape = self._hull(points)
        word = self._approximation()
        if word != HULL and shape is not None and not self._is_filled_by(shape, *surface):
            where = "" if self.is_static else " on what moves"
            missing = MISSING[can_decompose() or word not in DETAILED]
            self._tell(f"its approximation is {word}, which is not simulated{where}: its convex hull is taken{missing}")
        return shape

    def _is_filled_by(self, hull: Shape, points: np.ndarray, triangles: np.ndarray) -> bool:
        """Whether a mesh is as large as its hull."""
        if not solids.is_closed(points, triangles):
            return False
        own = solids.mesh(self.place.apply(points), triangles).volume
        whole = solids.mesh(np.array(hull.points), np.array(hull.triangles)).volume
        return own >= (1.0 - HOLLOW) * whole

    def _outward(self, triangles: np.ndarray) -> np.ndarray:
        """Triangles, counter-clockwise as seen from outside where the mesh is placed."""
        word = self.attributes.token(self.prim, "orientation", "rightHanded", ("rightHanded", "leftHanded"))
        is_turned = (word == "leftHanded") != (np.linalg.det(self.place.X[:3, :3]) < 0.0)
        return triangles[:, ::-1] if is_turned else triangles

    def _hull(self, points: np.ndarray, most: int | None = None) -> Shape | None:
        frame, local = self._local(points)
        hull = convex_hull(local, self._most_vertices() if most is None else most)
        if hull is None:
            return None
        return Shape(path=self.path, kind=ShapeKind.CONVEX, frame=frame, points=hull.points, triangles=hull.triangles)

    def _local(self, points: np.ndarray) -> tuple[Pose, np.ndarray]:
        """A frame with the axes of the collider in the middle of points, and the points in it (N, 3) [m]."""
        moved, R = self.place.apply(points), self.place.pose.rotation
        local = moved @ R
        middle = 0.5 * (local.min(axis=0) + local.max(axis=0))
        return Pose(tuple(map(float, R @ middle)), self.place.pose.quaternion), local - middle

    def _most_vertices(self) -> int:
        reading = resolve(self.attributes, self.prim, "vertices", HULL_FIELDS["vertices"])
        if reading is None:
            return HULL_VERTICES
        return int(reading.value) if reading.value >= 0.0 else ANY

    def _box(self, center: np.ndarray, half: np.ndarray) -> Shape | None:
        """A box along the axes of the collider; a hull where these are sheared."""
        if self.place.is_sheared:
            return self._hull(center + CORNERS * half)
        position = tuple(map(float, self.place.apply(center[None])[0]))
        extents = tuple(map(float, half * self.place.scale))
        frame = Pose(position, self.place.pose.quaternion)
        return Shape(path=self.path, kind=ShapeKind.BOX, frame=frame, half_extents=extents)

    def cube(self) -> Shape | None:
        """Of a Cube."""
        return self._box(np.zeros(3), np.full(3, 0.5 * self.sizes.size("size")))

    def sphere(self) -> Shape:
        """Of a Sphere."""
        radius = self.sizes.size("radius") * float(self.place.scale.max())
        return Shape(path=self.path, kind=ShapeKind.SPHERE, frame=self.place.pose, radius=radius)

    def ellipsoid(self) -> Shape:
        """Of a Sphere whose transform scales its axes differently, or shears them."""
        frame, scale = self.place.pose, self.place.scale
        if self.place.is_sheared:
            axes, scale, _ = np.linalg.svd(self.place.X[:3, :3])
            axes[:, 2] *= np.linalg.det(axes)
            frame = Pose.of(frame.position, axes)
        semi_axes = tuple(map(float, self.sizes.size("radius") * scale))
        return Shape(path=self.path, kind=ShapeKind.ELLIPSOID, frame=frame, half_extents=semi_axes)

    def plane(self) -> Shape:
        """Of a Plane."""
        return Shape(path=self.path, kind=ShapeKind.PLANE, frame=self._along()[0])

    def long(self, kind: ShapeKind) -> Shape:
        """Of a Capsule, Cylinder or Cone."""
        frame, axis = self._along()
        around = np.delete(self.place.scale, axis)
        radius = self._radius() * self._even(around, "its scale makes it elliptic")
        if kind is ShapeKind.CAPSULE:
            self._even(np.array([around.max(), self.place.scale[axis]]), "its scale stretches its round ends")
        half = 0.5 * self.sizes.size("height") * float(self.place.scale[axis])
        return Shape(path=self.path, kind=kind, frame=frame, radius=radius, half_height=half)

    def _radius(self) -> float:
        """In stage units; the larger one where there are two."""
        if "radius" in self.prim.GetPrimDefinition().GetPropertyNames():
            return self.sizes.size("radius")
        radii = np.array([self.sizes.size("radiusBottom"), self.sizes.size("radiusTop")])
        return self._even(radii, f"it is {radii[0]:g} wide at one end and {radii[1]:g} at the other")

    def _is_round(self) -> bool:
        """Whether its transform leaves a sphere one."""
        scale = self.place.scale
        return not self.place.is_sheared and float(np.ptp(scale)) <= UNEVEN * float(scale.max())

    def _even(self, values: np.ndarray, text: str) -> float:
        """The largest of values that should be the same; where they are not, or axes are sheared, that is told."""
        largest = float(values.max())
        if largest - float(values.min()) > UNEVEN * largest:
            self._tell(f"{text}, which is not simulated: the largest of its sizes is taken for all")
        elif self.place.is_sheared:
            self._tell("its transform shears it, which is not simulated: its sizes along its axes are taken")
        return largest

    def _along(self) -> tuple[Pose, int]:
        """The frame whose Z is along the axis of the collider, and the number of that axis."""
        axis = "XYZ".index(self.sizes.axis())
        turn = Pose.of((0.0, 0.0, 0.0), np.roll(np.eye(3), axis - 2, axis=0))
        frame = self.place.pose @ turn
        return (frame @ HALF_TURN if self.place.is_mirrored else frame), axis


def _rows(points: np.ndarray) -> tuple[tuple[float, float, float], ...]:
    return tuple(map(tuple, points.tolist()))


KINDS: dict[str, ShapeKind] = {
    "Plane": ShapeKind.PLANE,
    "Sphere": ShapeKind.SPHERE,
    "Capsule": ShapeKind.CAPSULE,
    "Capsule_1": ShapeKind.CAPSULE,
    "Cylinder": ShapeKind.CYLINDER,
    "Cylinder_1": ShapeKind.CYLINDER,
    "Cone": ShapeKind.CONE,
    "Cube": ShapeKind.BOX,
}
"""By the type of the prim."""
READERS: dict[ShapeKind, Callable[[ShapeReader], Shape | None]] = {
    ShapeKind.PLANE: ShapeReader.plane,
    ShapeKind.SPHERE: ShapeReader.sphere,
    ShapeKind.ELLIPSOID: ShapeReader.ellipsoid,
    ShapeKind.CAPSULE: lambda reader: reader.long(ShapeKind.CAPSULE),
    ShapeKind.CYLINDER: lambda reader: reader.long(ShapeKind.CYLINDER),
    ShapeKind.CONE: lambda reader: reader.long(ShapeKind.CONE),
    ShapeKind.BOX: ShapeReader.cube,
    ShapeKind.CONVEX: ShapeReader.cube,
}
"""Of prims that are no mesh."""
