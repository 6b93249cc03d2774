"""The fixed tendons of an articulation: a root and further axes, applied to joints under the name of the tendon."""

from __future__ import annotations

from dataclasses import dataclass, field

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Joint
from warp_artic.description.tendon import FixedTendon
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.beside import hangs_on_refused
from warp_artic.usd.find_dof import AXES, find_dof
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import LENGTH_FIELDS, TENDON_FIELDS, Reading, resolve_all
from warp_artic.usd.read_track import read_length_tracks


@dataclass
class _Plan:
    """The joints of a tendon, in the order of the articulation."""

    joints: list[Joint] = field(default_factory=list)
    """Those with an axis, that of the root too."""
    roots: list[Joint] = field(default_factory=list)


@dataclass(frozen=True)
class _AxisTerm:
    dof: int
    coefficient: float
    force_coefficient: float


def read_fixed_tendons(
    articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> tuple[FixedTendon, ...]:
    """The fixed tendons of an articulation, in the order of their roots; a wrong one is left out, with an error."""
    found = {}
    for instance, plan in _plans(articulation, inventory).items():
        if len(plan.roots) == 1:
            order = articulation.joints.index(plan.roots[0])
            found[order, instance] = _read(instance, plan, articulation, inventory, attributes)
        elif not plan.roots and _has_root_beyond(instance, articulation, inventory):
            for joint in plan.joints:
                prim = inventory.joints[joint.path]
                _dof_of(instance, joint, articulation, prim, attributes)
                attributes.pass_over(prim, f"physxTendon:{instance}:")
        else:
            _refuse_roots(instance, plan, articulation, attributes)
    return tuple(found[key] for key in sorted(found) if found[key] is not None)


def _plans(articulation: Articulation, inventory: Inventory) -> dict[str, _Plan]:
    plans: dict[str, _Plan] = {}
    for joint in articulation.joints:
        prim = inventory.joints[joint.path]
        roots = inventory.instances(prim, tokens.TENDON_AXIS_ROOT)
        for instance in sorted({*roots, *inventory.instances(prim, tokens.TENDON_AXIS)}):
            plan = plans.setdefault(instance, _Plan())
            plan.joints.append(joint)
            if instance in roots:
                plan.roots.append(joint)
    return plans


def _has_root_beyond(instance: str, articulation: Articulation, inventory: Inventory) -> bool:
    """Whether the root of a tendon may only be outside of an articulation because a joint is refused."""
    schema = f"{tokens.TENDON_AXIS_ROOT}:{instance}"
    roots = (path for path, prim in inventory.joints.items() if inventory.has_schema(prim, schema))
    return any(hangs_on_refused(path, inventory, articulation) for path in roots)


def _refuse_roots(instance: str, plan: _Plan, articulation: Articulation, attributes: Attributes) -> None:
    """Report a tendon with several roots, or each axis of one without."""
    for joint in plan.roots[1:]:
        text = f"is a root of the fixed tendon {instance}, but so is {plan.roots[0].path}; a tendon has one root"
        attributes.report.error("tendon-root", joint.path, text)
    for joint in () if plan.roots else plan.joints:
        text = (
            f"is an axis of the fixed tendon {instance}, which has no root in the articulation {articulation.path}: "
            f"apply {tokens.TENDON_AXIS_ROOT}:{instance} to one joint of it"
        )
        attributes.report.error("tendon-root", joint.path, text)


def _read(
    instance: str, plan: _Plan, articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> FixedTendon | None:
    root = plan.roots[0]
    prim = inventory.joints[root.path]
    name = f"{root.path}:{instance}"
    readings = resolve_all(attributes, prim, TENDON_FIELDS | LENGTH_FIELDS, instance)
    enabled = attributes.flag(prim, f"physxTendon:{instance}:tendonEnabled", True)
    attributes.report.readings[name] = list(readings.values())
    terms = []
    for joint in plan.joints:
        terms.append(_read_axis(instance, name, joint, articulation, inventory.joints[joint.path], attributes))
    if None in terms:
        return None
    _report_topology(name, root, plan.joints, attributes)
    return FixedTendon(
        name=name,
        dofs=tuple(term.dof for term in terms),
        coefficients=tuple(term.coefficient for term in terms),
        force_coefficients=tuple(term.force_coefficient for term in terms),
        enabled=enabled,
        **{field: reading.value for field, reading in readings.items()},
        **read_length_tracks(attributes, prim, readings),
    )


def _read_axis(
    instance: str, name: str, joint: Joint, articulation: Articulation, prim: Usd.Prim, attributes: Attributes
) -> _AxisTerm | None:
    """What one joint adds to a tendon; None, and an error, where it has no such axis or empty coefficients."""
    prefix = f"physxTendon:{instance}:"
    dof = _dof_of(instance, joint, articulation, prim, attributes)
    gearing = attributes.first_number(prim, f"{prefix}gearing")
    force = attributes.first_number(prim, f"{prefix}forceCoefficient")
    if dof is None or gearing is None or force is None:
        return None
    is_linear = articulation.dofs[dof].axis.is_linear
    per_position, per_force = (units.NUMBER,) * 2 if is_linear else (units.DISTANCE_PER_ANGLE, units.LEVER)
    c, r = attributes.units.si(gearing, per_position), attributes.units.si(force, per_force)
    if f"{prefix}forceCoefficient" not in attributes.names(prim):
        unit = "" if is_linear else f" {per_force.si}"
        text = (
            f"its force coefficient in the fixed tendon {instance} is not authored: it is 1, as PhysX has it, which "
            f"is {r:g}{unit}, beside a coefficient of {c:g}{unit}"
        )
        attributes.report.note("tendon-force-coefficient", joint.path, text)
    for what, quantity, authored, value in (
        ("coefficient", per_position, gearing, c),
        ("force_coefficient", per_force, force, r),
    ):
        attribute = f"{prefix}{'gearing' if what == 'coefficient' else 'forceCoefficient'}"
        if attribute in attributes.names(prim):
            reading = Reading(what, f"{joint.path}.{attribute}", authored, quantity.authored, value, quantity.si)
            attributes.report.readings[name].append(reading)
    return _AxisTerm(dof, c, r)


def _dof_of(
    instance: str, joint: Joint, articulation: Articulation, prim: Usd.Prim, attributes: Attributes
) -> int | None:
    """The dof that a joint has in a tendon; None, and an error, where it has no such axis."""
    place = axis_place(prim, instance, attributes)
    return None if place is None else find_dof(articulation, joint, prim, *place, attributes)


def axis_place(prim: Usd.Prim, instance: str, attributes: Attributes) -> tuple[str, str] | None:
    """The axis that a joint names for a tendon, empty for its only one, and where; None, and an error, for no word."""
    name = f"physxTendon:{instance}:jointAxis"
    axis = attributes.first_word(prim, name, AXES)
    return None if axis is None else (axis, f"{prim.GetPath()}.{name}" if axis else str(prim.GetPath()))


def _report_topology(name: str, root: Joint, joints: list[Joint], attributes: Attributes) -> None:
    """Note a tendon that PhysX would refuse: axes that are not next to each other in the tree, up to the root."""
    outbound = {joint.child for joint in joints}
    apart = [joint.path for joint in joints if joint is not root and joint.parent not in outbound]
    if apart:
        text = (
            f"its axes do not follow the tree from its root on ({', '.join(apart)}), as PhysX demands; any axes of "
            "one articulation are fine here"
        )
        attributes.report.note("tendon-topology", name, text)
