"""The joint types, as the numbers that kernels branch on."""

from enum import IntEnum

import warp as wp


class JointKind(IntEnum):
    """How a link moves in its parent."""

    FIXED = 0
    REVOLUTE = 1
    PRISMATIC = 2
    SWING = 3
    """Both swings; a twist with one swing is two revolute joints, see `description.massless_links`."""
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


class LoopCoordinate(IntEnum):
    """What a limit or a drive of a loop joint acts on."""

    TRANSLATION = 0
    """Along one axis of frame 0."""
    DISTANCE = 1
    """Between the origins, along the free translations."""
    RANGE = 2
    """How far that is beyond its ends."""
    TWIST = 3
    SWING = 4
    """One component of it."""
    CONE = 5
    """How far the swing is beyond one."""
    CONE_ANGLE = 6
    """The same as an angle in the direction of the swing."""


class LoopTurn(IntEnum):
    """The law of a drive of a loop joint."""

    NONE = 0
    """That of one coordinate."""
    POTENTIAL = 1
    """Of three rotations, as in a joint of a tree."""
    SWING_POTENTIAL = 2
    """Of both swings, likewise."""
    SLERP = 3


LOOP_TRANSLATION = wp.constant(int(LoopCoordinate.TRANSLATION))
LOOP_TWIST = wp.constant(int(LoopCoordinate.TWIST))
LOOP_SWING = wp.constant(int(LoopCoordinate.SWING))
LOOP_CONE = wp.constant(int(LoopCoordinate.CONE))
LOOP_CONE_ANGLE = wp.constant(int(LoopCoordinate.CONE_ANGLE))
LOOP_RANGE = wp.constant(int(LoopCoordinate.RANGE))
TURN_NONE = wp.constant(int(LoopTurn.NONE))
TURN_POTENTIAL = wp.constant(int(LoopTurn.POTENTIAL))
TURN_SLERP = wp.constant(int(LoopTurn.SLERP))
LOOP_ZERO_TWIST = wp.constant(int(LoopRotation.ZERO_TWIST))
LOOP_UNIVERSAL = wp.constant(int(LoopRotation.UNIVERSAL))
LOOP_AXIS = wp.constant(int(LoopRotation.AXIS))
LOOP_LOCKED = wp.constant(int(LoopRotation.LOCKED))
