"""The tendons of one elastic body on a device: lengths, energies, forces f = A tau, and Hessians.

Source: Tendon Model, sections 1 and 2. `evaluate` places the tendons on the points of the environments; all else
belongs to the last evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import MeshTendon
from warp_artic.description.pose import Pose
from warp_artic.errors import SettingsError, SolveError
from warp_artic.math.recorded import RecordedLaunches
from warp_artic.meshes.block_values import BlockValues
from warp_artic.meshes.tendon_kernels import tendon_kernels
from warp_artic.meshes.tendon_paths import Rows, foreign_positions, paths_of
from warp_artic.meshes.tension_law import CODES
from warp_artic.meshes.types import HostViews

REALS = {"float32": wp.float32, "float64": wp.float64}
"""The number types, by name of the precision."""
CORE = 1e-3
"""Of the length of a segment at rest: what is shorter has a direction that vanishes with it, see `MeshTendon`."""


@dataclass(frozen=True)
class TendonSlots:
    """Where the blocks of tendons go in the values of a sparse matrix."""

    row_start: wp.array
    """The first slot of each row that tendons add to, and the number of slots."""
    slots: wp.array
    """The places that tendons add to."""
    pairs_start: wp.array
    pairs: wp.array
    """The coupled pairs that each of them sums."""


class MeshTendons:
    """Tendons of one body, for a number of environments.

    Points are arrays of shape (environments, N) of vectors of length dim in the frame of the body; foreign points,
    those of `foreign` in this order, are of shape (environments, F).
    """

    def __init__(
        self,
        tendons: tuple[MeshTendon, ...],
        body: ElasticBody,
        *,
        link_poses: Mapping[str, Pose] | None = None,
        environments: int = 1,
        precision: str = "float64",
        device: str = "cpu",
    ):
        """`link_poses`: X_WL at rest, by path, of the links that the tendons touch."""
        self.tendons = tendons
        self.body = body
        self.environments = environments
        self.precision = precision
        self.device = device
        self._launches = RecordedLaunches(device)
        self._host = HostViews()
        self.paths = paths_of(tendons, len(body.points))
        """Which points the tendons join."""
        self.foreign = self.paths.foreign
        """The points of links and of the world that tendons go through."""
        self.foreign_start = foreign_positions(self.foreign, body, link_poses or {})
        """Where they are at rest in the frame of the body, shape (F, dim) [m]."""
        rest = self.paths.lengths(np.concatenate([np.asarray(body.points, np.float64), self.foreign_start]))
        self._cores = np.maximum(CORE * rest, np.finfo(precision).tiny)
        self.rest_length = np.add.reduceat(rest, self.paths.segment_start[:-1])
        """Lengths at rest, shape (tendons) [m]."""
        self.real = REALS[precision]
        self._kernels = tendon_kernels(body.dim, self.real)
        lengths = [rest if tendon.target_length is None else tendon.target_length
                   for tendon, rest in zip(tendons, self.rest_length)]  # fmt: skip
        self.stiffness = self._spread([tendon.stiffness for tendon in tendons])
        """K [N/m], shape (tendons, environments), writable like the next two."""
        self.target_length = self._spread(lengths)
        """alpha [m], shape (tendons, environments)."""
        self.tension = self._spread([tendon.tension for tendon in tendons])
        """tau of those with the law TENSION [N], shape (tendons, environments)."""
        self.model = self._upload_model()
        self.shape = self._allocate_shape()
        """The last evaluation: `length`, `change`, `tension` and its derivative `slope` of shape (tendons,
        environments); `direction` s_k / |s_k| and `inverse_length` of shape (environments, segments); `column`, the
        blocks of A, of shape (environments, column entries of `paths`)."""
        self._everywhere = self._array(np.ones(environments), int)
        self.evaluations = 0
        """How often the tendons have been placed."""
        self._fixed_foreign = self._array(
            np.broadcast_to(self.foreign_start, (environments, *self.foreign_start.shape)), self.vec
        )

    @property
    def vec(self) -> type:
        """The vector type of points and forces."""
        return self._kernels.vec

    def evaluate(self, points: wp.array, foreign_points: wp.array | None = None, asked: wp.array | None = None):
        """Lengths, tensions and directions at `points`; foreign points are at rest unless given. Gives `shape`.

        `asked` as in `add_forces`: others stay as they are.
        """
        asked = self._everywhere if asked is None else asked
        self.measure(points, foreign_points, asked)
        self._launch(self._kernels.measure_columns, self.paths.column_point.size, self.model, asked, self.shape)
        return self.shape

    def measure(self, points: wp.array, foreign_points: wp.array | None = None, asked: wp.array | None = None) -> None:
        """The same without `column`, which forces and Hessians are made of: for energies."""
        foreign = self._fixed_foreign if foreign_points is None else foreign_points
        require_shape("points", points, (self.environments, len(self.body.points)))
        require_shape("foreign points", foreign, (self.environments, len(self.foreign)))
        self.evaluations += 1
        asked = self._everywhere if asked is None else asked
        self._launch(self._kernels.measure, len(self.tendons), self.model, points, foreign, asked, self.shape)

    def check(self, asked: wp.array | None = None) -> None:
        """Raise a SolveError where neighbouring waypoints coincide: their segment is in its core.

        `asked` as in `add_forces`. Places that are no numbers do not coincide.
        """
        for tendon, environment in self.coincident(asked):
            segment = self.shape.coincident.numpy()[tendon, environment]
            raise SolveError(
                f"{self.tendons[tendon].name}: waypoints {segment} and {segment + 1} coincide in environment "
                f"{environment}; neighbouring waypoints must be apart"
            )

    def coincident(self, asked: wp.array | None = None) -> np.ndarray:
        """The tendons with neighbouring waypoints that coincide, and the environments, shape (n, 2); as in `check`."""
        coincident = self._host.read(self.shape.coincident) >= 0
        if coincident.any() and asked is not None:
            coincident = coincident & (asked.numpy() > 0)
        return np.argwhere(coincident)

    def energy(self, found: wp.array | None = None, asked: wp.array | None = None) -> wp.array:
        """The sum of E over the tendons [J], shape (environments), written to an array if one is given.

        `asked` as in `add_forces`.
        """
        energy = wp.empty(self.environments, dtype=self.real, device=self.device) if found is None else found
        inputs = [self.model, self.shape, len(self.tendons), self._everywhere if asked is None else asked, energy]
        self._launches.launch(self._kernels.sum_energy, self.environments, inputs)
        return energy

    def add_forces(
        self,
        forces: wp.array | None,
        foreign_forces: wp.array | None = None,
        tension: wp.array | None = None,
        asked: wp.array | None = None,
    ) -> None:
        """Add f = A tau [N] to the forces on nodes and on foreign points; tau is that of the law unless given.

        Only environments with a positive number in `asked` are meant; all by default.
        """
        asked = self._everywhere if asked is None else asked
        tension = self.shape.tension if tension is None else tension
        for target, (touched, entries_start, entries) in zip((forces, foreign_forces), self._gathers):
            if target is not None:
                self._launch(self._kernels.add_forces, touched.size, self.model, self.shape.column, tension,
                             touched, entries_start, entries, asked, target)  # fmt: skip

    def project(self, forces: wp.array) -> wp.array:
        """A^T f of forces on nodes [N], shape (tendons, environments)."""
        result = wp.empty((len(self.tendons), self.environments), dtype=self.real, device=self.device)
        self._launch(self._kernels.project, len(self.tendons), self.model, self.shape.column, self._column_point,
                     forces, result)  # fmt: skip
        return result

    def pattern(self) -> np.ndarray:
        """The pairs of nodes (i, j) that tendons couple, in both orders and with i = j, sorted, shape (P, 2)."""
        first, second = self._pair_points
        return np.unique(np.stack([first, second], axis=1)[self._pair_on_nodes], axis=0)

    def slots(self, row_start: np.ndarray, column: np.ndarray) -> TendonSlots:
        """Where tendons add in a matrix of blocks of N x N nodes, which must hold `pattern`.

        Row i has the columns column[row_start[i] : row_start[i + 1]], ascending.
        """
        nodes = len(self.body.points)
        row_start, column = np.asarray(row_start, np.int64), np.asarray(column, np.int64)
        keys = np.repeat(np.arange(nodes), np.diff(row_start[: nodes + 1])) * nodes + column[: row_start[nodes]]
        first, second = self._pair_points
        pairs = np.flatnonzero(self._pair_on_nodes)
        wanted = first[pairs].astype(np.int64) * nodes + second[pairs]
        slots, place = np.unique(np.searchsorted(keys, wanted), return_inverse=True)
        rows = Rows.grouped(place, slots.size)
        _, row_first = np.unique(keys[slots] // nodes, return_index=True)
        parts = np.append(row_first, slots.size), slots, rows.start, pairs[rows.item]
        return TendonSlots(*(self._array(part, int) for part in parts))

    def add_stiffness(
        self, values: BlockValues, slots: TendonSlots, *, psd: bool = False, asked: wp.array | None = None
    ) -> None:
        """Add H to the values of a sparse matrix of blocks.

        `psd`: without what pushing tendons take from the curvature of lengths, which is all that can make H indefinite.
        `asked` as in `add_forces`.
        """
        asked = self._everywhere if asked is None else asked
        parts = slots.row_start, slots.slots, slots.pairs_start, slots.pairs
        inputs = self.model, self.shape, self._pairs, _lowest(psd), *parts, asked, values.numbers
        self._launch(self._kernels.add_blocks, slots.row_start.size - 1, *inputs)

    def _launch(self, kernel: wp.Kernel, items: int, *inputs) -> None:
        if items:
            self._launches.launch(kernel, (self.environments, items), inputs)

    def _array(self, values, dtype: type) -> wp.array:
        return wp.array(np.ascontiguousarray(values), dtype=dtype, device=self.device)

    def _spread(self, values) -> wp.array:
        """One value a tendon, for all environments."""
        return self._array(np.repeat(np.array(values, np.float64)[:, None], self.environments, axis=1), self.real)

    def _upload_model(self):
        model, paths = self._kernels.Tendons(), self.paths
        model.node_count = paths.node_count
        model.segment_start = self._array(paths.segment_start, int)
        model.segment_points_start = self._array(paths.segment_points.start, int)
        model.segment_point = self._array(paths.segment_points.item, int)
        model.segment_factor = self._array(paths.segment_points.factor, self.real)
        model.column_start = self._array(paths.column_start, int)
        model.column_tendon = self._array(paths.column_tendon, int)
        model.column_segments_start = self._array(paths.column_segments.start, int)
        model.column_segment = self._array(paths.column_segments.item, int)
        model.column_factor = self._array(paths.column_segments.factor, self.real)
        model.law = self._array([CODES[tendon.law] for tendon in self.tendons], int)
        model.smoothing = self._array([tendon.smoothing for tendon in self.tendons], self.real)
        model.core = self._array(self._cores, self.real)
        model.stiffness, model.target_length = self.stiffness, self.target_length
        model.given_tension = self.tension
        return model

    def _allocate_shape(self):
        shape, paths = self._kernels.Shape(), self.paths
        tendons, environments = len(self.tendons), self.environments

        def zeros(size: tuple[int, int], dtype: type) -> wp.array:
            return wp.zeros(size, dtype=dtype, device=self.device)

        shape.length = zeros((tendons, environments), self.real)
        shape.change = zeros((tendons, environments), self.real)
        shape.tension = zeros((tendons, environments), self.real)
        shape.slope = zeros((tendons, environments), self.real)
        shape.direction = zeros((environments, paths.segment_start[-1]), self.vec)
        shape.inverse_length = zeros((environments, paths.segment_start[-1]), self.real)
        shape.column = zeros((environments, paths.column_point.size), self.vec)
        shape.coincident = zeros((tendons, environments), int)
        return shape

    @cached_property
    def _gathers(self) -> list[tuple[wp.array, wp.array, wp.array]]:
        """For nodes and for foreign points: those that tendons touch, and the column entries of each."""
        nodes, point = self.paths.node_count, self.paths.column_point
        gathers = []
        for entries, first in ((np.flatnonzero(point < nodes), 0), (np.flatnonzero(point >= nodes), nodes)):
            touched, place = np.unique(point[entries] - first, return_inverse=True)
            rows = Rows.grouped(place, touched.size)
            gathers.append(tuple(self._array(part, int) for part in (touched, rows.start, entries[rows.item])))
        return gathers

    @cached_property
    def _column_point(self) -> wp.array:
        return self._array(self.paths.column_point, int)

    @cached_property
    def _host_pairs(self):
        return self.paths.pairs()

    @property
    def _pair_points(self) -> tuple[np.ndarray, np.ndarray]:
        point = self.paths.column_point
        return point[self._host_pairs.first], point[self._host_pairs.second]

    @property
    def _pair_on_nodes(self) -> np.ndarray:
        first, second = self._pair_points
        return (first < self.paths.node_count) & (second < self.paths.node_count)

    @cached_property
    def _pairs(self):
        pairs, host = self._kernels.CoupledPairs(), self._host_pairs
        pairs.first, pairs.second = self._array(host.first, int), self._array(host.second, int)
        pairs.segments_start = self._array(host.segments.start, int)
        pairs.segment = self._array(host.segments.item, int)
        pairs.factor = self._array(host.segments.factor, self.real)
        return pairs


def require_shape(name: str, values, shape: tuple[int, ...]) -> None:
    """Raise a SettingsError for an array of another shape: a kernel would read beyond it."""
    if tuple(values.shape) != shape:
        raise SettingsError(f"{name} have the shape {tuple(values.shape)}, must have {shape}")


def _lowest(psd: bool) -> float:
    """The smallest tension that counts in the curvature of lengths."""
    return 0.0 if psd else -math.inf
