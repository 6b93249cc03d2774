"""Numbers in sets that are joined."""

from __future__ import annotations

from collections.abc import Sequence


class Unions:
    """Sets of the numbers from zero on, at first each alone."""

    def __init__(self, leader: Sequence[int]):
        """Start from the leader of each number; the lowest number of a set is its own leader."""
        self._leader = list(leader)

    def find(self, one: int) -> int:
        """The number that stands for the set of one."""
        while self._leader[one] != one:
            self._leader[one] = self._leader[self._leader[one]]
            one = self._leader[one]
        return one

    def join(self, one: int, other: int) -> None:
        """Make the sets of two numbers one; the lower number stands for it."""
        first, second = sorted((self.find(one), self.find(other)))
        self._leader[second] = first

    def sets(self) -> list[list[int]]:
        """The numbers of each set, in the order of the first of each."""
        found: dict[int, list[int]] = {}
        for one in range(len(self._leader)):
            found.setdefault(self.find(one), []).append(one)
        return list(found.values())
