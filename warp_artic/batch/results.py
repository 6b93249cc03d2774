"""What a batch has given: the table of runs, and the motion of each run, also of those whose motion was not kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from warp_artic.batch.case import Case
from warp_artic.batch.files import Table, joined, read_metadata, read_table
from warp_artic.batch.plan import Plan
from warp_artic.batch.shards import STATUSES, Worker, counts_of
from warp_artic.batch.stepping import prepared
from warp_artic.batch.store import MOTION, RUNS, Shard, Store, opened
from warp_artic.errors import SettingsError
from warp_artic.sim.launch.device import gpu_names
from warp_artic.sim.record.recording import SHAPES, Recording
from warp_artic.sim.simulation import Simulation

SHOWN = 10
"""Failures that statistics have."""


@dataclass(frozen=True)
class ColumnStatistics:
    """Of the numbers of a column."""

    column: str
    unit: str
    least: float
    mean: float
    largest: float
    least_run: int
    largest_run: int


@dataclass(frozen=True)
class Statistics:
    """Outcomes of runs."""

    runs: int
    statuses: dict[str, int]
    columns: tuple[ColumnStatistics, ...]
    failures: tuple[tuple[int, str], ...]
    """The first few failed runs, each with its message."""


@dataclass(eq=False)
class Batch:
    """A folder of a batch."""

    store: Store
    plan: Plan

    def __repr__(self) -> str:
        return f"<Batch {self.store.folder}: {sum(one.last - one.first for one in self.shards)} runs>"

    @cached_property
    def shards(self) -> list[Shard]:
        """The complete shards."""
        return self.store.listed()

    @cached_property
    def runs(self) -> Table:
        """A row for each run: values, summary and status.

        `runs.columns` has NumPy arrays by name; `pandas.DataFrame(batch.runs.columns)` is a frame of them.
        """
        return joined([read_table(self.store.path(RUNS, one)) for one in self.shards])

    def statistics(self) -> Statistics:
        """Statistics over all runs; tables are read one by one."""
        runs, statuses, failures = 0, dict.fromkeys(STATUSES, 0), []
        ends: dict[str, list] = {}
        for shard in self.shards:
            table = read_table(self.store.path(RUNS, shard))
            runs += len(table)
            for status, count in counts_of(table).items():
                statuses[status] += count
            for row in np.flatnonzero(table["failure"] != "")[: SHOWN - len(failures)]:
                failures.append((int(table["run"][row]), str(table["failure"][row])))
            for name, values in table.columns.items():
                if values.dtype.kind == "f" and not np.isnan(values).all():
                    unit = table.fields.get(name, {}).get("unit", "")
                    known = ends.setdefault(name, [unit, np.inf, 0, -np.inf, 0, 0.0, 0])
                    _widen(known, values, table["run"])
        found = tuple(
            ColumnStatistics(name, unit, float(least), float(total / count), float(largest), int(at), int(until))
            for name, (unit, least, at, largest, until, total, count) in ends.items()
        )
        return Statistics(runs, statuses, found, tuple(failures))

    def histograms(self, columns: Sequence[ColumnStatistics], bins: int) -> dict[str, np.ndarray]:
        """How many runs are in equal intervals from the least to the largest value of each column."""
        found = {one.column: np.zeros(bins, int) for one in columns}
        for shard in self.shards:
            table = read_table(self.store.path(RUNS, shard))
            for one in columns:
                values = table[one.column][np.isfinite(table[one.column])].astype(float)
                if np.isfinite(one.least) and np.isfinite(one.largest):
                    found[one.column] += np.histogram(values, bins, (one.least, one.largest))[0]
        return found

    def run_table(self, run: int) -> Table:
        """The row of a run."""
        return self._row(self._shard(run), run)

    def motion(self, run: int) -> Table:
        """The recorded motion of a run.

        Raises:
            SettingsError: There is no such run, or its motion was not recorded.
        """
        path = self.store.path(MOTION, self._shard(run))
        table = read_table(path, run=run) if path.is_file() else Table({"run": np.zeros(0)})
        if not len(table):
            raise SettingsError(f"run {run}: its motion was not kept; recording steps it again")
        return table

    def recording(self, run: int, every: int = 1) -> Recording:
        """All states of a run, which is stepped again; bitwise equal on a machine of the same kind.

        Raises:
            SettingsError: There is no such run, or it could not be simulated.
        """
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise SettingsError(f"every: {every!r} is not an integer of at least 1")
        simulation, steps = self._started(run)
        tables = {one.name: one.of(np.array([run]), simulation) for one in self.worker.inputs}
        if not tables:
            return simulation.record(steps - steps % every, every)
        parts = []
        for step in range(steps - steps % every + 1):
            for name, table in tables.items():
                setattr(simulation.control, name, table[min(step, len(table) - 1)].T)
            if step % every == 0:
                parts.append(simulation.record(0))
            if step < steps:
                simulation.step()
        return _stacked(parts)

    def device(self, shard: Shard) -> str:
        """What the runs of a shard were stepped on: "cpu" or "cuda"."""
        return read_metadata(self.store.path(RUNS, shard)).get("device", "cpu")

    def simulation(self, run: int) -> Simulation:
        """A simulation of one environment at the start state of a run.

        Raises:
            SettingsError: There is no such run, or it could not be simulated.
        """
        return self._started(run)[0]

    def case(self, run: int) -> Case:
        """The stage of a run, with its variants."""
        row = self.run_table(run)
        return self.worker.cases.of([row[name][0] for name in self.worker.cases.variables])

    def values(self, run: int) -> np.ndarray:
        """The varied values of a run, as in its table, shape (1, columns)."""
        row, case = self.run_table(run), self.case(run)
        return np.array([[row[column.name][0] for column in case.columns]]).reshape(1, len(case.columns))

    @cached_property
    def worker(self) -> Worker:
        """Steps runs of the plan again, on a GPU where they were stepped on one and there is one.

        Raises:
            SettingsError: The stage, or an input, is not what it was.
        """
        is_of_gpu = any(self.device(one) == "cuda" for one in self.shards[:1])
        worker = Worker(self.plan, next(iter(gpu_names()), "cpu") if is_of_gpu else "cpu")
        if changed := self.store.changed(worker.digests()):
            raise SettingsError(f"{self.store.folder}: {', '.join(changed)}; its runs cannot be stepped again")
        return worker

    def _started(self, run: int) -> tuple[Simulation, int]:
        row = self.run_table(run)
        if row["status"][0] == "error":
            raise SettingsError(f"run {run}: could not be simulated: {row['failure'][0]}")
        simulation = prepared(self.case(run), np.array([run]), self.values(run), self.worker.inputs, 1)
        return simulation, int(row["end_step"][0])

    def _shard(self, run: int) -> Shard:
        if isinstance(run, bool) or not isinstance(run, (int, np.integer)):
            raise SettingsError(f"run: {run!r} is not an integer")
        for one in self.shards:
            if one.first <= run < one.last:
                return one
        raise SettingsError(f"run {run}: is not there; the batch has runs {_ranges(self.shards)}")

    def _row(self, shard: Shard, run: int) -> Table:
        table = read_table(self.store.path(RUNS, shard), run=run)
        if len(table) != 1:
            raise SettingsError(f"run {run}: {self.store.path(RUNS, shard)} has {len(table)} rows of it")
        return table


def _widen(known: list, values: np.ndarray, runs: np.ndarray) -> None:
    """Take the values of a shard into unit, least, its run, largest, its run, sum and count."""
    low, high = np.nanargmin(values), np.nanargmax(values)
    if values[low] < known[1]:
        known[1:3] = values[low], runs[low]
    if values[high] > known[3]:
        known[3:5] = values[high], runs[high]
    known[5] += np.nansum(values, dtype=float)
    known[6] += np.count_nonzero(~np.isnan(values))


def open_batch(folder: str | os.PathLike) -> Batch:
    """The results of a batch in a folder, or at a URI of an object store.

    Raises:
        SettingsError: There is none.
    """
    return Batch(*opened(folder))


def _stacked(parts: list[Recording]) -> Recording:
    """One recording of several, each of one record."""
    names = ("time", *SHAPES)
    return replace(parts[0], **{name: np.concatenate([getattr(one, name) for one in parts]) for name in names})


def _ranges(shards: list[Shard]) -> str:
    """Which runs there are, in words."""
    ends: list[list[int]] = []
    for one in shards:
        if ends and ends[-1][1] >= one.first:
            ends[-1][1] = max(ends[-1][1], one.last)
        else:
            ends.append([one.first, one.last])
    return ", ".join(f"{first} to {last - 1}" for first, last in ends[:6]) or "none"
