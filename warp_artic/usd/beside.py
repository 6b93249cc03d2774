"""Why a joint that tendons and mimic joints name is in no articulation, where what is authored on it keeps it out."""

from __future__ import annotations

from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.read_break import is_breakable
from warp_artic.usd.read_scales import is_scaled


def cause_outside(path: str, inventory: Inventory, attributes: Attributes) -> str:
    """In brackets, to be added to the sentence that says so; empty where there is no such cause."""
    prim = inventory.joints[path]
    if is_breakable(prim, attributes):
        return " (physics:breakForce or physics:breakTorque makes it a loop joint)"
    if is_scaled(prim, attributes):
        return " (scales of masses or inertias make it a loop joint)"
    if attributes.flag(prim, "physics:excludeFromArticulation", False):
        return " (physics:excludeFromArticulation makes it a loop joint)"
    return ""
