"""Mimic joints: a linear relation between degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


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
    rows = [
        one for one in mimics if one.enabled and one.is_hard and not one.is_curved and np.count_nonzero(one.gears) > 1
    ]
    if len(rows) < 2:
        return []
    gears = np.zeros((len(rows), count))
    for row, one in enumerate(rows):
        np.add.at(gears[row], list(one.dofs), np.divide(one.gears, np.abs(one.gears).max()))
    _, sizes, directions = np.linalg.svd(gears, full_matrices=False)
    held = np.linalg.norm(directions[sizes > 1e-9 * sizes[0]], axis=0)
    return [int(dof) for dof in np.flatnonzero(held > 1.0 - 1e-9)]
