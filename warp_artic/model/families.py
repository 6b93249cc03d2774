"""The constraint families, as the numbers that kernels branch on, in the order in which a solver visits them.

Later rows have the last word in an iteration: what must hold hardest comes last. The families from JOINT_LIMIT on
are stops; those from ROTATION_LIMIT to CONE_LIMIT are limits of finite rotations, whose rows are linearizations. The
soft ones from SOFT_ROTATION_LIMIT to SOFT_CONE_LIMIT are in the same order.
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
    TREE_SPEED = 5
    TREE_SPIN = 6
    FIXED_TENDON = 7
    FIXED_TENDON_LIMIT = 8
    SPATIAL_TENDON = 9
    SPATIAL_TENDON_LIMIT = 10
    SOFT_LIMIT = 11
    SOFT_ROTATION_LIMIT = 12
    SOFT_TWIST_LIMIT = 13
    SOFT_SWING_LIMIT = 14
    SOFT_CONE_LIMIT = 15
    MIMIC = 16
    JOINT_LIMIT = 17
    BOUNCING_LIMIT = 18
    ROTATION_LIMIT = 19
    TWIST_LIMIT = 20
    SWING_LIMIT = 21
    CONE_LIMIT = 22
    CONTACT_FRICTION = 23
    CONTACT = 24


IN_STEPS = frozenset(Family) - {Family.CONTACT_FRICTION, Family.CONTACT}
"""Those that step; rows of contact points are in the dynamics suite only."""

SPEED_LIMITS = (Family.LINK_SPEED, Family.LINK_SPIN, Family.TREE_SPEED, Family.TREE_SPIN)
"""Those that bound the length of a vector, with three rows for each bound, one after the other."""

DRIVE = wp.constant(int(Family.DRIVE))
FRICTION = wp.constant(int(Family.FRICTION))
VELOCITY_LIMIT = wp.constant(int(Family.VELOCITY_LIMIT))
LINK_SPEED = wp.constant(int(Family.LINK_SPEED))
LINK_SPIN = wp.constant(int(Family.LINK_SPIN))
TREE_SPEED = wp.constant(int(Family.TREE_SPEED))
TREE_SPIN = wp.constant(int(Family.TREE_SPIN))
FIXED_TENDON = wp.constant(int(Family.FIXED_TENDON))
FIXED_TENDON_LIMIT = wp.constant(int(Family.FIXED_TENDON_LIMIT))
SPATIAL_TENDON = wp.constant(int(Family.SPATIAL_TENDON))
SPATIAL_TENDON_LIMIT = wp.constant(int(Family.SPATIAL_TENDON_LIMIT))
SOFT_LIMIT = wp.constant(int(Family.SOFT_LIMIT))
SOFT_ROTATION_LIMIT = wp.constant(int(Family.SOFT_ROTATION_LIMIT))
SOFT_TWIST_LIMIT = wp.constant(int(Family.SOFT_TWIST_LIMIT))
SOFT_SWING_LIMIT = wp.constant(int(Family.SOFT_SWING_LIMIT))
SOFT_CONE_LIMIT = wp.constant(int(Family.SOFT_CONE_LIMIT))
MIMIC = wp.constant(int(Family.MIMIC))
JOINT_LIMIT = wp.constant(int(Family.JOINT_LIMIT))
BOUNCING_LIMIT = wp.constant(int(Family.BOUNCING_LIMIT))
ROTATION_LIMIT = wp.constant(int(Family.ROTATION_LIMIT))
TWIST_LIMIT = wp.constant(int(Family.TWIST_LIMIT))
SWING_LIMIT = wp.constant(int(Family.SWING_LIMIT))
CONE_LIMIT = wp.constant(int(Family.CONE_LIMIT))
CONTACT_FRICTION = wp.constant(int(Family.CONTACT_FRICTION))
CONTACT = wp.constant(int(Family.CONTACT))
