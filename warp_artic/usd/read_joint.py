"""A joint prim becomes a branch of a tree."""

from __future__ import annotations

from pxr import Usd

from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose
from warp_artic.description.spanning_forest import Branch
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.read_dof import instances_of, read_dof, report_turns
from warp_artic.usd.read_drive import report_idle
from warp_artic.usd.read_limit import read_freedom, report_swing, report_unapplied
from warp_artic.usd.read_soft_limit import read_soft_cone, report_limit
from warp_artic.usd.read_start import read_start
from warp_artic.usd.read_together import OF_LIMITS, slerp_instances


def read_joint(
    ends: JointEnds,
    branch: Branch,
    is_reversed: bool,
    links: list[Link],
    X_PL: Pose,
    moves: bool,
    inventory: Inventory,
    attributes: Attributes,
) -> Joint:
    """The joint of a branch whose bodies are given by index in `links`.

    `X_PL` is the pose of the child link in the parent link, or in the world.
    """
    freedom = read_freedom(ends.prim, inventory, attributes)
    instances = [instances_of(ends.prim, axis) for axis in freedom.limits]
    instances += slerp_instances(freedom.limits)
    report_idle(ends.prim, instances, OF_LIMITS.get(ends.prim.GetTypeName(), ()), inventory, attributes)
    report_unapplied(ends.prim, inventory, attributes)
    cone, cone_readings = freedom.cone_limit, []
    if cone is not None:
        cone, cone_readings = read_soft_cone(ends.prim, cone, inventory, attributes)
    many, dofs = len(freedom.limits) > 1, []
    for axis, limit in freedom.limits.items():
        name = f"{ends.path}:{axis.value}" if many else ends.path
        dofs.append(read_dof(ends.prim, name, axis, limit, cone is not None, inventory, attributes))
        attributes.report.readings[name][:0] = freedom.readings.get(axis, ())
        if axis is not freedom.cone_axis:
            own = attributes.report.readings[name]
            own += [one for one in cone_readings if one not in own]
    report_turns(ends.prim, dofs, attributes)
    parent_end, child_end = (ends.end1, ends.end0) if is_reversed else (ends.end0, ends.end1)
    joint = Joint(
        path=ends.path,
        parent=branch.parent,
        child=branch.child,
        parent_frame=parent_end.frame,
        child_frame=child_end.frame,
        dofs=tuple(dofs),
        reversed=is_reversed,
        cone_limit=cone,
        cone_axis=freedom.cone_axis,
    )
    for dof in dofs:
        report_limit(dof.name, dof.limit, joint.has_vector and not dof.axis.is_linear, attributes)
    report_swing(joint, attributes)
    parent = None if branch.parent == WORLD else links[branch.parent]
    is_carried = ends.carrier is not None
    return read_start(ends.prim, joint, parent, links[branch.child], X_PL, moves, is_carried, attributes)


def check_axes(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> None:
    """Report what is wrong with the axes, limits and drives of a joint that leads nowhere."""
    freedom = read_freedom(prim, inventory, attributes)
    for axis, limit in freedom.limits.items():
        read_dof(prim, str(prim.GetPath()), axis, limit, freedom.cone_limit is not None, inventory, attributes)
