"""Which articulations that may touch are stepped as one mechanism.

The cost of a mechanism grows with its degrees of freedom, so those of one are bounded: of articulations that may touch
the nearest ones at the start are joined first, as long as the bound allows. Those that cannot be joined pass through
each other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.mechanism import mechanisms_of
from warp_artic.description.scene import Scene
from warp_artic.description.touching import Touching

MOST_DOFS = 128
"""Degrees of freedom of a mechanism that articulations are joined to for contacts, with those of floating roots."""
MOST_PAIRS = 400
"""Pairs of colliders of a mechanism that articulations are joined to for contacts: each has room in every worker."""
FARTHEST = 100.0
"""Distance at the start up to which articulations are joined: a mechanism has one origin [m]."""
NEIGHBOURS = 64
"""How many of the nearest articulations one may be joined to."""
MOST_NAMED = 3
"""How many pairs are named of those that pass through each other."""
AT_ONCE = 128
"""Articulations that are compared with all others at once."""


class ContactMechanisms:
    """Articulations, by number, in the mechanisms that contacts make of them."""

    def __init__(self, articulations: Sequence[Articulation], touching: Touching, alone: Collection[int]):
        self.touching = touching
        self.articulations = articulations
        self.leader = list(range(len(articulations)))
        self.dofs = [len(one.dofs) + 6 * one.is_floating for one in articulations]
        self.members = {one: [one] for one in range(len(articulations))}
        for members in mechanisms_of(Scene(articulations=tuple(articulations))):
            for other in members[1:]:
                self._join(members[0], other)
        self.pairs = dict.fromkeys(self.members, 0)
        """Pairs of colliders between the articulations of each mechanism that contacts have joined."""
        self._place()
        self._meets = self.presence @ touching.allowed.astype(np.float32)
        self._parted = self._parted_by_name()
        total, edges, refused = self._candidates(set(alone))
        for one, other in edges:
            first, second = self._find(one), self._find(other)
            if first != second and self.dofs[first] + self.dofs[second] <= MOST_DOFS:
                pairs = self.pairs[first] + self.pairs[second] + self._pairs_between(first, second)
                if pairs <= MOST_PAIRS:
                    self._join(first, second)
                    self.pairs[min(first, second)] = pairs
        self.passing_count = total - sum(self._count_met(group) for group in self.groups)
        """How many pairs of articulations could touch, but are not of one mechanism."""
        apart = [(one, other) for one, other in (*edges, *refused) if self._find(one) != self._find(other)]
        self.passing = apart[:MOST_NAMED]
        """The nearest of these pairs."""

    def _pairs_between(self, first: int, second: int) -> int:
        """How many pairs of colliders of two mechanisms may touch."""
        of = self.touching.of
        return sum(
            len(self.touching.pairs(of[one], of[other]))
            for one in self.members[first]
            for other in self.members[second]
        )

    @property
    def groups(self) -> list[list[int]]:
        """The articulations of each mechanism."""
        found: dict[int, list[int]] = {}
        for one in range(len(self.leader)):
            found.setdefault(self._find(one), []).append(one)
        return list(found.values())

    def _find(self, one: int) -> int:
        """The first articulation of the mechanism of one."""
        while self.leader[one] != one:
            self.leader[one] = self.leader[self.leader[one]]
            one = self.leader[one]
        return one

    def _join(self, one: int, other: int) -> None:
        first, second = sorted((self._find(one), self._find(other)))
        if first != second:
            self.leader[second] = first
            self.dofs[first] += self.dofs[second]
            self.members[first] += self.members.pop(second)

    def _place(self) -> None:
        """Find what classes of colliders each articulation has, where it is at the start, and where it can get."""
        touching = self.touching
        self.owners = [one for one in range(len(self.leader)) if len(touching.of[one])]
        self._row_of = {one: row for row, one in enumerate(self.owners)}
        count = len(self.owners)
        self.presence = np.zeros((count, len(touching.allowed)), np.float32)
        self.center, self.radius = np.zeros((count, 3)), np.zeros(count)
        self.start, self.size = np.zeros((count, 3)), np.zeros(count)
        for row, one in enumerate(self.owners):
            own = touching.of[one]
            self.presence[row, touching.classes[own]] = 1.0
            self.center[row], self.radius[row] = _around(touching.center[own], touching.radius[own])
            self.radius[row] += touching.offset[own].max()
            self.start[row], self.size[row] = _around(touching.start[own], touching.size[own])

    def _met(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Which of some owners may touch which of others, (m, n)."""
        is_met = self._meets[rows] @ self.presence[columns].T > 0.0
        is_met &= rows[:, None] != columns
        apart = np.linalg.norm(self.center[rows][:, None] - self.center[columns], axis=2)
        is_met &= apart <= self.radius[rows][:, None] + self.radius[columns]
        row_of = {row: place for place, row in enumerate(rows.tolist())}
        column_of = {column: place for place, column in enumerate(columns.tolist())}
        for one, other in self._parted:
            if one in row_of and other in column_of:
                is_met[row_of[one], column_of[other]] = False
        return is_met

    def _count_met(self, group: list[int]) -> int:
        """How many pairs of articulations of a mechanism may touch."""
        rows = np.array([self._row_of[one] for one in group if one in self._row_of], int)
        return int(self._met(rows, rows).sum()) // 2 if len(rows) > 1 else 0

    def _candidates(self, alone: set[int]) -> tuple[int, list[tuple[int, int]], list[tuple[int, int]]]:
        """How many pairs of articulations may touch, those that may be joined, and some that may not.

        The nearest pairs come first; of each articulation the nearest ones are looked at.
        """
        is_alone = np.array([one in alone for one in self.owners], bool)
        gaps: dict[tuple[int, int], float] = {}
        refused: list[tuple[int, int]] = []
        count, total = len(self.owners), 0
        every = np.arange(count)
        for begin in range(0, count, AT_ONCE):
            rows = every[begin : begin + AT_ONCE]
            is_met = self._met(rows, every)
            total += int(is_met.sum())
            place = np.linalg.norm(self.start[rows][:, None] - self.start, axis=2)
            may_join = is_met & (place <= FARTHEST) & ~is_alone[rows][:, None] & ~is_alone
            gap = np.where(may_join, place - (self.size[rows][:, None] + self.size), np.inf)
            nearest = np.argsort(gap, axis=1, kind="stable")[:, :NEIGHBOURS]
            for row, others in zip(rows.tolist(), nearest.tolist()):
                for other in others:
                    if may_join[row - begin, other]:
                        gaps[min(row, other), max(row, other)] = float(gap[row - begin, other])
            if len(refused) < MOST_NAMED:
                ones, others = np.nonzero(is_met & ~may_join & (every > rows[:, None]))
                refused += zip((ones[:MOST_NAMED] + begin).tolist(), others[:MOST_NAMED].tolist())
        edges = sorted(gaps, key=lambda pair: (gaps[pair], pair))
        return total // 2, *([(self.owners[a], self.owners[b]) for a, b in pairs] for pairs in (edges, refused))

    def _parted_by_name(self) -> list[tuple[int, int]]:
        """Pairs of places among the owners, in either order, none of whose colliders may touch, by their names."""
        touching = self.touching
        of_name: dict[str, set[int]] = {}
        for row, one in enumerate(self.owners):
            own = touching.of[one][touching.is_named[touching.of[one]]]
            for name in {name for number in own.tolist() for name in touching.colliders[number].names}:
                of_name.setdefault(name, set()).add(row)
        suspects = {
            (one, other)
            for pair in touching.kept_apart.apart
            if len(pair) == 2 and pair <= of_name.keys()
            for one in of_name[min(pair)]
            for other in of_name[max(pair)]
            if one != other
        }
        parted = []
        for one, other in sorted({(min(pair), max(pair)) for pair in suspects}):
            if not touching.pairs(touching.of[self.owners[one]], touching.of[self.owners[other]]):
                parted += [(one, other), (other, one)]
        return parted


def _around(centers: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, float]:
    """A ball around balls."""
    middle = 0.5 * (centers.min(axis=0) + centers.max(axis=0))
    return middle, float((np.linalg.norm(centers - middle, axis=1) + radii).max())
