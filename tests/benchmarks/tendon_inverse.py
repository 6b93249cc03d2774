"""What tensions for wanted forces cost, beside SciPy: `python -m tests.benchmarks.tendon_inverse [--environments N]`.

64 tendons on 1,000 nodes, which are 3,000 forces, out of reach, so that about half of the tendons are slack. They take
turns, and the least of several turns counts. SciPy is given the dense A, which it is not asked to make; ours finds A,
its factor and the tensions anew each time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import warp as wp
from scipy.optimize import lsq_linear, nnls

from tests.meshes.tendon_bodies import WAYPOINTS, device_points, random_body
from tests.meshes.tendon_matrices import force_matrices
from warp_artic.description.mesh_tendon import MeshTendon
from warp_artic.meshes.inverse import InverseProblem
from warp_artic.meshes.tendons import MeshTendons

NODES, TENDONS = 1000, 64
TURNS = 5
PEERS = 4
"""Problems that SciPy solves in a turn."""


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(kind: str, waypoints: int, environments: int) -> None:
    """Print a row."""
    rng = np.random.default_rng(0)
    body = random_body(rng, 3, NODES)
    made = tuple(
        MeshTendon(name=f"/t{number}", body=body.name, waypoints=WAYPOINTS[kind](rng, body, waypoints))
        for number in range(TENDONS)
    )
    tendons = MeshTendons(made, body, environments=environments)
    points = device_points(tendons, rng.uniform(size=(environments, NODES, 3)))
    wanted = rng.normal(size=(environments, NODES, 3))
    forces = device_points(tendons, wanted)
    tendons.evaluate(points)
    problem = InverseProblem(tendons)
    matrices = force_matrices(tendons)[:PEERS]
    wanted = wanted.reshape(environments, -1)[:PEERS]
    solved = {}

    def ours() -> None:
        tendons.evaluate(points)
        solved["ours"] = problem.solve(forces)

    def again() -> None:
        problem.solve(forces, solved["ours"].tension)

    def non_negative() -> None:
        solved["nnls"] = [nnls(A, f)[0] for A, f in zip(matrices, wanted)]

    def bounded() -> None:
        solved["bvls"] = [lsq_linear(A, f, (0.0, np.inf), method="bvls").x for A, f in zip(matrices, wanted)]

    contestants = {ours: environments, again: environments, non_negative: PEERS, bounded: PEERS}
    for work in contestants:
        work()
    turns = [[1e3 * seconds(work) / count for work, count in contestants.items()] for _ in range(TURNS)]
    least = np.min(turns, axis=0)
    apart = max(np.abs(solved["ours"].tension[:, :PEERS].T - solved[peer]).max() for peer in ("nnls", "bvls"))
    print(f"{kind:6} {waypoints:9} {environments:12} " + " ".join(f"{one:9.3f}" for one in least) + f" {apart:9.1e}")


def main() -> None:
    """Print the milliseconds of a problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=int, default=256)
    arguments = parser.parse_args()
    wp.config.log_level = wp.LOG_ERROR
    print("kind   waypoints environments      ours same A, f      nnls      bvls     apart")
    for kind in ("nodes", "means"):
        for waypoints in (10, 40):
            measure(kind, waypoints, arguments.environments)


if __name__ == "__main__":
    main()
