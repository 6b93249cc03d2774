"""What the poses and velocities of two bodies are as positions and velocities of a joint between them.

X_FM is the pose of the child-side joint frame in the parent-side one. Positions and velocities are those of the
displacement body0 -> body1, X_01, which is the inverse of parent -> child for a reversed joint.
"""

from __future__ import annotations

import math

import numpy as np

from warp_artic.description.joint import Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose, rotation_vector_from_matrix


def positions_of(joint: Joint, X_01: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the dofs, and what the joint does not allow: a translation and a rotation vector."""
    found = np.concatenate([X_01.position, rotation_vector_from_matrix(X_01.rotation)])
    off_axis = found.copy()
    axes = _places(joint)
    turns = [axis - 3 for axis in axes if axis >= 3]
    if len(turns) == 1:
        x, y, z, w = X_01.quaternion
        (axis,) = turns
        angle = 2.0 * math.atan2((x, y, z)[axis], w)
        swing = Pose.of((0, 0, 0), X_01.rotation @ _turn(axis, -angle))
        off_axis[3:] = rotation_vector_from_matrix(swing.rotation)
        found[3 + axis] = math.remainder(angle, 2.0 * math.pi)
    if joint.is_universal:
        found[3:], off_axis[3:] = _universal_angles(joint, X_01.rotation)
    off_axis[axes] = 0.0
    return found[axes], off_axis


def rates_of(joint: Joint, X_FM: Pose, parent: Link | None, child: Link) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of the dofs from the velocities of the bodies, and what the joint does not allow of those.

    Velocities are relative ones of the authored displacement: of the origin of frame 1, in the axes of frame 0, then
    angular, in the axes of M. Two free swings keep the twist component of the rotation vector: with the quaternion
    (x, w) of R_FM, that of w omega + x cross omega is zero. The rates of a universal joint are the components of the
    angular velocity along its two axes.
    """
    X_WM = child.pose @ joint.child_frame
    ends = [(X_WM @ X_FM.inverse(), parent), (X_WM, child)]
    (X_W0, link_0), (X_W1, link_1) = reversed(ends) if joint.reversed else ends
    relative = _velocity_at(X_W1.position, link_1) - _velocity_at(X_W1.position, link_0)
    relative = np.concatenate([X_W0.rotation.T @ relative[:3], X_WM.rotation.T @ relative[3:]])
    axes = _places(joint)
    allowed = np.zeros(6)
    allowed[axes] = relative[axes]
    if joint.is_zero_twist:
        *x, w = X_FM.quaternion
        third = joint.cone_axis.index + 3
        allowed[third] = -np.cross(x, allowed[3:])[third - 3] / w if w else relative[third]
    if joint.is_universal:
        slides = len(axes) - 2
        turns = np.array([_universal_axis(joint, dof, X_FM) for dof in joint.rotations])
        rates = turns @ relative[3:]
        allowed[3:] = rates @ turns
        return np.array([*relative[axes[:slides]], *rates]), relative - allowed
    return relative[axes], relative - allowed


def turn_within(angle: float, dof: Dof, slack: float) -> float:
    """The angle, or the same a turn on or back that is within the limit, but for some slack, where it has two sides."""
    if dof.limit is None or math.isinf(dof.limit.lower) or math.isinf(dof.limit.upper):
        return angle
    turns = (0, 1, -1)
    for candidate in (angle + 2.0 * math.pi * turn for turn in turns):
        if dof.limit.lower - slack <= candidate <= dof.limit.upper + slack:
            return candidate
    return angle


def _universal_angles(joint: Joint, R_01: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Twist a and swing b of R_01 = R_u(b) R_w(c) R_x(a) in the places of their axes, and c in that of the locked one.

    The locked turn c is between the two; where it is zero, the rotation is one of the joint.
    """
    twist = joint.cone_axis.index
    (swing,) = (dof.axis.index for dof in joint.rotations if dof.axis is not joint.cone_axis)
    locked = 3 - twist - swing
    hand = 1.0 if (swing - twist) % 3 == 1 else -1.0  # of (twist, swing, locked)
    x = R_01[:, twist]
    b = math.atan2(-hand * x[locked], x[twist])
    c = math.atan2(hand * x[swing], math.hypot(x[twist], x[locked]))
    R_a = _turn(locked, -c) @ _turn(swing, -b) @ R_01
    angles, off_axis = np.zeros(3), np.zeros(3)
    angles[twist] = math.atan2(hand * R_a[locked, swing], R_a[swing, swing])
    angles[swing], off_axis[locked] = b, c
    return angles, off_axis


def _places(joint: Joint) -> list[int]:
    """The place of each dof among three translations and three rotations."""
    return [dof.axis.index + (0 if dof.axis.is_linear else 3) for dof in joint.dofs]


def _turn(axis: int, angle: float) -> np.ndarray:
    half = 0.5 * angle
    quaternion = [0.0, 0.0, 0.0, math.cos(half)]
    quaternion[axis] = math.sin(half)
    return Pose(quaternion=tuple(quaternion)).rotation


def _universal_axis(joint: Joint, dof: Dof, X_FM: Pose) -> np.ndarray:
    """The axis (3) in M about which a dof of a universal joint turns: the twist in frame 1, the swing in frame 0."""
    axis = np.eye(3)[dof.axis.index]
    is_in_M = (dof.axis is joint.cone_axis) != joint.reversed
    return axis if is_in_M else X_FM.rotation.T @ axis


def _velocity_at(point, link: Link | None) -> np.ndarray:
    """Linear and angular velocity of a link at a world point; zero for the world."""
    if link is None:
        return np.zeros(6)
    turning = np.array(link.angular_velocity)
    arm = np.asarray(point) - link.pose.apply(link.center_of_mass)
    return np.concatenate([np.array(link.linear_velocity) + np.cross(turning, arm), turning])
