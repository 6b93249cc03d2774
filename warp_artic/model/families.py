"""The constraint families, as the numbers that kernels branch on, in the order in which a solver visits them.

Later rows have the last word in an iteration: what must hold hardest comes last. The families from JOINT_LIMIT on
are stops; those from ROTATION_LIMIT to CONE_LIMIT are limits of finite rotations, whose rows are linearizations.
"""

from enum import IntEnum

import warp as wp


class Family(IntEnum):
    """What a row stands for."""

    DRIVE = 0
    FRICTION = 1
    VELOCITY_LIMIT = 2
    LINK_SPEED = 3
    LINK_SPIN = 4
    FIXED_TENDON = 5
    FIXED_TENDON_LIMIT = 6
    SPATIAL_TENDON = 7
    SPATIAL_TENDON_LIMIT = 8
    SOFT_LIMIT = 9
    MIMIC = 10
    JOINT_LIMIT = 11
    BOUNCING_LIMIT = 12
    ROTATION_LIMIT = 13
    TWIST_LIMIT = 14
    SWING_LIMIT = 15
    CONE_LIMIT = 16
    CONTACT_FRICTION = 17
    CONTACT = 18


IN_STEPS = frozenset(Family) - {Family.CONTACT_FRICTION, Family.CONTACT}
"""Those that step; rows of contact points are in the dynamics suite only."""

DRIVE = wp.constant(int(Family.DRIVE))
FRICTION = wp.constant(int(Family.FRICTION))
VELOCITY_LIMIT = wp.constant(int(Family.VELOCITY_LIMIT))
LINK_SPEED = wp.constant(int(Family.LINK_SPEED))
LINK_SPIN = wp.constant(int(Family.LINK_SPIN))
FIXED_TENDON = wp.constant(int(Family.FIXED_TENDON))
FIXED_TENDON_LIMIT = wp.constant(int(Family.FIXED_TENDON_LIMIT))
SPATIAL_TENDON = wp.constant(int(Family.SPATIAL_TENDON))
SPATIAL_TENDON_LIMIT = wp.constant(int(Family.SPATIAL_TENDON_LIMIT))
SOFT_LIMIT = wp.constant(int(Family.SOFT_LIMIT))
MIMIC = wp.constant(int(Family.MIMIC))
JOINT_LIMIT = wp.constant(int(Family.JOINT_LIMIT))
BOUNCING_LIMIT = wp.constant(int(Family.BOUNCING_LIMIT))
ROTATION_LIMIT = wp.constant(int(Family.ROTATION_LIMIT))
TWIST_LIMIT = wp.constant(int(Family.TWIST_LIMIT))
SWING_LIMIT = wp.constant(int(Family.SWING_LIMIT))
CONE_LIMIT = wp.constant(int(Family.CONE_LIMIT))
CONTACT_FRICTION = wp.constant(int(Family.CONTACT_FRICTION))
CONTACT = wp.constant(int(Family.CONTACT))
