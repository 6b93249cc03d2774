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
from tests.oracles.simulated_state import put
from tests.test_loop_problems import (
    bricard_error,
    governor_error,
    joints_after,
    slider_crank_angle,
    squeezer_error,
    turned,
    upright_angle,
)

TURNS = 5


def simulation(trees_, environments: int, **settings) -> wa.Simulation:
    """In float32, from where it is authored."""
    scene = wa.Scene(articulations=trees_, gravity=mechanisms.DOWN)
    options = wa.SolverSettings(**{"dt": 1 / 240, "precision": "float32"} | settings)
    return wa.Simulation(scene, environments=environments, settings=options, threads=1)


def cost(tree, environments: int) -> float:
    """Of a mechanism in motion that keeps its loops closed."""
    found = simulation((tree,), environments)
    put(found, closures.tangent(tree, trees.authored_state(tree), tree.constraints))
    return cost_of(found)


def cost_of(found: wa.Simulation) -> float:
    """Microseconds of processor time for a step of an environment, the least of some turns."""
    environments = found.environments
    found.step(16)
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
        "Bricard's mechanism after 10 s [m]": (bricard_error, (300, 600, 1200, 2400, 4800, 9600), 10.0),
        "flyball governor with bars after 2 s [rad, m]": (
            lambda steps: governor_error(False, steps), (120, 240, 480, 960, 1920, 3840, 7680), 2.0,
        ),
        "stiff flyball governor after 2 s [rad, m]": (
            lambda steps: governor_error(True, steps), (480, 960, 1920, 3840, 7680), 2.0,
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
    for count in (125, 250, 500):
        chain = simulation(mechanisms.loose_chain(count), 1, precision="float64", variant="scalar")
        print(f"    {f'{count} free bodies on balls, float64':30s} {cost_of(chain):9.2f}", flush=True)


def main() -> None:
    """Print both."""
    errors()
    costs()


if __name__ == "__main__":
    main()
