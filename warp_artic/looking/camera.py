"""A camera with perspective: where it looks from, so that all is in the picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SPREAD = np.tan(np.radians(12.0))
"""Tangent of half the angle of view, along the height of the picture."""
MARGIN = 1.12
"""How much more than all is seen."""


@dataclass(frozen=True, eq=False)
class Camera:
    """Where pictures are taken from."""

    eye: np.ndarray
    """[m], shape (3)."""
    axes: np.ndarray
    """Rows: right, up and towards the viewer, shape (3, 3)."""
    width: int
    height: int
    """Of the picture [pixels]."""

    @property
    def focal(self) -> float:
        """Pixels by the tangent of an angle from the middle."""
        return 0.5 * self.height / float(SPREAD)

    def pixels(self, points: np.ndarray) -> np.ndarray:
        """Columns and rows (N, 2) at which points (N, 3) are seen."""
        x, y, z = ((points - self.eye) @ self.axes.T).T
        return np.stack([0.5 * self.width - self.focal * x / z, 0.5 * self.height + self.focal * y / z], axis=1)

    def scale_at(self, point: np.ndarray) -> float:
        """Pixels of a metre across the view at a point."""
        depth = float((self.eye - point) @ self.axes[2])
        return self.focal / depth


def camera_axes(azimuth: float, elevation: float, up: int) -> np.ndarray:
    """Right, up and back (3, 3) of a camera at these angles [deg] from the first level axis, and above it."""
    a, e = np.radians(azimuth), np.radians(elevation)
    back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    axes = np.array([right, np.cross(back, right), back])
    return axes if up == 2 else axes[:, [0, 2, 1]] * [1.0, 1.0, -1.0]


def fitted(points: np.ndarray, axes: np.ndarray, width: int, height: int) -> Camera:
    """The camera along some axes that has all points (N, 3) in its picture, and their middle in the middle."""
    local = points @ axes.T
    spread = np.array([SPREAD * width / height, SPREAD]) / MARGIN
    middle = 0.5 * (local.min(axis=0) + local.max(axis=0))
    distance = 0.0
    for _ in range(8):
        off = local - middle
        distance = max(float((np.abs(off[:, :2]) / spread + off[:, 2:]).max()), 1e-6)
        seen = off[:, :2] / (distance - off[:, 2:])
        middle[:2] += 0.5 * (seen.min(axis=0) + seen.max(axis=0)) * distance
    return Camera(eye=(middle + [0.0, 0.0, distance]) @ axes, axes=axes, width=width, height=height)
