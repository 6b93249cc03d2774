"""Volume and moments of solid shapes: V, F = integral of x, S = integral of x x^T over the volume.

Under x' = A x + b they become

    V' = |det A| V    F' = |det A| (A F + V b)    S' = |det A| (A S A^T + A F b^T + b F^T A^T + V b b^T)

so a shape is measured in its own axes, and any scale or shear above it is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from warp_artic.usd.weld import weld

GAUSS = np.polynomial.legendre.leggauss(4)
"""Nodes and weights, exact up to degree 7."""


@dataclass(frozen=True)
class Solid:
    """The moments of a solid of density one."""

    volume: float
    first: np.ndarray
    """Shape (3)."""
    second: np.ndarray
    """Shape (3, 3)."""

    def __add__(self, other: Solid) -> Solid:
        return Solid(self.volume + other.volume, self.first + other.first, self.second + other.second)

    def transformed(self, X: np.ndarray) -> Solid:
        """The solid after an affine transform (4, 4) for column vectors."""
        A, b = X[:3, :3], X[:3, 3]
        J = abs(np.linalg.det(A))
        F = A @ self.first
        S = A @ self.second @ A.T + np.outer(F, b) + np.outer(b, F) + self.volume * np.outer(b, b)
        return Solid(J * self.volume, J * (F + self.volume * b), J * S)

    def along(self, axis: str) -> Solid:
        """A solid whose axis is z, turned so that its axis is X, Y or Z."""
        X = np.eye(4)
        X[:3, :3] = np.roll(np.eye(3), "XYZ".index(axis) - 2, axis=0)
        return self.transformed(X)

    @cached_property
    def center(self) -> np.ndarray:
        """Centre of mass, shape (3)."""
        return self.first / self.volume

    @cached_property
    def gyration(self) -> np.ndarray:
        """Inertia about the centre of mass for a mass of one, shape (3, 3)."""
        C = self.second / self.volume - np.outer(self.center, self.center)
        return np.trace(C) * np.eye(3) - C


def box(width: float, depth: float, height: float) -> Solid:
    """A box centred at the origin."""
    sides = np.array([width, depth, height])
    volume = float(np.prod(sides))
    return Solid(volume, np.zeros(3), volume * np.diag(sides**2) / 12.0)


def sphere(radius: float) -> Solid:
    """A ball centred at the origin."""
    volume = 4.0 / 3.0 * np.pi * radius**3
    return Solid(volume, np.zeros(3), volume * radius**2 / 5.0 * np.eye(3))


def frustum(bottom: float, top: float, height: float) -> Solid:
    """A cylinder or cone with two radii along z, its middle at the origin."""
    nodes, weights = GAUSS
    z, w = 0.5 * height * nodes, 0.5 * height * weights
    r = bottom + (top - bottom) * (0.5 + 0.5 * nodes)
    area, ring = np.pi * r**2, np.pi * r**4 / 4.0
    second = np.diag([w @ ring, w @ ring, w @ (area * z**2)])
    return Solid(float(w @ area), np.array([0.0, 0.0, w @ (area * z)]), second)


def dome(radius: float, z: float, direction: float) -> Solid:
    """Half a ball on the plane at z, bulging along z where direction is 1, against it where it is -1."""
    volume = 2.0 / 3.0 * np.pi * radius**3
    half = Solid(
        volume,
        np.array([0.0, 0.0, direction * volume * 3.0 / 8.0 * radius]),
        volume * radius**2 / 5.0 * np.eye(3),
    )
    X = np.eye(4)
    X[2, 3] = z
    return half.transformed(X)


def capsule(bottom: float, top: float, height: float) -> Solid:
    """A frustum along z with a dome on either end."""
    return frustum(bottom, top, height) + dome(top, 0.5 * height, 1.0) + dome(bottom, -0.5 * height, -1.0)


def mesh(points: np.ndarray, triangles: np.ndarray) -> Solid:
    """The inside of a closed surface: points (N, 3), triangles (M, 3) wound alike, either way round.

    The sum over tetrahedra from the middle of the points to each triangle.
    """
    middle = points.mean(axis=0)
    a, b, c = (points[triangles[:, corner]] - middle for corner in range(3))
    volumes = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6.0
    total = a + b + c
    first = np.einsum("n,ni->i", volumes, total) / 4.0
    second = sum(np.einsum("n,ni,nj->ij", volumes, side, side) for side in (a, b, c, total)) / 20.0
    sign = 1.0 if volumes.sum() >= 0.0 else -1.0
    X = np.eye(4)
    X[:3, 3] = middle
    return Solid(sign * float(volumes.sum()), sign * first, sign * second).transformed(X)


def is_closed(points: np.ndarray, triangles: np.ndarray) -> bool:
    """Whether each edge of points (N, 3) and triangles (M, 3) is used equally often in both directions.

    Coincident points count as one.
    """
    return _is_closed(triangles) or _is_closed(weld(points, triangles))


def _is_closed(triangles: np.ndarray) -> bool:
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    low, high = edges.min(axis=1), edges.max(axis=1)
    ways = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    _, group = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    return not np.bincount(group.reshape(-1), weights=ways).any()
