"""A surface of triangles as flat convex patches: what is as few convex polygons as neighbours can be merged to.

Triangles that share an edge and lie in one plane are of one face. Two polygons of a face whose hull is as large as both
are merged, those with the longest common boundary first; a face that is convex is one patch at once.

A patch knows how the surface goes on at its edges, for what slides or rolls there is to feel the surface and not its
pieces: at an edge to another patch the surface bends away by an angle, which is zero where it is flat or bends towards.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from warp_artic.description.shape import Seam
from warp_artic.usd.weld import WELDED, weld, welding_distance

PARALLEL = 1e-5
"""Sine of the angle between normals of one face."""
FILLED = 1e-6
"""By how much a hull may be larger than what it is the hull of, relatively."""
MOST_TRIANGLES = 50_000
"""Of a surface that is looked at."""
MOST_OF_CONVEX = 4096
"""The same of one that may be convex."""


@dataclass(frozen=True)
class Patch:
    """A flat convex polygon."""

    origin: np.ndarray
    """Of its frame, shape (3)."""
    axes: np.ndarray
    """Columns; Z is the normal, shape (3, 3)."""
    corners: np.ndarray
    """x and y in the frame, counter-clockwise, shape (N, 2)."""
    seams: tuple[Seam, ...]
    """Of its edges that have neighbours."""


def flat_patches(points: np.ndarray, triangles: np.ndarray) -> list[Patch] | None:
    """The patches of points (N, 3) and triangles (M, 3); None where there are too many triangles."""
    if len(triangles) > MOST_TRIANGLES:
        return None
    points, triangles = _welded(points, triangles)
    if not len(triangles):
        return []
    neighbours = _neighbours(triangles)
    normals = _normals(points, triangles)
    size = float(np.ptp(points[np.unique(triangles)], axis=0).max())
    faces = _faces(points, triangles, normals, neighbours, size)
    found: list[tuple[list[int], np.ndarray, np.ndarray, np.ndarray]] = []
    owner: dict[int, int] = {}
    for face in faces:
        axes = _axes(normals[face[0]])
        origin = points[triangles[face]].reshape(-1, 3).mean(axis=0)
        if len(face) == 1:
            polygons = [(face, _hull((points[triangles[face[0]]] - origin) @ axes[:, :2]))]
        else:
            polygons = _merged((points - origin) @ axes[:, :2], triangles, face, neighbours)
        for members, corners in polygons:
            owner |= dict.fromkeys(members, len(found))
            found.append((members, origin, axes, corners))
    return [
        Patch(origin, axes, corners, _seams(number, one, owner, points, triangles, normals, neighbours))
        for number, one in enumerate(found)
        for _members, origin, axes, corners in (one,)
    ]


def is_convex(points: np.ndarray, triangles: np.ndarray) -> bool:
    """Whether all of a closed surface is behind the plane of each of its triangles."""
    points, triangles = _welded(points, triangles)
    if not 0 < len(triangles) <= MOST_OF_CONVEX:
        return False
    used = points[np.unique(triangles)]
    heights = _normals(points, triangles) @ used.T
    own = np.einsum("ni,ni->n", _normals(points, triangles), points[triangles[:, 0]])
    return bool((heights - own[:, None]).max() <= PARALLEL * float(np.ptp(used, axis=0).max()))


def _welded(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coincident points get one number; degenerate and repeated triangles are left out."""
    step, welded = welding_distance(points, triangles), weld(points, triangles)
    a, b, c = (points[welded[:, corner]] for corner in range(3))
    longest = np.max([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)], axis=0)
    welded = welded[np.linalg.norm(np.cross(b - a, c - a), axis=1) > step * longest]
    _, kept = np.unique(np.sort(welded, axis=1), axis=0, return_index=True)
    return points, welded[np.sort(kept)]


def _neighbours(triangles: np.ndarray) -> list[list[tuple[int, int, int]]]:
    """Of each triangle those that share an edge with it, as (triangle, corner, corner); those of three are no seam."""
    sharing: dict[tuple[int, int], list[int]] = {}
    for number, (a, b, c) in enumerate(triangles.tolist()):
        for edge in ((a, b), (b, c), (c, a)):
            sharing.setdefault((min(edge), max(edge)), []).append(number)
    found: list[list[tuple[int, int, int]]] = [[] for _ in triangles]
    for edge, own in sharing.items():
        if len(own) == 2:
            found[own[0]].append((own[1], *edge))
            found[own[1]].append((own[0], *edge))
    return found


def _normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    return across / np.linalg.norm(across, axis=1)[:, None]


