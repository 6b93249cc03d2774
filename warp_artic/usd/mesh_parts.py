"""The parts of a mesh that no triangle connects, as exporters of convex decompositions write them."""

from __future__ import annotations

import numpy as np

WELDED = 1e-6
"""Points that are closer to each other are one, relative to the size of the mesh."""


def connected_parts(points: np.ndarray, triangles: np.ndarray) -> list[np.ndarray]:
    """Numbers of the triangles of each part, of points (N, 3) and triangles (M, 3), by their first ones."""
    used = points[np.unique(triangles)]
    step = WELDED * float(np.ptp(used, axis=0).max()) or 1.0
    _, welded = np.unique(np.round(points / step), axis=0, return_inverse=True)
    corners = welded.reshape(-1)[triangles]
    label = np.arange(corners.max() + 1)
    while True:
        least = label[corners].min(axis=1)
        np.minimum.at(label, corners, least[:, None])
        label = label[label]
        if (label[corners] == label[corners[:, :1]]).all():
            break
    own = label[corners[:, 0]]
    _, first = np.unique(own, return_index=True)
    return [np.flatnonzero(own == own[place]) for place in np.sort(first)]
