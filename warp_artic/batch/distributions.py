"""Distributions of what varies: how a uniform number between 0 and 1, or the index of a run, becomes a value.

Values come by inverse distribution functions, one number each, so that run k needs nothing of other runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from warp_artic.batch.philox import key_of
from warp_artic.errors import SettingsError, did_you_mean

KINDS = ("uniform", "log_uniform", "normal", "choice", "constant", "sobol", "grid", "values")
BY_INDEX = ("grid", "values")
"""Those in which the index of the run says the value."""
LARGEST_GRID = 1_000_000
TRUNCATION = 4.0
"""Deviations from the mean at which a normal distribution ends, unless bounds are given."""


@dataclass(frozen=True)
class Distribution:
    """What values a variable takes."""

    kind: str
    """One of KINDS."""
    numbers: tuple
    """uniform, log_uniform, sobol: the bounds; normal: mean, deviation, bounds; else the values."""

    @classmethod
    def of(cls, where: str, given: object) -> Distribution:
        """One as plans say it, such as {"uniform": [0.5, 2.0]}.

        Raises:
            SettingsError: It is none; the sentence begins with `where`.
        """
        if not isinstance(given, Mapping) or len(given) != 1:
            raise SettingsError(
                f"{where}: distribution is {given!r}, must be one of {', '.join(KINDS)} with its values"
            )
        ((kind, values),) = given.items()
        if kind not in KINDS:
            raise SettingsError(
                f"{where}: distribution {kind!r} is not one of {', '.join(KINDS)}{did_you_mean(kind, KINDS)}"
            )
        if kind == "constant":
            values = [values]
        if isinstance(values, Mapping) and kind == "grid":
            values = _steps(where, values)
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or not len(values):
            raise SettingsError(f"{where}: {kind} is {values!r}, must be a list")
        found = cls(kind, tuple(value if isinstance(value, str) else _number(where, kind, value) for value in values))
        found._check(where)
        return found

    @property
    def authored(self) -> dict:
        """As plans say it."""
        if self.kind == "normal":
            return {"normal": list(self.numbers)}
        return {self.kind: self.numbers[0] if self.kind == "constant" else list(self.numbers)}

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest value."""
        if self.kind == "normal":
            return self.numbers[2], self.numbers[3]
        return min(self.numbers), max(self.numbers)

    def at(self, u: np.ndarray) -> np.ndarray:
        """Values of uniform numbers, by the inverse distribution function."""
        if self.kind in ("uniform", "sobol"):
            low, high = self.numbers
            return np.clip(low + (high - low) * u, low, high)
        if self.kind == "log_uniform":
            low, high = np.log(self.numbers)
            return np.clip(np.exp(low + (high - low) * u), *self.numbers)
        if self.kind == "normal":
            special = scipy("special")
            mean, deviation, low, high = self.numbers
            nearest = np.full(u.shape, min(max(mean, low), high))
            if deviation == 0.0:
                return nearest
            # From the nearer tail, where the function keeps its digits.
            sign = -1.0 if low > mean else 1.0
            ends = sorted(sign * (np.array([low, high]) - mean) / deviation)
            below, above = special.ndtr(ends)
            if not below < above:  # so far from the mean that no share of the distribution can be told from 0
                return nearest
            found = mean + sign * deviation * special.ndtri(below + (above - below) * (u if sign > 0 else 1.0 - u))
            return np.clip(found, low, high)
        if self.kind == "choice":
            return np.array(self.numbers)[np.minimum((u * len(self.numbers)).astype(int), len(self.numbers) - 1)]
        return np.full(u.shape, self.numbers[0])

    def _check(self, where: str) -> None:
        numbers = self.numbers
        if self.kind in ("uniform", "log_uniform", "sobol"):
            if len(numbers) != 2 or any(isinstance(one, str) for one in numbers) or not numbers[0] <= numbers[1]:
                raise SettingsError(f"{where}: {self.kind} is {list(numbers)}, must be two numbers, the smaller first")
            if self.kind == "log_uniform" and numbers[0] <= 0.0:
                raise SettingsError(f"{where}: log_uniform is {list(numbers)}, must be above 0")
        if self.kind == "normal":
            if len(numbers) == 2 and not any(isinstance(one, str) for one in numbers):
                mean, deviation = numbers
                numbers = (mean, deviation, mean - TRUNCATION * deviation, mean + TRUNCATION * deviation)
                object.__setattr__(self, "numbers", numbers)
            if len(numbers) != 4 or any(isinstance(one, str) for one in numbers):
                raise SettingsError(
                    f"{where}: normal is {list(numbers)}, must be mean, deviation and, if wanted, two bounds"
                )
            if numbers[1] < 0.0 or not numbers[2] <= numbers[3]:
                raise SettingsError(
                    f"{where}: normal is {list(numbers)}, must have a deviation of at least 0 and the "
                    "smaller bound first"
                )


def sobol(dimensions: int, seed: int, names: list[str], first: int, last: int) -> np.ndarray:
    """Points first to last - 1 of a Sobol sequence, shape (last - first, dimensions), strictly between 0 and 1.

    Each dimension is turned by a digital shift, the exclusive or with a word of its seed and name, so that seeds give
    different points of the same evenness.
    """
    if last <= first:
        return np.zeros((0, dimensions))
    generator = scipy("stats").qmc.Sobol(dimensions, scramble=False, bits=32)
    if first:
        generator.fast_forward(first)
    # One, and then the others: SciPy warns of a first draw that is no power of two.
    points = np.concatenate([generator.random(1), generator.random(last - first - 1)])
    points = (points * 2.0**53).astype(np.uint64)
    shifts = np.array([key_of(seed, f"sobol {name}") % 2**53 for name in names], np.uint64)
    return ((points ^ shifts).astype(float) + 0.5) * 2.0**-53


def scipy(module: str):
    """A module of SciPy, which the extra `batch` brings."""
    try:
        return import_module(f"scipy.{module}")
    except ImportError:
        raise SettingsError(
            'distributions normal and sobol need SciPy: pip install "warp-artic[batch]", or take others'
        ) from None


def _steps(where: str, given: Mapping) -> list[float]:
    """A grid by its ends and how many values it has."""
    try:
        low, high, count = (given[name] for name in ("from", "to", "count"))
        if len(given) != 3 or isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= LARGEST_GRID:
            raise KeyError
    except KeyError:
        raise SettingsError(
            f"{where}: grid is {dict(given)}, must be a list, or from, to and count (1 to {LARGEST_GRID:,})"
        ) from None
    return np.linspace(_number(where, "grid", low), _number(where, "grid", high), count).tolist()


def _number(where: str, kind: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise SettingsError(f"{where}: {kind} has {value!r}, must have numbers")
    if not math.isfinite(value):
        raise SettingsError(f"{where}: {kind} has {value!r}, must have finite numbers")
    return float(value)
