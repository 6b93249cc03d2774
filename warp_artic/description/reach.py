"""How far links can get: balls around a point of the world that they never leave.

Along a tree on a fixed base, a joint frame is at most as far from the first one as the way there through the links is
long, and each translation adds its limits. Trees that float, that a kinematic body carries, or that have a translation
without hard limits on the way, go anywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.pose import Pose
from warp_artic.description.shape import Shape, ShapeKind


@dataclass(frozen=True)
class Reach:
    """Where the inbound joint of a link can be."""

    center: tuple[float, float, float]
    """In the world [m]."""
    radius: float
    """[m]; infinite: anywhere."""
    joint: tuple[float, float, float]
    """The joint in the link [m]."""


ANYWHERE = Reach((0.0, 0.0, 0.0), math.inf, (0.0, 0.0, 0.0))


def reaches(articulation: Articulation) -> tuple[Reach, ...]:
    """The reach of each link of an articulation."""
    inbound = articulation.inbound
    found: dict[int, Reach] = {}
    for link in range(len(inbound)):
        way = [link]
        while way[-1] not in found and (joint := inbound[way[-1]]) is not None and joint.parent != WORLD:
            way.append(joint.parent)
        for one in reversed(way):
            if one not in found:
                joint = inbound[one]
                if joint is None or articulation.base_motion is not None:
                    found[one] = ANYWHERE
                else:
                    found[one] = _carried(joint, None if joint.parent == WORLD else found[joint.parent])
    return tuple(found[link] for link in range(len(inbound)))


def _carried(joint: Joint, parent: Reach | None) -> Reach:
    slide = math.hypot(*(_farthest(dof) for dof in joint.dofs if dof.axis.is_linear))
    if parent is None:
        return Reach(joint.parent_frame.position, slide, joint.child_frame.position)
    length = math.dist(joint.parent_frame.position, parent.joint)
    return Reach(parent.center, parent.radius + length + slide, joint.child_frame.position)


def _farthest(dof) -> float:
    """The largest distance along a translation."""
    if dof.limit is None or dof.limit.is_soft:
        return math.inf
    return max(abs(dof.limit.lower), abs(dof.limit.upper), abs(dof.position))


def ball_of(shape: Shape) -> tuple[np.ndarray, float]:
    """Centre in the frame of its link, shape (3), and radius [m], of a ball around a shape; infinite for a plane."""
    center = np.zeros(3)
    if shape.kind is ShapeKind.PLANE:
        radius = math.inf
    elif shape.kind is ShapeKind.SPHERE:
        radius = shape.radius
    elif shape.kind is ShapeKind.CAPSULE:
        radius = shape.radius + shape.half_height
    elif shape.kind in (ShapeKind.CYLINDER, ShapeKind.CONE):
        radius = math.hypot(shape.radius, shape.half_height)
    elif shape.kind is ShapeKind.BOX:
        radius = math.hypot(*shape.half_extents)
    elif shape.kind is ShapeKind.ELLIPSOID:
        radius = max(shape.half_extents)
    else:
        points = np.array(shape.points)
        center = 0.5 * (points.min(axis=0) + points.max(axis=0))
        radius = float(np.linalg.norm(points - center, axis=1).max())
    return shape.frame.apply(center), radius


def shape_reach(shape: Shape, reach: Reach) -> tuple[np.ndarray, float]:
    """Centre in the world, shape (3), and radius [m], of a ball that a shape of a link never leaves."""
    center, radius = ball_of(shape)
    return np.asarray(reach.center), reach.radius + math.dist(center, reach.joint) + radius


def start_ball(shape: Shape, pose: Pose) -> tuple[np.ndarray, float]:
    """Centre in the world, shape (3), and radius [m], of a ball around a shape of a link with a pose."""
    center, radius = ball_of(shape)
    return pose.apply(center), radius
