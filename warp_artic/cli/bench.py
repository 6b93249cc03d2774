"""`warp-artic bench`: steps and the dynamics suite of robots and chains, beside peers in the same run.

All figures are microseconds for one environment.
"""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from pathlib import Path

from warp_artic.cli.arguments import PEERS, STDOUT
from warp_artic.cli.bench_machine import commit, machine, versions
from warp_artic.cli.bench_models import MODELS, read_model
from warp_artic.cli.bench_ours import Ours
from warp_artic.cli.bench_plot import check_plot, plot
from warp_artic.cli.bench_processes import RemotePeer, start_peers
from warp_artic.cli.bench_rows import QUANTITIES, WITH_PEERS, measure_quantity
from warp_artic.cli.progress import waiting
from warp_artic.cli.table import show
from warp_artic.errors import SettingsError
from warp_artic.sim.files.whole_file import check_place, written_whole
from warp_artic.sim.launch.device import core_count, device_name, device_of, gpu_names, start_quietly


def run(arguments) -> int:
    """Measure, print tables, and write the figures and a plot where asked."""
    _check(arguments)
    if arguments.json != STDOUT:
        content = _measure(arguments)
    else:
        with redirect_stdout(sys.stderr):
            content = _measure(arguments)
        print(content, end="")
    if arguments.json not in (None, STDOUT):
        with written_whole(arguments.json) as partial:
            partial.write_text(content, encoding="utf-8")
    return 0


def _measure(arguments) -> str:
    """Measure, print tables and draw the plot where asked; the figures as JSON."""
    start_quietly(next((device for device in arguments.device or () if device != "cpu"), "cpu"))
    names = arguments.device or ["cpu", *gpu_names()[:1]]
    devices = list(dict.fromkeys(map(device_of, names)))
    ours = [each for device in devices for each in _ours(device, arguments)]
    results: list[dict] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="warp_artic_bench_")))
        models = [read_model(name, folder) for name in arguments.models or MODELS]
        wanted = (PEERS if arguments.peers is None else arguments.peers) if WITH_PEERS & set(arguments.measure) else ()
        peers = start_peers(arguments.peer_python, wanted, must_be_there=arguments.peers is not None)
        for process in {peer.process for peer in peers}:
            stack.callback(process.close)
        print(f"microseconds for an environment, least/median of {arguments.repeats} runs; dt 1/240", flush=True)
        for quantity in arguments.measure:
            for model in models:
                with waiting(f"{model.name}: {QUANTITIES[quantity]}"):
                    sheet = measure_quantity(arguments, model, quantity, ours, peers)
                if sheet.rows:
                    print()
                    show(sheet.tables())
                    sys.stdout.flush()
                results += sheet.results
    if arguments.plot:
        plot(results, arguments.plot)
    return _as_json(devices, peers, results)


def _check(arguments) -> None:
    """Say what is wrong before there are minutes of measuring."""
    sizes = [("environments", count) for count in arguments.environments]
    sizes += [("threads", count) for count in arguments.threads or ()]
    for name, value in [("repeats", arguments.repeats), ("seconds", arguments.seconds), *sizes]:
        if value <= 0:
            raise SettingsError(f"{name}: {value:g} is not above 0")
    unknown = [name for name in arguments.measure if name not in QUANTITIES]
    if unknown:
        raise SettingsError(f"measure: {unknown[0]!r} is not one of {', '.join(QUANTITIES)}")
    for file in filter(None, (None if arguments.json == STDOUT else arguments.json, arguments.plot)):
        check_place(file)
    if arguments.plot:
        if "step" not in arguments.measure:
            raise SettingsError("plot: it shows steps, which are not measured; see --measure")
        check_plot(arguments.plot)


def _ours(device: str, arguments) -> list[Ours]:
    """The ways that we are measured on a device: precisions, numbers of threads, and a step at a time."""
    threads = sorted({*(arguments.threads or (1, core_count()))}) if device == "cpu" else [None]
    precisions = list(dict.fromkeys(arguments.precision))
    steps = [Ours(device, precision, count) for precision in precisions for count in threads]
    return [*steps, replace(steps[0], in_graph=True)]


def _as_json(devices: list[str], peers: list[RemotePeer], results: list[dict]) -> str:
    """The figures, with a line for each result."""
    content = {
        "unit": "microseconds for an environment, but seconds of first_step",
        "machine": machine({device: device_name(device) for device in devices}),
        "versions": versions(),
        "peers": {peer.name: peer.label for peer in peers},
        "commit": commit(),
    }
    head = json.dumps(content, indent=1)[:-2]
    lines = ",\n  ".join(json.dumps(result) for result in results)
    return f'{head},\n "results": [\n  {lines}\n ]\n}}\n'
