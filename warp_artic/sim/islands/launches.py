"""Launches of kernels for contacts among many mechanisms, which are several tens a step.

On a CPU arguments are packed once for each set of arrays that a kernel is given; only structs, in which numbers and
arrays may have changed, are written again. Warp takes longer to pack them than most of these kernels run for small
stages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.kernels.launch import BLOCK, load
from warp_artic.math.packed import PackedLaunch

MOST_KEPT = 256
"""Launches that are kept; more there are only where arrays are not the same in each step."""


@dataclass
class _Kept:
    """A launch that was made before."""

    packed: PackedLaunch
    dim: tuple[int, ...]
    inputs: list
    """What is given: while it is kept, nothing else has its identity."""
    structs: list[tuple[str, object]]


def exclusive_sums(counts: wp.array, sums: wp.array, size: int) -> None:
    """Write, for the first `size` entries, the sum of the counts before each."""
    if counts.device.is_cpu:
        # Warp's scan takes longer to call than to run.
        found = sums.numpy()
        found[:1] = 0
        np.cumsum(counts.numpy()[: size - 1], out=found[1:size], dtype=found.dtype)
    else:
        wp.utils.array_scan(counts[:size], sums[:size], inclusive=False)


class IslandLaunches:
    """Launches kernels on a device."""

    def __init__(self, device: str):
        self._device = wp.get_device(device)
        self._kept: dict[tuple, _Kept] = {}

    def __call__(self, kernel: wp.Kernel, dim: tuple[int, ...], inputs: list) -> None:
        """Launch a kernel, which is compiled before, with a word about it."""
        load(kernel, self._device)
        if not self._device.is_cpu:
            wp.launch(kernel, dim=dim, inputs=inputs, device=self._device, block_dim=BLOCK)
        elif all(dim):
            self._packed(kernel, dim, inputs).run()

    def forget(self) -> None:
        """Let go of arrays that are given no more."""
        self._kept.clear()

    def _packed(self, kernel: wp.Kernel, dim: tuple[int, ...], inputs: list) -> PackedLaunch:
        key = (kernel, *(value if isinstance(value, (int, float)) else id(value) for value in inputs))
        kept = self._kept.get(key)
        if kept is None:
            if len(self._kept) >= MOST_KEPT:
                self.forget()
            launch = wp.launch(kernel, dim=dim, inputs=inputs, device=self._device, block_dim=BLOCK, record_cmd=True)
            named = zip((argument.label for argument in kernel.adj.args), inputs)
            structs = [(name, value) for name, value in named if not isinstance(value, (int, float, wp.array))]
            kept = self._kept[key] = _Kept(PackedLaunch(launch), dim, inputs, structs)
        else:
            for name, value in kept.structs:
                kept.packed.set(name, value)
            if kept.dim != dim:
                kept.packed.resize(dim)
                kept.dim = dim
        return kept.packed
