"""The number types of meshes: vectors and matrices of a dimension and a precision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from warp_artic.math.numbers import numbers_for
from warp_artic.math.processor import native

LANES = 128
"""Threads of a block on CUDA, which has one environment; on a CPU a block is one thread."""

OPTIONS = {
    "enable_backward": False,
    "module": "unique",
    "module_options": {"cpu_compiler_flags": native("-mllvm=-inline-threshold=100000")},
}
"""Options of every kernel. With everything inlined, energies and forces of tetrahedra take 0.4 to 0.7 of the time, and
stiffness 0.6 to 0.8: a call copies all arrays of a mesh."""


@dataclass(frozen=True)
class MeshTypes:
    """Types of one dimension and one precision."""

    dim: int
    precision: str
    """"float32" or "float64"."""
    real: type
    """wp.float32 or wp.float64."""
    vec: type
    """Of `dim` numbers."""
    mat: type
    """Of `dim` rows and columns."""
    epsilon: float
    """Distance from one to the next number."""


@wp.struct
class Material:
    """The law of a mesh and its moduli."""

    law: int
    mu: wp.float64
    lambda_: wp.float64


@cache
def mesh_types(dim: int, precision: str) -> MeshTypes:
    """The types for triangles (2) or tetrahedra (3), in "float32" or "float64"."""
    real = numbers_for(precision, wide=False).scalar
    epsilon = 2.0**-52 if real is wp.float64 else 2.0**-23
    vec, mat = wp.types.vector(length=dim, dtype=real), wp.types.matrix(shape=(dim, dim), dtype=real)
    return MeshTypes(dim, precision, real, vec, mat, epsilon)


def lanes_of(device: str) -> int:
    """Threads of the block of an environment."""
    return 1 if wp.get_device(device).is_cpu else LANES


def is_wide(device: str) -> bool:
    """Whether what is side by side is computed in lane vectors."""
    return wp.get_device(device).is_cpu


def zeros_to_read_beyond(rows: int, count: int, dtype: type, device: str) -> wp.array:
    """An array of two dimensions, with room behind it: a lane vector may read more than what it needs."""
    return wp.zeros(rows * count + 1, dtype=dtype, device=device)[: rows * count].reshape((rows, count))


class HostViews:
    """What the host reads and writes of arrays that stay: on a CPU it is their memory, which is looked up once."""

    def __init__(self):
        self._known: dict[int, tuple[wp.array, np.ndarray]] = {}
        """By identity of the arrays, which are kept."""

    def read(self, array: wp.array) -> np.ndarray:
        """Its values, which on a CPU change with it."""
        if not array.device.is_cpu:
            return array.numpy()
        found = self._known.get(id(array))
        if found is None:
            found = self._known[id(array)] = array, array.numpy()
        return found[1]

    def write(self, array: wp.array, values: np.ndarray, where: np.ndarray | None = None) -> None:
        """Set values of its shape, on a CPU only where that is asked for: others may be at work elsewhere."""
        if not array.device.is_cpu:
            array.assign(values)
        elif where is None:
            self.read(array)[...] = values
        else:
            np.copyto(self.read(array), values, where=where)
