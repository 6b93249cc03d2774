"""A joint that is no branch of a tree becomes a loop joint: the axes that are not free are held.

Limits and drives of the free axes are read as those of joints of trees are. Beside these a generic joint may have
    PhysicsLimitAPI:distance   the distance between the origins along the free translations
    PhysicsDriveAPI:slerp      one drive of three rotations, whose target is that of rotX, rotY and rotZ
"""

from __future__ import annotations

import math
from dataclasses import replace

from pxr import Usd

from warp_artic.description.drive import Drive
from warp_artic.description.joint import Axis, Dof
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.read_dof import instances_of, read_dof
from warp_artic.usd.read_drive import read_drive, report_idle
from warp_artic.usd.read_limit import ROTATIONS, Freedom, read_distance_limit, read_freedom, report_unapplied
from warp_artic.usd.read_soft_limit import CONE, read_soft_cone, read_soft_limit, report_limit

DISTANCE, SLERP = "distance", "slerp"
"""Instance names of what acts on several axes together."""
OF_LIMITS = {tokens.SPHERICAL_JOINT: (CONE,), tokens.GENERIC_JOINT: (DISTANCE,)}
"""Instance names for the limits of joints beside those of axes."""
IDLE_OF_DRIVES = ("stiffness", "damping")
"""What the drives of rotations have no need of beside a slerp drive."""
OF_GAINS = (*IDLE_OF_DRIVES, "max_force")


def read_loop_joint(
    ends: JointEnds, link0: int, link1: int, inventory: Inventory, attributes: Attributes
) -> LoopJoint | None:
    """The axes that a joint holds, and what acts on the others."""
    prim, path = ends.prim, ends.path
    freedom = read_freedom(prim, inventory, attributes)
    instances = [*(instances_of(prim, axis) for axis in freedom.limits), *_slerp(freedom)]
    report_idle(prim, instances, OF_LIMITS.get(prim.GetTypeName(), ()), inventory, attributes)
    report_unapplied(prim, inventory, attributes)
    cone = _cone(prim, freedom, inventory, attributes)
    dofs = _dofs(path, prim, freedom, inventory, attributes)
    distance = _distance(path, prim, freedom, inventory, attributes)
    _report_idle(prim, dofs, attributes)
    limits = [(dof.axis, dof.limit) for dof in dofs if _can_bound(prim, dof, freedom, attributes)]
    drives = [(dof.axis, _without_envelope(dof.drive)) for dof in dofs if dof.drive is not None]
    slerp = _read_slerp(prim, freedom, drives, inventory, attributes)
    acts = limits or drives or slerp or distance is not None or cone is not None
    if len(dofs) == 6 and not acts:
        attributes.report.warn("loop-joint", path, "leaves all six axes free: it has no effect beside the tree")
        attributes.pass_over(prim)
        return None
    return LoopJoint(
        name=path,
        link0=link0,
        link1=link1,
        frame0=ends.end0.frame,
        frame1=ends.end1.frame,
        free=tuple(freedom.limits),
        twist_axis=freedom.cone_axis,
        limits=tuple(limits),
        distance_limit=distance,
        cone_limit=cone,
        drives=tuple(slerp or drives),
        slerp=bool(slerp),
    )


def _dofs(path: str, prim: Usd.Prim, freedom: Freedom, inventory: Inventory, attributes: Attributes) -> list[Dof]:
    """What acts on each free axis, with where it came from."""
    found = []
    for axis, limit in freedom.limits.items():
        name = f"{path}:{axis.value}"
        found.append(read_dof(prim, name, axis, limit, freedom.cone_limit is not None, inventory, attributes))
        attributes.report.readings[name][:0] = freedom.readings.get(axis, ())
        report_limit(name, found[-1].limit, False, attributes)
    return found


def _cone(prim: Usd.Prim, freedom: Freedom, inventory: Inventory, attributes: Attributes) -> ConeLimit | None:
    """The cone of a spherical joint."""
    if freedom.cone_limit is None:
        return None
    cone, readings = read_soft_cone(prim, freedom.cone_limit, inventory, attributes)
    own = [reading for one in freedom.readings.values() for reading in one]
    attributes.report.readings[f"{prim.GetPath()}:{CONE}"] = [*own, *readings]
    return cone


def _distance(
    path: str, prim: Usd.Prim, freedom: Freedom, inventory: Inventory, attributes: Attributes
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
    if not any(axis.is_linear for axis in freedom.limits):
        attributes.report.warn("loop-joint", path, "its limit of the distance has no effect: it holds all translations")
        return None
    report_limit(path, limit, False, attributes)
    return limit


def _slerp(freedom: Freedom) -> list[tuple[str, ...]]:
    """The instance name of a slerp drive, where a joint may have one."""
    return [(SLERP,)] if all(axis in freedom.limits for axis in ROTATIONS) else []


def _read_slerp(
    prim: Usd.Prim,
    freedom: Freedom,
    drives: list[tuple[Axis, Drive]],
    inventory: Inventory,
    attributes: Attributes,
) -> list[tuple[Axis, Drive]]:
    """The drives with one of three rotations in place of those of each; none where there is no slerp drive."""
    if not _slerp(freedom):
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
        found.append((axis, replace(_without_envelope(own), **{name: getattr(target, name) for name in targets})))
    return found


def _has_gains(drive: Drive) -> bool:
    return any(getattr(drive, name) > 0.0 for name in IDLE_OF_DRIVES)


def _can_bound(prim: Usd.Prim, dof: Dof, freedom: Freedom, attributes: Attributes) -> bool:
    """Whether a limit can act: the angle of a single rotation is known up to whole turns, which a warning says."""
    if dof.limit is None:
        return False
    alone = not dof.axis.is_linear and sum(not axis.is_linear for axis in freedom.limits) == 1
    lower, upper = dof.limit.lower, dof.limit.upper
    if not alone or upper - lower <= 2.0 * math.pi:
        return True
    text = (
        f"closes a loop, where the limit of {dof.axis.value}, {lower:g} to {upper:g} rad, is not simulated: both ends "
        "must be finite, and at most a turn apart, as turns are not counted"
    )
    attributes.report.warn("loop-joint", prim.GetPath(), text)
    return False


def _without_envelope(drive: Drive) -> Drive:
    return replace(drive, max_velocity=math.inf, velocity_gradient=0.0, velocity_resistance=0.0)


def _report_idle(prim: Usd.Prim, dofs: list[Dof], attributes: Attributes) -> None:
    """Say what is authored on the free axes of a loop joint and does not act."""
    found = {
        "friction": any(dof.friction is not None for dof in dofs),
        "armature": any(dof.armature > 0.0 for dof in dofs),
        "a velocity limit": any(dof.velocity_limit < math.inf for dof in dofs),
        "the performance envelope of a drive": any(dof.drive is not None and dof.drive.has_envelope for dof in dofs),
    }
    names = [name for name, is_there in found.items() if is_there]
    if names:
        text = f"closes a loop, beside the tree, where {' and '.join(names)} of its free axes is not simulated yet"
        attributes.report.warn("loop-joint", prim.GetPath(), text)
