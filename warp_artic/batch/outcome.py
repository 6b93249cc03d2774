"""What is said of a run in the table of runs: columns such as "max abs joint_velocity", and when a run is over."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass

import numpy as np

from warp_artic.errors import SettingsError

REDUCTIONS = ("final", "max", "min", "mean", "drift")
"""drift: the largest change since the start of the sum of the components, such as that of the energy."""
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
STOP = re.compile(r"(abs )?\s*(\w+)\s*(?:\[([^\]]*)\])?\s*(<=|>=|<|>)\s*(\S+)")


@dataclass(frozen=True)
class Column:
    """A reduction of a quantity over time."""

    reduction: str
    quantity: str
    is_magnitude: bool = False
    """Whether of magnitudes."""

    @classmethod
    def of(cls, text: str) -> Column:
        """One as plans say it."""
        words = text.split() if isinstance(text, str) else []
        is_magnitude = len(words) == 3 and words[1] == "abs"
        if len(words) != 2 + is_magnitude or words[0] not in REDUCTIONS:
            raise SettingsError(
                f"summary: {text!r} is not one of {', '.join(REDUCTIONS)}, abs if wanted, and a quantity, such as "
                "'max abs joint_velocity'"
            )
        return cls(words[0], words[-1], is_magnitude)

    def __str__(self) -> str:
        return f"{self.reduction} {'abs ' * self.is_magnitude}{self.quantity}"

    def start(self, values: np.ndarray) -> np.ndarray:
        """What is known after the first record, of shape (runs, entries); sums and starts in double precision."""
        if self.reduction == "drift":
            total = values.astype(float).sum(axis=1)
            return np.stack([np.zeros_like(total), total], axis=1)
        values = np.abs(values) if self.is_magnitude else values
        return values.astype(float) if self.reduction == "mean" else values.copy()

    def add(self, known: np.ndarray, values: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """With further records (records, runs, entries), of which the first `counts` of each run are of it."""
        if not len(values):
            return known
        if self.reduction == "final":
            last = values[np.maximum(counts, 1) - 1, np.arange(values.shape[1])]
            last = np.abs(last) if self.is_magnitude else last
            return np.where(counts[:, None] > 0, last, known)
        if self.is_magnitude and self.reduction == "max" and (counts == len(values)).all():  # without another copy
            return np.maximum(known, np.abs(np.maximum(values.max(axis=0), -values.min(axis=0))))
        values = np.abs(values) if self.is_magnitude else values
        of_run = np.arange(len(values))[:, None, None] < counts[None, :, None]
        if self.reduction == "mean":
            # One after the other: a sum of pairs would depend on how many runs there are.
            for record in np.where(of_run, values, 0.0):
                known = known + record
            return known
        if self.reduction == "drift":
            drift = np.abs(values.astype(float).sum(axis=2) - known[:, 1])
            largest = np.where(of_run[:, :, 0], drift, 0.0).max(axis=0)
            return np.stack([np.maximum(known[:, 0], largest), known[:, 1]], axis=1)
        chosen = np.maximum if self.reduction == "max" else np.minimum
        if not (counts == len(values)).all():
            values = np.where(of_run, values, known[None])
        return chosen(known, chosen.reduce(values, axis=0))

    def end(self, known: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """The values of runs with so many records in all."""
        if self.reduction == "mean":
            return known / counts[:, None]
        return known[:, :1] if self.reduction == "drift" else known


@dataclass(frozen=True)
class StopRule:
    """A comparison of a quantity with a number; where no entry is named, any will do."""

    quantity: str
    entry: str
    """The number of a component, a prim path, or nothing."""
    comparison: str
    bound: float
    is_magnitude: bool

    @classmethod
    def of(cls, text: str) -> StopRule:
        """One as plans say it."""
        found = STOP.fullmatch(text.strip()) if isinstance(text, str) else None
        try:
            bound = float(found[5]) if found else 0.0
        except ValueError:
            found = None
        if not found or not math.isfinite(bound):
            raise SettingsError(
                f"stop: {text!r} is no comparison such as 'root_pose[2] < 0.3' or 'abs joint_velocity > 9'"
            )
        return cls(found[2], (found[3] or "").strip("\"' "), found[4], bound, bool(found[1]))

    def is_met(self, values: np.ndarray) -> np.ndarray:
        """Of records (records, runs, entries): of which entries are those that are asked for; shape (records, runs)."""
        values = np.abs(values) if self.is_magnitude else values
        return COMPARISONS[self.comparison](values, self.bound).any(axis=2)
