"""How a body moves that is not simulated, and carries an articulation, or what touches it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from warp_artic.description.pose import Pose


@dataclass(frozen=True)
class BaseMotion:
    """World poses of a body at equal intervals of time, constant before the first and after the last one.

    Between them positions, and the components of quaternions, are cubic.
    """

    path: str
    """Of the body."""
    start: float
    """Time of the first pose from the start of the simulation [s]."""
    interval: float
    """[s]"""
    poses: tuple[Pose, ...]

    def at(self, time: float) -> Pose:
        """The pose at a time [s]."""
        place = np.clip((time - self.start) / self.interval, 0.0, len(self.poses) - 1.0)
        k = min(int(place), max(len(self.poses) - 2, 0))
        before, first, last, after = self._rows[np.clip(np.arange(k - 1, k + 3), 0, len(self.poses) - 1)]
        t = place - k
        slopes = (last - before) / 2, (after - first) / 2
        row = first + t * (slopes[0] + t * (3 * (last - first) - 2 * slopes[0] - slopes[1]))
        row += t**3 * (slopes[0] + slopes[1] - 2 * (last - first))
        return Pose(tuple(row[:3].tolist()), tuple((row[3:] / np.linalg.norm(row[3:])).tolist()))

    @cached_property
    def _rows(self) -> np.ndarray:
        """Position and quaternion of each pose, signs of quaternions such that neighbours are near each other."""
        rows = np.array([[*pose.position, *pose.quaternion] for pose in self.poses])
        flips = np.cumprod(np.where((rows[1:, 3:] * rows[:-1, 3:]).sum(axis=1) < 0.0, -1.0, 1.0))
        rows[1:, 3:] *= flips[:, None]
        return rows

    def displacement(self, time: float, about: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Displacement since the start: rotation (3, 3), and translation of a point of the body (3) [m]."""
        here, start = self.at(time), self.at(0.0)
        rotation = here.rotation @ start.rotation.T
        return rotation, np.asarray(here.position) + rotation @ (about - np.asarray(start.position)) - about


AT_REST = BaseMotion(path="", start=0.0, interval=1.0, poses=(Pose(),))
"""Of what stays where it is."""
