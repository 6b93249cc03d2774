"""Actuators of the MuJoCo schemas on one joint, as far as they are position or velocity servos.

effort = gear (gain ctrl + bias0 + bias1 length + bias2 rate), of a length and rate gear (ref + q) and gear v. Controls
start at zero, or at the bound of their range that is nearest to it.
"""

from __future__ import annotations

from pxr import Usd

from warp_artic.usd.attributes import Attributes
from warp_artic.usd.mjc import mjc_range, symmetric_bound
from warp_artic.usd.servo import Servo, report_actuator

TYPES = {
    "mjc:gainType": ("fixed", ("fixed", "affine", "muscle", "user")),
    "mjc:biasType": ("none", ("none", "affine", "muscle", "user")),
    "mjc:dynType": ("none", ("none", "integrator", "filter", "filterexact", "muscle", "user")),
}
"""Default and allowed words."""
SERVOS = ("none", "affine")
"""Biases that are read."""
NAMES = {
    "stiffness": "biasPrm",
    "damping": "biasPrm",
    "position_target": "ctrlRange",
    "velocity_target": "ctrlRange",
    "max_force": "forceRange",
}
"""The attributes that the fields of a drive are from."""


def mjc_servo(prim: Usd.Prim, attributes: Attributes) -> Servo | None:
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
        return report_actuator(prim, f"its law is one of {named}", attributes)
    if words["mjc:biasType"] == "none":
        text = f"is a motor: its effort is {gear * gain:g} times its control, which is zero at the start"
        attributes.report.note("motor", prim.GetPath(), f"{text}; give the effort to the joint")
        return None
    is_position, is_velocity = b1 < 0.0 and gain == -b1, b1 == 0.0 and b2 < 0.0 and gain == -b2
    if not (is_position or is_velocity) or b0 != 0.0 or b2 > 0.0 or gear == 0.0:
        found = f"its gain {gain:g} and bias {b0:g}, {b1:g}, {b2:g} are those of no position or velocity servo"
        return report_actuator(prim, found, attributes)
    path = str(prim.GetPath())
    control = 0.0
    if controls is not None:
        control = min(max(0.0, controls[0]), controls[1])
        text = f"is {controls[0]:g} to {controls[1]:g}: targets given to the drive in a run are not bounded"
        attributes.report.note("control-range", f"{path}.mjc:ctrlRange", text)
    bound = abs(gear) * symmetric_bound(efforts, f"{path}.mjc:forceRange", attributes)
    push = gear * gain * control
    return Servo(
        path=path,
        names={field: f"mjc:{name}" for field, name in NAMES.items()},
        stiffness=0.0 - gear * gear * b1,
        damping=0.0 - gear * gear * b2,
        push=push if is_position else 0.0,
        rate_push=0.0 if is_position else push,
        bound=bound,
    )
