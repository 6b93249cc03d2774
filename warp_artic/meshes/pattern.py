"""Which blocks of a sparse matrix over nodes are stored: rows of sorted columns, the same for all environments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class BlockPattern:
    """The pattern of a square matrix whose entries are blocks of dim x dim numbers.

    Values of the matrix have shape (environments, count).
    """

    starts: np.ndarray
    """First slot of each row, and the count of slots, shape (N + 1)."""
    columns: np.ndarray
    """Column of each slot, increasing within a row, shape (count)."""

    @property
    def count(self) -> int:
        """Slots, which are stored blocks."""
        return len(self.columns)

    @property
    def rows(self) -> np.ndarray:
        """Row of each slot."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def slots(self, rows, columns) -> np.ndarray:
        """Slots of blocks, each of which must be stored."""
        size = len(self.starts) - 1
        return np.searchsorted(self.rows * size + self.columns, np.asarray(rows) * size + np.asarray(columns))


def block_pattern(size: int, pairs: np.ndarray) -> BlockPattern:
    """The symmetric pattern of some pairs of nodes, shape (P, 2), and the diagonal."""
    nodes = np.arange(size)
    pairs = np.asarray(pairs, int).reshape(-1, 2)
    keys = np.unique(np.concatenate([pairs @ (size, 1), pairs @ (1, size), nodes * (size + 1)]))
    return BlockPattern(np.searchsorted(keys, np.arange(size + 1) * size), keys % size)
