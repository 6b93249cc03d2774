"""A joint that is no branch of a tree becomes a loop joint: the axes that are not free are held.

Limits and drives of the free axes are read as those of joints of trees are, and what acts on several of them together
(`read_together`).
"""

from __future__ import annotations

import math
from dataclasses import replace

from pxr import Usd

from warp_artic.description.friction import Friction
from warp_artic.description.joint import Dof
from warp_artic.description.limit import ConeLimit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.read_break import read_breaks
from warp_artic.usd.read_dof import instances_of, read_dof
from warp_artic.usd.read_drive import report_idle
from warp_artic.usd.read_limit import Freedom, read_freedom, report_unapplied
from warp_artic.usd.read_scales import read_scales, scales_by_side
from warp_artic.usd.read_soft_limit import CONE, read_soft_cone, report_limit
from warp_artic.usd.read_together import (
    OF_LIMITS,
    read_distance_of,
    read_slerp,
    slerp_instances,
    without_envelope,
)


def read_loop_joint(
    ends: JointEnds, link0: int, link1: int, inventory: Inventory, attributes: Attributes
) -> LoopJoint | None:
    """The axes that a joint holds, and what acts on the others."""
    prim, path = ends.prim, ends.path
    freedom = read_freedom(prim, inventory, attributes)
    instances = [*(instances_of(prim, axis) for axis in freedom.limits), *slerp_instances(freedom.limits)]
    report_idle(prim, instances, OF_LIMITS.get(prim.GetTypeName(), ()), inventory, attributes)
    report_unapplied(prim, inventory, attributes)
    cone = _cone(prim, freedom, inventory, attributes)
    dofs = _dofs(path, prim, freedom, inventory, attributes)
    distance = read_distance_of(path, prim, freedom.limits, inventory, attributes)
    _report_idle(prim, dofs, attributes)
    limits = [(dof.axis, dof.limit) for dof in dofs if _can_bound(prim, dof, freedom, attributes)]
    drives = [(dof.axis, without_envelope(dof.drive)) for dof in dofs if dof.drive is not None]
    slerp = read_slerp(prim, freedom.limits, drives, inventory, attributes)
    beside = _beside(dofs)
    acts = limits or drives or slerp or any(beside.values()) or distance is not None or cone is not None
    if len(dofs) == 6 and not acts:
        attributes.report.warn("loop-joint", path, "leaves all six axes free: it has no effect beside the tree")
        attributes.pass_over(prim)
        return None
    breaks = read_breaks(ends.prim, attributes)
    scales = read_scales(ends.prim, attributes)
    attributes.report.readings.setdefault(ends.path, []).extend([*breaks.values(), *scales.values()])
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
        **beside,
        **{name: reading.value for name, reading in breaks.items()},
        **scales_by_side(scales),
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


def _beside(dofs: list[Dof]) -> dict[str, tuple]:
    """What acts on free axes beside limits and drives, as fields of a loop joint."""
    frictions = [(dof.axis, replace(dof.friction, coefficient=0.0)) for dof in dofs if dof.friction is not None]
    return {
        "frictions": tuple((axis, friction) for axis, friction in frictions if friction != Friction()),
        "armatures": tuple((dof.axis, dof.armature) for dof in dofs if dof.armature > 0.0),
        "velocity_limits": tuple((dof.axis, dof.velocity_limit) for dof in dofs if dof.velocity_limit < math.inf),
    }


def _report_idle(prim: Usd.Prim, dofs: list[Dof], attributes: Attributes) -> None:
    """Say what is authored on the free axes of a loop joint and does not act."""
    found = {
        "friction in proportion to the load": any(dof.friction and dof.friction.coefficient > 0.0 for dof in dofs),
        "the performance envelope of a drive": any(dof.drive is not None and dof.drive.has_envelope for dof in dofs),
    }
    names = [name for name, is_there in found.items() if is_there]
    if names:
        text = f"closes a loop, beside the tree, where {' and '.join(names)} of its free axes is not simulated yet"
        attributes.report.warn("loop-joint", prim.GetPath(), text)
