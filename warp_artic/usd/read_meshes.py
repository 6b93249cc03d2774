"""The elastic bodies of a stage and the tendons on them."""

from __future__ import annotations

from dataclasses import dataclass

from pxr import Usd

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import MeshTendon
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_elastic_body import read_elastic_body
from warp_artic.usd.read_mesh_tendon import read_mesh_tendon


@dataclass(frozen=True)
class Meshes:
    """What a scene has beside its articulations; those that can be read where there are errors."""

    elastic_bodies: tuple[ElasticBody, ...] = ()
    mesh_tendons: tuple[MeshTendon, ...] = ()


def read_meshes(inventory: Inventory, attributes: Attributes, placements: Placements) -> Meshes:
    """Elastic bodies and tendons in the order of the stage; a wrong one is left out, with an error."""
    bodies = {
        path: read_elastic_body(prim, inventory, attributes, placements)
        for path, prim in inventory.elastic_bodies.items()
    }
    tendons = {
        path: read_mesh_tendon(prim, bodies, inventory, attributes, placements)
        for path, prim in inventory.mesh_tendons.items()
    }
    _pass_over(bodies, inventory.elastic_bodies, attributes)
    _pass_over(tendons, inventory.mesh_tendons, attributes)
    return Meshes(tuple(filter(None, bodies.values())), tuple(filter(None, tendons.values())))


def _pass_over(found: dict[str, object], prims: dict[str, Usd.Prim], attributes: Attributes) -> None:
    """Count what belongs to a wrong one as reported: its error stands for the whole of it."""
    for path, one in found.items():
        if one is None:
            attributes.pass_over(prims[path], "warpArtic:")
