"""Arrays of records, in large pages of memory where the system has them.

Numbers lie record by record, and in a record those of all environments side by side: as steps have them in lanes.

The first write to each page of fresh memory is a fault of 0.5 to 2 us: with pages of 4 kB, steps of many environments
that write records take half as long again. NumPy asks for large pages from 4 MiB on, and leaves the ends of arrays out.
"""

from __future__ import annotations

import mmap
from math import prod

import numpy as np

PAGE = 1 << 21
"""The size of a large page on common machines [byte]."""
LEAST = 1 << 20
"""The size of an array that is worth one [byte]."""


def records_of_zeros(records: int, environments: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros to be written record by record, shape (records, environments, *shape)."""
    return np.moveaxis(zeros_in_large_pages((records, *shape, environments), dtype), -1, 1)


def zeros_in_large_pages(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """As `np.zeros`, in pages of its own where it is large."""
    count = prod(shape)
    size = count * np.dtype(dtype).itemsize
    if size < LEAST or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype)
    try:
        memory = mmap.mmap(-1, -(-size // PAGE) * PAGE + PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"{size:,} bytes") from error
    try:
        memory.madvise(mmap.MADV_HUGEPAGE)
    except OSError:
        pass  # a system that is built without them
    start = -np.frombuffer(memory, np.uint8).ctypes.data % PAGE
    return np.frombuffer(memory, dtype, count, start).reshape(shape)
