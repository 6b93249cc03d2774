"""The memory of a tape (`math.taped_functions`): of the system, which gives it where it is written to."""

import ctypes
import mmap

from warp_artic.math.taped_functions import IS_FULL, TAPE_BYTES


class Tape:
    """Room for a tape, at a multiple of its size."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 2 * TAPE_BYTES)
        lies = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self.address = -(-lies // TAPE_BYTES) * TAPE_BYTES
        """Where it begins."""
        self._is_full = ctypes.c_uint64.from_buffer(self._memory, self.address - lies + IS_FULL)

    def was_full(self) -> bool:
        """Whether there was no room for some operation since it was asked last."""
        found = bool(self._is_full.value)
        self._is_full.value = 0
        return found
