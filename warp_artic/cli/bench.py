"""`warp-artic bench`: microseconds per environment-step of robots and chains, beside peers in the same run."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

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
SCENES = Path(__file__).parent / "bench_scenes"


def run(arguments) -> int:
    """Measure, print a table, and write the figures where asked."""
    for name, value in (("repeats", arguments.repeats), ("seconds", arguments.seconds)):
        if value <= 0:
            raise SettingsError(f"{name}: {value:g} is not above 0")
    start_quietly(arguments.device)
    results = []
    print(f"microseconds per environment-step on {arguments.device}, least / median of {arguments.repeats}; dt 1/240")
    for model in arguments.models or MODELS:
        scene, xml = _model(model)
        print(f"\n{model}: {MODELS[model]}\n{'':<34}" + "".join(f"{count:>18}" for count in arguments.environments))
        for name, make in _contestants(arguments, scene, xml):
            cells = []
            for count in arguments.environments:
                steps = make(count)
                times = [] if steps is None else _measure(steps, count, arguments.repeats, arguments.seconds)
                if times:
                    figures = {"least": min(times), "median": statistics.median(times), "all": times}
                    results.append({"model": model, "name": name, "environments": count, **figures})
                cells.append(f"{min(times):.3g} / {statistics.median(times):.3g}" if times else "not installed")
            print(f"{name:<34}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
    if arguments.json:
        content = {"unit": "microseconds per environment-step", "device": arguments.device, "results": results}
        Path(arguments.json).write_text(json.dumps(content, indent=1), encoding="utf-8")
    return 0


def _model(name: str) -> tuple[Scene, Path]:
    """The scene of a model, and the file of its twin for the peers."""
    if name not in MODELS:
        raise SettingsError(f"models: {name!r} is not one of {', '.join(MODELS)}")
    if not (SCENES / f"{name}.usda").exists():
        raise SettingsError(f"models: {name} is not in this installation ({SCENES}); run bench from a checkout")
    return read_stage(str(SCENES / f"{name}.usda")), SCENES / f"{name}.xml"


def _contestants(arguments, scene: Scene, xml: Path):
    """Names, each with a function from a number of environments to a function that steps them."""
    settings = SolverSettings(dt=1.0 / 240.0, precision=arguments.precision)

    def ours(environments: int) -> Callable[[int], None]:
        simulation = Simulation(scene, environments=environments, device=arguments.device, settings=settings)

        def steps(count: int) -> None:
            simulation.step(count)
            wait_for(simulation.device)

        return steps

    yield f"warp_artic {version('warp-artic')} ({arguments.precision})", ours
    if not arguments.no_peers:
        for name, peer in PEERS.items():
            yield f"{name} (float64, one thread)", lambda count, peer=peer: peer(xml, scene, count)


def _measure(steps: Callable[[int], None], environments: int, repeats: int, seconds: float) -> list[float]:
    """Microseconds per environment-step of each repeat, of about the given length."""
    steps(2)
    begin = time.perf_counter()
    steps(10)
    count = max(10, min(20_000, round(10 * seconds / (time.perf_counter() - begin))))
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        steps(count)
        times.append(1e6 * (time.perf_counter() - begin) / (count * environments))
    return times
