"""The values of matrices of blocks between nodes, of environments one after the other or side by side in lanes.

A group is one environment, or as many as a number has lanes: number k of a block of environment e is at

    numbers[e // lanes, slot, k, e % lanes]

so that kernels for one environment read and write both kinds alike.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from warp_artic.meshes.types import MeshTypes, zeros_to_read_beyond


@dataclass(frozen=True, eq=False)
class BlockValues:
    """Of a pattern with so many slots, in some environments; two views of one memory."""

    blocks: wp.array
    """Matrices of a group, shape (groups, slots)."""
    numbers: wp.array
    """Shape (groups, slots, dim^2, lanes)."""
    environments: int

    def numpy(self) -> np.ndarray:
        """A copy, shape (environments, slots, dim, dim)."""
        numbers = self.numbers.numpy()
        groups, slots, size, lanes = numbers.shape
        dim = round(size**0.5)
        found = np.moveaxis(numbers, -1, 1).reshape(groups * lanes, slots, dim, dim)
        return found[: self.environments].copy()


def block_values(types: MeshTypes, environments: int, slots: int, mat: type, device: str) -> BlockValues:
    """Zeros; `mat` is the type of a block of one environment, or of several side by side."""
    size = types.dim**2
    lanes = mat._length_ // size
    groups = -(-environments // lanes)
    blocks = zeros_to_read_beyond(groups, slots, mat, device)
    shape = (groups, slots, size, lanes)
    numbers = wp.array(ptr=blocks.ptr, dtype=types.real, shape=shape, device=device)
    return BlockValues(blocks, numbers, environments)


@cache
def block_access(dim: int, real: type) -> tuple[wp.Function, wp.Function]:
    """The functions `block_at(numbers, env, slot)` and `set_block(numbers, env, slot, block)`."""
    Mat = wp.types.matrix(shape=(dim, dim), dtype=real)

    @wp.func
    def block_at(numbers: wp.array4d(dtype=real), env: int, slot: int):
        lanes = numbers.shape[3]
        found = Mat()
        for i in range(dim):
            for j in range(dim):
                found[i, j] = numbers[env // lanes, slot, i * dim + j, env % lanes]
        return found

    @wp.func
    def set_block(numbers: wp.array4d(dtype=real), env: int, slot: int, block: Mat):
        lanes = numbers.shape[3]
        for i in range(dim):
            for j in range(dim):
                numbers[env // lanes, slot, i * dim + j, env % lanes] = block[i, j]

    return block_at, set_block
