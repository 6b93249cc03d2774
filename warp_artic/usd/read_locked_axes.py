"""Axes of the world along or about which the schema of PhysX locks a rigid body (PxRigidDynamicLockFlags).

The centre of mass stays where it is along locked axes; where rotations are locked, the body turns about the others
alone. That is a joint to the world at the centre of mass, with the axes of the world. Links of articulations have no
such locks in PhysX, nor here.
"""

from __future__ import annotations

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory

AXES = (tuple(Axis)[:3], tuple(Axis)[3:])
"""That each of the two attributes locks."""


def read_locked_axes(
    articulation: Articulation, is_articulation: bool, inventory: Inventory, attributes: Attributes
) -> tuple[LoopJoint, ...]:
    """A joint to the world for each link with locked axes; none, and a note, where they are of an articulation root."""
    found = []
    for path, index in articulation.bodies.items():
        prim = inventory.bodies[path]
        if attributes.names(prim).isdisjoint(tokens.LOCKED_AXES):
            continue
        locked = [
            axis for name, group in zip(tokens.LOCKED_AXES, AXES) for axis in _locked(prim, name, group, attributes)
        ]
        if locked and is_articulation:
            text = "has locked axes, which have no effect on a link of an articulation"
            attributes.report.note("locked-axes", path, text)
        elif locked:
            found.append(_joint(index, articulation.links[index], locked))
    return tuple(found)


def _locked(prim: Usd.Prim, name: str, group: tuple[Axis, ...], attributes: Attributes) -> list[Axis]:
    """The axes of a group that an attribute locks."""
    value = attributes.number(prim, name, 0)
    if value not in range(8):
        text = f"is {value:g}, must be a sum of 1 for X, 2 for Y and 4 for Z"
        attributes.report.error("attribute-value", f"{prim.GetPath()}.{name}", text)
        return []
    return [axis for axis in group if int(value) >> axis.index & 1]


def _joint(index: int, link: Link, locked: list[Axis]) -> LoopJoint:
    """The joint at the centre of mass of a link, with the axes of the world at the start."""
    center = Pose(position=link.center_of_mass)
    in_world = Pose(position=(link.pose @ center).position)
    rotations = [axis for axis in locked if not axis.is_linear]
    return LoopJoint(
        name=link.path,
        link0=WORLD,
        link1=index,
        frame0=in_world,
        frame1=link.pose.inverse() @ in_world,
        free=tuple(axis for axis in Axis if axis not in locked),
        twist_axis=rotations[0] if len(rotations) == 1 else Axis.ROT_X,
    )
