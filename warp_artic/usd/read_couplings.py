"""What couples the degrees of freedom of an articulation: tendons and mimic joints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from warp_artic.description.articulation import Articulation
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_fixed_tendon import read_fixed_tendons
from warp_artic.usd.read_mimic import read_mimics
from warp_artic.usd.read_spatial_tendon import read_spatial_tendons

OF_JOINTS = {
    tokens.TENDON_AXIS_ROOT: "the root of the fixed tendon {instance}",
    tokens.TENDON_AXIS: "an axis of the fixed tendon {instance}",
    tokens.PHYSX_MIMIC: "a mimic joint ({instance})",
    tokens.NEWTON_MIMIC: "a mimic joint",
}
"""Schemas that only joints of articulations have, and what they make of them."""
OF_LINKS = {
    tokens.ATTACHMENT_ROOT: "the spatial tendon {instance}",
    tokens.ATTACHMENT: "the tendon attachment {instance}",
    tokens.ATTACHMENT_LEAF: "the tendon leaf {instance}",
}
"""Schemas that only links have, and what they give them."""


def with_couplings(
    articulation: Articulation, inventory: Inventory, attributes: Attributes, placements: Placements
) -> Articulation:
    """The articulation with its tendons and mimic joints."""
    return replace(
        articulation,
        fixed_tendons=read_fixed_tendons(articulation, inventory, attributes),
        spatial_tendons=read_spatial_tendons(articulation, inventory, attributes, placements),
        mimics=read_mimics(articulation, inventory, attributes),
    )


def refuse_strays(articulations: Iterable[Articulation], inventory: Inventory, attributes: Attributes) -> None:
    """Report tendons and mimic joints on prims that are in no articulation."""
    trees = list(articulations)
    joints = {joint.path for tree in trees for joint in tree.joints}
    links = {link.path for tree in trees for link in tree.links}
    for prim in inventory.all_prims():
        path = str(prim.GetPath())
        for schema in sorted(inventory.schemas.get(path, ())):
            kind, _, instance = schema.partition(":")
            if kind in OF_JOINTS and path not in joints:
                found = "in no articulation" if path in inventory.joints else "no joint"
                text = f"is {OF_JOINTS[kind].format(instance=instance)}, but {found}"
                attributes.report.error("coupling-stray", path, text)
            if kind in OF_LINKS and path not in links:
                text = f"has {OF_LINKS[kind].format(instance=instance)}, but is no link of an articulation"
                attributes.report.error("coupling-stray", path, text)
