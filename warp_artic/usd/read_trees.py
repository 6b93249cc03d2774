"""Which bodies and joints make which articulation.

Trees that a gear or a mimic joint couples are one, where the same holds all of them, the world or a kinematic body that
moves, and where they have no articulation roots of their own: of these each is an articulation by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pxr import Usd

from warp_artic.description.joint import WORLD
from warp_artic.description.spanning_forest import Edge, Tree, components, edges_by_body, loop_edges, span_by_weight
from warp_artic.description.unions import Unions
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.read_base_motion import moves_over_time
from warp_artic.usd.read_break import is_breakable
from warp_artic.usd.read_gears import geared_joints
from warp_artic.usd.read_mimic import followed_joints
from warp_artic.usd.read_scales import is_scaled
from warp_artic.usd.stacked_joints import find_stacks

ACTING = frozenset(
    (
        tokens.DRIVE,
        tokens.ARTIC_DRIVE,
        tokens.ARTIC_MIMIC,
        tokens.PHYSX_MIMIC,
        tokens.NEWTON_MIMIC,
        tokens.MJC_EQUALITY,
        tokens.TENDON_AXIS,
        tokens.TENDON_AXIS_ROOT,
    )
)
"""Schemas of joints that are driven, or coupled to others."""
LIMITING = frozenset((tokens.LIMIT, tokens.PHYSX_LIMIT, tokens.JOINT_STATE, tokens.ARTIC_JOINT))
"""Schemas of joints with limits or states."""


@dataclass
class TreePlan:
    """An articulation before its links and joints are read; bodies and edges by index."""

    path: str
    settings: Usd.Prim
    """The prim with the iteration counts."""
    tree: Tree
    stacks: dict[int, tuple[int, ...]]
    """The edges of joints that stack, by the edge that is the branch."""

    @property
    def loops(self) -> list[int]:
        """The edges that close loops."""
        stacked = {edge for stack in self.stacks.values() for edge in stack}
        return [edge for edge in self.tree.closing if edge not in stacked]


@dataclass
class _Mark:
    """What articulation roots say about one component."""

    roots: list[str] = field(default_factory=list)
    body: int | None = None
    edge: int | None = None
    enabled: bool = True


def split_between_roots(
    joints: list[JointEnds], inventory: Inventory, attributes: Attributes
) -> tuple[list[JointEnds], list[JointEnds]]:
    """The joints that can be branches of trees, and those between bodies of two articulation roots, which are told."""
    root_of = _roots_of_bodies(joints, inventory)
    own, between = [], []
    for ends in joints:
        first, second = (root_of.get(end.body) for end in (ends.end0, ends.end1))
        apart = first is not None and second is not None and first != second
        if apart and not _is_above(first, second) and not _is_above(second, first):
            text = f"joins the articulations {first} and {second}: it is held between their trees"
            attributes.report.note("joint-between", ends.path, text)
            between.append(ends)
        else:
            own.append(ends)
    return own, between


def split_beside(joints: list[JointEnds], attributes: Attributes) -> tuple[list[JointEnds], list[JointEnds]]:
    """The joints that can be branches of trees, and those that cannot, which are told: that break, or scale masses."""
    own, beside = [], []
    for ends in joints:
        if is_breakable(ends.prim, attributes):
            text = "breaks where it transmits too much: it is held beside the trees"
            attributes.report.note("joint-breaks", ends.path, text)
            beside.append(ends)
        elif is_scaled(ends.prim, attributes):
            text = "scales masses or inertias of its bodies: it is held beside the trees"
            attributes.report.note("joint-scales", ends.path, text)
            beside.append(ends)
        else:
            own.append(ends)
    return own, beside


def _roots_of_bodies(joints: list[JointEnds], inventory: Inventory) -> dict[str, str]:
    """The articulation root of each body that has one: on it, on a joint of it to the world, or above it."""
    found: dict[str, str] = {}
    for path in inventory.bodies:
        root = next((one for one in (path, *reversed(_above(path))) if one in inventory.roots), None)
        if root is not None:
            found[path] = root
    for ends in joints:
        bodies = [end.body for end in (ends.end0, ends.end1) if end.body is not None]
        if ends.path in inventory.roots and len(bodies) == 1:
            found[bodies[0]] = ends.path
    return found


def plan_trees(
    joints: list[JointEnds], inventory: Inventory, attributes: Attributes, beside: Sequence[JointEnds] = ()
) -> list[TreePlan]:
    """The trees of a stage; bodies are numbered as in `inventory.bodies`, edges as in `joints`.

    Joints beside the trees may be articulation roots, though they are in none.
    """
    index = {path: number for number, path in enumerate(inventory.bodies)}
    edges = [Edge(index.get(ends.end0.body, WORLD), index.get(ends.end1.body, WORLD)) for ends in joints]
    groups = components(len(index), edges)
    apart = {ends.path: {index[end.body] for end in (ends.end0, ends.end1) if end.body in index} for ends in beside}
    marks = _read_marks(groups, index, edges, joints, apart, inventory, attributes)
    couplings = geared_joints(inventory, attributes)
    geared = {path for coupled in couplings for path in coupled}
    couplings += [(ends.path, *followed_joints(ends.prim, inventory, attributes)) for ends in joints]
    groups, marks = _with_coupled(groups, marks, edges, joints, couplings, inventory)
    plans, taken = [], set()
    paths, touching = list(index), edges_by_body(edges)
    for group, mark in zip(groups, marks):
        own = sorted({edge for body in group for edge in touching.get(body, ())})
        wanted = {edge: _weight(joints[edge].prim, geared, inventory, attributes) for edge in own}
        tree = span_by_weight(group, edges, mark.body, mark.edge, wanted)
        root = paths[tree.root]
        path = mark.roots[0] if mark.roots and mark.roots[0] not in taken else root
        taken.add(path)
        stacks = find_stacks(tree, edges, joints, mark.roots, inventory, attributes)
        _report(tree, stacks, edges, root, mark, joints, attributes)
        settings = inventory.roots[mark.roots[0]] if mark.roots else inventory.bodies[root]
        plans.append(TreePlan(path, settings, tree, stacks))
    return plans


def _with_coupled(
    groups: list[tuple[int, ...]],
    marks: list[_Mark],
    edges: list[Edge],
    joints: list[JointEnds],
    couplings: list[tuple[str, ...]],
    inventory: Inventory,
) -> tuple[list[tuple[int, ...]], list[_Mark]]:
    """The components, those as one that are to be one articulation by what couples their joints."""
    group_of = {body: number for number, group in enumerate(groups) for body in group}
    own = {ends.path: max(map(group_of.get, {edge.body0, edge.body1} - {WORLD})) for edge, ends in zip(edges, joints)}
    coupled = (sorted({own[path] for path in paths if path in own}) for paths in couplings)
    crossing = [numbers for numbers in coupled if len(numbers) > 1]
    if not crossing:
        return groups, marks
    holders: list[set[str | None]] = [set() for _ in groups]
    for edge, ends in zip(edges, joints):
        if WORLD in (edge.body0, edge.body1):
            moves = ends.carrier is not None and moves_over_time(inventory.held[ends.carrier])
            holders[own[ends.path]].add(ends.carrier if moves else None)
    marks, sets = list(marks), Unions(range(len(groups)))
    for first, other in ((numbers[0], other) for numbers in crossing for other in numbers[1:]):
        one, two = sorted((sets.find(first), sets.find(other)))
        is_held_alike = holders[one] == holders[two] and len(holders[one]) == 1
        if is_held_alike and (marks[one].roots == marks[two].roots or not (marks[one].roots and marks[two].roots)):
            sets.join(one, two)
            marks[one] = marks[one] if marks[one].roots else marks[two]
    found = [tuple(sorted(body for number in own for body in groups[number])) for own in sets.sets()]
    return found, [marks[own[0]] for own in sets.sets()]


def find_torn_trees(
    plans: list[TreePlan], joints: list[JointEnds], inventory: Inventory, attributes: Attributes
) -> None:
    """Note which bodies and joints are in which tree, and which trees a refused joint may have joined to others.

    These are the trees of the bodies that it names; where it names none that there is, all. A joint to the world joins
    no trees.
    """
    if not inventory.refused_joints:
        return
    bodies = list(inventory.bodies)
    for number, plan in enumerate(plans):
        edges = {branch.edge for branch in plan.tree.branches}.union(*plan.stacks.values())
        members = [*(bodies[body] for body in plan.tree.bodies), *(joints[edge].path for edge in edges)]
        inventory.tree_of.update(dict.fromkeys(members, number))
    for path in inventory.refused_joints:
        ends = [attributes.targets(inventory.joints[path], f"physics:body{side}") for side in (0, 1)]
        if not all(ends):
            continue
        named = {inventory.body_of.get(str(target)) for targets in ends for target in targets}
        own = {inventory.tree_of[body] for body in named if body in inventory.tree_of}
        inventory.torn_trees |= own or set(range(len(plans)))


def _weight(prim: Usd.Prim, geared: frozenset[str], inventory: Inventory, attributes: Attributes) -> int:
    """How much a joint is wanted as a branch: 2 if it is driven or coupled to others, 1 if it is limited, else 0."""
    schemas = {schema.partition(":")[0] for schema in inventory.schemas.get(str(prim.GetPath()), ())}
    if not schemas.isdisjoint(ACTING) or str(prim.GetPath()) in geared:
        return 2
    names = attributes.names(prim)
    is_limited = not schemas.isdisjoint(LIMITING) or not names.isdisjoint(("physics:lowerLimit", "physics:upperLimit"))
    return int(is_limited)


def _read_marks(groups, index, edges, joints, apart, inventory: Inventory, attributes: Attributes) -> list[_Mark]:
    """What the articulation roots of a stage say about each component; `apart` has the bodies of joints in no tree."""
    marks = [_Mark() for _ in groups]
    group_of = {body: number for number, group in enumerate(groups) for body in group}
    edge_of = {ends.path: number for number, ends in enumerate(joints)}
    below = _members_below(index, edges, inventory)
    _refuse_nested(inventory, attributes)
    for path, prim in inventory.roots.items():
        body = index.get(path)
        edge = edge_of.get(path)
        if body is not None:
            members = {body}
        elif edge is not None:
            members = {edges[edge].body0, edges[edge].body1} - {WORLD}
        elif path in apart:
            members = apart[path]
        else:
            members = below[path]
        if not members:
            text = "is an articulation root without a rigid body that moves, or with a joint of none: it has no effect"
            attributes.report.warn("articulation-empty", path, text)
        for number in sorted({group_of[member] for member in members}):
            # A joint beside the trees may join two of them, and is the root of both.
            start = min(members.intersection(groups[number])) if path in apart else body
            _mark(marks[number], path, prim, start, edge, attributes)
    return marks


def _members_below(index: dict[str, int], edges: list[Edge], inventory: Inventory) -> dict[str, set[int]]:
    """Bodies below each articulation root: those with joints, or all where none has one."""
    joined = {body for edge in edges for body in (edge.body0, edge.body1)}
    below: dict[str, set[int]] = {path: set() for path in inventory.roots}
    for path, number in index.items():
        for root in _above(path):
            if root in below:
                below[root].add(number)
    return {root: members & joined or members for root, members in below.items()}


def _mark(mark: _Mark, path: str, prim: Usd.Prim, body: int | None, edge: int | None, attributes: Attributes) -> None:
    if mark.roots and not any(_is_above(one, path) or _is_above(path, one) for one in mark.roots):
        text = f"is joined to the articulation {mark.roots[0]}: a body can be in one articulation only"
        attributes.report.error("articulation-two", path, text)
    mark.roots.append(path)
    mark.body = body if mark.body is None else mark.body
    mark.edge = edge if mark.edge is None else mark.edge
    if not attributes.flag(prim, "physxArticulation:articulationEnabled", True):
        mark.enabled = False
        text = "the articulation is disabled: its bodies and joints are simulated as a tree all the same"
        attributes.report.note("articulation-disabled", path, text)


def _refuse_nested(inventory: Inventory, attributes: Attributes) -> None:
    for inner in inventory.roots:
        outer = [path for path in _above(inner) if path in inventory.roots]
        if outer:
            text = f"is an articulation root below another one, {outer[0]}; remove one of the two"
            attributes.report.error("articulation-nested", inner, text)


def _above(path: str) -> list[str]:
    """The paths of the prims above one, from the outermost on."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(2, len(parts))]


