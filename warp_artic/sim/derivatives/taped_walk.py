"""Steps forward, and back on tapes: `gradient` on a CPU.

A step of numbers that leave on a tape what they are made of is pulled back at once, for all that the loss depends on
(`kernels.pull_back`): with the derivatives A and B of a step by its state and by what the gradient is by, A^T lambda and
B^T lambda cost a few steps, however many numbers there are. States are kept every sqrt(T) steps; those between are made
again by ordinary steps, each with a record of the state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.kernels.launch import load
from warp_artic.kernels.pull_back import WALK, begin_kernel
from warp_artic.math.taped_functions import ENTRY, FIRST
from warp_artic.math.taped_numbers import taped_numbers_for
from warp_artic.mechanisms.group import Group
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.sim.arrays.views import MOTION
from warp_artic.sim.derivatives.adjoint_state import state_fields
from warp_artic.sim.derivatives.quantities import Quantity, layouts, quantity, values_of_records
from warp_artic.sim.derivatives.steering import Steering
from warp_artic.sim.derivatives.tangent import Motion
from warp_artic.sim.derivatives.tape import Tape
from warp_artic.sim.derivatives.twin import Twin
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import count_steps


class TapeIsFullError(Exception):
    """A step has more operations than a tape has room for."""


class TapedTwin(Twin):
    """The mechanisms of a run on numbers that leave on a tape what they are made of."""

    def __init__(self, run: Run):
        super().__init__(run, 1, taped_numbers_for(run.settings.precision))
        self.tape = Tape()
        self.begin_kernel = begin_kernel(self.numbers)
        load(self.begin_kernel, run.on)

    def pull_back(self, place: int, count: int, kept) -> None:
        """Make and pull back so many steps of a group, as a struct Kept says."""
        launch = self._launches.steps[place]
        for name, value in (("steps", count), ("every", 1), ("record", 0), ("kept", kept)):
            launch.set(name, value)
        launch.run_whole()


class TapedWalk:
    """Steps forward with states that are kept, and back with derivatives, of a run that others put back.

    Args:
        run: The run.
        by: What else than the start the gradient is by.
        controls: Values of controls for each step, shape (steps, E or 1, numbers).
        steps: How many.
    """

    def __init__(self, run: Run, by: Sequence[Quantity], controls: Mapping[str, np.ndarray], steps: int):
        self._run, self._by, self._controls, self._steps = run, by, controls, steps
        self._stride = max(1, math.isqrt(steps))
        self._steering = Steering(run, controls)
        self._steering.apply(0)
        if not isinstance(run.taped_twin, TapedTwin):
            run.taped_twin = TapedTwin(run)
        self._twin = run.taped_twin
        known = {name for group in run.groups for name in group.parameters}
        self._twin.begin(frozenset(one.name for one in by) & known)
        self._layouts = {name: list(layouts(run, name)) for name in (*MOTION, *(one.name for one in by))}
        self._groups = [self._of_group(place) for place in range(len(run.groups))]
        self._kept: dict[int, list[np.ndarray]] = {}

    def _of_group(self, place: int) -> _GroupWalk:
        run, twin = self._run, self._twin
        names = list(dict.fromkeys(one.name for one in self._by))
        return _GroupWalk(run, place, twin, names, self._steering.names, self._stride)

    def forward(self) -> Motion:
        """Make all steps, and keep a state every so many."""
        parts = {name: [] for name in MOTION}
        for first in range(0, self._steps, self._stride):
            count = min(self._stride, self._steps - first)
            self._kept[first] = [group.take() for group in self._groups]
            self._make(first, count)
            self._record(parts, 0, count)
        self._record(parts, count, count + 1)
        return Motion(*(np.concatenate(parts[name]) for name in MOTION))

    def _record(self, parts: Mapping[str, list[np.ndarray]], first: int, end: int) -> None:
        for name in MOTION:
            values = values_of_records(
                self._run,
                name,
                self._layouts[name],
                lambda place: self._groups[place].records(name, first, end),  # noqa: B023 (called at once)
            )
            parts[name].append(values)

    def _make(self, first: int, count: int) -> None:
        """Make some steps, with a record of the state before each and after the last one."""
        run = self._run
        for group in self._groups:
            group.note_state(0)
        if not self._steering.is_needed:
            self._step(count, 1)
            return
        for number in range(count):
            self._steering.apply(first + number)
            for group in self._groups:
                group.note_others(number)
            self._step(1, 1 + number)

    def _step(self, count: int, record: int) -> None:
        run = self._run
        run.parameter_watch.look()
        run.launches.step_and_keep(count, 1, record, [group.kept for group in self._groups])
        count_steps(run, count, False)

    def backward(self, sources: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Slopes by the start, one record, and by other quantities: a sum over steps, or those of each step.

        Sources are slopes by each record; slopes of motions are by the numbers of arrays.

        Raises:
            TapeIsFullError: There was not room enough.
        """
        run = self._run
        found = {
            one.name: np.zeros((self._steps if one.name in self._controls else 1, run.environments, one.numbers))
            for one in self._by
        }
        flat = {name: table.reshape(len(table), run.environments, -1) for name, table in sources.items()}
        for place, group in enumerate(self._groups):
            group.adjoint[:] = self._sources(flat, place, self._steps, 1)[0]
        self._twin.tape.was_full()
        for first in sorted(self._kept, reverse=True):
            count = min(self._stride, self._steps - first)
            for group, state in zip(self._groups, self._kept[first]):
                group.put(state)
            self._steering.go_to(first)
            self._make(first, count)
            for place, group in enumerate(self._groups):
                group.sources[:count] = self._sources(flat, place, first, count)
                group.pull_back(count)
            if self._twin.tape.was_full():
                raise TapeIsFullError
            self._gather(found, first, count)
        return self._of_arrays(), found

    def _sources(self, flat: Mapping[str, np.ndarray], place: int, first: int, count: int) -> np.ndarray:
        """Slopes by some records, shape (count, rows of the adjoint, columns)."""
        group = self._groups[place]
        found = np.zeros((count, *group.adjoint.shape))
        for name, table in flat.items():
            for layout in self._layouts[name]:
                if layout.place == place:
                    rows = group.first_of[name] + layout.own
                    found[:, rows, layout.columns] = table[first : first + count, :, layout.rows].transpose(0, 2, 1)
        return found

    def _gather(self, found: Mapping[str, np.ndarray], first: int, count: int) -> None:
        """Add what steps have found of other quantities, or write it where each step has its own."""
        for one in self._by:
            for layout in self._layouts[one.name]:
                group = self._groups[layout.place]
                own = group.found[:count, group.first_of[one.name] + layout.own, layout.columns].transpose(0, 2, 1)
                if one.name in self._controls:
                    found[one.name][first : first + count][:, :, layout.rows] += own
                else:
                    found[one.name][0][:, layout.rows] += own[::-1].sum(axis=0)

    def _of_arrays(self) -> dict[str, np.ndarray]:
        """Slopes by arrays of the motion, one record."""
        E, found = self._run.environments, {}
        for name in MOTION:
            one = quantity(self._run, name)
            size = 7 if name == "root_pose" else one.size
            table = np.zeros((one.count * size, E))
            for layout in self._layouts[name]:
                group = self._groups[layout.place]
                table[layout.rows] = group.adjoint[group.first_of[name] + layout.own, layout.columns]
            found[name] = table.T.reshape(1, E, *((one.count,) if size == 1 else (one.count, size)))
        return found


