"""What the readers of the MuJoCo dialect share: its units of angle, and ranges that may be switched off."""

from __future__ import annotations

import math

from pxr import Usd

from warp_artic.usd import units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.report import Reading
from warp_artic.usd.units import Quantity

ANGLE_UNITS = {"degree": units.ANGLE, "radian": units.RADIAN}
"""What `mjc:compiler:angle` of the scene may be; springref and ref are in this unit, gains are per radian in both."""
SWITCHES = ("auto", "true", "false")


def mjc_angle(inventory: Inventory, attributes: Attributes) -> Quantity:
    """The unit of angles in this dialect: degrees unless a scene says otherwise."""
    for scene in inventory.scenes.values():
        if "mjc:compiler:angle" in attributes.names(scene):
            return ANGLE_UNITS[attributes.token(scene, "mjc:compiler:angle", "degree", tuple(ANGLE_UNITS))]
    return units.ANGLE


def mjc_position(prim: Usd.Prim, name: str, is_linear: bool, inventory: Inventory, attributes: Attributes) -> float:
    """A position of a joint, zero where it is not authored [m or rad]."""
    quantity = units.DISTANCE if is_linear else mjc_angle(inventory, attributes)
    return attributes.number(prim, name, 0.0, quantity)


def mjc_place(
    field: str, prim: Usd.Prim, name: str, c: float, unit: str, is_linear: bool, inventory: Inventory, attributes
) -> list[Reading]:
    """Where c times a position of a joint came from; empty where the position is not authored."""
    authored = attributes.number(prim, name, None)
    if authored is None:
        return []
    quantity = units.DISTANCE if is_linear else mjc_angle(inventory, attributes)
    value = c * attributes.units.si(authored, quantity)
    return [Reading(field, f"{prim.GetPath()}.{name}", authored, quantity.authored, value, unit)]


def mjc_range(prim: Usd.Prim, switch: str, name: str, attributes: Attributes) -> tuple[float, float] | None:
    """The bounds of a range as authored; None where it is off, which `auto` is without bounds."""
    limited = attributes.token(prim, switch, "auto", SWITCHES)
    low, high = (attributes.number(prim, f"{name}:{side}", 0.0) for side in ("min", "max"))
    return (low, high) if limited == "true" or (limited == "auto" and low < high) else None


def symmetric_bound(bounds: tuple[float, float] | None, path: str, attributes: Attributes) -> float:
    """The largest magnitude that a range of efforts allows; infinite, and a warning, where its two sides differ."""
    if bounds is None:
        return math.inf
    if bounds[1] < 0.0 or not math.isclose(-bounds[0], bounds[1], rel_tol=1e-9):
        text = f"is {bounds[0]:g} to {bounds[1]:g}; a range of efforts that is not symmetric is not simulated yet"
        attributes.report.warn("not-simulated", path, text)
        return math.inf
    return bounds[1]
