"""What `warp-artic bench` measures of this package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from warp_artic.cli.bench_models import DT, Model
from warp_artic.cli.bench_peers.timing import SETTLED
from warp_artic.sim.device import wait_for
from warp_artic.sim.operations import Operations, count_operations
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

    @property
    def label(self) -> str:
        """Name and version, precision, device."""
        return f"warp_artic {version('warp-artic')}, {self.precision}, {self.device}"

    def simulation(self, model: Model, environments: int) -> Simulation:
        """The model, at its start."""
        settings = SolverSettings(dt=DT, precision=self.precision)
        return Simulation(model.scene, environments=environments, device=self.device, settings=settings)

    def operations(self, model: Model) -> Operations:
        """What a step needs once the model has settled."""
        simulation = self.simulation(model, 1)
        simulation.step(SETTLED)
        return count_operations(simulation)


def steps_of(simulation: Simulation) -> Callable[[int], None]:
    """What advances all environments by a number of steps."""

    def advance(count: int) -> None:
        simulation.step(count)
        wait_for(simulation.device)

    return advance


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
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                check=True,
                text=True,
            )
            last = json.loads(process.stdout.splitlines()[-1])
            found[name], found["memory"] = last["clock"] - begin, last["memory"]
    return found
