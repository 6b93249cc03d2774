"""Loop joints that have broken, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.description.scene import Scene
from warp_artic.mechanisms.public_rows import entry_names
from warp_artic.sim.arrays.views import Member


@dataclass(frozen=True)
class BrokenLoop:
    """A loop joint that does nothing any more in an environment."""

    environment: int
    joint: str
    """Prim path."""
    step: int
    """The step at whose end it has broken, counted from 1; 0 where somebody has written that it is broken."""
    force: float
    """That it has transmitted over that step [N]."""
    torque: float
    """About the origin of the second joint frame [N m]."""

    def __str__(self) -> str:
        if self.step == 0:
            return f"{self.joint}: is broken in environment {self.environment}"
        return (
            f"{self.joint}: broke in environment {self.environment} at step {self.step}, by {self.force:.6g} N and "
            f"{self.torque:.6g} N m"
        )


def find_broken_loops(scene: Scene, members: Sequence[Member]) -> list[BrokenLoop]:
    """See `Simulation.broken_loops`."""
    found = []
    for member in members:
        names = entry_names(scene.articulations[member.index], "loop")
        if not names:
            continue
        broken, breakage = (member.array(name).numpy() for name in ("loop_broken", "loop_breakage"))
        for place, environment in np.argwhere(broken > 0.0):
            step, force, torque = breakage[place, :, environment]
            found.append(BrokenLoop(int(environment), names[place], int(step), float(force), float(torque)))
    return sorted(found, key=lambda one: (one.step, one.environment))
