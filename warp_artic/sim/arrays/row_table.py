"""Rows of many fields as one table (rows, environments): chosen environments are copied with one launch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import warp as wp

from warp_artic.kernels.columns import row_kernels_for
from warp_artic.math.packed import PackedLaunch
from warp_artic.mechanisms.group import Group
from warp_artic.sim.arrays.rows import Rows, private_rows
from warp_artic.sim.launch.launches import Launches

Entry = tuple[str, str, Rows, bool]
Held = wp.array | np.ndarray
"""An array without gaps in the memory of the device; on a CPU one of NumPy, as Warp takes 5 us to make its own."""
CPU = "cpu"
MOST = 64
"""Tables that are kept."""
ARGUMENTS = {
    "take": ("chosen", "count", "stride", "table", "width"),
    "put": ("chosen", "count", "stride", "table", "width", "has_own_columns"),
    "fill": ("chosen", "count", "stride", "value"),
}
"""What changes from one launch of a kernel to the next."""


class RowTable:
    """Where the rows of some fields lie, one field after the other.

    Args:
        groups: Of the simulation.
        entries: Parts and names of fields, each with the rows that its rows in the groups are, and whether it is
            meant: others have room, and nothing is copied to or from them.
    """

    def __init__(self, groups: Sequence[Group], entries: Sequence[Entry]):
        self._environments = groups[0].environments
        self._device = groups[0].columns.device
        self._scalar = groups[0].columns.numbers.scalar
        self._kernels = row_kernels_for(self._scalar)
        starts = np.cumsum([0, *(rows.count for _, _, rows, _ in entries)]).tolist()
        spans = [slice(first, end) for first, end in zip(starts, starts[1:])]
        self.layout = tuple((part, name, rows, span) for (part, name, rows, _), span in zip(entries, spans))
        """The entries, with the rows of the table that they are."""
        self.count = starts[-1]
        addresses = np.zeros(self.count, np.uint64)
        for (_, name, rows, is_meant), span in zip(entries, spans):
            for group, table in zip(groups, rows.tables) if is_meant else ():
                _place(addresses[span], group, name, table)
        self._addresses = wp.array(addresses, dtype=wp.uint64, device=self._device)
        self._packed: dict[str, PackedLaunch] = {}

    def take(self, chosen: Held) -> Held:
        """Chosen environments, shape (rows, chosen); zeros where one is out of range."""
        table = empty((self.count, chosen.shape[0]), self._scalar, self._device)
        self._launch("take", chosen, address_of(table), chosen.shape[0])
        return table

    def put(self, table: Held, chosen: Held, has_own_columns: bool = False) -> None:
        """Write the columns of a table, or its only one, to chosen environments; those out of range are left out.

        With columns of their own environments get those of their numbers, not one after the other.
        """
        self._launch("put", chosen, address_of(table), table.shape[1], int(has_own_columns))

    def fill(self, value: float, chosen: Held) -> None:
        """Write a value to all rows of chosen environments."""
        self._launch("fill", chosen, value)

    def _launch(self, kernel: str, chosen: Held, *given) -> None:
        count = chosen.shape[0]
        if not (self.count and count):
            return
        # On a CPU each row is copied by one thread, by a launch that is the same for any number of environments.
        is_on_host = isinstance(chosen, np.ndarray)
        stride = 1 if is_on_host else count
        numbers = address_of(chosen), count, stride, *given
        if is_on_host and kernel in self._packed:
            packed = self._packed[kernel]
            for name, value in zip(ARGUMENTS[kernel], numbers):
                packed.set(name, value)
            packed.record() if wp.get_device(self._device).is_capturing else packed.run()
            return
        launch = wp.launch(
            getattr(self._kernels, kernel),
            dim=(self.count, stride),
            inputs=[self._addresses, self._environments, *numbers],
            device=self._device,
            record_cmd=is_on_host,
        )
        if is_on_host:
            self._packed[kernel] = PackedLaunch(launch)
            self._launch(kernel, chosen, *given)


def _place(addresses: np.ndarray, group: Group, name: str, table: np.ndarray) -> None:
    """Write the addresses of the rows of a field; `table` says which of them each is, as in `Rows`."""
    scalars = group.field(name).scalars
    pitch, size = scalars.strides
    place, row, outside, _ = table.T
    addresses[outside] = scalars.ptr + row * pitch + place * group.environments * size


def address_of(values: Held) -> int:
    """Where an array without gaps lies."""
    return values.__array_interface__["data"][0] if isinstance(values, np.ndarray) else values.ptr


def empty(shape: tuple[int, ...], scalar: type, device: str) -> Held:
    """Room for numbers on a device."""
    if device == CPU:
        return np.empty(shape, wp.dtype_to_numpy(scalar))
    return wp.empty(shape, dtype=scalar, device=device)


def as_warp(values: Held) -> wp.array:
    """An array of Warp in the same memory."""
    if isinstance(values, wp.array):
        return values
    dtype = wp.dtype_from_numpy(values.dtype)
    if values.size == 0:
        return wp.empty(values.shape, dtype=dtype, device=CPU)
    return wp.array(values, dtype=dtype, device=CPU, copy=False)


def as_numpy(values: Held) -> np.ndarray:
    """An array of NumPy, on a CPU in the same memory."""
    return values if isinstance(values, np.ndarray) else values.numpy()


class RowTables:
    """The tables of a simulation, by what they are of, for as long as its fields stay where they are."""

    def __init__(self, groups: Sequence[Group], launches: Launches):
        self._groups = groups
        self._launches = launches
        self._known: dict[Hashable, RowTable] = {}
        self._of: object = None

    def find(self, key: Hashable, entries: Callable[[], Sequence[Entry]]) -> RowTable:
        """The table of a key, made of the entries where it is not known."""
        launches = self._launches.steps  # others from when a field has moved
        if self._of is not launches or len(self._known) > MOST:
            self._known.clear()
            self._of = launches
        if key not in self._known:
            self._known[key] = RowTable(self._groups, entries())
        return self._known[key]

    def of_state(self, names: tuple[str, ...], articulations: Sequence[int]) -> RowTable:
        """All rows of fields of the state, of some articulations of the scene."""
        groups, indices = self._groups, tuple(articulations)

        def entries() -> list[Entry]:
            return [(name, name, private_rows(groups, name).only(groups, indices), True) for name in names]

        return self.find(("state", names, indices), entries)
