"""What trees are joined to, as rows of one array: the frame B of the world, displaced and moving with a kinematic body.

It is where the world is, at rest, unless a body that is moved from outside carries the tree. Then X_WB is by how much
that body has moved since the start, about the origin of the articulation; what is joined to it keeps its frame there.
"""

import numpy as np
import warp as wp

BASE_ROTATION = wp.constant(0)
"""R_WB, nine rows."""
BASE_POSITION = wp.constant(9)
"""p_WB [m]."""
BASE_ANGULAR = wp.constant(12)
"""w_B [rad/s]."""
BASE_LINEAR = wp.constant(15)
"""Velocity of the origin of B [m/s]."""
BASE_ANGULAR_RATE = wp.constant(18)
"""Angular acceleration [rad/s^2]."""
BASE_LINEAR_RATE = wp.constant(21)
"""Acceleration of the origin of B [m/s^2]."""


def base_rows(rotation=np.eye(3), position=(0, 0, 0), velocity=(0,) * 6, acceleration=(0,) * 6) -> np.ndarray:
    """All rows; velocity and acceleration angular, then linear."""
    return np.concatenate([np.ravel(rotation), position, velocity, acceleration]).astype(float)
