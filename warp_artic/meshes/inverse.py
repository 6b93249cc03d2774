"""Tensions for wanted forces on nodes:  min over tau of U = 1/2 |A tau - f|_W^2 + 1/2 lambda |tau|^2  within bounds.

Source: Tendon Model, section 3. There the unknowns are the length changes Delta; each law gives every tension that its
bounds allow and grows with Delta, so the best tensions are the best length changes, and the problem in tau is convex.
A is that of the last evaluation of the tendons. All is float64, whatever the precision of the tendons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError, SolveError
from warp_artic.math.compiling import load
from warp_artic.meshes.inverse_kernels import inverse_kernels
from warp_artic.meshes.length_changes import tensions_at
from warp_artic.meshes.tendon_paths import Rows
from warp_artic.meshes.tendons import MeshTendons, require_shape
from warp_artic.meshes.tension_search import TensionSearch

CORRECTIONS = 2
"""How often what rounding left is solved for."""
DEPENDENCE = 256.0
"""A column of A this many roundings from the span of others is in it."""


@dataclass(frozen=True)
class Tensions:
    """The best tensions, and what they do and cannot do."""

    tension: np.ndarray
    """tau [N], shape (tendons, environments)."""
    bound: np.ndarray
    """-1 where tau is the smallest allowed, 1 where it is the largest, 0 between; same shape."""
    unreachable: np.ndarray
    """f - A tau, the part of the forces that no allowed tensions make [N], shape (environments, N, dim)."""
    objective: np.ndarray
    """U [N^2], shape (environments)."""
    gradient: np.ndarray
    """dU/dtau [N], shape (tendons, environments): zero between bounds; at the smallest tension not negative, at the
    largest not positive."""
    optimality: np.ndarray
    """The largest slope of U along which a tension could still go [N], shape (environments)."""
    rank: np.ndarray
    """Independent columns of W A, shape (environments)."""
    rounds: np.ndarray
    """Rounds of the search, shape (environments)."""

    @property
    def residual(self) -> np.ndarray:
        """|f - A tau| [N], shape (environments)."""
        return np.linalg.norm(self.unreachable, axis=(1, 2))


class InverseProblem:
    """The problem for the tendons of one body in all environments."""

    def __init__(self, tendons: MeshTendons, *, weights=1.0, regularisation=0.0):
        """`weights` of the forces, of a shape that broadcasts to (N, dim); `regularisation`: lambda, of all or of each
        tendon. Both may not be negative."""
        self.tendons = tendons
        count, environments, nodes = len(tendons.tendons), tendons.environments, tendons.paths.node_count
        self._kernels = inverse_kernels(tendons.body.dim, tendons.real)
        weights = not_negative("weights", weights, (nodes, tendons.body.dim))
        self._matrix = self._upload_matrix(weights, not_negative("regularisation", regularisation, (count,)))
        self._pairs = self._upload_pairs()
        self.min_tension = self._array(np.repeat([[t.min_tension] for t in tendons.tendons], environments, axis=1))
        """Smallest tensions [N], shape (tendons, environments), writable like the next."""
        self.max_tension = self._array(np.repeat([[t.max_tension] for t in tendons.tendons], environments, axis=1))
        """Largest tensions [N], shape (tendons, environments)."""
        dependence = DEPENDENCE * float(np.finfo(tendons.precision).eps)
        self._search = TensionSearch(count, environments, dependence, tendons.device)
        self._placed = 0
        self._rest = self._zeros((environments, nodes), self._kernels.wide)
        self._gradient = self._zeros((count, environments))
        self._objective = self._zeros((environments,))

    def solve(self, forces: wp.array, start: np.ndarray | None = None) -> Tensions:
        """The best tensions for forces on nodes [N], shape (environments, N).

        `start`: tensions near the best ones, such as those of the time before, shape (tendons, environments). Where
        several are equally good it decides which are found.

        Raises:
            SettingsError: Forces have another shape, or a smallest tension is above the largest.
            SolveError: Forces, points or `start` are not finite.
        """
        require_shape("forces", forces, (self.tendons.environments, self.tendons.paths.node_count))
        if start is not None:
            require_shape("tensions at the start", start, self.min_tension.shape)
        self._check_bounds()
        self._place()
        kernels, search = self._kernels, self._search
        self._launch(kernels.project_forces, search.count, self._matrix, forces, search.projected)
        search.settle(self.min_tension, self.max_tension, start)
        for _ in range(CORRECTIONS):
            self._measure(forces, search.tension)
            search.correct(self._gradient)
        self._measure(forces, search.tension)
        self._launch(kernels.sum_objective, None, self._matrix, self._rest, search.tension, self._objective)
        objective = self._objective.numpy().copy()
        if not np.isfinite(objective).all():
            environment = int(np.argmin(np.isfinite(objective)))
            raise SolveError(f"wanted forces, points or start of environment {environment} are not finite")
        tension = search.tension.numpy().T.copy()
        at_upper, at_lower = tension >= self.max_tension.numpy(), tension <= self.min_tension.numpy()
        gradient = -self._gradient.numpy()
        slopes = np.maximum(np.where(at_lower, 0.0, gradient), np.where(at_upper, 0.0, -gradient))
        return Tensions(
            tension,
            np.where(at_lower, -1, np.where(at_upper, 1, 0)),
            self._rest.numpy().copy(),
            objective,
            gradient,
            np.max(slopes, axis=0, initial=0.0),
            search.rank,
            search.rounds,
        )

    def conditions(self) -> np.ndarray:
        """Ratio of the largest to the smallest singular value of W^(1/2) A, infinite below full rank, shape
        (environments)."""
        self._place()
        found = self._search.singular_values()
        least = found.min(axis=1)
        return np.divide(found.max(axis=1), least, out=np.full_like(least, np.inf), where=least > 0.0)

    def derivatives(self, changes: np.ndarray, forces: wp.array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """U [N^2], dU/dDelta [N^2/m] and d2U/dDelta2 [N^2/m^2] at length changes, shape (tendons, environments) [m].

        Their shapes are (environments), (tendons, environments) and (environments, tendons, tendons). For springs H is
        K (A^T W A + lambda) K.

        Args:
            changes: Delta.
            forces: Wanted, on nodes [N], shape (environments, N).
        """
        self._place()
        count, environments = changes.shape
        tension, slope, curvature = tensions_at(self.tendons, changes)
        transposed = self._array(tension.numpy().T)
        self._measure(forces, transposed)
        self._launch(self._kernels.sum_objective, None, self._matrix, self._rest, transposed, self._objective)
        hessian = self._zeros((environments, count, count))
        inputs = [self._search.gram, slope, curvature, self._gradient, hessian]
        size = (environments, count, count)
        wp.launch(self._kernels.fill_hessian, dim=size, inputs=inputs, device=self.tendons.device)
        return self._objective.numpy().copy(), -slope.numpy() * self._gradient.numpy(), hessian.numpy()

    def _place(self) -> None:
        """Take A from the last evaluation of the tendons, if it is not the one there is."""
        if self._placed != self.tendons.evaluations:
            self._launch(self._kernels.fill_gram, self._pairs.first.size, self._matrix, self._pairs, self._search.gram)
            self._search.factorise()
            self._placed = self.tendons.evaluations

    def _check_bounds(self) -> None:
        lowest, largest = self.min_tension.numpy(), self.max_tension.numpy()
        for tendon, environment in np.argwhere(~(lowest <= largest)):
            raise SettingsError(
                f"{self.tendons.tendons[tendon].name}: smallest tension {lowest[tendon, environment]:g} N is above the "
                f"largest one, {largest[tendon, environment]:g} N, in environment {environment}"
            )

    def _measure(self, forces: wp.array, tension: wp.array) -> None:
        """The rest f - A tau, and -dU/dtau."""
        nodes, count = self.tendons.paths.node_count, len(self.tendons.tendons)
        self._launch(self._kernels.measure_rest, nodes, self._matrix, forces, tension, self._rest)
        self._launch(self._kernels.measure_gradient, count, self._matrix, self._rest, tension, self._gradient)

    def _launch(self, kernel: wp.Kernel, items: int | None, *inputs) -> None:
        """One thread an item of each environment, or one an environment."""
        environments = self.tendons.environments
        size = environments if items is None else (environments, items)
        load(kernel, self.tendons.device)
        wp.launch(kernel, dim=size, inputs=list(inputs), device=self.tendons.device)

    def _array(self, values, dtype: type = wp.float64) -> wp.array:
        return wp.array(np.ascontiguousarray(values), dtype=dtype, device=self.tendons.device)

    def _zeros(self, shape: tuple[int, ...], dtype: type = wp.float64) -> wp.array:
        return wp.zeros(shape, dtype=dtype, device=self.tendons.device)

    def _upload_matrix(self, weights: np.ndarray, penalty: np.ndarray):
        matrix, paths = self._kernels.ForceMatrix(), self.tendons.paths
        rows = Rows.grouped(paths.column_point, paths.node_count)
        matrix.column = self.tendons.shape.column
        matrix.start, matrix.point = self._array(paths.column_start, int), self._array(paths.column_point, int)
        matrix.tendon = self._array(paths.column_tendon, int)
        matrix.node_start, matrix.node_entries = self._array(rows.start, int), self._array(rows.item, int)
        matrix.node_count = paths.node_count
        matrix.weight = self._array(weights, self._kernels.wide)
        matrix.root_weight = self._array(np.sqrt(weights), self._kernels.wide)
        matrix.penalty = self._array(penalty)
        return matrix

    def _upload_pairs(self):
        pairs, found = self._kernels.SharedNodes(), _shared_nodes(self.tendons.paths)
        pairs.first, pairs.second, pairs.start, pairs.first_entry, pairs.second_entry = (
            self._array(part, int) for part in found
        )
        return pairs


def _shared_nodes(paths) -> tuple[np.ndarray, ...]:
    """Pairs of tendons s <= t that share nodes: s, t, where the entries of each pair start, and the entries of both."""
    count = len(paths.column_start) - 1
    rows = Rows.grouped(paths.column_point, paths.node_count)
    first, second = [np.arange(0)], [np.arange(0)]
    for start, end in zip(rows.start[:-1], rows.start[1:]):
        a, b = np.triu_indices(end - start)
        first.append(rows.item[start:end][a])
        second.append(rows.item[start:end][b])
    first, second = np.concatenate(first).astype(np.int32), np.concatenate(second).astype(np.int32)
    keys = paths.column_tendon[first].astype(np.int64) * count + paths.column_tendon[second]
    diagonal = np.arange(count) * (count + 1)
    pairs, place = np.unique(np.concatenate([keys, diagonal]), return_inverse=True)
    order = np.argsort(place[: keys.size], kind="stable")
    start = np.searchsorted(place[: keys.size][order], np.arange(pairs.size + 1))
    return pairs // count, pairs % count, start, first[order], second[order]


def not_negative(name: str, values, shape: tuple[int, ...]) -> np.ndarray:
    """Values of a shape.

    Raises:
        SettingsError: Some are negative or not finite, or have another shape.
    """
    values = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise SettingsError(f"{name}: {values.min():g} to {values.max():g} must be finite and not negative")
    try:
        return np.broadcast_to(values, shape)
    except ValueError as error:
        raise SettingsError(f"{name} have the shape {values.shape}, which does not broadcast to {shape}") from error
