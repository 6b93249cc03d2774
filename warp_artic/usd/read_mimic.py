"""The mimic joints of an articulation, in our dialect and those of Newton, PhysX and MuJoCo."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Joint
from warp_artic.description.mimic import Mimic
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.beside import cause_outside, hangs_on_refused
from warp_artic.usd.dialects import dialect_of
from warp_artic.usd.find_dof import AXES, check_axis, find_dof
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import Source, resolve
from warp_artic.usd.read_mjc_equalities import acts, note_compliance
from warp_artic.usd.read_terms import TermNames, read_numbers, read_terms
from warp_artic.usd.report import Reading
from warp_artic.usd.units import Quantity

NEWTON_REFERENCE = "newton:mimicJoint"
MJC_REFERENCE = "mjc:target"
SPRING = ("mimic_natural_frequency", "mimic_damping_ratio")
"""Fields of readings about compliance."""
HIGHER_TERMS = ("mjc:coef2", "mjc:coef3", "mjc:coef4")


@dataclass(frozen=True)
class _Claim:
    """A mimic joint as one schema has it."""

    schema: str
    """With its instance after a colon, if it has one."""
    mimic: Mimic
    is_rigid: bool = False
    """Whether the schema has no say on compliance."""


def read_mimics(articulation: Articulation, inventory: Inventory, attributes: Attributes) -> tuple[Mimic, ...]:
    """The mimic joints of an articulation, in the order of their followers; a wrong one is left out, with an error."""
    found: dict[int, Mimic] = {}
    for joint in articulation.joints:
        rivals: dict[int, list[_Claim]] = {}
        claims = _claims(joint, articulation, inventory, attributes)
        for claim in sorted(claims, key=lambda claim: attributes.rank(claim.schema)):
            kind, _, instance = claim.schema.partition(":")
            others = rivals.setdefault(claim.mimic.dofs[0], [])
            taken = [one.schema for one in others if one.schema.startswith(kind)]
            if taken:
                first = taken[0].partition(":")[2]
                text = f"is a mimic joint twice, as {first} and as {instance}, with one axis; keep one of them"
                attributes.report.error("mimic-twice", joint.path, text)
                continue
            others.append(claim)
        for follower, claims in rivals.items():
            found[follower] = _choose(claims, joint, articulation, attributes)
    return tuple(found[follower] for follower in sorted(found))


def followed_joints(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> list[str]:
    """Paths of what the mimic joints of a joint follow."""
    names = [f"warpArtic:mimic:{axis}:leaders" for axis in inventory.instances(prim, tokens.ARTIC_MIMIC)]
    names += [f"physxMimicJoint:{axis}:referenceJoint" for axis in inventory.instances(prim, tokens.PHYSX_MIMIC)]
    if inventory.has_schema(prim, tokens.MJC_EQUALITY):
        names += [NEWTON_REFERENCE, MJC_REFERENCE]
    elif inventory.has_schema(prim, tokens.NEWTON_MIMIC):
        names.append(NEWTON_REFERENCE)
    return [str(target) for name in names for target in attributes.targets(prim, name)]


def _claims(joint: Joint, articulation: Articulation, inventory: Inventory, attributes: Attributes) -> Iterator[_Claim]:
    """What each schema makes of a joint; a wrong one is left out, with an error."""
    prim = inventory.joints[joint.path]
    for instance in inventory.instances(prim, tokens.ARTIC_MIMIC):
        mimic = _read_own(joint, prim, instance, articulation, inventory, attributes)
        if mimic is None:
            attributes.pass_over(prim, f"warpArtic:mimic:{instance}:")
        else:
            yield _Claim(f"{tokens.ARTIC_MIMIC}:{instance}", mimic)
    is_mjc = inventory.has_schema(prim, tokens.MJC_EQUALITY)
    if is_mjc:
        note_compliance(prim, attributes)
    if inventory.has_schema(prim, tokens.NEWTON_MIMIC) or (is_mjc and NEWTON_REFERENCE in attributes.names(prim)):
        mimic = _read_newton(joint, prim, articulation, inventory, attributes)
        if mimic is not None and is_mjc:
            mimic = _with_terms_of_mjc(mimic, joint, prim, articulation, inventory, attributes)
        if mimic is None:
            attributes.pass_over(prim, "newton:mimic")
        else:
            yield _Claim(tokens.NEWTON_MIMIC, mimic, is_rigid=True)
    for instance in inventory.instances(prim, tokens.PHYSX_MIMIC):
        mimic = _read_physx(joint, prim, instance, articulation, inventory, attributes)
        if mimic is None:
            attributes.pass_over(prim, f"physxMimicJoint:{instance}:")
        else:
            yield _Claim(f"{tokens.PHYSX_MIMIC}:{instance}", mimic)
    if is_mjc and MJC_REFERENCE in attributes.names(prim):
        mimic = _read_mjc(joint, prim, articulation, inventory, attributes)
        if mimic is None:
            attributes.pass_over(prim, "mjc:coef")
        else:
            yield _Claim(tokens.MJC_EQUALITY, mimic, is_rigid=True)


def _choose(claims: list[_Claim], joint: Joint, articulation: Articulation, attributes: Attributes) -> Mimic:
    """The first of several; where it has no say on compliance, with that of another that agrees with it."""
    used = claims[0]
    relation = spring_of = dialect_of(used.schema)
    for other in claims[1:]:
        is_compared = not (used.is_rigid or other.is_rigid)
        if not _agree(used.mimic, other.mimic, is_compared):
            one, two = (_show(claim.mimic, articulation, is_compared) for claim in (other, used))
            found = f"{other.schema} gives {one}, but {used.schema} gives {two}, which is used"
            attributes.report.warn("dialects-differ", joint.path, found)
        elif used.is_rigid:
            spring = {name: getattr(other.mimic, name) for name in ("natural_frequency", "damping_ratio")}
            used = replace(used, mimic=replace(used.mimic, **spring), is_rigid=False)
            spring_of = dialect_of(other.schema)
    readings = attributes.report.readings[used.mimic.name]
    readings[:] = [
        one
        for one in readings
        if not one.field.startswith("mimic_") or one.dialect == (spring_of if one.field in SPRING else relation)
    ]
    return used.mimic


def _agree(one: Mimic, other: Mimic, with_compliance: bool) -> bool:
    """Whether two mimic joints mean the same."""
    numbers = [[*mimic.gears, *mimic.curve, mimic.offset] for mimic in (one, other)]
    if with_compliance:
        for mimic, own in zip((one, other), numbers):
            is_spring = not mimic.is_hard
            own += [mimic.natural_frequency, mimic.damping_ratio] if is_spring else [0.0, 0.0]
    same = one.dofs == other.dofs and one.enabled == other.enabled
    return same and all(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-9) for a, b in zip(*numbers))


def _show(mimic: Mimic, articulation: Articulation, with_compliance: bool) -> str:
    terms = [f"{0.0 - gear:g} q({articulation.dofs[dof].name})" for dof, gear in zip(mimic.dofs[1:], mimic.gears[1:])]
    spring = ""
    if with_compliance:
        spring = f", {mimic.natural_frequency:g} rad/s" if not mimic.is_hard else ", hard"
        spring += f", damping ratio {mimic.damping_ratio:g}"
    return f"q = {' + '.join(terms)} + {0.0 - mimic.offset:g}{spring}{'' if mimic.enabled else ' (disabled)'}"


def _read_own(
    joint: Joint,
    prim: Usd.Prim,
    instance: str,
    articulation: Articulation,
    inventory: Inventory,
    attributes: Attributes,
) -> Mimic | None:
    """q_0 = offset + sum gear_i q_i."""
    prefix = f"warpArtic:mimic:{instance}:"
    names = TermNames(f"{prefix}leaders", f"{prefix}leaderIndices", f"{prefix}leaderAxes")
    follower = find_dof(articulation, joint, prim, instance, joint.path, attributes)
    leaders = read_terms(prim, names, articulation, inventory, attributes)
    if follower is None or leaders is None:
        return None
    if follower in leaders:
        text = f"leads to {articulation.dofs[follower].name}: a joint cannot mimic itself"
        attributes.report.error("mimic-self", f"{joint.path}.{names.joints}", text)
        return None
    gears = read_numbers(prim, f"{prefix}gears", len(leaders), attributes)
    if gears is None:
        return None
    name = articulation.dofs[follower].name
    values = []
    for leader, gear in zip(leaders, gears or [1.0] * len(leaders)):
        quantity, _ = quantities_of(articulation, (follower, leader))
        values.append(attributes.units.si(gear, quantity))
        if gears:
            reading = Reading(
                "mimic_gear", f"{joint.path}.{prefix}gears", gear, quantity.authored, values[-1], quantity.si
            )
            attributes.report.readings[name].append(reading)
    dofs = (follower, *leaders)
    _, place = quantities_of(articulation, dofs[:2])

    def number(field: str, name: str, quantity: Quantity) -> float:
        return _number(prim, f"mimic_{field}", f"{prefix}{name}", 0.0, quantity, dofs, articulation, attributes)

    return Mimic(
        name=name,
        dofs=dofs,
        gears=(1.0, *(0.0 - value for value in values)),
        offset=0.0 - number("offset", "offset", place),
        natural_frequency=number("natural_frequency", "naturalFrequency", units.NATURAL_FREQUENCY),
        damping_ratio=number("damping_ratio", "dampingRatio", units.NUMBER),
        enabled=attributes.flag(prim, f"{prefix}enabled", True),
    )


def _read_newton(
    joint: Joint, prim: Usd.Prim, articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> Mimic | None:
    """q_0 = coef0 + coef1 q_1."""
    dofs = _dofs(joint, prim, "", NEWTON_REFERENCE, "", articulation, inventory, attributes)
    enabled = attributes.flag(prim, "newton:mimicEnabled", True)
    if dofs is None:
        return None
    per_position, place = quantities_of(articulation, dofs)
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
    per_position, place = quantities_of(articulation, dofs)

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


def _read_mjc(
    joint: Joint, prim: Usd.Prim, articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> Mimic | None:
    """q_0 = coef0 + coef1 q_1 + ... + coef4 q_1^4, in radians."""
    dofs = _dofs(joint, prim, "", MJC_REFERENCE, "", articulation, inventory, attributes)
    if dofs is None:
        return None
    follower, leader = (articulation.dofs[dof].axis.is_linear for dof in dofs)
    slope = units.NUMBER
    if follower != leader:
        slope = units.LEVER if follower else units.RADIAN_PER_DISTANCE
    place = units.DISTANCE if follower else units.RADIAN
    coefficient = _number(prim, "mimic_coef1", "mjc:coef1", 1.0, slope, dofs, articulation, attributes)
    offset = _number(prim, "mimic_coef0", "mjc:coef0", 0.0, place, dofs, articulation, attributes)
    curve = _read_curve(joint, prim, dofs, articulation, attributes)
    return (
        None
        if curve is None
        else Mimic(
            name=articulation.dofs[dofs[0]].name,
            dofs=dofs,
            gears=(1.0, 0.0 - coefficient),
            curve=curve,
            offset=0.0 - offset,
            enabled=acts(prim, inventory, attributes),
        )
    )


def _with_terms_of_mjc(
    mimic: Mimic, joint: Joint, prim: Usd.Prim, articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> Mimic | None:
    """A relation of Newton's schema that an equality of MuJoCo extends by higher terms."""
    curve = _read_curve(joint, prim, mimic.dofs, articulation, attributes)
    if curve is None:
        return None
    return replace(mimic, curve=curve, enabled=mimic.enabled and acts(prim, inventory, attributes))


