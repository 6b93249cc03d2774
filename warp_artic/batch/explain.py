"""What a plan comes to before it is run: what varies, from where to where, how many shards, bytes and seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from warp_artic.batch.columns import VariedColumn
from warp_artic.batch.plan import DEFAULT_SHARD, name_of
from warp_artic.batch.shards import Worker

PACKED = 0.6
"""Share of its size that the motion of a mechanism takes in a file."""
TRIAL = 0.5
"""Longest trial of steps [s]."""


@dataclass(frozen=True)
class Varied:
    """A variable of a plan on its stage."""

    name: str
    kind: str
    operation: str
    distribution: dict
    prims: tuple[str, ...]
    authored: tuple[float, float] | None
    """The least and the largest of what is authored."""
    values: tuple[float, float] | None
    """The least and the largest value that runs may have."""


@dataclass(frozen=True)
class Explanation:
    """What a plan comes to."""

    runs: int
    steps: int
    dt: float
    shard: int
    shards: int
    varied: tuple[Varied, ...]
    bytes: int
    """About what all files take."""
    seconds: float
    """About what all runs take on this machine."""
    is_read: bool
    """Whether the stage is read for each run, as numbers of steps do not follow values in proportion."""


def explained(worker: Worker) -> Explanation:
    """What a plan comes to; its steps are timed for half a second.

    Raises:
        SettingsError, StageError, DescriptionError: Something is wrong of the plan.
    """
    worker.check()
    plan, case = worker.plan, worker.cases.all()[0]
    keeps_motion = plan.record.quantities and not plan.record.of_failed
    kept = len(range(*plan.record.slice().indices(plan.run_count))) if keeps_motion else 0
    columns = len(case.columns) + sum(len(case.entries[one.quantity]) for one in case.reductions)
    size = int(PACKED * kept * worker.bytes_of_run + 6 * columns * plan.run_count)
    return Explanation(
        plan.run_count,
        case.steps,
        case.settings.resolved(case.scene).dt,
        worker.shard_size,
        -(-plan.run_count // worker.shard_size),
        tuple(_varied(worker, place) for place in range(len(plan.vary))),
        size,
        _seconds(worker) * plan.run_count,
        not case.response.is_affine,
    )


def _varied(worker: Worker, place: int) -> Varied:
    vary, case = worker.plan.vary[place], worker.cases.all()[0]
    own = [column for column in case.columns if column.vary is vary]
    authored = [column.authored for column in own if column.authored is not None]
    ends = [end for column in own for end in column.ends]
    distribution = {key: _short(value) for key, value in dict(vary.distribution).items()}
    return Varied(
        name_of(vary),
        vary.kind,
        vary.operation,
        distribution,
        tuple(_of(column) for column in own) or (str(vary.variant),),
        (min(authored), max(authored)) if authored else None,
        (min(ends), max(ends)) if ends else None,
    )


def _of(column: VariedColumn) -> str:
    return column.name.partition(":/")[1][1:] + column.name.partition(":/")[2] or column.prim


def _short(value: object) -> object:
    return [*value[:3], f"... {len(value)} in all"] if isinstance(value, (list, tuple)) and len(value) > 6 else value


def _seconds(worker: Worker) -> float:
    """About what a run takes, by a trial of some steps of as many runs as are stepped together, up to a few hundred."""
    case = worker.cases.all()[0]
    count = min(worker.plan.run_count, worker.shard_size, DEFAULT_SHARD // 16)
    simulation = case.simulation(count)
    simulation.step(2)
    simulation.reset()
    begin = time.perf_counter()
    read = 0.0
    if not case.response.is_affine:
        case.response.numbers(case.table(0, 1))
        read = time.perf_counter() - begin
    begin, steps = time.perf_counter(), 0
    while steps < max(case.steps, 1) and time.perf_counter() - begin < TRIAL:
        simulation.step(8)
        steps += 8
    return (time.perf_counter() - begin) / (steps * count) * case.steps + read


def csv_lines(worker: Worker, at_once: int = DEFAULT_SHARD):
    """The values of all runs as lines of CSV."""
    variables = worker.cases.variables
    case = worker.cases.all()[0]
    names = [column.name for column in case.columns]
    yield ",".join(("run", *variables, *(f'"{name}"' for name in names)))
    for first in range(0, worker.plan.run_count, at_once):
        last = min(first + at_once, worker.plan.run_count)
        selections = worker.cases.selections(first, last)
        tables = {key: worker.cases.of(key).table(first, last) for key in map(tuple, np.unique(selections, axis=0))}
        for run in range(first, last):
            selection = tuple(selections[run - first])
            values = tables[selection][run - first]
            yield ",".join((str(run), *selection, *(repr(float(value)) for value in values)))
