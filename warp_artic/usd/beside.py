"""Why what tendons, mimic joints and gears name is in no articulation, or in another one.

What is authored on a joint may keep it out, which is said beside the finding. A joint whose ends cannot be read is in
no tree, and what hangs on it is in two: these are findings of that joint alone, until it can be read.
"""

from __future__ import annotations

from warp_artic.description.articulation import Articulation
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


def hangs_on_refused(path: str, inventory: Inventory, articulation: Articulation | None = None) -> bool:
    """Whether a joint or body may only be outside of an articulation, or of all, because a joint is refused."""
    trees = {inventory.tree_of.get(one) for one in (path, articulation and articulation.links[0].path)}
    return path in inventory.refused_joints or (None not in trees and not trees.isdisjoint(inventory.torn_trees))
