"""Arrays of a page: one block of bytes, deflated, and a table of what is where."""

from __future__ import annotations

import base64
import zlib

import numpy as np

LETTERS = {"float32": "f", "uint32": "u", "uint16": "h", "int8": "b", "uint8": "c"}
"""How kinds of numbers are called in the table."""
ALIGNED = 4


class Pack:
    """Collects arrays; each is called by its number from then on."""

    def __init__(self):
        self.table: list[list] = []
        self._bytes = bytearray()

    def add(self, values: np.ndarray, kind: str) -> int:
        """The number of an array, which is kept as numbers of a kind."""
        array = np.ascontiguousarray(values, kind)
        self.table.append([LETTERS[kind], len(self._bytes), int(array.size)])
        self._bytes += array.tobytes() + bytes(-array.nbytes % ALIGNED)
        return len(self.table) - 1

    def add_narrow(self, values: np.ndarray) -> tuple[int, float, float]:
        """The number of an array in 16 bits, with the value of 0 and that of a step; not finite ones become the least.

        The error is at most half a step, 1 / 131070 of the range.
        """
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        step = (high - low) / 65535.0
        whole = np.round((np.where(np.isfinite(values), values, low) - low) / (step or 1.0))
        return self.add(whole, "uint16"), low, step

    def text(self) -> str:
        """The block, deflated, in base 64."""
        squeeze = zlib.compressobj(9, wbits=-15)
        return base64.b64encode(squeeze.compress(bytes(self._bytes)) + squeeze.flush()).decode("ascii")
