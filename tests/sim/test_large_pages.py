"""Arrays of zeros in large pages are as those of NumPy."""

import mmap

import numpy as np
import pytest

from warp_artic.sim.record.large_pages import LEAST, PAGE, zeros_in_large_pages


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0,), (7, 0, 3), (5, 7), (LEAST // 4 + 3,), (11, 1024, 77), (3, PAGE // 8, 2)])
def test_arrays_are_zeros_of_their_own(shape, dtype):
    """They have the shape and type asked for, can be written to their ends, and share no memory."""
    arrays = [zeros_in_large_pages(shape, dtype) for _ in range(2)]
    for array in arrays:
        assert array.shape == shape and array.dtype == dtype and not array.any()
        assert array.flags.writeable and array.flags.c_contiguous
    arrays[0][...] = 3.0
    assert not arrays[1].any()
    assert arrays[0].sum() == 3.0 * arrays[0].size


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="the system has none")
def test_large_arrays_begin_at_a_page():
    """Otherwise their first and last pages would be small ones."""
    for size in (LEAST, PAGE, 3 * PAGE + 8):
        assert zeros_in_large_pages((size // 8,), np.float64).ctypes.data % PAGE == 0


@pytest.mark.parametrize("count", [1 << 58, 1 << 70])
def test_what_does_not_fit_is_a_memory_error(count):
    """Also where the size is no number that the system knows."""
    with pytest.raises(MemoryError, match="bytes"):
        zeros_in_large_pages((count,), np.float32)
