"""What keeps colliders apart: joints between their bodies, filtered pairs, self-collision, and collision groups.

    joint                  its two bodies, unless physics:collisionEnabled is on; one that breaks, until then
    filteredPairs          the prim that has them and those they lead to: colliders, bodies, articulations
    self-collision off     all links of an articulation
    collision group        its colliders and those of its filteredGroups; inverted, of all other groups
The colliders of a group are those of its collection, by relationships, or where it has none by its expression. Groups
with the same mergeGroup are one. `physxScene:invertCollisionGroupFilter` inverts all groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.collider import CollisionGroup, ContactFilter
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.copies import Copy, is_at_or_below
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.read_mjc_equalities import why_disabled

FILTERED_PAIRS = "physics:filteredPairs"
FILTERED_GROUPS = "physics:filteredGroups"
SELF_COLLISION = ("newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions")
"""On an articulation root, in order of priority."""
COLLIDERS = "collection:colliders:"
EXPRESSION = f"{COLLIDERS}membershipExpression"
EXPAND = ("expandPrims", "expandPrimsAndProperties")


class Groups:
    """The collision groups of a stage, and which colliders are in them."""

    def __init__(self, inventory: Inventory, copies: Sequence[Copy], attributes: Attributes):
        self.groups: list[CollisionGroup] = []
        self.rules: dict[str, list[tuple[str, str]]] = {}
        """By the path of a prim the groups whose collections name it, and what they say of it and those below it."""
        self.queries: list[tuple[str, Usd.UsdCollectionMembershipQuery]] = []
        """Groups whose collections are expressions, with their membership queries."""
        is_inverted = any(
            attributes.flag(scene, "physxScene:invertCollisionGroupFilter", False)
            for scene in inventory.scenes.values()
        )
        own = [prim for prim in inventory.others.values() if prim.GetTypeName() == tokens.COLLISION_GROUP]
        for prim in (*own, *(prim for one in own for prim in _with_copies(one, copies))):
            self._read(prim, is_inverted, attributes)
        paths = {group.path for group in self.groups}
        for prim in own:
            _report_targets(prim, paths, attributes)

    def _read(self, prim: Usd.Prim, is_inverted: bool, attributes: Attributes) -> None:
        path = str(prim.GetPath())
        filtered = attributes.targets(prim, FILTERED_GROUPS)
        attributes.pass_over(prim, COLLIDERS)
        self.groups.append(
            CollisionGroup(
                path=path,
                filtered=frozenset(map(str, filtered)),
                is_inverted=attributes.flag(prim, "physics:invertFilteredGroups", False) != is_inverted,
                merged=attributes.text(prim, "physics:mergeGroup"),
            )
        )
        try:
            query = Usd.CollectionAPI(prim, "colliders").ComputeMembershipQuery()
            is_expression, rules = not query.UsesPathExpansionRuleMap(), query.GetAsPathExpansionRuleMap()
        except Exception:  # a damaged collection; what pxr raises differs between releases
            attributes.report.error("contact-filter", path, "its collection of colliders cannot be read")
            return
        if is_expression:
            self.queries.append((path, query))
        elif EXPRESSION in attributes.names(prim):
            text = "has no effect: the collection includes prims by relationships, which count alone"
            attributes.report.warn("contact-filter", f"{path}.{EXPRESSION}", text)
        for place, rule in rules.items():
            self.rules.setdefault(str(place), []).append((path, str(rule)))

    def of(self, collider: str) -> frozenset[str]:
        """The groups that a collider is in: of relationships the rule of the nearest prim at or above counts."""
        by_expression = {group for group, query in self.queries if query.IsPathIncluded(collider)}
        if not self.rules:
            return frozenset(by_expression)
        decided: dict[str, bool] = {}
        place = collider
        while True:
            for group, rule in self.rules.get(place or "/", ()):
                if rule in EXPAND or rule == "exclude" or place == collider:
                    decided.setdefault(group, rule != "exclude")
            if not place:
                return frozenset(by_expression.union(group for group, is_in in decided.items() if is_in))
            place = place.rpartition("/")[0]


def read_contact_filter(
    groups: Groups,
    articulations: Iterable[Articulation],
    inventory: Inventory,
    copies: Sequence[Copy],
    attributes: Attributes,
) -> ContactFilter:
    """What keeps colliders apart, on the stage and in its copies."""
    articulations = list(articulations)
    trees = _trees_of_roots(articulations, inventory)
    breakable = {one.name for tree in articulations for one in tree.constraints_of(LoopJoint) if one.is_breakable}
    apart, joined = set(), {}
    for path, pair in _joined(inventory, attributes):
        if path in breakable:
            joined.setdefault(pair, set()).add(path)
        else:
            apart.add(pair)
    apart.update(_filtered(inventory, copies, trees, attributes))
    for root, prim in inventory.roots.items():
        if not collides_with_itself(prim, attributes):
            apart.update(frozenset((tree,)) for tree in trees.get(root, ()))
    own = {
        like: [pair for pair in (*apart, *joined) if all(is_at_or_below(name, like) for name in pair)]
        for like in {copy.like for copy in copies}
    }
    for copy in copies:
        for pair in own[copy.like]:
            made = frozenset(map(copy.path, pair))
            if pair in apart:
                apart.add(made)
            if pair in joined:
                joined[made] = set(map(copy.path, joined[pair]))
    until = tuple((pair, frozenset(joints)) for pair, joints in joined.items())
    return ContactFilter(groups=tuple(groups.groups), apart=frozenset(apart), joined=until)


def collides_with_itself(root: Usd.Prim, attributes: Attributes) -> bool:
    """Whether links of an articulation touch each other, where no joint joins them."""
    names = sorted(
        (name for name in SELF_COLLISION if name in attributes.names(root)),
        key=attributes.rank,
    )
    values = [attributes.flag(root, name, True) for name in names]
    if len(set(values)) > 1:
        text = f"is {values[1]}, but {names[0]} is {values[0]}, which is used"
        attributes.report.warn("dialects-differ", f"{root.GetPath()}.{names[1]}", text)
    return values[0] if values else True


def _report_targets(group: Usd.Prim, groups: set[str], attributes: Attributes) -> None:
    """Say which relationships of a collision group lead to nothing that they could mean."""
    stage, path = group.GetStage(), group.GetPath()
    for target in attributes.targets(group, FILTERED_GROUPS):
        if str(target) not in groups:
            text = f"leads to {target}, which is no collision group: it has no effect"
            attributes.report.warn("contact-filter", f"{path}.{FILTERED_GROUPS}", text)
    for name in (f"{COLLIDERS}includes", f"{COLLIDERS}excludes"):
        for target in attributes.targets(group, name):
            if not stage.GetPrimAtPath(target.GetPrimPath()):
                text = f"leads to {target}, which does not exist: it has no effect"
                attributes.report.warn("contact-filter", f"{path}.{name}", text)


def _with_copies(prim: Usd.Prim, copies: Sequence[Copy]) -> Iterator[Usd.Prim]:
    """The prims in copies that are like one that is read."""
    path = str(prim.GetPath())
    return (copy.prim(path) for copy in copies if is_at_or_below(path, copy.like))


def _trees_of_roots(articulations: Iterable[Articulation], inventory: Inventory) -> dict[str, list[str]]:
    """The paths of the articulations of each root: at it, or with links below it."""
    found: dict[str, list[str]] = {}
    for tree in articulations:
        place = tree.path if tree.path in inventory.roots else tree.links[0].path
        while place and place not in inventory.roots:
            place = place.rpartition("/")[0]
        if place:
            found.setdefault(place, []).append(tree.path)
    return found


def _joined(inventory: Inventory, attributes: Attributes) -> Iterator[tuple[str, frozenset[str]]]:
    """The joints that do not let their bodies touch, by path, with these, or colliders of none."""
    for prim in inventory.joints.values():
        if why_disabled(prim, inventory, attributes) or attributes.flag(prim, "physics:collisionEnabled", False):
            continue
        ends = [[str(path) for path in attributes.targets(prim, f"physics:body{side}")] for side in (0, 1)]
        names = [inventory.body_of.get(end[0], end[0]) for end in ends if end]
        if len(set(names)) == 2:
            yield str(prim.GetPath()), frozenset(names)


def _filtered(
    inventory: Inventory, copies: Sequence[Copy], trees: dict[str, list[str]], attributes: Attributes
) -> Iterator[frozenset[str]]:
    """The names in filtered pairs; those of an articulation root are all articulations of it."""
    colliders = {str(prim.GetPath()) for group in inventory.colliders.values() for prim in group}
    known = {*colliders, *inventory.bodies, *inventory.held, *inventory.roots}

    def names(path: str) -> list[str]:
        return [path, *trees.get(path, ())]

    for prim in inventory.all_prims():
        if FILTERED_PAIRS not in attributes.names(prim):
            continue
        own = str(prim.GetPath())
        for target in map(str, attributes.targets(prim, FILTERED_PAIRS)):
            copy = next((one for one in copies if is_at_or_below(target, one.root)), None)
            wrong = [path for path in (own, copy.original(target) if copy else target) if path not in known]
            if wrong:
                text = f"keeps {own} and {target} apart, but {wrong[0]} is no collider, rigid body or articulation root"
                attributes.report.warn("contact-filter", f"{own}.{FILTERED_PAIRS}", f"{text}: it has no effect")
                continue
            yield from (frozenset((one, other)) for one in names(own) for other in names(target))
