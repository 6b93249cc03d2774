"""A joint that is no branch of a tree becomes a loop joint: the axes that are not free are held."""

from __future__ import annotations

import math

from pxr import Usd

from warp_artic.description.joint import Dof
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.read_dof import read_dof
from warp_artic.usd.read_limit import read_freedom


def read_loop_joint(
    ends: JointEnds, link0: int, link1: int, inventory: Inventory, attributes: Attributes
) -> LoopJoint | None:
    """The axes that a joint holds; what acts along the others is reported."""
    freedom = read_freedom(ends.prim, inventory, attributes)
    has_cone = freedom.cone_limit is not None
    dofs = [
        read_dof(ends.prim, f"{ends.path}:{axis.value}", axis, limit, has_cone, inventory, attributes)
        for axis, limit in freedom.limits.items()
    ]
    _report_idle(ends.prim, dofs, has_cone, attributes)
    if len(dofs) == 6:
        text = "leaves all six axes free: it has no effect beside the tree"
        attributes.report.warn("loop-joint", ends.path, text)
        attributes.pass_over(ends.prim)
        return None
    return LoopJoint(
        name=ends.path,
        link0=link0,
        link1=link1,
        frame0=ends.end0.frame,
        frame1=ends.end1.frame,
        free=tuple(freedom.limits),
        twist_axis=freedom.cone_axis,
    )


def _report_idle(prim: Usd.Prim, dofs: list[Dof], has_cone: bool, attributes: Attributes) -> None:
    """Say what is authored on the free axes of a loop joint and does not act."""
    found = {
        "a limit": has_cone or any(dof.limit is not None for dof in dofs),
        "a drive": any(dof.drive is not None for dof in dofs),
        "friction": any(dof.friction is not None for dof in dofs),
        "armature": any(dof.armature > 0.0 for dof in dofs),
        "a velocity limit": any(dof.velocity_limit < math.inf for dof in dofs),
    }
    names = [name for name, is_there in found.items() if is_there]
    if names:
        text = f"closes a loop, beside the tree, where {' and '.join(names)} of its free axes is not simulated yet"
        attributes.report.warn("loop-joint", prim.GetPath(), text)
