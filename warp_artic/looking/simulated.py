"""A stage without motion, simulated to be looked at."""

from __future__ import annotations

import math

from warp_artic.errors import SettingsError
from warp_artic.sim.simulation import Simulation
from warp_artic.usd.source import Source, with_recording

SEEN = ("joint_position", "link_pose", "mesh_points", "tendon_force", "mesh_tendon_length", "mesh_tendon_tension")
"""Quantities that are recorded for it."""


def simulated(source: Source, seconds: float, frames_per_second: float, device: str = "cpu") -> Source:
    """A stage with the motion of its simulation.

    Raises:
        SettingsError: The stage cannot be simulated, or the time is not a finite number of at least 0.
    """
    if not 0.0 <= seconds < math.inf:
        raise SettingsError(f"duration: {seconds:g} s is not a time of at least 0")
    if source.scene is None:
        raise SettingsError(
            f"{source.name}: has no motion, and cannot be simulated; what is wrong is listed by: "
            f"warp-artic check {source.name}"
        )
    simulation = Simulation(source.scene, device=device)
    steps = math.ceil(seconds / simulation.settings.dt - 1e-9)
    recording = simulation.record(steps, quantities=SEEN)
    return with_recording(source, recording, 0, frames_per_second)
