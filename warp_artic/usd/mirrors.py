"""Joints between what is mirrored and what is not.

A mirrored frame is left-handed, and taken for the reflection at a point, -1, and a rotation R (`placement`): for a
mirror across a plane half a turn about its normal. That half turn, T in the world, is not in the frames of what is not
mirrored. A joint whose frames were one before the mirror has R_0 Q_0 = T_0 P_0 and R_1 Q_1 = T_1 P_0: its frame on
the side that is not mirrored is turned by T_1 T_0^-1, so that the motion is the mirror image.

Where the frames are one without that they were authored so, and stay.
"""

from __future__ import annotations

import numpy as np
from pxr import Usd, UsdGeom

from warp_artic.usd.placement import Placements, decompose

TURNS = (np.eye(3), *(2.0 * np.diag(axis) - np.eye(3) for axis in np.eye(3)))
"""What a reflection may be beside that at a point, along the axes of the space it is in."""
SAME = 1e-6
"""Largest difference of rotations that are one."""


def turn_between(first: Usd.Prim | None, second: Usd.Prim | None, placements: Placements) -> np.ndarray | None:
    """T_1 T_0^-1 of two prims, or None where neither is mirrored, or both alike; the world is None."""
    if not any(prim is not None and is_mirrored(prim, placements) for prim in (first, second)):
        return None
    turn = _turn(second, placements) @ _turn(first, placements).T
    return None if np.abs(turn - np.eye(3)).max() < SAME else turn


def is_mirrored(prim: Usd.Prim, placements: Placements) -> bool:
    """Whether the frame of a prim is left-handed."""
    A = placements.matrix(prim)
    return A is not None and bool(np.linalg.det(A[:3, :3]) < 0.0)


def _turn(prim: Usd.Prim | None, placements: Placements) -> np.ndarray:
    """T of a prim, which is that of the prim at or above it that mirrors."""
    if prim is None or not is_mirrored(prim, placements):
        return np.eye(3)
    while not _resets(prim) and is_mirrored(prim.GetParent(), placements):
        prim = prim.GetParent()
    above = np.eye(3) if _resets(prim) else _rotation(placements.matrix(prim.GetParent()))
    for op in UsdGeom.Xformable(prim).GetOrderedXformOps():
        A = np.array(op.GetOpTransform(placements.attributes.time)).T
        R = _rotation(A)
        if np.linalg.det(A[:3, :3]) < 0.0:
            turn = max(TURNS, key=lambda one: float(np.sum(one * R)))
            return above @ turn @ above.T
        above = above @ R
    return np.eye(3)


def _rotation(A: np.ndarray) -> np.ndarray:
    """R of an affine transform (4, 4)."""
    return decompose(A[None])[0][0].rotation


def _resets(prim: Usd.Prim) -> bool:
    """Whether the transforms above a prim do not act on it."""
    return bool(UsdGeom.Xformable(prim)) and UsdGeom.Xformable(prim).GetResetXformStack()
