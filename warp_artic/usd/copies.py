"""Which prims of a stage are copies of others, so that one is read for all of them.

Below its root, a copy is composed of the very same specs, prim by prim, as the one that is read; the root has opinions
of its own only on its transform. Nothing in a copy leads out of it, nothing outside leads into it, and its bodies have
the same scales. What then differs is where it is, and how its prims are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from pxr import Sdf, Usd, UsdGeom

from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.description.pose import Pose
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes, forwarded_targets
from warp_artic.usd.inventory import Inventory, take_inventory
from warp_artic.usd.placement import Placement, Placements

PLACING = frozenset(
    {
        "specifier",
        "typeName",
        "references",
        "payload",
        "inheritPaths",
        "specializes",
        "variantSelection",
        "variantSetNames",
        "instanceable",
        "kind",
        "documentation",
        "comment",
        "customData",
        "assetInfo",
        "displayName",
        "hidden",
    }
)
"""Fields of a prim spec that say where its content comes from, or nothing about its physics."""
BINDING = "material:binding"
VELOCITIES = ("physics:velocity", "physics:angularVelocity")
SEVERITIES = list(Severity)
FARTHEST = 1e9
"""Coordinates up to which a copy is in reach wherever its parts are [m]."""


@dataclass(frozen=True)
class Family:
    """Equal prims, given by their places in the traversal of the stage."""

    roots: tuple[int, ...]
    """The first one is read."""
    size: int
    """Prims of each, with its root."""


@dataclass(frozen=True)
class Copy:
    """A prim that is not read itself."""

    root: str
    """Its path."""
    like: str
    """The path of the prim that is read for it."""
    prims: list[Usd.Prim]
    """It and those below it."""
    shift: int
    """How much later its prims come in the traversal of the stage."""
    poses: dict[str, Pose]
    """Of its bodies, by the path of the body that is read."""
    colliders: int

    def path(self, path: str) -> str:
        """What a path below the prim that is read is called here."""
        return self.root + path[len(self.like) :]

    def original(self, path: str) -> str:
        """What a path here is called below the prim that is read."""
        return self.like + path[len(self.root) :]

    def prim(self, path: str) -> Usd.Prim:
        """The prim here that is like one that is read."""
        return self.prims[0].GetStage().GetPrimAtPath(self.path(path))


class Places:
    """The places of prims in the traversal of a stage, copies included."""

    def __init__(self, order: dict[str, int], copies: list[Copy]):
        self.order = order
        self.copies = {copy.root: copy for copy in copies}

    def of(self, path: str) -> int:
        """The place of a prim; -1 where there is none."""
        place = self.order.get(path)
        if place is None:
            copy = self.copy_with(path)
            place = self.order.get(copy.original(path)) if copy else None
            return -1 if place is None else place + copy.shift
        return place

    def copy_with(self, path: str) -> Copy | None:
        """The copy that a prim is in."""
        while path and path not in self.copies:
            path = path.rpartition("/")[0]
        return self.copies.get(path)

    def rank(self, finding: Diagnostic) -> tuple:
        """Errors first, then warnings, then notes; of each, those of one prim after those of another."""
        place = self.of(prim_of(finding.path))
        return SEVERITIES.index(finding.severity), place, finding.path, finding.rule, finding.message


def prim_of(name: str) -> str:
    """The path of the prim that a property, or a name with an instance, belongs to."""
    return name.partition(".")[0].partition(":")[0]


def take_inventory_once(
    prims: list[Usd.Prim], families: list[Family], attributes: Attributes, placements: Placements
) -> tuple[Inventory, list[Copy]]:
    """The inventory of the prims of a stage without the copies in families that can be left out, and those copies."""
    while True:
        left_out = frozenset(
            root + offset for family in families for offset in _shared(family, prims) for root in family.roots[1:]
        )
        inventory = take_inventory(prims, attributes, left_out)
        copies: list[Copy] = []
        refused = _crossed(families, prims, inventory, attributes)
        for family in families:
            if family.roots[0] not in refused:
                refused |= _place(family, prims, inventory, placements, copies)
        if not refused:
            for copy in copies:
                inventory.copied_colliders += copy.colliders
            return inventory, copies
        left = (replace(one, roots=tuple(root for root in one.roots if root not in refused)) for one in families)
        families = [family for family in left if len(family.roots) > 1]


def _shared(family: Family, prims: list[Usd.Prim]) -> list[int]:
    """The places in a family of the prims that one is read of: all but physics scenes, which the stage has one of."""
    first = family.roots[0]
    return [offset for offset in range(family.size) if prims[first + offset].GetTypeName() != tokens.SCENE]


def find_families(prims: list[Usd.Prim]) -> list[Family]:
    """The outermost prims that are composed of the same specs as others."""
    stacks = [prim.GetPrimStack() for prim in prims]
    numbers: dict[tuple, int] = {}
    contents = [
        numbers.setdefault((prim.GetName(), *stack, *_times(prim)), len(numbers)) for prim, stack in zip(prims, stacks)
    ]
    places: dict[Sdf.PrimSpec, bool] = {}
    alike: dict[tuple, list[int]] = {}
    for number, (prim, stack) in enumerate(zip(prims, stacks)):
        own = 0
        while own + 1 < len(stack) and _places(stack[own], places):
            own += 1
        if own and not UsdGeom.Xformable(prim).TransformMightBeTimeVarying():
            alike.setdefault((prim.GetTypeName(), *stack[own:]), []).append(number)
    group_of = {number: group for group in alike.values() if len(group) > 1 for number in group}
    fit: dict[Usd.Prim, bool] = {}
    found: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    end = 0
    for number, prim in enumerate(prims):
        if number < end or number not in group_of or not _is_under_nothing(prim.GetParent(), fit):
            continue
        first = group_of[number][0]
        if first not in found and first == number:
            sizes[number] = _size(prims, number)
            found[number] = [number] if _is_still(prims[number : number + sizes[number]]) else []
        if not found.get(first):
            continue
        if first != number:
            if not _is_same(prims, contents, first, number, sizes[first]):
                continue
            found[first].append(number)
        end = number + sizes[first]
    return [Family(tuple(roots), sizes[first]) for first, roots in found.items() if len(roots) > 1]


def _times(prim: Usd.Prim) -> tuple:
    """How the times of each spec of an animation become those of the stage; all else in a copy stays."""
    if prim.GetTypeName() != "SkelAnimation":
        return ()
    return tuple((offset.offset, offset.scale) for _, offset in prim.GetPrimStackWithLayerOffsets())


def _places(spec: Sdf.PrimSpec, known: dict[Sdf.PrimSpec, bool]) -> bool:
    """Whether a spec says no more of its prim than what it is made of and where it is."""
    if spec not in known:
        properties = list(spec.properties)
        if None in properties:  # in a damaged layer
            known[spec] = False
            return False
        names = [name.rpartition(".")[2] for name in map(str, (one.path for one in properties))]
        known[spec] = PLACING.issuperset(spec.ListInfoKeys()) and all(name.startswith("xformOp") for name in names)
    return known[spec]


def _is_under_nothing(prim: Usd.Prim, known: dict[Usd.Prim, bool]) -> bool:
    """Whether a prim and those above it pass nothing on to those below but their transform."""
    if prim.IsPseudoRoot():
        return True
    if prim not in known:
        schemas = set(prim.GetPrimTypeInfo().GetAppliedAPISchemas())
        passes_on = (
            not schemas.isdisjoint((tokens.RIGID_BODY, *tokens.ARTICULATION_ROOTS))
            or any(name.startswith((BINDING, "skel:")) for name in prim.GetAuthoredPropertyNames())
            or prim.HasAuthoredMetadata("clips")
        )
        known[prim] = not passes_on and _is_under_nothing(prim.GetParent(), known)
    return known[prim]


def is_at_or_below(path: str, root: str) -> bool:
    """Whether a prim is another one, or below it."""
    return path == root or path.startswith(root + "/")


def _size(prims: list[Usd.Prim], root: int) -> int:
    """How many prims there are at and below one."""
    path, end = prims[root].GetPath(), root + 1
    while end < len(prims) and prims[end].GetPath().HasPrefix(path):
        end += 1
    return end - root


def _is_same(prims: list[Usd.Prim], contents: list[int], first: int, other: int, size: int) -> bool:
    """Whether all prims below two roots are composed of the same specs."""
    end = other + size
    if contents[first + 1 : first + size] != contents[other + 1 : end]:
        return False
    return end >= len(prims) or not prims[end].GetPath().HasPrefix(prims[other].GetPath())


def _is_still(prims: list[Usd.Prim]) -> bool:
    """Whether nothing at or below a prim is animated, and nothing below it leaves the transform above it.

    An animation of a skeleton, which moves nothing by itself, may be there: copies have the same one.
    """
    for number, prim in enumerate(prims):
        if prim.GetTypeName() == "SkelAnimation":
            continue
        if any(attribute.ValueMightBeTimeVarying() for attribute in prim.GetAuthoredAttributes()):
            return False
        xformable = UsdGeom.Xformable(prim)
        if number and xformable and xformable.GetResetXformStack():
            return False
    return True


def _crossed(families: list[Family], prims: list[Usd.Prim], inventory: Inventory, attributes: Attributes) -> set[int]:
    """The roots that something leads out of or into, and those with velocities, axes locked in the world, joints
    that stack, or meshes that deform."""
    root_of = {str(prims[root].GetPath()): root for family in families for root in family.roots}
    family_of = {root: family for family in families for root in family.roots}

    def home(path: str) -> int | None:
        while path and path not in root_of:
            path = path.rpartition("/")[0]
        return root_of.get(path)

    refused: set[int] = set()
    if not families:
        return refused
    meshes = (*inventory.elastic_bodies, *inventory.mesh_tendons)
    for path in (*_beside_others(inventory, attributes), *meshes):
        if (own := home(path)) is not None:
            refused.update(family_of[own].roots)
    for prim in inventory.all_prims():
        own = home(str(prim.GetPath()))
        if own is not None and (_moves(prim, attributes) or not attributes.names(prim).isdisjoint(tokens.LOCKED_AXES)):
            refused.update(family_of[own].roots)
        for target in _targets(prim, attributes):
            other = home(target)
            if other != own:
                refused.update(() if own is None else family_of[own].roots)
                refused.update(() if other is None else (other,))
    return refused


def _beside_others(inventory: Inventory, attributes: Attributes) -> list[str]:
    """The joints between two bodies, or a body and the world, that another joint is between as well: they may stack."""
    found: dict[tuple, list[str]] = {}
    for path, prim in inventory.joints.items():
        targets = [map(str, attributes.targets(prim, f"physics:body{side}")) for side in (0, 1)]
        ends = tuple(next(map(inventory.body_of.get, side), None) for side in targets)
        found.setdefault(ends, []).append(path)
    return [path for paths in found.values() if len(paths) > 1 for path in paths]


def _moves(prim: Usd.Prim, attributes: Attributes) -> bool:
    """Whether a body has an authored velocity."""
    names = attributes.names(prim).intersection(VELOCITIES)
    return any(any(attributes.vector(prim, name, (0.0, 0.0, 0.0))) for name in names)


def _targets(prim: Usd.Prim, attributes: Attributes) -> Iterator[str]:
    """The prims that the relationships of a prim lead to, of those that are read."""
    for name in attributes.names(prim):
        if name.startswith((*tokens.NAMESPACES, BINDING)):
            yield from (str(target.GetPrimPath()) for target in forwarded_targets(prim, name) or ())


def _place(
    family: Family, prims: list[Usd.Prim], inventory: Inventory, placements: Placements, copies: list[Copy]
) -> set[int]:
    """Add the copies of a family; those without the same scales are given back."""
    first = family.roots[0]
    like = str(prims[first].GetPath())
    bodies = [path for path in inventory.bodies if is_at_or_below(path, like)]
    colliders = sum(
        is_at_or_below(str(prim.GetPath()), like) for group in inventory.colliders.values() for prim in group
    )
    offsets = [inventory.order[path] - first for path in bodies]
    placements.place(inventory.bodies[path] for path in bodies)
    own = [placements.known[inventory.bodies[path]] for path in bodies]
    if None in own:
        return set(family.roots)
    scales = np.array([placement.scale for placement in own]).reshape(-1, 3)
    found = placements.many([prims[root + offset] for root in family.roots[1:] for offset in offsets])
    refused = set()
    for number, root in enumerate(family.roots[1:]):
        here = slice(number * len(bodies), (number + 1) * len(bodies))
        poses, scale, reach = (part[here] for part in found)
        is_near = not len(bodies) or reach.max() <= FARTHEST
        if not placements.is_turned(prims[root]) or not is_near or not np.array_equal(scale, scales):
            refused.add(root)
            continue
        placed = [Placement(pose, placement.scale) for pose, placement in zip(poses, own)]
        placements.known.update((prims[root + offset], one) for offset, one in zip(offsets, placed))
        copies.append(
            Copy(
                str(prims[root].GetPath()),
                like,
                prims[root : root + family.size],
                root - first,
                dict(zip(bodies, poses)),
                colliders,
            )
        )
    return refused
