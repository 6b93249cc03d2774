"""Steps that are captured once and launched again: a CUDA graph, or on a CPU the launches as Warp replays them.

What is in arrays is read at each launch: state, control, and parameters that were asked for. A parameter that is asked
for later gets an array of its own, and the steps are captured anew. What Warp replays on a CPU runs on one thread:
steps that pay on several are launched as `step` does it, which costs the host little beside them.
"""

from __future__ import annotations

import warp as wp

from warp_artic.kernels.threads import threads_that_pay
from warp_artic.sim.incoming_forces import IncomingForces


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
        idle = simulation._idle
        if idle.since is not None and not (self._forces or simulation.target_tracks) and idle.is_undisturbed():
            simulation.steps_done += self._steps[0]
            return
        simulation._idle.end(simulation.steps_done)
        simulation._check_no_tracks()
        simulation._prepare_forces(self._forces or False)
        if threads_that_pay(simulation._launches.steps, simulation.threads, self._steps[0]) > 1:
            simulation._launch_steps(*self._steps)
        else:
            self._replay()
        simulation._count_steps(*self._steps)

    def _replay(self) -> None:
        simulation = self._simulation
        if self._captured is None or self._captured[0] is not simulation._launches.steps:
            with wp.ScopedCapture(device=simulation.device) as capture:
                simulation._launch_steps(*self._steps)
            self._captured = simulation._launches.steps, capture.graph
        wp.capture_launch(self._captured[1])
