"""Limits on the motion of a joint."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Bounds on one degree of freedom, hard or with a spring and a damper beyond them."""

    lower: float = -math.inf
    """Smallest allowed position [m or rad]."""
    upper: float = math.inf
    """Largest allowed position [m or rad]."""
    stiffness: float = 0.0
    """Of the spring beyond the bounds [N/m or N m/rad]; 0, with a damping of 0: hard."""
    damping: float = 0.0
    """Of the damper beyond the bounds [N s/m or N m s/rad]."""
    restitution: float = 0.0
    """Share of the speed of an impact that comes back."""
    bounce_threshold: float = 0.0
    """Smallest speed of an impact that comes back [m/s or rad/s]."""

    @property
    def is_soft(self) -> bool:
        """Whether a spring or a damper acts beyond the bounds."""
        return self.stiffness > 0.0 or self.damping > 0.0


@dataclass(frozen=True, kw_only=True)
class ConeLimit:
    """Bound on the swing of a spherical joint: (swing_1 / angle_1)^2 + (swing_2 / angle_2)^2 <= 1, hard or soft.

    The swing is the rotation, without twist, that carries the joint axis from the parent-side to the child-side
    frame; swing_1 and swing_2 are the components of its rotation vector about the two axes that follow the joint
    axis in the order X, Y, Z, X.
    """

    angle_1: float = math.inf
    """[rad]"""
    angle_2: float = math.inf
    """[rad]"""
    stiffness: float = 0.0
    """Of the spring beyond the cone, by the angle to the cone in the direction of the swing [N m/rad]; 0, with a
    damping of 0: hard."""
    damping: float = 0.0
    """Of the damper beyond the cone [N m s/rad]."""

    @property
    def is_soft(self) -> bool:
        """Whether a spring or a damper acts beyond the bounds."""
        return self.stiffness > 0.0 or self.damping > 0.0
