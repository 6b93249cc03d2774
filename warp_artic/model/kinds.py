"""The joint types, as the numbers that kernels branch on."""

from enum import IntEnum

import warp as wp


class JointKind(IntEnum):
    """How a link moves in its parent."""

    FIXED = 0
    REVOLUTE = 1
    PRISMATIC = 2
    SWING = 3
    """Both swings; a twist with one swing is two revolute joints, see `description.carriages`."""
    SPHERICAL = 4
    FLOATING = 5


FIXED = wp.constant(int(JointKind.FIXED))
REVOLUTE = wp.constant(int(JointKind.REVOLUTE))
PRISMATIC = wp.constant(int(JointKind.PRISMATIC))
SWING = wp.constant(int(JointKind.SWING))
SPHERICAL = wp.constant(int(JointKind.SPHERICAL))
FLOATING = wp.constant(int(JointKind.FLOATING))
