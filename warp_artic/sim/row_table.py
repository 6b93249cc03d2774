"""Rows of many fields as one table (rows, environments): chosen environments are copied with one launch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import warp as wp

from warp_artic.kernels.columns import row_kernels_for
from warp_artic.model.group import Group
from warp_artic.sim.rows import Rows, private_rows

Entry = tuple[str, str, Rows, bool]
MOST = 64
"""Tables that are kept."""


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

    def take(self, chosen: wp.array) -> wp.array:
        """Chosen environments, shape (rows, chosen); zeros where one is out of range."""
        table = wp.empty((self.count, chosen.shape[0]), dtype=self._scalar, device=self._device)
        self._launch(self._kernels.take, chosen, table)
        return table

    def put(self, table: wp.array, chosen: wp.array, has_own_columns: bool = False) -> None:
        """Write the columns of a table, or its only one, to chosen environments; those out of range are left out.

        With columns of their own environments get those of their numbers, not one after the other.
        """
        self._launch(self._kernels.put, chosen, table, int(has_own_columns))

    def fill(self, value: float, chosen: wp.array) -> None:
        """Write a value to all rows of chosen environments."""
        self._launch(self._kernels.fill, chosen, value)

    def _launch(self, kernel: wp.Kernel, chosen: wp.array, *given) -> None:
        if self.count and chosen.shape[0]:
            inputs = [self._addresses, self._environments, chosen, *given]
            wp.launch(kernel, dim=(self.count, chosen.shape[0]), inputs=inputs, device=self._device)


def _place(addresses: np.ndarray, group: Group, name: str, table: np.ndarray) -> None:
    """Write the addresses of the rows of a field; `table` says which of them each is, shape (members, rows)."""
    scalars = group.field(name).scalars
    pitch, size = scalars.strides
    members, rows = np.indices(table.shape)
    there = table >= 0
    addresses[table[there]] = scalars.ptr + rows[there] * pitch + members[there] * group.environments * size


class RowTables:
    """The tables of a simulation, by what they are of, for as long as its fields stay where they are."""

    def __init__(self, simulation):
        self._simulation = simulation
        self._known: dict[Hashable, RowTable] = {}
        self._of: object = None

    def find(self, key: Hashable, entries: Callable[[], Sequence[Entry]]) -> RowTable:
        """The table of a key, made of the entries where it is not known."""
        launches = self._simulation._launches.steps  # others from when a field has moved
        if self._of is not launches or len(self._known) > MOST:
            self._known.clear()
            self._of = launches
        if key not in self._known:
            self._known[key] = RowTable(self._simulation._groups, entries())
        return self._known[key]

    def of_state(self, names: tuple[str, ...], articulations: Sequence[int]) -> RowTable:
        """All rows of fields of the state, of some articulations of the scene."""
        groups, indices = self._simulation._groups, tuple(articulations)

        def entries() -> list[Entry]:
            return [(name, name, private_rows(groups, name).only(groups, indices), True) for name in names]

        return self.find(("state", names, indices), entries)
