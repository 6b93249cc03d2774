"""Joints that are no branch of a tree but constrain two links of one, by the reader of their type."""

from __future__ import annotations

from collections.abc import Callable

from warp_artic.description.articulation import Articulation
from warp_artic.description.constraint import Constraint
from warp_artic.description.joint import WORLD
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.read_distance import read_distance
from warp_artic.usd.read_loop_joint import read_loop_joint

Reader = Callable[[JointEnds, int, int, Inventory, Attributes], Constraint | None]
"""Reads a joint between the links of two indices; None, and an error, where it cannot be read."""

READERS: dict[str, Reader] = {
    **dict.fromkeys(tokens.TREE_JOINTS, read_loop_joint),
    tokens.DISTANCE_JOINT: read_distance,
}
"""By the type of the prim."""
TO_WORLD = frozenset(tokens.TREE_JOINTS)
"""Types of which one end may be the world."""


def read_link_joints(
    articulation: Articulation, others: list[JointEnds], inventory: Inventory, attributes: Attributes
) -> tuple[Constraint, ...]:
    """The constraints between links of an articulation; joints that are read are taken from the others."""
    bodies, found = articulation.bodies, []
    for ends in tuple(others):
        kind = str(ends.prim.GetTypeName())
        reader, links = READERS.get(kind), (ends.end0.body, ends.end1.body)
        own = {**bodies, None: WORLD} if kind in TO_WORLD else bodies
        if reader is None or any(link not in own for link in links):
            continue
        others.remove(ends)
        constraint = reader(ends, own[links[0]], own[links[1]], inventory, attributes)
        if constraint is None:
            attributes.pass_over(ends.prim)
        else:
            found.append(constraint)
            inventory.link_joints.add(ends.path)
    return tuple(found)
