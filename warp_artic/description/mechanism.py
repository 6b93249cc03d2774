"""Mechanisms: articulations that are stepped together, so that what acts may join any of their links and dofs.

A mechanism is a forest: each of its articulations is a tree with a root of its own, fixed or floating. Articulations
that constraints join (`Constraint.articulation1`), or that a scene asks for, form one; each of the others is one alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from warp_artic.description.articulation import Articulation, Kind
from warp_artic.description.constraint import Constraint
from warp_artic.description.joint import WORLD, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.description.tendon import FixedTendon, SpatialTendon
from warp_artic.description.unions import Unions


@dataclass(frozen=True)
class Mechanism:
    """Several articulations as one forest; it has what an articulation has, with links and dofs counted through.

    Links with mass come first, articulation by articulation, then massless ones; everything else is in the
    order of the articulations.
    """

    articulations: tuple[Articulation, ...]

    @cached_property
    def link_numbers(self) -> tuple[tuple[int, ...], ...]:
        """Of each articulation the numbers that its links have here."""
        numbers: list[list[int]] = [[0] * len(one.links) for one in self.articulations]
        count = 0
        for is_massless in (False, True):
            for own, one in zip(numbers, self.articulations):
                for place, link in enumerate(one.links):
                    if link.is_massless is is_massless:
                        own[place] = count
                        count += 1
        return tuple(map(tuple, numbers))

    @cached_property
    def first_dofs(self) -> tuple[int, ...]:
        """Of each articulation the number that its first joint dof has here."""
        counts = [len(one.dofs) for one in self.articulations]
        return tuple(sum(counts[:place]) for place in range(len(counts)))

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All links."""
        pairs = ((n, link) for own, one in self._numbered for n, link in zip(own, one.links))
        return tuple(link for _, link in sorted(pairs, key=lambda pair: pair[0]))

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, between links by their numbers here."""
        return tuple(
            replace(joint, child=own[joint.child], parent=WORLD if joint.parent == WORLD else own[joint.parent])
            for own, one in self._numbered
            for joint in one.joints
        )

    @cached_property
    def fixed_tendons(self) -> tuple[FixedTendon, ...]:
        """All fixed tendons, on dofs by their numbers here."""
        return tuple(
            replace(tendon, dofs=tuple(first + dof for dof in tendon.dofs))
            for first, one in zip(self.first_dofs, self.articulations)
            for tendon in one.fixed_tendons
        )

    @cached_property
    def mimics(self) -> tuple[Mimic, ...]:
        """All mimic joints, on dofs by their numbers here."""
        return tuple(
            replace(mimic, dofs=tuple(first + dof for dof in mimic.dofs))
            for first, one in zip(self.first_dofs, self.articulations)
            for mimic in one.mimics
        )

    @cached_property
    def spatial_tendons(self) -> tuple[SpatialTendon, ...]:
        """All spatial tendons, on links by their numbers here."""
        return tuple(
            replace(tendon, attachments=tuple(replace(point, link=own[point.link]) for point in tendon.attachments))
            for own, one in self._numbered
            for tendon in one.spatial_tendons
        )

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """All further constraints, between links by their numbers here."""
        numbers = {one.path: own for own, one in self._numbered}
        return tuple(
            _renumbered(one, own, numbers[one.articulation1 or articulation.path])
            for own, articulation in self._numbered
            for one in articulation.constraints
        )

    def constraints_of(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """The further constraints of a kind."""
        return tuple(one for one in self.constraints if isinstance(one, kind))

    @cached_property
    def inbound(self) -> tuple[Joint | None, ...]:
        """The inbound joint of each link; None for the roots of floating trees."""
        joint_of = {joint.child: joint for joint in self.joints}
        return tuple(joint_of.get(link) for link in range(len(self.links)))

    @cached_property
    def bodies(self) -> dict[str, int]:
        """The index of each link that is not massless, by path."""
        return {link.path: number for number, link in enumerate(self.links) if not link.is_massless}

    @cached_property
    def dofs(self) -> tuple[Dof, ...]:
        """All joint dofs, in the order of `joints`."""
        return tuple(dof for joint in self.joints for dof in joint.dofs)

    @property
    def _numbered(self) -> Iterable[tuple[tuple[int, ...], Articulation]]:
        return zip(self.link_numbers, self.articulations)


def _renumbered(constraint: Constraint, own: Sequence[int], last: Sequence[int]) -> Constraint:
    """A constraint between links by the numbers that those of its articulations have in a mechanism."""
    numbers = {name: own for name in constraint.LINKS} | {name: last for name in constraint.LINKS[-1:]}
    links = {name: getattr(constraint, name) for name in constraint.LINKS}
    ends = {name: link if link == WORLD else numbers[name][link] for name, link in links.items()}
    return replace(constraint, articulation1="", **ends)


def joined(articulations: Sequence[Articulation]) -> Articulation | Mechanism:
    """Articulations as one mechanism; a single one is returned unchanged."""
    return articulations[0] if len(articulations) == 1 else Mechanism(tuple(articulations))


def root_pose(articulation: Articulation) -> Pose:
    """Where the root of an articulation is at the start: its link, or the first frame on the world it is joined to."""
    inbound = articulation.inbound
    on_world = next((joint for joint in inbound if joint is not None and joint.parent == WORLD), None)
    return articulation.links[inbound.index(None)].pose if on_world is None else on_world.parent_frame


def mechanisms_of(scene: Scene) -> tuple[tuple[int, ...], ...]:
    """Which articulations form each mechanism of a scene, by their indices, in the order of the first of each."""
    found = Unions(range(len(scene.articulations)))
    for one, other in _joins(scene):
        found.join(one, other)
    return tuple(map(tuple, found.sets()))


def _joins(scene: Scene) -> Iterable[tuple[int, int]]:
    """Pairs of articulations that a constraint joins, or that a scene asks for."""
    number = {one.path: index for index, one in enumerate(scene.articulations)}
    for index, one in enumerate(scene.articulations):
        for constraint in one.constraints:
            if constraint.articulation1:
                yield index, number[constraint.articulation1]
    for paths in scene.mechanisms:
        for path in paths[1:]:
            yield number[paths[0]], number[path]
