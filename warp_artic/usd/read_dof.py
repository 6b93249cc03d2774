"""One degree of freedom of a joint: armature, friction, velocity limit, drive."""

from __future__ import annotations

import math

from pxr import Usd, UsdPhysics

from warp_artic.description.articulation import Articulation
from warp_artic.description.friction import Friction
from warp_artic.description.joint import Axis, Dof
from warp_artic.description.limit import Limit
from warp_artic.description.turns import targets_beyond
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import DOF_FIELDS, Reading, resolve
from warp_artic.usd.read_drive import read_drive
from warp_artic.usd.read_soft_limit import limit_instances, read_soft_limit

FRICTION = ("static_effort", "dynamic_effort", "viscous", "coefficient")
NOT_NEGATIVE = ("armature", *FRICTION, "velocity_limit")


def instances_of(prim: Usd.Prim, axis: Axis) -> tuple[str, ...]:
    """Instance names under which the schemas of an axis of a joint may be applied; that of its drive comes first."""
    if prim.GetTypeName() == tokens.REVOLUTE_JOINT:
        return ("angular",)
    if prim.GetTypeName() == tokens.PRISMATIC_JOINT:
        return ("linear",)
    others = (one for one in Axis if one.is_linear and one is not axis)
    is_only = axis.is_linear and all(is_locked(prim, one.value) for one in others)
    return (axis.value, "linear") if is_only else (axis.value,)


def is_locked(prim: Usd.Prim, axis: str) -> bool:
    """Whether a limit of a generic joint leaves no motion along an axis."""
    low, high = (prim.GetAttribute(f"limit:{axis}:physics:{side}").Get() for side in ("low", "high"))
    are_numbers = isinstance(low, (int, float)) and isinstance(high, (int, float))  # anything may be authored
    return prim.HasAPI(UsdPhysics.LimitAPI, axis) and are_numbers and low >= high


def read_dof(
    prim: Usd.Prim,
    name: str,
    axis: Axis,
    limit: Limit | None,
    has_cone: bool,
    inventory: Inventory,
    attributes: Attributes,
) -> Dof:
    """A degree of freedom, at rest at zero, of a joint with a cone limit or without."""
    instances = instances_of(prim, axis)
    readings = _fields(prim, axis, instances, attributes)
    values = {field: reading.value for field, reading in readings.items()}
    drive, drive_readings = read_drive(prim, instances[0], axis.is_linear, inventory, attributes)
    own = limit_instances(prim, instances, limit is not None and not has_cone)
    limit, limit_readings = read_soft_limit(prim, limit, own, axis.is_linear, inventory, attributes)
    attributes.report.readings[name] = [*readings.values(), *drive_readings, *limit_readings]
    return Dof(
        name=name,
        axis=axis,
        armature=values.get("armature", 0.0),
        drive=drive,
        limit=limit,
        friction=_friction(prim, values, attributes),
        velocity_limit=values.get("velocity_limit", math.inf),
        wraps=not counts_turns(prim, instances, attributes),
    )


def counts_turns(prim: Usd.Prim, instances: tuple[str, ...], attributes: Attributes) -> bool:
    """Whether an axis is asked to count all turns."""
    return any(attributes.flag(prim, f"warpArtic:joint:{instance}:countTurns", False) for instance in instances)


def report_turns(prim: Usd.Prim, dofs: list[Dof], attributes: Attributes) -> None:
    """Warn of axes that are asked to count turns and have none."""
    turning = sum(not dof.axis.is_linear for dof in dofs)
    for dof in dofs:
        if not dof.wraps and (dof.axis.is_linear or turning > 1):
            why = "it slides" if dof.axis.is_linear else f"it is one of {turning} rotations"
            text = f"{dof.axis.value} counts no turns: {why}; countTurns is for the one rotation of a joint"
            attributes.report.warn("count-turns", prim.GetPath(), text)


def report_far_targets(articulation: Articulation, inventory: Inventory, attributes: Attributes) -> None:
    """Warn of drives with targets that positions do not reach, as these start anew after a turn."""
    for joint, farthest in targets_beyond(articulation):
        prim, (dof,) = inventory.joints[joint.path], joint.dofs
        when = "" if dof.drive.position_track is None else " at some time"
        instance = instances_of(prim, dof.axis)[0]
        text = (
            f"its drive has the position target {math.degrees(farthest):g} degrees{when}, but its position starts anew "
            "after 360 degrees either way: the drive never gets there, and turns it on and on; to count all turns "
            f"apply {tokens.ARTIC_JOINT}:{instance} with warpArtic:joint:{instance}:countTurns = true"
        )
        attributes.report.warn("drive-turns", joint.path, text)


def _fields(prim: Usd.Prim, axis: Axis, instances: tuple[str, ...], attributes: Attributes) -> dict[str, Reading]:
    found = {}
    for field in NOT_NEGATIVE:
        reading = resolve(attributes, prim, field, DOF_FIELDS[field], instances, axis.is_linear)
        if reading is None:
            continue
        if reading.value < 0.0:
            text = f"is {reading.found}, must not be negative"
            attributes.report.error("negative", reading.attribute, text)
            continue
        found[field] = reading
    return found


def _friction(prim: Usd.Prim, values: dict[str, float], attributes: Attributes) -> Friction | None:
    efforts = {field: values.get(field, 0.0) for field in FRICTION}
    if not any(efforts.values()):
        return None
    if efforts["dynamic_effort"] > efforts["static_effort"]:
        text = (
            f"its dynamic friction effort {efforts['dynamic_effort']:g} exceeds the static one "
            f"{efforts['static_effort']:g}, should not"
        )
        attributes.report.warn("friction-order", prim.GetPath(), text)
    return Friction(**efforts)
