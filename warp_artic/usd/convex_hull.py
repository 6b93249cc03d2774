"""The convex hull of points, by adding the point that is farthest outside until none is left or there are enough.

Each face keeps the points that are outside of it. The farthest of all is added: the faces that it sees are replaced by
those between it and the rim of what it sees, and the points of the former go to the latter. Where the number of points
is bounded, the hull is inside the whole one, and as near to it as the farthest point that is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

FLAT = 1e-5
"""Smallest thickness of a hull, relative to its size."""
OUTSIDE = 1e-6
"""How far from the hull a point is taken to be on it, relative to its size: coordinates on stages are floats."""
REMEMBERED = 64
"""Hulls that are kept: references of a part have the same points."""


@dataclass(frozen=True)
class Hull:
    """A closed convex surface."""

    points: tuple[tuple[float, float, float], ...]
    """Its vertices, in the order of the points it is made of."""
    triangles: tuple[tuple[int, int, int], ...]
    """Counter-clockwise as seen from outside."""


@dataclass
class _Face:
    corners: tuple[int, int, int]
    normal: np.ndarray
    offset: float
    outside: np.ndarray
    """Numbers of the points outside of it that no other face keeps."""
    heights: np.ndarray
    """Their distances from it."""

    @property
    def farthest(self) -> float:
        return float(self.heights.max()) if len(self.heights) else 0.0


def convex_hull(points: np.ndarray, most: int) -> Hull | None:
    """The hull of points (N, 3) with at most so many vertices, at least four; None where it has no inside."""
    points = np.ascontiguousarray(points, float)
    return _convex_hull(points.tobytes(), max(most, 4))


@lru_cache(REMEMBERED)
def _convex_hull(content: bytes, most: int) -> Hull | None:
    points = np.frombuffer(content).reshape(-1, 3)
    if len(points) < 4:
        return None
    size = float(np.ptp(points, axis=0).max())
    start = _first_corners(points, FLAT * size)
    if start is None:
        return None
    middle = points[start].mean(axis=0)
    every = np.setdiff1d(np.arange(len(points)), start)
    corners = [tuple(corner for corner in start if corner != left) for left in start]
    faces = _faces(points, [_outward(points, one, middle) for one in corners], every, OUTSIDE * size)
    count = len(start)
    while count < most:
        highest = max(faces, key=lambda face: face.farthest)
        if highest.farthest <= 0.0:
            break
        apex = int(highest.outside[np.argmax(highest.heights)])
        seen = [face for face in faces if face is highest or face.normal @ points[apex] > face.offset]
        seen_ids = {id(face) for face in seen}
        edges = [edge for face in seen for edge in _edges(face.corners)]
        rim = sorted(set(edges) - {(end, begin) for begin, end in edges})
        left = np.unique(np.concatenate([face.outside for face in seen]))
        kept = [face for face in faces if id(face) not in seen_ids]
        new = [(begin, end, apex) for begin, end in rim]
        faces = kept + _faces(points, new, left[left != apex], OUTSIDE * size)
        count += 1
    return _as_hull(points, [face.corners for face in faces])


def _first_corners(points: np.ndarray, thinnest: float) -> list[int] | None:
    """Four points far from each other; None where all are nearly in one plane."""
    first = int(np.lexsort(points.T[::-1])[0])
    away = points - points[first]
    second = int(np.argmax(np.linalg.norm(away, axis=1)))
    length = float(np.linalg.norm(away[second]))
    if length <= thinnest or length == 0.0:
        return None
    direction = away[second] / length
    across = away - np.outer(away @ direction, direction)
    third = int(np.argmax(np.linalg.norm(across, axis=1)))
    width = float(np.linalg.norm(across[third]))
    if width <= thinnest:
        return None
    heights = np.abs(away @ np.cross(direction, across[third] / width))
    fourth = int(np.argmax(heights))
    return None if heights[fourth] <= thinnest else [first, second, third, fourth]


def _outward(points: np.ndarray, corners: tuple[int, int, int], inside: np.ndarray) -> tuple[int, int, int]:
    """The corners of a triangle in the order that makes its normal point away from a point."""
    a, b, c = corners
    normal = np.cross(points[b] - points[a], points[c] - points[a])
    return (a, c, b) if normal @ (inside - points[a]) > 0.0 else (a, b, c)


def _faces(points: np.ndarray, corners: list[tuple[int, int, int]], left: np.ndarray, outside: float) -> list[_Face]:
    """Faces by their corners, each with those of some points that are farthest outside of it."""
    a, b, c = (points[[one[place] for one in corners]] for place in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    offsets = (normals * a).sum(axis=1)
    heights = points[left] @ normals.T - offsets
    own = heights.argmax(axis=1) if len(left) else np.zeros(0, int)
    highest = heights[np.arange(len(left)), own]
    found = []
    for number, one in enumerate(corners):
        is_own = (own == number) & (highest > outside)
        found.append(_Face(one, normals[number], float(offsets[number]), left[is_own], highest[is_own]))
    return found


def _edges(corners: tuple[int, int, int]) -> tuple[tuple[int, int], ...]:
    a, b, c = corners
    return ((a, b), (b, c), (c, a))


def _as_hull(points: np.ndarray, corners: list[tuple[int, int, int]]) -> Hull:
    """Only the points that are vertices; triangles begin with their smallest number, and are sorted."""
    used = sorted({corner for one in corners for corner in one})
    place = {corner: number for number, corner in enumerate(used)}
    turned = []
    for one in corners:
        a, b, c = (place[corner] for corner in one)
        turned.append(min((a, b, c), (b, c, a), (c, a, b)))
    return Hull(tuple(tuple(map(float, points[corner])) for corner in used), tuple(sorted(turned)))
