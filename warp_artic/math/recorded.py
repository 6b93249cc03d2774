"""Launches that come again and again with the same arrays: each is recorded when it comes a second time."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import warp as wp

from warp_artic.math.compiling import load
from warp_artic.math.packed import PackedLaunch

MOST = 256
"""Launches that are kept."""
RECORDING = threading.Lock()
"""Held where Warp compiles, loads or records, which one thread does at a time."""


class RecordedLaunches:
    """Launches on a device.

    They are told apart by kernel, size, and inputs: arrays by where they lie, numbers by value, structs and vectors by
    which one it is. Who changes one makes another.
    """

    def __init__(self, device: str):
        self._device = wp.get_device(device)
        self._known: dict[tuple, PackedLaunch] = {}
        self._seen: dict[tuple, list] = {}
        """Those that came once, with their structs and vectors."""

    def launch(self, kernel: wp.Kernel, dim, inputs: Sequence, block_dim: int | None = None) -> None:
        """Launch a kernel as `wp.launch` does, without gradients."""
        key = (kernel, dim, *map(_known_by, inputs))
        found = self._known.get(key)
        if found is None:
            with RECORDING:
                found = self._look_again(key, kernel, dim, inputs, block_dim)
        if found is None:
            return
        if self._device.is_capturing:
            found.record()
        else:
            found.run()

    def _look_again(self, key: tuple, kernel: wp.Kernel, dim, inputs: Sequence, block_dim) -> PackedLaunch | None:
        """Make a launch that comes for the first time; record one that comes a second time, which takes as long as to
        make it several times."""
        if key not in self._seen:
            if len(self._seen) >= MOST:
                self._seen.clear()
                self._known.clear()
            self._seen[key] = [value for value in inputs if _is_compound(value)]
            load(kernel, self._device, block_dim)
            wp.launch(kernel, dim=dim, inputs=list(inputs), device=self._device, block_dim=block_dim)
            return None
        recorded = wp.launch(
            kernel, dim=dim, inputs=list(inputs), device=self._device, block_dim=block_dim, record_cmd=True
        )
        self._known[key] = PackedLaunch(recorded)
        return self._known[key]


def _known_by(value):
    """The key of an input; keys by identity hold as long as the input is kept."""
    if isinstance(value, wp.array):
        return value.ptr, value.shape, value.strides
    return id(value) if _is_compound(value) else getattr(value, "value", value)


def _is_compound(value) -> bool:
    """Whether it is a struct or a vector, and no array or number."""
    return not isinstance(value, (int, float, wp.array)) and not hasattr(value, "value")
