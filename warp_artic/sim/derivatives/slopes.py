"""Slopes of a loss by the numbers of positions and poses, and by motions.

Where positions change with motions by T (`coordinates`), slopes of both are related by its transpose:
    slope_m = T^T slope_q,   slope_q = T^-T slope_m.
Those by a pose are by all four numbers of its quaternion, whose length does not count.
"""

from __future__ import annotations

import numpy as np

from warp_artic.sim.derivatives.coordinates import as_motions, as_positions, transposed
from warp_artic.sim.derivatives.quantities import layouts
from warp_artic.sim.run.state import Run


def by_motions(run: Run, name: str, values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Slopes by motions, of those by the numbers of one of MOTION.

    Args:
        run: The run.
        name: Of the array.
        values: Of the array, shape (T, E, rows) or (T, E, R, 6), or (T, E, R, 7) of poses.
        slopes: Of the same shape.

    Returns:
        Of the same shape, with six numbers of each pose.
    """
    if name == "root_pose":
        found = np.zeros((*slopes.shape[:3], 6))
        for layout in layouts(run, name):
            roots = layout.rows[::7] // 7
            T = layout.roots.matrices(layout.group, layout.columns, _poses(values[:, :, roots]))
            found[:, :, roots] = _back(as_positions(transposed(T), _columns(slopes[:, :, roots])), found)
        return found
    found = slopes.copy()
    for rows, T in _turns(run, name, values):
        found[..., rows] = _back(as_positions(transposed(T), _columns(slopes[..., rows])), found)
    return found


def by_numbers(run: Run, name: str, values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Slopes by the numbers of one of MOTION, of those by motions; shapes are those of `by_motions`."""
    if name == "root_pose":
        found = np.zeros((*slopes.shape[:3], 7))
        for layout in layouts(run, name):
            roots = layout.rows[::7] // 7
            inverse = layout.roots.inverses(layout.group, layout.columns, _poses(values[:, :, roots]))
            found[:, :, roots] = _back(as_positions(transposed(inverse), _columns(slopes[:, :, roots])), found)
        found[..., 3:] /= np.linalg.norm(values[..., 3:], axis=-1, keepdims=True)
        return found
    found = slopes.copy()
    for rows, T in _turns(run, name, values):
        found[..., rows] = _back(as_motions(transposed(T), _columns(slopes[..., rows])), found)
    return found


def _turns(run: Run, name: str, values: np.ndarray):
    """Rows (joints, rotations) of an array that are positions of joints with several rotations, and their T."""
    for layout in layouts(run, name) if name == "joint_position" else ():
        for joints in layout.joints:
            rows = layout.rows[np.searchsorted(layout.own, joints.rows)]
            yield rows, joints.matrices(layout.group, _columns(values[..., rows])[..., 0])


def _poses(values: np.ndarray) -> np.ndarray:
    """Poses (T, E, roots, 7) as (roots, 7, T E), with quaternions of length one."""
    found = _columns(values)[..., 0].copy()
    found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
    return found


def _columns(values: np.ndarray) -> np.ndarray:
    """Of shape (T, E, joints, n) as (joints, n, T E, 1)."""
    records, environments, *shape = values.shape
    return values.reshape(records * environments, *shape).transpose(1, 2, 0)[..., None]


def _back(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Of shape (joints, n, T E, 1) as (T, E, joints, n)."""
    return values[..., 0].transpose(2, 0, 1).reshape(*like.shape[:2], *values.shape[:2])
