"""The scales of inverse masses and inertias by which a joint moves its two bodies, which no joint of a tree has."""

from __future__ import annotations

from pxr import Usd

from warp_artic.usd import units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.lookup import Source, resolve_all
from warp_artic.usd.report import Reading

FIELDS = {
    f"inverse_{what.lower()}_scale{side}": (Source(f"warpArtic:jointFrame:inverse{what}Scale{side}", units.NUMBER),)
    for what in ("Mass", "Inertia")
    for side in range(2)
}


def read_scales(prim: Usd.Prim, attributes: Attributes) -> dict[str, Reading]:
    """The scales that are authored; an error where one is negative."""
    found = {}
    for name, reading in resolve_all(attributes, prim, FIELDS).items():
        if reading.value >= 0.0:
            found[name] = reading
        else:
            text = f"is {reading.found}; it must be finite, and not negative"
            attributes.report.error("constraint", reading.attribute, text)
    return found


def scales_by_side(found: dict[str, Reading]) -> dict[str, tuple[float, float]]:
    """The fields of a loop joint."""
    values = {name: found[name].value if name in found else 1.0 for name in FIELDS}
    names = ("inverse_mass_scale", "inverse_inertia_scale")
    return {f"{name}s": (values[f"{name}0"], values[f"{name}1"]) for name in names}


def is_scaled(prim: Usd.Prim, attributes: Attributes) -> bool:
    """Whether any scale is other than one; to look is not to use, as joints of trees have none."""
    used = attributes.report.used
    unused = {f"{prim.GetPath()}.{source.attribute}" for sources in FIELDS.values() for source in sources} - used
    scales = any(reading.value != 1.0 for reading in read_scales(prim, attributes).values())
    used -= unused
    return scales
