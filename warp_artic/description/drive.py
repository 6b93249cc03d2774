"""A drive on one degree of freedom."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

from warp_artic.description.track import Track


class DriveKind(Enum):
    """What the gains of a drive produce."""

    FORCE = "force"
    """An effort [N or N m]."""
    ACCELERATION = "acceleration"
    """An acceleration: the gains are multiplied by the effective inertia of the dof."""


@dataclass(frozen=True, kw_only=True)
class Drive:
    """effort = stiffness (position_target - q) + damping (velocity_target - v), at the end of the step.

    The drives of a joint whose positions are a rotation vector have a common potential, `constraints.rotation_drive`.

    Of a motor with a performance envelope also |v| <= max_velocity - velocity_gradient |effort| and
    |effort| <= max_force - velocity_resistance |v|.
    """

    kind: DriveKind = DriveKind.FORCE
    stiffness: float = 0.0
    """[N/m or N m/rad; 1/s^2 for an acceleration drive]"""
    damping: float = 0.0
    """[N s/m or N m s/rad; 1/s for an acceleration drive]"""
    position_target: float = 0.0
    """[m or rad]"""
    velocity_target: float = 0.0
    """[m/s or rad/s]"""
    position_track: Track | None = None
    """The position target over time, where it moves."""
    velocity_track: Track | None = None
    """The velocity target over time, where it moves."""
    stiffness_track: Track | None = None
    """The stiffness over time, where it changes."""
    damping_track: Track | None = None
    """The damping over time, where it changes."""
    max_force: float = math.inf
    """Largest effort of the drive [N or N m]."""
    max_impulse: float = math.inf
    """Largest impulse of the drive in one time step [N s or N m s]."""
    max_velocity: float = math.inf
    """Speed beyond which the drive does not accelerate without load [m/s or rad/s]."""
    velocity_gradient: float = 0.0
    """Speed that the drive loses by its effort [m/(s N) or rad/(s N m)]."""
    velocity_resistance: float = 0.0
    """Effort that the drive loses by its speed [N s/m or N m s/rad]."""

    @property
    def gain_tracks(self) -> tuple[Track, ...]:
        """Of the gains that change over time."""
        return tuple(track for track in (self.stiffness_track, self.damping_track) if track is not None)

    @property
    def has_envelope(self) -> bool:
        """Whether its speed bounds its effort."""
        return math.isfinite(self.max_velocity) or self.velocity_resistance > 0.0

    def bounded(self, dt: float) -> Drive:
        """The same drive for steps of `dt` [s]: max_force bounds the impulse of a step too."""
        return replace(self, max_force=min(self.max_force, self.max_impulse / dt), max_impulse=math.inf)
