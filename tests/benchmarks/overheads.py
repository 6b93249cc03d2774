"""What calls cost beside the steps they are about, on one core: `python -m tests.benchmarks.overheads`.

All rows of a block take turns, and each is told beside the first one, a step as it is in one call of many. Times are
of the thread's own clock, in float32: the least of several turns, and their median.

- calls: of `step(1)` and of a launch of a captured graph, for one environment;
- records: of joint states alone, of what `simulate` bakes, and of everything, with each step and with each fourth;
- some environments: to set, reset, copy and put back some of 1,024 cart-poles, by indices and by a mask;
- small elastic bodies: an implicit step of 240 tetrahedra with four tendons, in float64, on one thread and on all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import warp_artic as wa
from tests.benchmarks import elastic_bodies
from tests.meshes.bodies import LAWS
from warp_artic.cli.recorded import recorded
from warp_artic.kernels.threads import usable_threads
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.equilibrium import mesh_with_tendons, weights

SCENES = Path(wa.__file__).parent / "cli" / "bench_scenes"
CART_POLE = Path(__file__).parents[2] / "samples" / "scenes" / "cart_pole.usda"
TURNS = 15
JOINTS = ("joint_position", "joint_velocity")


def simulation(stage: Path, environments: int = 1) -> wa.Simulation:
    """On one thread, after 16 steps, when limits hold."""
    found = wa.Simulation(wa.read_stage(str(stage)), environments=environments, threads=1)
    found.step(16)
    return found


def tell(
    title: str,
    rows: dict[str, tuple[Callable[[], object], int]],
    prepare: Callable[[], object],
    clock: Callable[[], float] = time.thread_time,
) -> None:
    """Print microseconds of each row, of a call that counts for so many steps or calls; `prepare` goes before it."""
    found: dict[str, list[float]] = {name: [] for name in rows}
    for turn in range(TURNS + 1):
        for name, (call, count) in rows.items():
            prepare()
            start = clock()
            call()
            if turn > 0:  # the first one has kernels to load
                found[name].append((clock() - start) / count * 1e6)
    print(title)
    least = {name: min(times) for name, times in found.items()}
    first = next(iter(least.values()))
    for name, times in found.items():
        more = f"{least[name] - first:+9.2f} us, {least[name] / first:6.2f} times"
        print(f"  {name:44s} {least[name]:9.2f} us {np.median(times):9.2f} us  {more}")


def often(call: Callable[[], object], count: int) -> Callable[[], None]:
    """A call, so many times."""

    def calls() -> None:
        for _ in range(count):
            call()

    return calls


def calls() -> None:
    """Of a step, from Python and in a graph."""
    for model in ("pendulum", "arm", "humanoid"):
        one = simulation(SCENES / f"{model}.usda")
        start, graph = one.snapshot(), one.capture(1)
        rows = {
            "a step of 1000 in a call": (lambda one=one: one.step(1000), 1000),
            "step(1)": (often(one.step, 1000), 1000),
            "a launch of a graph of one step": (often(graph.launch, 1000), 1000),
        }
        tell(f"{model}, one environment", rows, lambda one=one, start=start: one.apply(start))


def records() -> None:
    """Beside as many steps."""
    baked = recorded(True, False, False)
    for model, environments, steps in (("arm", 1, 4000), ("arm", 1024, 40), ("humanoid", 1024, 10)):
        one = simulation(SCENES / f"{model}.usda", environments)
        start = one.snapshot()
        rows = {"a step": (lambda one=one, steps=steps: one.step(steps), steps)}
        for name, quantities in (("joint states", JOINTS), ("what is baked", baked), ("everything", None)):
            for every in (1, 4):
                rows[f"recorded with {name}, every {every}"] = (
                    lambda one=one, steps=steps, every=every, own=quantities: one.record(steps, every, quantities=own),
                    steps,
                )
        tell(f"{model}, {environments} environments", rows, lambda one=one, start=start: one.apply(start))


def some_environments() -> None:
    """Of 1,024 cart-poles, beside a step of all."""
    one = simulation(CART_POLE, 1024)
    rng, everything = np.random.default_rng(0), one.snapshot()
    rows = {"a step of all": (often(one.step, 10), 10)}
    for count in (1, 17, 333):
        indices = rng.choice(1024, count, replace=False)
        mask, values = np.isin(np.arange(1024), indices), np.zeros((count, len(one.joint_names)))
        own = one.snapshot(environments=indices)
        for name, call in {
            "set_state": lambda i=indices, q=values: one.set_state(joint_position=q, environments=i),
            "reset": lambda i=indices: one.reset(i),
            "snapshot": lambda i=indices: one.snapshot(environments=i),
            "apply, indices of all": lambda i=indices: one.apply(everything, environments=i),
            "apply, mask of all": lambda m=mask: one.apply(everything, environments=m),
            "apply, of as many": lambda i=indices, s=own: one.apply(s, environments=i),
        }.items():
            rows[f"{name}, {count}"] = (often(call, 5), 5)
    tell("some of 1024 cart-poles", rows, lambda: None)


def small_bodies() -> None:
    """A bar of 240 tetrahedra, 1 and 16 times, from rest on; on one thread, and on as many as simulations have by
    default, in time of the clock on the wall."""
    elastic_bodies.CELLS, elastic_bodies.SIZE = (10, 2, 2), (1.0, 0.2, 0.2)
    elastic_bodies.TENDONS, elastic_bodies.GAP = 4, 2
    for law in LAWS:
        for threads in sorted({1, usable_threads()}):
            rows, prepares = {}, []
            for environments in (1, 16):
                body, tendons = elastic_bodies.scene(law)
                mesh, on_body = mesh_with_tendons(body, tendons, environments, "float64")
                dynamics = ElasticDynamics(mesh, on_body, elastic_bodies.DT, threads=threads)
                dynamics.loads.assign(mesh.array(weights(mesh, elastic_bodies.DOWN)))
                rest = mesh.array(body.points)
                rows[f"a step of {environments}"] = (often(dynamics.step, elastic_bodies.STEPS), elastic_bodies.STEPS)
                prepares.append((dynamics, rest))

            def prepare(prepares=tuple(prepares)) -> None:
                for dynamics, rest in prepares:
                    dynamics.points.assign(rest)
                    dynamics.velocities.zero_()

            clock = time.thread_time if threads == 1 else time.perf_counter
            tell(f"{len(body.elements)} tetrahedra, {law.value}, threads: {threads}", rows, prepare, clock)


if __name__ == "__main__":
    for block in (calls, records, some_environments, small_bodies):
        block()
