"""Which pairs of colliders are simulated, and which could touch and are not.

Two colliders may touch where one can move against the other: not on one link, nor on links without a free joint
between them, nor both on what stays or is moved from outside. Joints, filters, groups and scenes keep them apart, and
so does their reach; joints that break do so until then.
Articulations that may touch become one mechanism, or are solved island by island (`contact_mechanisms`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from warp_artic.description.articulation import Articulation
from warp_artic.description.base_motion import AT_REST
from warp_artic.description.collider import Collider, ContactFilter
from warp_artic.description.contact_mechanisms import ContactMechanisms
from warp_artic.description.contact_pair import BOUNCE_THRESHOLD, ContactPair
from warp_artic.description.island_contacts import IslandContacts
from warp_artic.description.shape import ShapeKind
from warp_artic.description.surface import combined
from warp_artic.description.touching import STATIC, Touching

SIMULATED = frozenset(ShapeKind) - {ShapeKind.MESH}
"""Kinds of shapes that touch each other; two planes never do."""


@dataclass(frozen=True, kw_only=True)
class FoundPairs:
    """The pairs of colliders of a scene."""

    pairs: dict[str, list[ContactPair]] = field(default_factory=dict)
    """By the path of the articulation that has them, in the order of their shapes."""
    islands: IslandContacts | None = None
    """Colliders whose contacts are found and solved in each step, if there are any."""
    passing: list[tuple[str, str]] = field(default_factory=list)
    """Some pairs of articulations that could touch, by their paths, and pass through each other."""
    passing_count: int = 0
    """How many such pairs there are."""
    untouched: list[Collider] = field(default_factory=list)
    """Colliders of kinds that are not simulated, and that something could touch."""


def contact_pairs(
    articulations: Sequence[Articulation],
    colliders: Sequence[Collider],
    kept_apart: ContactFilter,
    bounce_threshold: float = BOUNCE_THRESHOLD,
    alone: Collection[str] = (),
) -> FoundPairs:
    """The pairs of colliders that may touch.

    Args:
        articulations: All of the scene, with the constraints that join some of them already.
        colliders: All of the scene.
        kept_apart: What never touches.
        bounce_threshold: Of all pairs [m/s].
        alone: Paths of articulations that must be mechanisms by themselves; those that a kinematic body carries must
            too.
    """
    touching = Touching(articulations, colliders, kept_apart)
    paths = {one.path: number for number, one in enumerate(articulations)}
    carried = {number for number, one in enumerate(articulations) if one.base_motion is not None}
    mechanisms = ContactMechanisms(articulations, touching, {paths[path] for path in alone} | carried)
    found: dict[str, list[ContactPair]] = {}
    in_islands = set(mechanisms.in_islands)
    for group in mechanisms.groups:
        if not in_islands.isdisjoint(group):
            continue
        for place, one in enumerate(group):
            own = touching.of[one]
            static = touching.of[STATIC]
            if one in mechanisms.left_out:
                fine = mechanisms.left_out[one]
                static = static[[touching.colliders[number].path not in fine for number in static]]
            pairs = touching.pairs(own, own) + touching.pairs(static, own)
            for other in group[place + 1 :]:
                pairs += touching.pairs(own, touching.of[other])
            for pair in pairs:
                made, home = _pair(touching, pair, articulations, bounce_threshold)
                found.setdefault(home, []).append(made)
    for home, pairs in found.items():
        pairs.sort(key=lambda pair: (pair.shape0.path, pair.shape1.path))
        found[home] = _numbered(pairs)
    return FoundPairs(
        pairs=found,
        islands=_islands(touching, mechanisms.in_islands, kept_apart, bounce_threshold),
        passing=[
            *((articulations[one].path, articulations[other].path) for one, other in mechanisms.passing),
            *((articulations[one].path, mesh) for one, own in mechanisms.left_out.items() for mesh in sorted(own)),
        ],
        passing_count=mechanisms.passing_count,
        untouched=_untouched(colliders, kept_apart),
    )


def _islands(
    touching: Touching, articulations: Sequence[int], kept_apart: ContactFilter, bounce_threshold: float
) -> IslandContacts | None:
    """The colliders of some articulations, and those that stay where they are."""
    if not articulations:
        return None
    own = sorted(number for one in (STATIC, *articulations) for number in touching.of[one].tolist())
    colliders = tuple(touching.colliders[number] for number in own)
    return IslandContacts(colliders=colliders, kept_apart=kept_apart, bounce_threshold=bounce_threshold)


def _pair(
    touching: Touching, pair: tuple[int, int], articulations: Sequence[Articulation], bounce_threshold: float
) -> tuple[ContactPair, str]:
    """A contact pair, and the path of the articulation that has it: that of its first link, or of the one that moves.

    The shape of the world comes first, else the one whose path comes first.
    """
    first, second = sorted(pair, key=lambda number: (touching.home[number] != STATIC, number))
    one, other = touching.colliders[first], touching.colliders[second]
    homes = [articulations[touching.home[number]].path for number in (first, second) if touching.home[number] != STATIC]
    surface = combined(one.surface, other.surface)
    keepers = touching.kept_apart.keepers(one.names, other.names)
    is_carried = touching.home[first] == STATIC and articulations[touching.home[second]].base_motion is not None
    made = ContactPair(
        name=f"{one.path}:{other.path}",
        link0=int(touching.links[first]),
        link1=int(touching.links[second]),
        articulation1=homes[-1] if homes[-1] != homes[0] else "",
        shape0=one.shape,
        shape1=other.shape,
        motion0=one.motion or (AT_REST if is_carried else None),
        bounce_threshold=bounce_threshold,
        rest_distance=one.rest_offset + other.rest_offset,
        contact_distance=one.contact_offset + other.contact_offset,
        depenetration_speed=min(one.depenetration_speed, other.depenetration_speed),
        static_friction=surface.static_friction,
        dynamic_friction=surface.dynamic_friction,
        torsional_friction=surface.torsional_friction,
        rolling_friction=surface.rolling_friction,
        restitution=surface.restitution,
        stiffness=surface.stiffness,
        damping=surface.damping,
        keepers=keepers,
    )
    return made, homes[0]


def _numbered(pairs: list[ContactPair]) -> list[ContactPair]:
    """The pairs with names of their own: from the second on, those of two colliders of several shapes have numbers."""
    counts: dict[str, int] = {}
    made = []
    for pair in pairs:
        number = counts[pair.name] = counts.get(pair.name, 0) + 1
        made.append(replace(pair, name=f"{pair.name}:{number}") if number > 1 else pair)
    return made


def _untouched(colliders: Sequence[Collider], kept_apart: ContactFilter) -> list[Collider]:
    """Colliders of kinds that are not simulated, and that one of another body could touch, if one of the two moves."""
    kinds: dict[tuple[frozenset[str], str, bool], list[Collider]] = {}
    for one in colliders:
        own = kinds.setdefault((one.groups, one.owner, bool(one.articulation)), [])
        if len(own) < 2 and all(one.body != other.body for other in own):
            own.append(one)
    sets = {groups: number for number, groups in enumerate({groups: None for groups, _, _ in kinds})}
    blocked = kept_apart.blocked(list(sets))

    def could_touch(one: Collider, other: Collider) -> bool:
        moves = bool(one.articulation or other.articulation)
        is_of_one = one.body == other.body and bool(one.articulation)
        is_blocked = one.owner != other.owner or blocked[sets[one.groups], sets[other.groups]]
        return moves and not is_of_one and not is_blocked and not kept_apart.are_apart(one.names, other.names)

    return [
        one
        for one in sorted(colliders, key=lambda one: one.path)
        if one.shape is None and any(could_touch(one, other) for own in kinds.values() for other in own)
    ]
