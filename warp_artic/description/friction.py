"""Friction in one degree of freedom."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Friction:
    """A joint at rest holds up to static_effort; a moving one feels dynamic_effort + viscous |v| against its motion.

    The older law of PhysX adds to both efforts coefficient (|F| + |T|), of the force and the torque that the joint
    passes on. Here these are what its locked directions take up, the same for all axes of a joint: the load of a slide
    is the force across it and the torque, of one that turns as well the torque across what it turns about.
    """

    static_effort: float = 0.0
    """[N or N m]"""
    dynamic_effort: float = 0.0
    """[N or N m]"""
    viscous: float = 0.0
    """[N s/m or N m s/rad]"""
    coefficient: float = 0.0
    """Share of the load of the joint."""
