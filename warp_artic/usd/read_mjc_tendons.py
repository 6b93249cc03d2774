"""Tendons of the MuJoCo dialect: prims that lead over joints, or through sites.

A deadband, two spring lengths that differ, is a tendon without a spring whose limits pull as the spring does.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.pose import Pose
from warp_artic.description.start_pose import start_poses
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.beside import hangs_on_refused
from warp_artic.usd.inventory import MJC_PATH, Inventory
from warp_artic.usd.lookup import MJC_TENDON_FIELDS, resolve_all
from warp_artic.usd.mjc import mjc_place, mjc_position, mjc_range
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_terms import TermNames, read_numbers, read_terms
from warp_artic.usd.report import Reading

KINDS = ("spatial", "fixed")
NAMES = TermNames(MJC_PATH, "mjc:path:indices", "mjc:path:axes")
COEFFICIENTS = "mjc:path:coef"
SAME_PLACE = 1e-9
"""Difference between positions that is rounding [m or rad]."""


def read_mjc_fixed_tendons(
    articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> tuple[FixedTendon, ...]:
    """The tendons whose first joint is in an articulation, in their order; a wrong one is left out, with an error."""
    tendons = []
    for prim in inventory.tendons_of([joint.path for joint in articulation.joints], tokens.MJC_TENDON):
        if _kind(prim, attributes) != "fixed":
            _report(prim, "leads over a joint, but is of the type spatial", attributes)
            continue
        tendon = _read_fixed(prim, articulation, inventory, attributes)
        if tendon is None:
            attributes.pass_over(prim)
        else:
            tendons.append(tendon)
    return tuple(tendons)


def read_mjc_spatial_tendons(
    articulation: Articulation, inventory: Inventory, attributes: Attributes, placements: Placements
) -> tuple[SpatialTendon, ...]:
    """The tendons whose first site is on a link of it; one that wraps or has pulleys is left out, with a warning."""
    links = articulation.bodies
    tendons = []
    for prim in inventory.tendons_of(links, tokens.MJC_TENDON):
        if _kind(prim, attributes) != "spatial":
            _report(prim, "leads over sites, but is of the type fixed", attributes)
            continue
        tendon = _read_spatial(prim, links, articulation, inventory, attributes, placements)
        if tendon is None:
            attributes.pass_over(prim)
        else:
            tendons.append(tendon)
    return tuple(tendons)


def report_other_tendons(joints: set[str], links: set[str], inventory: Inventory, attributes: Attributes) -> None:
    """Report tendons that start at no joint and no link of an articulation."""
    placed = {str(prim.GetPath()) for path in joints | links for prim in inventory.tendons.get(path, ())}
    for path, prim in inventory.mjc_tendons.items():
        if path in placed:
            continue
        if any(hangs_on_refused(str(first), inventory) for first in attributes.targets(prim, MJC_PATH)[:1]):
            attributes.pass_over(prim)
        else:
            _report(prim, "starts at no joint and no link of an articulation", attributes)


def _kind(prim: Usd.Prim, attributes: Attributes) -> str:
    return attributes.token(prim, "mjc:type", KINDS[0], KINDS)


def _read_fixed(
    prim: Usd.Prim, articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> FixedTendon | None:
    """L = sum c_i (ref_i + q_i)."""
    name = str(prim.GetPath())
    dofs = read_terms(prim, NAMES, articulation, inventory, attributes)
    if dofs is None:
        return None
    authored = read_numbers(prim, COEFFICIENTS, len(dofs), attributes)
    if not authored:
        if authored is not None:
            text = f"has no numbers for {len(dofs)} terms, must have one for each"
            attributes.report.error("terms", f"{name}.{COEFFICIENTS}", text)
        return None
    coefficients, readings, places, start, rest = [], [], [], 0.0, 0.0
    for dof, number in zip(dofs, authored):
        quantity = units.NUMBER if articulation.dofs[dof].axis.is_linear else units.LEVER
        c = attributes.units.si(number, quantity)
        joint, is_linear = inventory.joints[articulation.dofs[dof].name.partition(":")[0]], quantity is units.NUMBER
        ref, springref = (
            mjc_position(joint, f"mjc:{word}", is_linear, inventory, attributes) for word in ("ref", "springref")
        )
        for field, word in (("offset", "ref"), ("rest_length", "springref")):
            places += mjc_place(field, joint, f"mjc:{word}", c, units.DISTANCE.si, is_linear, inventory, attributes)
        start, rest = start + c * ref, rest + c * springref
        coefficients.append(c)
        readings.append(Reading("coefficient", f"{name}.{COEFFICIENTS}", number, quantity.authored, c, quantity.si))
    fields = _fields(prim, attributes)
    attributes.report.readings[name] += readings
    rest_lengths = _rest_lengths(prim, rest, name, attributes)
    known = {reading.field for reading in attributes.report.readings[name]}
    attributes.report.readings[name] += [place for place in places if place.field not in known]
    if fields is None or rest_lengths is None:
        return None
    low, high = rest_lengths
    if low < high:
        fields |= {"limit_stiffness": fields.pop("stiffness", 0.0), "lower": low, "upper": high}
    else:
        fields["rest_length"] = low
    return FixedTendon(
        name=name,
        dofs=dofs,
        coefficients=tuple(coefficients),
        force_coefficients=tuple(coefficients),
        offset=start,
        **fields,
    )


def _read_spatial(
    prim: Usd.Prim,
    links: dict[str, int],
    articulation: Articulation,
    inventory: Inventory,
    attributes: Attributes,
    placements: Placements,
) -> SpatialTendon | None:
    """The sum of the distances between sites, each after the other, over a divisor; every segment pulls."""
    name = str(prim.GetPath())
    targets = [str(target) for target in attributes.targets(prim, MJC_PATH)]
    indices, segments = (attributes.whole_numbers(prim, f"mjc:path:{word}") for word in ("indices", "segments"))
    divisors = attributes.numbers(prim, "mjc:path:divisors")
    if None in (indices, segments, divisors):
        return None
    indices = indices or list(range(len(targets)))
    beyond = [index for index in indices if not 0 <= index < len(targets)]
    if beyond:
        text = f"has {beyond[0]}, must be from 0 to {len(targets) - 1}: places in a list of {len(targets)}"
        attributes.report.error("terms", f"{name}.mjc:path:indices", text)
        return None
    if segments and len(segments) != len(indices):
        text = f"has {len(segments)} numbers for {len(indices)} places, must have one for each"
        attributes.report.error("terms", f"{name}.mjc:path:segments", text)
        return None
    if len(set(segments)) > 1 or len(divisors) > 1 or 0.0 in divisors:
        return _report(prim, "has pulleys", attributes)
    if len(indices) < 2:
        return _report(prim, "leads through fewer than two sites", attributes)
    points = []
    for number, index in enumerate(indices):
        site, body = targets[index], inventory.body_of.get(targets[index], "")
        if not inventory.schemas.get(site, frozenset()).intersection(tokens.SITES):
            return _report(prim, f"wraps about {site}, which is no site", attributes)
        if body not in links and hangs_on_refused(body, inventory, articulation):
            return None
        if body not in links:
            return _report(prim, f"leads through {site}, which is on no link of the articulation", attributes)
        pose = placements.pose(prim.GetStage().GetPrimAtPath(site), inventory.bodies[body])
        if pose is None:
            return None
        points.append(
            Attachment(
                name=f"{name}:site{number}",
                link=links[body],
                position=pose.position,
                parent=number - 1 if number else None,
                coefficient=1.0 / divisors[0] if divisors and number else 1.0,
            )
        )
    fields, lengths = _fields(prim, attributes), _rest_lengths(prim, math.nan, points[-1].name, attributes)
    if fields is None or lengths is None:
        return None
    low, high = lengths
    rest = _length_at_springs(points, articulation, inventory, attributes) if math.isnan(low) else low
    leaf = TendonLeaf(attachment=len(points) - 1, rest_length=rest)
    if low < high:
        fields["limit_stiffness"] = fields.pop("stiffness", 0.0)
        leaf = TendonLeaf(attachment=len(points) - 1, lower=low, upper=high)
    return SpatialTendon(name=name, attachments=tuple(points), leaves=(leaf,), all_segments=True, **fields)


def _length_at_springs(
    points: list[Attachment], articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> float | None:
    """The length of a tendon where the springs in the joints rest; None where that is where they start."""
    joints, is_start = [], True
    for joint in articulation.joints:
        dofs = []
        for dof in joint.dofs:
            at_rest = 0.0
            if len(joint.dofs) == 1:
                prim, is_linear = inventory.joints[joint.path], dof.axis.is_linear
                springref, ref = (
                    mjc_position(prim, f"mjc:{name}", is_linear, inventory, attributes) for name in ("springref", "ref")
                )
                at_rest = springref - ref
            is_start &= math.isclose(dof.position, at_rest, abs_tol=SAME_PLACE)
            dofs.append(replace(dof, position=at_rest))
        joints.append(replace(joint, dofs=tuple(dofs)))
    if is_start:
        return None
    poses = start_poses(replace(articulation, joints=tuple(joints)), Pose())
    places = [poses[point.link].apply(point.position) for point in points]
    segments = zip(points[1:], places, places[1:])
    return sum(point.coefficient * float(np.linalg.norm(end - start)) for point, start, end in segments)


def _fields(prim: Usd.Prim, attributes: Attributes) -> dict[str, float] | None:
    """Stiffness and damping; None, and an error, where one is negative."""
    readings = resolve_all(attributes, prim, MJC_TENDON_FIELDS)
    attributes.report.readings[str(prim.GetPath())] = list(readings.values())
    wrong = [reading for reading in readings.values() if reading.value < 0.0]
    for reading in wrong:
        attributes.report.error("negative", reading.attribute, f"is {reading.found}, must not be negative")
    _report_ranges(prim, attributes)
    return None if wrong else {field: reading.value for field, reading in readings.items()}


def _rest_lengths(prim: Usd.Prim, start: float, owner: str, attributes: Attributes) -> tuple[float, float] | None:
    """Where the spring begins to push and to pull [m]; `start` where that is the length at the start.

    `owner` is what has the rest length: the tendon, or its leaf.
    """
    lengths = attributes.numbers(prim, "mjc:springlength")
    if lengths is None:
        return None
    if not lengths or lengths[0] < 0.0:
        return start, start
    low, high = (attributes.units.si(lengths[end], units.DISTANCE) for end in (0, -1))
    path, readings = str(prim.GetPath()), attributes.report.readings
    if low < high:  # a deadband: its spring is that of the limits
        own = [replace(one, field="limit_stiffness") if one.field == "stiffness" else one for one in readings[path]]
        readings[path] = own
    for field, end in (("lower", 0), ("upper", -1)) if low < high else (("rest_length", 0),):
        authored = lengths[end]
        value = attributes.units.si(authored, units.DISTANCE)
        readings.setdefault(owner, []).append(
            Reading(field, f"{path}.mjc:springlength", authored, units.DISTANCE.authored, value, units.DISTANCE.si)
        )
    return low, max(low, high)


def _report_ranges(prim: Usd.Prim, attributes: Attributes) -> None:
    """Report ranges of lengths and of efforts."""
    for what, switch, name in (
        ("a hard range of lengths", "mjc:limited", "mjc:range"),
        ("a range of the efforts of actuators on a tendon", "mjc:actuatorfrclimited", "mjc:actuatorfrcrange"),
    ):
        bounds = mjc_range(prim, switch, name, attributes)
        if bounds is not None:
            text = f"is {bounds[0]:g} to {bounds[1]:g}; {what} is not simulated yet"
            attributes.report.warn("not-simulated", f"{prim.GetPath()}.{name}", text)


def _report(prim: Usd.Prim, text: str, attributes: Attributes) -> None:
    attributes.report.warn("tendon", prim.GetPath(), f"tendon: {text}: not simulated yet")
    attributes.pass_over(prim)
