"""The state of one articulation, in public coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class State:
    """Positions and velocities; dofs in the order of `articulation.joints`, D of them."""

    joint_position: np.ndarray
    """[m or rad], shape (D); of a joint with several dofs the components of the rotation vector."""
    joint_velocity: np.ndarray
    """[m/s or rad/s], shape (D); of a joint with several dofs the components in the child-side joint frame."""
    root_pose: np.ndarray | None = None
    """World pose of the root link frame, xyz [m] then quaternion xyzw, shape (7); None on a fixed base."""
    root_velocity: np.ndarray | None = None
    """Linear velocity of the root's centre of mass [m/s], then angular [rad/s], world axes, shape (6)."""
