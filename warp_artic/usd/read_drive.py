"""The drive of one degree of freedom."""

from __future__ import annotations

from pxr import Usd

from warp_artic.description.drive import Drive, DriveKind
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import DOF_FIELDS, ENVELOPE_FIELDS, Reading, applied, resolve

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
    sources = {name: DOF_FIELDS[field] for name, field in fields.items()}
    not_negative = {"stiffness", "damping", "max_force", *ENVELOPE_FIELDS}
    sources |= applied(ENVELOPE_FIELDS, prim, (instance,), inventory)
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


def report_idle(prim: Usd.Prim, instances: set[str], inventory: Inventory, attributes: Attributes) -> None:
    """Report drives, and what else goes by axis, whose instance name is none of those of the free axes."""
    drives = {*inventory.instances(prim, tokens.DRIVE), *inventory.instances(prim, tokens.ARTIC_DRIVE)}
    own = set(inventory.instances(prim, tokens.ARTIC_JOINT))
    allowed = ", ".join(sorted(instances)) or "none: the joint is fixed"
    for rule, what, found, prefixes in (
        ("drive-idle", "the drive {}", drives, ("drive:{}:", "warpArtic:drive:{}:")),
        ("axis-idle", f"{tokens.ARTIC_JOINT}:{{}}", own, ("warpArtic:joint:{}:",)),
    ):
        for instance in sorted(found - instances):
            text = (
                f"{what.format(instance)} has no effect: no such axis of the joint is free (instances allowed: "
                f"{allowed})"
            )
            attributes.report.warn(rule, prim.GetPath(), text)
            start = tuple(prefix.format(instance) for prefix in prefixes)
            names = (name for name in attributes.names(prim) if name.startswith(start))
            attributes.report.used.update(f"{prim.GetPath()}.{name}" for name in names)
