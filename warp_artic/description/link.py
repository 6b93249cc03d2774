"""A rigid link of an articulation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from warp_artic.description.pose import Pose


@dataclass(frozen=True, kw_only=True)
class Link:
    """A rigid body; its frame is the frame of its prim, without scale."""

    path: str
    """Prim path; of a massless link between two joints, that of the joint that carries it."""
    mass: float
    """[kg]"""
    center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the link frame [m]."""
    inertia: tuple[float, float, float, float, float, float]
    """About the centre of mass, axes of the link frame: xx, xy, xz, yy, yz, zz [kg m^2]."""
    pose: Pose = Pose()
    """Authored world pose of the link frame."""
    linear_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Authored velocity of the centre of mass, world axes [m/s]; used for the root of a floating tree."""
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Authored angular velocity, world axes [rad/s]; used for the root of a floating tree."""
    linear_damping: float = 0.0
    """Rate at which the velocity of the centre of mass decays [1/s]."""
    angular_damping: float = 0.0
    """Rate at which the angular velocity decays [1/s]."""
    gravity_scale: float = 1.0
    """Share of gravity that acts on it: 0 for none, 1 for all."""
    max_linear_velocity: float = math.inf
    """Bound on the speed of the centre of mass [m/s]."""
    max_angular_velocity: float = math.inf
    """Bound on the angular speed [rad/s]."""

    @property
    def inertia_matrix(self) -> np.ndarray:
        """`inertia` as a matrix, shape (3, 3) [kg m^2]."""
        xx, xy, xz, yy, yz, zz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def is_massless(self) -> bool:
        """Whether it is a massless link between two joints."""
        return self.mass == 0.0 and not any(self.inertia)
