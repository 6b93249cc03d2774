"""By how much what is hard between links or dofs is open at given positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.description.distance import Distance
from warp_artic.description.joint import Dof
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose

OPEN_BY, TURNED_BY = 1e-4, math.radians(0.05)
"""By how much what is hard may be open at the start [m], [rad]."""


@dataclass(frozen=True)
class Gap:
    """By how much something hard is open."""

    name: str
    distance: float = 0.0
    """[m]"""
    angle: float = 0.0
    """[rad]"""

    @property
    def largest(self) -> float:
        """[m or rad]"""
        return max(self.distance, self.angle)

    @property
    def is_small(self) -> bool:
        """Whether it is next to nothing."""
        return self.distance <= OPEN_BY and self.angle <= TURNED_BY


def mimic_gap(mimic: Mimic, dofs: Sequence[Dof], positions: Sequence[float]) -> Gap:
    """By how much a mimic joint is open at positions of the dofs [m or rad]."""
    error = abs(mimic.error(positions))
    return Gap(mimic.name, error) if dofs[mimic.dofs[0]].axis.is_linear else Gap(mimic.name, 0.0, error)


def distance_points(one: Distance, poses: Sequence[Pose]) -> tuple[np.ndarray, np.ndarray]:
    """x0 and x1 of a distance in the world [m], each of shape (3), at poses of all links, then that of the world."""
    return poses[one.link0].apply(one.position0), poses[one.link1].apply(one.position1)


def distance_excess(one: Distance, x0: np.ndarray, x1: np.ndarray) -> float:
    """By how much a distance is past its ends, below zero where it is too short [m]."""
    length = math.dist(x0, x1)
    return min(length - one.lower, 0.0) + max(length - one.upper, 0.0)
