"""The drive of one degree of freedom."""

from __future__ import annotations

from pxr import Usd

from warp_artic.description.drive import Drive, DriveKind
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import DOF_FIELDS, ENVELOPE_FIELDS, Reading, resolve

KINDS = tuple(kind.value for kind in DriveKind)


def read_drive(
    prim: Usd.Prim, instance: str, is_linear: bool, inventory: Inventory, attributes: Attributes
) -> tuple[Drive | None, list[Reading]]:
    """The drive that is applied under an instance name, and where its values came from."""
    if not any(inventory.has_schema(prim, f"{schema}:{instance}") for schema in (tokens.DRIVE, tokens.ARTIC_DRIVE)):
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
    readings, values = [], {}
    for name, own in sources.items():
        reading = resolve(attributes, prim, name, own, (instance,), is_linear, inventory)
        if reading is None:
            continue
        if name in not_negative and reading.value < 0.0:
            text = f"is {reading.found}, must not be negative"
            attributes.report.error("drive", reading.attribute, text)
            continue
        values[name] = reading.value
        readings.append(reading)
    return Drive(kind=kind, **values), readings


def report_idle(prim: Usd.Prim, instances: list[tuple[str, ...]], inventory: Inventory, attributes: Attributes) -> None:
    """Report drives, and what else goes by axis, under none of the instance names that the free axes have."""
    drives = {*inventory.instances(prim, tokens.DRIVE), *inventory.instances(prim, tokens.ARTIC_DRIVE)}
    own = set(inventory.instances(prim, tokens.ARTIC_JOINT))
    first, every = {names[0] for names in instances}, {name for names in instances for name in names}
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
