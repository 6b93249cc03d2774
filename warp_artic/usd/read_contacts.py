"""Colliders of a stage become pairs of shapes that may touch, which the articulations have as constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.collider import Collider, ContactFilter
from warp_artic.description.contact_mechanisms import FARTHEST, MOST_DOFS, MOST_OWN_PAIRS, MOST_PAIRS
from warp_artic.description.contact_pair import BOUNCE_THRESHOLD
from warp_artic.description.contact_pairs import SIMULATED, FoundPairs, contact_pairs
from warp_artic.description.island_contacts import IslandContacts
from warp_artic.description.mesh_tendon import LinkPoint
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.description.surface import Surface
from warp_artic.description.touching import MOST_PATCHES
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.copies import Copy, is_at_or_below
from warp_artic.usd.inventory import Inventory, owner_of
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_base_motion import moves_over_time, read_base_motion
from warp_artic.usd.read_contact_filter import Groups, read_contact_filter
from warp_artic.usd.read_meshes import Meshes
from warp_artic.usd.read_scene import choose_scene
from warp_artic.usd.read_shape import ShapeReader, place_of
from warp_artic.usd.read_surface import (
    Materials,
    on_collider,
    read_bounce_threshold,
    read_depenetration_speed,
    read_offsets,
    read_rest_offset,
)
from warp_artic.usd.read_surface_velocity import with_surface_velocity

MOST_NAMED = 3
"""How many colliders a sentence names."""


@dataclass(frozen=True)
class Contacts:
    """What is read of the colliders of a stage."""

    colliders: tuple[Collider, ...]
    kept_apart: ContactFilter
    bounce_threshold: float
    """[m/s]"""
    without_material: tuple[str, ...]
    """Paths of colliders for which there is no physics material."""
    soft: tuple[Collider, ...] = ()
    """Those that are elastic bodies, of no kind; they are not among the others."""
    soft_without_material: tuple[str, ...] = ()
    """Paths of those for which there is no physics material."""


class _Reader:
    """Reads the colliders of a stage, one after the other."""

    def __init__(self, groups: Groups, inventory: Inventory, attributes: Attributes, placements: Placements):
        self.groups, self.inventory, self.attributes, self.placements = groups, inventory, attributes, placements
        self.motions: dict[Usd.Prim, BaseMotion | None] = {}

    def read(self, prim: Usd.Prim, body: str, articulation: str, surface: Surface | None) -> list[Collider]:
        """The collider of a prim, for each of its shapes; none where it touches nothing, which is told, or, with an
        error, has no place."""
        inventory, attributes = self.inventory, self.attributes
        path, link = str(prim.GetPath()), inventory.bodies.get(body) if articulation else None
        place = place_of(prim, link, self.placements)
        if place is None:
            return []
        reader = ShapeReader(prim, place, link is None, inventory, attributes)
        kind = reader.kind()
        shapes: Sequence[Shape | None] = [None]
        if kind is ShapeKind.MESH:
            shapes = reader.patches() or [None]
        elif kind in SIMULATED:
            shapes = reader.shapes(kind)
            if shapes == [None]:
                return []
        motion = None
        if body in inventory.held and body not in inventory.foreign:
            motion = self.motion(inventory.held[body])
        owner = owner_of(inventory.bodies.get(body, inventory.held.get(body, prim)), inventory, attributes)
        found = []
        for shape in shapes:
            offsets = (0.0, 0.0) if shape is None else read_offsets(prim, shape, attributes)
            one = Collider(
                path=path,
                kind=kind if shape is None else shape.kind,
                shape=shape,
                body=body,
                articulation=articulation,
                motion=motion,
                surface=on_collider(surface or Surface(), prim, inventory, attributes),
                contact_offset=offsets[0],
                rest_offset=offsets[1],
                depenetration_speed=read_depenetration_speed(link, attributes),
                groups=self.groups.of(path),
                owner=owner if owner in inventory.scenes else next(iter(inventory.scenes), ""),
            )
            found.append(one)
        return found

    def motion(self, body: Usd.Prim) -> BaseMotion | None:
        """How a body moves that is animated, or whose surface moves."""
        if body not in self.motions:
            motion = read_base_motion(body, self.attributes) if moves_over_time(body) else None
            self.motions[body] = with_surface_velocity(motion, body, self.attributes, self.placements)
        return self.motions[body]


def read_contacts(
    articulations: Iterable[Articulation],
    inventory: Inventory,
    copies: Sequence[Copy],
    attributes: Attributes,
    placements: Placements,
) -> Contacts:
    """The colliders of a stage and of its copies, and what keeps them apart."""
    trees = [tree for tree in articulations if tree is not None]
    home = {path: tree.path for tree in trees for path in tree.bodies}
    groups = Groups(inventory, copies, attributes)
    scene = choose_scene(inventory, attributes)
    if scene is not None and not attributes.flag(scene, "mjc:flag:contact", True):
        attributes.report.note("contacts-off", scene.GetPath(), "switches contacts off: nothing touches anything")
        return Contacts((), ContactFilter(), BOUNCE_THRESHOLD, ())
    reader = _Reader(groups, inventory, attributes, placements)
    prims = _acting(inventory, home, attributes)
    materials = Materials(scene, inventory, attributes)
    surfaces = materials.of([prim for prim, _ in prims])
    materials.report_subsets([prim for prim, _ in prims])
    found, bare, soft, bare_soft = [], [], [], []
    for (prim, body), surface in zip(prims, surfaces):
        own = reader.read(prim, body, home.get(body, ""), surface)
        if str(prim.GetPath()) in inventory.elastic_bodies:
            soft += [replace(one, rest_offset=read_rest_offset(prim, attributes)) for one in own]
            bare_soft += own if surface is None else []
            continue
        if own:
            own += _copied(own, surface, copies, reader)
            found += own
            bare += own if surface is None else []
    kept_apart = read_contact_filter(groups, trees, inventory, copies, attributes)
    without, soft_without = (tuple(sorted({one.path for one in those})) for those in (bare, bare_soft))
    threshold = read_bounce_threshold(scene, attributes)
    return Contacts(tuple(found), kept_apart, threshold, without, tuple(soft), soft_without)


def _acting(inventory: Inventory, home: dict[str, str], attributes: Attributes) -> list[tuple[Usd.Prim, str]]:
    """The colliders that touch others, each with the path of its body, which is empty where it has none; triggers are
    none of them."""
    found = []
    for body, group in inventory.colliders.items():
        own = [prim for prim in group if attributes.flag(prim, "physics:collisionEnabled", True)]
        own = [prim for prim in own if not inventory.has_schema(prim, tokens.TRIGGER)]
        prim = inventory.bodies.get(body, inventory.held.get(body))
        if prim is not None and not attributes.flag(prim, "physxRigidBody:solveContact", True):
            continue
        if body in inventory.bodies and body not in home:
            continue  # its tree cannot be read, which is an error
        found += [(one, body) for one in own]
    return found


def _copied(
    own: Sequence[Collider], surface: Surface | None, copies: Sequence[Copy], reader: _Reader
) -> list[Collider]:
    """The colliders of a prim in copies; those that stay where they are have a place of their own in each."""
    found = []
    first = own[0]
    for copy in copies:
        if not is_at_or_below(first.path, copy.like):
            continue
        path, body = copy.path(first.path), first.body and copy.path(first.body)
        if not first.articulation:
            made = reader.read(copy.prim(first.path), body, "", surface)
            motion = first.motion and reader.motion(copy.prim(first.body))
            found += [replace(one, owner=first.owner, motion=motion) for one in made]
            continue
        for one in own:
            moved = replace(
                one,
                path=path,
                body=body,
                articulation=copy.path(one.articulation),
                shape=one.shape and replace(one.shape, path=path),
                groups=reader.groups.of(path),
            )
            found.append(moved)
    return found


def with_contacts(
    articulations: Sequence[Articulation], contacts: Contacts, meshes: Meshes, attributes: Attributes
) -> tuple[list[Articulation], IslandContacts | None]:
    """Articulations with the pairs of shapes that may touch, and contacts of those that are too many to be one
    mechanism; what could touch and does not is reported.

    Args:
        articulations: All of the stage, those of copies included.
        contacts: What is read of its colliders.
        meshes: Elastic bodies and tendons on them: what they are attached to is a mechanism by itself.
        attributes: Of the stage.
    """
    attached = {point.link for body in meshes.elastic_bodies for point in body.attachments}
    attached |= {point.link for one in meshes.mesh_tendons for point in one.waypoints if isinstance(point, LinkPoint)}
    alone = [tree.path for tree in articulations if not attached.isdisjoint(tree.bodies)]
    found = contact_pairs(
        articulations, contacts.colliders, contacts.kept_apart, contacts.bounce_threshold, alone=alone
    )
    _report(found, attributes)
    if found.pairs or found.islands:
        report_materials(contacts.without_material, attributes)
    trees = [
        replace(tree, constraints=(*tree.constraints, *found.pairs[tree.path])) if tree.path in found.pairs else tree
        for tree in articulations
    ]
    return trees, found.islands


def _report(found: FoundPairs, attributes: Attributes) -> None:
    """Report the pairs that pass through each other."""
    if found.untouched:
        kinds = Counter(one.kind.value if one.kind else "other" for one in found.untouched)
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        named = some_of([one.path for one in found.untouched])
        count = count_of(len(found.untouched), "collider")
        text = f"{count} of kinds that do not touch others yet ({told}): {named}; everything passes through them"
        attributes.report.warn("contacts", "/", text)
    if found.passing_count:
        named = some_of([" and ".join(pair) for pair in found.passing], found.passing_count)
        count = count_of(found.passing_count, "pair")
        text = (
            f"{count} of mechanisms, or of one and a mesh, could touch and pass through each other: {named}; what "
            "elastic bodies are attached to, or a kinematic body carries, touches no other mechanism yet, and no mesh "
            f"of more than {MOST_PATCHES} flat patches"
        )
        attributes.report.warn("contact-mechanism", "/", text)
    if found.islands:
        text = (
            f"{count_of(len(found.islands.articulations), 'mechanism')} may touch each other, themselves or fine "
            f"meshes, which is more than are solved as one ({MOST_DOFS} degrees of freedom, {MOST_PAIRS} pairs of "
            f"colliders, {MOST_OWN_PAIRS} of one articulation with itself, {FARTHEST:g} m apart, {MOST_PATCHES} "
            "patches of a mesh): their contacts are solved by sweeps, for each island of what touches"
        )
        attributes.report.note("contact-islands", "/", text)


def report_materials(paths: Sequence[str], attributes: Attributes) -> None:
    """Say which colliders have no physics material."""
    if paths:
        own = Surface()
        text = (
            f"{count_of(len(paths), 'collider')} without a physics material: friction {own.static_friction:g} and "
            f"restitution {own.restitution:g} are taken for {some_of(paths)}"
        )
        attributes.report.note("contact-material", "/", text)


def some_of(names: Sequence[str], count: int | None = None) -> str:
    """Some names, and how many more there are."""
    more = (len(names) if count is None else count) - len(names[:MOST_NAMED])
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def count_of(number: int, noun: str) -> str:
    """How many there are."""
    return f"{number} {noun}{'s' * (number != 1)}"
