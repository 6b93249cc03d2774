"""The parts of a mesh that no triangle connects, as exporters of convex decompositions write them."""

from __future__ import annotations

import numpy as np

from warp_artic.usd.weld import weld


def connected_parts(points: np.ndarray, triangles: np.ndarray) -> list[np.ndarray]:
    """Numbers of the triangles of each part, of points (N, 3) and triangles (M, 3), by their first ones."""
    corners = weld(points, triangles)
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
