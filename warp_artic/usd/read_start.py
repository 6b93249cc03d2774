"""Where joints start: the authored joint state, else what the authored body poses and velocities make of it.

X_FM is the pose of the child-side joint frame in the parent-side one. Positions and velocities are those of the
displacement body0 -> body1, which is the inverse of parent -> child for a reversed joint.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from pxr import Usd

from warp_artic.description.joint import Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector, rotation_vector_from_matrix
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.lookup import DOF_FIELDS, resolve
from warp_artic.usd.read_dof import instances_of

TRANSLATION = 1e-4
"""Distance between pose and joint that is reported [m]."""
ROTATION = math.radians(0.05)
"""Angle between pose and joint that is reported [rad]."""

SPEED = 1e-3
"""Relative velocity across a joint that is reported [m/s or rad/s]."""


def read_start(
    prim: Usd.Prim,
    joint: Joint,
    parent: Link | None,
    child: Link,
    X_PL: Pose,
    moves: bool,
    attributes: Attributes,
) -> Joint:
    """The joint with its start positions and velocities; `moves` where the child has an authored velocity.

    X_PL is the authored pose of the child in the parent, or in the world.
    """
    X_FM = joint.parent_frame.inverse() @ X_PL @ joint.child_frame
    X_01 = X_FM.inverse() if joint.reversed else X_FM
    derived, off_axis = _positions(joint, X_01)
    _report_violation(joint, off_axis, attributes)
    rates = np.zeros(len(joint.dofs))
    if moves:
        rates, forbidden = _rates(joint, X_FM, parent, child)
        _report_forbidden(joint, forbidden, attributes)
    dofs = []
    for dof, position, rate in zip(joint.dofs, derived, rates):
        is_component = joint.has_vector and not dof.axis.is_linear
        dof = _start(prim, dof, is_component, float(position), float(rate), attributes)
        if moves:
            _report_rate(dof, float(rate), attributes)
        dofs.append(dof)
    joint = replace(joint, dofs=tuple(dofs))
    if joint.has_vector:
        _report_rotation(joint, X_01, attributes)
    return joint


def _positions(joint: Joint, X_01: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the dofs, and what the joint does not allow: a translation and a rotation vector."""
    found = np.concatenate([X_01.position, rotation_vector_from_matrix(X_01.rotation)])
    off_axis = found.copy()
    axes = _rows(joint)
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


def _rows(joint: Joint) -> list[int]:
    """The place of each dof among three translations and three rotations."""
    return [dof.axis.index + (0 if dof.axis.is_linear else 3) for dof in joint.dofs]


def _turn(axis: int, angle: float) -> np.ndarray:
    half = 0.5 * angle
    quaternion = [0.0, 0.0, 0.0, math.cos(half)]
    quaternion[axis] = math.sin(half)
    return Pose(quaternion=tuple(quaternion)).rotation


def _report_violation(joint: Joint, off_axis: np.ndarray, attributes: Attributes) -> None:
    distance, angle = np.linalg.norm(off_axis[:3]), np.linalg.norm(off_axis[3:])
    if distance > TRANSLATION or angle > ROTATION:
        text = (
            f"the authored poses of its bodies are {1e3 * distance:.4g} mm and {math.degrees(angle):.4g} degrees off "
            "the axes it leaves free: the simulation starts from the joint"
        )
        attributes.report.warn("pose-violates-joint", joint.path, text)


def _rates(joint: Joint, X_FM: Pose, parent: Link | None, child: Link) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of the dofs from the authored velocities of the bodies, and what the joint does not allow of those.

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
    axes = _rows(joint)
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


def _universal_axis(joint: Joint, dof: Dof, X_FM: Pose) -> np.ndarray:
    """The axis (3) in M about which a dof of a universal joint turns: the twist in frame 1, the swing in frame 0."""
    axis = np.eye(3)[dof.axis.index]
    is_in_M = (dof.axis is joint.cone_axis) != joint.reversed
    return axis if is_in_M else X_FM.rotation.T @ axis


def _report_forbidden(joint: Joint, forbidden: np.ndarray, attributes: Attributes) -> None:
    linear, angular = np.linalg.norm(forbidden[:3]), np.linalg.norm(forbidden[3:])
    if max(linear, angular) > SPEED:
        text = (
            f"the authored velocities of its bodies are {linear:.4g} m/s and {angular:.4g} rad/s off what it leaves "
            "free: the simulation starts without that part"
        )
        attributes.report.warn("velocity-violates-joint", joint.path, text)


def _velocity_at(point, link: Link | None) -> np.ndarray:
    """Linear and angular velocity of a link at a world point; zero for the world."""
    if link is None:
        return np.zeros(6)
    turning = np.array(link.angular_velocity)
    arm = np.asarray(point) - link.pose.apply(link.center_of_mass)
    return np.concatenate([np.array(link.linear_velocity) + np.cross(turning, arm), turning])


