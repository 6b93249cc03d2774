"""`warp-artic view`: a live simulation, or a replay, in a browser."""

from __future__ import annotations

import io
import json
import math
import threading
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

from warp_artic.cli.interrupt import interruptible
from warp_artic.cli.progress import waiting
from warp_artic.errors import SettingsError, SolveError
from warp_artic.looking.live import Live
from warp_artic.looking.replay import Replay
from warp_artic.looking.viewer import load_viser
from warp_artic.sim.launch.device import start_quietly
from warp_artic.sim.simulation import Simulation
from warp_artic.usd.source import Source, open_source

REPLAYED = 60.0
"""Frames a second of a replay."""


def run(arguments) -> int:
    """Serve until interrupted, or for as long as the arguments say."""
    viser = load_viser()
    if not 0 <= arguments.port <= 65535:
        raise SettingsError(f"port: {arguments.port} is not a number from 0 to 65535")
    if arguments.seconds is not None and not 0 <= arguments.seconds < math.inf:
        raise SettingsError(f"seconds: {arguments.seconds:g} is not a time of at least 0")
    start_quietly(arguments.device)
    source = open_source(arguments.source, arguments.stage)
    simulation = _simulation(source, arguments)
    try:
        with redirect_stdout(io.StringIO()):  # what it prints is not for programs that read our lines
            server = viser.ViserServer(arguments.host, arguments.port, label=Path(source.name).name, verbose=False)
    except OSError as error:
        raise SolveError(f"{arguments.host}:{arguments.port}: cannot be served: {error.strerror or error}") from error
    try:
        shown: Live | Replay
        if simulation is None:
            shown = Replay(server, source, arguments.stage, REPLAYED)
        else:
            # A run gives no points of skin as it goes.
            shown = Live(server, replace(source, drawing=source.drawing.without_skin()), simulation)
        _tell(arguments, server.get_port(), simulation is not None)
        over = threading.Event()
        if arguments.seconds is not None:
            timer = threading.Timer(arguments.seconds, over.set)
            timer.daemon = True
            timer.start()
        with interruptible() as stop:
            shown.run(lambda: over.is_set() or stop.is_set())
    finally:
        with redirect_stdout(io.StringIO()):
            server.stop()
    return 0


def _simulation(source: Source, arguments) -> Simulation | None:
    """What is run live: a stage that has no motion of its own; None for a replay."""
    if source.recording is not None or len(source.times) > 1:
        return None
    if source.scene is None:
        name = source.name
        raise SettingsError(f"{name}: cannot be simulated; what is wrong is listed by: warp-artic check {name}")
    with waiting("preparing; the first run on a machine compiles the kernels"):
        simulation = Simulation(source.scene, environments=arguments.environments, device=arguments.device)
        simulation.step(0)
    return simulation


def _tell(arguments, port: int, is_live: bool) -> None:
    """Where it is seen."""
    host = "localhost" if arguments.host in ("0.0.0.0", "127.0.0.1") else arguments.host
    url = f"http://{host}:{port}"
    if arguments.json:
        print(json.dumps({"url": url, "live": is_live}), flush=True)
    else:
        what = "a live simulation" if is_live else "a replay"
        print(f"{what} of {arguments.source} is at {url}; Ctrl+C ends it", flush=True)
