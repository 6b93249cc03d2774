"""What a group has on a walk with a tape: records of its state, slopes, and the table for `kernels.pull_back`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.kernels.columns import row_kernels_for
from warp_artic.kernels.launch import load
from warp_artic.kernels.pull_back import WALK
from warp_artic.math.packed import PackedLaunch
from warp_artic.math.taped_functions import ENTRY, FIRST
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.model.field import Field
from warp_artic.sim.arrays.row_table import address_of
from warp_artic.sim.derivatives.adjoint_state import state_fields
from warp_artic.sim.derivatives.taped_twin import TapedTwin
from warp_artic.sim.run.state import Run


@dataclass(frozen=True)
class _Rows:
    """Rows of a field that a step begins with."""

    at: slice
    """Among all of them."""
    field: Field
    """Of the run."""
    twin: Field
    leaf: int
    """Of the first one, or -1 where they have none."""
    leaves: int
    """How many have one."""

    def sources(self) -> np.ndarray:
        """Addresses in the run."""
        return self.field.scalars.ptr + np.arange(self.at.stop - self.at.start) * self.field.scalars.strides[0]

    def targets(self) -> np.ndarray:
        """Addresses in the twin."""
        return self.twin.scalars.ptr + np.arange(self.at.stop - self.at.start) * self.twin.scalars.strides[0]

    def have_columns(self) -> np.ndarray:
        """Whether each has a number for each column, in the twin (1) and in the run (2)."""
        has_columns = int(not self.twin.is_shared) + 2 * int(not self.field.is_shared)
        return np.full(self.at.stop - self.at.start, has_columns)

    def own_leaves(self) -> np.ndarray:
        """The leaf of each, or -1."""
        each = np.arange(self.at.stop - self.at.start)
        return np.where((self.leaf >= 0) & (each < self.leaves), self.leaf + each, -1)


class TapedGroup:
    """A group of a run on a walk.

    Args:
        run: The run.
        place: Of the group.
        twin: Its twin.
        by: Names of the parameters and controls that the gradient is by.
        steered: Names of those that may have other values in each step.
        stride: Steps that are pulled back at once, at most.
    """

    def __init__(self, run: Run, place: int, twin: TapedTwin, by: Sequence[str], steered: Sequence[str], stride: int):
        self._place, self._twin = place, twin
        group, other = run.groups[place], twin.groups[place]
        self._columns = columns = group.columns
        fields = {one.name: one.place for one in state_fields(group, run.settings.integrator, by)}
        slopes = max(own.stop for own in fields.values())
        self.first_of = {name: own.start for name, own in fields.items()}
        """Of the rows of each field, among slopes by the state or among those by other numbers."""
        others = 0
        for name in by:
            self.first_of[name] = others
            others += other.field(name).scalars.shape[0]
        self._constant = [(other.field(name), slopes + self.first_of[name]) for name in by if name not in steered]
        """Fields that the gradient is by and that stay as they are, and their first leaves."""
        self._rows: dict[str, _Rows] = {}
        count = 0
        for name in (*group.state, *(name for name in steered if name not in group.state)):
            field, twins = group.field(name), other.field(name)
            rows = min(len(field.scalars), len(twins.scalars))
            leaf, leaves = -1, rows
            if name in by:
                leaf = slopes + self.first_of[name]
            elif name in fields:
                leaf, leaves = fields[name].start, fields[name].stop - fields[name].start
            self._rows[name] = _Rows(slice(count, count + rows), field, twins, leaf, leaves)
            count += rows
            if name in group.state:
                self._states = count
        self._steered = [own for own in self._rows.values() if own.at.start >= self._states]
        self._records = np.zeros((stride + 1, count, columns.pitch), wp.dtype_to_numpy(columns.numbers.scalar))
        self.adjoint = np.zeros((slopes, columns.count))
        """Slopes by the state, shape (rows, columns)."""
        self.sources = np.zeros((stride, slopes, columns.count))
        """Slopes by the records before steps."""
        self.found = np.zeros((stride, max(others, 1), columns.count))
        """Slopes of each step by other numbers."""
        self.kept = self._kept()
        """Has steps of the run keep their states as records."""
        self._every = np.arange(columns.count, dtype=np.int32)
        self._copies = {name: self._copy(name) for name in ("take", "put")}
        self._prepare(slopes + others, slopes, count)

    def _kept(self):
        kept = arrays_for(self._columns.numbers).Kept()
        rows = list(self._rows.values())
        self._sources = np.concatenate([own.sources() for own in rows if own.at.start < self._states])
        self._sources = self._sources.astype(np.uint64)
        kept.rows = wp.array(self._sources, dtype=wp.uint64, device="cpu", copy=False)
        kept.records = wp.array(self._records, dtype=self._columns.numbers.scalar, device="cpu", copy=False)
        return kept

    def _copy(self, name: str) -> PackedLaunch:
        """Copies the state out of the run, or into it."""
        kernel = getattr(row_kernels_for(self._columns.numbers.scalar), name)
        load(kernel, "cpu")
        count, width = self._columns.count, self._columns.pitch
        inputs = [self.kept.rows, count, address_of(self._every), count, 1, 0, width, *([0] if name == "put" else [])]
        return PackedLaunch(wp.launch(kernel, dim=(self._states, 1), inputs=inputs, device="cpu", record_cmd=True))

    def _prepare(self, leaves: int, slopes: int, count: int) -> None:
        """Write the table of a walk, and pack the launch that begins it."""
        rows, twin = list(self._rows.values()), self._twin
        self._tables = (
            np.concatenate([own.targets() for own in rows]).astype(np.uint64),
            np.concatenate([own.own_leaves() for own in rows]).astype(np.int32),
            np.concatenate([own.have_columns() for own in rows]).astype(np.int32),
        )
        addresses = dict(zip(("addresses", "row_leaves", "is_own"), map(address_of, self._tables)))
        walk = addresses | {
            "tape": twin.tape.address, "leaves": leaves, "slopes": slopes, "rows": count,
            "values": address_of(self._records), "pitch": self._columns.pitch, "columns": self._columns.count,
            "adjoint": address_of(self.adjoint), "sources": address_of(self.sources), "found": address_of(self.found),
        }  # fmt: skip
        self._walk = np.array([walk.get(name, 0) for name in WALK], np.int64)
        self._own_kept = arrays_for(twin.numbers).Kept()
        self._own_kept.walk = address_of(self._walk)
        inputs = [address_of(self._walk), 0]
        self._begin = PackedLaunch(
            wp.launch(twin.begin_kernel, dim=self._columns.count, inputs=inputs, device="cpu", record_cmd=True)
        )

    @property
    def memory(self) -> int:
        """Bytes of records and slopes."""
        return sum(own.nbytes for own in (self._records, self.adjoint, self.sources, self.found))

    def seed(self) -> None:
        """Write the leaves of what stays as it is into the twin."""
        for field, first in self._constant:
            scalars = field.scalars.numpy()
            leaves = first + np.arange(len(scalars))
            halves = scalars.view(np.uint64).reshape(len(scalars), -1, 2)
            halves[:, :, 1] = (self._twin.tape.address + FIRST + ENTRY * leaves)[:, None]

    def take(self) -> np.ndarray:
        """A copy of the state, shape (rows, pitch)."""
        state = np.zeros_like(self._records[0, : self._states])
        self._launch("take", state)
        return state

    def put(self, state: np.ndarray) -> None:
        """Put a copy back."""
        self._launch("put", state)

    def _launch(self, name: str, state: np.ndarray) -> None:
        self._copies[name].set("table", address_of(state))
        self._copies[name].run()

    def note_state(self, state: np.ndarray) -> None:
        """Make a copy the first record."""
        self._records[0, : self._states] = state

    def note_steered(self, record: int) -> None:
        """Write the present values of what is steered into a record."""
        for own in self._steered:
            values = own.field.scalars.numpy()
            self._records[record, own.at, : values.shape[1]] = values[: own.at.stop - own.at.start]

    def state_of(self, record: int) -> np.ndarray:
        """A copy of the state in a record."""
        return self._records[record, : self._states].copy()

    def records(self, name: str) -> np.ndarray:
        """A field of the state in all records, shape (records, rows, pitch)."""
        return self._records[:, self._rows[name].at]

    def pull_back(self, count: int) -> None:
        """Pull back so many steps."""
        self._walk[WALK.index("steps")] = count
        self._begin.set("step", count - 1)
        self._begin.run()
        self._twin.pull_back(self._place, count, self._own_kept)