@dataclass(frozen=True)
class _Rows:
    """Rows of a field that a step begins with."""

    name: str
    at: slice
    """Among the rows."""
    values: np.ndarray
    """In the memory of the run, shape (rows, pitch or less)."""


class _GroupWalk:
    """What a group has on a walk: records, slopes, and the table for `kernels.pull_back`."""

    def __init__(self, run: Run, place: int, twin: TapedTwin, by: Sequence[str], steered: Sequence[str], stride: int):
        self._run, self._twin = run, twin
        self.group: Group = run.groups[place]
        self._other: Group = twin.groups[place]
        columns = self.group.columns
        scalar = wp.dtype_to_numpy(columns.numbers.scalar)
        fields = [field for field in state_fields(self.group, run.settings.integrator) if field.rows]
        self.first_of = {field.name: field.place.start for field in fields}
        slopes = fields[-1].place.stop if fields else 0
        others = 0
        for name in by:
            self.first_of[name] = others
            others += self._other.field(name).scalars.shape[0]
        self._state_rows, addresses, leaves, is_own, sources = [], [], [], [], []
        count = 0
        self._rows: list[_Rows] = []
        for name in (*self.group.state, *(name for name in steered if name not in self.group.state)):
            field, other = self.group.field(name), self._other.field(name)
            rows = min(field.scalars.shape[0], other.scalars.shape[0])
            first = -1
            if name in by:
                first = slopes + self.first_of[name]
            elif name in self.first_of:
                first = self.first_of[name]
            most = next((own.rows for own in fields if own.name == name), rows)
            for row in range(rows):
                addresses.append(other.scalars.ptr + row * other.scalars.strides[0])
                sources.append(field.scalars.ptr + row * field.scalars.strides[0])
                leaves.append(first + row if first >= 0 and row < most else -1)
                is_own.append(int(not other.is_shared) + 2 * int(not field.is_shared))
            self._rows.append(_Rows(name, slice(count, count + rows), field.scalars.numpy()[:rows]))
            count += rows
        self._of_state = [own for own in self._rows if own.name in self.group.state]
        states = self._of_state[-1].at.stop
        self._records = np.zeros((stride + 1, count, columns.pitch), scalar)
        self.adjoint = np.zeros((slopes, columns.count))
        """Slopes by the state, shape (rows of the adjoint, columns)."""
        self.sources = np.zeros((stride, slopes, columns.count))
        """Slopes by the records of some steps."""
        self.found = np.zeros((stride, max(others, 1), columns.count))
        """Slopes of each step by other numbers."""
        self.kept = arrays_for(columns.numbers).Kept()
        self._row_addresses = np.array(sources[:states], np.uint64)
        self.kept.rows = wp.array(self._row_addresses, dtype=wp.uint64, device="cpu", copy=False)
        self.kept.records = wp.array(self._records, dtype=columns.numbers.scalar, device="cpu", copy=False)
        self._tables = (
            np.array(addresses, np.uint64),
            np.array(leaves, np.int32),
            np.array(is_own, np.int32),
        )
        walk = {
            "tape": twin.tape.address, "leaves": slopes + others, "slopes": slopes, "rows": count,
            "addresses": _address(self._tables[0]), "row_leaves": _address(self._tables[1]),
            "is_own": _address(self._tables[2]), "steps": 0, "values": _address(self._records),
            "pitch": columns.pitch, "columns": columns.count, "adjoint": _address(self.adjoint),
            "sources": _address(self.sources), "found": _address(self.found),
        }  # fmt: skip
        self._walk = np.array([walk[name] for name in WALK], np.int64)
        self._own_kept = arrays_for(twin.numbers).Kept()
        self._own_kept.walk = _address(self._walk)
        self._seed([name for name in by if name not in steered], slopes)
        self._begin = wp.launch(
            twin.begin_kernel, dim=columns.count, inputs=[_address(self._walk), 0], device="cpu", record_cmd=True
        )
        self._place = place

    def _seed(self, names: Sequence[str], slopes: int) -> None:
        """Write the leaves of parameters and controls that stay as they are."""
        for name in names:
            scalars = self._other.field(name).scalars.numpy()
            halves = scalars.view(np.uint64).reshape(len(scalars), -1, 2)
            leaves = slopes + self.first_of[name] + np.arange(len(scalars))
            halves[:, :, 1] = (self._twin.tape.address + FIRST + ENTRY * leaves)[:, None]

    def take(self) -> np.ndarray:
        """A copy of the state."""
        return np.concatenate([own.values for own in self._of_state])

    def put(self, state: np.ndarray) -> None:
        """Put a copy back."""
        for own in self._of_state:
            own.values[:] = state[own.at]

    def note_state(self, record: int) -> None:
        """Write the present state to a record."""
        for own in self._of_state:
            self._records[record, own.at] = own.values

    def note_others(self, record: int) -> None:
        """Write the present values of what is steered to a record."""
        for own in self._rows[len(self._of_state) :]:
            self._records[record, own.at, : own.values.shape[1]] = own.values

    def records(self, name: str, first: int, end: int) -> np.ndarray:
        """A field of the state in some records, shape (records, rows, pitch)."""
        (own,) = (own for own in self._of_state if own.name == name)
        return self._records[first:end, own.at]

    def pull_back(self, count: int) -> None:
        """Pull back so many steps."""
        self._walk[WALK.index("steps")] = count
        self._begin.set_param_at_index(1, count - 1)
        self._begin.launch()
        self._twin.pull_back(self._place, count, self._own_kept)


def _address(values: np.ndarray) -> int:
    return values.__array_interface__["data"][0]
