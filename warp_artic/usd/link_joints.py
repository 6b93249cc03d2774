"""Joints that are no branch of a tree but constrain two links, of one tree or of two, by the reader of their type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from warp_artic.description.articulation import Articulation
from warp_artic.description.constraint import Constraint
from warp_artic.description.joint import WORLD
from warp_artic.description.pose import Pose
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.moved_bases import with_base
from warp_artic.usd.read_distance import read_distance
from warp_artic.usd.read_loop_joint import read_loop_joint
from warp_artic.usd.read_mjc_equalities import is_equality_of_bodies, read_equality

Reader = Callable[[JointEnds, int, int, Inventory, Attributes], Constraint | None]
"""Reads a joint between the links of two indices; None, and an error, where it cannot be read."""

READERS: dict[str, Reader] = {
    **dict.fromkeys(tokens.TREE_JOINTS, read_loop_joint),
    tokens.DISTANCE_JOINT: read_distance,
}
"""By the type of the prim, but for equalities of the MuJoCo dialect."""


def _reader(ends: JointEnds, inventory: Inventory) -> Reader | None:
    kind = str(ends.prim.GetTypeName())
    if kind in tokens.TREE_JOINTS and is_equality_of_bodies(ends.prim, inventory):
        return read_equality
    return READERS.get(kind)


def read_link_joints(
    articulation: Articulation,
    others: list[JointEnds],
    way: Pose | None,
    inventory: Inventory,
    attributes: Attributes,
) -> tuple[Constraint, ...]:
    """The constraints between links of an articulation; joints that are read are removed from `others`.

    `way` is that by which its base was moved, if it was.
    """
    own, found = {**articulation.bodies, None: WORLD}, []
    for ends in tuple(others):
        reader, links = _reader(ends, inventory), (ends.end0.body, ends.end1.body)
        if reader is None or any(link not in own for link in links):
            continue
        others.remove(ends)
        ends = ends if way is None else with_base(ends, way, attributes)
        constraint = reader(ends, own[links[0]], own[links[1]], inventory, attributes)
        inventory.link_joints.add(ends.path)
        if constraint is None:
            attributes.pass_over(ends.prim)
        else:
            carrier = articulation.base_motion and articulation.base_motion.path
            found.append(replace(constraint, on_carrier=carrier is not None and ends.carrier == carrier))
    return tuple(found)


def with_joints_between(
    articulations: Sequence[Articulation | None], others: list[JointEnds], inventory: Inventory, attributes: Attributes
) -> list[Articulation | None]:
    """Articulations with the constraints between links of two of them, each in that of its first link.

    Joints that are read are removed from `others`.
    """
    home = {
        path: (place, link)
        for place, one in enumerate(articulations)
        if one is not None
        for path, link in one.bodies.items()
    }
    made = list(articulations)
    for ends in tuple(others):
        reader, bodies = _reader(ends, inventory), (ends.end0.body, ends.end1.body)
        if reader is None or any(body not in home for body in bodies):
            continue
        others.remove(ends)
        (first, link0), (second, link1) = (home[body] for body in bodies)
        constraint = reader(ends, link0, link1, inventory, attributes)
        inventory.link_joints.add(ends.path)
        if constraint is None:
            attributes.pass_over(ends.prim)
            continue
        constraint = replace(constraint, articulation1=made[second].path)
        made[first] = replace(made[first], constraints=(*made[first].constraints, constraint))
    return made
