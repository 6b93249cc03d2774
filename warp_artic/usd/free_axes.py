"""Axes of joints by the names that schemas give them, for edits of a stage."""

from __future__ import annotations

from pxr import Sdf, Usd

from warp_artic.description.joint import Axis
from warp_artic.errors import StageError
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.edit import prim_at
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.read_dof import instances_of
from warp_artic.usd.read_limit import read_freedom
from warp_artic.usd.report import Report
from warp_artic.usd.units import Units


def joint_at(stage: Usd.Stage, path: str | Sdf.Path) -> Usd.Prim:
    """A joint of a tree, at a path."""
    prim = prim_at(stage, path)
    if prim.GetTypeName() not in tokens.TREE_JOINTS:
        kind = prim.GetTypeName() or "prim without a type"
        raise StageError(f"{path}: is a {kind}, must be one of {', '.join(tokens.TREE_JOINTS)}")
    return prim


def free_axes(joint: Usd.Prim) -> dict[str, Axis]:
    """The free axes of a joint, by the instance name that schemas have there."""
    schemas = frozenset(joint.GetPrimTypeInfo().GetAppliedAPISchemas())
    attributes = Attributes(Usd.TimeCode.EarliestTime(), Units(), Report())
    freedom = read_freedom(joint, Inventory(schemas={str(joint.GetPath()): schemas}), attributes)
    return {instances_of(joint, axis)[0]: axis for axis in freedom.limits}


def instance_of(joint: Usd.Prim, axis: str | None) -> str:
    """The instance name of an axis of a joint; None means its only axis."""
    path, free = joint.GetPath(), free_axes(joint)
    if not free:
        raise StageError(f"{path}: no axis of the joint is free")
    if axis is None:
        if len(free) > 1:
            raise StageError(f"{path}: the joint has {len(free)} free axes: name one of {', '.join(free)}")
        return next(iter(free))
    for name, one in free.items():
        if isinstance(axis, str) and axis in (one.value, *instances_of(joint, one)):
            return name
    raise StageError(f"{path}: no free axis of the joint is called {axis!r}; it has {', '.join(free)}")
