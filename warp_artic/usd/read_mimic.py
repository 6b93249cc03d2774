"""The mimic joints of an articulation, in the dialects of Newton and PhysX."""

from __future__ import annotations

import math
from dataclasses import replace

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Joint
from warp_artic.description.mimic import Mimic
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.find_dof import AXES, find_dof
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import Source, resolve
from warp_artic.usd.units import Quantity

NEWTON_REFERENCE = "newton:mimicJoint"


def read_mimics(articulation: Articulation, inventory: Inventory, attributes: Attributes) -> tuple[Mimic, ...]:
    """The mimic joints of an articulation, in the order of their followers; a wrong one is left out, with an error."""
    found: dict[int, Mimic] = {}
    for joint in articulation.joints:
        prim = inventory.joints[joint.path]
        if inventory.has_schema(prim, tokens.NEWTON_MIMIC):
            mimic = _read_newton(joint, prim, articulation, inventory, attributes)
            if mimic is not None:
                found[mimic.dofs[0]] = mimic
        taken: dict[int, str] = {}
        for instance in inventory.instances(prim, tokens.PHYSX_MIMIC):
            mimic = _read_physx(joint, prim, instance, articulation, inventory, attributes)
            if mimic is None:
                continue
            follower = mimic.dofs[0]
            if follower in taken:
                text = (
                    f"is a mimic joint twice, as {taken[follower]} and as {instance}, with one axis; keep one of them"
                )
                attributes.report.error("mimic-twice", joint.path, text)
                continue
            taken[follower] = instance
            found[follower] = _choose(found.get(follower), mimic, instance, joint, articulation, attributes)
    return tuple(found[follower] for follower in sorted(found))


def _choose(
    newton: Mimic | None, physx: Mimic, instance: str, joint: Joint, articulation: Articulation, attributes: Attributes
) -> Mimic:
    """The mimic joint of both dialects: that of Newton, which has no say on compliance, where they agree."""
    if newton is None:
        return physx
    same = newton.dofs == physx.dofs and newton.enabled == physx.enabled
    for one, other in ((newton.gears[1], physx.gears[1]), (newton.offset, physx.offset)):
        same = same and math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-9)
    if not same:
        found = (
            f"{tokens.PHYSX_MIMIC}:{instance} gives {_show(physx, articulation)}, but {tokens.NEWTON_MIMIC} gives "
            f"{_show(newton, articulation)}, which is used"
        )
        attributes.report.warn("dialects-differ", joint.path, found)
        return newton
    return replace(newton, natural_frequency=physx.natural_frequency, damping_ratio=physx.damping_ratio)


def _show(mimic: Mimic, articulation: Articulation) -> str:
    off = "" if mimic.enabled else " (disabled)"
    return f"q = {0.0 - mimic.gears[1]:g} q({articulation.dofs[mimic.dofs[1]].name}) + {0.0 - mimic.offset:g}{off}"


def _read_newton(
    joint: Joint, prim: Usd.Prim, articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> Mimic | None:
    """q_0 = coef0 + coef1 q_1."""
    dofs = _dofs(joint, prim, "", NEWTON_REFERENCE, "", articulation, inventory, attributes)
    enabled = attributes.flag(prim, "newton:mimicEnabled", True)
    if dofs is None:
        return None
    per_position, place = _quantities(articulation, dofs)
    coefficient = _number(prim, "mimic_coef1", "newton:mimicCoef1", 1.0, per_position, dofs, articulation, attributes)
    offset = _number(prim, "mimic_coef0", "newton:mimicCoef0", 0.0, place, dofs, articulation, attributes)
    return Mimic(
        name=articulation.dofs[dofs[0]].name,
        dofs=dofs,
        gears=(1.0, 0.0 - coefficient),
        offset=0.0 - offset,
        enabled=enabled,
    )


def _read_physx(
    joint: Joint,
    prim: Usd.Prim,
    instance: str,
    articulation: Articulation,
    inventory: Inventory,
    attributes: Attributes,
) -> Mimic | None:
    """q + gearing q_ref + offset = 0."""
    prefix = f"physxMimicJoint:{instance}:"
    axis = attributes.token(prim, f"{prefix}referenceJointAxis", "", AXES)
    dofs = _dofs(joint, prim, instance, f"{prefix}referenceJoint", axis, articulation, inventory, attributes)
    if dofs is None:
        return None
    per_position, place = _quantities(articulation, dofs)

    def number(field: str, name: str, default: float, quantity: Quantity) -> float:
        return _number(prim, f"mimic_{field}", f"{prefix}{name}", default, quantity, dofs, articulation, attributes)

    return Mimic(
        name=articulation.dofs[dofs[0]].name,
        dofs=dofs,
        gears=(1.0, number("gear", "gearing", 1.0, per_position)),
        offset=number("offset", "offset", 0.0, place),
        natural_frequency=number("natural_frequency", "naturalFrequency", 0.0, units.NATURAL_FREQUENCY),
        damping_ratio=number("damping_ratio", "dampingRatio", 0.0, units.NUMBER),
    )


def _dofs(
    joint: Joint,
    prim: Usd.Prim,
    axis: str,
    relationship: str,
    reference_axis: str,
    articulation: Articulation,
    inventory: Inventory,
    attributes: Attributes,
) -> tuple[int, int] | None:
    """The dofs of the follower and of the joint it follows; None, and an error, where there are no two."""
    follower = find_dof(articulation, joint, prim, axis, joint.path, attributes)
    path = f"{joint.path}.{relationship}"
    targets = [str(target) for target in attributes.targets(prim, relationship)]
    if len(targets) != 1:
        attributes.report.error("mimic-reference", path, f"leads to {len(targets)} joints, must lead to one")
        return None
    joints = {one.path: one for one in articulation.joints}
    if targets[0] not in joints:
        outside = f"not a joint of the articulation {articulation.path}, as {joint.path} is"
        found = outside if targets[0] in inventory.joints else "no joint"
        attributes.report.error("mimic-reference", path, f"leads to {targets[0]}, which is {found}")
        return None
    reference = joints[targets[0]]
    if not reference_axis and len(reference.dofs) > 1 and relationship != NEWTON_REFERENCE:
        reference_axis = AXES[3]
    leader = find_dof(articulation, reference, inventory.joints[reference.path], reference_axis, path, attributes)
    if follower is None or leader is None:
        return None
    if follower == leader:
        attributes.report.error("mimic-self", path, f"leads to {targets[0]}: a joint cannot mimic itself")
        return None
    return follower, leader


def _quantities(articulation: Articulation, dofs: tuple[int, int]) -> tuple[Quantity, Quantity]:
    """What the gearing and the offset are in: positions of the follower, and those per position of the leader."""
    follower, leader = (articulation.dofs[dof].axis.is_linear for dof in dofs)
    place = units.DISTANCE if follower else units.ANGLE
    if follower == leader:
        return units.NUMBER, place
    return units.DISTANCE_PER_ANGLE if follower else units.ANGLE_PER_DISTANCE, place


def _number(prim, field, name, default, quantity: Quantity, dofs, articulation: Articulation, attributes) -> float:
    """A number of a mimic joint in SI; listed with the values of its follower."""
    reading = resolve(attributes, prim, field, (Source(name, quantity),))
    if reading is None:
        return attributes.units.si(default, quantity)
    attributes.report.readings[articulation.dofs[dofs[0]].name].append(reading)
    return reading.value + 0.0
