"""What acts on several axes of a joint together: the limit of a distance, and the drive of three rotations.

    PhysicsLimitAPI:distance   the distance between the origins along the free translations of a generic joint
    PhysicsDriveAPI:slerp      one drive of three rotations, whose target is that of rotX, rotY and rotZ
They are rows between the links of a loop joint; a joint of a tree has one beside it, which holds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from pxr import Usd

from warp_artic.description.drive import Drive
from warp_artic.description.joint import WORLD, Axis, Joint
from warp_artic.description.limit import Limit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.read_drive import read_drive
from warp_artic.usd.read_limit import ROTATIONS, read_distance_limit
from warp_artic.usd.read_soft_limit import CONE, read_soft_limit, report_limit

DISTANCE, SLERP = "distance", "slerp"
"""Their instance names."""
OF_LIMITS = {tokens.SPHERICAL_JOINT: (CONE,), tokens.GENERIC_JOINT: (DISTANCE,)}
"""Instance names for the limits of joints beside those of axes."""
GAINS = ("stiffness", "damping")
OF_GAINS = (*GAINS, "max_force")
"""What drives of rotations have no need of beside a slerp drive."""


def with_axes_together(
    joint: Joint, prim: Usd.Prim, is_carried: bool, inventory: Inventory, attributes: Attributes
) -> tuple[Joint, LoopJoint | None]:
    """A joint of a tree, and a loop joint beside it with what acts on several of its axes, if anything does.

    On a kinematic body that carries the tree it is reported.
    """
    free = [dof.axis for dof in joint.dofs]
    distance = read_distance_of(joint.path, prim, free, inventory, attributes)
    drives = [(dof.axis, dof.drive) for dof in joint.rotations if dof.drive is not None]
    slerp = read_slerp(prim, free, drives, inventory, attributes)
    if distance is None and not slerp:
        return joint, None
    if is_carried and joint.parent == WORLD:
        text = "the limit of its distance and its slerp drive are not simulated yet: a kinematic body carries the tree"
        attributes.report.warn("loop-joint", joint.path, text)
        return joint, None
    if slerp:
        dofs = (dof if dof.axis.is_linear else replace(dof, drive=None) for dof in joint.dofs)
        joint = replace(joint, dofs=tuple(dofs))
    ends = ((joint.parent, joint.parent_frame), (joint.child, joint.child_frame))
    (link0, frame0), (link1, frame1) = reversed(ends) if joint.reversed else ends
    beside = LoopJoint(
        name=joint.path,
        link0=link0,
        link1=link1,
        frame0=frame0,
        frame1=frame1,
        free=tuple(Axis),
        twist_axis=joint.cone_axis,
        distance_limit=distance,
        drives=tuple(slerp),
        slerp=bool(slerp),
    )
    return joint, beside


def read_distance_of(
    path: str, prim: Usd.Prim, free: Collection[Axis], inventory: Inventory, attributes: Attributes
) -> Limit | None:
    """The limit of the distance along the free translations of a generic joint."""
    if prim.GetTypeName() != tokens.GENERIC_JOINT or DISTANCE not in inventory.instances(prim, tokens.LIMIT):
        return None
    readings: list = []
    limit = read_distance_limit(prim, readings, attributes)
    limit, soft = read_soft_limit(prim, limit, (DISTANCE,), True, inventory, attributes)
    attributes.report.readings[f"{path}:{DISTANCE}"] = [*readings, *soft]
    if limit is None:
        return None
    if not any(axis.is_linear for axis in free):
        attributes.report.warn("loop-joint", path, "its limit of the distance has no effect: it holds all translations")
        return None
    report_limit(path, limit, False, attributes)
    return limit


def slerp_instances(free: Collection[Axis]) -> list[tuple[str, ...]]:
    """The instance name of a slerp drive, where a joint may have one."""
    return [(SLERP,)] if all(axis in free for axis in ROTATIONS) else []


def read_slerp(
    prim: Usd.Prim,
    free: Collection[Axis],
    drives: list[tuple[Axis, Drive]],
    inventory: Inventory,
    attributes: Attributes,
) -> list[tuple[Axis, Drive]]:
    """The drives with one of three rotations in place of those of each; none where there is no slerp drive."""
    if not slerp_instances(free):
        return []
    own, readings = read_drive(prim, SLERP, False, inventory, attributes)
    if own is None:
        return []
    path = prim.GetPath()
    for axis in ROTATIONS:
        beside = attributes.report.readings[f"{path}:{axis.value}"]
        beside[:] = [*(reading for reading in beside if reading.field not in OF_GAINS), *readings]
    axes, beside = dict(drives), [axis.value for axis, drive in drives if not axis.is_linear and _has_gains(drive)]
    if beside:
        text = f"has a slerp drive: the gains of its drives of {', '.join(beside)} have no effect beside it"
        attributes.report.warn("drive-idle", path, text)
    if own.position_target != 0.0 or own.velocity_target != 0.0:
        text = "has no effect: the target of a slerp drive has three components, those of rotX, rotY and rotZ"
        attributes.report.warn("drive-idle", f"{path}.drive:{SLERP}:physics:target", text)
    targets = ("position_target", "velocity_target", "position_track", "velocity_track")
    found = [(axis, drive) for axis, drive in drives if axis.is_linear]
    for axis in ROTATIONS:
        target = axes.get(axis, Drive())
        found.append((axis, replace(without_envelope(own), **{name: getattr(target, name) for name in targets})))
    return found


def _has_gains(drive: Drive) -> bool:
    return any(getattr(drive, name) > 0.0 for name in GAINS)


def without_envelope(drive: Drive) -> Drive:
    """A drive whose speed does not bound its effort."""
    return replace(drive, max_velocity=math.inf, velocity_gradient=0.0, velocity_resistance=0.0)
