"""One vector, one quaternion, one matrix: in plain numbers, of which NumPy takes many times as long on so few."""

from __future__ import annotations

from math import cos, hypot, sin

import numpy as np


def cross(u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """u x w of a vector (3) and a vector (3) or columns (3, n)."""
    a, b, c = u.tolist() if isinstance(u, np.ndarray) else u
    x, y, z = w.tolist() if w.ndim == 1 else w
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def matrix_from_quaternion(quaternion) -> np.ndarray:
    """The rotation matrix (3, 3) of a quaternion xyzw, which need not be of unit length."""
    x, y, z, w = map(float, quaternion)
    length = hypot(x, y, z, w)
    x, y, z, w = x / length, y / length, z / length, w / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_from_rotation_vector(vector) -> tuple[float, float, float, float]:
    """The unit quaternion xyzw that turns by |vector| radians about vector (3)."""
    x, y, z = map(float, vector)
    half = 0.5 * hypot(x, y, z)
    scale = 0.5 * (sin(half) / half if half > 0.0 else 1.0)
    return scale * x, scale * y, scale * z, cos(half)
