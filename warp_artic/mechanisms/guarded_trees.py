"""Which assemblies of a mechanism keep their energy in violent steps and where they touch (`solver.violent_trees`).

An assembly is a tree, or several that rows other than those from outside join: loop joints, what acts on their free
axes, distances.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from warp_artic.constraints.loop_armature import LOOP_ARMATURE
from warp_artic.constraints.loop_drive import LOOP_DRIVE
from warp_artic.constraints.loop_friction import LOOP_DAMPER, LOOP_FRICTION
from warp_artic.constraints.loop_joint import LOOP_JOINT
from warp_artic.constraints.loop_limit import LOOP_LIMIT, SOFT_LOOP_LIMIT
from warp_artic.constraints.loop_velocity_limit import LOOP_VELOCITY_LIMIT
from warp_artic.mechanisms.tree import Part, Row, Tree
from warp_artic.model.families import FROM_OUTSIDE, HOLDS_POSITIONS, MOVES_DOFS_ALIKE, RETURNS
from warp_artic.model.kinds import JointKind

CLOSES = HOLDS_POSITIONS | RETURNS
"""Traits of rows of loop joints."""
OF_LOOPS = frozenset(
    {
        *(LOOP_JOINT, LOOP_LIMIT, SOFT_LOOP_LIMIT, LOOP_DRIVE),
        *(LOOP_ARMATURE, LOOP_DAMPER, LOOP_FRICTION, LOOP_VELOCITY_LIMIT),
    }
)
"""Families that do nothing where their loop joint has broken."""


class GuardedTrees:
    """What is known of the assembly of each tree of a mechanism, in their order; flags are set for its first tree."""

    def __init__(self, mechanism: Tree):
        self._mechanism = mechanism

    @cached_property
    def assemblies(self) -> tuple[int, ...]:
        """The first tree of the assembly of each tree."""
        return self._first_joined_by(row for row in self._mechanism.rows if not row.family.traits & FROM_OUTSIDE)

    @cached_property
    def tied(self) -> tuple[int, ...]:
        """The first of the trees that each is joined with by what does not break."""
        rows = (row for row in self._mechanism.rows if not row.family.traits & FROM_OUTSIDE)
        return self._first_joined_by(row for row in rows if row.family not in OF_LOOPS)

    @cached_property
    def is_core(self) -> tuple[bool, ...]:
        """Of each tree, whether its assembly is known by it: on a fixed base, or the first of what floats."""
        fixed = {n for n, part in enumerate(self._mechanism.parts) if self._is_fixed(part)}
        return self._flags(fixed | {number for number, floats in enumerate(self.floats) if floats})

    @cached_property
    def following(self) -> tuple[int, ...]:
        """The next tree of the assembly of each tree, or -1."""
        found, last = [-1] * len(self.assemblies), {}
        for number, assembly in enumerate(self.assemblies):
            if assembly in last:
                found[last[assembly]] = number
            last[assembly] = number
        return tuple(found)

    @cached_property
    def floats(self) -> tuple[bool, ...]:
        """Whether all roots of an assembly float, and no loop joint holds it in the world."""
        mechanism = self._mechanism
        held = self._first_of(number for number, part in enumerate(mechanism.parts) if self._is_fixed(part))
        for row in mechanism.rows:
            parts = self._parts_of(row)
            if row.family.traits & CLOSES and min(row.dofs) < mechanism.root_dofs and len(parts) == 1:
                held |= self._first_of(parts)
        return self._flags(set(self.assemblies) - held)

    @cached_property
    def keeps_energy(self) -> tuple[bool, ...]:
        """Whether loop joints close it, the world holds it, and nothing acts on it while limits are kept."""
        mechanism = self._mechanism
        closed, held, acting = set(), set(), set()
        for row in mechanism.rows:
            own = self._first_of(self._parts_of(row))
            if row.family.traits & HOLDS_POSITIONS:
                closed |= own
                links = mechanism.structure_of(row.family)[row.item // 6][:2]
                held |= own if mechanism.link_count in links else set()
            elif row.family.acts_always and not row.family.traits & (RETURNS | MOVES_DOFS_ALIKE):
                acting |= own
        for number, part in enumerate(mechanism.parts):
            if part.is_driven or part.is_pulled or part.has_link_damping:
                acting.add(self.assemblies[number])
            if self._is_fixed(part):
                held.add(self.assemblies[number])
        return self._flags((closed & held) - acting)

    @cached_property
    def is_guarded(self) -> tuple[bool, ...]:
        """Whether nothing elastic pulls at it, and it may touch or break, has forces in joints, or keeps its motion."""
        acted = {number for number in self._jointed if self.is_acted[number]}
        kept = {number for number, keeps in enumerate(self.keeps_motion) if keeps}
        breaks = self._first_with(CLOSES) if self._mechanism.flags["breakable_loops"] else set()
        return self._flags((self._first_with(FROM_OUTSIDE) | acted | kept | breaks) - self._pulled)

    @cached_property
    def keeps_motion(self) -> tuple[bool, ...]:
        """Whether it floats, loop joints close it, and nothing is acting on it (`is_acted`)."""
        closed = self._first_with(CLOSES)
        return self._flags({number for number in closed if self.floats[number] and not self.is_acted[number]})

    @cached_property
    def is_summed(self) -> tuple[bool, ...]:
        """Of each tree, whether its island has an assembly that is guarded, or its energy is limited."""
        islands = self._mechanism.islands
        guarded = {island for island, is_guarded in zip(islands, self.is_guarded) if is_guarded}
        limited = {number for number, first in enumerate(self.assemblies) if self.is_limited[first]}
        return self._flags({number for number, island in enumerate(islands) if island in guarded} | limited)

    @cached_property
    def is_limited(self) -> tuple[bool, ...]:
        """Whether contacts among many bodies limit its energy (`solver.touched_trees`).

        It is guarded, or closed. But what rows of drives and friction give in a closed one is another with contacts
        than without them.
        """
        closed = self._first_with(CLOSES)
        unacted = {number for number in closed if not self.is_acted[number]} - self._pulled
        guarded = {number for number, is_guarded in enumerate(self.is_guarded) if is_guarded}
        return self._flags(unacted | (guarded - closed))

    @cached_property
    def is_acted(self) -> tuple[bool, ...]:
        """Whether a spring, damper, friction, tendon or mimic joint acts on it."""
        parts = enumerate(self._mechanism.parts)
        acting = self._first_of(number for number, part in parts if part.is_driven or part.is_pulled)
        for row in self._mechanism.rows:
            if row.family.acts_always and not row.family.traits & (FROM_OUTSIDE | CLOSES):
                acting |= self._first_of(self._parts_of(row))
        return self._flags(acting)

    @cached_property
    def has_drag(self) -> tuple[bool, ...]:
        """Whether drag acts on any of its links."""
        parts = enumerate(self._mechanism.parts)
        return self._flags(self._first_of(number for number, part in parts if part.has_link_damping))

    @cached_property
    def guards_impacts(self) -> tuple[bool, ...]:
        """Whether it has joints and is guarded, and only weights, stops, loops, drag and contacts act on it."""
        flags = zip(self.is_guarded, self.is_acted)
        guarded = {number for number, (is_guarded, is_acted) in enumerate(flags) if is_guarded and not is_acted}
        return self._flags(guarded & self._jointed)

    @cached_property
    def _jointed(self) -> set[int]:
        """Those that have joints, of trees or beside them."""
        tree = self._mechanism
        own = {tree.part_of_link[tree.link_of_dof[dof]] for dof in range(tree.root_dofs, tree.dof_count)}
        joined = {first for number, first in enumerate(self.assemblies) if first != number}
        return self._first_of(own) | joined

    @cached_property
    def _pulled(self) -> set[int]:
        """Those that an elastic body pulls at."""
        return self._first_of(number for number, part in enumerate(self._mechanism.parts) if part.is_pulled)

    def _first_with(self, traits: int) -> set[int]:
        """Those that rows with any of some traits act on."""
        rows = (row for row in self._mechanism.rows if row.family.traits & traits)
        return {first for row in rows for first in self._first_of(self._parts_of(row))}

    def _first_of(self, parts: Iterable[int]) -> set[int]:
        """The first trees of the assemblies of some trees."""
        return {self.assemblies[part] for part in parts}

    def _is_fixed(self, part: Part) -> bool:
        """Whether a tree is on a fixed base."""
        return self._mechanism.kind[part.links[0]] is not JointKind.FLOATING

    def _first_joined_by(self, rows: Iterable[Row]) -> tuple[int, ...]:
        """The first of the trees that each is joined with by some rows."""
        first = list(range(len(self._mechanism.parts)))
        for row in rows:
            joined = {first[part] for part in self._parts_of(row)}
            first = [min(joined) if one in joined else one for one in first]
        return tuple(first)

    def _parts_of(self, row: Row) -> set[int]:
        """The trees that a row acts on."""
        tree = self._mechanism
        return {tree.part_of_link[tree.link_of_dof[dof]] for dof in row.dofs}

    def _flags(self, numbers: set[int]) -> tuple[bool, ...]:
        return tuple(number in numbers for number in range(len(self._mechanism.parts)))
