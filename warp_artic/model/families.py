"""The constraint families, as the numbers that kernels branch on, in the order in which a solver visits them.

Later rows have the last word in an iteration: what must hold hardest comes last. The families from ROTATION_LIMIT on
are limits of finite rotations, whose rows are linearizations.
"""

from enum import IntEnum

import warp as wp


class Family(IntEnum):
    """What a row stands for."""

    DRIVE = 0
    FRICTION = 1
    VELOCITY_LIMIT = 2
    FIXED_TENDON = 3
    FIXED_TENDON_LIMIT = 4
    SPATIAL_TENDON = 5
    SPATIAL_TENDON_LIMIT = 6
    MIMIC = 7
    JOINT_LIMIT = 8
    ROTATION_LIMIT = 9
    TWIST_LIMIT = 10
    SWING_LIMIT = 11
    CONE_LIMIT = 12


DRIVE = wp.constant(int(Family.DRIVE))
FRICTION = wp.constant(int(Family.FRICTION))
VELOCITY_LIMIT = wp.constant(int(Family.VELOCITY_LIMIT))
FIXED_TENDON = wp.constant(int(Family.FIXED_TENDON))
FIXED_TENDON_LIMIT = wp.constant(int(Family.FIXED_TENDON_LIMIT))
SPATIAL_TENDON = wp.constant(int(Family.SPATIAL_TENDON))
SPATIAL_TENDON_LIMIT = wp.constant(int(Family.SPATIAL_TENDON_LIMIT))
MIMIC = wp.constant(int(Family.MIMIC))
JOINT_LIMIT = wp.constant(int(Family.JOINT_LIMIT))
ROTATION_LIMIT = wp.constant(int(Family.ROTATION_LIMIT))
TWIST_LIMIT = wp.constant(int(Family.TWIST_LIMIT))
SWING_LIMIT = wp.constant(int(Family.SWING_LIMIT))
CONE_LIMIT = wp.constant(int(Family.CONE_LIMIT))
