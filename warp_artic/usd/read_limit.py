"""Limits of joints: which axes are free, and within which bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from pxr import Usd

from warp_artic.description.joint import Axis, Joint
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import PLACE, Source, resolve
from warp_artic.usd.report import Reading

ROTATIONS = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)
TRANSLATIONS = (Axis.TRANS_X, Axis.TRANS_Y, Axis.TRANS_Z)
LETTERS = ("X", "Y", "Z")
LOCKED_AT = 1e-9
"""Largest displacement of a locked axis, which stands for zero [m or rad]."""


@dataclass(frozen=True)
class Freedom:
    """The free axes of a joint and their bounds."""

    limits: dict[Axis, Limit | None] = field(default_factory=dict)
    """In the order transX, transY, transZ, rotX, rotY, rotZ."""
    cone_limit: ConeLimit | None = None
    cone_axis: Axis = Axis.ROT_X
    readings: dict[Axis, list[Reading]] = field(default_factory=dict)
    """Where bounds came from."""


def read_freedom(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    """How a joint may move."""
    return READERS[prim.GetTypeName()](prim, inventory, attributes)


def report_unapplied(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> None:
    """Say of a generic joint which axes are free though limits are authored there, but without their schema."""
    if prim.GetTypeName() != tokens.GENERIC_JOINT:
        return
    applied, names = inventory.instances(prim, tokens.LIMIT), attributes.names(prim)
    sides = {axis.value: {f"limit:{axis.value}:physics:{side}" for side in ("low", "high")} for axis in Axis}
    idle = [axis for axis, own in sides.items() if axis not in applied and not own.isdisjoint(names)]
    if idle:
        text = f"leaves {', '.join(idle)} free: limits are authored there, but {tokens.LIMIT} is not applied for them"
        attributes.report.warn("free-axes", prim.GetPath(), text)
    for axis in idle:
        attributes.pass_over(prim, f"limit:{axis}:")


def report_swing(joint: Joint, attributes: Attributes) -> None:
    """Advise a limit on the swing of a zero-twist joint, whose positions jump where it swings by half a turn."""
    if not joint.is_zero_twist or all(_is_below_half_a_turn(dof.limit) for dof in joint.rotations):
        return
    axes = " and ".join(dof.axis.value for dof in joint.rotations)
    text = (
        f"swings freely about {axes} without twist: at 180 degrees of swing its positions jump to the other side; "
        "limits of both below that keep it away"
    )
    first, second = (dof.armature for dof in joint.rotations)
    if first != second:
        text += f"; its armatures, {first:.6g} and {second:.6g} kg m^2, have another energy there, equal ones do not"
    attributes.report.note("swing-limit", joint.path, text)


def _is_below_half_a_turn(limit: Limit | None) -> bool:
    return limit is not None and max(-limit.lower, limit.upper) < math.pi


def _fixed(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    return Freedom()


def _revolute(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    return _one_axis(prim, ROTATIONS[_letter(prim, attributes)], attributes)


def _prismatic(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    return _one_axis(prim, TRANSLATIONS[_letter(prim, attributes)], attributes)


def _one_axis(prim: Usd.Prim, axis: Axis, attributes: Attributes) -> Freedom:
    readings: list[Reading] = []
    return Freedom({axis: _limit(prim, axis, readings, attributes)}, readings={axis: readings})


def _spherical(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    """Cone angle 0 bounds the rotation about the axis after the joint axis, cone angle 1 about the next.

    Where one of the two is zero, the twist about the joint axis and the other swing are left: a universal joint.
    """
    twist = _letter(prim, attributes)
    swings = [ROTATIONS[(twist + 1) % 3], ROTATIONS[(twist + 2) % 3]]
    readings: dict[Axis, list[Reading]] = {swing: [] for swing in swings}
    angles = [_cone_angle(prim, side, readings[swing], attributes) for side, swing in enumerate(swings)]
    limits: dict[Axis, Limit | None] = dict.fromkeys(ROTATIONS)
    cone = None
    if 0.0 in angles:
        for swing, angle in zip(swings, angles):
            if angle == 0.0:
                del limits[swing]
            elif angle < math.inf:
                limits[swing] = Limit(lower=-angle, upper=angle)
                sides = {"lower": -angle, "upper": angle}
                (own,) = readings[swing]
                readings[swing] = [replace(own, field=side, value=bound) for side, bound in sides.items()]
    elif min(angles) < math.inf:
        cone = ConeLimit(angle_1=angles[0], angle_2=angles[1])
    return Freedom(limits, cone, ROTATIONS[twist], readings)


def _generic(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    """All axes are free but those that an applied limit locks."""
    limits: dict[Axis, Limit | None] = {}
    readings: dict[Axis, list[Reading]] = {axis: [] for axis in Axis}
    applied = inventory.instances(prim, tokens.LIMIT)
    for axis in Axis:
        limit = None
        if axis.value in applied:
            limit = _axis_limit(prim, axis, readings[axis], attributes)
            if limit is LOCKED:
                continue
        limits[axis] = limit
    return Freedom(limits, readings=readings)


def read_distance_limit(prim: Usd.Prim, readings: list[Reading], attributes: Attributes) -> Limit | None:
    """The limit of a generic joint on the distance between its origins; ends that contradict each other are an error.

    A low end that is negative, and a high one that is, are none.
    """
    low_name, high_name = "limit:distance:physics:low", "limit:distance:physics:high"
    low = _bound(prim, "lower", low_name, -math.inf, Axis.TRANS_X, readings, attributes)
    high = _bound(prim, "upper", high_name, math.inf, Axis.TRANS_X, readings, attributes)
    low, high = low if low > 0.0 else -math.inf, high if high >= 0.0 else math.inf
    if high == 0.0 or high < low:
        text = f"the largest distance is {high:g} m; it must be positive, and not below the smallest one, {low:g} m"
        attributes.report.error("constraint", f"{prim.GetPath()}.{high_name}", text)
        return None
    return _bounds(low, high)


LOCKED = Limit(lower=math.nan, upper=math.nan)
"""Stands for an axis that cannot move."""


def _axis_limit(prim: Usd.Prim, axis: Axis, readings: list[Reading], attributes: Attributes) -> Limit | None:
    """The limit of one axis of a generic joint; low above high, or equal to it, locks."""
    low_name, high_name = f"limit:{axis.value}:physics:low", f"limit:{axis.value}:physics:high"
    low = _bound(prim, "lower", low_name, -math.inf, axis, readings, attributes)
    high = _bound(prim, "upper", high_name, math.inf, axis, readings, attributes)
    if low > high:
        return LOCKED
    if low == high:
        if abs(low) > LOCKED_AT:
            unit = "m" if axis.is_linear else "rad"
            text = f"locks {axis.value} at {low:g} {unit}; move the joint frame instead and lock at zero"
            attributes.report.error("limit-offset", f"{prim.GetPath()}.{low_name}", text)
        return LOCKED
    return _bounds(low, high)


def _limit(prim: Usd.Prim, axis: Axis, readings: list[Reading], attributes: Attributes) -> Limit | None:
    """The limit of a revolute or prismatic joint; one side may be free."""
    lower_name, upper_name = "physics:lowerLimit", "physics:upperLimit"
    lower = _bound(prim, "lower", lower_name, -math.inf, axis, readings, attributes)
    upper = _bound(prim, "upper", upper_name, math.inf, axis, readings, attributes)
    if lower > upper:
        names = (f"{name} = {attributes.authored(prim, name)}" for name in (lower_name, upper_name))
        text = f"its limits are inverted: {' is above '.join(names)}, must not be"
        attributes.report.error("limit-inverted", prim.GetPath(), text)
        return None
    for name, bound, wrong in ((lower_name, lower, math.inf), (upper_name, upper, -math.inf)):
        if bound == wrong:
            text = f"is {bound}: no position satisfies it; {-bound} leaves this side free"
            attributes.report.error("limit-infinite", f"{prim.GetPath()}.{name}", text)
            return None
    return _bounds(lower, upper)


def _bounds(lower: float, upper: float) -> Limit | None:
    return None if lower == -math.inf and upper == math.inf else Limit(lower=lower, upper=upper)


def _cone_angle(prim: Usd.Prim, side: int, readings: list[Reading], attributes: Attributes) -> float:
    """A cone angle [rad]; infinite where it is negative, which means free."""
    name = f"physics:coneAngle{side}Limit"
    source = Source(name, units.ANGLE, unbounded=True, unset_below=0.0)
    reading = resolve(attributes, prim, "cone_angle", (source,))
    if reading is None:
        return math.inf
    readings.append(reading)
    return reading.value


def _bound(
    prim: Usd.Prim, field: str, name: str, free: float, axis: Axis, readings: list[Reading], attributes: Attributes
) -> float:
    """One side of a limit [m or rad]; `free` where it is not authored."""
    reading = resolve(attributes, prim, field, (Source(name, *PLACE, unbounded=True),), is_linear=axis.is_linear)
    if reading is None:
        return free
    readings.append(reading)
    return reading.value


def _letter(prim: Usd.Prim, attributes: Attributes) -> int:
    """0, 1 or 2 for a joint axis X, Y or Z."""
    return LETTERS.index(attributes.token(prim, "physics:axis", "X", LETTERS))


READERS = {
    tokens.FIXED_JOINT: _fixed,
    tokens.REVOLUTE_JOINT: _revolute,
    tokens.PRISMATIC_JOINT: _prismatic,
    tokens.SPHERICAL_JOINT: _spherical,
    tokens.GENERIC_JOINT: _generic,
}
