"""Mimic joints: a linear relation between degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

ROUNDING = 1e-6
"""Part of the gears of a relation that may be off a sum of relations before it by the rounding of float32."""


@dataclass(frozen=True, kw_only=True)
class Mimic:
    """C = sum G_i q_i + curve(q_1) + offset = 0, hard or as a spring of a natural frequency and damping ratio.

    Source: Mimic Joints, equations 3 and 17-29.
    """

    name: str
    """Path of the following joint; with its axis appended where the joint has several dofs."""
    dofs: tuple[int, ...]
    """Indices into `Articulation.dofs`, the follower first."""
    gears: tuple[float, ...]
    """G, 1 for the follower; such that C has the unit of the follower's position."""
    curve: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of the powers 2 to 4 of the position of the only leader; both joints then have one axis, or all three are 0."""
    offset: float = 0.0
    """[rad or m]"""
    natural_frequency: float = 0.0
    """[rad/s]; at most 0: hard."""
    damping_ratio: float = 0.0
    enabled: bool = True

    @property
    def is_hard(self) -> bool:
        """Whether it is no spring."""
        return not self.natural_frequency > 0.0

    def error(self, positions: Sequence[float]) -> float:
        """C at the positions of all dofs of the articulation [rad or m]."""
        linear = sum(gear * positions[dof] for gear, dof in zip(self.gears, self.dofs))
        x = positions[self.dofs[1]] if self.is_curved else 0.0
        curve = sum(factor * x**power for power, factor in enumerate(self.curve, 2))
        return float(linear + self.offset + curve)

    @property
    def is_curved(self) -> bool:
        """Whether the relation is not linear."""
        return any(self.curve)


def dofs_held_still(mimics: Sequence[Mimic], count: int) -> list[int]:
    """Which of `count` dofs the hard linear relations of two and more dofs leave no motion, as a = b and b = 2 a do.

    Their unit vectors lie in the row space of the gears.
    """
    rows = [one for one in mimics if _is_relation(one)]
    if len(rows) < 2:
        return []
    gears = np.array([_row(one, count) / np.abs(one.gears).max() for one in rows])
    _, sizes, directions = np.linalg.svd(gears, full_matrices=False)
    held = np.linalg.norm(directions[sizes > 1e-9 * sizes[0]], axis=0)
    return [int(dof) for dof in np.flatnonzero(held > 1.0 - 1e-9)]


def without_rounding(mimics: Sequence[Mimic], positions: Sequence[float]) -> tuple[Mimic, ...]:
    """Mimic joints with relations that follow from those before them, but for rounding, made to follow exactly.

    A ring of wheels turns, though one third, its last ratio, is authored as a float. C of the start positions of all
    dofs of the articulation stays as it is.
    """
    found, before = [], np.zeros((0, len(positions)))
    for one in mimics:
        if _is_relation(one):
            row = _row(one, len(positions))
            follows = _combination(row, before)
            if follows is None:
                before = np.vstack([before, row])
            else:
                change = np.divide(follows, row, out=np.ones_like(row), where=row != 0.0)[list(one.dofs)]
                gears = np.multiply(one.gears, change / change[0])
                shift = float(np.dot(np.subtract(one.gears, gears), [positions[dof] for dof in one.dofs]))
                one = replace(one, gears=tuple(gears.tolist()), offset=one.offset + shift)
        found.append(one)
    return tuple(found)


def _combination(row: np.ndarray, before: np.ndarray) -> np.ndarray | None:
    """The sum of independent rows that a row is but for rounding, zero where the row is; None where there is none."""
    if row[~before.any(axis=0)].any():
        return None
    others = before[:, row == 0.0]
    left, sizes, _ = np.linalg.svd(others)
    rank = np.count_nonzero(sizes > 1e-9 * max(sizes, default=0.0))
    free = left[:, rank:].T @ before
    free[:, row == 0.0] = 0.0
    best = np.linalg.lstsq(free.T, row, rcond=None)[0] @ free
    return best if np.linalg.norm(best - row) <= ROUNDING * np.linalg.norm(row) else None


def _is_relation(one: Mimic) -> bool:
    """Whether a mimic joint is a hard linear relation of two and more dofs."""
    return one.enabled and one.is_hard and not one.is_curved and np.count_nonzero(one.gears) > 1


def _row(one: Mimic, count: int) -> np.ndarray:
    """The gears of a relation, by dof."""
    row = np.zeros(count)
    np.add.at(row, list(one.dofs), one.gears)
    return row
