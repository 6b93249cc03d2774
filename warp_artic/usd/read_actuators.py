"""Actuators of the Newton and MuJoCo schemas on one joint: those that are servos become its drive."""

from __future__ import annotations

from pxr import Usd

from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import report_difference
from warp_artic.usd.mjc import mjc_position
from warp_artic.usd.read_mjc_actuators import mjc_servo
from warp_artic.usd.read_newton_actuators import newton_servo
from warp_artic.usd.report import Reading
from warp_artic.usd.servo import Servo, report_actuator

LINEAR = {
    "stiffness": units.LINEAR_STIFFNESS,
    "damping": units.LINEAR_DAMPING,
    "position_target": units.DISTANCE,
    "velocity_target": units.LINEAR_VELOCITY,
    "max_force": units.FORCE,
    "max_velocity": units.LINEAR_VELOCITY,
    "velocity_gradient": units.LINEAR_GRADIENT,
}
ANGULAR = {
    "stiffness": units.ANGULAR_STIFFNESS_PER_RADIAN,
    "damping": units.ANGULAR_DAMPING_PER_RADIAN,
    "position_target": units.RADIAN,
    "velocity_target": units.RADIAN_RATE,
    "max_force": units.TORQUE,
    "max_velocity": units.RADIAN_RATE,
    "velocity_gradient": units.RADIAN_GRADIENT,
}
"""Quantities of a drive; angles are in radians here, whatever the scene says."""


def read_actuators(prim: Usd.Prim, is_linear: bool, inventory: Inventory, attributes: Attributes) -> dict[str, Reading]:
    """The values of the drive that the actuators of a joint make together; empty where they make none.

    Where actuators of both families are on it, those of the family that comes first count.
    """
    found: dict[str, Reading] = {}
    for kind in sorted((tokens.NEWTON_ACTUATOR, tokens.MJC_ACTUATOR), key=attributes.rank):
        other = _of_family(prim, kind, is_linear, inventory, attributes)
        for field, reading in other.items() if found else ():
            if field in found:
                report_difference(found[field], reading, attributes)
        found = found or other
    return found


def report_other_actuators(inventory: Inventory, attributes: Attributes) -> None:
    """Report actuators on anything but a hinge or a slide."""
    for prim in inventory.actuators.values():
        name = tokens.ACTUATOR_TARGETS[prim.GetTypeName()]
        targets = [str(target) for target in attributes.targets(prim, name)]
        if len(targets) != 1 or targets[0] not in inventory.joint_actuators:
            text = f"acts on {', '.join(targets) or 'nothing'}, not on one hinge or slide"
            report_actuator(prim, text, attributes)


def _of_family(
    prim: Usd.Prim, kind: str, is_linear: bool, inventory: Inventory, attributes: Attributes
) -> dict[str, Reading]:
    """The values that the actuators of one type make."""
    servos: list[Servo] = []
    for actuator in inventory.joint_actuators.get(str(prim.GetPath()), ()):
        if actuator.GetTypeName() != kind:
            continue
        is_mjc = kind == tokens.MJC_ACTUATOR
        servo = mjc_servo(actuator, attributes) if is_mjc else newton_servo(actuator, inventory, attributes)
        if servo is None:
            attributes.pass_over(actuator)
        elif servos and (servo.is_bounded or servos[0].is_bounded):
            text = f"is the second one on {prim.GetPath()}, after {servos[0].path}, and one of them has a force range"
            report_actuator(actuator, text, attributes)
        else:
            servos.append(servo)
    if not servos:
        return {}
    stiffness, damping = sum(one.stiffness for one in servos), sum(one.damping for one in servos)
    start = mjc_position(prim, "mjc:ref", is_linear, inventory, attributes)
    first = servos[0]
    values = {
        "stiffness": stiffness,
        "damping": damping,
        "position_target": sum(one.push for one in servos) / stiffness if stiffness > 0.0 else 0.0,
        "velocity_target": sum(one.rate_push for one in servos) / damping if damping > 0.0 else 0.0,
        "max_force": first.bound,
        "max_velocity": first.max_velocity,
        "velocity_gradient": first.velocity_gradient,
    }
    quantities = LINEAR if is_linear else ANGULAR
    readings = {}
    for field, name in first.names.items():
        quantity = quantities[field]
        si = attributes.units.si(values[field], quantity) - (start if field == "position_target" else 0.0)
        path = f"{first.path}.{name}"
        readings[field] = Reading(field, path, values[field], quantity.authored, si, quantity.si)
    return readings
