"""An array over the articulations of a scene: gathered from its groups and scattered to them, on the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from warp_artic.kernels.columns import column_kernels_for
from warp_artic.mechanisms.group import Group


@dataclass(frozen=True)
class Rows:
    """Which rows of an array the rows of a field are, in each group of the scene."""

    tables: tuple[np.ndarray, ...]
    """For each group, shape (entries, 4): mechanism of the group, row of the field, row of the array, and articulation
    of the scene, -1 where the row is of the whole mechanism."""
    count: int
    """Rows of the array."""
    device: str

    @cached_property
    def _uploaded(self) -> tuple[wp.array, ...]:
        return tuple(
            wp.array(np.ascontiguousarray(table[:, :3], np.int32), dtype=wp.int32, device=self.device)
            for table in self.tables
        )

    @cached_property
    def twins(self) -> np.ndarray:
        """Pairs of rows of the array that are one row of a field, shape (pairs, 2): of mechanisms of several trees."""
        pairs = [np.zeros((0, 2), int)]
        for table in self.tables:
            _, first, place = np.unique(table[:, :2], axis=0, return_index=True, return_inverse=True)
            own = np.column_stack([table[first[place.ravel()], 2], table[:, 2]])
            pairs.append(own[own[:, 0] != own[:, 1]])
        return np.concatenate(pairs)

    def only(self, groups: Sequence[Group], articulations: Sequence[int]) -> Rows:
        """The same array, but only the rows of some articulations of the scene, and their mechanisms, are copied."""
        if len(articulations) == sum(len(mechanism) for group in groups for mechanism in group.members):
            return self
        tables = []
        for group, table in zip(groups, self.tables):
            whole = np.array([not set(one).isdisjoint(articulations) for one in group.members])
            meant = np.where(table[:, 3] < 0, whole[table[:, 0]], np.isin(table[:, 3], articulations))
            tables.append(table[meant])
        return Rows(tuple(tables), self.count, self.device)

    def take(self, groups: Sequence[Group], name: str, chosen: wp.array) -> wp.array:
        """Chosen environments of the fields of a name, shape (rows, chosen)."""
        scalar = groups[0].columns.numbers.scalar
        values = wp.zeros((self.count, chosen.shape[0]), dtype=scalar, device=self.device)
        self._copy("take", groups, name, chosen, values)
        return values

    def put(self, values: wp.array, groups: Sequence[Group], name: str, chosen: wp.array) -> None:
        """Write the columns of `values`, or its only one, to chosen environments of the fields of a name."""
        self._copy("put", groups, name, chosen, values)

    def clear(self, groups: Sequence[Group], name: str, chosen: wp.array) -> None:
        """Write zero to chosen environments of the fields of a name."""
        scalar = groups[0].columns.numbers.scalar
        self.put(wp.zeros((self.count, 1), dtype=scalar, device=self.device), groups, name, chosen)

    def _copy(self, kernel: str, groups: Sequence[Group], name: str, chosen: wp.array, values: wp.array) -> None:
        for group, table, rows in zip(groups, self.tables, self._uploaded):
            if table.size and chosen.shape[0]:
                wp.launch(
                    getattr(column_kernels_for(values.dtype), kernel),
                    dim=(len(table), chosen.shape[0]),
                    inputs=[group.field(name).scalars, rows, group.environments, chosen, values],
                    device=self.device,
                )


def public_rows(
    groups: Sequence[Group], order: Sequence[np.ndarray], kind: str, size: int, articulations: Sequence[int]
) -> Rows:
    """The rows of some articulations in the order of the scene, `size` of the array for each thing of a kind.

    `order` has, for each articulation of the scene, the rows of the scene that its rows are.
    """
    kept = np.sort(np.concatenate([np.zeros(0, int), *(order[index] for index in articulations)]))
    meant = frozenset(articulations)
    tables = []
    for group in groups:
        entries = [np.zeros((0, 4), int)]
        for place, mechanism in enumerate(group.members):
            for part, index in enumerate(mechanism):
                if index in meant:
                    rows = size * np.searchsorted(kept, order[index])[:, None] + np.arange(size)
                    own = size * group.tree.rows_before(part, kind) + np.arange(rows.size)
                    places, indices = np.full(rows.size, place), np.full(rows.size, index)
                    entries.append(np.column_stack([places, own, rows.ravel(), indices]))
        tables.append(np.concatenate(entries))
    return Rows(tuple(tables), size * len(kept), groups[0].columns.device)


def private_rows(groups: Sequence[Group], name: str) -> Rows:
    """All rows of the fields of a name, one group after the other."""
    tables, first = [], 0
    for group in groups:
        places, rows = map(np.ravel, np.indices((len(group.members), group.field(name).scalars.shape[0])))
        tables.append(np.column_stack([places, rows, first + np.arange(rows.size), np.full(rows.size, -1)]))
        first += rows.size
    return Rows(tuple(tables), first, groups[0].columns.device)


def shaped(values: wp.array, size: int) -> wp.array:
    """An array of rows with a further dimension for the components of each, where there are several."""
    rows, columns = values.shape
    return values if size == 1 else values.reshape((rows // size, size, columns))
