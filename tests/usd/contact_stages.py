"""What is read of the colliders of small stages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pxr import Usd

from tests.usd.authoring import SI, open_text, schemas
from warp_artic.description.articulation import Articulation
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.island_contacts import IslandContacts
from warp_artic.description.shape import Shape
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.copies import find_families, take_inventory_once
from warp_artic.usd.inventory import traverse
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_contacts import Contacts, read_contacts, with_contacts
from warp_artic.usd.read_stage import inspect_stage, start_time
from warp_artic.usd.report import Report
from warp_artic.usd.units import Units

CENTIMETRES = SI.replace("metersPerUnit = 1", "metersPerUnit = 0.01")


@dataclass(frozen=True)
class Read:
    """Articulations with their contact pairs, and what was told while colliders were read."""

    articulations: tuple[Articulation, ...]
    contacts: Contacts
    islands: IslandContacts | None
    """Contacts of articulations that are too many to be one mechanism."""
    report: Report

    @property
    def pairs(self) -> dict[str, ContactPair]:
        """All contact pairs, by their names."""
        return {pair.name: pair for tree in self.articulations for pair in tree.constraints_of(ContactPair)}

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of all colliders that have one, by path."""
        return {one.path: one.shape for one in self.contacts.colliders if one.shape is not None}

    @property
    def told(self) -> list[str]:
        """Warnings and errors."""
        return [f"{one.path}: {one.message}" for one in self.report.found if one.severity.name != "NOTE"]

    @property
    def notes(self) -> list[str]:
        """What was decided."""
        return [f"{one.path}: {one.message}" for one in self.report.found if one.severity.name == "NOTE"]


def contacts_of(stage: Usd.Stage | str, header: str = SI) -> Read:
    """What is read of the colliders of a stage."""
    stage = open_text(stage, header) if isinstance(stage, str) else stage
    report, prims = Report(), traverse(stage)
    seen = inspect_stage(stage)
    trees = [
        replace(one, constraints=tuple(c for c in one.constraints if not isinstance(c, ContactPair)))
        for one in seen.articulations
    ]
    meters = 0.01 if header == CENTIMETRES else 1.0
    attributes = Attributes(start_time(stage), Units(meters), report)
    placements = Placements(attributes)
    inventory, copies = take_inventory_once(prims, find_families(prims), attributes, placements)
    read = [one for one in trees if one.links[0].path in inventory.bodies]
    contacts = read_contacts(read, inventory, copies, attributes, placements)
    found, islands = with_contacts(trees, contacts, seen.meshes, attributes)
    return Read(tuple(found), contacts, islands, report)


def collider(kind: str, name: str = "shape", content: str = "", applied: tuple[str, ...] = ()) -> str:
    """A prim of a type of shape that is a collider."""
    return f'def {kind} "{name}" {schemas("PhysicsCollisionAPI", *applied)} {{\n{content}\n}}\n'


def scaled(x: float, y: float, z: float, translate=(0, 0, 0)) -> str:
    """The transform ops of a prim that is moved, then scaled."""
    return (
        f"double3 xformOp:translate = {tuple(translate)}\nfloat3 xformOp:scale = ({x}, {y}, {z})\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]\n'
    )


FLOOR = collider("Plane", "floor", 'token axis = "Z"')
"""A static plane /floor."""
