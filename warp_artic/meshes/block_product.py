"""The product of a matrix of blocks between nodes and a vector of nodes."""

from functools import cache

import warp as wp

from warp_artic.meshes.block_values import block_access
from warp_artic.meshes.types import MeshTypes


@cache
def product_kernel(types: MeshTypes) -> wp.Kernel:
    """The kernel for environments times nodes."""
    Vec = types.vec
    block_at, _ = block_access(types.dim, types.real)

    @wp.kernel(enable_backward=False, module=wp.get_module(f"{__name__}_{types.dim}_{types.real.__name__}"))
    def multiply(
        starts: wp.array(dtype=int),
        columns: wp.array(dtype=int),
        values: wp.array4d(dtype=types.real),
        vectors: wp.array2d(dtype=Vec),
        result: wp.array2d(dtype=Vec),
    ):
        env, node = wp.tid()
        total = Vec()
        for slot in range(starts[node], starts[node + 1]):
            total += block_at(values, env, slot) * vectors[env, columns[slot]]
        result[env, node] = total

    return multiply
