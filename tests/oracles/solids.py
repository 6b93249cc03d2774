"""Convex solids by their support functions, in plain NumPy: how far two of them are apart, or least deep in each other.

    separation(n) = n . (x1 - x0) - h0(n) - h1(-n),   h the support function of a solid about its origin,
    signed distance = the greatest separation of all unit vectors n,

which is the distance of solids that are apart, and minus the least depth of solids that overlap.
"""

import numpy as np
from scipy.spatial import ConvexHull

from warp_artic.collision.kinds import Solid


def support_value(kind: Solid, R: np.ndarray, size: np.ndarray, hull: np.ndarray, n: np.ndarray) -> np.ndarray:
    """h(n) of solids [m]: R of shape (..., 3, 3), size (..., 3) and n (..., 3) go together."""
    local = np.einsum("...ij,...i->...j", R, n)
    aside = np.hypot(local[..., 0], local[..., 1])
    radius, half = size[..., 0], size[..., 1]
    if kind == Solid.PLANE:
        return np.where(local[..., 2] > 1 - 1e-6, 0.0, np.inf)
    if kind == Solid.SPHERE:
        return radius * np.linalg.norm(n, axis=-1)
    if kind == Solid.CAPSULE:
        return radius * np.linalg.norm(n, axis=-1) + half * abs(local[..., 2])
    if kind == Solid.CYLINDER:
        return radius * aside + half * abs(local[..., 2])
    if kind == Solid.BOX:
        return np.einsum("...i,...i->...", abs(local), size)
    if kind == Solid.CONE:
        return np.maximum(half * local[..., 2], radius * aside - half * local[..., 2])
    if kind == Solid.ELLIPSOID:
        return np.linalg.norm(local * size, axis=-1)
    return np.max(local @ hull.T, axis=-1)


def separation(pairs, n: np.ndarray) -> np.ndarray:
    """The separation of pairs along n, of shape (..., count, 3) [m]."""
    apart = np.einsum("...i,...i->...", n, pairs.x1 - pairs.x0)
    apart = apart - support_value(pairs.kind0, pairs.R0, pairs.size0, pairs.hull0, n)
    return apart - support_value(pairs.kind1, pairs.R1, pairs.size1, pairs.hull1, -n)


def signed_distance(pairs, seed: int = 0, starts: int = 200, kept: int = 3) -> np.ndarray:
    """The greatest separation that a search finds, from below: of directions at random, the best ones improved."""
    rng = np.random.default_rng(seed)
    count = len(pairs.x0)
    frames = np.concatenate([pairs.R0.transpose(2, 0, 1), pairs.R1.transpose(2, 0, 1)])
    crosses = np.cross(frames[:3, None], frames[None, 3:]).reshape(9, count, 3) + 1e-12
    random = rng.normal(size=(starts, count, 3))
    n = np.concatenate([random, frames, -frames, crosses, -crosses, (pairs.x1 - pairs.x0)[None] + 1e-12])
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    found = separation(pairs, n)
    best = np.argsort(-found, axis=0)[:kept]
    n = np.take_along_axis(n, best[:, :, None], axis=0)
    found = np.take_along_axis(found, best, axis=0)
    step = np.full(found.shape, 0.3)
    for _ in range(120):
        trial = n + rng.normal(size=n.shape) * step[..., None]
        trial /= np.linalg.norm(trial, axis=-1, keepdims=True)
        value = separation(pairs, trial)
        better = value > found
        n = np.where(better[..., None], trial, n)
        found = np.where(better, value, found)
        step *= np.where(better, 1.4, 0.9)
    return found.max(axis=0)


def outside(kind: Solid, x: np.ndarray, R: np.ndarray, size: np.ndarray, hull: np.ndarray, p: np.ndarray) -> np.ndarray:
    """How far points are beyond a face of a solid [m], zero in it: at most their distance from it."""
    local = np.einsum("...ij,...i->...j", R, p - x)
    aside = np.hypot(local[..., 0], local[..., 1])
    radius, half = size[..., 0], size[..., 1]
    z = local[..., 2]
    if kind == Solid.PLANE:
        beyond = z
    elif kind == Solid.SPHERE:
        beyond = np.linalg.norm(local, axis=-1) - radius
    elif kind == Solid.CAPSULE:
        beyond = np.hypot(aside, np.maximum(abs(z) - half, 0)) - radius
    elif kind == Solid.CYLINDER:
        beyond = np.maximum(aside - radius, abs(z) - half)
    elif kind == Solid.BOX:
        beyond = np.max(abs(local) - size, axis=-1)
    elif kind == Solid.CONE:
        beyond = np.maximum(-half - z, (2 * half * (aside - radius) + radius * (z + half)) / np.hypot(2 * half, radius))
    elif kind == Solid.ELLIPSOID:
        beyond = (np.linalg.norm(local / size, axis=-1) - 1.0) * np.min(size, axis=-1)
    else:
        beyond = np.max(local @ faces(hull)[:, :3].T + faces(hull)[:, 3], axis=-1)
    return np.maximum(beyond, 0)


def faces(hull: np.ndarray) -> np.ndarray:
    """The faces of a hull: outward normals, and minus their distances from the origin."""

    return ConvexHull(hull).equations
