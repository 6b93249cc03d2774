"""Steps that are captured once and launched again: a CUDA graph; on a CPU they are launched as `step` does it.

What is in arrays is read at each launch: state, control, and parameters that were asked for. A parameter that is asked
for later gets an array of its own, and the steps are captured anew. On a CPU there is nothing to capture: the arguments
of a launch are packed already, and what Warp would replay takes longer, and runs on one thread.
"""

from __future__ import annotations

import warp as wp

from warp_artic.sim.run.incoming_forces import IncomingForces
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import check_capturable, checked_count, count_steps, launch_steps, prepare_forces, step


class StepGraph:
    """A number of steps; see `Simulation.capture`."""

    def __init__(self, run: Run, count: int, forces: bool | IncomingForces):
        self._count = checked_count(count, 1)
        check_capturable(run)
        self._run = run
        self._is_on_cpu = run.on.is_cpu
        self._asked = prepare_forces(run, forces) or False
        self._captured: tuple[list, object] | None = None

    def launch(self) -> None:
        """Advance every environment by the steps, as `step` does."""
        run = self._run
        if run.follows_time:
            check_capturable(run)
        if self._is_on_cpu:
            step(run, self._count, self._asked)
            return
        prepare_forces(run, self._asked)
        self._replay()
        count_steps(run, self._count, self._asked is not False)

    def _replay(self) -> None:
        run = self._run
        if self._captured is None or self._captured[0] is not run.launches.steps:
            with wp.ScopedCapture(device=run.device) as capture:
                launch_steps(run, self._count, self._asked is not False, is_captured=True)
            self._captured = run.launches.steps, capture.graph
        wp.capture_launch(self._captured[1])
