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
    """For each group, shape (members, rows of the field); -1 where the array leaves one out."""
    count: int
    """Rows of the array."""
    device: str

    @cached_property
    def _uploaded(self) -> tuple[wp.array, ...]:
        return tuple(
            wp.array(np.ascontiguousarray(table, np.int32), dtype=wp.int32, device=self.device) for table in self.tables
        )

    def only(self, groups: Sequence[Group], articulations: Sequence[int]) -> Rows:
        """The same array, but only the rows of some articulations of the scene are copied."""
        if len(articulations) == sum(len(group.members) for group in groups):
            return self
        meant = (np.isin(group.members, articulations)[:, None] for group in groups)
        tables = tuple(np.where(own, table, -1) for own, table in zip(meant, self.tables))
        return Rows(tables, self.count, self.device)

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
                    dim=(*table.shape, chosen.shape[0]),
                    inputs=[group.field(name).scalars, rows, group.environments, chosen, values],
                    device=self.device,
                )


def public_rows(groups: Sequence[Group], order: Sequence[np.ndarray], size: int, articulations: Sequence[int]) -> Rows:
    """The rows of some articulations in the order of the scene, `size` of the array for each of them.

    `order` has, for each articulation of the scene, the rows of the scene that its rows are.
    """
    kept = np.sort(np.concatenate([np.zeros(0, int), *(order[index] for index in articulations)]))
    tables = []
    for group in groups:
        rows = np.searchsorted(kept, np.array([order[index] for index in group.members]))
        tables.append((size * rows[..., None] + np.arange(size)).reshape(len(group.members), -1))
    return Rows(tuple(tables), size * len(kept), groups[0].columns.device).only(groups, articulations)


def private_rows(groups: Sequence[Group], name: str) -> Rows:
    """All rows of the fields of a name, one group after the other."""
    shapes = [(len(group.members), group.field(name).scalars.shape[0]) for group in groups]
    ends = np.cumsum([members * rows for members, rows in shapes])
    tables = tuple(np.arange(end - m * n, end).reshape(m, n) for end, (m, n) in zip(ends, shapes))
    return Rows(tables, int(ends[-1]), groups[0].columns.device)


def shaped(values: wp.array, size: int) -> wp.array:
    """An array of rows with a further dimension for the components of each, where there are several."""
    rows, columns = values.shape
    return values if size == 1 else values.reshape((rows // size, size, columns))
