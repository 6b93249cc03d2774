"""Matrices of transforms for row vectors, as USD has them: their scales, rotations and quaternions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pxr import Usd, UsdGeom

from warp_artic.usd.time_samples import continuous


def world_matrices(scale: np.ndarray, rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """W = S R T (F, 4, 4) of scales (F or 1, 3), row-vector rotations (F, 3, 3) and positions (F, 3)."""
    W = np.zeros((len(positions), 4, 4))
    W[:, :3, :3] = scale[:, :, None] * rotations
    W[:, 3, :3] = positions
    W[:, 3, 3] = 1.0
    return W


def scale_and_rotation(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S (F, 3) and R (F, 3, 3) of matrices S R T; a mirrored one has a negative scale in all three.

    Where a scale is zero the row of R is zero.
    """
    A = W[:, :3, :3]
    scale = np.linalg.norm(A, axis=2) * np.where(np.linalg.det(A) < 0.0, -1.0, 1.0)[:, None]
    return scale, A / np.where(scale == 0.0, 1.0, scale)[:, :, None]


def world_scales(prims: Sequence[Usd.Prim], cache: UsdGeom.XformCache) -> np.ndarray:
    """S (F, 3) of the world matrices of prims."""
    authored = np.array([cache.GetLocalToWorldTransform(prim) for prim in prims]).reshape(-1, 4, 4)
    return scale_and_rotation(authored)[0]


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Row-vector rotation matrices (F, 3, 3) of unit quaternions xyzw (F, 4)."""
    x, y, z, w = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
        [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
        [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def quaternions_from(R: np.ndarray) -> np.ndarray:
    """Continuous unit quaternions xyzw (F, 4) of row-vector rotation matrices (F, 3, 3); Shepperd's choice."""
    m = R.transpose(0, 2, 1)
    trace = np.trace(m, axis1=1, axis2=2)
    squares = np.concatenate([np.diagonal(m, axis1=1, axis2=2), trace[:, None]], axis=1)
    skew = np.stack([m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]], axis=1)
    # Row `largest` of the symmetric matrix 4 q q^T is a multiple of q.
    outer = np.empty((len(R), 4, 4))
    outer[:, :3, :3] = m + m.transpose(0, 2, 1)
    outer[:, (0, 1, 2), (0, 1, 2)] = 1.0 + 2.0 * squares[:, :3] - trace[:, None]
    outer[:, :3, 3] = outer[:, 3, :3] = skew
    outer[:, 3, 3] = 1.0 + trace
    return continuous(outer[np.arange(len(R)), np.argmax(squares, axis=1)])
