"""The twin of a run on numbers that leave on a tape what they are made of, and the memory of the tape.

The memory is of the system, which gives it where it is written to.
"""

from __future__ import annotations

import ctypes
import mmap

from warp_artic.kernels.launch import load
from warp_artic.kernels.pull_back import begin_kernel
from warp_artic.math.taped_functions import IS_FULL, TAPE_BYTES
from warp_artic.math.taped_numbers import taped_numbers_for
from warp_artic.sim.derivatives.twin import Twin
from warp_artic.sim.run.state import Run


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


class TapedTwin(Twin):
    """The mechanisms of a run on numbers that leave on a tape what they are made of, all on one thread.

    Args:
        run: The run, which stays as it is.
    """

    def __init__(self, run: Run):
        super().__init__(run, 1, taped_numbers_for(run.settings.precision))
        self.tape = Tape()
        self.begin_kernel = begin_kernel(self.numbers)
        load(self.begin_kernel, run.on)

    def pull_back(self, place: int, count: int, kept) -> None:
        """Make and pull back so many steps of a group, as a struct `Kept` says."""
        launch = self._launches.steps[place]
        for name, value in (("steps", count), ("every", 1), ("record", 0), ("kept", kept)):
            launch.set(name, value)
        launch.run_whole()
