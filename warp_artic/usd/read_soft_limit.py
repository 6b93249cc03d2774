"""What happens beyond the bounds of a limit: a spring, a damper, a bounce.

PhysX, ours    hard where stiffness and damping are zero
Newton         hard where no stiffness is said, or an infinite one: damping, which is that of the spring, is ignored;
               else stiffness * excess + damping * velocity, which is nothing where both are zero
"""

from __future__ import annotations

import math
from dataclasses import replace

from pxr import Usd

from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import LIMIT_FIELDS, Reading, resolve

CONE = "cone"
"""Instance name of what the limit of a spherical joint does beyond its cone angles."""


def limit_instances(prim: Usd.Prim, instances: tuple[str, ...], is_side: bool) -> tuple[str, ...]:
    """Instance names for the limit of a dof; of one that is a side of a cone, whose other side is locked, also CONE."""
    return (*instances, CONE) if is_side and prim.GetTypeName() == tokens.SPHERICAL_JOINT else instances


def read_soft_cone(
    prim: Usd.Prim, cone: ConeLimit, inventory: Inventory, attributes: Attributes
) -> tuple[ConeLimit | None, list[Reading]]:
    """The cone with the spring and damper beyond it, and where they came from; its restitution is reported.

    None where no force acts beyond it.
    """
    limit, readings = read_soft_limit(prim, Limit(), (CONE,), False, inventory, attributes)
    if limit is None:
        return None, readings
    report_limit(str(prim.GetPath()), limit, True, attributes)
    return replace(cone, stiffness=limit.stiffness, damping=limit.damping), readings


def read_soft_limit(
    prim: Usd.Prim,
    limit: Limit | None,
    instances: tuple[str, ...],
    is_linear: bool,
    inventory: Inventory,
    attributes: Attributes,
) -> tuple[Limit | None, list[Reading]]:
    """The limit with what its schemas add to its bounds, and where the values came from.

    None where no force acts beyond the bounds, which is told.
    """
    found = {}
    for field, sources in LIMIT_FIELDS.items():
        reading = resolve(attributes, prim, f"limit_{field}", sources, instances, is_linear, inventory)
        if reading is None:
            continue
        if reading.value < 0.0 or (field == "restitution" and reading.value > 1.0):
            allowed = "must be from 0 to 1" if field == "restitution" else "must not be negative"
            text = f"is {reading.found}, {allowed}"
            attributes.report.error("limit-soft", reading.attribute, text)
            continue
        found[field] = reading
    stiffness, damping = found.get("stiffness"), found.get("damping")
    if limit is not None and damping is not None and not damps(stiffness, damping):
        if damping.value > 0.0:
            text = f"is {damping.found} and has no effect: the limit is hard, without a spring to damp"
            attributes.report.warn("limit-soft", damping.attribute, text)
        del found["damping"]
    if limit is not None and is_without_force(stiffness, damping):
        text = f"is {stiffness.found}, without damping: no force acts beyond the bounds of the limit, which is left out"
        attributes.report.warn("limit-soft", stiffness.attribute, text)
        limit = None
    # Infinitely stiff is hard, which is what no value means.
    values = {field: reading.value for field, reading in found.items() if math.isfinite(reading.value)}
    if limit is None or not values:
        return limit, list(found.values())
    return replace(limit, **values), list(found.values())


def damps(stiffness: Reading | None, damping: Reading) -> bool:
    """Whether a damping acts beyond a limit with this stiffness, None where none is said: a hard one has no damper."""
    if stiffness is not None and math.isinf(stiffness.value):
        return False
    return not _is_newton(damping) or (stiffness is not None and (stiffness.value > 0.0 or _is_newton(stiffness)))


def is_without_force(stiffness: Reading | None, damping: Reading | None) -> bool:
    """Whether nothing acts beyond a limit: Newton says a stiffness of zero, and there is no finite damping."""
    is_damped = damping is not None and 0.0 < damping.value < math.inf
    return stiffness is not None and _is_newton(stiffness) and stiffness.value == 0.0 and not is_damped


def _is_newton(reading: Reading) -> bool:
    return reading.dialect == "newton"


def report_limit(name: str, limit: Limit | None, is_component: bool, attributes: Attributes) -> None:
    """Report what the limit of a dof has beside its bounds that has no effect.

    That is any restitution where the dof is a rotation of a ball or zero-twist joint.
    """
    if limit is None:
        return
    if is_component and limit.restitution > 0.0:
        text = "restitution of the limits of a ball or zero-twist joint: not simulated yet"
        attributes.report.warn("limit-soft", name, text)
    elif limit.is_soft and limit.restitution > 0.0:
        text = "the restitution of its limit has no effect: the limit has a stiffness or a damping"
        attributes.report.warn("limit-soft", name, text)
