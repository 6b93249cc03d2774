"""A shard of a batch: stepped, with runs at fault set apart, and made into tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from warp_artic.batch.case import LEAST_ENVIRONMENTS, Case, Cases
from warp_artic.batch.columns import refuse_idle
from warp_artic.batch.files import Table
from warp_artic.batch.inputs import Input
from warp_artic.batch.outcome import Column
from warp_artic.batch.plan import DEFAULT_SHARD, DEFAULT_SUMMARY, Plan
from warp_artic.batch.quantities import chosen_entries
from warp_artic.batch.stepping import Ended, Outcome, prepared, step_runs
from warp_artic.batch.store import Shard, digests_of
from warp_artic.errors import SettingsError
from warp_artic.sim.launch.device import start_quietly
from warp_artic.sim.launch.one_at_a_time import one_at_a_time

MOST_BYTES = 1 << 28
"""Of the records of a shard."""
STATUSES = ("ok", "stopped", "failed", "error")


@dataclass(eq=False)
class Worker:
    """Steps shards of a plan on a device.

    Args:
        plan: What is to be run.
        device: "cpu" or "cuda:N".
        threads: As `Simulation` has them.
    """

    plan: Plan
    device: str = "cpu"
    threads: int | None = None
    cases: Cases = field(init=False)
    _compiled: set[tuple[int, int]] = field(default_factory=set)
    """Cases, and for how many environments."""

    def __post_init__(self):
        start_quietly(self.device)
        self.cases = Cases(self.plan, self.device, self.threads)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """Values of the control."""
        return tuple(Input.open(name, path) for name, path in self.input_paths.items())

    @property
    def input_paths(self) -> dict[str, Path]:
        """The files of the inputs."""
        return {name: Path(self.plan.folder, path) for name, path in self.plan.inputs.items()}

    def check(self) -> None:
        """Refuse what is wrong of the plan, before the first step.

        Raises:
            SettingsError, StageError, DescriptionError: Something is; the sentence says where.
        """
        with one_at_a_time(self.device):
            self._check()

    def _check(self) -> None:
        for case in self.cases.all():
            case.steps, case.quantities, case.entries, case.reductions  # noqa: B018
            case.response  # noqa: B018
            if case.stop is not None:
                chosen_entries(case.stop, case.entries[case.stop.quantity])
            for one in self.inputs:
                one.check(self.plan.run_count, case.simulation(LEAST_ENVIRONMENTS))
                case.refuse_given(one)
        cases = self.cases.all()
        refuse_idle(self.plan, [column for case in cases for column in case.columns])
        wanted = [("record", name) for name in self.plan.record.quantities]
        wanted += [("summary", Column.of(text).quantity) for text in self.plan.summary if text not in DEFAULT_SUMMARY]
        for where, name in wanted:
            if not any(case.entries[name] for case in cases):
                raise SettingsError(f"{where}: nothing on the stage has {name}")

    def digests(self) -> dict[str, dict[str, str]]:
        """What tells the stage and the inputs from others."""
        return digests_of((case.stage.layer_hashes() for case in self.cases.all()), self.input_paths)

    @cached_property
    def shard_size(self) -> int:
        """Runs of a shard, which the plan alone decides on."""
        if self.plan.shard is not None:
            return self.plan.shard
        most = max(self.bytes_of_run, 1)
        size = DEFAULT_SHARD
        while size > 16 and size * most > MOST_BYTES:
            size //= 2
        return size

    def _compile(self, case: Case, runs: np.ndarray, values: np.ndarray, most: int) -> None:
        """Have the kernels compiled that so many runs need: by one process of a machine, while others wait for it."""
        need = id(case), case.room_for(len(runs), most)
        if need not in self._compiled:
            with one_at_a_time(self.device):
                case.recorded(prepared(case, runs, values, self.inputs, most), 2, 1, case.quantities)
            self._compiled.add(need)

    @property
    def bytes_of_run(self) -> int:
        """Room of the records of a run."""
        found = 0
        for case in self.cases.all():
            numbers = sum(len(case.entries[name]) for name in self.plan.record.quantities)
            size = 8 if case.settings.resolved(case.scene).precision == "float64" else 4
            found = max(found, numbers * size * (case.steps // self.plan.record.every + 1))
        return found

    def step(self, shard: Shard, tell: Callable[[int], object]) -> tuple[Table, Table | None]:
        """The tables of a shard: of its runs, and of their motion where some is kept.

        Raises:
            Ended: `tell` has raised it.
        """
        runs = np.arange(shard.first, shard.last)
        selections = self.cases.selections(shard.first, shard.last)
        parts = []
        for selection in np.unique(selections, axis=0) if selections.shape[1] else selections[:1]:
            chosen = (selections == selection).all(axis=1)
            case = self.cases.of(selection)
            values = case.table(shard.first, shard.last)[chosen]
            found = self.outcomes(case, runs[chosen], values, tell)
            parts.append((case, selection, values, found))
        return self._tables(parts)

    def tables_of_error(self, shard: Shard, reason: str) -> tuple[Table, Table | None]:
        """The tables of one run that cannot be stepped."""
        selection = self.cases.selections(shard.first, shard.last)[0]
        case = self.cases.of(selection)
        outcome = Outcome.of_error(shard.first, reason)
        return self._tables([(case, selection, case.table(shard.first, shard.last), [outcome])])

    def outcomes(self, case: Case, runs: np.ndarray, values: np.ndarray, tell) -> list[Outcome]:
        """What becomes of runs; where stepping them raises an error, halves are stepped, down to single runs."""
        try:
            most = min(self.shard_size, self.plan.run_count)
            self._compile(case, runs, values, most)
            return [step_runs(case, runs, values, self.inputs, most, tell)]
        except (Ended, MemoryError):
            raise
        except Exception as error:
            if len(runs) == 1:
                return [Outcome.of_error(int(runs[0]), f"{type(error).__name__}: {error}")]
        half = len(runs) // 2
        first = self.outcomes(case, runs[:half], values[:half], tell)
        return [*first, *self.outcomes(case, runs[half:], values[half:], tell)]

    def _tables(self, parts: Sequence) -> tuple[Table, Table | None]:
        fields: dict[str, dict[str, str]] = {"run": {}}
        rows: list[dict[str, np.ndarray]] = []
        motions: list[dict[str, np.ndarray]] = []
        for case, selection, values, outcomes in parts:
            fields |= _fields(case, self.plan)
            place = 0
            for one in outcomes:
                count = len(one.runs)
                own: dict[str, np.ndarray] = {"run": one.runs.astype(np.int32)}
                own |= {name: np.full(count, chosen) for name, chosen in zip(self.cases.variables, selection)}
                own |= {column.name: values[place : place + count, k] for k, column in enumerate(case.columns)}
                own |= one.summary
                own |= {"end_step": one.end_step.astype(np.int32), "status": one.status, "failure": one.failure}
                rows.append(own)
                if one.motion:
                    motions.append(one.motion | {"run": one.motion["run"].astype(np.int32)})
                place += count
        table = _in_order(_stacked(rows))
        case = parts[0][0]
        about = {
            "variant": case.settings.variant,
            "device": self.device.partition(":")[0],
            "steps": case.steps,
            "dt": case.settings.resolved(case.scene).dt,
        }
        runs = Table(table, _of(fields, table), about)
        if not motions:
            return runs, None
        motion = _in_order(_stacked(motions))
        return runs, Table(motion, _of(fields, motion), about)


def counts_of(runs: Table) -> dict[str, int]:
    """How many runs of a table have each status."""
    return {status: int((runs["status"] == status).sum()) for status in STATUSES}


def _in_order(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Sorted by runs."""
    if (np.diff(table["run"]) >= 0).all():
        return table
    order = np.argsort(table["run"], kind="stable")
    return {name: column[order] for name, column in table.items()}


