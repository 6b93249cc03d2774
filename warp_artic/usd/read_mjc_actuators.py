"""Actuators of the MuJoCo dialect on one joint: position and velocity servos become its drive.

effort = gear (gain ctrl + bias0 + bias1 length + bias2 rate), of a length and rate gear (ref + q) and gear v. Controls
start at zero, or at the bound of their range that is nearest to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pxr import Usd

from warp_artic.usd import units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.mjc import mjc_position, mjc_range, symmetric_bound
from warp_artic.usd.report import Reading

TYPES = {
    "mjc:gainType": ("fixed", ("fixed", "affine", "muscle", "user")),
    "mjc:biasType": ("none", ("none", "affine", "muscle", "user")),
    "mjc:dynType": ("none", ("none", "integrator", "filter", "filterexact", "muscle", "user")),
}
"""Default and allowed words."""
SERVOS = ("none", "affine")
"""Biases that are read."""
FIELDS = ("stiffness", "damping", "position_target", "velocity_target", "max_force")
LINEAR = dict(
    zip(FIELDS, (units.LINEAR_STIFFNESS, units.LINEAR_DAMPING, units.DISTANCE, units.LINEAR_VELOCITY, units.FORCE))
)
ANGULAR = dict(
    zip(
        FIELDS,
        (
            units.ANGULAR_STIFFNESS_PER_RADIAN,
            units.ANGULAR_DAMPING_PER_RADIAN,
            units.RADIAN,
            units.RADIAN_RATE,
            units.TORQUE,
        ),
    )
)
"""Quantities of a drive; angles are in radians here, whatever the scene says."""


@dataclass(frozen=True)
class _Servo:
    """An actuator in stage units, angles in radians."""

    path: str
    stiffness: float
    damping: float
    push: float
    """stiffness times the position target, without ref."""
    rate_push: float
    """damping times the velocity target."""
    bound: float


def read_mjc_actuators(
    prim: Usd.Prim, is_linear: bool, inventory: Inventory, attributes: Attributes
) -> dict[str, Reading]:
    """The values of the drive that the actuators of a joint make together; empty where they make none."""
    servos: list[_Servo] = []
    for actuator in inventory.actuators.get(str(prim.GetPath()), ()):
        servo = _read(actuator, attributes)
        if servo is None:
            attributes.pass_over(actuator)
        elif servos and min(servo.bound, servos[0].bound) < math.inf:
            text = f"is the second one on {prim.GetPath()}, after {servos[0].path}, and one of them has a force range"
            _report(actuator, text, attributes)
        else:
            servos.append(servo)
    if not servos:
        return {}
    stiffness, damping = sum(one.stiffness for one in servos), sum(one.damping for one in servos)
    start = mjc_position(prim, "mjc:ref", is_linear, inventory, attributes)
    target = sum(one.push for one in servos) / stiffness if stiffness > 0.0 else 0.0
    rate_target = sum(one.rate_push for one in servos) / damping if damping > 0.0 else 0.0
    found = (
        ("stiffness", "biasPrm", stiffness, 0.0),
        ("damping", "biasPrm", damping, 0.0),
        ("position_target", "ctrlRange", target, 0.0 - start),
        ("velocity_target", "ctrlRange", rate_target, 0.0),
        ("max_force", "forceRange", servos[0].bound, 0.0),
    )
    quantities = LINEAR if is_linear else ANGULAR
    return {
        field: Reading(
            field,
            f"{servos[0].path}.mjc:{name}",
            authored,
            quantities[field].authored,
            attributes.units.si(authored, quantities[field]) + shift,
            quantities[field].si,
        )
        for field, name, authored, shift in found
    }


def report_other_actuators(inventory: Inventory, attributes: Attributes) -> None:
    """Report actuators on anything but a hinge or a slide."""
    for prim in inventory.mjc_actuators.values():
        targets = [str(target) for target in attributes.targets(prim, "mjc:target")]
        if len(targets) != 1 or targets[0] not in inventory.actuators:
            _report(prim, f"acts on {', '.join(targets) or 'nothing'}, not on one hinge or slide", attributes)


def _read(prim: Usd.Prim, attributes: Attributes) -> _Servo | None:
    """What an actuator adds to a drive; None, and a finding, where that is nothing."""
    words = {name: attributes.token(prim, name, *known) for name, known in TYPES.items()}
    gain, bias, gears = (attributes.numbers(prim, f"mjc:{name}") for name in ("gainPrm", "biasPrm", "gear"))
    controls = mjc_range(prim, "mjc:ctrlLimited", "mjc:ctrlRange", attributes)
    efforts = mjc_range(prim, "mjc:forceLimited", "mjc:forceRange", attributes)
    if None in (gain, bias, gears):
        return None
    gear, gain = (numbers[0] if numbers else 1.0 for numbers in (gears, gain))
    b0, b1, b2 = (*bias, 0.0, 0.0, 0.0)[:3]
    if words["mjc:gainType"] != "fixed" or words["mjc:dynType"] != "none" or words["mjc:biasType"] not in SERVOS:
        named = ", ".join(f"{name} {word}" for name, word in words.items())
        return _report(prim, f"its law is one of {named}", attributes)
    if words["mjc:biasType"] == "none":
        text = f"is a motor: its effort is {gear * gain:g} times its control, which is zero at the start"
        attributes.report.note("motor", prim.GetPath(), f"{text}; give the effort to the joint")
        return None
    is_position, is_velocity = b1 < 0.0 and gain == -b1, b1 == 0.0 and b2 < 0.0 and gain == -b2
    if not (is_position or is_velocity) or b0 != 0.0 or b2 > 0.0 or gear == 0.0:
        found = f"its gain {gain:g} and bias {b0:g}, {b1:g}, {b2:g} are those of no position or velocity servo"
        return _report(prim, found, attributes)
    path = str(prim.GetPath())
    control = 0.0
    if controls is not None:
        control = min(max(0.0, controls[0]), controls[1])
        text = f"is {controls[0]:g} to {controls[1]:g}: targets given to the drive in a run are not bounded"
        attributes.report.note("control-range", f"{path}.mjc:ctrlRange", text)
    bound = abs(gear) * symmetric_bound(efforts, f"{path}.mjc:forceRange", attributes)
    push = gear * gain * control
    return _Servo(
        path=path,
        stiffness=0.0 - gear * gear * b1,
        damping=0.0 - gear * gear * b2,
        push=push if is_position else 0.0,
        rate_push=0.0 if is_position else push,
        bound=bound,
    )


def _report(prim: Usd.Prim, text: str, attributes: Attributes) -> None:
    attributes.report.warn("actuator", prim.GetPath(), f"actuator: {text}: not simulated yet")
    attributes.pass_over(prim)