def _read_curve(
    joint: Joint, prim: Usd.Prim, dofs: tuple[int, int], articulation: Articulation, attributes: Attributes
) -> tuple[float, float, float] | None:
    """The higher terms of an equality; None, and a warning, where a joint has several axes."""
    follower, leader = (int(articulation.dofs[dof].axis.is_linear) for dof in dofs)
    found, readings = [], []
    for power, name in enumerate(HIGHER_TERMS, 2):
        length = follower - power * leader
        authored = " ".join(("distance" if follower else "rad", f"/ {'distance' if leader else 'rad'}^{power}"))
        quantity = Quantity(authored, authored.replace("distance", "m"), length=length)
        reading = resolve(attributes, prim, f"mimic_coef{power}", (Source(name, quantity),))
        found.append(0.0 if reading is None else 0.0 - reading.value)
        readings += [] if reading is None else [reading]
    if any(found):
        dof_count = {dof.name: len(one.dofs) for one in articulation.joints for dof in one.dofs}
        if any(dof_count[articulation.dofs[dof].name] > 1 for dof in dofs):
            terms = ", ".join(f"{name} = {attributes.number(prim, name):g}" for name in HIGHER_TERMS)
            text = f"an equality that is not linear ({terms}), of a joint with several axes: not simulated yet"
            attributes.report.warn("mimic", joint.path, text)
            return None
        attributes.report.readings[articulation.dofs[dofs[0]].name] += readings
    return tuple(found)


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
    has_axis = relationship not in (NEWTON_REFERENCE, MJC_REFERENCE)
    if targets[0] not in joints:
        other = inventory.joints.get(targets[0])
        if other and hangs_on_refused(targets[0], inventory, articulation):
            check_axis(other, reference_axis or (AXES[3] if has_axis else ""), path, inventory, attributes)
            return None
        found = "no joint"
        if other:
            cause = cause_outside(targets[0], inventory, attributes)
            found = f"not a joint of the articulation {articulation.path}, as {joint.path} is{cause}"
        attributes.report.error("mimic-reference", path, f"leads to {targets[0]}, which is {found}; must lead to one")
        return None
    reference = joints[targets[0]]
    if not reference_axis and len(reference.dofs) > 1 and has_axis:
        reference_axis = AXES[3]
    leader = find_dof(articulation, reference, inventory.joints[reference.path], reference_axis, path, attributes)
    if follower is None or leader is None:
        return None
    if follower == leader:
        attributes.report.error("mimic-self", path, f"leads to {targets[0]}: a joint cannot mimic itself")
        return None
    return follower, leader


def quantities_of(articulation: Articulation, dofs: tuple[int, int]) -> tuple[Quantity, Quantity]:
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
