"""The moving frames M of links, in whose axes kernels compute, and where authored frames and points are in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.mechanism import Mechanism, root_pose

ORIGIN_GRID = 100.0
"""Origins are multiples of this [m]: near the world origin the positions of a group are simply world positions."""

_AXES = np.eye(3)


def frame_turn(joint: Joint) -> tuple[int, bool]:
    """How the moving frame M of the kernels is turned from the authored joint frame.

    Returns the authored axis that becomes x, cyclically followed by y and z, and whether the frame is then turned by
    half a turn about x. A single axis becomes z, turned round when the joint is reversed. Of two swings the axis of the
    locked twist becomes z. Of three rotations the twist axis becomes x.
    """
    if len(joint.dofs) == 1:
        return (joint.dofs[0].axis.index + 1) % 3, joint.reversed
    if len(joint.dofs) == 2:
        locked = 3 - sum(dof.axis.index for dof in joint.dofs)
        return (locked + 1) % 3, False
    if len(joint.dofs) == 3:
        return joint.cone_axis.index, False
    return 0, False


def moving_frame_rotation(joint: Joint | None) -> np.ndarray:
    """Rotation (3, 3) from the moving frame M of the kernels to the authored child-side joint frame."""
    if joint is None:
        return _AXES
    return _turned(*frame_turn(joint))


@cache
def _turned(turn: int, half_turn: bool) -> np.ndarray:
    rotation = np.column_stack([_AXES[turn], _AXES[(turn + 1) % 3], _AXES[(turn + 2) % 3]])
    return rotation @ np.diag([1.0, -1.0, -1.0]) if half_turn else rotation


def link_to_moving(joint: Joint | None, link) -> tuple[np.ndarray, np.ndarray]:
    """R_LM and p_LM; the moving frame of a floating root is at its centre of mass."""
    if joint is None:
        return _AXES, np.asarray(link.center_of_mass, float)
    return joint.child_frame.rotation @ moving_frame_rotation(joint), np.asarray(joint.child_frame.position)


def in_moving_frame(articulation: Articulation, points: Sequence[tuple[int, Sequence[float]]]) -> list[np.ndarray]:
    """Points of links, each given with its link in the link frame [m], in the moving frames of the links.

    Those of the world are given there, and found about the origin of the mechanism.
    """
    placed = [link_to_moving(joint, link) for link, joint in zip(articulation.links, articulation.inbound)]
    found = []
    for link, point in points:
        R_LM, p_LM = (_AXES, origin_of(articulation)) if link == WORLD else placed[link]
        found.append(R_LM.T @ (np.asarray(point) - p_LM))
    return found


def origin_of(mechanism: Articulation | Mechanism) -> np.ndarray:
    """Where positions of a mechanism are measured from: the point of a coarse grid next to its first root."""
    root = root_pose(mechanism.articulations[0])
    return np.round(np.asarray(root.position) / ORIGIN_GRID) * ORIGIN_GRID
