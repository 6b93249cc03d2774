"""A and H of tendons, as matrices of NumPy, and as sparse ones of Warp over the nodes of all environments."""

from __future__ import annotations

import numpy as np
import warp as wp
from warp.sparse import BsrMatrix, bsr_set_from_triplets, bsr_zeros

from warp_artic.meshes.block_values import block_values
from warp_artic.meshes.tendons import MeshTendons
from warp_artic.meshes.types import mesh_types


def force_matrices(tendons: MeshTendons) -> np.ndarray:
    """A of each environment, dense, shape (environments, N dim, tendons)."""
    nodes, dim = len(tendons.body.points), tendons.body.dim
    matrices = np.zeros((tendons.environments, nodes, dim, len(tendons.tendons)))
    on_nodes = np.flatnonzero(tendons.paths.column_point < nodes)
    columns = tendons.shape.column.numpy()[:, on_nodes].swapaxes(0, 1)
    matrices[:, tendons.paths.column_point[on_nodes], :, tendons.paths.column_tendon[on_nodes]] = columns
    return matrices.reshape(tendons.environments, nodes * dim, len(tendons.tendons))


def force_matrix(tendons: MeshTendons) -> BsrMatrix:
    """A of all environments, one block of the diagonal each, with blocks of dim x 1: f = A tau on nodes."""
    nodes, count = tendons.paths.node_count, len(tendons.tendons)
    environments = np.arange(tendons.environments)[:, None]
    on_nodes = np.flatnonzero(tendons.paths.column_point < nodes)
    block = wp.types.matrix(shape=(tendons.body.dim, 1), dtype=tendons.real)
    rows = environments * nodes + tendons.paths.column_point[on_nodes]
    columns = environments * count + tendons.paths.column_tendon[on_nodes]
    values = tendons.shape.column.numpy()[:, on_nodes].reshape(-1, tendons.body.dim, 1)
    shape = nodes * tendons.environments, count * tendons.environments
    return _matrix(tendons, shape, rows, columns, wp.array(values, dtype=block, device=tendons.device))


def hessian_matrix(tendons: MeshTendons, *, psd: bool = False) -> BsrMatrix:
    """H of all environments, one block of the diagonal each, with blocks of dim x dim; `psd` as in `add_stiffness`."""
    nodes, environments = tendons.paths.node_count, np.arange(tendons.environments)[:, None]
    pairs = tendons.pattern()
    types = mesh_types(tendons.body.dim, tendons.precision)
    values = block_values(types, tendons.environments, len(pairs), types.mat, tendons.device)
    starts = np.searchsorted(pairs[:, 0], np.arange(nodes + 1))
    tendons.add_stiffness(values, tendons.slots(starts, pairs[:, 1]), psd=psd)
    size = nodes * tendons.environments
    rows, columns = (environments * nodes + side for side in pairs.T)
    return _matrix(tendons, (size, size), rows, columns, values.blocks.flatten())


def _matrix(tendons: MeshTendons, shape, rows: np.ndarray, columns: np.ndarray, values: wp.array) -> BsrMatrix:
    matrix = bsr_zeros(*shape, values.dtype, device=tendons.device)
    places = (wp.array(part.ravel(), dtype=int, device=tendons.device) for part in (rows, columns))
    bsr_set_from_triplets(matrix, *places, values)
    return matrix
