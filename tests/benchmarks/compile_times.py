"""CPU seconds to compile each kernel, from nothing: `python -m tests.benchmarks.compile_times [KERNEL ...]`.

In a kernel cache of its own, one after the other, Warp's own work in Python included; beside each, the functions that
are compiled once and called. The first kernel of a process takes 1 s more, for the header that the others share.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import warp as wp

from warp_artic.kernels.launch import load
from warp_artic.sim.launch.device import start_quietly
from warp_artic.sim.launch.warmup import kernels_ahead
from warp_artic.solver.settings import PRECISIONS, SOLVERS, SolverSettings


def main(wanted: list[str]) -> None:
    """Compile kernels of which the names have one of the words, or all."""
    start_quietly("cpu")
    kernels = {}
    for settings in (*(SolverSettings(solver=name) for name in SOLVERS), SolverSettings(integrator="rk4")):
        kernels |= kernels_ahead(settings, PRECISIONS, "cpu", tendons=True, contacts=True, dynamics=True)
    with tempfile.TemporaryDirectory() as folder:
        wp.config.kernel_cache_dir = folder
        for name, kernel in kernels.items():
            if wanted and not any(word in name for word in wanted):
                continue
            begin = time.process_time()
            load(kernel, "cpu")
            seconds = time.process_time() - begin
            source = next(Path(folder).glob(f"{kernel.module.get_module_identifier(block_dim=1)}/*.cpp")).read_text()
            print(f"{seconds:7.2f} s  {source.count('WP_NOINLINE '):4d}  {name}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
