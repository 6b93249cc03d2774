"""Actuators of the Newton schemas on one joint: PD control with a largest effort, and with the curve of a DC motor.

effort = constEffort + kp (target - q) + kd (rate target - v), in radians. Its targets are those of the joint's drive.
A DC motor gives at most saturationEffort (1 - v / velocityLimit) in the direction of its motion, and never more than
maxMotorEffort. That is the performance envelope of a drive with max_velocity = velocityLimit and
velocity_gradient = velocityLimit / saturationEffort. The gains are used at the end of the step, as those of drives are.
"""

from __future__ import annotations

import math

from pxr import Usd

from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.servo import Servo, report_actuator

CONTROLS = (tokens.NEWTON_PD, tokens.NEWTON_PID, tokens.NEWTON_NEURAL)
GAINS = {"stiffness": "newton:kp", "damping": "newton:kd"}


def newton_servo(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Servo | None:
    """What an actuator adds to a drive; None, and a finding, where that is nothing."""
    controls = [schema for schema in CONTROLS if inventory.has_schema(prim, schema)]
    if len(controls) != 1:
        found = " and ".join(controls) or "no control"
        return report_actuator(prim, f"has {found}, must have one of {', '.join(CONTROLS)}", attributes)
    if controls == [tokens.NEWTON_NEURAL]:
        return report_actuator(prim, "its control is a neural network", attributes)
    path = str(prim.GetPath())
    stiffness, damping = (_not_negative(prim, name, 0.0, attributes) for name in GAINS.values())
    ignored = {"newton:constEffort": "give it to the joint as an effort"}
    if controls == [tokens.NEWTON_PID]:
        ignored["newton:ki"] = "the other gains are"
    for name, instead in ignored.items():
        value = attributes.number(prim, name, 0.0)
        if value != 0.0:
            text = f"is {value:g}, which is not simulated yet; {instead}"
            attributes.report.warn("actuator", f"{path}.{name}", text)
    if stiffness == damping == 0.0:
        attributes.report.note("motor", prim.GetPath(), "has no gain: give its effort to the joint")
        attributes.pass_over(prim)
        return None
    names = {**GAINS, "max_force": "newton:maxEffort"}
    bound, fastest, gradient = math.inf, math.inf, 0.0
    if inventory.has_schema(prim, tokens.NEWTON_MAX_EFFORT):
        bound = _not_negative(prim, "newton:maxEffort", math.inf, attributes)
    if inventory.has_schema(prim, tokens.NEWTON_DC_MOTOR):
        fastest = _not_negative(prim, "newton:velocityLimit", math.inf, attributes)
        at_rest = _not_negative(prim, "newton:saturationEffort", math.inf, attributes)
        for name, most in (
            ("newton:maxMotorEffort", _not_negative(prim, "newton:maxMotorEffort", math.inf, attributes)),
            ("newton:saturationEffort", at_rest),
        ):
            if most < bound:
                bound, names["max_force"] = most, name
        names |= {"max_velocity": "newton:velocityLimit", "velocity_gradient": "newton:saturationEffort"}
        if 0.0 < at_rest < math.inf and fastest < math.inf:
            gradient = fastest / at_rest
            text = "of a motor that its load turns bounds its braking effort here too, where a DC motor has more of it"
            attributes.report.note("motor-braking", f"{path}.newton:velocityLimit", text)
    return Servo(
        path=path,
        names=names,
        stiffness=stiffness,
        damping=damping,
        bound=bound,
        max_velocity=fastest,
        velocity_gradient=gradient,
    )


def _not_negative(prim: Usd.Prim, name: str, default: float, attributes: Attributes) -> float:
    value = attributes.number(prim, name, default, unbounded=True)
    if value < 0.0:
        attributes.report.error("drive", f"{prim.GetPath()}.{name}", f"is {value:g}, must not be negative")
        return default
    return value
