"""What `warp-artic bench` measures of this package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from warp_artic.cli.bench_models import DT, SETTLED, Model
from warp_artic.cli.bench_timing import NotMeasuredError, Run
from warp_artic.sim.launch.device import wait_for
from warp_artic.sim.measure.operations import Operations, count_operations
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings

SHORT = 1e-7
"""A step in which forces do not change [s]."""

FIRST_STEP = """
import json, resource, sys, time
import warp_artic as wa
stage, environments, device, precision = sys.argv[1:]
settings = wa.SolverSettings(precision=precision)
simulation = wa.Simulation(wa.read_stage(stage), environments=int(environments), device=device, settings=settings)
simulation.step()
simulation.state.joint_position.numpy()
memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"clock": time.time(), "memory": memory}))
"""


@dataclass(frozen=True)
class Ours:
    """How a simulation of ours is run."""

    device: str
    precision: str
    threads: int | None = None
    """On a CPU."""
    in_graph: bool = False
    """Whether each step is a launch of a captured one."""

    @property
    def place(self) -> str:
        """Threads of a CPU, or the GPU."""
        return f"{self.threads} thread{'s' * (self.threads > 1)}" if self.threads else self.device

    @property
    def label(self) -> str:
        """Name and version, precision, where it runs."""
        return f"warp_artic {version('warp-artic')}, {self.precision}, {self.place}{', graph' * self.in_graph}"

    def simulation(self, model: Model, environments: int, **settings) -> Simulation:
        """The model, at its start."""
        return Simulation(
            model.scene,
            environments=environments,
            device=self.device,
            settings=SolverSettings(dt=DT, precision=self.precision, **settings),
            threads=self.threads,
        )

    def operations(self, model: Model) -> Operations:
        """What a step needs once the model has settled."""
        simulation = replace(self, device="cpu", threads=1).simulation(model, 1)
        simulation.step(SETTLED)
        return count_operations(simulation.run)

    def steps(self, simulation: Simulation) -> list[Run]:
        """Steps from where the model has settled."""
        simulation.step(SETTLED)
        steps = _repeated(simulation.capture().launch) if self.in_graph else simulation.step

        def run(count: int) -> float:
            spent = _timed(simulation, steps, count)
            stopped = simulation.failures()
            if stopped:
                raise NotMeasuredError(str(stopped[0]))
            return spent

        return [run]

    def calls_asleep(self, model: Model, environments: int) -> list[Run]:
        """Calls of `step` for one step, while all mechanisms sleep."""
        simulation = self.simulation(model, environments, sleep_after=DT)
        simulation.put_to_sleep()
        return [partial(_timed, simulation, _repeated(simulation.step))]

    def dynamics(self, model: Model, quantity: str, environments: int) -> list[Run]:
        """A method of the dynamics suite, with memory that is used again."""
        simulation = self.simulation(model, environments)
        method = getattr(simulation, quantity)
        given = (simulation.gravity_force(),) if quantity == "joint_force" else ()
        return [partial(_timed, simulation, _repeated(partial(method, *given, out=method(*given))))]


def _repeated(call: Callable[[], object]) -> Callable[[int], None]:
    def calls(count: int) -> None:
        for _ in range(count):
            call()

    return calls


def _timed(simulation: Simulation, advance: Callable[[int], None], count: int) -> float:
    """Seconds until the device has done it."""
    begin = time.perf_counter()
    advance(count)
    wait_for(simulation.device)
    return time.perf_counter() - begin


@cache
def accelerations(model: Model) -> dict[str, float]:
    """Of the joints at rest within their limits, by their names in the twin; in double precision."""
    settings = SolverSettings(dt=SHORT, precision="float64")
    simulation = Simulation(model.scene, settings=settings)
    simulation.set_state(joint_position=model.positions())
    simulation.step(forces=True)
    return dict(zip(model.joints(), simulation.state.joint_acceleration.numpy()[:, 0].tolist()))


def first_steps(model: Model, ours: Ours, environments: int) -> dict[str, float]:
    """Seconds from the start of a process to the end of its first step, with kernels to be compiled and without, and
    the most memory that the second process has had [B]."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="warp_artic_bench_") as cache:
        environment = {**os.environ, "WARP_CACHE_PATH": cache}
        options = [str(model.stage), str(environments), ours.device, ours.precision]
        for name in ("cold", "warm"):
            begin = time.time()
            process = subprocess.run(
                [sys.executable, "-c", FIRST_STEP, *options],
                env=environment,
                cwd=Path(__file__).parents[2],
                capture_output=True,
                text=True,
            )
            if process.returncode != 0:
                raise NotMeasuredError((process.stderr.splitlines() or [f"exit code {process.returncode}"])[-1])
            last = json.loads(process.stdout.splitlines()[-1])
            found[name], found["memory"] = last["clock"] - begin, last["memory"]
    return found
