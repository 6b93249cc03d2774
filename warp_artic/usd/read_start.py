"""Where joints start: the authored joint state, else what the authored body poses and velocities make of it.

X_FM is the pose of the child-side joint frame in the parent-side one. Positions and velocities are those of the
displacement body0 -> body1, which is the inverse of parent -> child for a reversed joint.

What is fixed to the world stays where it is authored, whatever frame its joint has there, as with PhysX and Newton: an
asset that is referenced and moved, or copied, has a frame of where it was made.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from pxr import Usd

from warp_artic.description.joint import WORLD, Dof, Joint
from warp_artic.description.limited_positions import cone_excess, limited_positions
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector, rotation_vector_from_matrix
from warp_artic.description.relative_motion import positions_of, rates_of, turn_within
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
    is_carried: bool,
    attributes: Attributes,
) -> Joint:
    """The joint with its start positions and velocities; `moves` where the child has an authored velocity, `is_carried`
    where the joint is on a kinematic body.

    X_PL is the authored pose of the child in the parent, or in the world.
    """
    X_FM = joint.parent_frame.inverse() @ X_PL @ joint.child_frame
    if joint.parent == WORLD and not joint.dofs and not is_carried:
        _report_moved(joint, X_FM, attributes)
        return replace(joint, parent_frame=X_PL @ joint.child_frame)
    X_01 = X_FM.inverse() if joint.reversed else X_FM
    derived, off_axis = positions_of(joint, X_01)
    _report_violation(joint, off_axis, attributes)
    rates = np.zeros(len(joint.dofs))
    if moves:
        rates, forbidden = rates_of(joint, X_FM, parent, child)
        _report_forbidden(joint, forbidden, attributes)
    dofs = []
    for dof, position, rate in zip(joint.dofs, derived, rates):
        is_component = joint.has_vector and not dof.axis.is_linear
        dof = _start(prim, dof, is_component, float(position), float(rate), attributes)
        if moves:
            _report_rate(dof, float(rate), attributes)
        dofs.append(dof)
    joint = replace(joint, dofs=tuple(dofs))
    _report_outside(joint, attributes)
    if joint.has_vector:
        _report_rotation(joint, X_01, attributes)
    return joint


def _report_violation(joint: Joint, off_axis: np.ndarray, attributes: Attributes) -> None:
    distance, angle = np.linalg.norm(off_axis[:3]), np.linalg.norm(off_axis[3:])
    if distance > TRANSLATION or angle > ROTATION:
        text = (
            f"the authored poses of its bodies are {1e3 * distance:.4g} mm and {math.degrees(angle):.4g} degrees off "
            "the axes it leaves free: the simulation starts from the joint"
        )
        attributes.report.warn("pose-violates-joint", joint.path, text)


def _report_moved(joint: Joint, X_FM: Pose, attributes: Attributes) -> None:
    """Tell where the frame of a fixed joint in the world is not where the body is, which then stays."""
    distance, angle = _size(X_FM)
    if is_apart(X_FM):
        text = (
            f"its frame in the world is {1e3 * distance:.4g} mm and {math.degrees(angle):.4g} degrees from that on the "
            "body, which is fixed where it is authored"
        )
        attributes.report.note("base-moved", joint.path, text)


def is_apart(X: Pose) -> bool:
    """Whether two places are apart, by the pose of one in the other."""
    distance, angle = _size(X)
    return distance > TRANSLATION or angle > ROTATION


def _size(X: Pose) -> tuple[float, float]:
    """The distance [m] and the angle [rad] of a pose."""
    return float(np.linalg.norm(X.position)), float(np.linalg.norm(rotation_vector_from_matrix(X.rotation)))


def _report_forbidden(joint: Joint, forbidden: np.ndarray, attributes: Attributes) -> None:
    linear, angular = np.linalg.norm(forbidden[:3]), np.linalg.norm(forbidden[3:])
    if max(linear, angular) > SPEED:
        text = (
            f"the authored velocities of its bodies are {linear:.4g} m/s and {angular:.4g} rad/s off what it leaves "
            "free: the simulation starts without that part"
        )
        attributes.report.warn("velocity-violates-joint", joint.path, text)


def _start(prim: Usd.Prim, dof: Dof, is_component: bool, derived: float, rate: float, attributes: Attributes) -> Dof:
    """The dof at its start; whether its position is a component of a rotation vector."""
    instances = instances_of(prim, dof.axis)
    state = {
        field: resolve(attributes, prim, field, DOF_FIELDS[field], instances, dof.axis.is_linear)
        for field in ("position", "velocity")
    }
    attributes.report.readings[dof.name] += [reading for reading in state.values() if reading is not None]
    if state["position"] is None:
        position = derived if is_component or dof.axis.is_linear else turn_within(derived, dof, ROTATION)
    else:
        position = state["position"].value
        if not is_component:
            _report_disagreement(dof, position, derived, state["position"].attribute, attributes)
    velocity = rate if state["velocity"] is None else state["velocity"].value
    return replace(dof, position=position, velocity=velocity)


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


def _report_outside(joint: Joint, attributes: Attributes) -> None:
    """Report what starts outside of its limits."""
    positions = np.array([dof.position for dof in joint.dofs])
    for dof, position in zip(joint.dofs, limited_positions(joint, positions).tolist()):
        if dof.limit is None:
            continue
        excess = max(dof.limit.lower - position, position - dof.limit.upper)
        if dof.axis.is_linear and excess > TRANSLATION:
            text = f"starts at {position:g} m, {1e3 * excess:.4g} mm outside its limit of {dof.limit.lower:g} to "
            attributes.report.warn("start-outside-limit", dof.name, f"{text}{dof.limit.upper:g} m")
        elif not dof.axis.is_linear and excess > ROTATION:
            start, lower, upper = (math.degrees(angle) for angle in (position, dof.limit.lower, dof.limit.upper))
            text = (
                f"starts at {start:g}, {math.degrees(excess):.4g} degrees outside its limit of {lower:g} to {upper:g}"
            )
            attributes.report.warn("start-outside-limit", dof.name, text)
    if joint.cone_limit is not None:
        excess = float(cone_excess(joint, positions))
        if excess > ROTATION:
            text = f"starts {math.degrees(excess):.4g} degrees outside its cone"
            attributes.report.warn("start-outside-limit", joint.path, text)
