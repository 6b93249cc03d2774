"""What else joins a tree to the world moves with its base, where that is not where its joint has it.

A tree whose root is fixed to the world stays where it is authored (`read_start`). Where the joint has another place for
it, the asset was moved, and with it go the frames in the world of the joints that close its loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from warp_artic.description.constraint import Constraint
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.pose import Pose
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.joint_ends import JointEnd, JointEnds
from warp_artic.usd.read_start import is_apart


def way_of_base(joints: Sequence[Joint], ends: Sequence[JointEnds], attributes: Attributes) -> Pose | None:
    """By which the base of a tree with these joints was moved in the world; None where it was not.

    `ends` are those of its joints to the world.
    """
    roots = {joint.path: joint for joint in joints if joint.parent == WORLD and not joint.dofs}
    for one in ends:
        root = roots.get(one.path)
        for side, end in enumerate((one.end0, one.end1)):
            if root is not None and _is_in_world(one, side, end, attributes):
                way = root.parent_frame @ end.frame.inverse()
                return way if is_apart(way) else None
    return None


def with_base(ends: JointEnds, way: Pose, attributes: Attributes) -> JointEnds:
    """A joint beside a tree whose base was moved, its frame in the world moved as well; that is told."""
    moved = {
        f"end{side}": replace(end, frame=way @ end.frame)
        for side, end in enumerate((ends.end0, ends.end1))
        if _is_in_world(ends, side, end, attributes)
    }
    if moved:
        tell_moved(ends.path, attributes)
    return replace(ends, **moved)


def tell_moved(path: str, attributes: Attributes) -> None:
    """Say of a joint that its frame in the world is not where it is authored."""
    text = "its frame in the world goes with the base of its tree, which is fixed where it is authored"
    attributes.report.note("base-moved", path, text)


def moved_constraint(one: Constraint, way: Pose) -> Constraint:
    """A constraint, what of it is in the world moved."""
    known, changes = {field.name for field in fields(one)}, {}
    for name in one.own_links:
        if getattr(one, name) != WORLD:
            continue
        frame, position = name.replace("link", "frame"), name.replace("link", "position")
        if frame in known:
            changes[frame] = way @ getattr(one, frame)
        elif position in known:
            changes[position] = (way @ Pose(getattr(one, position))).position
    return replace(one, **changes)


def _is_in_world(ends: JointEnds, side: int, end: JointEnd, attributes: Attributes) -> bool:
    """Whether an end leads to no prim."""
    return end.body is None and end.carrier is None and not attributes.targets(ends.prim, f"physics:body{side}")
