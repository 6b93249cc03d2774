"""Limits of joints: which axes are free, and within which bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pxr import Usd

from warp_artic.description.joint import Axis
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.units import Quantity

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


def read_freedom(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    """How a joint may move."""
    return READERS[prim.GetTypeName()](prim, inventory, attributes)


def _fixed(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    return Freedom()


def _revolute(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    axis = ROTATIONS[_letter(prim, attributes)]
    return Freedom({axis: _limit(prim, "physics:lowerLimit", "physics:upperLimit", units.ANGLE, attributes)})


def _prismatic(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    axis = TRANSLATIONS[_letter(prim, attributes)]
    return Freedom({axis: _limit(prim, "physics:lowerLimit", "physics:upperLimit", units.DISTANCE, attributes)})


def _spherical(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    """Cone angle 0 bounds the rotation about the axis after the joint axis, cone angle 1 about the next."""
    twist = _letter(prim, attributes)
    swings = [ROTATIONS[(twist + 1) % 3], ROTATIONS[(twist + 2) % 3]]
    angles = [_cone_angle(prim, side, attributes) for side in (0, 1)]
    limits: dict[Axis, Limit | None] = dict.fromkeys(ROTATIONS)
    cone = None
    if 0.0 in angles:
        for swing, angle in zip(swings, angles):
            if angle == 0.0:
                del limits[swing]
            elif angle < math.inf:
                limits[swing] = Limit(lower=-angle, upper=angle)
    elif min(angles) < math.inf:
        cone = ConeLimit(angle_1=angles[0], angle_2=angles[1])
    return Freedom(limits, cone, ROTATIONS[twist])


def _generic(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Freedom:
    """All axes are free but those that an applied limit locks."""
    limits: dict[Axis, Limit | None] = {}
    applied = inventory.instances(prim, tokens.LIMIT)
    for axis in Axis:
        limit = None
        if axis.value in applied:
            limit = _axis_limit(prim, axis, attributes)
            if limit is LOCKED:
                continue
        limits[axis] = limit
    return Freedom(limits)


LOCKED = Limit(lower=math.nan, upper=math.nan)
"""Stands for an axis that cannot move."""


def _axis_limit(prim: Usd.Prim, axis: Axis, attributes: Attributes) -> Limit | None:
    """The limit of one axis of a generic joint; low above high, or equal to it, locks."""
    quantity = units.DISTANCE if axis.is_linear else units.ANGLE
    low_name, high_name = f"limit:{axis.value}:physics:low", f"limit:{axis.value}:physics:high"
    low = attributes.number(prim, low_name, -math.inf, quantity, unbounded=True)
    high = attributes.number(prim, high_name, math.inf, quantity, unbounded=True)
    if low > high:
        return LOCKED
    if low == high:
        if abs(low) > LOCKED_AT:
            text = f"locks {axis.value} at {low:g} {quantity.si}; move the joint frame instead and lock at zero"
            attributes.report.error("limit-offset", f"{prim.GetPath()}.{low_name}", text)
        return LOCKED
    return _bounds(low, high)


def _limit(prim: Usd.Prim, lower_name: str, upper_name: str, quantity: Quantity, attributes: Attributes):
    """The limit of a revolute or prismatic joint; one side may be free."""
    lower = attributes.number(prim, lower_name, -math.inf, quantity, unbounded=True)
    upper = attributes.number(prim, upper_name, math.inf, quantity, unbounded=True)
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


def _cone_angle(prim: Usd.Prim, side: int, attributes: Attributes) -> float:
    """A cone angle [rad]; negative means free."""
    angle = attributes.number(prim, f"physics:coneAngle{side}Limit", -1.0, units.ANGLE, unbounded=True)
    return math.inf if angle < 0.0 else angle


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
