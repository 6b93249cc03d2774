"""Nodes attached to something that they move, such as links: its response, as a step of the body sees it.

In the middle of a step carried nodes are at

    y = c + G (f - f_0)

of the forces f of the body on them, of all of them together, with c where they are under the forces f_0. G is symmetric
and positive semi-definite, and of small rank; with its eigenvectors phi_k, of unit length, and eigenvalues g_k,

    y = c + sum of phi_k s_k,   phi_k (f - f_0) - s_k / g_k = 0

The coordinates s_k take the place of those of the nodes. The potential has s_k^2 / (2 g_k) + s_k phi_k f_0 for each.
"""

from functools import cache

import numpy as np
import warp as wp

from warp_artic.meshes.types import MeshTypes


@cache
def carried_struct(types: MeshTypes):
    """The struct of carried nodes, C in number, and their K coordinates, in some environments."""
    Real, Vec = types.real, types.vec

    @wp.struct
    class Carried:
        nodes: wp.array(dtype=int)
        """Shape (C)."""
        place: wp.array(dtype=int)
        """Of every node among those that are carried, -1 where it is not."""
        shapes: wp.array3d(dtype=Vec)
        """phi, shape (environments, K, C); zero where there are fewer."""
        stiffness: wp.array2d(dtype=Real)
        """1 / g, shape (environments, K) [N/m]; zero where there are fewer."""
        center: wp.array2d(dtype=Vec)
        """c, shape (environments, C) [m]."""
        before: wp.array2d(dtype=Real)
        """phi f_0, shape (environments, K) [N]."""
        force: wp.array2d(dtype=Real)
        """phi (f - f_0) - s / g at the last evaluation, shape (environments, K) [N]."""

    return Carried


class CarriedNodes:
    """Carried nodes of a body, on a device.

    Args:
        types: Of the mesh.
        nodes: Which they are, shape (C).
        count: Of all nodes.
        most: Coordinates K that there are room for.
        environments: Number of independent copies.
        device: "cpu" or "cuda:N".
    """

    def __init__(self, types: MeshTypes, nodes: np.ndarray, count: int, most: int, environments: int, device: str):
        self.nodes = np.asarray(nodes, int)
        self.most = most
        struct = carried_struct(types)()
        place = np.full(count, -1)
        place[self.nodes] = np.arange(len(self.nodes))

        def zeros(*shape, dtype=types.real):
            return wp.zeros((environments, *shape), dtype=dtype, device=device)

        struct.nodes = wp.array(self.nodes, dtype=int, device=device)
        struct.place = wp.array(place, dtype=int, device=device)
        struct.shapes = zeros(most, len(self.nodes), dtype=types.vec)
        struct.center = zeros(len(self.nodes), dtype=types.vec)
        struct.stiffness, struct.before, struct.force = zeros(most), zeros(most), zeros(most)
        self.arrays = struct
        """For kernels."""

    def put(self, center: np.ndarray, shapes: np.ndarray, stiffness: np.ndarray, forces: np.ndarray, where) -> None:
        """Set what is known of those who carry, in some environments.

        Args:
            center: c, shape (environments, C, dim) [m].
            shapes: phi, shape (environments, K, C, dim).
            stiffness: 1 / g, shape (environments, K) [N/m], zero where the shape does not count.
            forces: f_0, shape (environments, C, dim) [N].
            where: Which environments are meant, shape (environments).
        """
        arrays = self.arrays
        shapes = np.where(stiffness[..., None, None] > 0.0, shapes, 0.0)
        before = np.einsum("ekci,eci->ek", shapes, forces)
        targets = arrays.center, arrays.shapes, arrays.stiffness, arrays.before
        for array, values in zip(targets, (center, shapes, stiffness, before)):
            table = array.numpy().copy()
            table[where] = values[where]
            array.assign(table)

    def shift(self, way: np.ndarray) -> None:
        """Move c of all environments by some way, shape (environments, C, dim) [m]."""
        self.arrays.center.assign(self.arrays.center.numpy() + way)

    def along(self, way: np.ndarray) -> np.ndarray:
        """The part of ways of the nodes, shape (environments, C, dim), that they can go."""
        shapes = self.arrays.shapes.numpy().astype(float)
        return np.einsum("ek,ekci->eci", np.einsum("ekci,eci->ek", shapes, way), shapes)
