"""What users write to elastic bodies on the device: an environment stops in which it is not allowed.

It is looked for before each step, in controls of tendons, gravity, forces on nodes, and the motion itself. An
environment that has stopped stays as it is, and solves of others take no notice: while they are made it has other
numbers in place of what was written, and its motion is put back afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.model.allowed_values import FINITE, NOT_NEGATIVE, Allowed
from warp_artic.sim.arrays.views import FASTEST

IN_RANGE = Allowed(-FASTEST, FASTEST, f"between {-FASTEST:.1g} and {FASTEST:.1g}")
GIVEN = {
    "target_length": NOT_NEGATIVE,
    "stiffness": NOT_NEGATIVE,
    "tension": NOT_NEGATIVE,
    "gravity": FINITE,
    "node_force": FINITE,
    "points": IN_RANGE,
    "velocities": IN_RANGE,
}
"""Arrays of a body, and what they may hold; a failure counts their rows in this order."""
BY_NODE = ("node_force", "points", "velocities")
"""Those of shape (environments, N) of vectors; others are of shape (rows, environments)."""
MOTION = ("points", "velocities")


@dataclass(frozen=True)
class Wrong:
    """What is first not allowed in an environment that has stopped."""

    environment: int
    array: str
    row: int
    """A tendon, an axis of gravity, or a node."""
    step: int
    """The step that it would have been, counted from 1."""


class GivenToBody:
    """Watches the arrays of one body.

    Args:
        arrays: Those of GIVEN that there are, in this order.
        environments: Of the run.
    """

    def __init__(self, arrays: Mapping[str, wp.array], environments: int):
        self._arrays = dict(arrays)
        self._on_host = {name: array.numpy() for name, array in arrays.items() if array.device.is_cpu}
        self._start = {name: array.numpy().copy() for name, array in arrays.items()}
        self.failure = wp.zeros((environments, 2), dtype=wp.float64, device="cpu")
        """Of each environment that has stopped, one more than the rows that come before, and the step; else zeros."""
        self.clock = wp.zeros(environments, dtype=wp.float64, device="cpu")
        """Steps since the start, shape (environments)."""
        self._failure, self._clock = self.failure.numpy(), self.clock.numpy()
        self.count = sum(map(self._rows, self._arrays))
        """Largest number of a failure."""
        self._kept: dict[str, np.ndarray] = {}
        self._before: dict[str, np.ndarray] = {}

    @property
    def stopped(self) -> np.ndarray:
        """Which environments have stopped, shape (environments)."""
        return self._failure[:, 0] > 0.0

    def begin(self) -> None:
        """Stop environments with values that are not allowed, and have a step compute something else there."""
        found = {name: self._now(name) for name in self._arrays}
        self._look(found)
        self._before = {name: found[name].copy() for name in MOTION}
        if self._failure.any():
            stopped = self.stopped
            self._kept = {name: values.copy() for name, values in found.items()}
            for name, values in self._kept.items():
                self._arrays[name].assign(_replaced(name, values, self._instead(name, values), stopped))

    def end(self) -> None:
        """Put back what environments that have stopped had before the step, where they have not been yet."""
        if self._kept:
            stopped = self.stopped
            for name, values in self._kept.items():
                self._arrays[name].assign(_replaced(name, self._now(name), values, stopped))
            self._kept = {}

    def finish(self) -> None:
        """Count a step that has been made, and stop environments whose motion leaves its range, as they were."""
        found = {name: self._now(name) for name in MOTION}
        if self._look(found):
            stopped = self.stopped
            for name, values in found.items():
                self._arrays[name].assign(_replaced(name, values, self._before[name], stopped))
        self._clock += ~self.stopped
        self.end()

    def forget(self, environments: np.ndarray) -> None:
        """Let environments go on."""
        self._failure[environments] = 0.0

    def restart(self, environments: np.ndarray) -> None:
        """Count steps of environments from the start."""
        self._clock[environments] = 0.0

    def wrong(self) -> list[Wrong]:
        """Of all environments that have stopped."""
        found = []
        for environment in np.flatnonzero(self.stopped):
            number, step = self._failure[environment]
            row, names = int(number) - 1, list(self._arrays)
            while row >= self._rows(names[0]):
                row -= self._rows(names.pop(0))
            found.append(Wrong(int(environment), names[0], row, int(step)))
        return found

    def _look(self, found: Mapping[str, np.ndarray]) -> bool:
        """Stop environments in which some of the arrays are not allowed; says whether there are any."""
        if all([_is_allowed(values, GIVEN[name]) for name, values in found.items()]):
            return False
        first = 1
        for name in self._arrays:
            if name in found:
                self._stop(found[name], GIVEN[name], name in BY_NODE, first)
            first += self._rows(name)
        return True

    def _stop(self, values: np.ndarray, allowed: Allowed, is_by_node: bool, first: int) -> None:
        """Stop environments in which an array is not allowed, whose rows are counted from a number on."""
        values = values.astype(float)
        wrong = ~((values >= allowed.least) & (values <= allowed.most))
        wrong = wrong.any(axis=2) if is_by_node else wrong.T
        for environment in np.flatnonzero(wrong.any(axis=1) & ~self.stopped):
            row = int(np.argmax(wrong[environment]))
            self._failure[environment] = first + row, self._clock[environment] + 1

    def _now(self, name: str) -> np.ndarray:
        return self._on_host[name] if name in self._on_host else self._arrays[name].numpy()

    def _rows(self, name: str) -> int:
        return self._start[name].shape[1 if name in BY_NODE else 0]

    def _instead(self, name: str, values: np.ndarray) -> np.ndarray:
        """Values that a step may use instead: finite positions as they are, no velocities, slack tendons."""
        if name in ("velocities", "stiffness", "tension"):
            return np.zeros_like(values)
        if name == "points":
            finite = np.isfinite(values).all(axis=(1, 2), keepdims=True)
            return np.where(finite, values, self._start[name])
        return self._start[name]


def _is_allowed(values: np.ndarray, allowed: Allowed) -> bool:
    """Whether all of them are; those that are no numbers are the least of any."""
    if values.size == 0:
        return True
    least, most = np.minimum.reduce(values, axis=None), np.maximum.reduce(values, axis=None)
    return allowed.least <= float(least) and float(most) <= allowed.most


def _replaced(name: str, values: np.ndarray, others: np.ndarray, environments: np.ndarray) -> np.ndarray:
    """An array with that of others in some environments."""
    where = environments[:, None, None] if name in BY_NODE else environments
    return np.ascontiguousarray(np.where(where, others, values))
