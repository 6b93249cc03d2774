"""Triangles of simple shapes and of meshes, and normals that keep edges sharp."""

from __future__ import annotations

import numpy as np

SEGMENTS = 32
"""Around the axis of a round shape."""
CREASE = np.cos(np.radians(40.0))
"""Faces that meet at a larger angle have an edge between them."""


def box(size: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a cube about the origin."""
    points = 0.5 * size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return points, np.array([[q[i] for i in corners] for q in quads for corners in ((0, 1, 2), (0, 2, 3))])


def sphere(radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a ball about the origin."""
    return capsule(radius, 0.0)


def capsule(radius: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of all within the radius of a segment of this height along Z; of a ball where it is zero."""
    turns = np.linspace(-0.5 * np.pi, 0.5 * np.pi, SEGMENTS // 2 + 1)
    middle = SEGMENTS // 4
    below, above = turns[: middle + 1], turns[middle:] if height else turns[middle + 1 :]
    angles = np.concatenate([below, above])
    z = radius * np.sin(angles) + np.where(np.arange(angles.size) <= middle, -0.5, 0.5) * height
    return revolve(np.stack([radius * np.cos(angles), z], axis=1))


def cylinder(bottom: float, top: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a cylinder or a cone along Z, with these radii at its ends."""
    half = 0.5 * height
    rings = [[radius, z] for radius, z in ((bottom, -half), (top, half)) if radius > 0.0]
    return revolve(np.array([[0.0, -half], *rings, [0.0, half]]))


def revolve(profile: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A profile (K, 2) of radii and heights, from below, turned about Z; its ends lie on the axis."""
    turns = np.linspace(0.0, 2.0 * np.pi, SEGMENTS, endpoint=False)
    circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    rings = profile[1:-1]
    points = np.concatenate(
        [
            [[0.0, 0.0, profile[0, 1]]],
            np.concatenate([np.column_stack([radius * circle, np.full(SEGMENTS, z)]) for radius, z in rings]),
            [[0.0, 0.0, profile[-1, 1]]],
        ]
    )
    here = np.arange(SEGMENTS)
    there = (here + 1) % SEGMENTS
    last = 1 + (len(rings) - 1) * SEGMENTS
    faces = [np.stack([np.zeros_like(here), 1 + there, 1 + here], axis=1)]
    for ring in range(len(rings) - 1):
        low, high = 1 + ring * SEGMENTS, 1 + (ring + 1) * SEGMENTS
        faces.append(np.stack([low + here, low + there, high + there], axis=1))
        faces.append(np.stack([low + here, high + there, high + here], axis=1))
    faces.append(np.stack([last + here, last + there, np.full_like(here, len(points) - 1)], axis=1))
    return points, _without_slivers(points, np.concatenate(faces))


def fan(counts: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Triangles (T, 3) of polygons with these numbers of corners, each as a fan about its first corner."""
    counts = np.asarray(counts, int)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]) if counts.size else counts
    inner = np.maximum(counts - 2, 0)
    face = np.repeat(np.arange(counts.size), inner)
    second = np.arange(inner.sum()) - np.repeat(np.cumsum(inner) - inner, inner) + 1
    corners = np.stack([starts[face], starts[face] + second, starts[face] + second + 1], axis=1).astype(int)
    return np.asarray(indices, int)[corners].reshape(-1, 3)


def welded(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same surface with each place once among its points, and no triangle without area."""
    size = float(np.ptp(points, axis=0).max(initial=0.0)) or 1.0
    _, first, where = np.unique(np.round(points / (1e-6 * size)), axis=0, return_index=True, return_inverse=True)
    points, triangles = points[first], where.reshape(-1)[triangles]
    return points, _without_slivers(points, triangles)


def simplified(points: np.ndarray, triangles: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """A surface of at most so many triangles: points in one cell of a grid become their mean; the finest that does."""
    cells = 256
    low, size = points.min(axis=0), float(np.ptp(points, axis=0).max())
    found, faces = points, triangles
    while len(faces) > most and cells > 1:
        cell = np.floor((points - low) / size * cells).astype(int)
        _, where, counts = np.unique(cell, axis=0, return_inverse=True, return_counts=True)
        where = where.reshape(-1)
        found = np.stack([np.bincount(where, points[:, axis]) for axis in range(3)], axis=1) / counts[:, None]
        faces = _without_slivers(found, where[triangles])
        cells = cells * 3 // 4
    return found, faces


def with_normals(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, normals and triangles, where a point is there once for each smooth surface that it is on.

    A normal is the mean of those of the faces of that surface around the point, by their angles there.
    """
    if not len(triangles):
        return np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), int)
    corners = points[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    faces = area / np.linalg.norm(area, axis=1, keepdims=True)
    weights = _corner_angles(corners).reshape(-1)
    corner_point = triangles.reshape(-1)
    corner_face = np.repeat(np.arange(len(triangles)), 3)
    order = np.argsort(corner_point, kind="stable")
    counts = np.bincount(corner_point, minlength=len(points))
    starts = np.cumsum(counts) - counts
    sizes = counts[corner_point]
    corner = np.repeat(np.arange(corner_point.size), sizes)
    offset = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    other = order[starts[corner_point[corner]] + offset]
    joins = np.einsum("ij,ij->i", faces[corner_face[corner]], faces[corner_face[other]]) > CREASE
    corner, other = corner[joins], other[joins]
    pulls = faces[corner_face[other]] * weights[other, None]
    normals = np.stack([np.bincount(corner, pulls[:, axis], corner_point.size) for axis in range(3)], axis=1)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    keys = np.column_stack([corner_point, np.round(normals * 500.0)])
    _, first, where = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return points[corner_point[first]], normals[first], where.reshape(-1, 3)


def _corner_angles(corners: np.ndarray) -> np.ndarray:
    """The angles of triangles with the corners (T, 3, 3) at each of them, shape (T, 3) [rad]."""
    on, back = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    sines = np.linalg.norm(np.cross(on, back), axis=2)
    return np.arctan2(sines, np.einsum("tci,tci->tc", on, back))


def _without_slivers(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The triangles that have an area."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return triangles[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 0.0]
