"""`warp-artic check --dynamics`: residuals of the identities of dynamics on a stage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from warp_artic.cli.table import Column, Table
from warp_artic.sim.launch.device import start_quietly
from warp_artic.sim.measure.verify import Residual
from warp_artic.sim.simulation import Simulation
from warp_artic.usd.read_stage import read_stage

NUMBERS = ("residual", "allowed")
COLUMNS = tuple(
    Column(name, is_text=name not in NUMBERS) for name in ("identity", "precision", *NUMBERS, "", "largest at")
)


def residuals(arguments) -> tuple[Residual, ...]:
    """Of the stage, with the settings that it authors."""
    start_quietly("cpu")
    scene = read_stage(arguments.stage, dialects=arguments.dialects)
    return Simulation(scene).verify(arguments.states, arguments.seed)


def as_json(found: Iterable[Residual]) -> list[dict]:
    """Plain values; a residual that is no number is null."""
    return [
        {**asdict(item), "residual": item.residual if math.isfinite(item.residual) else None, "holds": item.holds}
        for item in found
    ]


def blocks(found: tuple[Residual, ...]) -> Iterator[Table | str]:
    """A table for each articulation, and how many identities hold."""
    for path in dict.fromkeys(item.articulation for item in found):
        yield Table(path, COLUMNS, tuple(_cells(item) for item in found if item.articulation == path), wraps=True)
    if found:
        count = sum(item.holds for item in found)
        yield f"{count} identities hold, {len(found) - count} do not"


def _cells(item: Residual) -> tuple[str, ...]:
    state = "start state" if item.state == 0 else f"random state {item.state}"
    place = ", ".join(filter(None, (item.worst, state))) if item.residual else ""
    numbers = f"{item.residual:.1e}", f"{item.allowed:.0e}"
    return item.identity, item.precision, *numbers, "holds" if item.holds else "FAILS", place
