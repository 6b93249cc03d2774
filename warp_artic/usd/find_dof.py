"""Which degree of freedom of an articulation a joint and the name of an axis stand for."""

from __future__ import annotations

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Axis, Joint
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.read_limit import read_freedom
from warp_artic.usd.report import Report

AXES = tuple(axis.value for axis in Axis)


def find_dof(
    articulation: Articulation, joint: Joint, prim: Usd.Prim, axis: str, path: str, attributes: Attributes
) -> int | None:
    """The index of a dof in `Articulation.dofs`; None, and an error at `path`, where the joint has no such dof.

    The only dof of a revolute or prismatic joint is meant whatever the axis, that of another joint also where the axis
    is empty.
    """
    chosen = _choose([dof.axis for dof in joint.dofs], prim, axis, path, attributes)
    return None if chosen is None else articulation.dofs.index(joint.dofs[chosen])


def check_axis(prim: Usd.Prim, axis: str, path: str, inventory: Inventory, attributes: Attributes) -> None:
    """Report at `path` that a joint, which is in no articulation as its ends cannot be read, has no such axis."""
    if prim.GetTypeName() in tokens.TREE_JOINTS:
        freedom = read_freedom(prim, inventory, attributes.at(attributes.time, Report()))
        _choose(list(freedom.limits), prim, axis, path, attributes)


def _choose(free: list[Axis], prim: Usd.Prim, axis: str, path: str, attributes: Attributes) -> int | None:
    """The place of an axis among the free ones of a joint; None, and an error, where there is no such one."""
    if not free:
        attributes.report.error("axis-fixed", path, f"{prim.GetPath()} is a fixed joint: it has no axis to couple")
        return None
    names = [one.value for one in free]
    if axis in names:
        return names.index(axis)
    has_one = prim.GetTypeName() in (tokens.REVOLUTE_JOINT, tokens.PRISMATIC_JOINT) or not axis
    if has_one and len(free) == 1:
        return 0
    found = f"{prim.GetPath()} is not free on {axis}" if axis else f"no axis of {prim.GetPath()} is named"
    attributes.report.error("axis-locked", path, f"{found}; its free axes are {', '.join(names)}")
    return None