def _stacked(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """One table of several; a column that a part has not is without numbers there."""
    names = list(dict.fromkeys(name for part in parts for name in part))
    # What says how a run has ended comes last, also where runs of an error come first.
    last = [name for name in ("end_step", "status", "failure") if name in names]
    names = [name for name in names if name not in last] + last
    if len(parts) == 1:
        return {name: parts[0][name] for name in names}
    found = {}
    for name in names:
        kind = next(part[name].dtype for part in parts if name in part)
        found[name] = np.concatenate(
            [part[name] if name in part else np.full(len(part["run"]), np.nan, kind) for part in parts]
        )
    return found


def _fields(case: Case, plan: Plan) -> dict[str, dict[str, str]]:
    """What columns are of."""
    found = {"time": {"unit": "s"}}
    for column in case.columns:
        of = column.vary
        found[column.name] = {
            "prim": column.prim,
            of.kind: of.target,
            "operation": of.operation,
            "unit": "as authored" if of.kind == "attribute" else "SI",
        }
    for name in plan.record.quantities:
        for entry in case.entries[name]:
            found[entry.column] = {"prim": entry.prim, "quantity": name, "unit": entry.unit}
    for column in case.reductions:
        for entry in case.entries[column.quantity]:
            name = column.quantity if column.reduction == "drift" else entry.column
            about = {"prim": entry.prim, "quantity": column.quantity, "unit": entry.unit}
            found[f"{str(column).removesuffix(column.quantity)}{name}"] = about
    return found


def _of(fields: dict[str, dict[str, str]], columns: dict[str, np.ndarray]) -> dict[str, dict[str, str]]:
    return {name: fields[name] for name in columns if fields.get(name)}


def part_of(text: str) -> tuple[int, int]:
    """A part as i/n, from 1 to n."""
    first, slash, of = text.partition("/")
    if not (slash and first.isdigit() and of.isdigit() and 1 <= int(first) <= int(of)):
        raise SettingsError(f"part: {text!r} is not like 3/16, from 1/16 to 16/16")
    return int(first), int(of)
