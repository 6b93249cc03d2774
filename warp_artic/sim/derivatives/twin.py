"""The twin of a run: its mechanisms once more, on dual numbers, which carry derivatives along some directions.

A column of the run, an environment of a mechanism, has `blocks` numbers one after the other in the twin, all with the
same value, and each with derivatives along `width` directions. Steps of the twin are those of the run in every bit of
their values, with the scalar variant of kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.constraints.contact_pair import CONTACT_PAIR
from warp_artic.errors import SolveError
from warp_artic.kernels.duals import OWN, SHARED, spread_kernel_for
from warp_artic.kernels.launch import load
from warp_artic.math.numbers import Numbers, dual_numbers_for
from warp_artic.mechanisms.group import Group, build_groups
from warp_artic.model.field import Field
from warp_artic.sim.launch.launches import Launches
from warp_artic.sim.run.layout import laid_out
from warp_artic.sim.run.state import Run


def check_differentiable(run: Run, what: str) -> None:
    """Refuse what has no derivatives yet.

    Raises:
        SolveError: It says what of the scene that is.
    """
    contacts = run.names.entries["contact"]
    found = None
    if run.elastic:
        found = f"the elastic body {run.elastic.bodies[0].path}"
    elif run.islands:
        found = "contacts between many mechanisms, which are solved island by island"
    elif any(group.tree.count(CONTACT_PAIR) for group in run.groups):
        found = f"contacts, of which the first is {contacts[0] if contacts else 'of a pair of colliders'}"
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
    """

    def __init__(self, run: Run, blocks: int):
        self._run = run
        self.blocks = blocks
        self.numbers = numbers = _numbers(run)
        self.width = self.width_of(run)
        """Directions of a number."""
        self.groups = build_groups(
            laid_out(run.scene, run.settings),
            run.environments * blocks * numbers.lanes,
            lambda columns: numbers,
            run.device,
            run.settings.has_dense_rows,
            0,
            run.threads,
        )
        self._spread = spread_kernel_for(numbers.scalar, numbers.lanes)
        load(self._spread, run.on)
        self._launches: Launches | None = None
        self._copied: list[Field] = []
        """Parameters of the run as launches and addresses are found for."""
        self._rows: list[_Rows] = []
        self._uploaded: dict[tuple, tuple[wp.array, ...]] = {}

    @staticmethod
    def width_of(run: Run) -> int:
        """Directions of a number in twins of a run."""
        return _numbers(run).lanes - 1

    @property
    def directions(self) -> int:
        """How many there is room for."""
        return self.blocks * self.width

    def begin(self, own: frozenset[str] = frozenset()) -> None:
        """Take up the state, the control and the parameters of the run, without derivatives.

        Parameters whose names are among `own` get a value for each environment.
        """
        fields = [field for group in self._run.groups for field in group.parameters.values()]
        moved = len(fields) != len(self._copied) or any(a is not b for a, b in zip(fields, self._copied))
        self._copied = fields
        for group, twin in zip(self._run.groups, self.groups):
            for name, field in group.parameters.items():
                if twin.parameters[name].is_shared and (name in own or not field.is_shared):
                    twin.expand_parameter(name)
                    moved = True
        if moved:
            self._pack()
        self._copy(clears=True)

    def copy_values(self, names: frozenset[str]) -> None:
        """Take up the values of some fields of the run again; derivatives stay."""
        self._copy(False, names)

    def step(self, count: int) -> None:
        """Make steps."""
        self._launches.step(count, False)

    def entries(self, place: int, name: str) -> np.ndarray:
        """The field of a name of a group, shape (rows, columns, blocks, 1 + width), in its memory on a CPU."""
        return self._shaped(place, self.groups[place].field(name).scalars.numpy())

    def values(self, place: int, name: str) -> np.ndarray:
        """Values of a field, shape (rows, columns)."""
        return self.entries(place, name)[:, :, 0, 0].copy()

    def derivatives(self, place: int, name: str) -> np.ndarray:
        """Derivatives of a field, shape (rows, columns, directions)."""
        entries = self.entries(place, name)
        return entries[..., 1:].reshape(*entries.shape[:2], self.directions)

    def seed(self, place: int, name: str, rows, columns: slice, values: np.ndarray) -> None:
        """Write derivatives of some rows and columns of a field, shape (rows, columns or 1, at most directions)."""
        padded = np.zeros((*values.shape[:2], self.directions))
        padded[..., : values.shape[2]] = values
        padded = padded.reshape(*values.shape[:2], self.blocks, self.width)
        self._write(place, name, lambda entries: _assign(entries[:, columns, :, 1:], rows, padded))

    def clear(self, place: int, name: str) -> None:
        """Make derivatives of a field zero."""
        self._write(place, name, lambda entries: _assign(entries[..., 1:], slice(None), 0.0))

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
        self._launches = Launches(self.groups, self._run.settings, self._run.on, self._run.threads)
        self._rows = [self._rows_of(group, twin) for group, twin in zip(self._run.groups, self.groups)]
        self._uploaded.clear()

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
                    rows.kinds.append((SHARED if field.is_shared else OWN, SHARED if other.is_shared else OWN))
        return rows

    def _copy(self, clears: bool, only: frozenset[str] | None = None) -> None:
        for place, group in enumerate(self._run.groups):
            if (place, only) not in self._uploaded:
                self._uploaded[place, only] = self._rows[place].upload(only, self._run.on)
            tables = self._uploaded[place, only]
            wp.launch(
                self._spread,
                dim=(len(tables[0]), group.columns.count),
                inputs=[*tables, self.blocks, int(clears)],
                device=self._run.on,
            )


@dataclass(frozen=True)
class _Rows:
    """All rows of the fields of a group and of its twin."""

    names: list[str]
    """Of the fields that they are of."""
    sources: list[int]
    """Addresses in the run."""
    targets: list[int]
    """Addresses in the twin."""
    kinds: list[tuple[int, int]]
    """Of both, SHARED or OWN."""

    def upload(self, only: frozenset[str] | None, device: wp.Device) -> tuple[wp.array, wp.array, wp.array]:
        """Addresses and kinds of the rows of some fields, or of all, on a device."""
        chosen = [k for k, name in enumerate(self.names) if only is None or name in only]
        tables = (np.array(self.sources, np.uint64), np.array(self.targets, np.uint64))
        kinds = np.array(self.kinds, np.int32).reshape(-1, 2)[chosen]
        uploaded = (wp.array(table[chosen], dtype=wp.uint64, device=device) for table in tables)
        return *uploaded, wp.array(kinds, dtype=int, device=device)


def _numbers(run: Run) -> Numbers:
    return dual_numbers_for(run.settings.precision, run.on.is_cpu)


def _assign(entries: np.ndarray, rows, values: np.ndarray | float) -> None:
    entries[rows] = values
