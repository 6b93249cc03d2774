"""What a joint breaks at: the force and the torque of UsdPhysics, which no joint of a tree breaks at."""

from __future__ import annotations

import math

from pxr import Usd

from warp_artic.usd import units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.lookup import Source, resolve_all
from warp_artic.usd.report import Reading

FIELDS = {
    "break_force": (Source("physics:breakForce", units.FORCE, unbounded=True),),
    "break_torque": (Source("physics:breakTorque", units.TORQUE, unbounded=True),),
}


def read_breaks(prim: Usd.Prim, attributes: Attributes) -> dict[str, Reading]:
    """The loads that are authored [N, N m]; an error where one is not positive."""
    found = {}
    for name, reading in resolve_all(attributes, prim, FIELDS).items():
        if reading.value > 0.0:
            found[name] = reading
        else:
            text = f"is {reading.found}; it must be positive, infinity for never"
            attributes.report.error("constraint", reading.attribute, text)
    return found


def is_breakable(prim: Usd.Prim, attributes: Attributes) -> bool:
    """Whether any load breaks a joint; to look is not to use, as joints of trees do not break."""
    used = attributes.report.used
    unused = {f"{prim.GetPath()}.{source.attribute}" for sources in FIELDS.values() for source in sources} - used
    breaks = any(reading.value < math.inf for reading in read_breaks(prim, attributes).values())
    used -= unused
    return breaks
