"""Bytes of global memory that a step reads and writes on a GPU, counted in its CUDA source on the CPU.

`python -m tests.benchmarks.traffic [--models NAME ...]` prints them for an environment and a step, with the
bytes of work space that an environment has. They bound the speed of large batches: 65,536 work spaces do not fit into
the caches. No GPU is needed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import warp as wp

import warp_artic as wa
from tests.cuda_emulation.emulate import emulated_cuda
from warp_artic.sim.measure.memory import memory_of

SCENES = Path(wa.__file__).parent / "cli" / "bench_scenes"
ENVIRONMENTS, STEPS = 64, 4
OPTIMIZATION = 2
"""Level of the compiler: what stays in registers is not read again."""


def measure(model: str, solver: str) -> dict[str, float]:
    """Counts of an environment and a step, in float32, of environments that differ."""
    settings = wa.SolverSettings(dt=1.0 / 480.0, solver=solver)
    with emulated_cuda(optimization=OPTIMIZATION, only=["step"]) as emulation:
        scene = wa.read_stage(str(SCENES / f"{model}.usda"))
        simulation = wa.Simulation(scene, environments=ENVIRONMENTS, device="cpu", settings=settings)
        positions = simulation.state.joint_position.numpy()
        moved = positions + np.random.default_rng(1).normal(0.0, 0.02, positions.shape)
        simulation.set_state(joint_position=np.ascontiguousarray(moved.T))
        simulation.step(STEPS)
    names = "reads", "read_bytes", "writes", "written_bytes"
    counted = {name: emulation.total(name) / ENVIRONMENTS / STEPS for name in names}
    return counted | {"work_bytes": memory_of(simulation).work / ENVIRONMENTS}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["humanoid"], metavar="NAME")
    parser.add_argument("--solver", choices=("direct", "pgs"), default="direct")
    arguments = parser.parse_args()
    wp.config.quiet = True
    print("| | reads | kB | writes | kB | kB of work space |\n| --- |" + " ---: |" * 5)
    for model in arguments.models:
        found = measure(model, arguments.solver)
        reads, writes = f"{found['reads']:,.0f}", f"{found['writes']:,.0f}"
        kilobytes = (f"{found[name] / 1e3:.1f}" for name in ("read_bytes", "written_bytes", "work_bytes"))
        read, written, work = kilobytes
        print(f"| {model} | {reads} | {read} | {writes} | {written} | {work} |", flush=True)


if __name__ == "__main__":
    main()
