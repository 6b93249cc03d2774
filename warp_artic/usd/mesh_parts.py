"""The connected parts of a mesh, as exporters of convex decompositions write them.

Parts that are closed and have points of their own are parts even where they touch, as the boxes of a cup do. Otherwise
coincident points are merged: meshes with creases, or several UVs at a point, repeat it.
"""

from __future__ import annotations

import numpy as np

from warp_artic.usd import solids
from warp_artic.usd.weld import weld


def connected_parts(points: np.ndarray, triangles: np.ndarray) -> list[np.ndarray]:
    """Numbers of the triangles of each part, of points (N, 3) and triangles (M, 3), by their first ones."""
    own = _connected(triangles)
    if all(solids.is_closed(points, triangles[part]) for part in own):
        return own
    return _connected(weld(points, triangles))


def _connected(corners: np.ndarray) -> list[np.ndarray]:
    """The same, of triangles that are connected where numbers of their corners (M, 3) are the same."""
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
