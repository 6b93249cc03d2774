"""The fixed tendons of an articulation in our schema: each a prim with lists of joints and coefficients."""

from __future__ import annotations

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.tendon import FixedTendon
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import TENDON_JOINTS, Inventory
from warp_artic.usd.lookup import LENGTH_FIELDS, TENDON_FIELDS, resolve_all
from warp_artic.usd.read_terms import TermNames, read_numbers, read_terms
from warp_artic.usd.read_track import read_length_tracks
from warp_artic.usd.report import Reading

NAMES = TermNames(TENDON_JOINTS, "warpArtic:jointIndices", "warpArtic:axes")
COEFFICIENTS = "warpArtic:coefficients"
FORCE_COEFFICIENTS = "warpArtic:forceCoefficients"


def read_fixed_tendon_prims(
    articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> tuple[FixedTendon, ...]:
    """The tendons whose first joint is in an articulation, in their order; a wrong one is left out, with an error."""
    tendons = []
    for prim in inventory.tendons_of([joint.path for joint in articulation.joints], tokens.ARTIC_FIXED_TENDON):
        tendon = _read(prim, articulation, inventory, attributes)
        if tendon is None:
            attributes.pass_over(prim)
        else:
            tendons.append(tendon)
    return tuple(tendons)


def _read(
    prim: Usd.Prim, articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> FixedTendon | None:
    name = str(prim.GetPath())
    readings = resolve_all(attributes, prim, TENDON_FIELDS | LENGTH_FIELDS)
    enabled = attributes.flag(prim, "warpArtic:enabled", True)
    attributes.report.readings[name] = list(readings.values())
    dofs = read_terms(prim, NAMES, articulation, inventory, attributes)
    if dofs is None:
        return None
    coefficients = _coefficients(prim, COEFFICIENTS, "coefficient", dofs, articulation, attributes)
    forces = _coefficients(prim, FORCE_COEFFICIENTS, "force_coefficient", dofs, articulation, attributes)
    if coefficients == ():
        text = f"has no numbers for {len(dofs)} terms, must have one for each"
        attributes.report.error("terms", f"{name}.{COEFFICIENTS}", text)
    if not coefficients or forces is None:
        return None
    return FixedTendon(
        name=name,
        dofs=dofs,
        coefficients=coefficients,
        force_coefficients=forces or coefficients,
        enabled=enabled,
        **{field: reading.value for field, reading in readings.items()},
        **read_length_tracks(attributes, prim, readings),
    )


def _coefficients(
    prim: Usd.Prim, name: str, field: str, dofs: tuple[int, ...], articulation: Articulation, attributes: Attributes
) -> tuple[float, ...] | None:
    """Coefficients in SI; empty where none are authored, None, and an error, where they are wrong."""
    authored = read_numbers(prim, name, len(dofs), attributes)
    if authored is None:
        return None
    attribute, values = f"{prim.GetPath()}.{name}", []
    for dof, number in zip(dofs, authored):
        quantity = units.NUMBER if articulation.dofs[dof].axis.is_linear else units.DISTANCE_PER_ANGLE
        values.append(attributes.units.si(number, quantity))
        reading = Reading(field, attribute, number, quantity.authored, values[-1], quantity.si)
        attributes.report.readings[str(prim.GetPath())].append(reading)
    return tuple(values)
