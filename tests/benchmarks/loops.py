"""Mechanisms with closed loops: errors at each time step, and microseconds for a step.

`python -m tests.benchmarks.loops`: one thread of a CPU, its own time, so that other processes hardly count.
"""

import time

import numpy as np

import warp_artic as wa
from tests import closed_mechanisms as mechanisms
from tests import trees
from tests.constraints.test_loop_joint import four_bar
from tests.oracles import closures
from tests.oracles.dense_step import put
from tests.test_loop_problems import (
    joints_after,
    slider_crank_angle,
    squeezer_error,
    turned,
    upright_angle,
)

TURNS = 5


def simulation(tree, environments: int) -> wa.Simulation:
    """In float32, in motion that keeps the loops closed."""
    scene = wa.Scene(articulations=(tree,), gravity=mechanisms.DOWN)
    settings = wa.SolverSettings(dt=1 / 240, precision="float32")
    found = wa.Simulation(scene, environments=environments, settings=settings, threads=1)
    put(found, closures.tangent(tree, trees.authored_state(tree), tree.constraints))
    found.step(16)
    return found


def cost(tree, environments: int) -> float:
    """Microseconds of processor time for a step of an environment, the least of some turns."""
    found = simulation(tree, environments)
    begun = time.process_time()
    found.step(16)
    steps = max(16, int(16 * 0.15 / max(time.process_time() - begun, 1e-6)))
    spent = []
    for _turn in range(TURNS):
        begun = time.process_time()
        found.step(steps)
        spent.append((time.process_time() - begun) / steps / environments * 1e6)
    return min(spent)


def errors() -> None:
    """Print errors in double precision, and how much smaller they are than before."""
    exact = slider_crank_angle(5.0, 0.2, 0.4, (0.2, 0.4, 0.5), 0.3, 12.0)
    problems = {
        "Andrews' squeezer after 0.03 s [rad]": (squeezer_error, (750, 1500, 3000, 6000, 12000, 24000), 0.03),
        "two four-bars after 10 s [rad]": (
            lambda steps: abs(turned(joints_after(mechanisms.many_four_bars(2), 10.0, steps)[0][0] - upright)),
            (600, 1200, 2400, 4800, 10000), 10.0,
        ),
        "slider-crank after 5 s [rad]": (
            lambda steps: abs(turned(joints_after(mechanisms.slider_crank(speed=12.0), 5.0, steps)[0][0] - exact)),
            (1200, 2400, 4800, 9600, 19200), 5.0,
        ),
    }  # fmt: skip
    upright = upright_angle(2, 10.0)
    for name, (error, counts, seconds) in problems.items():
        print(name)
        before = None
        for steps in counts:
            found = float(error(steps))
            digits = -np.log10(max(found, 1e-16))
            ratio = "" if before is None else f"  {before / found:6.1f} times less"
            print(f"    dt {seconds / steps:9.2e} s   {found:8.1e}   {digits:4.1f} digits{ratio}")
            before = found


def costs() -> None:
    """Print microseconds for a step."""
    cases = {"four-bar": four_bar(), "spatial four-bar, balls": mechanisms.spatial_four_bar()}
    cases["Stewart platform"] = mechanisms.stewart_platform()
    cases |= {f"{count} four-bars": mechanisms.many_four_bars(count) for count in (2, 5, 10, 20, 40)}
    print("us for a step of an environment:  1 environment,  1024 environments")
    for name, tree in cases.items():
        print(f"    {name:30s} {cost(tree, 1):9.2f} {cost(tree, 1024):9.3f}", flush=True)
    print(f"    {'201 bodies, 100 closures':30s} {cost(mechanisms.many_four_bars(100), 1):9.2f}", flush=True)


def main() -> None:
    """Print both."""
    errors()
    costs()


if __name__ == "__main__":
    main()
