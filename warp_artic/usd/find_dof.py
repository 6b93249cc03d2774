"""Which degree of freedom of an articulation a joint and the name of an axis stand for."""

from __future__ import annotations

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Axis, Joint
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes

AXES = tuple(axis.value for axis in Axis)


def find_dof(
    articulation: Articulation, joint: Joint, prim: Usd.Prim, axis: str, path: str, attributes: Attributes
) -> int | None:
    """The index of a dof in `Articulation.dofs`; None, and an error at `path`, where the joint has no such dof.

    The only dof of a revolute or prismatic joint is meant whatever the axis, that of another joint also where the axis
    is empty.
    """
    if not joint.dofs:
        attributes.report.error("axis-fixed", path, f"{joint.path} is a fixed joint: it has no axis to couple")
        return None
    chosen = [dof for dof in joint.dofs if dof.axis.value == axis]
    has_one = prim.GetTypeName() in (tokens.REVOLUTE_JOINT, tokens.PRISMATIC_JOINT) or not axis
    if not chosen and has_one and len(joint.dofs) == 1:
        chosen = joint.dofs
    if not chosen:
        free = ", ".join(dof.axis.value for dof in joint.dofs)
        found = f"{joint.path} is not free on {axis}" if axis else f"no axis of {joint.path} is named"
        attributes.report.error("axis-locked", path, f"{found}; its free axes are {free}")
        return None
    return articulation.dofs.index(chosen[0])
