"""The plane in which a mesh of triangles lies, and the axes in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warp_artic.description.pose import Pose

OFF = 1e-5
"""How far a node may be from the plane of its mesh, relative to the size of the mesh."""
ROUNDING = 1e-6
"""The same, relative to its coordinates, which are floats."""
SQUARE = 1e-12
"""By how much a normal may differ from an axis to be taken as that axis."""
SIGNS = (1.0, -1.0, 1.0)
"""Which way a normal nearest to x, y or z points: what is seen in the plane then is (y, z), (x, z) or (x, y)."""


@dataclass(frozen=True)
class Plane:
    """The plane of some points."""

    frame: Pose
    """Of the plane in the space of the points: its z axis is the normal."""
    allowed: float
    """Distance up to which a point is taken to be in the plane [m]."""

    def inside(self, vectors: np.ndarray, is_point: bool = True) -> np.ndarray:
        """Points or directions, shape (N, 3), in the axes of the plane, shape (N, 3)."""
        origin = np.asarray(self.frame.position) if is_point else np.zeros(3)
        return (vectors - origin) @ self.frame.rotation


def plane_of(points: np.ndarray) -> Plane:
    """The plane nearest to points, shape (N, 3) [m], at least one."""
    centered = points - points.mean(axis=0)
    normal = np.linalg.eigh(centered.T @ centered)[1][:, 0]
    nearest = int(np.argmax(np.abs(normal)))
    if 1.0 - abs(normal[nearest]) <= SQUARE:
        normal = np.eye(3)[nearest]
    normal = normal * np.sign(normal[nearest]) * SIGNS[nearest]
    first = np.eye(3)[1 if nearest == 0 else 0]
    right = first - (first @ normal) * normal
    right = right / np.linalg.norm(right)
    rotation = np.stack([right, np.cross(normal, right), normal], axis=1)
    middle = 0.5 * ((points @ normal).min() + (points @ normal).max())
    allowed = OFF * float(np.ptp(points, axis=0).max()) + ROUNDING * float(np.abs(points).max())
    return Plane(Pose.of(middle * normal, rotation), allowed)
