"""Gears, and racks with pinions, of the PhysX schema: hard mimic joints on the coordinates of two joints.

    gear    ratio s_0 (q_0 - p_0) + s_1 (q_1 - p_1) = 0               q_0, q_1 of its hinges
    rack    s_0 (q_0 - p_0) - side ratio s_1 (q_1 - p_1) = 0          q_0 of its hinge, q_1 of its slide
p are the positions at the start. s is 1 where the wheel (or the rack), body0 or body1 of the prim, is body1 of that
joint, -1 where it is body0: positions are those of body1 against body0. A ratio above zero is that of wheels that mesh
outside of each other, on axes that point the same way. The side is -1 where the rack is on that side of the pinion on
which teeth move against the axis of the slide, else 1.

Both are of one articulation; trees on the world that a gear couples are one (`read_trees`).

PhysX has the velocities of bodies in the world in place of those of the joints: there a carrier that turns drives what
meshes on it. What is here is what wheels on one carrier do.

Source: PxGearJoint and PxRackAndPinionJoint; how hinges and frames are found is that of the importer of PhysX.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose
from warp_artic.description.start_pose import start_poses
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.beside import hangs_on_refused
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.report import Reading
from warp_artic.usd.units import Quantity

NEAREST_SIDE = 1e-3
"""Lever of a rack about its pinion below which neither side is meant, as in PhysX [distance]."""
BREAKING = ("physics:breakForce", "physics:breakTorque")
WITHOUT_EFFECT = (
    "physics:localPos0",
    "physics:localPos1",
    "physics:localRot0",
    "physics:localRot1",
    "physics:excludeFromArticulation",
)
"""Properties of all joints that say nothing of a gear."""


@dataclass(frozen=True)
class _Kind:
    """What a type of prim couples."""

    noun: str
    joints: tuple[str, str]
    """The relationships that lead to the joints."""
    is_linear: tuple[bool, bool]
    """Whether those slide."""
    ratio: str
    quantity: Quantity


KINDS = {
    tokens.GEAR_JOINT: _Kind(
        "gear", ("physics:hinge0", "physics:hinge1"), (False, False), "physics:gearRatio", units.NUMBER
    ),
    tokens.RACK_JOINT: _Kind(
        "rack", ("physics:hinge", "physics:prismatic"), (False, True), "physics:ratio", units.ANGLE_PER_DISTANCE
    ),
}
"""By the type of the prim."""


def geared_joints(inventory: Inventory, attributes: Attributes) -> list[tuple[str, ...]]:
    """Paths of the joints that each gear or rack couples."""
    return [
        tuple(str(target) for name in KINDS[prim.GetTypeName()].joints for target in attributes.targets(prim, name))
        for prim in inventory.gears.values()
    ]


def read_gears(articulation: Articulation, inventory: Inventory, attributes: Attributes) -> tuple[Mimic, ...]:
    """The gears and racks whose first joint is one of an articulation; a wrong one is left out, with an error."""
    joints = {joint.path: joint for joint in articulation.joints}
    found = []
    for path, prim in inventory.gears.items():
        targets = [str(target) for target in attributes.targets(prim, KINDS[prim.GetTypeName()].joints[0])]
        if len(targets) == 1 and targets[0] in joints and _is_enabled(prim, attributes):
            mimic = _read(path, prim, joints, articulation, inventory, attributes)
            if mimic is None:
                attributes.pass_over(prim)
            else:
                found.append(mimic)
    return tuple(found)


def refuse_stray_gears(joints: set[str], inventory: Inventory, attributes: Attributes) -> None:
    """Report the gears and racks whose first joint is in no articulation."""
    for path, prim in inventory.gears.items():
        kind = KINDS[prim.GetTypeName()]
        targets = [str(target) for target in attributes.targets(prim, kind.joints[0])]
        if (len(targets) == 1 and targets[0] in joints) or not _is_enabled(prim, attributes):
            continue
        if not attributes.report.is_refused(f"{path}.{kind.joints[0]}"):
            _joint(prim, kind, 0, {}, None, inventory, attributes)  # reports what is wrong
        attributes.pass_over(prim)


def _is_enabled(prim: Usd.Prim, attributes: Attributes) -> bool:
    """Whether a gear acts; a disabled one is noted."""
    if attributes.flag(prim, "physics:jointEnabled", True):
        return True
    attributes.report.note("joint-disabled", prim.GetPath(), "is disabled (physics:jointEnabled) and ignored")
    attributes.pass_over(prim)
    return False


def _read(
    path: str,
    prim: Usd.Prim,
    joints: dict[str, Joint],
    articulation: Articulation,
    inventory: Inventory,
    attributes: Attributes,
) -> Mimic | None:
    """A gear or a rack as a mimic joint; None, and an error or a warning, where it cannot be one."""
    kind = KINDS[prim.GetTypeName()]
    pair = [_joint(prim, kind, side, joints, articulation, inventory, attributes) for side in (0, 1)]
    if None in pair:
        return None
    dofs = [_dof(prim, kind, side, joint, articulation, attributes) for side, joint in enumerate(pair)]
    if None in dofs:
        return None
    if dofs[0] == dofs[1]:
        text = f"leads to {pair[0].path}, as {kind.joints[0]} does: a {kind.noun} must couple two joints"
        attributes.report.error("gear", f"{path}.{kind.joints[1]}", text)
        return None
    attribute = f"{path}.{kind.ratio}"
    authored = attributes.number(prim, kind.ratio, 1.0)
    ratio = attributes.units.si(authored, kind.quantity)
    if attributes.report.is_refused(attribute):
        return None
    if ratio == 0.0:
        attributes.report.error("gear", attribute, f"is 0; the ratio of a {kind.noun} must not be")
        return None
    ends = _ends(prim, pair, articulation, inventory, attributes)
    if ends is None:
        return None
    signs = [1.0 if end == "body1" else -1.0 for end in ends]
    coupling = ratio * signs[0] * signs[1]
    if prim.GetTypeName() == tokens.GEAR_JOINT:
        dofs.reverse()  # the second hinge follows
    else:
        coupling = 0.0 - coupling * _side(pair, ends, dofs, articulation, attributes)
    for name in WITHOUT_EFFECT:
        if attributes.authored(prim, name) is not None:
            text = f"is not used: a {kind.noun} couples the coordinates of its joints, which have frames of their own"
            attributes.report.note("attribute-not-used", f"{path}.{name}", text)
    attributes.report.used.update(f"{path}.{name}" for name in attributes.names(prim) if name not in BREAKING)
    attributes.report.readings[path] = [
        Reading("mimic_gear", attribute, authored, kind.quantity.authored, coupling, kind.quantity.si)
    ]
    starts = [articulation.dofs[dof].position for dof in dofs]
    return Mimic(name=path, dofs=tuple(dofs), gears=(1.0, coupling), offset=0.0 - (starts[0] + coupling * starts[1]))


def _joint(
    prim: Usd.Prim,
    kind: _Kind,
    side: int,
    joints: dict[str, Joint],
    articulation: Articulation | None,
    inventory: Inventory,
    attributes: Attributes,
) -> Joint | None:
    """A joint that a gear couples, of those of an articulation; None, and what is wrong with it, where it is none."""
    place = f"{prim.GetPath()}.{kind.joints[side]}"
    targets = [str(target) for target in attributes.targets(prim, kind.joints[side])]
    if len(targets) == 1 and targets[0] in joints:
        return joints[targets[0]]
    is_of_other = len(targets) == 1 and hangs_on_refused(targets[0], inventory, articulation)
    if is_of_other or attributes.report.is_refused(place):
        return None
    if not targets:
        text = f"is a {kind.noun} without a joint in {kind.joints[side]}, which must lead to one"
        attributes.report.error("gear", prim.GetPath(), text)
    elif len(targets) != 1:
        attributes.report.error("gear", place, f"leads to {len(targets)} joints, must lead to one")
    elif targets[0] not in inventory.joints:
        attributes.report.error("gear", place, f"leads to {targets[0]}, which is no joint; must lead to one")
    else:
        found = f"no joint of the articulation {articulation.path}, as the other one is" if articulation else ""
        found = found or "in no tree: it is disabled, wrong, or held beside one"
        text = (
            f"leads to {targets[0]}, which is {found}; a {kind.noun} couples joints of one articulation, or of trees "
            "without roots of their own that the world, or one kinematic body, holds: of others none is simulated yet"
        )
        attributes.report.warn("gear", place, text)
    return None


def _dof(
    prim: Usd.Prim, kind: _Kind, side: int, joint: Joint, articulation: Articulation, attributes: Attributes
) -> int | None:
    """The only rotation or translation of a joint, as an index of a dof; None, and an error, where it has none."""
    is_linear = kind.is_linear[side]
    own = [dof for dof in joint.dofs if dof.axis.is_linear == is_linear]
    if len(own) == 1:
        return articulation.dofs.index(own[0])
    noun = "translation" if is_linear else "rotation"
    text = f"leads to {joint.path}, which has {len(own) or 'no'} {noun}{'s' * (len(own) > 1)}, must have one"
    attributes.report.error("gear", f"{prim.GetPath()}.{kind.joints[side]}", text)
    return None


def _ends(
    prim: Usd.Prim, pair: list[Joint], articulation: Articulation, inventory: Inventory, attributes
) -> list[str] | None:
    """Which end of each joint is the wheel or the rack, by the name of the relationship; None, and an error, if none.

    A body that is not authored is the world; where neither is, those are meant that the joints move.
    """
    bodies = [_body(prim, side, inventory, attributes) for side in (0, 1)]
    found = []
    for side, (joint, body) in enumerate(zip(pair, bodies)):
        ends = {"body0": joint.parent, "body1": joint.child}
        if joint.reversed:
            ends = {"body0": joint.child, "body1": joint.parent}
        paths = {end: None if link == WORLD else articulation.links[link].path for end, link in ends.items()}
        if bodies == [None, None]:
            found.append("body1" if paths["body1"] is not None else "body0")
            continue
        own = [end for end, path in paths.items() if path == body]
        if not own:
            names = " and ".join(path or "the world" for path in paths.values())
            what = body or "the world"
            text = f"is {what}, which {joint.path} does not join; it must be one of {names}, and turn or slide there"
            attributes.report.error("gear", f"{prim.GetPath()}.physics:body{side}", text)
            return None
        found += own[:1]
    if bodies == [None, None]:
        text = f"names no bodies: the bodies that {pair[0].path} and {pair[1].path} move are meant"
        attributes.report.note("gear", prim.GetPath(), text)
    return found


def _body(prim: Usd.Prim, side: int, inventory: Inventory, attributes: Attributes) -> str | None:
    """The body of a gear on a side, or None, the world."""
    targets = [str(target) for target in attributes.targets(prim, f"physics:body{side}")]
    body = inventory.body_of.get(targets[0]) if targets else None
    return None if body in inventory.held else body


def _side(
    pair: list[Joint], ends: list[str], dofs: list[int], articulation: Articulation, attributes: Attributes
) -> float:
    """-1 where the teeth of a pinion move against the axis of the slide at the rack, else 1."""
    poses = (*start_poses(articulation), Pose())  # WORLD is the last one
    frames = []
    for joint, end in zip(pair, ends):
        is_child = (end == "body1") != joint.reversed
        own = poses[joint.child] @ joint.child_frame if is_child else poses[joint.parent] @ joint.parent_frame
        frames.append(own)
    axes = [frame.rotation[:, articulation.dofs[dof].axis.index] for frame, dof in zip(frames, dofs)]
    arm = np.subtract(frames[1].position, frames[0].position) / attributes.units.meters
    lever = float(np.dot(np.cross(axes[0], arm), axes[1]))
    return -1.0 if lever < -NEAREST_SIDE else 1.0
