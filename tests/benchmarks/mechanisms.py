"""Microseconds for a step of two free bodies and an arm, as one mechanism and as three.

`python -m tests.benchmarks.mechanisms`: one thread of a CPU, its own time, so that other processes hardly count.
"""

import time
from pathlib import Path

import numpy as np

import warp_artic as wa
from tests import forests

ARM = Path(wa.__file__).parents[1] / "samples" / "scenes" / "arm.usda"
ENVIRONMENTS = 256
STEPS = 60
TURNS = 9


def simulation(is_one: bool) -> wa.Simulation:
    """256 environments in motion."""
    scene = wa.read_stage(str(ARM))
    bodies = tuple(forests.body(name) for name in "ab")
    articulations = (*scene.articulations, *bodies)
    paths = tuple(tree.path for tree in articulations)
    scene = wa.Scene(articulations=articulations, mechanisms=(paths,) * is_one)
    settings = wa.SolverSettings(dt=1 / 240, precision="float32")
    found = wa.Simulation(scene, environments=ENVIRONMENTS, settings=settings, threads=1)
    found.set_state(joint_velocity=np.random.default_rng(0).normal(size=(ENVIRONMENTS, len(scene.dof_names))))
    found.step(16)
    return found


def main() -> None:
    """Print the medians of interleaved turns."""
    cases = {"as three mechanisms": simulation(False), "as one": simulation(True)}
    spent = {name: [] for name in cases}
    for _turn in range(TURNS):
        for name, found in cases.items():
            begun = time.process_time()
            found.step(STEPS)
            spent[name].append((time.process_time() - begun) / STEPS / ENVIRONMENTS * 1e6)
    for name, times in spent.items():
        print(f"{name}: {np.median(times):.3f} us an environment")


if __name__ == "__main__":
    main()
