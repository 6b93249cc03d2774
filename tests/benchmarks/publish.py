"""What a host pays for a frame beside the steps: `python -m tests.benchmarks.publish [--links N ...] [--frames N]`.

Milliseconds, the least and the median of frames in which every link has moved: the poses of an environment, the live
layer, as many links as point instances of the environments of one robot, and where it is installed a stage of ovstage
with all outputs of links and joints.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import warp as wp
from pxr import Usd

import warp_artic as wa
from tests.benchmarks.large import different
from warp_artic.hosts.instancers import Instancers
from warp_artic.hosts.live_layer import LiveLayer
from warp_artic.hosts.stage_backend import WarpArticBackend

try:
    import ovstage
except ModuleNotFoundError:  # the extra `ovstage` is not installed
    ovstage = None
else:
    from warp_artic.extensions.ovstage import Host, populate

LINKS = 10
"""Of a robot."""


def measure(stage: Usd.Stage, file: str, frames: int) -> dict[str, np.ndarray]:
    """Seconds of each part for each frame."""
    backend = WarpArticBackend()
    backend.attach(stage)
    live = LiveLayer(stage)
    backend.leave_out(live.layer)
    live.show(backend.report.links)
    times: dict[str, list[float]] = {"link_poses": [], "live layer": []}
    for _ in range(frames):
        backend.simulation.step(4)
        poses = _timed(times["link_poses"], backend.link_poses)
        _timed(times["live layer"], lambda poses=poses: live.publish(poses))
    live.close()
    backend.detach()
    times["instances"] = _measure_instances(frames, len(poses) // LINKS)
    if ovstage is not None:
        times |= _measure_ovstage(file, frames)
    return {name: np.array(found[1:]) for name, found in times.items()}


def _measure_instances(frames: int, environments: int) -> list[float]:
    stage, times = different(1, LINKS), []
    simulation = wa.Simulation(wa.read_stage(stage), environments=environments)
    shown = Instancers(stage, simulation.link_names, environments)
    shown.open()
    for _ in range(frames):
        simulation.step(4)
        poses = simulation.state.link_pose.numpy()
        _timed(times, lambda poses=poses: shown.publish(poses))
    shown.close()
    return times


def _measure_ovstage(file: str, frames: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"ovstage": [], "its hierarchy": []}
    with ovstage.Stage("publish") as stage:
        populate(stage, file, ordinal=1)
        with Host(stage, file, ordinal=1) as host:
            for ordinal in range(2, 2 + frames):
                host.backend.simulation.step(4)
                _timed(times["ovstage"], lambda ordinal=ordinal: host.publish(ordinal=ordinal))
                _timed(times["its hierarchy"], lambda ordinal=ordinal: stage.compute_hierarchy(ordinal, ordinal))
    return times


def _timed(times: list[float], call: Callable):
    begin = time.perf_counter()
    result = call()
    times.append(time.perf_counter() - begin)
    return result


def main() -> None:
    """Print a row for each number of links."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, nargs="+", default=[100, 1000, 10000], help=f"tens of {LINKS}")
    parser.add_argument("--frames", type=int, default=60)
    arguments = parser.parse_args()
    wp.config.log_level = wp.LOG_ERROR
    for links in arguments.links:
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "stage.usdc")
            made = different(links // LINKS, LINKS)
            made.GetRootLayer().Export(file)
            times = measure(Usd.Stage.Open(file), file, arguments.frames + 1)
        cells = [f"{name} {1e3 * found.min():.2f} ({1e3 * np.median(found):.2f})" for name, found in times.items()]
        print(f"{links:>6} links: " + ", ".join(cells), flush=True)


if __name__ == "__main__":
    main()
