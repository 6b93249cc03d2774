"""`warp-artic bench`: steps and the dynamics suite of robots and chains, beside peers in the same run.

All figures are microseconds for one environment.
"""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from warp_artic.cli.bench_machine import commit, machine, versions
from warp_artic.cli.bench_models import MODELS, read_model
from warp_artic.cli.bench_ours import Ours
from warp_artic.cli.bench_plot import plot
from warp_artic.cli.bench_processes import start_peers
from warp_artic.cli.bench_rows import QUANTITIES, measure_quantity
from warp_artic.cli.progress import waiting
from warp_artic.cli.table import show
from warp_artic.errors import SettingsError
from warp_artic.sim.device import device_name, gpu_names, start_quietly


def run(arguments) -> int:
    """Measure, print tables, and write the figures and a plot where asked."""
    for name, value in (("repeats", arguments.repeats), ("seconds", arguments.seconds)):
        if value <= 0:
            raise SettingsError(f"{name}: {value:g} is not above 0")
    unknown = [name for name in arguments.measure if name not in QUANTITIES]
    if unknown:
        raise SettingsError(f"measure: {unknown[0]!r} is not one of {', '.join(QUANTITIES)}")
    start_quietly(next((device for device in arguments.device or () if device != "cpu"), "cpu"))
    devices = arguments.device or ["cpu", *gpu_names()[:1]]
    contestants = [Ours(device, precision) for device in devices for precision in arguments.precision]
    results: list[dict] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="warp_artic_bench_")))
        models = [read_model(name, folder) for name in arguments.models or MODELS]
        wanted = arguments.peers if "step" in arguments.measure else []
        peers = start_peers(arguments.peer_python, wanted) if wanted else {}
        for process in set(peers.values()):
            stack.callback(process.close)
        print(f"microseconds for an environment, least/median of {arguments.repeats} runs; dt 1/240", flush=True)
        for quantity in arguments.measure:
            for model in models:
                with waiting(f"{model.name}: {QUANTITIES[quantity]}"):
                    sheet = measure_quantity(arguments, model, quantity, contestants, peers)
                if sheet.rows:
                    print()
                    show(sheet.tables())
                    sys.stdout.flush()
                results += sheet.results
    if arguments.json:
        _write(arguments, devices, {name: process.labels[name] for name, process in peers.items()}, results)
    if arguments.plot:
        plot(results, arguments.plot)
    return 0


def _write(arguments, devices: list[str], peers: dict[str, str], results: list[dict]) -> None:
    """A file with a line for each result."""
    content = {
        "unit": "microseconds for an environment, but seconds of first_step",
        "clock": arguments.clock,
        "machine": machine({device: device_name(device) for device in devices}),
        "versions": versions(),
        "peers": peers,
        "commit": commit(),
    }
    head = json.dumps(content, indent=1)[:-2]
    lines = ",\n  ".join(json.dumps(result) for result in results)
    Path(arguments.json).write_text(f'{head},\n "results": [\n  {lines}\n ]\n}}\n', encoding="utf-8")
