"""Joints that are no branch of a tree but constrain two links of one, by the reader of their type."""

from __future__ import annotations

from collections.abc import Callable

from warp_artic.description.articulation import Articulation
from warp_artic.description.constraint import Constraint
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.read_distance import read_distance

Reader = Callable[[JointEnds, int, int, Inventory, Attributes], Constraint | None]
"""Reads a joint between the links of two indices; None, and an error, where it cannot be read."""

READERS: dict[str, Reader] = {tokens.DISTANCE_JOINT: read_distance}
"""By the type of the prim."""


def read_link_joints(
    articulation: Articulation, others: list[JointEnds], inventory: Inventory, attributes: Attributes
) -> tuple[Constraint, ...]:
    """The constraints between links of an articulation; joints that are read are taken from the others."""
    bodies, found = articulation.bodies, []
    for ends in tuple(others):
        reader = READERS.get(str(ends.prim.GetTypeName()))
        if reader is None or ends.end0.body not in bodies or ends.end1.body not in bodies:
            continue
        others.remove(ends)
        constraint = reader(ends, bodies[ends.end0.body], bodies[ends.end1.body], inventory, attributes)
        if constraint is None:
            attributes.pass_over(ends.prim)
        else:
            found.append(constraint)
            inventory.link_joints.add(ends.path)
    return tuple(found)
