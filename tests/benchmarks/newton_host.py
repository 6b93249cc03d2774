"""What a step of a world costs through Newton, beside its own solvers: `python -m tests.benchmarks.newton_host`.

All step the same models of its package, without contacts. They take turns, and the least of several turns counts.
Newton's extra `sim` brings what SolverMuJoCo needs; a solver that does not get through is said to.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import newton
import numpy as np
import warp as wp
from warp_artic.extensions.newton import SolverWarpArtic

from tests.extensions.newton.models import DT, asset, start

TURN = 0.1
"""Least time of a turn [s]."""

SOLVERS: dict[str, Callable] = {
    "SolverWarpArtic, one thread": lambda model: SolverWarpArtic(model, dt=DT, threads=1),
    "SolverWarpArtic": lambda model: SolverWarpArtic(model, dt=DT),
    "SolverSteel": lambda model: newton.solvers.SolverSteel(
        model, enable_joint_limits=True, articulation_constraint_max=64
    ),
    "SolverFeatherstone": newton.solvers.SolverFeatherstone,
    "SolverMuJoCo": lambda model: newton.solvers.SolverMuJoCo(model, disable_contacts=True),
    "SolverMuJoCo, its C library": lambda model: newton.solvers.SolverMuJoCo(
        model, disable_contacts=True, use_mujoco_cpu=True
    ),
}


class Contestant:
    """A solver with its states.

    Args:
        make: Makes the solver of a model.
        name: Of a file in the package of Newton.
        worlds: How many there are.
    """

    def __init__(self, make: Callable, name: str, worlds: int):
        builder = newton.ModelBuilder()
        builder.replicate(asset(name), worlds)
        self.model = builder.finalize()
        self.solver = make(self.model)
        self.now, self.later, self.control = start(self.model), self.model.state(), self.model.control()
        self.best, self.steps = np.inf, 1
        self.step(4)
        begin = time.perf_counter()
        self.step(2)
        self.steps = max(2, round(2 * TURN / (time.perf_counter() - begin)))

    def step(self, count: int) -> None:
        """Make some steps."""
        for _ in range(count):
            self.solver.step(self.now, self.later, self.control, None, DT)
            self.now, self.later = self.later, self.now
        wp.synchronize()

    def turn(self) -> None:
        """Take a turn."""
        begin = time.perf_counter()
        self.step(self.steps)
        self.best = min(self.best, (time.perf_counter() - begin) / self.steps)

    @property
    def is_finite(self) -> bool:
        """Whether it has not run away."""
        return bool(np.isfinite(self.now.joint_q.numpy()).all())


def compare(name: str, worlds: int, turns: int) -> dict[str, str]:
    """Microseconds of a step of one world, by solver."""
    found: dict[str, Contestant] = {}
    cells: dict[str, str] = {}
    for solver, make in SOLVERS.items():
        if worlds > 1 and "C library" in solver:
            cells[solver] = "one world only"
            continue
        try:
            found[solver] = Contestant(make, name, worlds)
        except (ImportError, RuntimeError, ValueError, NotImplementedError) as error:
            cells[solver] = str(error).splitlines()[0][:60]
    for _ in range(turns):
        for one in found.values():
            one.turn()
    for solver, one in found.items():
        cells[solver] = f"{1e6 * one.best / worlds:.2f}" + ("" if one.is_finite else " (ran away)")
    return cells


def main() -> None:
    """Print a table for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["ant.usda", "humanoid.usda"])
    parser.add_argument("--worlds", nargs="+", type=int, default=[1, 64, 1024])
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    wp.config.quiet = True
    for name in arguments.models:
        table = {worlds: compare(name, worlds, arguments.turns) for worlds in arguments.worlds}
        print(f"\n{name}, microseconds of a step of one world\n")
        print("| worlds | " + " | ".join(SOLVERS) + " |")
        print("| --- " * (len(SOLVERS) + 1) + "|")
        for worlds, cells in table.items():
            print(f"| {worlds} | " + " | ".join(cells[solver] for solver in SOLVERS) + " |")


if __name__ == "__main__":
    main()
