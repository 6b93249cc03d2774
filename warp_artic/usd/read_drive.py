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
    if not inventory.has_schema(prim, f"{tokens.DRIVE}:{instance}"):
        return None, []
    kind = DriveKind(attributes.token(prim, f"drive:{instance}:physics:type", "force", KINDS))
    fields = {
        "stiffness": f"{kind.value}_stiffness",
        "damping": f"{kind.value}_damping",
        "position_target": "position_target",
        "velocity_target": "velocity_target",
        "max_force": "max_force",
    }
    sources = {name: DOF_FIELDS[field] for name, field in fields.items()}
    not_negative = {"stiffness", "damping", "max_force", *ENVELOPE_FIELDS}
    if inventory.has_schema(prim, f"{tokens.DRIVE_ENVELOPE}:{instance}"):
        sources |= ENVELOPE_FIELDS
    readings, values = [], {}
    for name, own in sources.items():
        reading = resolve(attributes, prim, name, own, (instance,), is_linear)
        if reading is None:
            continue
        if name in not_negative and reading.value < 0.0:
            text = f"is {reading.found}, must not be negative"
            attributes.report.error("drive", reading.attribute, text)
            continue
        values[name] = reading.value
        readings.append(reading)
    return Drive(kind=kind, **values), readings


def report_idle_drives(prim: Usd.Prim, instances: set[str], inventory: Inventory, attributes: Attributes) -> None:
    """Report drives whose instance name is none of those of the free axes."""
    for instance in inventory.instances(prim, tokens.DRIVE):
        if instance in instances:
            continue
        allowed = ", ".join(sorted(instances)) or "none: the joint is fixed"
        text = f"the drive {instance} has no effect: no such axis of the joint is free (instances allowed: {allowed})"
        attributes.report.warn("drive-idle", prim.GetPath(), text)
        prefix = f"drive:{instance}:"
        names = (name for name in attributes.names(prim) if name.startswith(prefix))
        attributes.report.used.update(f"{prim.GetPath()}.{name}" for name in names)
