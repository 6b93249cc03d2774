"""How a body moves that is not simulated, and carries an articulation, or what touches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from warp_artic.description.pose import Pose, matrices_from_unit_quaternions


@dataclass(frozen=True)
class SurfaceVelocity:
    """How the surface of a body moves beside it, as a conveyor belt does: across the normals of contacts only."""

    linear: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """At the origin of the body [m/s]."""
    angular: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[rad/s]"""
    is_local: bool = True
    """Whether these are along the axes of the body; else those of the world."""

    def at(self, pose: Pose, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Angular velocity, and velocity at a point (3) of the world, along its axes, where the body has a pose."""
        R = pose.rotation if self.is_local else np.eye(3)
        angular = R @ self.angular
        return angular, R @ self.linear + np.cross(angular, point - np.asarray(pose.position))


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
    surface: SurfaceVelocity | None = None

    def at(self, time: float) -> Pose:
        """The pose at a time [s]."""
        row = self._table.poses(np.array([time]))[0, 0]
        return Pose(tuple(row[:3].tolist()), tuple(row[3:].tolist()))

    def displacement(self, time: float, about: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Displacement since the start: rotation (3, 3), and translation of a point of the body (3) [m]."""
        rotations, translations, _ = self._table.displacements(np.array([time]), np.asarray(about, float)[None])
        return rotations[0, 0], translations[0, 0]

    @cached_property
    def _table(self) -> MotionTable:
        return MotionTable([self])

    @cached_property
    def rows(self) -> np.ndarray:
        """Position and quaternion of each pose, signs of quaternions such that neighbours are near each other."""
        rows = np.array([[*pose.position, *pose.quaternion] for pose in self.poses])
        flips = np.cumprod(np.where((rows[1:, 3:] * rows[:-1, 3:]).sum(axis=1) < 0.0, -1.0, 1.0))
        rows[1:, 3:] *= flips[:, None]
        return rows


class MotionTable:
    """Poses of several bodies at several times at once."""

    def __init__(self, motions: Sequence[BaseMotion]):
        counts = np.array([len(one.poses) for one in motions], int)
        self._rows = np.concatenate([np.zeros((0, 7)), *(one.rows for one in motions)])
        self._first = np.cumsum(counts) - counts
        self._last = counts - 1
        self._start = np.array([one.start for one in motions])
        self._interval = np.array([one.interval for one in motions])
        self._at_start = self.poses(np.zeros(1))[0]
        self._R_start = matrices_from_unit_quaternions(self._at_start[:, 3:])

    def poses(self, times: np.ndarray) -> np.ndarray:
        """Positions and unit quaternions, shape (times, bodies, 7)."""
        place = np.clip((times[:, None] - self._start) / self._interval, 0.0, self._last)
        k = np.minimum(place.astype(int), np.maximum(self._last - 1, 0))
        before, first, last, after = (self._rows[self._first + np.clip(k + i, 0, self._last)] for i in (-1, 0, 1, 2))
        t = (place - k)[..., None]
        slopes = (last - before) / 2, (after - first) / 2
        rows = first + t * (slopes[0] + t * (3 * (last - first) - 2 * slopes[0] - slopes[1]))
        rows += t**3 * (slopes[0] + slopes[1] - 2 * (last - first))
        rows[..., 3:] /= np.linalg.norm(rows[..., 3:], axis=-1, keepdims=True)
        return rows

    def displacements(self, times: np.ndarray, about: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Displacements since the start: rotations (times, bodies, 3, 3), and translations of a point of each body,
        given by `about` (bodies, 3), shape (times, bodies, 3) [m]; and the quaternions (times, bodies, 4) of poses.
        """
        rows = self.poses(times)
        rotations = matrices_from_unit_quaternions(rows[..., 3:]) @ self._R_start.swapaxes(1, 2)
        arms = (rotations @ (about - self._at_start[:, :3])[..., None])[..., 0]
        return rotations, rows[..., :3] + arms - about, rows[..., 3:]


def turns_between(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3), of length at most pi, of q_1 q_0^-1 for unit quaternions xyzw (..., 4)."""
    (v_0, w_0), (v_1, w_1) = ((one[..., :3], one[..., 3:]) for one in (first, last))
    vector, w = w_0 * v_1 - w_1 * v_0 - np.cross(v_1, v_0), w_0 * w_1 + (v_0 * v_1).sum(axis=-1, keepdims=True)
    vector, w = np.where(w < 0.0, -vector, vector), np.abs(w)
    sine = np.linalg.norm(vector, axis=-1, keepdims=True)
    is_small = sine < 1e-12
    return np.where(is_small, 2.0, 2.0 * np.arctan2(sine, w) / np.where(is_small, 1.0, sine)) * vector


AT_REST = BaseMotion(path="", start=0.0, interval=1.0, poses=(Pose(),))
"""Of what stays where it is."""
