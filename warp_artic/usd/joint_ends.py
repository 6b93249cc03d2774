"""What a joint prim joins: a body, or the world, and a frame on it, at either end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from pxr import Usd, UsdGeom

from warp_artic.description.pose import Pose
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.mirrors import SAME, is_mirrored, turn_between
from warp_artic.usd.placement import Placements


@dataclass(frozen=True)
class JointEnd:
    """One end of a joint."""

    body: str | None
    """Path of the body that moves; None for the world."""
    frame: Pose
    """The joint frame in the link frame of the body, or in the world."""
    carrier: str | None = None
    """Path of the kinematic body that it is on, where it is on one."""


@dataclass(frozen=True)
class JointEnds:
    """A joint prim with both ends."""

    prim: Usd.Prim
    path: str
    end0: JointEnd
    end1: JointEnd

    @property
    def carrier(self) -> str | None:
        """Path of the kinematic body that it joins, if it does."""
        return self.end0.carrier or self.end1.carrier


def read_joint_ends(prim: Usd.Prim, inventory: Inventory, attributes: Attributes, placements: Placements):
    """The ends of a joint, or None, and an error, where it does not join two different bodies, or one to the world."""
    ends = [_read_end(prim, side, inventory, attributes, placements) for side in (0, 1)]
    path = str(prim.GetPath())
    if None in ends:
        inventory.refused_joints.add(path)
        return None
    if ends[0].body == ends[1].body:
        found = "the world with itself" if ends[0].body is None else f"{ends[0].body} with itself"
        text = f"joins {found}: physics:body0 and physics:body1 must lead to two bodies, or one to a body"
        if _is_held(prim, inventory, attributes):
            attributes.report.note("joint-held", path, "joins no body that moves and is ignored")
        else:
            attributes.report.error("joint-bodies", path, text)
            inventory.refused_joints.add(path)
        return None
    return JointEnds(prim, path, *_alike(prim, ends, inventory, attributes, placements))


def _alike(
    prim: Usd.Prim, ends: list[JointEnd], inventory: Inventory, attributes: Attributes, placements: Placements
) -> list[JointEnd]:
    """The ends, the one that is not mirrored turned as the other one is (`mirrors`)."""
    targets = [attributes.targets(prim, f"physics:body{side}") for side in (0, 1)]
    prims = [prim.GetStage().GetPrimAtPath(found[0]) if found else None for found in targets]
    turn = turn_between(*prims, placements)
    if turn is None:
        return ends
    R = [np.eye(3) if end.body is None else placements.of(inventory.bodies[end.body]).pose.rotation for end in ends]
    first, second = (R[side] @ end.frame.rotation for side, end in enumerate(ends))
    if np.abs(first - second).max() < SAME:
        return ends
    side = int(prims[0] is not None and is_mirrored(prims[0], placements))
    end, turned = ends[side], (turn.T @ second if side else turn @ first)
    ends[side] = replace(end, frame=Pose.of(end.frame.position, R[side].T @ turned))
    return ends


def _is_held(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> bool:
    """Whether a joint leads to a kinematic or disabled body."""
    targets = [str(path) for side in (0, 1) for path in attributes.targets(prim, f"physics:body{side}")]
    return any(inventory.body_of.get(target) in inventory.held for target in targets)


def _read_end(prim: Usd.Prim, side: int, inventory, attributes: Attributes, placements: Placements) -> JointEnd | None:
    position = attributes.vector(prim, f"physics:localPos{side}", (0.0, 0.0, 0.0))
    quaternion = attributes.quaternion(prim, f"physics:localRot{side}", (0.0, 0.0, 0.0, 1.0))
    targets = attributes.targets(prim, f"physics:body{side}")
    if not targets:
        meters = attributes.units.meters
        return JointEnd(None, Pose(tuple(meters * component for component in position), quaternion))
    target = _target(prim, side, targets, attributes)
    placement = None if target is None else placements.of(target)
    if placement is None:
        return None
    body = inventory.body_of.get(str(target.GetPath()))
    if body is None or body in inventory.held:
        frame = placement.frame(position, quaternion)
    if body is None:
        return JointEnd(None, frame) if _may_be_static(prim, side, target, inventory, attributes) else None
    if body in inventory.held:
        owner = inventory.foreign.get(body)
        why = "kinematic or disabled" if owner is None else f"simulated by {owner or 'another owner'}"
        attributes.report.note("joint-held", prim.GetPath(), f"joins {body}, which is {why}: no force moves this end")
        return JointEnd(None, frame, body if owner is None else None)
    frame = Pose(tuple(float(component) for component in placement.scale * position), quaternion)
    pose = placements.pose(target, inventory.bodies[body])
    return None if pose is None else JointEnd(body, frame if pose == Pose() else pose @ frame)


def _target(prim: Usd.Prim, side: int, targets: list, attributes: Attributes) -> Usd.Prim | None:
    """The prim an end leads to."""
    path = f"{prim.GetPath()}.physics:body{side}"
    if len(targets) > 1:
        attributes.report.error("joint-bodies", path, f"leads to {len(targets)} prims, must lead to one")
        return None
    target = prim.GetStage().GetPrimAtPath(targets[0])
    if not target or not target.IsActive() or not UsdGeom.Xformable(target):
        found = "does not exist" if not target else "has no transform" if target.IsActive() else "is not active"
        found = "is a property" if targets[0].IsPropertyPath() else found
        text = f"leads to {targets[0]}, which {found}; it must be a rigid body, or empty for the world"
        attributes.report.error("joint-bodies", path, text)
        return None
    return target


def _may_be_static(prim: Usd.Prim, side: int, target: Usd.Prim, inventory: Inventory, attributes: Attributes) -> bool:
    """Whether a prim that is no rigid body may stand for the world.

    UsdPhysics says so of any such prim. As body1 of a joint with free axes, however, it is taken for a body without its
    schema, unless it is a collider.
    """
    # The world of MuJoCo is the default prim of a converted stage.
    is_equality = any(inventory.has_schema(prim, schema) for schema in tokens.MJC_OF_BODIES)
    fixed = prim.GetTypeName() == tokens.FIXED_JOINT or is_equality
    if side == 1 and not fixed and not inventory.has_schema(target, tokens.COLLISION):
        text = f"leads to {target.GetPath()}, which is not a rigid body nor below one; leave it empty for the world"
        attributes.report.error("joint-bodies", f"{prim.GetPath()}.physics:body{side}", text)
        return False
    text = f"leads to {target.GetPath()}, which is not a rigid body: taken as fixed to the world where it is"
    # A prim above the joint is how an asset is anchored where it is referenced: nothing to warn of.
    is_above = prim.GetPath().HasPrefix(target.GetPath())
    add = attributes.report.note if is_above or is_equality else attributes.report.warn
    add("joint-static", f"{prim.GetPath()}.physics:body{side}", text)
    return True
