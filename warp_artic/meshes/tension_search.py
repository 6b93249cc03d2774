"""Batches of small least squares with bounds, and their work space on a device."""

from __future__ import annotations

import numpy as np
import warp as wp

from warp_artic.math.compiling import load
from warp_artic.meshes.bounded_least_squares import Factor, Search, correct, factorise, settle
from warp_artic.meshes.singular_values import singular_values


class TensionSearch:
    """min |A tau - f|^2 within bounds, for each environment, of which A^T A and A^T f are given.

    Args:
        count: Tensions of each problem.
        environments: Number of problems.
        dependence: A column of A this near to the span of others, relative to its norm, is in it.
        device: "cpu" or "cuda:N".
    """

    def __init__(self, count: int, environments: int, dependence: float, device: str):
        self.count = count
        self.environments = environments
        self._dependence = dependence
        self._device = device
        size = (environments, count)
        self.factor = Factor()
        self.factor.gram = self._zeros((environments, count, count), wp.vec2d)
        self.factor.transposed = self._zeros((environments, count, count), wp.vec2d)
        self.factor.pivot = self._zeros(size, int)
        self.factor.rank = self._zeros((environments,), int)
        self.factor.norm = self._zeros(size)
        self._search = search = Search()
        search.matrix = self._zeros((environments, count, count))
        search.rotated, search.trial, search.gradient = (self._zeros(size) for _ in range(3))
        search.lower, search.upper, search.tension = (self._zeros(size) for _ in range(3))
        search.free, search.is_free, search.refused = (self._zeros(size, int) for _ in range(3))
        search.free_count, search.rounds = self._zeros((environments,), int), self._zeros((environments,), int)
        self.projected = self._zeros(size, wp.vec2d)
        """A^T f, to be filled before each `settle`, which needs it for work."""
        self._nowhere = self._zeros((0, 0))

    @property
    def gram(self) -> wp.array:
        """A^T A, of which i <= j is to be filled before `factorise`, shape (environments, count, count)."""
        return self.factor.gram

    @property
    def tension(self) -> wp.array:
        """The best tensions, shape (environments, count)."""
        return self._search.tension

    @property
    def rank(self) -> np.ndarray:
        """Independent columns of A, shape (environments)."""
        return self.factor.rank.numpy().copy()

    @property
    def rounds(self) -> np.ndarray:
        """Rounds of the last search, shape (environments)."""
        return self._search.rounds.numpy().copy()

    def factorise(self) -> None:
        """Prepare for `settle`."""
        self._launch(factorise, self.factor, self._dependence)

    def settle(self, lower: wp.array, upper: wp.array, start: np.ndarray | None = None) -> None:
        """Find the best tensions within bounds, shape (count, environments), as is `start`, which is near them."""
        first = self._nowhere if start is None else wp.array(start, dtype=wp.float64, device=self._device)
        self._launch(settle, self.factor, self._search, self.projected, self._dependence, first, lower, upper)

    def correct(self, gradient: wp.array) -> None:
        """Improve tensions between bounds by A^T (f - A tau), shape (count, environments)."""
        self._launch(correct, self._search, gradient)

    def singular_values(self) -> np.ndarray:
        """Those of A, not sorted, shape (environments, count)."""
        values = self._zeros((self.environments, self.count))
        self._launch(singular_values, self.factor, self._search.matrix, values)
        return values.numpy()

    def _launch(self, kernel: wp.Kernel, *inputs) -> None:
        load(kernel, self._device)
        wp.launch(kernel, dim=self.environments, inputs=list(inputs), device=self._device)

    def _zeros(self, shape: tuple[int, ...], dtype: type = wp.float64) -> wp.array:
        return wp.zeros(shape, dtype=dtype, device=self._device)
