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


class LoopRotation(IntEnum):
    """Which rotations a loop joint leaves free."""

    FREE = 0
    """All three."""
    ZERO_TWIST = 1
    """Both swings: the twist is held."""
    UNIVERSAL = 2
    """The twist and one swing: the twist axis of the second frame stays orthogonal to the swing axis of the first."""
    AXIS = 3
    """One rotation: that axis of the second frame stays parallel to that of the first."""
    LOCKED = 4
    """None."""


LOOP_ZERO_TWIST = wp.constant(int(LoopRotation.ZERO_TWIST))
LOOP_UNIVERSAL = wp.constant(int(LoopRotation.UNIVERSAL))
LOOP_AXIS = wp.constant(int(LoopRotation.AXIS))
LOOP_LOCKED = wp.constant(int(LoopRotation.LOCKED))
