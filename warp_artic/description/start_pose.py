"""Where the links of an articulation are at the start: the authored joint positions, put on the root."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector


def start_poses(articulation: Articulation, root: Pose | None = None) -> tuple[Pose, ...]:
    """World poses of all links, with the root link as it starts, or at another pose."""
    inbound = articulation.inbound
    poses: dict[int, Pose] = {}

    def place(link: int) -> Pose:
        if link not in poses:
            joint = inbound[link]
            if root is not None and (joint is None or joint.parent == WORLD):
                poses[link] = root
            elif joint is None:
                poses[link] = articulation.links[link].pose
            else:
                parent = Pose() if joint.parent == WORLD else place(joint.parent)
                poses[link] = parent @ joint.parent_frame @ displacement(joint) @ joint.child_frame.inverse()
        return poses[link]

    return tuple(place(link) for link in range(len(inbound)))


def displacement(joint: Joint, positions: Sequence[float] | None = None) -> Pose:
    """X_FM at the start, or at positions of the dofs, from the parent-side to the child-side frame."""
    if positions is None:
        positions = [dof.position for dof in joint.dofs]
    shift, turn, twist = np.zeros((3, 3))
    for dof, position in zip(joint.dofs, positions):
        is_inner = joint.is_universal and dof.axis is joint.cone_axis
        part = shift if dof.axis.is_linear else twist if is_inner else turn
        part[dof.axis.index] = position
    X_01 = Pose(tuple(shift), quaternion_from_rotation_vector(turn))
    if joint.is_universal:
        X_01 = X_01 @ Pose(quaternion=quaternion_from_rotation_vector(twist))
    return X_01.inverse() if joint.reversed else X_01
