"""Steps that are captured once and launched again: a CUDA graph; on a CPU they are launched as `step` does it.

What is in arrays is read at each launch: state, control, and parameters that were asked for. A parameter that is asked
for later gets an array of its own, and the steps are captured anew. On a CPU there is nothing to capture: the arguments
of a launch are packed already, and what Warp would replay takes longer, and runs on one thread.
"""

from __future__ import annotations

import warp as wp

from warp_artic.errors import SettingsError
from warp_artic.sim.run.incoming_forces import IncomingForces


class StepGraph:
    """A number of steps; see `Simulation.capture`."""

    def __init__(self, simulation, count: int, forces: IncomingForces | None):
        self._simulation = simulation
        self._forces = forces
        self._steps = count, forces is not None
        self._captured: tuple[list, object] | None = None

    def launch(self) -> None:
        """Advance every environment by the steps, as `step` does."""
        simulation = self._simulation
        check_capturable(simulation)
        if simulation._on.is_cpu:
            simulation.step(self._steps[0], self._forces or False)
            return
        simulation._prepare_forces(self._forces or False)
        self._replay()
        simulation._count_steps(*self._steps)

    def _replay(self) -> None:
        simulation = self._simulation
        if self._captured is None or self._captured[0] is not simulation._launches.steps:
            with wp.ScopedCapture(device=simulation.device) as capture:
                simulation._launch_steps(*self._steps)
            self._captured = simulation._launches.steps, capture.graph
        wp.capture_launch(self._captured[1])


def check_capturable(simulation) -> None:
    """Refuse steps in which something follows time."""
    if not (simulation._is_carried or simulation.target_tracks):
        return
    if simulation._elastic:
        raise SettingsError(
            "capture: there are elastic bodies, whose steps end when they have converged, which captured steps "
            "cannot do; step without a capture"
        )
    if simulation._bases:
        raise SettingsError(
            "capture: kinematic bodies carry articulations, which captured steps cannot do; step without a capture"
        )
    raise SettingsError(
        f"capture: {len(simulation.target_tracks)} drive targets follow values over time, which captured steps "
        "cannot do; take them out of target_tracks, or step without a capture"
    )
