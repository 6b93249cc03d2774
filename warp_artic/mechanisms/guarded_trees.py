"""Which trees of a mechanism keep their energy in violent steps and where they touch (`solver.violent_trees`)."""

from __future__ import annotations

from functools import cached_property

from warp_artic.mechanisms.tree import Row, Tree
from warp_artic.model.families import FROM_OUTSIDE, HOLDS_POSITIONS, RETURNS

CLOSES = HOLDS_POSITIONS | RETURNS
"""Traits of rows of loop joints."""


class GuardedTrees:
    """What is known of each tree of a mechanism, in their order."""

    def __init__(self, mechanism: Tree):
        self._mechanism = mechanism

    @cached_property
    def is_apart(self) -> tuple[bool, ...]:
        """Whether no row but contacts joins it to others, or holds it in the world if it floats.

        Loop joints between its own links may close it.
        """
        held = {number for number, part in enumerate(self._mechanism.parts) if part.is_pulled}
        for row in self._mechanism.rows:
            joined = self._parts_of(row)
            holds_root = row.family.traits & CLOSES and min(row.dofs) < self._mechanism.root_dofs
            if not row.family.traits & FROM_OUTSIDE and (len(joined) > 1 or holds_root):
                held |= joined
        return self._flags(self._all - held)

    @cached_property
    def is_guarded(self) -> tuple[bool, ...]:
        """Whether it is apart, and may touch or is acted on in its joints."""
        acted = {number for number in self._jointed if self.is_acted[number]}
        touching = self._parts_with(FROM_OUTSIDE)
        return self._flags({number for number in touching | acted if self.is_apart[number]})

    @cached_property
    def is_summed(self) -> tuple[bool, ...]:
        """Whether its island has one that is guarded, or its energy is limited among many bodies."""
        islands = self._mechanism.islands
        guarded = {island for island, is_guarded in zip(islands, self.is_guarded) if is_guarded}
        summed = {number for number, island in enumerate(islands) if island in guarded or self.is_limited[number]}
        return self._flags(summed)

    @cached_property
    def is_limited(self) -> tuple[bool, ...]:
        """Whether contacts among many bodies limit its energy (`solver.touched_trees`).

        It is guarded, or apart and closed. But what rows of drives and friction give in a closed one is another with
        contacts than without them.
        """
        closed = {number for number in self._closed if self.is_apart[number] and not self.is_acted[number]}
        guarded = {number for number, is_guarded in enumerate(self.is_guarded) if is_guarded}
        return self._flags(closed | (guarded - self._closed))

    @cached_property
    def is_acted(self) -> tuple[bool, ...]:
        """Whether a spring, damper, friction, tendon or mimic joint acts on it."""
        acting = {number for number, part in enumerate(self._mechanism.parts) if part.is_driven or part.is_pulled}
        for row in self._mechanism.rows:
            if row.family.acts_always and not row.family.traits & (FROM_OUTSIDE | CLOSES):
                acting |= self._parts_of(row)
        return self._flags(acting)

    @cached_property
    def guards_impacts(self) -> tuple[bool, ...]:
        """Whether it has joints and is guarded, and only weights, stops, loops, drag and contacts act on it."""
        flags = zip(self.is_guarded, self.is_acted)
        guarded = {number for number, (is_guarded, is_acted) in enumerate(flags) if is_guarded and not is_acted}
        return self._flags(guarded & self._jointed)

    @property
    def _all(self) -> set[int]:
        return set(range(len(self._mechanism.parts)))

    @cached_property
    def _jointed(self) -> set[int]:
        """Those that have joints."""
        tree = self._mechanism
        return {tree.part_of_link[tree.link_of_dof[dof]] for dof in range(tree.root_dofs, tree.dof_count)}

    @cached_property
    def _closed(self) -> set[int]:
        """Those that loop joints close, or join."""
        return self._parts_with(CLOSES)

    def _parts_with(self, traits: int) -> set[int]:
        """Those that rows with any of some traits act on."""
        return {part for row in self._mechanism.rows if row.family.traits & traits for part in self._parts_of(row)}

    def _parts_of(self, row: Row) -> set[int]:
        """Those that a row acts on."""
        tree = self._mechanism
        return {tree.part_of_link[tree.link_of_dof[dof]] for dof in row.dofs}

    def _flags(self, numbers: set[int]) -> tuple[bool, ...]:
        return tuple(number in numbers for number in range(len(self._mechanism.parts)))
