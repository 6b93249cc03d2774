"""Points of a mesh at one place are one: meshes with creases, or several UVs at a point, have it several times."""

from __future__ import annotations

import numpy as np

WELDED = 1e-6
"""Points that are closer to each other are one, relative to the size of the mesh."""


def welding_distance(points: np.ndarray, triangles: np.ndarray) -> float:
    """The distance below which points (N, 3) that triangles (M, 3) use are one; 1 where these have no size."""
    used = points[np.unique(triangles)] if len(triangles) else np.zeros((1, 3))
    return WELDED * float(np.ptp(used, axis=0).max()) or 1.0


def weld(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Triangles (M, 3) on points (N, 3), of which those at one place have the number of the first of them."""
    step = welding_distance(points, triangles)
    _, first, number = np.unique(np.round(points / step), axis=0, return_index=True, return_inverse=True)
    return first[number.reshape(-1)][triangles]
