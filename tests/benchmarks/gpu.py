"""Contacts, elastic bodies, graphs and vector environments on a GPU: `python -m tests.benchmarks.gpu [GROUP ...]`.

Steps without contacts are measured by `warp-artic bench`. Times are those of the clock on the wall until the GPU is
done, the least and the median of some turns; float32, 240 Hz.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import warp as wp

import warp_artic as wa
from tests.benchmarks import contacts, elastic_bodies
from tests.benchmarks.overheads import CART_POLE, SCENES
from warp_artic.cli.bench_machine import commit, machine, versions
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.equilibrium import mesh_with_tendons, weights

TURNS = 5
SETTLED = 480
MANY = {"humanoid standing": (1024, 16384), "humanoid lying": (1024, 16384), "stack of 10 boxes": (64, 1024)}
MANY |= {"hand and a box": (1024, 16384), "pile of 100 boxes": (1,), "pile of 1000 boxes": (1,)}
Row = tuple[str, int, Callable[[int], object]]
"""What is measured, how many environments it has, and steps of all."""


def of_graphs(device: str) -> Iterator[Row]:
    """A step by itself, in a graph of its own, and in a burst."""
    settings = wa.SolverSettings(dt=contacts.DT, precision="float32")
    for model in ("arm", "humanoid"):
        scene = wa.read_stage(str(SCENES / f"{model}.usda"))
        for environments in (1, 1024):
            simulation = wa.Simulation(scene, environments=environments, device=device, settings=settings)
            yield f"{model}, a burst", environments, simulation.step
            yield f"{model}, calls of step(1)", environments, often(simulation.step)
            yield f"{model}, launches of a graph of one step", environments, often(simulation.capture().launch)


def of_vector_environments(device: str) -> Iterator[Row]:
    """Cart-poles, their steps alone and with observations, rewards and resets in tensors of PyTorch."""
    import torch

    settings = wa.SolverSettings(dt=contacts.DT, precision="float32")
    alone = wa.Simulation(wa.read_stage(str(CART_POLE)), environments=1024, device=device, settings=settings)
    yield "cart-poles, steps", 1024, often(alone.step)
    task = wa.Task(
        observe=lambda arrays: torch.cat([arrays.joint_position, arrays.joint_velocity], dim=1),
        reward=lambda arrays, actions: 1.0 - arrays.joint_position[:, 1] ** 2,
        terminated=lambda arrays: abs(arrays.joint_position[:, 1]) > 1.0,
        action="joint_effort",
    )
    environment = wa.VectorEnv(str(CART_POLE), task, 1024, device=device, arrays="torch", settings=settings)
    environment.reset(seed=0)
    actions = torch.zeros((1024, 2), device=device)
    yield "cart-poles, a vector environment", 1024, often(lambda: environment.step(actions))


def of_bodies(device: str) -> Iterator[Row]:
    """Implicit steps of bars of tetrahedra with tendons, in float64."""
    for cells, size, counts in (((10, 2, 2), (1.0, 0.2, 0.2), (1, 16, 256)), ((47, 6, 6), (1.0, 0.15, 0.15), (1, 16))):
        elastic_bodies.CELLS, elastic_bodies.SIZE = cells, size
        body, tendons = elastic_bodies.scene(elastic_bodies.LAWS[0])
        for environments in counts:
            mesh, on_body = mesh_with_tendons(body, tendons, environments, "float64", device)
            dynamics = ElasticDynamics(mesh, on_body, elastic_bodies.DT)
            dynamics.loads.assign(mesh.array(weights(mesh, elastic_bodies.DOWN)))
            yield f"{len(body.elements)} tetrahedra", environments, often(dynamics.step)


def of_contacts(device: str) -> Iterator[Row]:
    """The cases of `contacts`, two seconds after their start."""
    for name, counts in MANY.items():
        case = contacts.CASES[name]()
        for environments in counts:
            yield name, environments, ours(replace(case, environments=environments), device)


GROUPS = {
    "graphs": of_graphs,
    "environments": of_vector_environments,
    "bodies": of_bodies,
    "contacts": of_contacts,
}
"""What can be measured, by names for the command line."""


def ours(case: contacts.Case, device: str) -> Callable[[int], object]:
    """Steps of environments that differ, two seconds after their start."""
    settings = wa.SolverSettings(dt=contacts.DT, precision="float32")
    simulation = wa.Simulation(case.scene, environments=case.environments, device=device, settings=settings)
    if case.scene.dof_names:
        shape = case.environments, len(case.scene.dof_names)
        simulation.set_state(joint_velocity=contacts.SHAKEN * np.random.default_rng(0).normal(size=shape))
    simulation.step(SETTLED)
    return simulation.step


def often(call: Callable[[], object]) -> Callable[[int], object]:
    """A call, so many times."""

    def calls(count: int) -> None:
        for _ in range(count):
            call()

    return calls


def measure(advance: Callable[[int], object], device: str) -> list[float]:
    """Seconds of a step in each of some turns of 0.1 s."""

    def spent(count: int) -> float:
        begin = time.perf_counter()
        advance(count)
        wp.synchronize_device(device)
        return (time.perf_counter() - begin) / count

    spent(2)
    count = max(2, round(0.1 / spent(2)))
    return [spent(count) for _ in range(TURNS)]


def main() -> None:
    """Print the figures, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"any of {', '.join(GROUPS)}; default: all")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    arguments = parser.parse_args()
    wp.config.log_level = wp.LOG_ERROR
    wp.init()
    device = wp.get_device(arguments.device)
    results = []

    def write() -> None:
        head = {"unit": "microseconds for a step of all environments", "commit": commit(), "versions": versions()}
        content = head | {"machine": machine({str(device): device.name}), "results": results}
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)

    print(f"{device.name}: microseconds for a step of all environments, least and median; million steps a second")
    chosen = arguments.groups or GROUPS
    for name, environments, advance in (row for group in chosen for row in GROUPS[group](str(device))):
        times = measure(advance, str(device))
        least, median = 1e6 * min(times), 1e6 * float(np.median(times))
        print(f"{name:44s} {environments:6d} {least:10.1f} {median:10.1f} {environments / least:9.3f}", flush=True)
        results.append({"name": name, "environments": environments, "least": least, "median": median})
        if arguments.json:
            write()


if __name__ == "__main__":
    main()