def _is_above(path: str, other: str) -> bool:
    return other.startswith(path + "/")


def _report(tree: Tree, stacks, edges, root: str, mark: _Mark, joints: list[JointEnds], attributes: Attributes) -> None:
    """Say how a tree was made where that was not authored, and which joints are not in it."""
    stacked = {edge for stack in stacks.values() for edge in stack}
    for closing in tree.closing:
        if closing in stacked:
            continue
        names = ", ".join(joints[edge].path for edge in loop_edges(tree, edges, closing))
        text = f"closes a loop made of {names}: it is held beside the tree"
        attributes.report.note("loop-closed", joints[closing].path, text)
    anchor = tree.branches[0] if tree.branches and not tree.is_floating else None
    if not mark.roots and tree.branches:
        base = f"joined to the world by {joints[anchor.edge].path}" if anchor else "which floats"
        count = f"{len(tree.bodies)} joined bodies" if len(tree.bodies) > 1 else "a joined body"
        text = f"{count} without an articulation root: a tree from this body, {base}"
        attributes.report.note("spanning-tree", root, text)
    elif mark.roots and mark.body is None and tree.is_floating and len(tree.bodies) > 1:
        text = f"the tree floats, and is rooted at {root}, the first body that is body1 of no joint"
        attributes.report.note("root-chosen", mark.roots[0], text)
    if mark.body is not None and tree.root != mark.body:
        text = f"the tree is rooted at {root}, which a joint holds to the world"
        attributes.report.note("root-chosen", mark.roots[0], text)


def report_loop(prim: Usd.Prim, why: str, attributes: Attributes) -> None:
    """Say that a joint is not simulated, and count its attributes as reported."""
    text = f"{why}: this loop joint is not simulated yet"
    attributes.report.warn("loop-joint", prim.GetPath(), text)
    for name in attributes.names(prim):
        if name.startswith(tokens.NAMESPACES):
            attributes.report.used.add(f"{prim.GetPath()}.{name}")
