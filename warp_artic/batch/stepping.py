"""Runs of a plan, stepped together: what becomes of each, and the motion of those that are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from warp_artic.batch.case import Case
from warp_artic.batch.inputs import Input
from warp_artic.batch.outcome import Column
from warp_artic.batch.quantities import OF_LAST_STEP, chosen_entries, flat
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.simulation import Simulation

BYTES_AT_ONCE = 1 << 25
"""Of records made before they are checked."""
STEPS_AT_ONCE = 240
"""Most steps between two chances to stop."""


class Ended(Exception):  # noqa: N818
    """Somebody has asked for the end of a batch."""


@dataclass(eq=False)
class Outcome:
    """What became of some runs."""

    runs: np.ndarray
    """Their indices."""
    end_step: np.ndarray
    """The step at which each is over."""
    status: np.ndarray
    """ok, stopped (by the rule of the plan), failed (what is simulated ran away) or error (it cannot be simulated)."""
    failure: np.ndarray
    """What failed, in words."""
    summary: dict[str, np.ndarray]
    """By column, a value for each run."""
    motion: dict[str, np.ndarray] = field(default_factory=dict)
    """By column, the values of all kept records of all kept runs, run by run; with `run` and `time`."""

    @classmethod
    def of_error(cls, run: int, text: str) -> Outcome:
        """Of a run that cannot be simulated."""
        return cls(np.array([run]), np.zeros(1, int), np.array(["error"]), np.array([text]), {})


def step_runs(
    case: Case, runs: np.ndarray, values: np.ndarray, inputs: Sequence[Input], most: int, tell: Callable[[int], object]
) -> Outcome:
    """Step some runs from their start to their end.

    Args:
        case: Their stage.
        runs: Their indices.
        values: Of what is varied, shape (runs, columns).
        inputs: Of the control.
        most: How many may be stepped at once.
        tell: Is called with the number of steps done since its last call; it may raise `Ended`.
    """
    simulation = prepared(case, runs, values, inputs, most)
    kept = np.isin(runs, np.arange(case.plan.run_count)[case.plan.record.slice()])
    kept &= bool(case.plan.record.quantities)
    watch = _Watch(case, simulation, len(runs), kept)
    for recording in _records(case, simulation, runs, inputs, watch, tell):
        if watch.take(recording):
            break
    if watch.at_end:
        watch.take_end(case.recorded(simulation, 0, 1, watch.at_end))
    return watch.outcome(runs)


def prepared(case: Case, runs: np.ndarray, values: np.ndarray, inputs: Sequence[Input], most: int) -> Simulation:
    """A simulation at the start of some runs, with room for so many; what is beyond them repeats the last one."""
    simulation = case.simulation(case.room_for(len(runs), most))
    for one in inputs:
        for joint in one.given(simulation.joint_names):
            simulation.target_tracks.pop((one.name, joint), None)
    simulation.reset()
    numbers = case.response.numbers(values)
    padding = simulation.environments - len(runs)
    if numbers.size:
        everywhere = np.concatenate([numbers, np.repeat(numbers[:, -1:], padding, axis=1)], axis=1)
        case.scene_numbers(simulation.environments).write(case.response.places, everywhere)
    return simulation


def _records(
    case: Case, simulation: Simulation, runs: np.ndarray, inputs: Sequence[Input], watch: _Watch, tell
) -> Iterator[Recording]:
    """Recordings of consecutive records, each of which begins with the last one of that before, which it overwrites."""
    steps, every = case.steps, watch.every
    if inputs:
        yield from _driven(case, simulation, runs, inputs, watch, tell)
        return
    if every == steps:
        yield case.recorded(simulation, 0, 1, watch.quantities)
        for first in range(0, steps, STEPS_AT_ONCE):
            count = min(STEPS_AT_ONCE, steps - first)
            if first + count < steps:
                simulation.step(count)
            else:
                yield case.recorded(simulation, count, count, watch.quantities)
            tell(count)
        return
    size = sum(len(case.entries[name]) for name in watch.quantities) * simulation.environments * 8
    at_once = max(1, min(BYTES_AT_ONCE // max(size, 1), max(1, STEPS_AT_ONCE // every))) * every
    for first in range(0, steps, at_once):
        count = min(at_once, steps - first)
        yield case.recorded(simulation, count, every, watch.quantities, min(at_once, steps) // every + 1)
        tell(count)


def _driven(case: Case, simulation: Simulation, runs, inputs: Sequence[Input], watch: _Watch, tell):
    """The same under values of the control for each step."""
    tables = {one.name: one.of(runs, simulation) for one in inputs}
    padding = simulation.environments - len(runs)
    steps, every = case.steps, watch.every
    changes = {0} | {
        step
        for table in tables.values()
        for step in range(1, min(len(table), steps))
        if not np.array_equal(table[step], table[step - 1])
    }
    stops = sorted({*changes, *range(0, steps + 1, max(every, 1)), steps})
    for first, last in zip(stops, stops[1:] or stops):
        if first in changes:
            for name, table in tables.items():
                now = table[min(first, len(table) - 1)]
                setattr(simulation.control, name, np.concatenate([now, np.repeat(now[-1:], padding, axis=0)]).T)
        if first == 0:
            yield case.recorded(simulation, 0, 1, watch.quantities)
        if last > first and (last % every == 0 if every else False):
            yield case.recorded(simulation, last - first, last - first, watch.quantities)
        elif last > first:
            simulation.step(last - first)
        tell(last - first)


class _Watch:
    """Takes what is asked for from the records of runs as they come."""

    def __init__(self, case: Case, simulation: Simulation, count: int, kept: np.ndarray):
        self._case, self._simulation, self._count, self._kept = case, simulation, count, kept
        self.every = case.plan.record.every if kept.any() or case.looks_at_each_record else case.steps
        summary = {column.quantity for column in case.reductions}
        self.quantities = summary | (set(case.plan.record.quantities) if kept.any() else set())
        """Are looked at in each record."""
        self.at_end: set[str] = set()
        """Are looked at in the state at the end alone."""
        if case.stop is not None:
            self.quantities.add(case.stop.quantity)
            self._entries = chosen_entries(case.stop, case.entries[case.stop.quantity])
        elif self.every < case.steps:
            over_time = {column.quantity for column in case.reductions if column.reduction != "final"}
            self.at_end = self.quantities - over_time - set(case.plan.record.quantities) - OF_LAST_STEP
            self.quantities -= self.at_end
        self._known: dict[str, np.ndarray] = {}
        self._records = np.zeros(count, int)
        self._taken = 0
        self._is_over = np.zeros(count, bool)
        self._failed: dict[int, tuple[int, str]] = {}
        self._motion: dict[str, np.ndarray] = {}
        """By quantity, the records of kept runs, shape (entries, runs, records)."""

    def take(self, recording: Recording) -> bool:
        """Look at records; whether all runs are over."""
        begin = 0 if self._taken == 0 else 1
        values = {name: flat(recording, name)[begin:, : self._count] for name in self.quantities}
        records = len(recording.time) - begin
        counts = np.where(self._is_over, 0, records)
        for one in self._simulation.failures():
            if one.environment < self._count and one.environment not in self._failed:
                self._failed[one.environment] = one.step - 1, _words(one)
                # The record after the last step has the state that it has stopped in.
                whole = -(-(one.step - 1) // self.every) + 1 if self.every else 1
                counts[one.environment] = np.clip(whole - self._taken, 0, counts[one.environment])
                self._is_over[one.environment] = True
        if self._case.stop is not None:
            met = self._case.stop.is_met(values[self._case.stop.quantity][:, :, self._entries])
            if self._taken == 0 and self._case.stop.quantity in OF_LAST_STEP:
                met[0] = False
            first = np.where(met.any(axis=0), met.argmax(axis=0) + 1, records + 1)
            is_met = (first <= counts) & ~self._is_over
            counts = np.where(is_met, first, counts)
            self._is_over |= is_met
        for column in self._of(self.quantities):
            own, name, later = values[column.quantity], str(column), counts
            if self._taken == 0 and column.quantity in OF_LAST_STEP:
                own, later = own[1:], np.maximum(later - 1, 0)
            if name not in self._known and len(own):
                first = own[0] if later.all() else np.where(later[:, None] > 0, own[0], np.nan)
                self._known[name] = column.start(first)
                own, later = own[1:], np.maximum(later - 1, 0)
            if len(own):
                self._known[name] = column.add(self._known[name], own, later)
        if self._kept.any():
            for name in self._case.plan.record.quantities:
                self._keep(name, values[name])
        self._records += counts
        self._taken += records
        return bool(self._is_over.all())

    def take_end(self, recording: Recording) -> None:
        """Look at the state at the end."""
        for column in self._of(self.at_end):
            self._known[str(column)] = column.start(flat(recording, column.quantity)[0, : self._count])

    def _of(self, quantities: set[str]) -> list[Column]:
        """What is said of some quantities."""
        return [column for column in self._case.reductions if column.quantity in quantities]

    def _keep(self, name: str, values: np.ndarray) -> None:
        """Keep the next records (records, runs, entries) of a quantity."""
        kept = np.flatnonzero(self._kept)
        if name not in self._motion:
            records = self._case.steps // self.every + 1
            self._motion[name] = np.empty((values.shape[2], len(kept), records), values.dtype)
        own = values if len(kept) == self._count else values[:, kept]
        self._motion[name][:, :, self._taken : self._taken + len(values)] = own.transpose(2, 1, 0)

    def outcome(self, runs: np.ndarray) -> Outcome:
        """What became of the runs."""
        end_step = np.minimum((self._records - 1) * self.every, self._case.steps)
        status = np.where(self._is_over, "stopped", "ok").astype("U7")
        failure = np.full(len(runs), "", object)
        for environment, (step, words) in self._failed.items():
            end_step[environment], status[environment], failure[environment] = step, "failed", words
        summary = {}
        for column in self._case.reductions:
            entries, of_steps = self._case.entries[column.quantity], column.quantity in OF_LAST_STEP
            nothing = np.full((len(runs), len(entries)), np.nan, np.float32)
            known = self._known.get(str(column), column.start(nothing))
            found = column.end(known, np.maximum(self._records - of_steps, 1))
            for k, entry in enumerate(entries[: found.shape[1]]):
                name = column.quantity if column.reduction == "drift" else entry.column
                summary[f"{str(column).removesuffix(column.quantity)}{name}"] = found[:, k]
        kept = self._kept & (status == "failed") if self._case.plan.record.of_failed else self._kept
        return Outcome(runs, end_step, status, failure, summary, self._rows(runs, end_step, kept))

    def _rows(self, runs: np.ndarray, end_step: np.ndarray, kept: np.ndarray) -> dict[str, np.ndarray]:
        """The records of kept runs, which are some of those that were watched, run by run."""
        if not kept.any():
            return {}
        counts = self._records[kept]
        place = slice(None) if kept.sum() == self._kept.sum() else kept[self._kept]
        are_whole = bool((counts == self._taken).all())
        is_own = slice(None) if are_whole else (np.arange(self._taken) < counts[:, None]).ravel()
        step = np.minimum(np.arange(self._taken) * self.every, end_step[kept][:, None])
        found = {"run": np.repeat(runs[kept], counts), "time": step.ravel()[is_own] * self._simulation.dt}
        for name, values in self._motion.items():
            for entry, own in zip(self._case.entries[name], values):
                found[entry.column] = own[place, : self._taken].ravel()[is_own]
        return found


def _words(failure) -> str:
    """What failed, without the environment, which means nothing outside of a shard."""
    return str(failure).replace(f"environment {failure.environment} stopped", "stopped")
