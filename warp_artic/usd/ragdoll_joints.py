"""The joints of a ragdoll: their frames from bind transforms, and how far a clip turns them.

Of a joint between links P and C, with rotations R for column vectors and B the bind pose,

    R_PC at bind = R_PB^T R_CB,    R_CM has the axis of the limb for its x,    R_PF = (R_PC at bind) R_CM,

so R_FM = R_PF^T R_PC R_CM is none at bind, and x is the twist axis. It is a twist by t about x, then a swing without
twist, R_FM = exp(0, s_y, s_z) Rx(t), as limits of joints with three rotations have it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warp_artic.description.limited_positions import twist_and_swing
from warp_artic.description.pose import quaternion_from_matrix
from warp_artic.usd.ragdoll_plan import Plan, PlannedLink, link_frames
from warp_artic.usd.skeleton import Skeleton


@dataclass(frozen=True)
class JointFrames:
    """Where a joint is on its links."""

    R_PF: np.ndarray
    """Rotation of the joint frame in the parent link (3, 3)."""
    p_PF: np.ndarray
    """Origin of the joint in the parent link (3), in units of the skeleton."""
    R_CM: np.ndarray
    """Rotation of the joint frame in the child link (3, 3)."""


def joint_frames(skeleton: Skeleton, parent: PlannedLink, child: PlannedLink, J: np.ndarray) -> JointFrames:
    """The frames of a joint from the bind transforms, in units that the parent has in joint matrices J."""
    B = skeleton.bind
    (R_WP, _), (R_WC, _) = (link_frames(B[link.joint]) for link in (parent, child))
    R_CM = frame_along(child.axis)
    rotation, origin = link_frames(J[parent.joint])
    p_W = B[child.joint][3] @ np.linalg.inv(B[parent.joint]) @ J[parent.joint]
    return JointFrames(R_WP.T @ R_WC @ R_CM, (p_W[:3] - origin) @ rotation, R_CM)


def frame_along(axis: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) whose first column is an axis."""
    other = np.eye(3)[np.argmin(np.abs(axis))]
    y = np.cross(axis, other)
    y /= np.linalg.norm(y)
    return np.stack([axis, y, np.cross(axis, y)], axis=1)


def relative_rotation(frames: JointFrames, R_WP: np.ndarray, R_WC: np.ndarray) -> np.ndarray:
    """R_FM (3, 3) of rotations of the links."""
    return frames.R_PF.T @ R_WP.T @ R_WC @ frames.R_CM


def ranges_of(
    skeleton: Skeleton, plan: Plan, frames: list[JointFrames | None], codes: list[float]
) -> list[np.ndarray | None]:
    """Least and largest t, s_y and s_z [rad] of each joint at time codes, shape (2, 3); None of the root."""
    found: list[list[np.ndarray]] = [[] for _ in plan.links]
    for code in codes:
        R, _ = link_frames(skeleton.joint_matrices(code))
        for link, own, rows in zip(plan.links, frames, found):
            if own is not None:
                R_FM = relative_rotation(own, R[plan.links[link.parent].joint], R[link.joint])
                rows.append(twist_and_swing(quaternion_from_matrix(R_FM)))
    return [np.array([np.min(rows, axis=0), np.max(rows, axis=0)]) if rows else None for rows in found]
