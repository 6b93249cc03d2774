"""One quantity on a device: rows of scalars for people, rows of numbers for kernels, in the same memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import warp as wp

from warp_artic.math.numbers import Numbers


@dataclass(frozen=True)
class Columns:
    """How the environments of a group lie in memory.

    Environments are padded to whole lanes, and lane blocks to an odd number, because a row pitch that is a power of two
    would put every row into the same sets of the caches.
    """

    count: int
    """Environments of all articulations of the group."""
    numbers: Numbers
    device: str

    @property
    def blocks(self) -> int:
        """Columns that kernels see."""
        return -(-self.count // self.numbers.lanes)

    @property
    def pitch(self) -> int:
        """Scalars from one row to the next."""
        blocks = self.blocks + (self.numbers.lanes > 1 and self.blocks % 2 == 0)
        return blocks * self.numbers.lanes


@dataclass(frozen=True)
class Field:
    """A quantity of `rows` rows for all environments of a group."""

    scalars: wp.array
    """Shape (rows, pitch), or (rows, lanes) when shared: the memory."""
    numbers: wp.array
    """Shape (rows, blocks): what kernels index; a shared field has a column stride of zero."""
    columns: Columns
    is_shared: bool

    @staticmethod
    def zeros(rows: int, columns: Columns, is_shared: bool = False) -> Field:
        """A field of zeros; without rows, one that all share."""
        return _zeros(rows, columns, is_shared) if rows else _without_rows(columns, is_shared)

    @staticmethod
    def of(values: np.ndarray, columns: Columns) -> Field:
        """A field with values of shape (rows,), shared, or (rows, count), one column an environment."""
        field = Field.zeros(values.shape[0], columns, is_shared=values.ndim == 1)
        if values.shape[0]:
            field.fill(values)
        return field

    def fill(self, values: np.ndarray) -> None:
        """Write values of shape (rows,) or (rows, count) to all environments; padding repeats the last one."""
        values = np.asarray(values, dtype=float)
        if values.ndim == 1:
            values = values[:, None]
        count = values.shape[1]
        is_here = self.scalars.device.is_cpu
        number = wp.dtype_to_numpy(self.columns.numbers.scalar)
        written = self.scalars.numpy() if is_here else np.empty(self.scalars.shape, number)
        written[:, :count] = values
        written[:, count:] = values[:, -1:]
        if not is_here:
            self.scalars.assign(written)

    def expanded(self) -> Field:
        """The same values with a column for each environment; a shared field becomes one that is not."""
        if not self.is_shared:
            return self
        field = Field.zeros(self.scalars.shape[0], self.columns)
        field.fill(self.scalars.numpy()[:, 0])
        return field

    def part(self, first: int, count: int) -> Field:
        """Some of the rows, in the same memory; where there are none, the field that all share."""
        if count == 0:
            return Field.zeros(0, self.columns)
        end = first + count
        return Field(self.scalars[first:end], self.numbers[first:end], self.columns, self.is_shared)

    def view(self, first: int, count: int) -> wp.array:
        """Rows of the environments `first` to `first + count`, without copying, shape (rows, count)."""
        return self.scalars[:, first : first + count]


def _zeros(rows: int, columns: Columns, is_shared: bool) -> Field:
    number = columns.numbers
    pitch = number.lanes if is_shared else columns.pitch
    scalars = wp.zeros((rows, pitch), dtype=number.scalar, device=columns.device)
    size = wp.types.type_size_in_bytes(number.scalar)
    view = wp.array(
        ptr=scalars.ptr,
        dtype=number.real,
        shape=(rows, columns.blocks),
        strides=(pitch * size, 0 if is_shared else number.lanes * size),
        device=columns.device,
        copy=False,
    )
    return Field(scalars, view, columns, is_shared)


@lru_cache(maxsize=16)
def _without_rows(columns: Columns, is_shared: bool) -> Field:
    """A field that nobody writes to; with a row all the same, so that kernels have an address."""
    return _zeros(1, columns, is_shared)
