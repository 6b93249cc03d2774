"""What can be drawn of a stage: its gprims on the bodies that move, paths of tendons, and joints."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from pxr import Usd, UsdGeom, UsdPhysics

from warp_artic.description.articulation import Articulation
from warp_artic.description.drawing import WORLD_BODY, Drawing, JointMark, Part, PartKind, Strand, vertex_normals
from warp_artic.description.scene import Scene
from warp_artic.usd import tessellate
from warp_artic.usd.gprims import color_of, colors_of_curves, opacity_of, triangles_of
from warp_artic.usd.instances import with_instances
from warp_artic.usd.read_stage import start_time
from warp_artic.usd.row_matrices import scale_and_rotation
from warp_artic.usd.skinned_points import SkinnedPoints

MOST_TRIANGLES = 200_000
"""Of a drawing; larger meshes are simplified in proportion."""
PALETTE = (
    (0.36, 0.53, 0.72),
    (0.87, 0.60, 0.34),
    (0.47, 0.66, 0.45),
    (0.76, 0.42, 0.40),
    (0.58, 0.50, 0.70),
    (0.55, 0.48, 0.42),
    (0.80, 0.56, 0.68),
    (0.52, 0.62, 0.64),
)
"""Colours of bodies that have none of their own."""
OF_WORLD, OF_TENDON = (0.68, 0.69, 0.70), (0.82, 0.25, 0.16)
SHOWN = (UsdGeom.Tokens.default_, UsdGeom.Tokens.render)


@dataclass(frozen=True)
class _Place:
    """Where a gprim is: its body, and the matrix from its frame to that of the body in metres, for rows."""

    body: int
    matrix: np.ndarray


def read_drawing(stage: Usd.Stage, scene: Scene | None = None) -> Drawing:
    """What can be drawn of a stage, as it is at its start.

    Bodies are the rigid bodies and whatever has animated transforms. With a scene there are the tendons and joints of
    it as well, and links without a shape have one that shows their inertia and joints.
    """
    return _Reader(stage, scene).read()


class _Reader:
    """Collects bodies and parts in one traversal."""

    def __init__(self, stage: Usd.Stage, scene: Scene | None):
        self.stage, self.scene = with_instances(stage, in_time=True).stage, scene
        self.code = start_time(stage)
        self.meters = UsdGeom.GetStageMetersPerUnit(stage)
        self.up = 1 if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y else 2
        self.cache = UsdGeom.XformCache(self.code)
        self.links = set(scene.link_names) if scene is not None else set()
        self.bodies: dict[str, int] = {}
        self.owners: dict[Usd.Prim, Usd.Prim | None] = {}
        self.grounds: list[float] = []
        self.skins = SkinnedPoints(self.stage)

    def read(self) -> Drawing:
        """The drawing."""
        parts, strands = [], []
        for path in self.scene.link_names if self.scene is not None else ():
            self.number(path)
        instances = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
        for prim in Usd.PrimRange.Stage(self.stage, instances):
            if prim.IsA(UsdGeom.BasisCurves):
                strands += self.curves(prim)
            elif prim.IsA(UsdGeom.Gprim):
                parts += self.part(prim)
        parts = _simplified(parts)
        joints: list[JointMark] = []
        for tree in self.scene.articulations if self.scene is not None else ():
            parts += self.stand_ins(tree, {part.body for part in parts})
            strands += self.tendons(tree)
            joints += self.joints(tree)
        ground = max(self.grounds) if self.grounds else None
        return Drawing(
            bodies=tuple(self.bodies),
            parts=tuple(parts),
            strands=tuple(strands),
            joints=tuple(joints),
            up=self.up,
            ground=ground,
        )

    def number(self, path: str) -> int:
        """The number of a body."""
        return self.bodies.setdefault(path, len(self.bodies))

    def owner(self, prim: Usd.Prim) -> Usd.Prim | None:
        """The body that a prim moves with: itself or the nearest one above it that moves; None: the world."""
        if prim.IsPseudoRoot():
            return None
        if prim not in self.owners:
            xformable = UsdGeom.Xformable(prim)
            is_body = str(prim.GetPath()) in self.links or prim.HasAPI(UsdPhysics.RigidBodyAPI)
            if is_body or (xformable and xformable.TransformMightBeTimeVarying()):
                self.owners[prim] = prim
            elif xformable and xformable.GetResetXformStack():
                self.owners[prim] = None
            else:
                self.owners[prim] = self.owner(prim.GetParent())
        return self.owners[prim]

    def place(self, prim: Usd.Prim) -> _Place:
        """Where a gprim is."""
        W = np.array(self.cache.GetLocalToWorldTransform(prim))
        owner = self.owner(prim)
        if owner is None:
            W[:, :3] *= self.meters
            return _Place(WORLD_BODY, W)
        frame = np.array(self.cache.GetLocalToWorldTransform(owner))
        _, rotation = scale_and_rotation(frame[None])
        frame[:3, :3] = rotation[0]
        local = W @ np.linalg.inv(frame)
        local[:, :3] *= self.meters
        return _Place(self.number(str(owner.GetPath())), local)

    def part(self, prim: Usd.Prim) -> list[Part]:
        """The part of a gprim, if it is to be seen or a collider."""
        imageable = UsdGeom.Imageable(prim)
        is_collider = prim.HasAPI(UsdPhysics.CollisionAPI)
        is_visual = imageable.ComputePurpose() in SHOWN and (
            imageable.ComputeVisibility(self.code) != UsdGeom.Tokens.invisible
        )
        if not (is_visual or is_collider):
            return []
        found = triangles_of(prim, self.code)
        if found is None or not len(found[1]):
            return []
        points, triangles = found
        place = self.place(prim)
        skin = self.skins.at(str(prim.GetPath()), self.code.GetValue())
        if skin is not None:
            place, points = _Place(WORLD_BODY, np.eye(4)), self.meters * skin
        points = points @ place.matrix[:3, :3] + place.matrix[3, :3]
        if np.linalg.det(place.matrix[:3, :3]) < 0.0:
            triangles = triangles[:, ::-1]
        if prim.IsA(UsdGeom.Plane) and place.body == WORLD_BODY and np.ptp(points[:, self.up]) < 1e-6:
            self.grounds.append(float(points[0, self.up]))
            return []
        if skin is not None:
            deforms = self.skins.moves(str(prim.GetPath()))
        else:
            deforms = (
                prim.IsA(UsdGeom.PointBased) and UsdGeom.PointBased(prim).GetPointsAttr().ValueMightBeTimeVarying()
            )
        if deforms:
            normals = vertex_normals(points, triangles)
        else:
            points, normals, triangles = tessellate.with_normals(*tessellate.welded(points, triangles))
        if not len(triangles):
            return []
        return [
            Part(
                path=str(prim.GetPath()),
                body=place.body,
                points=points,
                normals=normals,
                triangles=triangles,
                color=color_of(prim, self.code) or _own_color(place.body),
                opacity=opacity_of(prim, self.code),
                kind=PartKind.VISUAL if is_visual else PartKind.COLLIDER,
                deforms=deforms,
                is_skin=skin is not None,
            )
        ]

    def curves(self, prim: Usd.Prim) -> list[Strand]:
        """The strands of curves that are to be seen; of a prim whose points move by themselves only the first."""
        imageable = UsdGeom.Imageable(prim)
        points = UsdGeom.PointBased(prim).GetPointsAttr()
        counts = UsdGeom.BasisCurves(prim).GetCurveVertexCountsAttr().Get(self.code)
        values = points.Get(self.code)
        if imageable.ComputeVisibility(self.code) == UsdGeom.Tokens.invisible or not counts or not values:
            return []
        place = self.place(prim)
        found = np.array(values, float) @ place.matrix[:3, :3] + place.matrix[3, :3]
        deforms = points.ValueMightBeTimeVarying()
        starts = np.cumsum(counts) - np.array(counts)
        own = colors_of_curves(prim, self.code, len(counts))
        return [
            Strand(
                path=str(prim.GetPath()),
                bodies=(place.body,) * count,
                points=found[start : start + count],
                color=color or OF_TENDON,
                tendon=str(prim.GetPath().GetParentPath()),
                deforms=deforms,
            )
            for start, count, color in [*zip(starts, counts, own)][: 1 if deforms else None]
        ]

    def tendons(self, tree: Articulation) -> list[Strand]:
        """The sub-tendons of the spatial tendons of an articulation, from leaf to root."""
        found = []
        for tendon in tree.spatial_tendons:
            for leaf, name in zip(tendon.leaves, tendon.leaf_names):
                points = []
                index: int | None = leaf.attachment
                while index is not None:
                    points.append(tendon.attachments[index])
                    index = points[-1].parent
                bodies = tuple(self.number(tree.links[point.link].path) for point in points)
                places = np.array([point.position for point in points], float)
                found.append(Strand(path=name, bodies=bodies, points=places, color=OF_TENDON, tendon=name))
        return found

    def joints(self, tree: Articulation) -> list[JointMark]:
        """The joints of an articulation that have degrees of freedom."""
        marks = []
        for joint in tree.joints:
            if not joint.dofs or tree.links[joint.child].is_massless:
                continue
            axes = joint.child_frame.rotation.T
            marks.append(
                JointMark(
                    path=joint.path,
                    body=self.number(tree.links[joint.child].path),
                    position=joint.child_frame.position,
                    axes=tuple(tuple(axes[dof.axis.index].tolist()) for dof in joint.dofs),
                    are_linear=tuple(dof.axis.is_linear for dof in joint.dofs),
                    dofs=tuple(dof.name for dof in joint.dofs),
                )
            )
        return marks

    def stand_ins(self, tree: Articulation, shown: set[int]) -> list[Part]:
        """For links without a shape: a box of their mass and inertia, and rods to their joints."""
        bare = [
            number
            for number, link in enumerate(tree.links)
            if not link.is_massless and self.number(link.path) not in shown
        ]
        found: list[Part] = []
        for number in bare:
            link = tree.links[number]
            center = np.array(link.center_of_mass, float)
            ends = [np.array(joint.child_frame.position) for joint in tree.joints if joint.child == number]
            ends += [np.array(joint.parent_frame.position) for joint in tree.joints if joint.parent == number]
            pieces = [_inertia_box(link.mass, link.inertia_matrix, center)]
            pieces += [_rod(center, end) for end in ends if np.linalg.norm(end - center) > 1e-6]
            body = self.number(link.path)
            for points, triangles in pieces:
                points, normals, triangles = tessellate.with_normals(points, triangles)
                part = Part(
                    path=link.path, body=body, points=points, normals=normals, triangles=triangles, color=(0, 0, 0)
                )
                found.append(replace(part, color=_own_color(body), kind=PartKind.STAND_IN))
        return found


def _own_color(body: int) -> tuple[float, float, float]:
    """The colour of a body that has none."""
    return OF_WORLD if body == WORLD_BODY else PALETTE[body % len(PALETTE)]


def _inertia_box(mass: float, inertia: np.ndarray, center: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The box of uniform density with this mass and inertia: a^2 = 6 (I_yy + I_zz - I_xx) / m along each axis."""
    moments, axes = np.linalg.eigh(inertia)
    squares = 6.0 * (moments.sum() - 2.0 * moments) / max(mass, 1e-12)
    extents = np.sqrt(np.maximum(squares, 1e-8))
    extents = np.maximum(extents, 0.05 * extents.max())
    points, triangles = tessellate.box(1.0)
    axes = axes * np.sign(np.linalg.det(axes))
    return center + (points * extents) @ axes.T, triangles


def _rod(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A thin cylinder between two points."""
    along = end - start
    length = float(np.linalg.norm(along))
    points, triangles = tessellate.cylinder(0.03 * length, 0.03 * length, length)
    z = along / length
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return 0.5 * (start + end) + points @ np.stack([x, np.cross(z, x), z]), triangles


def _simplified(parts: list[Part]) -> list[Part]:
    """The parts with at most MOST_TRIANGLES together."""
    total = sum(len(part.triangles) for part in parts)
    if total <= MOST_TRIANGLES:
        return parts
    found = []
    for part in parts:
        most = max(200, len(part.triangles) * MOST_TRIANGLES // total)
        if part.deforms or len(part.triangles) <= most:
            found.append(part)
            continue
        points, triangles = tessellate.simplified(*tessellate.welded(part.points, part.triangles), most)
        points, normals, triangles = tessellate.with_normals(points, triangles)
        found.append(replace(part, points=points, normals=normals, triangles=triangles))
    return found
