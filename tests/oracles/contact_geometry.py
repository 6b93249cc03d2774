"""Where spheres, boxes and the ground z <= 0 touch, in plain NumPy: points, normals and gaps of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from tests.oracles.rotations import cross


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A shape at a place in the world: a box, or a sphere where `radius` is not zero."""

    position: np.ndarray
    rotation: np.ndarray
    """Axes of the shape as columns, shape (3, 3)."""
    half_extents: np.ndarray
    """Of a box, shape (3)."""
    radius: float = 0.0

    @property
    def corners(self) -> np.ndarray:
        """Of a box in the world, shape (8, 3)."""
        signs = np.array(list(product((-1.0, 1.0), repeat=3)))
        return self.position + (signs * self.half_extents) @ self.rotation.T


@dataclass(frozen=True, kw_only=True)
class Point:
    """Where two shapes touch: the normal leaves the first and points to the second."""

    point: np.ndarray
    normal: np.ndarray
    gap: float
    """Distance along the normal; below zero the shapes are in each other [m]."""


def on_ground(shape: Placed) -> list[Point]:
    """Points of a shape above the ground: the lowest of a sphere, the corners of a box."""
    up = np.array([0.0, 0.0, 1.0])
    lowest = [shape.position - shape.radius * up] if shape.radius else list(shape.corners)
    return [Point(point=point, normal=up, gap=float(point[2])) for point in lowest]


def between(first: Placed, second: Placed) -> list[Point]:
    """Points of two shapes."""
    if first.radius and second.radius:
        return [apart(first.position, first.radius, second.position, second.radius)]
    if first.radius:
        return [flipped(point) for point in between(second, first)]
    if second.radius:
        return [sphere_on_box(first, second)]
    return boxes(first, second)


def flipped(found: Point) -> Point:
    """The point with the first and the second shape exchanged."""
    return Point(point=found.point, normal=-found.normal, gap=found.gap)


def apart(start: np.ndarray, first_radius: float, end: np.ndarray, second_radius: float) -> Point:
    """Between two balls."""
    length = float(np.linalg.norm(end - start))
    normal = (end - start) / length
    gap = length - first_radius - second_radius
    return Point(point=start + (first_radius + 0.5 * gap) * normal, normal=normal, gap=gap)


def sphere_on_box(box: Placed, sphere: Placed) -> Point:
    """The nearest point of a box to a sphere; from within, by the nearest face."""
    local = box.rotation.T @ (sphere.position - box.position)
    inside = np.abs(local) <= box.half_extents
    if not inside.all():
        return apart(
            box.position + box.rotation @ np.clip(local, -box.half_extents, box.half_extents),
            0.0,
            sphere.position,
            sphere.radius,
        )
    axis = (np.abs(local) - box.half_extents).argmax()
    normal = np.sign(local[axis]) * box.rotation[:, axis]
    depth = abs(local[axis]) - box.half_extents[axis]
    return Point(point=sphere.position - depth * normal, normal=normal, gap=float(depth - sphere.radius))


def boxes(first: Placed, second: Placed) -> list[Point]:
    """Of two boxes: the axis of least overlap among six face normals and nine products of edges tells where they touch.

    An edge has to be clearly better than a face, so that what lies flat has its whole face.
    """
    between_centres = second.position - first.position

    def separation(axis: np.ndarray) -> float:
        reach = sum(np.abs(axis @ box.rotation) @ box.half_extents for box in (first, second))
        return abs(axis @ between_centres) - reach

    faces = [*first.rotation.T, *second.rotation.T]
    values = [separation(axis) for axis in faces]
    best = max(range(6), key=lambda k: values[k] + 1e-6 * (k < 3))
    crossed = [(i, j, cross(first.rotation[:, i], second.rotation[:, j])) for i, j in product(range(3), repeat=2)]
    edges = [(i, j, axis / np.linalg.norm(axis)) for i, j, axis in crossed if np.linalg.norm(axis) > 1e-3]
    if edges:
        i, j, axis = max(edges, key=lambda edge: separation(edge[2]))
        if separation(axis) > values[best] + 1e-3 * min(first.half_extents.min(), second.half_extents.min()):
            return [edges_crossed(first, second, i, j, axis if axis @ between_centres > 0.0 else -axis)]
    if best < 3:
        return face_on_face(first, second, best)
    return [flipped(point) for point in face_on_face(second, first, best - 3)]


def edges_crossed(first: Placed, second: Placed, i: int, j: int, normal: np.ndarray) -> Point:
    """Where the edges along axis i of the first and j of the second box, farthest to each other, are nearest."""
    start, along = edge(first, i, normal)
    end, beside = edge(second, j, -normal)
    across = np.stack([along, -beside], axis=1)
    s, t = np.linalg.lstsq(across, end - start, rcond=None)[0]
    p, q = start + s * along, end + t * beside
    return Point(point=0.5 * (p + q), normal=normal, gap=float((q - p) @ normal))


def edge(box: Placed, axis: int, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middle and direction of the edge along an axis that is farthest in a direction."""
    local = np.sign(box.rotation.T @ direction) * box.half_extents
    local[axis] = 0.0
    return box.position + box.rotation @ local, box.rotation[:, axis]


def face_on_face(reference: Placed, other: Placed, axis: int) -> list[Point]:
    """The face of the other box that looks most against a face of the reference, cut to its sides."""
    side = np.sign(reference.rotation[:, axis] @ (other.position - reference.position))
    normal = side * reference.rotation[:, axis]
    facing = np.abs(other.rotation.T @ normal).argmax()
    outward = -np.sign(other.rotation[:, facing] @ normal)
    u, v = (facing + 1) % 3, (facing + 2) % 3
    polygon = []
    for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        local = np.zeros(3)
        local[[facing, u, v]] = outward, a, b
        polygon.append(
            reference.rotation.T @ (other.position - reference.position + other.rotation @ (local * other.half_extents))
        )
    for k in ((axis + 1) % 3, (axis + 2) % 3):
        for sign in (-1.0, 1.0):
            polygon = cut(polygon, k, sign, reference.half_extents[k])
    found = []
    for local in polygon:
        gap = side * local[axis] - reference.half_extents[axis]
        point = reference.position + reference.rotation @ local - 0.5 * gap * normal
        found.append(Point(point=point, normal=normal, gap=float(gap)))
    return found


def cut(polygon: list[np.ndarray], axis: int, sign: float, most: float) -> list[np.ndarray]:
    """The part of a convex polygon with sign x[axis] <= most, to a billionth of it."""
    most = most * (1.0 + 1e-9)
    kept = []
    for start, end in zip(polygon, polygon[1:] + polygon[:1]):
        before, after = sign * start[axis] - most, sign * end[axis] - most
        if before <= 0.0:
            kept.append(start)
        if before * after < 0.0:
            kept.append(start + before / (before - after) * (end - start))
    return kept
