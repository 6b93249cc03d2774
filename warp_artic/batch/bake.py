"""Runs of a batch back on a stage, and runs stepped again to see whether they are as they were.

chosen.usda            shows run 17 or 42, by its variant set `run`
chosen.runs/17.edits.usda      the values of run 17, on the prims that they came from, over the stage
chosen.runs/17.usdc            its motion, over that
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warp_artic.batch.results import Batch
from warp_artic.batch.stepping import step_runs
from warp_artic.batch.store import RUNS
from warp_artic.errors import SettingsError
from warp_artic.usd.write_results import write_results
from warp_artic.usd.write_runs import write_choice, write_side_by_side


@dataclass(frozen=True)
class Baked:
    """A run on a stage."""

    run: int
    layer: Path
    """Its motion, over its values, over the stage."""
    edits: Path
    """Its values alone, over the stage."""
    not_authored: tuple[str, ...]
    """What was varied that no attribute of the stage has, such as parameters in SI units."""


def bake(
    batch: Batch,
    runs: Sequence[int],
    output: str | os.PathLike,
    side_by_side: int | None = None,
    frames_per_second: float | None = None,
) -> list[Baked]:
    """Step runs again and write them as a stage.

    Args:
        batch: Where they are.
        runs: Their indices.
        output: The stage, .usda, .usd or .usdc; its runs go to a folder beside it.
        side_by_side: So many runs in a line, all shown together; by default a variant set chooses one.
        frames_per_second: Samples of the motion; by default the frame rate of the stage.

    Raises:
        SettingsError: There is no such run, or it could not be simulated.
        SolveError: Something cannot be written.
    """
    output = Path(output)
    if output.suffix not in (".usda", ".usd", ".usdc"):
        raise SettingsError(f"{output}: the name of a stage ends in .usda, .usd or .usdc")
    if not runs:
        raise SettingsError("runs: none is chosen")
    folder = output.with_name(f"{output.stem}.runs")
    recordings = {run: batch.recording(run) for run in dict.fromkeys(runs)}
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be made: {error.strerror}") from None
    found = []
    for run, recording in recordings.items():
        case, values = batch.case(run), batch.values(run)[0]
        edits, layer = folder / f"{run}.edits.usda", folder / f"{run}.usdc"
        places = {column.place: float(value) for column, value in zip(case.columns, values) if column.place}
        case.stage.write_edits(places, case.variants, edits)
        write_results(edits, recording, layer, frames_per_second=frames_per_second)
        left = tuple(column.name for column in case.columns if column.place is None)
        found.append(Baked(run, layer, edits, left))
    shown = [(one.run, one.layer) for one in found]
    if side_by_side is None:
        write_choice(shown, output)
    else:
        write_side_by_side(shown, side_by_side, output)
    return found


@dataclass(frozen=True)
class Difference:
    """A column in which a run that is stepped again differs."""

    run: int
    column: str
    before: object
    now: object

    def __str__(self) -> str:
        return f"run {self.run}: {self.column} was {self.before} and is {self.now}"


def verify(batch: Batch, sample: int, seed: int = 0) -> tuple[int, list[Difference]]:
    """Step runs again that are picked at random, with the values of their rows, and compare rows and records bitwise.

    Args:
        batch: Where they are.
        sample: How many.
        seed: Of the choice.

    Returns:
        How many were stepped again, and where they differ.

    Raises:
        SettingsError: Runs were stepped on a device of a kind that is not here.
    """
    there = np.concatenate([np.arange(one.first, one.last) for one in batch.shards] or [np.zeros(0, int)])
    picked = np.sort(np.random.default_rng(seed).permutation(there)[:sample])
    for one in batch.shards:
        if ((picked >= one.first) & (picked < one.last)).any() and batch.device(one) not in batch.worker.device:
            raise SettingsError(
                f"{batch.store.path(RUNS, one)}: was stepped on {batch.device(one)}, where runs are bitwise the same; "
                f"here they are stepped on {batch.worker.device}"
            )
    found: list[Difference] = []
    groups: dict[tuple, list[int]] = {}
    for run in picked.tolist():
        row = batch.run_table(run)
        if row["status"][0] != "error":
            selection = tuple(str(row[name][0]) for name in batch.worker.cases.variables)
            groups.setdefault(selection, []).append(run)
    for selection, runs in groups.items():
        case = batch.worker.cases.of(selection)
        values = np.concatenate([batch.values(run) for run in runs])
        outcome = step_runs(case, np.array(runs), values, batch.worker.inputs, len(runs), lambda steps: None)
        for place, run in enumerate(runs):
            row = batch.run_table(run)
            now = {name: column[place] for name, column in outcome.summary.items()}
            now |= {"end_step": outcome.end_step[place], "status": outcome.status[place]}
            now["failure"] = outcome.failure[place]
            for name, value in now.items():
                before = row[name][0]
                if value != before and not (value != value and before != before):
                    found.append(Difference(run, name, before, value))
            if outcome.motion and (own := outcome.motion["run"] == run).any():
                kept = batch.motion(run)
                for name, column in outcome.motion.items():
                    if not np.array_equal(kept[name], column[own], equal_nan=True):
                        found.append(Difference(run, name, "recorded", "other records"))
    return len(picked), found
