"""`warp-artic warmup`: compile the kernels that simulations will need before they need them."""

from __future__ import annotations

import json
import time

from warp_artic.cli.progress import waiting
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.sim.launch.device import device_of, start_quietly
from warp_artic.sim.launch.warmup import compile_all, kernels_ahead
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.read_stage import read_stage


def run(arguments) -> int:
    """Compile, and print the seconds of each kernel and of all together."""
    if arguments.jobs == 0:
        raise SettingsError("jobs: 0 is not an integer of at least 1")
    precisions = [
        SolverSettings(solver=arguments.solver, integrator=arguments.integrator, precision=precision)
        for precision in arguments.precision or [None]
    ]
    start_quietly(arguments.device)
    device = device_of(arguments.device)
    scene = read_stage(arguments.stage, dialects=arguments.dialects) if arguments.stage else None
    resolved = [settings.resolved(scene or Scene(articulations=())) for settings in precisions]
    wanted = kernels_ahead(
        resolved[0],
        [settings.precision for settings in resolved],
        device,
        tendons=scene is None or any(tree.tendon_names for tree in scene.articulations),
        contacts=scene is None or any(tree.constraints_of(ContactPair) for tree in scene.articulations),
        dynamics=arguments.dynamics,
    )
    begin = time.perf_counter()
    spent = {}
    with waiting(f"compiling {len(wanted)} kernels"):
        for name, seconds in compile_all(wanted, device, arguments.jobs):
            spent[name] = seconds
            if not arguments.json:
                print(f"{seconds:7.1f} s  {name}", flush=True)
    total = time.perf_counter() - begin
    if arguments.json:
        print(json.dumps({"device": device, "seconds": total, "kernels": spent}, indent=1))
    else:
        print(f"{total:7.1f} s  for {len(wanted)} kernels on {device}")
    return 0
