"""Points on prims that a list of an elastic body or of a tendon on a mesh names, each by prim and position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Sdf, Usd

from warp_artic.description.pose import Pose
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.placement import Placement, Placements
from warp_artic.usd.read_base_motion import moves_over_time

WORLD = -1
"""The place of no prim."""


@dataclass(frozen=True)
class Target:
    """A prim with points on it, or the world."""

    path: str
    link: str | None
    """The link that it moves with; None where it stays."""
    moves: str
    """With what it moves, in words."""
    placement: Placement
    link_pose: Pose
    """Of the link in the world; that of the world where there is none."""

    def from_world(self, point: np.ndarray) -> np.ndarray:
        """A point of the world in the frame of the link [m]."""
        return self.link_pose.inverse().apply(point)

    def point(self, local: np.ndarray) -> tuple[float, float, float]:
        """A point of the prim, in stage units of its space, in the frame of the link [m]."""
        world = self.placement.pose.apply(self.placement.scale * local)
        return tuple(map(float, self.from_world(world)))


def read_places(
    prim: Usd.Prim,
    prefix: str,
    count: int | None,
    inventory: Inventory,
    attributes: Attributes,
    placements: Placements,
    names: tuple[str, str, str] = ("links", "linkIndices", "linkPositions"),
    may_stay: bool = False,
) -> list[tuple[Target, tuple[float, float, float] | None]] | None:
    """The prim of each entry of a list, and its point [m] in the frame of the link if positions are authored.

    None, and an error, where the lists do not fit each other or lead nowhere.

    Args:
        count: How many entries there are; None: as many as there are positions.
        names: What the relationship, the indices and the positions are called, after the prefix.
        may_stay: Whether an entry may be in the world, and whether without indices there is a prim for each.
    """
    links, indices, positions = (f"{prefix}:{name}" for name in names)
    found = [
        target_at(prim, links, target, inventory, attributes, placements) for target in attributes.targets(prim, links)
    ]
    chosen, points = attributes.whole_numbers(prim, indices), attributes.vectors(prim, positions)
    if chosen is None or points is None or None in found or attributes.report.is_refused(f"{prim.GetPath()}.{links}"):
        return None
    count = len(points) if count is None else count
    if not chosen and count:
        if may_stay:
            chosen = list(range(len(found))) if found else [WORLD] * count
        elif len(found) == 1:
            chosen = [0] * count
    least = WORLD if may_stay else 0
    for name, own, allowed in ((indices, chosen, (count,)), (positions, points, (0, count))):
        if len(own) not in allowed:
            text = f"has {len(own)} entries for {count} points on {len(found)} prims, must have one for each point"
            attributes.report.error("mesh-places", f"{prim.GetPath()}.{name}", text)
            return None
    for entry, place in enumerate(chosen):
        if not least <= place < len(found):
            text = f"has {place} at index {entry}, must be a place in {links}, which leads to {len(found)} prims"
            attributes.report.error("mesh-places", f"{prim.GetPath()}.{indices}", text)
            return None
    for place in sorted({*range(len(found))} - {*chosen}):
        text = f"leads to {found[place].path}, which no point is on"
        attributes.report.warn("mesh-places", f"{prim.GetPath()}.{links}", text)
    world = Target("/", None, "is the world", Placement(Pose(), np.full(3, attributes.units.meters)), Pose())
    chosen = [world if place == WORLD else found[place] for place in chosen]
    return [(target, target.point(points[entry]) if len(points) else None) for entry, target in enumerate(chosen)]


def target_at(
    prim: Usd.Prim, name: str, path: Sdf.Path, inventory: Inventory, attributes: Attributes, placements: Placements
) -> Target | None:
    """The prim that a relationship leads to; None, and an error, where it is none or has no rigid pose."""
    own = f"{prim.GetPath()}.{name}"
    target = prim.GetStage().GetPrimAtPath(path.GetPrimPath())
    if not target or path.IsPropertyPath():
        found = "is a property" if path.IsPropertyPath() else "does not exist"
        attributes.report.error("mesh-places", own, f"leads to {path}, which {found}; it must be a prim")
        return None
    body = inventory.body_of.get(str(path))
    link = body if body in inventory.bodies else None
    placement = placements.of(target)
    owner = None if link is None else placements.of(inventory.bodies[link])
    if placement is None or (link is not None and owner is None):
        return None
    if body is not None and link is None and moves_over_time(inventory.held[body]):
        text = (
            f"leads to {path}, which moves over time: points on it stay where they are at the start; a link that a "
            "fixed joint holds to it takes points along"
        )
        attributes.report.warn("time-samples", own, text)
    moves = "moves with no rigid body" if body is None else f"moves with {body}, which no force moves"
    return Target(str(path), link, moves, placement, Pose() if owner is None else owner.pose)
