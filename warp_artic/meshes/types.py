"""The number types of meshes: vectors and matrices of a dimension and a precision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from warp_artic.math.numbers import numbers_for

LANES = 128
"""Threads of a block on CUDA, which has one environment; on a CPU a block is one thread."""

OPTIONS = {
    "enable_backward": False,
    "module": "unique",
    "module_options": {"cpu_compiler_flags": "-march=native -mllvm=-inline-threshold=100000"},
}
"""Options of every kernel. With everything inlined, energies and forces of tetrahedra take 0.4 to 0.7 of the time, and
stiffness 0.6 to 0.8: a call copies all arrays of a mesh."""


@dataclass(frozen=True)
class MeshTypes:
    """Types of one dimension and one precision."""

    dim: int
    real: type
    """wp.float32 or wp.float64."""
    vec: type
    """Of `dim` numbers."""
    mat: type
    """Of `dim` rows and columns."""
    epsilon: float
    """Distance from one to the next number."""


@cache
def mesh_types(dim: int, precision: str) -> MeshTypes:
    """The types for triangles (2) or tetrahedra (3), in "float32" or "float64"."""
    real = numbers_for(precision, wide=False).scalar
    epsilon = 2.0**-52 if real is wp.float64 else 2.0**-23
    return MeshTypes(
        dim, real, wp.types.vector(length=dim, dtype=real), wp.types.matrix(shape=(dim, dim), dtype=real), epsilon
    )


def lanes_of(device: str) -> int:
    """Threads of the block of an environment."""
    return 1 if wp.get_device(device).is_cpu else LANES


def put(array: wp.array, values: np.ndarray) -> None:
    """Write values of the host into an array of their shape; on a CPU without an array on the way."""
    if array.device.is_cpu:
        array.numpy()[...] = values
    else:
        array.assign(values)
