"""Springs in joints of the MuJoCo dialect: each becomes a fixed tendon over one dof, which acts beside any drive."""

from __future__ import annotations

from warp_artic.description.articulation import Articulation
from warp_artic.description.tendon import FixedTendon
from warp_artic.usd import units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import MJC_SPRING, resolve
from warp_artic.usd.mjc import mjc_place, mjc_position


def read_mjc_springs(
    articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> tuple[FixedTendon, ...]:
    """effort = stiffness (springref - ref - q); the joint starts at ref, which is our zero."""
    springs = []
    for number, dof in enumerate(articulation.dofs):
        path, _, axis = dof.name.partition(":")
        prim = inventory.joints[path]
        reading = resolve(attributes, prim, "stiffness", MJC_SPRING, is_linear=dof.axis.is_linear)
        rest, places = 0.0, []
        if not axis:
            springref, ref = (
                mjc_position(prim, f"mjc:{name}", dof.axis.is_linear, inventory, attributes)
                for name in ("springref", "ref")
            )
            rest = springref - ref
            unit = units.DISTANCE.si if dof.axis.is_linear else units.RADIAN.si
            for name, sign in (("mjc:springref", 1.0), ("mjc:ref", -1.0)):
                places += mjc_place("rest_length", prim, name, sign, unit, dof.axis.is_linear, inventory, attributes)
            if ref != 0.0 and dof.limit is not None:
                text = (
                    "is where MuJoCo counts positions from; the limits of the joint are those of UsdPhysics, about the "
                    "authored poses of its bodies: shift them by it if they are positions of MuJoCo"
                )
                attributes.report.warn("limit-reference", f"{path}.mjc:ref", text)
        if reading is None or reading.value == 0.0:
            continue
        if reading.value < 0.0:
            attributes.report.error("negative", reading.attribute, f"is {reading.found}, must not be negative")
            continue
        name = f"{path}:{axis}Spring" if axis else f"{path}:spring"
        attributes.report.readings[name] = [reading, *places]
        springs.append(
            FixedTendon(
                name=name,
                dofs=(number,),
                coefficients=(1.0,),
                force_coefficients=(1.0,),
                stiffness=reading.value,
                rest_length=rest,
            )
        )
    return tuple(springs)
