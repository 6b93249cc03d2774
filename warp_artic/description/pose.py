"""A rigid placement: rotation, then translation, in double precision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

REMEMBERED = 4096
"""Rotations that are kept: the copies of a robot have the same ones."""


@dataclass(frozen=True)
class Pose:
    """The pose X_AB of a frame B in a frame A."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Origin of B in A [m]."""
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    """Rotation R_AB as a unit quaternion, xyzw."""

    @staticmethod
    def of(position, rotation) -> Pose:
        """The pose with a position (3) and a rotation matrix (3, 3)."""
        return Pose(tuple(map(float, position)), _quaternion_of(np.asarray(rotation, float).tobytes()))

    @property
    def rotation(self) -> np.ndarray:
        """R_AB, shape (3, 3), not to be written to."""
        return _rotation_of(self.quaternion)

    def __matmul__(self, other: Pose) -> Pose:
        """X_AC = X_AB @ X_BC."""
        R_AB = self.rotation
        return Pose.of(np.asarray(self.position) + R_AB @ np.asarray(other.position), R_AB @ other.rotation)

    def inverse(self) -> Pose:
        """X_BA."""
        R_BA = self.rotation.T
        return Pose.of(-R_BA @ np.asarray(self.position), R_BA)

    def apply(self, point) -> np.ndarray:
        """A point given in B, in A [m]."""
        return np.asarray(self.position) + self.rotation @ np.asarray(point, float)


@lru_cache(REMEMBERED)
def _rotation_of(quaternion: tuple[float, float, float, float]) -> np.ndarray:
    rotation = matrix_from_quaternion(quaternion)
    rotation.flags.writeable = False
    return rotation


@lru_cache(REMEMBERED)
def _quaternion_of(content: bytes) -> tuple[float, float, float, float]:
    """Of the rotation matrix with this content, row by row."""
    return quaternion_from_matrix(np.frombuffer(content).reshape(3, 3))


def matrix_from_quaternion(quaternion) -> np.ndarray:
    """The rotation matrix (3, 3) of a quaternion xyzw, which need not be of unit length."""
    q = np.asarray(quaternion, float)
    x, y, z, w = (q / math.sqrt(q.dot(q))).tolist()  # plain numbers: NumPy takes several times as long on so few
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrices_from_unit_quaternions(quaternions: np.ndarray) -> np.ndarray:
    """The rotation matrices (..., 3, 3) of unit quaternions xyzw (..., 4)."""
    x, y, z, w = np.moveaxis(quaternions, -1, 0)
    rows = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.moveaxis(rows, (0, 1), (-2, -1))


def quaternion_from_matrix(rotation: np.ndarray) -> tuple[float, float, float, float]:
    """The unit quaternion xyzw, w >= 0, of a rotation matrix (3, 3); Shepperd's choice of the largest component."""
    R = np.asarray(rotation).tolist()  # plain numbers: NumPy takes five times as long on so few
    squares = [R[0][0], R[1][1], R[2][2], R[0][0] + R[1][1] + R[2][2]]
    largest = squares.index(max(squares))
    if largest == 3:
        q = [R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1], 1.0 + squares[3]]
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        q = [0.0, 0.0, 0.0, R[k][j] - R[j][k]]
        q[i] = 1.0 + R[i][i] - R[j][j] - R[k][k]
        q[j] = R[j][i] + R[i][j]
        q[k] = R[k][i] + R[i][k]
    length = -math.hypot(*q) if q[3] < 0.0 else math.hypot(*q)
    return (q[0] / length, q[1] / length, q[2] / length, q[3] / length)


def quaternion_from_rotation_vector(vector) -> tuple[float, float, float, float]:
    """The unit quaternion xyzw that turns by |vector| radians about vector (3)."""
    vector = np.asarray(vector, float)
    half = 0.5 * np.linalg.norm(vector)
    angle = np.pi * (half / np.pi)  # as np.sinc has it
    ratio = np.sin(angle) / angle if angle else 1.0
    return (*(0.5 * ratio * vector).tolist(), float(np.cos(half)))


def cross(one, other) -> np.ndarray:
    """The cross product of two vectors (3), in a tenth of the time of NumPy's own."""
    (a, b, c), (x, y, z) = map(float, one), map(float, other)
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def rotation_vector_from_matrix(rotation: np.ndarray) -> np.ndarray:
    """The rotation vector (3) [rad], of length at most pi, of a rotation matrix (3, 3)."""
    x, y, z, w = quaternion_from_matrix(rotation)
    sine = math.hypot(x, y, z)
    if sine < 1e-12:
        return 2.0 * np.array([x, y, z])
    return 2.0 * math.atan2(sine, w) / sine * np.array([x, y, z])
