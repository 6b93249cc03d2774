"""Convex hulls that are boxes, as meshes of crates, tiles and shelves are.

A box has flat faces along which others slide (`collision.level_faces`), and more contact points than a hull.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from warp_artic.description.pose import Pose
from warp_artic.description.shape import Shape, ShapeKind

UNEVEN = 1e-5
"""How far from the vertices of a hull the corners of a box may be, relative to its size: coordinates are floats."""


def as_box(shape: Shape) -> Shape:
    """The box that a convex hull is; the shape itself where it is none."""
    if shape.kind is not ShapeKind.CONVEX or len(shape.points) != 8 or shape.seams or shape.is_one_sided:
        return shape
    points = np.array(shape.points)
    edges = _edges(points)
    if edges is None:
        return shape
    half = 0.5 * np.linalg.norm(edges, axis=1)
    axes = (0.5 * edges / half[:, None]).T
    pose = shape.frame @ Pose.of(points.mean(axis=0), axes)
    if np.abs(axes - np.eye(3)).max() < UNEVEN:
        pose = Pose(pose.position, shape.frame.quaternion)
    extents = tuple(map(float, half))
    return replace(shape, kind=ShapeKind.BOX, frame=pose, half_extents=extents, points=(), triangles=())


def _edges(points: np.ndarray) -> np.ndarray | None:
    """Three edges of the box with these corners, as rows, as near to the axes as may be; None where it is no box."""
    from_first = points[1:] - points[0]
    tolerance = UNEVEN * np.ptp(points, axis=0).max()
    for chosen in combinations(range(7), 3):
        edges = from_first[list(chosen)]
        lengths = np.linalg.norm(edges, axis=1)
        products = edges @ edges.T
        if np.abs(products - np.diag(lengths**2)).max() > 2.0 * tolerance * lengths.max():
            continue
        corners = (np.indices((2, 2, 2)).reshape(3, 8).T - 0.5) @ edges + points.mean(axis=0)
        distances = np.linalg.norm(corners[:, None] - points, axis=2).min(axis=1)
        if distances.max() < tolerance and lengths.min() > tolerance:
            return _along_axes(edges)
    return None


def _along_axes(edges: np.ndarray) -> np.ndarray:
    """Edges in another order, and turned round, so that each is as near to its axis as may be, right-handed."""
    shares = np.abs(edges) / np.linalg.norm(edges, axis=1)[:, None]
    order = np.zeros(3, int)
    for _ in range(3):
        edge, axis = np.unravel_index(np.argmax(shares), (3, 3))
        order[axis] = edge
        shares[edge], shares[:, axis] = -1.0, -1.0
    found = edges[order]
    found = found * np.where(np.diag(found) < 0.0, -1.0, 1.0)[:, None]
    if np.linalg.det(found) < 0.0:
        found[2] = -found[2]
    return found
