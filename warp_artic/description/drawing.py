"""What can be drawn of a stage: surfaces on rigid bodies, paths of tendons, joint frames, and how all of it moves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

WORLD_BODY = -1
"""In place of the number of a body: it stays where it is."""


class PartKind(Enum):
    """Why a part is there."""

    VISUAL = "visual"
    """It is what the stage shows."""
    COLLIDER = "collider"
    """A collider that the stage does not show."""
    STAND_IN = "stand-in"
    """In place of a link for which the stage has no shape."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """A surface of triangles on one body."""

    path: str
    """Prim path."""
    body: int
    """Index into `Drawing.bodies`, or WORLD_BODY."""
    points: np.ndarray
    """In the frame of the body [m], shape (V, 3)."""
    normals: np.ndarray
    """Unit vectors, shape (V, 3); of a part that deforms those at the start."""
    triangles: np.ndarray
    """Indices of points, counter-clockwise as seen from outside, shape (T, 3)."""
    color: tuple[float, float, float]
    """Red, green, blue from 0 to 1, as displayed."""
    opacity: float = 1.0
    kind: PartKind = PartKind.VISUAL
    deforms: bool = False
    """Whether its points move by themselves: `Motion.points` then has them, in the world."""
    is_skin: bool = False
    """Whether a skeleton deforms it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Strand:
    """A tendon, or a curve: a line through points."""

    path: str
    bodies: tuple[int, ...]
    """Of each point: an index into `Drawing.bodies`, or WORLD_BODY."""
    points: np.ndarray
    """In the frames of these bodies [m], shape (P, 3)."""
    color: tuple[float, float, float]
    tendon: str = ""
    """Name of the tendon in recordings, if it is one."""
    deforms: bool = False
    """As of a part."""


@dataclass(frozen=True, kw_only=True)
class JointMark:
    """Where a joint is."""

    path: str
    body: int
    """The body on the child side."""
    position: tuple[float, float, float]
    """Origin of the child-side joint frame in the frame of that body [m]."""
    axes: tuple[tuple[float, float, float], ...]
    """Of its degrees of freedom, in the frame of that body, unit vectors."""
    are_linear: tuple[bool, ...]
    """Which of them are translations."""
    dofs: tuple[str, ...] = ()
    """Names of the degrees of freedom."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawing:
    """All that can be drawn of a stage, in metres and in its own axes."""

    bodies: tuple[str, ...]
    """Prim paths of what moves as rigid bodies."""
    parts: tuple[Part, ...] = ()
    strands: tuple[Strand, ...] = ()
    joints: tuple[JointMark, ...] = ()
    up: int = 2
    """The axis that points up: 1 for Y, 2 for Z."""
    ground: float | None = None
    """Height of the ground that the stage authors as a plane, if it does [m]."""

    def without_skin(self) -> Drawing:
        """The same without what skeletons deform."""
        return replace(self, parts=tuple(part for part in self.parts if not part.is_skin))


@dataclass(frozen=True, kw_only=True, eq=False)
class Motion:
    """Where everything is at some times."""

    time: np.ndarray
    """[s], shape (F)."""
    poses: np.ndarray
    """World poses of the bodies, position xyz [m] and quaternion xyzw, shape (F, bodies, 7)."""
    points: dict[str, np.ndarray] = field(default_factory=dict)
    """World positions [m] of what deforms, by path, each of shape (F, V, 3)."""

    def matrices(self, frame: int) -> np.ndarray:
        """World matrices of the bodies in a frame, for columns, shape (bodies, 3, 4)."""
        return pose_matrices(self.poses[frame])


def pose_matrices(poses: np.ndarray) -> np.ndarray:
    """Matrices (..., 3, 4) for columns of poses (..., 7)."""
    x, y, z, w = np.moveaxis(poses[..., 3:], -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), poses[..., 0]],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), poses[..., 1]],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), poses[..., 2]],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def placed(points: np.ndarray, bodies: tuple[int, ...] | int, matrices: np.ndarray) -> np.ndarray:
    """World positions (V, 3) of points in the frames of one body, or of a body for each point."""
    if isinstance(bodies, int):
        if bodies == WORLD_BODY:
            return points
        return points @ matrices[bodies, :, :3].T + matrices[bodies, :, 3]
    rows = [point if body == WORLD_BODY else matrices[body] @ [*point, 1.0] for point, body in zip(points, bodies)]
    return np.array(rows, float).reshape(-1, 3)


def vertex_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Means of the normals of the faces at each point, by their areas, shape (V, 3)."""
    corners = points[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    places, pulls = triangles.reshape(-1), np.repeat(area, 3, axis=0)
    normals = np.stack([np.bincount(places, pulls[:, axis], len(points)) for axis in range(3)], axis=1)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
