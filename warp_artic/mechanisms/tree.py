"""The structure of a mechanism, without its numbers: equal ones share kernels' control flow and are grouped.

A mechanism is an articulation, or several (`description.mechanism`): a forest. In the generalized velocity it has the
six dofs of each floating root first, root r those from 6 r on, in the order of the articulations, and then the joint
dofs. What a step decides from the motion as a whole, such as whether motion is smooth, it decides for each *island*:
the trees that constraint rows join. What happens in an island depends on the others as little as on other environments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from warp_artic.constraints.table import FAMILIES
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Dof, Joint
from warp_artic.description.mechanism import Mechanism
from warp_artic.mechanisms.public_rows import ENTRIES, count_kinds
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import (
    HOLDS_POSITIONS,
    ON_ONE_DOF,
    RETURNS,
    ConstraintFamily,
)
from warp_artic.model.frames import frame_turn
from warp_artic.model.kinds import JointKind
from warp_artic.model.row import Place, Row

STRUCTURED = tuple(family for family in FAMILIES if family.structure is not None)
"""Families that say more of the structure of a tree than rows do."""


@dataclass(frozen=True)
class Part:
    """What one articulation of a mechanism is."""

    links: tuple[int, ...]
    """Its links, parents first."""
    row_counts: tuple[tuple[str, int], ...]
    """How many it has of each thing that public arrays have rows for."""
    entry_counts: tuple[int, ...]
    """Number of rows of the entries of each family that the dynamics suite registers, as in `public_rows.ENTRIES`."""
    has_link_damping: bool
    is_driven: bool
    """Whether a spring or a damper acts on any single dof: a drive or viscous friction."""
    is_pulled: bool = False
    """Whether an elastic body is attached to it, which does what springs do."""


@dataclass(frozen=True)
class Tree:
    """Topology, joint types, dof layout and constraint rows of a mechanism; equal ones compare equal.

    Links and joint dofs keep the order of the description.
    """

    parts: tuple[Part, ...]
    """The articulations."""
    parent: tuple[int, ...]
    """Parent of each link; the number of links stands for the world."""
    kind: tuple[JointKind, ...]
    """Joint type of each link."""
    joint_ends: tuple[int, ...]
    """The last link that the joint of each link moves, where it is several in a row; else the link itself."""
    joint_parts: tuple[int, ...]
    """How many these are."""
    first_dof: tuple[int, ...]
    """First dof of each link in the generalized velocity."""
    dof_counts: tuple[int, ...]
    """Number of dofs of each link."""
    is_coupled: tuple[bool, ...]
    """Of each link whether its joint has several rotations and a drive, whose spring couples them."""
    dof_is_linear: tuple[bool, ...]
    dof_axis: tuple[int, ...]
    """Axis of each dof in the moving frame M."""
    rows: tuple[Row, ...]
    """In the order in which a solver visits them."""
    links_by_path: tuple[int, ...]
    """Where loop joints hold positions, the links in the order of their paths: what is summed up over these mechanisms
    does not depend on the order of prims, nor on where the mechanism is cut into articulations. Elsewhere none."""
    structures: tuple[Hashable, ...]
    """What equal trees have in common beside rows, of each family that has such."""
    kind_counts: tuple[tuple[str, int], ...]
    entry_counts: tuple[int, ...]
    """Number of rows of the entries of each family that the dynamics suite registers, as in `public_rows.ENTRIES`."""
    flag_values: tuple[tuple[str, bool], ...]
    """What steps do, or leave out; `flags` has them by name."""
    body_count: int
    """Number of links that are not massless; these come first."""

    @property
    def link_count(self) -> int:
        """Number of links."""
        return len(self.parent)

    @property
    def dof_count(self) -> int:
        """Size of the generalized velocity."""
        return len(self.dof_axis)

    @property
    def root_dofs(self) -> int:
        """Six for each floating root."""
        return 6 * self.kind.count(JointKind.FLOATING)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Links, parents first, one tree after the other."""
        return tuple(link for part in self.parts for link in part.links)

    @cached_property
    def movers(self) -> np.ndarray:
        """For each link and each dof: the link that the dof moves first, where that moves the link, else -1."""
        movers = np.full((self.link_count, self.dof_count), -1, np.int32)
        for link in self.order:
            if self.parent[link] < self.link_count:
                movers[link] = movers[self.parent[link]]
            movers[link, self.first_dof[link] : self.first_dof[link] + self.dof_counts[link]] = link
        return movers

    @cached_property
    def part_of_link(self) -> dict[int, int]:
        """The articulation that each link belongs to."""
        return {link: place for place, part in enumerate(self.parts) for link in part.links}

    @cached_property
    def islands(self) -> tuple[int, ...]:
        """The island of each articulation: those that constraint rows join have the same, counted through."""
        leader = list(range(len(self.parts)))
        for row in self.rows:
            touched = {leader[self.part_of_link[self.link_of_dof[dof]]] for dof in row.dofs}
            leader = [min(touched) if one in touched else one for one in leader]
        numbers = {one: number for number, one in enumerate(dict.fromkeys(leader))}
        return tuple(numbers[one] for one in leader)

    @property
    def has_link_damping(self) -> bool:
        """Whether drag acts on any link."""
        return any(part.has_link_damping for part in self.parts)

    @property
    def is_driven(self) -> bool:
        """Whether a spring or a damper acts on any single dof."""
        return any(part.is_driven for part in self.parts)

    @property
    def moves_freely(self) -> bool:
        """Whether any island does."""
        return any(self.island_moves_freely)

    @cached_property
    def island_moves_freely(self) -> tuple[bool, ...]:
        """Of each island whether no spring, damper, friction, tendon or mimic joint acts as long as limits are kept.

        One of several trees does not: the rows that join them act.
        """
        acting = {self.island_of_dof(row.dofs[0]) for row in self.rows if row.family.acts_always}
        for island, own in enumerate(self.parts_of_island):
            if len(own) > 1 or own[0].is_driven or own[0].is_pulled:
                acting.add(island)
        return tuple(island not in acting for island in range(self.island_count))

    @cached_property
    def parts_of_island(self) -> tuple[tuple[Part, ...], ...]:
        """The articulations of each island."""
        pairs = tuple(zip(self.islands, self.parts))
        return tuple(tuple(part for own, part in pairs if own == island) for island in range(self.island_count))

    @property
    def island_count(self) -> int:
        """Number of islands."""
        return max(self.islands) + 1

    def island_of_dof(self, dof: int) -> int:
        """The island of a dof."""
        return self.islands[self.part_of_link[self.link_of_dof[dof]]]

    def count(self, family: ConstraintFamily) -> int:
        """Number of rows of a family."""
        return sum(row.family is family for row in self.rows)

    def count_with(self, traits: int) -> int:
        """Number of rows whose family has any of some traits."""
        return sum((row.family.traits & traits) != 0 for row in self.rows)

    @property
    def has_loops(self) -> bool:
        """Whether there are rows that close loops; all rows are solved together then."""
        return self.count_with(HOLDS_POSITIONS | RETURNS) > 0

    def structure_of(self, family: ConstraintFamily) -> Hashable:
        """What a family has to say of the structure of the tree."""
        return self.structures[STRUCTURED.index(family)]

    @cached_property
    def kinds(self) -> dict[str, int]:
        """How many there are of what parameters and measures of constraint families have rows for."""
        return dict(self.kind_counts)

    @cached_property
    def flags(self) -> dict[str, bool]:
        """What steps do, or leave out."""
        return dict(self.flag_values)

    @cached_property
    def speed_limit_count(self) -> int:
        """Number of limits on lengths of velocities, of several rows each."""
        counts = Counter(row.family.rows_each for row in self.rows if row.family.rows_each > 1)
        return sum(rows // each for each, rows in counts.items())

    @property
    def tendon_count(self) -> int:
        """Number of fixed tendons and of leaves of spatial tendons."""
        return self.kinds["tendon"]

    @cached_property
    def row_counts(self) -> dict[str, int]:
        """How many there are of each thing that public arrays have rows for."""
        counts = [dict(part.row_counts) for part in self.parts]
        return {"mechanism": 1} | {kind: sum(own[kind] for own in counts) for kind in counts[0]}

    def rows_before(self, part: int, kind: str) -> int:
        """How many rows of a kind public arrays have for the articulations before one."""
        if kind == "mechanism":
            return 0
        return sum(dict(own.row_counts)[kind] for own in self.parts[:part])

    def dofs_that_turn(self, dof: int) -> tuple[int, ...]:
        """The dofs whose velocities change the position of one: all of a joint with several rotations."""
        link = self.link_of_dof[dof]
        return tuple(range(self.first_dof[link], self.first_dof[link] + self.dof_counts[link]))

    def inward_path(self, dofs: tuple[int, ...]) -> tuple[int, ...]:
        """The links of some dofs and all links between them and the root, children first."""
        found = set()
        for dof in dofs:
            link = self.link_of_dof[dof]
            while link < self.link_count and link not in found:
                found.add(link)
                link = self.parent[link]
        return tuple(sorted(found, key=self._place.__getitem__, reverse=True))

    @cached_property
    def link_of_dof(self) -> dict[int, int]:
        """The link that each dof moves."""
        spans = zip(self.first_dof, self.dof_counts)
        return {first + k: link for link, (first, count) in enumerate(spans) for k in range(count)}

    @cached_property
    def _place(self) -> dict[int, int]:
        """Where each link is in `order`."""
        return {link: place for place, link in enumerate(self.order)}

    def dofs_inward(self, link: int) -> tuple[int, ...]:
        """The dofs that move a link, its own first; none for the world."""
        found: list[int] = []
        while link < self.link_count:
            found += range(self.first_dof[link], self.first_dof[link] + self.dof_counts[link])
            link = self.parent[link]
        return tuple(found)


def tree_of(mechanism: Articulation | Mechanism) -> Tree:
    """The structure of a mechanism whose joints are those of `description.massless_links`."""
    inbound = mechanism.inbound
    count = len(mechanism.links)
    layout = DofLayout(mechanism)
    roots = layout.root_dofs // 6
    rows = _rows(mechanism, layout)
    holds = any(row.family.traits & HOLDS_POSITIONS for row in rows)
    linear, axis = ([True] * 3 + [False] * 3) * roots, [0, 1, 2, 0, 1, 2] * roots
    for joint in mechanism.joints:
        turn, _ = frame_turn(joint)
        linear += [dof.axis.is_linear for dof in joint.dofs]
        axis += [(dof.axis.index - turn) % 3 for dof in joint.dofs]
    joint_ends, joint_parts = _rows_of_joints(inbound)
    return Tree(
        parts=_parts(mechanism),
        parent=tuple(count if joint is None or joint.parent == WORLD else joint.parent for joint in inbound),
        kind=tuple(_kind(joint) for joint in inbound),
        joint_ends=joint_ends,
        joint_parts=joint_parts,
        first_dof=tuple(layout.first_of[link] for link in range(count)),
        dof_counts=tuple(6 if joint is None else len(joint.dofs) for joint in inbound),
        is_coupled=tuple(joint is not None and _is_coupled(joint) for joint in inbound),
        dof_is_linear=tuple(linear),
        dof_axis=tuple(axis),
        rows=rows,
        links_by_path=tuple(sorted(range(count), key=lambda k: _counted(mechanism.links[k].path)) if holds else ()),
        structures=tuple(family.structure(mechanism) for family in STRUCTURED),
        kind_counts=tuple(count_kinds(mechanism).items()),
        entry_counts=tuple(len(entries.rows(mechanism)) for entries in ENTRIES),
        flag_values=tuple(_flags(mechanism).items()),
        body_count=len(mechanism.bodies),
    )


def _rows_of_joints(inbound: Sequence[Joint | None]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The last link, and the number, of the joints in a row that are one joint of the stage; of each link."""
    rows: dict[str, list[Joint]] = {}
    for joint in inbound:
        if joint is not None:
            rows.setdefault(joint.path, []).append(joint)
    ends, parts = list(range(len(inbound))), [1] * len(inbound)
    for row in rows.values():
        parents = {joint.parent for joint in row}
        (end,) = (joint.child for joint in row if joint.child not in parents)
        for joint in row:
            ends[joint.child], parts[joint.child] = end, len(row)
    return tuple(ends), tuple(parts)


def _parts(mechanism: Articulation | Mechanism) -> tuple[Part, ...]:
    """What each articulation of a mechanism is."""
    order = _parents_first(mechanism.inbound, len(mechanism.links))
    return tuple(
        Part(
            links=tuple(link for link in order if link in own),
            row_counts=tuple(_row_counts(one).items()),
            entry_counts=tuple(len(entries.rows(one)) for entries in ENTRIES),
            has_link_damping=any(link.linear_damping > 0 or link.angular_damping > 0 for link in one.links),
            is_driven=any(map(_is_held, one.dofs)),
        )
        for one, own in zip(mechanism.articulations, map(frozenset, mechanism.link_numbers))
    )


def _row_counts(articulation: Articulation) -> dict[str, int]:
    """How many an articulation has of each thing that public arrays have rows for."""
    return {
        "dof": len(articulation.dofs),
        "link": len(articulation.bodies),
        "root": int(articulation.is_floating),
        "articulation": 1,
        **count_kinds(articulation),
    }


def _parents_first(inbound, count: int) -> tuple[int, ...]:
    children: dict[int, list[int]] = {}
    for link, joint in enumerate(inbound):
        children.setdefault(WORLD if joint is None else joint.parent, []).append(link)
    order, waiting = [], list(reversed(children.get(WORLD, [])))
    while waiting:
        link = waiting.pop()
        order.append(link)
        waiting.extend(reversed(children.get(link, [])))
    assert len(order) == count, "validated descriptions are trees"
    return tuple(order)


def _kind(joint: Joint | None) -> JointKind:
    if joint is None:
        return JointKind.FLOATING
    if not joint.dofs:
        return JointKind.FIXED
    if len(joint.dofs) == 1:
        return JointKind.PRISMATIC if joint.dofs[0].axis.is_linear else JointKind.REVOLUTE
    return JointKind.SWING if len(joint.dofs) == 2 else JointKind.SPHERICAL


def _rows(articulation: Articulation | Mechanism, layout: DofLayout) -> tuple[Row, ...]:
    """The rows by family, and in each by the names of what they are of, those of joints from the root outward.

    A solver that visits them one after the other would give another motion for another order of prims in a file.
    """
    rows = []
    for family, place in _places(articulation, layout):
        rows += [Row(family, place.dofs, place.item, place.coupled)] * family.rows_each
    return tuple(rows)


def _places(articulation: Articulation | Mechanism, layout: DofLayout) -> Iterator[tuple[ConstraintFamily, Place]]:
    for family in FAMILIES:
        places = family.places(articulation, layout) if family.places is not None else []
        for place in sorted(places, key=lambda one: _counted(one.name)):
            yield family, place


def row_names(mechanism: Articulation | Mechanism) -> tuple[str, ...]:
    """Of each row its family and what it is of, such as "friction:/World/arm/elbow"; of several rows also which."""
    names, layout = [], DofLayout(mechanism)
    for family, place in _places(mechanism, layout):
        of = re.sub(r"^\d+(?=/)", "", place.name)  # without the depth, by which places of joints sort
        if family.traits & ON_ONE_DOF:
            of = mechanism.dofs[place.dofs[0] - layout.root_dofs].name
        names += [f"{family.name}:{of}"] * family.rows_each
    counts, known = Counter(names), Counter()
    for row, name in enumerate(names):
        if counts[name] > 1:
            names[row] = f"{name}:{known[name]}"
            known[name] += 1
    return tuple(names)


def _flags(articulation: Articulation | Mechanism) -> dict[str, bool]:
    """What steps of an articulation do, or leave out."""
    links = articulation.links
    return {
        "link_damping": any(link.linear_damping > 0 or link.angular_damping > 0 for link in links),
        "scales_gravity": any(link.gravity_scale != 1.0 for link in links),
        **{name: has(articulation) for family in FAMILIES for name, has in family.flags.items()},
    }


def _counted(name: str) -> tuple[tuple[str, int], ...]:
    """A key by which names sort, with numbers in them by their size: finger_2 before finger_10."""
    return tuple((word, int(number or 0)) for word, number in re.findall(r"(\D*)(\d*)", name))


def _is_coupled(joint: Joint) -> bool:
    return len(joint.dofs) > 1 and any(dof.drive is not None for dof in joint.dofs)


def _is_held(dof: Dof) -> bool:
    """Whether a spring or a damper is folded into the factors."""
    drive, friction = dof.drive, dof.friction
    drives = drive is not None and (max(drive.stiffness, drive.damping) > 0 or bool(drive.gain_tracks))
    return drives or (friction is not None and friction.viscous > 0)
