"""`warp-artic render`: a picture or a loop of any stage, layer or recording."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from warp_artic.cli.progress import progress, waiting
from warp_artic.errors import SettingsError
from warp_artic.looking.picture import MOVING, STILL, Look, Pictures, load_pillow, write_loop, write_still
from warp_artic.looking.simulated import simulated
from warp_artic.sim.files.whole_file import check_place
from warp_artic.sim.launch.device import start_quietly
from warp_artic.usd.source import open_source

SHOWN = 3.0
"""Seconds of a loop where nothing says how many."""


def run(arguments) -> int:
    """Draw as the arguments say."""
    load_pillow()
    times = _times(arguments.times)
    suffix = Path(arguments.output).suffix
    is_moving = times is None and suffix in MOVING
    if suffix not in {*STILL, *MOVING}:
        raise SettingsError(f"{arguments.output}: a picture is .png, .jpg or .webp, a loop .webp or .gif")
    if suffix not in STILL and not is_moving:
        raise SettingsError(f"{arguments.output}: poses at --times are one picture, .png, .jpg or .webp")
    rate = arguments.frames_per_second
    if not 0 < rate < math.inf:
        raise SettingsError(f"frames per second: {rate:g} is not a finite number above 0")
    seconds = arguments.duration if arguments.duration is not None else SHOWN
    if not 0.0 <= seconds < math.inf:
        raise SettingsError(f"duration: {seconds:g} s is not a time of at least 0")
    check_place(arguments.output)
    start_quietly(arguments.device)
    fine = 240.0 if times else rate
    source = open_source(arguments.source, arguments.stage, arguments.environment, fine)
    last = seconds if is_moving else max(times or [0.0])
    if len(source.times) == 1 and last > 0.0 and source.recording is None:
        with waiting("simulating the stage"):
            source = simulated(source, last, fine, arguments.device)
    if times is None:
        end = source.times[0] + (seconds + 1e-9 if is_moving else 0.0)
        times = [time for time in source.times if time <= end]
    elif max(times) > source.times[-1] + 0.5 / fine:
        raise SettingsError(f"times: {max(times):g} s; {source.name} ends at {source.times[-1]:g} s")
    width, height = _size(arguments.size)
    look = Look(
        width=width,
        height=height,
        azimuth=arguments.azimuth,
        elevation=arguments.elevation,
        ground=not arguments.no_ground,
        scale=not arguments.no_scale,
        label=arguments.label,
        clock=arguments.clock,
        trails=tuple(arguments.trail),
        device=arguments.device,
    )
    pictures = Pictures(source, look, times)
    if is_moving:
        with progress("drawing", len(times)) as advance:
            write_loop(arguments.output, pictures.loop(advance), rate)
    else:
        write_still(arguments.output, pictures.still())
    _tell(arguments, len(times), times)
    return 0


def _times(text: str | None) -> list[float] | None:
    """Times [s] of poses; None where none are given."""
    if text is None:
        return None
    try:
        times = [float(word) for word in text.split(",")]
    except ValueError:
        raise SettingsError(f"times: {text!r} is not a list of seconds, such as 0,0.5,1") from None
    if not times or not all(np.isfinite(times)) or min(times) < 0.0:
        raise SettingsError(f"times: {text!r}; they are finite, and at least 0")
    return sorted(times)


def _size(text: str) -> tuple[int, int]:
    """Width and height."""
    width, cross, height = text.partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise SettingsError(f"size: {text!r} is not a width and a height, such as 640x440")
    return int(width), int(height)


def _tell(arguments, count: int, times: list[float]) -> None:
    """What was written."""
    size = Path(arguments.output).stat().st_size
    if arguments.json:
        found = {"output": arguments.output, "bytes": size, "poses": count, "from": times[0], "to": times[-1]}
        print(json.dumps(found, indent=1))
    else:
        print(f"wrote {arguments.output}, {size / 1e3:,.0f} kB")
