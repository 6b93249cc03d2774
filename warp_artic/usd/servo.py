"""What an actuator adds to the drive of a hinge or slide."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pxr import Usd

from warp_artic.usd.attributes import Attributes


@dataclass(frozen=True, kw_only=True)
class Servo:
    """effort = stiffness (target - q) + damping (rate target - v), in stage units with angles in radians."""

    path: str
    names: dict[str, str]
    """The attributes that the fields of a drive are from; fields that are not among them are left to a drive."""
    stiffness: float
    damping: float
    push: float = 0.0
    """stiffness times the position target, which `mjc:ref` is added to."""
    rate_push: float = 0.0
    """damping times the velocity target."""
    bound: float = math.inf
    """Largest effort."""
    max_velocity: float = math.inf
    """Speed at which no effort is left in the direction of the motion."""
    velocity_gradient: float = 0.0
    """Speed that is lost by a unit of effort."""

    @property
    def is_bounded(self) -> bool:
        """Whether it is no sum with others: each has bounds of its own."""
        return min(self.bound, self.max_velocity) < math.inf


def report_actuator(prim: Usd.Prim, text: str, attributes: Attributes) -> None:
    """Report an actuator that is not simulated, and count its properties as reported."""
    attributes.report.warn("actuator", prim.GetPath(), f"actuator: {text}: not simulated yet")
    attributes.pass_over(prim)