def _start(prim: Usd.Prim, dof: Dof, is_component: bool, derived: float, rate: float, attributes: Attributes) -> Dof:
    """The dof at its start; whether its position is a component of a rotation vector."""
    instances = instances_of(prim, dof.axis)
    state = {
        field: resolve(attributes, prim, field, DOF_FIELDS[field], instances, dof.axis.is_linear)
        for field in ("position", "velocity")
    }
    attributes.report.readings[dof.name] += [reading for reading in state.values() if reading is not None]
    if state["position"] is None:
        position = derived if is_component or dof.axis.is_linear else _turn_within(derived, dof)
    else:
        position = state["position"].value
        if not is_component:
            _report_disagreement(dof, position, derived, state["position"].attribute, attributes)
    velocity = rate if state["velocity"] is None else state["velocity"].value
    _report_outside(dof, position, attributes)
    return replace(dof, position=position, velocity=velocity)


def _turn_within(angle: float, dof: Dof) -> float:
    """The angle, or the same a turn on or back that is within the limit, where it has two sides."""
    if dof.limit is None or math.isinf(dof.limit.lower) or math.isinf(dof.limit.upper):
        return angle
    turns = (0, 1, -1)
    for candidate in (angle + 2.0 * math.pi * turn for turn in turns):
        if dof.limit.lower - ROTATION <= candidate <= dof.limit.upper + ROTATION:
            return candidate
    return angle


def _report_disagreement(dof: Dof, position: float, derived: float, attribute: str, attributes: Attributes) -> None:
    difference = position - derived
    if dof.axis.is_linear:
        if abs(difference) > TRANSLATION:
            text = f"is {1e3 * difference:.4g} mm from the authored poses of the bodies; the joint state is used"
            attributes.report.warn("state-disagrees-with-pose", attribute, text)
        return
    difference = math.remainder(difference, 2.0 * math.pi)
    if abs(difference) > ROTATION:
        text = (
            f"is {math.degrees(difference):.4g} degrees from the authored poses of the bodies; the joint state is used"
        )
        attributes.report.warn("state-disagrees-with-pose", attribute, text)


def _report_rotation(joint: Joint, X_01: Pose, attributes: Attributes) -> None:
    """Report where the positions of several rotational dofs, taken together, are not those of the poses."""
    authored, derived = np.zeros(3), rotation_vector_from_matrix(X_01.rotation)
    turns = [dof for dof in joint.dofs if not dof.axis.is_linear]
    for dof in turns:
        authored[dof.axis.index] = dof.position
    for axis in {0, 1, 2} - {dof.axis.index for dof in turns}:
        derived[axis] = 0.0
    R_authored, R_derived = (Pose(quaternion=quaternion_from_rotation_vector(v)).rotation for v in (authored, derived))
    angle = np.linalg.norm(rotation_vector_from_matrix(R_authored.T @ R_derived))
    if angle > ROTATION:
        text = (
            f"its joint state is {math.degrees(angle):.4g} degrees from the authored poses of the bodies; the joint "
            "state is used"
        )
        attributes.report.warn("state-disagrees-with-pose", joint.path, text)


def _report_rate(dof: Dof, rate: float, attributes: Attributes) -> None:
    """Report where the joint state has another velocity than the body, which has one of its own."""
    if not math.isclose(dof.velocity, rate, rel_tol=1e-3, abs_tol=1e-3):
        unit = "m/s" if dof.axis.is_linear else "rad/s"
        found = f"has a velocity of {dof.velocity:.4g} {unit}, its bodies have {rate:.4g}"
        text = f"its joint state {found}; the joint state is used"
        attributes.report.warn("state-disagrees-with-velocity", dof.name, text)


def _report_outside(dof: Dof, position: float, attributes: Attributes) -> None:
    if dof.limit is None:
        return
    excess = max(dof.limit.lower - position, position - dof.limit.upper)
    if dof.axis.is_linear and excess > TRANSLATION:
        text = f"starts at {position:g} m, {1e3 * excess:.4g} mm outside its limit of {dof.limit.lower:g} to "
        attributes.report.warn("start-outside-limit", dof.name, f"{text}{dof.limit.upper:g} m")
    elif not dof.axis.is_linear and excess > ROTATION:
        start, lower, upper = (math.degrees(angle) for angle in (position, dof.limit.lower, dof.limit.upper))
        text = f"starts at {start:g}, {math.degrees(excess):.4g} degrees outside its limit of {lower:g} to {upper:g}"
        attributes.report.warn("start-outside-limit", dof.name, text)
