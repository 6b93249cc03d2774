"""Values of what is understood of a stage as JSON has them, and where they came from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from enum import Enum

from warp_artic.usd.lookup import Source

OF_BODIES = ("position", "velocity")
"""Values of a dof that are those of its bodies where they are not authored."""


def units_of(fields: dict[str, tuple[Source, ...]]) -> dict[str, str]:
    """The SI units of the fields of a table."""
    return {name: sources[0].linear.si for name, sources in fields.items()}


def sourced(values: Iterable[str], readings, called: dict[str, str] | None = None) -> dict:
    """The authored readings, and for each value the dialect that gives it, or what else does.

    Args:
        values: Their names.
        readings: Where they came from, as far as they are authored.
        called: What the fields of readings are called that have other names than the values.
    """
    found = {reading.field: reading for reading in readings}
    sources = {}
    for name in values:
        reading = found.get((called or {}).get(name, name))
        if reading is None:
            sources[name] = "bodies" if name in OF_BODIES else "default"
        else:
            sources[name] = "colliders" if reading.authored is None else reading.dialect
    return {"sources": sources, "authored": readings_of(readings)}


def readings_of(readings) -> list[dict]:
    """Where values came from, as plain values."""
    return [plain(asdict(reading)) | {"dialect": reading.dialect} for reading in readings]


def plain(value):
    """A value as JSON has it: infinities are None, tuples are lists, choices are their words."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    return None if isinstance(value, float) and not math.isfinite(value) else value
