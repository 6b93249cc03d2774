"""Limits on the motion of a joint."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Hard bounds on one degree of freedom."""

    lower: float = -math.inf
    """Smallest allowed position [m or rad]."""
    upper: float = math.inf
    """Largest allowed position [m or rad]."""


@dataclass(frozen=True, kw_only=True)
class ConeLimit:
    """Bound on the swing of a spherical joint: (swing_1 / angle_1)^2 + (swing_2 / angle_2)^2 <= 1.

    The swing is the rotation, without twist, that carries the joint axis from the parent-side to the child-side
    frame; swing_1 and swing_2 are the components of its rotation vector about the two axes that follow the joint
    axis in the order X, Y, Z, X.
    """

    angle_1: float = math.inf
    """[rad]"""
    angle_2: float = math.inf
    """[rad]"""
