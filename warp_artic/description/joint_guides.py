"""What is to be seen of joints that are not: their frames, and outlines of their limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warp_artic.description import limit_outlines
from warp_artic.description.articulation import Articulation
from warp_artic.description.distance import Distance
from warp_artic.description.joint import WORLD, Axis, Joint
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene

SHARE = 0.5
"""Size of the guides of an articulation, by how far its joints are from centres of mass."""
SMALLEST = 1e-3
"""[m]"""
OF_AXES = ((0.85, 0.2, 0.2), (0.25, 0.7, 0.25), (0.25, 0.4, 0.9))
"""Colours of X, Y, Z, and of limits along or about one of them."""
OF_SEVERAL = (0.95, 0.7, 0.15)
"""Colour of limits of several axes together."""
Color = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points (P, 3) [m]."""

    points: np.ndarray
    color: Color


@dataclass(frozen=True)
class End:
    """A frame on a link of an articulation, or in the world."""

    articulation: Articulation
    link: int
    """Index of a link, or WORLD: then it is on the body that carries the articulation, if one does."""
    frame: Pose


@dataclass(frozen=True, kw_only=True, eq=False)
class JointGuide:
    """A joint, with the limits that it has in its first frame, and that of the twist in the frame that has swung."""

    path: str
    first: End
    second: End
    size: float
    """[m]"""
    twist_axis: int = 0
    limits: tuple[Line, ...] = ()
    twist_limits: tuple[Line, ...] = ()
    """In the second frame without its twist about the twist axis."""


def joint_guides(scene: Scene) -> Iterator[JointGuide]:
    """Of all joints of a scene that are enabled, in the order of paths; one for each path."""
    trees = {tree.path: tree for tree in scene.articulations}
    found: dict[str, JointGuide] = {}
    for tree in scene.articulations:
        size = guide_size(tree)
        free = {joint.path: tuple(dof.axis for dof in joint.dofs) for joint in tree.joints}
        own = [_of_joint(joint, tree, size) for joint in tree.joints]
        own += [_of_loop(loop, tree, trees, free, size) for loop in tree.constraints_of(LoopJoint) if loop.enabled]
        own += [_of_distance(one, tree, trees, size) for one in tree.constraints_of(Distance) if one.enabled]
        for guide in own:
            known = found.get(guide.path)
            found[guide.path] = guide if known is None else replace(known, limits=known.limits + guide.limits)
    for path in sorted(found):
        yield found[path]


def guide_size(tree: Articulation) -> float:
    """Length of the axes that are drawn of the joints of an articulation [m].

    By the median over its links of the distance from the centre of mass to the farthest joint on it, or of the radius
    of gyration where that is larger.
    """
    reaches = [_radius_of_gyration(link) for link in tree.links]
    places = [(joint.parent, joint.parent_frame.position) for joint in tree.joints]
    places += [(joint.child, joint.child_frame.position) for joint in tree.joints]
    for loop in tree.constraints_of(LoopJoint):
        ends = ((loop.link0, loop.frame0.position), (loop.link1, loop.frame1.position))
        places += ends[: len(loop.own_links)]
    for link, place in places:
        if link != WORLD:
            reaches[link] = max(reaches[link], math.dist(place, tree.links[link].center_of_mass))
    reaches = [reach for reach, link in zip(reaches, tree.links) if not link.is_massless]
    return max(SMALLEST, SHARE * float(np.median(reaches)))


def _radius_of_gyration(link) -> float:
    return math.sqrt(max(0.0, float(np.trace(link.inertia_matrix))) / (2.0 * link.mass)) if link.mass > 0.0 else 0.0


