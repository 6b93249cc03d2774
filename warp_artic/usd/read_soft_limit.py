"""What happens beyond the bounds of a limit: a spring, a damper, a bounce."""

from __future__ import annotations

import math
from dataclasses import replace

from pxr import Usd

from warp_artic.description.limit import Limit
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import LIMIT_FIELDS, Reading, resolve


def read_soft_limit(
    prim: Usd.Prim,
    limit: Limit | None,
    instances: tuple[str, ...],
    is_linear: bool,
    inventory: Inventory,
    attributes: Attributes,
) -> tuple[Limit | None, list[Reading]]:
    """The limit with what its schemas add to its bounds, and where the values came from."""
    applied = tuple(name for name in instances if inventory.has_schema(prim, f"{tokens.PHYSX_LIMIT}:{name}"))
    readings, values = [], {}
    for field, sources in LIMIT_FIELDS.items():
        reading = resolve(attributes, prim, f"limit_{field}", sources, applied, is_linear)
        if reading is None:
            continue
        if reading.value < 0.0 or (field == "restitution" and reading.value > 1.0):
            allowed = "must be from 0 to 1" if field == "restitution" else "must not be negative"
            text = f"is {reading.found}, {allowed}"
            attributes.report.error("limit-soft", reading.attribute, text)
            continue
        readings.append(reading)
        if math.isfinite(reading.value):  # infinitely stiff is hard, which is what no value means
            values[field] = reading.value
    if limit is None or not values:
        return limit, readings
    return replace(limit, **values), readings
