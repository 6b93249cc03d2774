"""`warp-artic bench`: steps and the dynamics suite of robots and chains, beside peers in the same run.

All figures are microseconds for one environment.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path

from warp_artic.cli.bench_dynamics import Peer, mujoco_dynamics, ours, pinocchio_dynamics
from warp_artic.cli.bench_peers import mujoco_steps, pinocchio_steps
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.sim.device import start_quietly, wait_for
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.read_stage import read_stage

MODELS = {
    "humanoid": "27 dofs, floating, drives and 21 limits",
    "arm": "7 dofs, drives",
    "hand_tendon": "24 dofs, drives, 24 limits and 4 fixed tendons",
    "hand_mimic": "24 dofs, drives, 24 limits and 4 hard mimic joints",
    "chain2": "2 dofs, free",
    "chain6": "6 dofs, free",
}
PEERS = {"mujoco rollout": mujoco_steps, "pin.aba + Euler": pinocchio_steps}
QUANTITIES = {
    "step": "a time step",
    "mass_matrix": "mass matrix",
    "bias_force": "gravity and Coriolis efforts",
    "jacobian": "Jacobians of all links",
    "joint_force": "inverse dynamics",
}
DYNAMICS_PEERS = {"mujoco": mujoco_dynamics, "pinocchio": pinocchio_dynamics}
SCENES = Path(__file__).parent / "bench_scenes"


def run(arguments) -> int:
    """Measure, print a table, and write the figures where asked."""
    for name, value in (("repeats", arguments.repeats), ("seconds", arguments.seconds)):
        if value <= 0:
            raise SettingsError(f"{name}: {value:g} is not above 0")
    start_quietly(arguments.device)
    unknown = [name for name in arguments.measure or () if name not in QUANTITIES]
    if unknown:
        raise SettingsError(f"measure: {unknown[0]!r} is not one of {', '.join(QUANTITIES)}")
    results = []
    print(f"microseconds per environment on {arguments.device}, least / median of {arguments.repeats}; dt 1/240")
    if not arguments.no_peers:
        print("peers in float64, results kept; (%): the part of calls from Python that is taken off, one hinge's time")
    for model in arguments.models or MODELS:
        scene, xml = _model(model)
        for quantity in arguments.measure or QUANTITIES:
            title = f"{model}: {MODELS[model] if quantity == 'step' else QUANTITIES[quantity]}"
            print(f"\n{title}\n{'':<34}" + "".join(f"{count:>18}" for count in arguments.environments))
            contestants = _contestants if quantity == "step" else partial(_dynamics_contestants, quantity=quantity)
            for name, make in contestants(arguments, scene, xml):
                case = {"model": model, "quantity": quantity, "name": name}
                results.extend(_row(arguments, case, make))
    if arguments.json:
        content = {"unit": "microseconds per environment", "device": arguments.device, "results": results}
        Path(arguments.json).write_text(json.dumps(content, indent=1), encoding="utf-8")
    return 0


def _row(arguments, case: dict, make) -> Iterator[dict]:
    """Measure a contestant for each number of environments, and print the row."""
    cells = []
    for count in arguments.environments:
        peer = make(count)
        if peer is None:
            cells.append("not installed")
            continue
        times, calls = _measure(peer, count, arguments.repeats, arguments.seconds)
        taken_off = min(calls, default=0.0)
        share = taken_off / min(times)
        times = [value - taken_off for value in times]
        figures = {"least": min(times), "median": statistics.median(times), "all": times, "taken_off": taken_off}
        yield {**case, "environments": count, **figures}
        cells.append(f"{min(times):.3g} / {statistics.median(times):.3g}" + f" ({100 * share:.0f}%)" * bool(calls))
    print(f"{case['name']:<34}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def _model(name: str) -> tuple[Scene, Path]:
    """The scene of a model, and the file of its twin for the peers."""
    if name not in MODELS:
        raise SettingsError(f"models: {name!r} is not one of {', '.join(MODELS)}")
    if not (SCENES / f"{name}.usda").exists():
        raise SettingsError(f"models: {name} is not in this installation ({SCENES}); run bench from a checkout")
    return read_stage(str(SCENES / f"{name}.usda")), SCENES / f"{name}.xml"


def _contestants(arguments, scene: Scene, xml: Path):
    """Names, each with a function from a number of environments to what steps them."""

    def stepped(environments: int) -> Peer:
        simulation = _simulation(arguments, scene, environments)

        def steps(count: int) -> None:
            simulation.step(count)
            wait_for(simulation.device)

        return Peer(steps)

    yield _our_name(arguments), stepped
    if not arguments.no_peers:
        for name, peer in PEERS.items():
            yield f"{name} (float64, one thread)", partial(_stepped_peer, peer, xml, scene)


def _stepped_peer(peer, xml: Path, scene: Scene, environments: int) -> Peer | None:
    steps = peer(xml, scene, environments)
    return steps and Peer(steps)


def _dynamics_contestants(arguments, scene: Scene, xml: Path, quantity: str):
    """Names, each with a function from a number of environments to what computes a quantity of the dynamics suite."""
    yield _our_name(arguments), lambda count: Peer(ours(_simulation(arguments, scene, count), quantity))
    if not arguments.no_peers:
        for name, peer in DYNAMICS_PEERS.items():
            yield f"{name} (float64, one thread)", partial(peer, xml, quantity)


def _our_name(arguments) -> str:
    threads = f", {arguments.threads} threads" if arguments.threads > 1 else ""
    return f"warp_artic {version('warp-artic')} ({arguments.precision}{threads})"


def _simulation(arguments, scene: Scene, environments: int) -> Simulation:
    settings = SolverSettings(dt=1.0 / 240.0, precision=arguments.precision)
    threads = arguments.threads if arguments.device.startswith("cpu") else None
    return Simulation(scene, environments=environments, device=arguments.device, settings=settings, threads=threads)


def _measure(peer: Peer, environments: int, repeats: int, seconds: float) -> tuple[list[float], list[float]]:
    """Microseconds per environment and evaluation of each repeat of about the given length, and those of `calls`.

    They take turns, so that both see the machine as quiet as it gets.
    """
    timed = [evaluate for evaluate in (peer.evaluate, peer.calls) if evaluate is not None]
    counts = [_count(evaluate, seconds) for evaluate in timed]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for evaluate, count, found in zip(timed, counts, times):
            begin = time.perf_counter()
            evaluate(count)
            found.append(1e6 * (time.perf_counter() - begin) / (count * environments))
    return times


def _count(evaluate: Callable[[int], None], seconds: float) -> int:
    """How many evaluations take about that long."""
    evaluate(2)
    begin = time.perf_counter()
    evaluate(10)
    return max(10, min(20_000, round(10 * seconds / (time.perf_counter() - begin))))
