"""Which articulations that may touch are stepped as one mechanism, and which are solved island by island.

The cost of a mechanism grows with its degrees of freedom, so those of one are bounded: articulations that may touch,
directly or by way of others, become one mechanism where all of them are within the bounds. Else each stays a mechanism
by itself, and contacts of what touches are found and solved in each step (`island_contacts`). So it is with what may
touch more than MOST_PATCHES shapes of one static mesh, and with an articulation that may touch itself in more than
MOST_OWN_PAIRS pairs, as a rope of 48 capsules does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.mechanism import mechanisms_of
from warp_artic.description.scene import Scene
from warp_artic.description.touching import MOST_PATCHES, STATIC, Touching
from warp_artic.description.unions import Unions

MOST_DOFS = 128
"""Degrees of freedom of a mechanism that articulations are joined to for contacts, with those of floating roots."""
MOST_PAIRS = 400
"""Pairs of colliders of a mechanism that articulations are joined to for contacts: each has room in every worker."""
MOST_OWN_PAIRS = 1000
"""Pairs of colliders of one articulation that are solved as one problem. A rope of 40 capsules that falls on the floor
takes as long by islands, one of 48 a third of the time, and one of 150 is built in 1 s, not in 30."""
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
        self._sets = Unions(range(len(articulations)))
        self.dofs = [len(one.dofs) + 6 * one.is_floating for one in articulations]
        self.members = {one: [one] for one in range(len(articulations))}
        for members in mechanisms_of(Scene(articulations=tuple(articulations))):
            for other in members[1:]:
                self._join(members[0], other)
        self._place()
        self._meets = self.presence @ touching.allowed.astype(np.float32)
        self._parted = self._parted_by_name()
        total, edges, refused, far = self._candidates(set(alone))
        fine_meshes = self._fine_meshes()
        self.in_islands = self._beyond_bounds(edges, far | ((fine_meshes.keys() | self._dense()) - alone))
        """Those whose contacts are found and solved in each step, by number, in order."""
        is_in_islands = set(self.in_islands)
        for one, other in edges:
            if one not in is_in_islands and other not in is_in_islands:
                self._join(one, other)
        joined = [*(group for group in self.groups if is_in_islands.isdisjoint(group)), self.in_islands]
        self.left_out = {one: meshes for one, meshes in fine_meshes.items() if one not in is_in_islands}
        """Static meshes that an articulation passes through, as it is a mechanism by itself and they are too fine."""
        self.passing_count = total - sum(map(self._count_met, joined)) + sum(map(len, self.left_out.values()))
        """How many pairs of articulations, and of these and meshes, could touch and pass through each other."""
        apart = [pair for pair in refused if not is_in_islands.issuperset(pair)]
        self.passing = apart[:MOST_NAMED]
        """The nearest of these pairs of articulations."""

    def _beyond_bounds(self, edges: list[tuple[int, int]], far: set[int]) -> list[int]:
        """Articulations of what would be a mechanism with more than the bounds allow, or with ones that are `far`."""
        trial = Unions([self._find(one) for one in range(len(self.articulations))])
        for one, other in edges:
            trial.join(one, other)
        found = []
        for group in trial.sets():
            has_edges = len({self._find(one) for one in group}) > 1
            if not far.isdisjoint(group) or (has_edges and self._is_too_large(group)):
                found += group
        return sorted(found)

    def _dense(self) -> set[int]:
        """Articulations with too many pairs of colliders of their own."""
        of = self.touching.of
        many = [one for one in self.owners if len(of[one]) * (len(of[one]) - 1) // 2 > MOST_OWN_PAIRS]
        return {one for one in many if len(self.touching.pairs(of[one], of[one])) > MOST_OWN_PAIRS}

    def _fine_meshes(self) -> dict[int, frozenset[str]]:
        """The static meshes, by path, of which an articulation may touch more shapes than a mechanism has room for."""
        touching = self.touching
        patches: dict[str, list[int]] = {path: [] for path in sorted(touching.fine)}
        for number in touching.of[STATIC].tolist() if patches else ():
            if touching.colliders[number].path in patches:
                patches[touching.colliders[number].path].append(number)
        found: dict[int, set[str]] = {}
        for path, own in patches.items():
            for row, one in enumerate(self.owners):
                apart = np.linalg.norm(touching.center[own] - self.center[row], axis=1)
                is_near = apart <= touching.radius[own] + self.radius[row] + touching.offset[own]
                if self._meets[row, touching.classes[own[0]]] > 0.0 and is_near.sum() > MOST_PATCHES:
                    found.setdefault(one, set()).add(path)
        return {one: frozenset(paths) for one, paths in found.items()}

    def _is_too_large(self, group: list[int]) -> bool:
        own = {self._find(one) for one in group}
        if sum(self.dofs[one] for one in own) > MOST_DOFS:
            return True
        pairs, leaders = 0, sorted(own)
        for place, first in enumerate(leaders):
            pairs += sum(self._pairs_between(first, second) for second in leaders[place + 1 :])
            if pairs > MOST_PAIRS:
                return True
        return False

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
        return self._sets.sets()

    def _find(self, one: int) -> int:
        """The first articulation of the mechanism of one."""
        return self._sets.find(one)

    def _join(self, one: int, other: int) -> None:
        first, second = sorted((self._find(one), self._find(other)))
        if first != second:
            self._sets.join(first, second)
            self.dofs[first] += self.dofs[second]
            self.members[first] += self.members.pop(second)

    def _place(self) -> None:
        """Find what classes of colliders each articulation has, where it is at the start, and where it can get."""
        touching = self.touching
        self.owners = [one for one in range(len(self.articulations)) if len(touching.of[one])]
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

    def _candidates(self, alone: set[int]) -> tuple[int, list[tuple[int, int]], list[tuple[int, int]], set[int]]:
        """How many pairs of articulations may touch, those that may be joined, some that never are, and what is far.

        Of each articulation the nearest ones are looked at. What may touch something that is far from it at the start
        is of no mechanism with it.
        """
        is_alone = np.array([one in alone for one in self.owners], bool)
        edges: set[tuple[int, int]] = set()
        refused: list[tuple[int, int]] = []
        is_far = np.zeros(len(self.owners), bool)
        count, total = len(self.owners), 0
        every = np.arange(count)
        for begin in range(0, count, AT_ONCE):
            rows = every[begin : begin + AT_ONCE]
            is_met = self._met(rows, every)
            total += int(is_met.sum())
            place = np.linalg.norm(self.start[rows][:, None] - self.start, axis=2)
            may_join = is_met & ~is_alone[rows][:, None] & ~is_alone
            is_far[rows] = (may_join & (place > FARTHEST)).any(axis=1)
            gap = np.where(may_join, place - (self.size[rows][:, None] + self.size), np.inf)
            nearest = np.argsort(gap, axis=1, kind="stable")[:, :NEIGHBOURS]
            for row, others in zip(rows.tolist(), nearest.tolist()):
                edges.update((min(row, one), max(row, one)) for one in others if may_join[row - begin, one])
            if len(refused) < MOST_NAMED:
                ones, others = np.nonzero(is_met & ~may_join & (every > rows[:, None]))
                refused += zip((ones[:MOST_NAMED] + begin).tolist(), others[:MOST_NAMED].tolist())
        far = {self.owners[row] for row in np.flatnonzero(is_far).tolist()}
        return (
            total // 2,
            *([(self.owners[a], self.owners[b]) for a, b in pairs] for pairs in (sorted(edges), refused)),
            far,
        )

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
