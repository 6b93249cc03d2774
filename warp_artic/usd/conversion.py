"""What a conversion rewrites, prim by prim: values in our schemas in, those of other schemas out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pxr import Usd

from warp_artic.description.scene import Scene
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.placement import Placements

FOREIGN = ("physx", "newton:", "mjc:")
"""How the names of attributes begin that others than UsdPhysics and we have."""


@dataclass(frozen=True)
class Rewrite:
    """Something that is now authored in our schemas, or that had no effect and is gone."""

    was: str
    """Path of the attribute, or what it was in words."""
    now: str
    """Path of the attribute or prim that has it now; empty where it had no effect."""


@dataclass(frozen=True)
class Left:
    """Something that stays as it is."""

    path: str
    reason: str


@dataclass
class Conversion:
    """A stage as it is read, the copy of it that is edited, and what was done."""

    scene: Scene
    stage: Usd.Stage
    """The copy."""
    inventory: Inventory
    attributes: Attributes
    placements: Placements
    rewritten: list[Rewrite] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    removed: set[str] = field(default_factory=set)
    """Paths of the properties that are taken out."""

    def prim(self, path: str) -> Usd.Prim:
        """A prim of the copy."""
        return self.stage.GetPrimAtPath(path)

    def leave(self, paths: Iterable[str], reason: str) -> None:
        """List what stays as it is, each path once."""
        listed = {left.path for left in self.left}
        self.left += [Left(path, reason) for path in dict.fromkeys(paths) if path not in listed]

    def obstacle(self, prim: Usd.Prim, names: Iterable[str]) -> str:
        """Why properties of a prim cannot be rewritten; empty where they can be."""
        if self.prim(str(prim.GetPath())).IsInstanceProxy():
            return "is inside an instance, which cannot be edited"
        attributes = (prim.GetAttribute(name) for name in names)
        if any(attribute and attribute.ValueMightBeTimeVarying() for attribute in attributes):
            return "has time samples, or goes with what has: rewritten it would only have the value at the start"
        return ""

    def begun(self, prim: Usd.Prim, prefix: str | tuple[str, ...]) -> list[str]:
        """Authored properties of a prim whose names begin so."""
        return sorted(name for name in self.attributes.names(prim) if name.startswith(prefix))

    def retire(self, prim: Usd.Prim, prefix: str | tuple[str, ...], schema: str) -> None:
        """Take out a schema, and the properties whose names begin so."""
        self.prim(str(prim.GetPath())).RemoveAppliedSchema(schema)
        self.remove(prim, self.begun(prim, prefix))

    def remove(self, prim: Usd.Prim, names: Iterable[str]) -> None:
        """Take out properties."""
        copy = self.prim(str(prim.GetPath()))
        for name in names:
            self.removed.add(f"{prim.GetPath()}.{name}")
            copy.RemoveProperty(name)
            if name in copy.GetAuthoredPropertyNames():  # another layer has it as well
                if copy.GetAttribute(name):
                    copy.GetAttribute(name).Block()
                else:
                    copy.GetRelationship(name).SetTargets([])

    def applied(self, prim: Usd.Prim, kinds: Iterable[str], instance: str | None = None) -> list[str]:
        """Applied schemas of a prim of some kinds, of one instance or of all."""
        found = self.inventory.schemas.get(str(prim.GetPath()), ())
        parted = {schema: schema.partition(":") for schema in found}
        wanted = {schema for schema, (kind, _, own) in parted.items() if kind in kinds and instance in (None, own)}
        return sorted(wanted)
