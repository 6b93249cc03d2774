"""The drive of one degree of freedom."""

from __future__ import annotations

import math

from pxr import Usd

from warp_artic.description.drive import Drive, DriveKind
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import DOF_FIELDS, ENVELOPE_FIELDS, Reading, report_difference, resolve
from warp_artic.usd.mjc import mjc_range, symmetric_bound
from warp_artic.usd.read_actuators import read_actuators
from warp_artic.usd.read_track import read_track

TRACKED = {
    "position_track": "position_target",
    "velocity_track": "velocity_target",
    "stiffness_track": "stiffness",
    "damping_track": "damping",
}
"""What is followed over time, and the fields that it is of."""
KINDS = tuple(kind.value for kind in DriveKind)


def read_drive(
    prim: Usd.Prim, instance: str, is_linear: bool, inventory: Inventory, attributes: Attributes
) -> tuple[Drive | None, list[Reading]]:
    """The drive that is applied under an instance name, and where its values came from."""
    actuated = read_actuators(prim, is_linear, inventory, attributes)
    applied = any(inventory.has_schema(prim, f"{schema}:{instance}") for schema in (tokens.DRIVE, tokens.ARTIC_DRIVE))
    effort_range = _effort_range(prim, is_linear, attributes)
    if not applied and not actuated:
        return None, []
    kind = DriveKind(attributes.token(prim, f"drive:{instance}:physics:type", "force", KINDS))
    fields = {
        "stiffness": f"{kind.value}_stiffness",
        "damping": f"{kind.value}_damping",
        "position_target": "position_target",
        "velocity_target": "velocity_target",
        "max_force": "max_force",
    }
    sources = {name: DOF_FIELDS[field] for name, field in fields.items()} | ENVELOPE_FIELDS
    not_negative = {"stiffness", "damping", "max_force", *ENVELOPE_FIELDS}
    readings: dict[str, Reading] = {}
    for name, own in sources.items() if applied else ():
        reading = resolve(attributes, prim, name, own, (instance,), is_linear, inventory)
        if reading is None:
            continue
        if name in not_negative and reading.value < 0.0:
            text = f"is {reading.found}, must not be negative"
            attributes.report.error("drive", reading.attribute, text)
            continue
        readings[name] = reading
    is_actuated = bool(actuated) and (not applied or _comes_first(actuated["stiffness"], attributes))
    if actuated and not is_actuated and kind is not DriveKind.FORCE:
        actuator = actuated["stiffness"].attribute.partition(".")[0]
        text = f"the actuator {actuator} acts on it, but it has an acceleration drive, which is used"
        attributes.report.warn("dialects-differ", prim.GetPath(), text)
        actuated = {}
    first, second = (actuated, readings) if is_actuated else (readings, actuated)
    for name, reading in first.items():
        if name in second:
            report_difference(reading, second[name], attributes)
    readings = second | first
    values = {name: reading.value for name, reading in readings.items()}
    for name, field in TRACKED.items():
        reading = readings.get(field)
        if reading is not None and reading.attribute.startswith(f"{prim.GetPath()}.drive:"):
            source = DOF_FIELDS[fields[field]][0]
            attribute = source.attribute.format(instance=instance)
            track = read_track(attributes, prim, attribute, source.quantity(is_linear))
            if track is not None and field in not_negative and min(track.values) < 0.0:
                attributes.report.error("drive", reading.attribute, "has negative time samples, must not be negative")
                continue
            values[name] = track
    if effort_range.value < values.get("max_force", math.inf):
        readings["max_force"] = effort_range
        values["max_force"] = effort_range.value
    drive = Drive(kind=DriveKind.FORCE if is_actuated else kind, **values)
    _report_without_force(drive, readings, attributes)
    return drive, list(readings.values())


def _comes_first(of_actuator: Reading, attributes: Attributes) -> bool:
    """Whether an actuator counts more than a drive of UsdPhysics."""
    return attributes.dialects.index(of_actuator.dialect) < attributes.rank("drive:")


def _report_without_force(drive: Drive, readings: dict[str, Reading], attributes: Attributes) -> None:
    """Report targets other than zero whose gain is zero all the time, and gains under a maximum force of zero."""
    gains = {"stiffness": drive.stiffness_track or drive.stiffness, "damping": drive.damping_track or drive.damping}
    targets = {"stiffness": drive.position_target, "damping": drive.velocity_target}
    tracks = {"stiffness": drive.position_track, "damping": drive.velocity_track}
    for gain, target in targets.items():
        name = "position_target" if gain == "stiffness" else "velocity_target"
        if name in readings and not gains[gain] and (target or tracks[gain]):
            text = f"has no effect: the {gain} of the drive is 0"
            attributes.report.note("drive-without-force", readings[name].attribute, text)
    if any(gains.values()) and drive.max_force == 0.0 and "max_force" in readings:
        text = "is 0: the drive has no effect"
        attributes.report.note("drive-without-force", readings["max_force"].attribute, text)


def _effort_range(prim: Usd.Prim, is_linear: bool, attributes: Attributes) -> Reading:
    """What a joint of the MuJoCo dialect lets actuators give to it [N or N m]."""
    path = f"{prim.GetPath()}.mjc:actuatorfrcrange"
    bound = symmetric_bound(
        mjc_range(prim, "mjc:actuatorfrclimited", "mjc:actuatorfrcrange", attributes), path, attributes
    )
    quantity = units.FORCE if is_linear else units.TORQUE
    si = attributes.units.si(bound, quantity)
    return Reading("max_force", f"{path}:max", bound, quantity.authored, si, quantity.si)


def report_idle(
    prim: Usd.Prim,
    instances: list[tuple[str, ...]],
    of_limits: tuple[str, ...],
    inventory: Inventory,
    attributes: Attributes,
) -> None:
    """Report drives, and what else goes by axis, under none of the instance names that the free axes have.

    Instance names `of_limits` are those of limits alone.
    """
    drives = {*inventory.instances(prim, tokens.DRIVE), *inventory.instances(prim, tokens.ARTIC_DRIVE)}
    own = set(inventory.instances(prim, tokens.ARTIC_JOINT))
    first, every = {names[0] for names in instances}, {*of_limits, *(name for names in instances for name in names)}
    listed = ", ".join(sorted(first)) or "none: the joint is fixed"
    for rule, what, idle, prefixes in (
        ("drive-idle", "the drive {}", drives - first, ("drive:{}:", "warpArtic:drive:{}:")),
        ("axis-idle", f"{tokens.ARTIC_JOINT}:{{}}", own - every, ("warpArtic:joint:{}:",)),
    ):
        for instance in sorted(idle):
            found = f"{what.format(instance)} has no effect"
            text = f"{found}: no such axis of the joint is free (instances allowed: {listed})"
            attributes.report.warn(rule, prim.GetPath(), text)
            for prefix in prefixes:
                attributes.pass_over(prim, prefix.format(instance))
