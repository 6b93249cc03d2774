"""The twin of a run: its mechanisms once more, on dual numbers, which carry derivatives along some directions.

A column of the run, an environment of a mechanism, has `blocks` numbers one after the other in the twin, all with the
same value, and each with derivatives along `width` directions. Steps of the twin are those of the run in every bit of
their values, with the scalar variant of kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import warp as wp

from warp_artic.errors import SolveError
from warp_artic.kernels.duals import CLEARS_ALL, CLEARS_NOTHING, CLEARS_STATE, OWN, SHARED, spread_kernel_for
from warp_artic.kernels.launch import load
from warp_artic.math.numbers import Numbers, dual_numbers_for
from warp_artic.mechanisms.group import Group, build_groups
from warp_artic.model.field import Field
from warp_artic.sim.launch.launches import Launches
from warp_artic.sim.run.layout import laid_out
from warp_artic.sim.run.state import Run

Found = TypeVar("Found")
CLEARS_AT = 4
"""The argument of the kernel that copies by which derivatives become zero."""


def check_differentiable(run: Run, what: str) -> None:
    """Refuse what has no derivatives yet.

    Raises:
        SolveError: It says what of the scene that is.
    """
    found = None
    if run.elastic:
        found = f"the elastic body {run.elastic.bodies[0].path}"
    elif run.islands:
        found = "contacts between many mechanisms, which are solved island by island"
    elif run.bases:
        found = f"the kinematic body {run.bases.names[0]}"
    elif run.hand_overs:
        found = f"{run.hand_overs.names[0]}, which is kinematic at times"
    elif run.sleep_steps:
        found = (
            f"sleep after {run.settings.sleep_after:g} s at rest; SolverSettings(sleep_after=math.inf) leaves it out"
        )
    if found:
        raise SolveError(f"{what}: steps are not differentiated yet where there is {found}")


class Twin:
    """The mechanisms of a run on dual numbers.

    Args:
        run: The run, which stays as it is.
        blocks: Dual numbers for each column.
        numbers: Those that it is made of, if these are not the dual numbers of the run.
    """

    def __init__(self, run: Run, blocks: int, numbers: Numbers | None = None):
        self._run = run
        self.blocks = blocks
        self.threads = 1 if numbers else run.threads
        self.numbers = numbers = numbers or _numbers(run)
        self.width = numbers.lanes - 1
        """Directions of a number."""
        self.groups = build_groups(
            laid_out(run.scene, run.settings),
            run.environments * blocks * numbers.lanes,
            lambda columns: numbers,
            run.device,
            run.settings.has_dense_rows,
            0,
            self.threads,
        )
        self._spread = spread_kernel_for(numbers.scalar, numbers.lanes)
        load(self._spread, run.on)
        self._launches: Launches | None = None
        self._known: dict[tuple, object] = {}
        self._seeds: tuple | None = None
        self.stands = False
        """Whether parameters and controls have the derivatives of the time before."""
        self._copied: list[Field] = []
        """Parameters of the run as launches and addresses are found for."""
        self._own: frozenset[str] = frozenset()
        """Parameters that have a value for each environment here, whatever they have in the run."""
        self._rows: list[_Rows] = []

    @staticmethod
    def width_of(run: Run) -> int:
        """Directions of a number in twins of a run."""
        return _numbers(run).lanes - 1

    @property
    def directions(self) -> int:
        """How many there is room for."""
        return self.blocks * self.width

    def begin(self, own: frozenset[str] = frozenset(), seeds: tuple | None = None) -> None:
        """Take up the state, the control and the parameters of the run, without derivatives.

        Args:
            own: Names of parameters that get a value for each environment.
            seeds: What names the derivatives of parameters and controls that are written next. Where they are those
                of the time before, they are left as they are, and only those of the state become zero.
        """
        fields = [field for group in self._run.groups for field in group.parameters.values()]
        moved = list(map(id, fields)) != list(map(id, self._copied))
        if moved or not own <= self._own:
            self._copied, self._own = fields, self._own | own
            for group, twin in zip(self._run.groups, self.groups):
                for name, field in group.parameters.items():
                    if twin.parameters[name].is_shared and (name in self._own or not field.is_shared):
                        twin.expand_parameter(name)
            self._pack()
            moved = True
        self.stands = seeds is not None and seeds == self._seeds and not moved
        self._seeds = seeds
        self._copy(CLEARS_STATE if self.stands else CLEARS_ALL)

    def once(self, about: tuple, find: Callable[[], Found]) -> Found:
        """What is found about this twin when it is asked for first."""
        if about not in self._known:
            self._known[about] = find()
        return self._known[about]

    def copy_values(self, names: frozenset[str]) -> None:
        """Take up the values of some fields of the run again; derivatives stay."""
        self._copy(CLEARS_NOTHING, names)

    def step(self, count: int) -> None:
        """Make steps."""
        self._launches.step(count, False, self._run.on.is_capturing)

    def entries(self, place: int, name: str) -> np.ndarray:
        """The field of a name of a group, shape (rows, columns, blocks, 1 + width), in its memory on a CPU."""
        if self._run.on.is_cpu:
            return self.once(("entries", place, name), lambda: self._entries(place, name))
        return self._entries(place, name)

    def _entries(self, place: int, name: str) -> np.ndarray:
        return self._shaped(place, self.groups[place].field(name).scalars.numpy())

    def values(self, place: int, name: str) -> np.ndarray:
        """Values of a field, shape (rows, columns)."""
        return self.entries(place, name)[:, :, 0, 0].copy()

    def derivatives(self, place: int, name: str, rows=slice(None), columns: slice = slice(None)) -> np.ndarray:
        """Derivatives of some rows and columns of a field, shape (rows, columns, directions)."""
        found = self.entries(place, name)[rows, columns, :, 1:].astype(float)
        return found.reshape(*found.shape[:2], self.directions)

    def positions(self, place: int, name: str, rows, columns, directions) -> np.ndarray:
        """Where in the memory of a field derivatives lie, by indices that are broadcast."""
        pitch = self.groups[place].field(name).scalars.shape[1]
        lanes = self.numbers.lanes
        block, lane = np.divmod(directions, self.width)
        return rows * pitch + (columns * self.blocks + block) * lanes + 1 + lane

    def write_at(self, place: int, name: str, at: np.ndarray, values: np.ndarray | float) -> None:
        """Write derivatives of a field that lie at `positions`."""
        if self._run.on.is_cpu:
            self.once(("memory", place, name), lambda: self._memory(place, name))[at] = values
            return
        host = self._memory(place, name)
        host[at] = values
        scalars = self.groups[place].field(name).scalars
        scalars.assign(host.reshape(scalars.shape))

    def _memory(self, place: int, name: str) -> np.ndarray:
        return self.groups[place].field(name).scalars.numpy().reshape(-1)

    def seed(self, place: int, name: str, rows, columns: slice, values: np.ndarray) -> None:
        """Write derivatives of some rows and columns of a field, shape (rows, columns or 1, at most directions)."""
        padded = np.zeros((*values.shape[:2], self.directions))
        padded[..., : values.shape[2]] = values
        padded = padded.reshape(*values.shape[:2], self.blocks, self.width)
        self._write(place, name, lambda entries: _assign(entries[:, columns, :, 1:], rows, padded))

    def set_values(self, place: int, name: str, rows, columns: slice, values: np.ndarray) -> None:
        """Write values of some rows and columns of a field, shape (rows, columns or 1)."""
        self._write(place, name, lambda entries: _assign(entries[:, columns, :, 0], rows, values[..., None]))

    def _write(self, place: int, name: str, write: Callable[[np.ndarray], object]) -> None:
        scalars = self.groups[place].field(name).scalars
        host = scalars.numpy()
        write(self._shaped(place, host))
        if not scalars.device.is_cpu:
            scalars.assign(host)

    def _shaped(self, place: int, scalars: np.ndarray) -> np.ndarray:
        """Rows of scalars as entries, in the same memory."""
        lanes = self.numbers.lanes
        columns = self.groups[place].columns.count // (self.blocks * lanes)
        numbers = scalars.reshape(len(scalars), -1, lanes)[:, : columns * self.blocks]
        return numbers.reshape(len(scalars), columns, self.blocks, lanes)

    def _pack(self) -> None:
        """Pack launches, and find where fields are, when one has become one that each environment has for itself."""
        self._launches = Launches(self.groups, self._run.settings, self._run.on, self.threads)
        self._rows = [self._rows_of(group, twin) for group, twin in zip(self._run.groups, self.groups)]
        self._known.clear()

    def _rows_of(self, group: Group, twin: Group) -> _Rows:
        rows = _Rows([], [], [], [])
        for kind in ("parameters", "state", "control"):
            twins = getattr(twin, kind)
            for name, field in getattr(group, kind).items():
                other = twins[name]
                for row in range(min(field.scalars.shape[0], other.scalars.shape[0])):
                    rows.names.append(name)
                    rows.sources.append(field.scalars.ptr + row * field.scalars.strides[0])
                    rows.targets.append(other.scalars.ptr + row * other.scalars.strides[0])
                    of_field = SHARED if field.is_shared else OWN, SHARED if other.is_shared else OWN
                    rows.kinds.append((*of_field, int(kind == "state")))
        return rows

    def _copy(self, clears: int, only: frozenset[str] | None = None) -> None:
        for launch, _tables in self.once(("copies", only), lambda: self._copies(only)):
            launch.set_param_at_index(CLEARS_AT, clears)
            launch.launch()

    def _copies(self, only: frozenset[str] | None) -> list[tuple[wp.Launch, tuple[wp.array, ...]]]:
        """Launches that copy some fields, or all, with the arrays of their arguments, which they do not keep."""
        found = []
        for place, group in enumerate(self._run.groups):
            tables = self._rows[place].upload(only, self._run.on)
            launch = wp.launch(
                self._spread,
                dim=(len(tables[0]), group.columns.count),
                inputs=[*tables, self.blocks, CLEARS_ALL],
                device=self._run.on,
                record_cmd=True,
            )
            found.append((launch, tables))
        return found


@dataclass(frozen=True)
class _Rows:
    """All rows of the fields of a group and of its twin."""

    names: list[str]
    """Of the fields that they are of."""
    sources: list[int]
    """Addresses in the run."""
    targets: list[int]
    """Addresses in the twin."""
    kinds: list[tuple[int, int, int]]
    """Of both, SHARED or OWN, and whether they are of the state."""

    def upload(self, only: frozenset[str] | None, device: wp.Device) -> tuple[wp.array, wp.array, wp.array]:
        """Addresses and kinds of the rows of some fields, or of all, on a device."""
        chosen = [k for k, name in enumerate(self.names) if only is None or name in only]
        tables = (np.array(self.sources, np.uint64), np.array(self.targets, np.uint64))
        kinds = np.array(self.kinds, np.int32).reshape(-1, 3)[chosen]
        uploaded = (wp.array(table[chosen], dtype=wp.uint64, device=device) for table in tables)
        return *uploaded, wp.array(kinds, dtype=int, device=device)


def _numbers(run: Run) -> Numbers:
    return dual_numbers_for(run.settings.precision, run.on.is_cpu)


def _assign(entries: np.ndarray, rows, values: np.ndarray | float) -> None:
    entries[rows] = values