def _of_joint(joint: Joint, tree: Articulation, size: float) -> JointGuide:
    ends = End(tree, joint.parent, joint.parent_frame), End(tree, joint.child, joint.child_frame)
    first, second = reversed(ends) if joint.reversed else ends
    limits = {dof.axis: dof.limit for dof in joint.dofs}
    lines, of_twist = _limit_lines(limits, joint.cone_axis, joint.cone_limit, size)
    return JointGuide(
        path=joint.path,
        first=first,
        second=second,
        size=size,
        twist_axis=joint.cone_axis.index,
        limits=lines,
        twist_limits=of_twist,
    )


def _of_loop(
    loop: LoopJoint, tree: Articulation, trees: dict[str, Articulation], free: dict[str, tuple[Axis, ...]], size: float
) -> JointGuide:
    """One beside a joint of the tree leaves all axes free, of which `free` has those that the joint does."""
    limits = dict.fromkeys(loop.free) | dict(loop.limits)
    lines, of_twist = _limit_lines(limits, loop.twist_axis, loop.cone_limit, size)
    if loop.distance_limit is not None:
        axes = [axis.index for axis in free.get(loop.name, loop.free) if axis.is_linear]
        lines += _lines(limit_outlines.distance(axes, loop.distance_limit, size), OF_SEVERAL)
    return JointGuide(
        path=loop.name,
        first=End(tree, loop.link0, loop.frame0),
        second=End(trees.get(loop.articulation1, tree), loop.link1, loop.frame1),
        size=size,
        twist_axis=loop.twist_axis.index,
        limits=lines,
        twist_limits=of_twist,
    )


def _of_distance(one: Distance, tree: Articulation, trees: dict[str, Articulation], size: float) -> JointGuide:
    """Its frames have the axes of the links."""
    limit = Limit(lower=one.lower, upper=one.upper)
    return JointGuide(
        path=one.name,
        first=End(tree, one.link0, Pose(one.position0)),
        second=End(trees.get(one.articulation1, tree), one.link1, Pose(one.position1)),
        size=size,
        limits=_lines(limit_outlines.distance((0, 1, 2), limit, size), OF_SEVERAL),
    )


def _limit_lines(
    limits: dict[Axis, Limit | None], twist: Axis, cone: ConeLimit | None, size: float
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Of the free axes, each with its limit or None: what is in the first frame, and what is in the swung one."""
    rotations = [axis for axis in limits if not axis.is_linear]
    bounded = {axis: limit for axis, limit in limits.items() if limit is not None}
    in_first: tuple[Line, ...] = ()
    in_swung: tuple[Line, ...] = ()
    swings = [axis for axis in _following(twist) if axis in bounded] if len(rotations) > 1 else []
    for axis, limit in bounded.items():
        color = OF_AXES[axis.index]
        if axis.is_linear:
            in_first += _lines(limit_outlines.segment(axis.index, limit, size), color)
        elif len(rotations) == 1:
            in_first += _lines(limit_outlines.sector(axis.index, (axis.index + 1) % 3, limit, size), color)
        elif axis is twist:
            in_swung += _lines(limit_outlines.sector(axis.index, (axis.index + 1) % 3, limit, size), color)
        elif len(swings) == 1:
            in_first += _lines(limit_outlines.sector(axis.index, twist.index, limit, size), color)
    if len(swings) == 2:
        pair = [bounded[axis] for axis in swings]
        in_first += _lines(limit_outlines.pyramid(twist.index, pair, size), OF_SEVERAL)
    if cone is not None:
        in_first += _lines(limit_outlines.cone(twist.index, cone, size), OF_SEVERAL)
    return in_first, in_swung


def _following(twist: Axis) -> tuple[Axis, Axis]:
    """The axes of the swings."""
    turns = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)
    return turns[(twist.index + 1) % 3], turns[(twist.index + 2) % 3]


def _lines(outlines: Iterator[np.ndarray], color: Color) -> tuple[Line, ...]:
    return tuple(Line(points, color) for points in outlines)


def axis_lines(size: float) -> Sequence[Line]:
    """The axes of a frame."""
    return [Line(np.outer([0.0, size], axis), color) for axis, color in zip(np.eye(3), OF_AXES)]
