"""A planned tree becomes an articulation."""

from __future__ import annotations

from dataclasses import replace

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.link import Link
from warp_artic.description.spanning_forest import Branch
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.link_joints import read_link_joints
from warp_artic.usd.lookup import ARTICULATION_FIELDS, TREE_FIELDS, report_difference, resolve
from warp_artic.usd.moved_bases import way_of_base
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_base_motion import read_base_motion
from warp_artic.usd.read_couplings import with_couplings
from warp_artic.usd.read_joint import read_joint
from warp_artic.usd.read_link import read_link
from warp_artic.usd.read_locked_axes import read_locked_axes
from warp_artic.usd.read_scene import SceneSettings, read_iterations
from warp_artic.usd.read_sleep import read_sleep
from warp_artic.usd.read_together import with_axes_together
from warp_artic.usd.read_trees import TreePlan
from warp_artic.usd.stacked_joints import are_independent, massless_links, meet_at_zero, stacked_branches, stacked_ends

VELOCITIES = ("physics:velocity", "physics:angularVelocity")


def read_articulation(
    plan: TreePlan,
    joints: list[JointEnds],
    others: list[JointEnds],
    settings: SceneSettings,
    inventory: Inventory,
    attributes: Attributes,
    placements: Placements,
) -> Articulation | None:
    """The articulation of a tree, with what of the `others` is between its links.

    None, and an error, where a link or a joint cannot be read.
    """
    prims = list(inventory.bodies.values())
    links: list[Link | None] = []
    for body in plan.tree.bodies:
        links.append(read_link(prims[body], inventory, attributes, placements))
    number = {body: link for link, body in enumerate(plan.tree.bodies)} | {WORLD: WORLD}
    read = []
    for branch in sorted(plan.tree.branches, key=lambda branch: branch.edge):
        ends = joints[branch.edge]
        local = Branch(branch.edge, number[branch.parent], number[branch.child])
        if links[local.child] is None or (local.parent != WORLD and links[local.parent] is None):
            read.append(None)
            continue
        if branch.edge in plan.stacks:
            read += _read_stack(plan.stacks[branch.edge], local, links, joints, inventory, attributes)
            continue
        moves = not attributes.names(prims[branch.child]).isdisjoint(VELOCITIES)
        is_reversed = ends.end0.body == links[local.child].path
        X_PL = links[local.child].pose
        if local.parent != WORLD:
            X_PL = placements.pose(prims[branch.child], prims[branch.parent])
        read.append(read_joint(ends, local, is_reversed, links, X_PL, moves, inventory, attributes))
    if None in links or None in read:
        return None
    carrier = _carrier(plan, joints)
    prims_of = inventory.joints
    pairs = [with_axes_together(one, prims_of[one.path], carrier is not None, inventory, attributes) for one in read]
    read, beside = [joint for joint, _ in pairs], [one for _, one in pairs if one is not None]
    base_motion = None if carrier is None else read_base_motion(inventory.held[carrier], attributes)
    order = inventory.order
    read.sort(key=lambda joint: order[joint.path])
    articulation = Articulation(
        path=plan.path,
        links=tuple(links),
        joints=tuple(read),
        base_motion=base_motion,
        **_iterations(plan, settings, attributes),
        **_speed_limits(plan, len(read) < len(links), attributes),
        **read_sleep(plan.path, plan.settings, [prims[body] for body in plan.tree.bodies], settings.sleep, attributes),
    )
    coupled = with_couplings(articulation, inventory, attributes, placements)
    is_articulation = str(plan.settings.GetPath()) in inventory.roots
    locks = read_locked_axes(articulation, is_articulation, inventory, attributes)
    on_world = [
        joints[edge] for branch in plan.tree.branches if branch.parent == WORLD for edge in _edges(plan, branch)
    ]
    way = way_of_base(read, on_world, attributes)
    others_read = read_link_joints(articulation, others, way, inventory, attributes)
    return replace(coupled, constraints=(*beside, *others_read, *locks))


def _carrier(plan: TreePlan, joints: list[JointEnds]) -> str | None:
    """The kinematic body that the root is joined to, if it is."""
    for branch in plan.tree.branches:
        if branch.parent == WORLD:
            for edge in _edges(plan, branch):
                if joints[edge].carrier is not None:
                    return joints[edge].carrier
    return None


def _edges(plan: TreePlan, branch: Branch) -> tuple[int, ...]:
    """The joints of a branch, by number."""
    return plan.stacks.get(branch.edge, (branch.edge,))


def _read_stack(
    edges: tuple[int, ...], branch: Branch, links: list[Link], joints: list[JointEnds], inventory, attributes
) -> list[Joint | None]:
    """The joints of a stack; its massless links are added to the links."""
    stack, child = [joints[edge] for edge in edges], links[branch.child]
    parent = None if branch.parent == WORLD else links[branch.parent]
    if not meet_at_zero(stack, child, attributes):
        return [None]
    branches = stacked_branches(edges, branch.parent, branch.child, len(links))
    links += massless_links(stack, parent, inventory, attributes)
    read = []
    for ends, local in zip(stacked_ends(stack), branches):
        X_PL = links[local.child].pose
        if local.parent != WORLD:
            X_PL = links[local.parent].pose.inverse() @ X_PL
        read.append(read_joint(ends, local, False, links, X_PL, False, inventory, attributes))
    return read if are_independent(read, child, attributes) else [None]


def _speed_limits(plan: TreePlan, is_floating: bool, attributes: Attributes) -> dict[str, float]:
    """The largest velocities of an articulation as a whole; on a fixed base they have no effect, as with PhysX."""
    found = {}
    for field, sources in TREE_FIELDS.items():
        reading = resolve(attributes, plan.settings, field, sources)
        if reading is None:
            continue
        if reading.value < 0.0:
            attributes.report.error("negative", reading.attribute, f"is {reading.found}, must not be negative")
        elif not is_floating:
            text = (
                f"has no effect on {plan.path}: its base is fixed, and a velocity as a whole is that of a floating base"
            )
            attributes.report.warn("fixed-base", reading.attribute, text)
        else:
            attributes.report.readings.setdefault(plan.path, []).append(reading)
            found[field.removeprefix("tree_")] = reading.value
    return found


def _iterations(plan: TreePlan, settings: SceneSettings, attributes: Attributes) -> dict[str, int]:
    """The iteration counts of our scene, else those of the articulation, else those of the scene."""
    found = read_iterations(plan.settings, ARTICULATION_FIELDS, attributes)
    for name, reading in settings.iterations.items():
        if ".warpArtic:" in reading.attribute and name in found:
            report_difference(reading, found[name], attributes)
            found[name] = reading
        found.setdefault(name, reading)
    attributes.report.readings.setdefault(plan.path, []).extend(found.values())
    return {name: int(reading.value) for name, reading in found.items()}