def _faces(points, triangles, normals, neighbours, size: float) -> list[list[int]]:
    """Triangles that are connected and lie in one plane, as numbers."""
    found, seen = [], np.zeros(len(triangles), bool)
    for seed in range(len(triangles)):
        if seen[seed]:
            continue
        seen[seed] = True
        face, base = [seed], points[triangles[seed, 0]]
        for one in face:
            for other, _, _ in neighbours[one]:
                is_flat = np.linalg.norm(np.cross(normals[seed], normals[other])) < PARALLEL
                heights = np.abs((points[triangles[other]] - base) @ normals[seed])
                if not seen[other] and is_flat and heights.max() <= WELDED * size:
                    seen[other] = True
                    face.append(other)
        found.append(face)
    return found


def _axes(normal: np.ndarray) -> np.ndarray:
    """Axes with Z along a normal."""
    x = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(normal, x), normal])


def _merged(flat: np.ndarray, triangles: np.ndarray, face: list[int], neighbours) -> list[tuple[list[int], np.ndarray]]:
    """The polygons of a face, each as its triangles and its corners."""
    polygons = {one: ([one], _hull(flat[triangles[one]])) for one in face}
    areas = {one: _area(corners) for one, (_, corners) in polygons.items()}
    whole = _hull(flat[np.unique(triangles[face])])
    total = sum(areas.values())
    if abs(_area(whole) - total) <= FILLED * total:
        return [(face, whole)]
    beside = {one: {other for other, _, _ in neighbours[one]} & polygons.keys() for one in face}
    heap: list[tuple[float, int, int, np.ndarray]] = []

    def consider(one: int, other: int) -> None:
        hull = _hull(np.concatenate([polygons[one][1], polygons[other][1]]))
        both = areas[one] + areas[other]
        if abs(_area(hull) - both) <= FILLED * both:
            common = _length(polygons[one][1]) + _length(polygons[other][1]) - _length(hull)
            heapq.heappush(heap, (-round(common / math.sqrt(total), 9), one, other, hull))

    for one in face:
        for other in beside[one]:
            if one < other:
                consider(one, other)
    new = len(triangles)
    while heap:
        _, one, other, hull = heapq.heappop(heap)
        if one in polygons and other in polygons:
            around = (beside.pop(one) | beside.pop(other)) - {one, other}
            polygons[new] = (polygons.pop(one)[0] + polygons.pop(other)[0], hull)
            areas[new], beside[new] = _area(hull), around
            for third in around:
                beside[third] = beside[third] - {one, other} | {new}
                consider(third, new)
            new += 1
    return list(polygons.values())


def _hull(corners: np.ndarray) -> np.ndarray:
    """The corners of the hull of points (N, 2), counter-clockwise, without those on its sides."""
    ordered = corners[np.lexsort(corners.T[::-1])]
    slack = WELDED * float(np.ptp(corners, axis=0).max())
    chains = []
    for way in (ordered, ordered[::-1]):
        chain: list[np.ndarray] = []
        for corner in way:
            while len(chain) > 1 and _is_no_turn(chain[-2], chain[-1], corner, slack):
                chain.pop()
            chain.append(corner)
        chains += chain[:-1]
    return np.array(chains)


def _is_no_turn(a: np.ndarray, b: np.ndarray, c: np.ndarray, slack: float) -> bool:
    """Whether the way from a over b to c does not turn to the left at b."""
    u, v = b - a, c - a
    return float(u[0] * v[1] - u[1] * v[0]) <= slack * math.hypot(*v)


def _area(corners: np.ndarray) -> float:
    x, y = corners.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def _length(corners: np.ndarray) -> float:
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).sum())


def _seams(number: int, one, owner, points, triangles, normals, neighbours) -> tuple[Seam, ...]:
    """Where a patch goes on in others: the way out there, and by which angle the surface bends away from its normal."""
    members, _origin, axes, _corners = one
    found: dict[tuple[float, float], float] = {}
    for triangle in members:
        for other, start, end in neighbours[triangle]:
            if owner[other] == number:
                continue
            along = (points[end] - points[start]) @ axes[:, :2]
            x, y = along[1] / np.linalg.norm(along), -along[0] / np.linalg.norm(along)
            inside = (points[triangles[triangle]].mean(axis=0) - points[start]) @ axes[:, :2]
            sign = -1.0 if x * inside[0] + y * inside[1] > 0.0 else 1.0
            out = axes[:, :2] @ np.array([sign * x, sign * y])
            bend = math.atan2(float(normals[other] @ out), float(normals[other] @ axes[:, 2]))
            way = (round(sign * x, 9), round(sign * y, 9))
            bend = bend if bend > PARALLEL else 0.0
            found[way] = max(found.get(way, 0.0), bend)
    return tuple(Seam(direction=way, bend=bend) for way, bend in sorted(found.items()))
