"""One table: a field of ours, and the attributes of each dialect that give it, in order of priority.

The first authored attribute gives the value: ours, then Newton, then PhysX by axis, then PhysX by joint, then MuJoCo,
unless the order of dialects is another.
Where two of them are authored and differ in SI units, that is reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pxr import Usd

from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.report import Reading
from warp_artic.usd.units import Quantity


@dataclass(frozen=True)
class Source:
    """An attribute; `{instance}` in its name is the instance of a multiple-apply schema."""

    attribute: str
    linear: Quantity
    """Its quantity on a translation."""
    angular: Quantity | None = None
    """Its quantity on a rotation, where it differs."""
    unbounded: bool = False
    """Whether infinity is a value."""
    unset_below: float = -math.inf
    """Authored values below this mean unset."""
    is_period: bool = False
    """Whether it is one over the field."""
    is_complement: bool = False
    """Whether it is one less the field."""
    is_switch: bool = False
    """Whether it is true or false, which count as one and zero."""
    schema: str = ""
    """The schema without which the attribute means nothing, where there is one."""

    def quantity(self, is_linear: bool) -> Quantity:
        """The quantity on an axis."""
        return self.linear if is_linear or self.angular is None else self.angular


SMALLEST = 5e-324
"""A bound that zero is below, where zero means unset."""
ARMATURE = (units.MASS, units.INERTIA)
IMPULSE = (units.IMPULSE, units.ANGULAR_IMPULSE)
EFFORT = (units.FORCE, units.TORQUE)
VISCOUS = (units.LINEAR_DAMPING, units.ANGULAR_DAMPING)
VISCOUS_PER_RADIAN = (units.LINEAR_DAMPING, units.ANGULAR_DAMPING_PER_RADIAN)
SPEED = (units.LINEAR_VELOCITY, units.ANGULAR_VELOCITY)
PLACE = (units.DISTANCE, units.ANGLE)
STIFFNESS = (units.LINEAR_STIFFNESS, units.ANGULAR_STIFFNESS)
GRADIENT = (units.LINEAR_GRADIENT, units.ANGULAR_GRADIENT)
ENVELOPE = "physxDrivePerformanceEnvelope:{instance}"

DOF_FIELDS: dict[str, tuple[Source, ...]] = {
    "armature": (
        Source("warpArtic:joint:{instance}:armature", *ARMATURE),
        Source("newton:armature", *ARMATURE),
        Source("physxJointAxis:{instance}:armature", *ARMATURE),
        Source("physxJoint:armature", *ARMATURE),
        Source("mjc:armature", *ARMATURE),
    ),
    "velocity_limit": (
        Source("warpArtic:joint:{instance}:velocityLimit", *SPEED, unbounded=True),
        Source("newton:velocityLimit", *SPEED, unbounded=True),
        Source("physxJointAxis:{instance}:maxJointVelocity", *SPEED, unbounded=True),
        Source("physxJoint:maxJointVelocity", *SPEED, unbounded=True),
    ),
    "static_effort": (
        Source("warpArtic:joint:{instance}:staticFrictionEffort", *EFFORT),
        Source("newton:friction", *EFFORT),
        Source("physxJointAxis:{instance}:staticFrictionEffort", *EFFORT),
        Source("mjc:frictionloss", *EFFORT),
    ),
    "dynamic_effort": (
        Source("warpArtic:joint:{instance}:dynamicFrictionEffort", *EFFORT),
        Source("newton:friction", *EFFORT),
        Source("physxJointAxis:{instance}:dynamicFrictionEffort", *EFFORT),
        Source("mjc:frictionloss", *EFFORT),
    ),
    "viscous": (
        Source("warpArtic:joint:{instance}:viscousFrictionCoefficient", *VISCOUS),
        Source("newton:damping", *VISCOUS),
        Source("physxJointAxis:{instance}:viscousFrictionCoefficient", *VISCOUS),
        Source("mjc:damping", *VISCOUS_PER_RADIAN),
    ),
    "position": (
        Source("warpArtic:joint:{instance}:position", *PLACE),
        Source("state:{instance}:physics:position", *PLACE),
    ),
    "velocity": (
        Source("warpArtic:joint:{instance}:velocity", *SPEED),
        Source("state:{instance}:physics:velocity", *SPEED),
    ),
    "position_target": (Source("drive:{instance}:physics:targetPosition", *PLACE),),
    "velocity_target": (Source("drive:{instance}:physics:targetVelocity", *SPEED),),
    "max_force": (Source("drive:{instance}:physics:maxForce", *EFFORT, unbounded=True),),
    "force_stiffness": (Source("drive:{instance}:physics:stiffness", *STIFFNESS),),
    "force_damping": (Source("drive:{instance}:physics:damping", *VISCOUS),),
    "acceleration_stiffness": (
        Source(
            "drive:{instance}:physics:stiffness",
            units.LINEAR_ACCELERATION_STIFFNESS,
            units.ANGULAR_ACCELERATION_STIFFNESS,
        ),
    ),
    "acceleration_damping": (
        Source(
            "drive:{instance}:physics:damping", units.LINEAR_ACCELERATION_DAMPING, units.ANGULAR_ACCELERATION_DAMPING
        ),
    ),
    "coefficient": (
        Source("warpArtic:joint:{instance}:loadFrictionCoefficient", units.NUMBER),
        Source("physxJoint:jointFriction", units.NUMBER),
    ),
}
"""Fields of a dof, its drive and its friction."""

LIMIT_FIELDS: dict[str, tuple[Source, ...]] = {
    "stiffness": (
        Source("warpArtic:joint:{instance}:limitStiffness", *STIFFNESS),
        Source("newton:limitStiffness", *STIFFNESS, unbounded=True, unset_below=0.0),
        Source("physxLimit:{instance}:stiffness", *STIFFNESS, schema=tokens.PHYSX_LIMIT),
    ),
    "damping": (
        Source("warpArtic:joint:{instance}:limitDamping", *VISCOUS),
        Source("newton:limitDamping", *VISCOUS, unbounded=True, unset_below=0.0),
        Source("physxLimit:{instance}:damping", *VISCOUS, schema=tokens.PHYSX_LIMIT),
    ),
    "restitution": (
        Source("warpArtic:joint:{instance}:limitRestitution", units.NUMBER),
        Source("physxLimit:{instance}:restitution", units.NUMBER, schema=tokens.PHYSX_LIMIT),
    ),
    "bounce_threshold": (
        Source("warpArtic:joint:{instance}:limitBounceThreshold", *SPEED),
        Source("physxLimit:{instance}:bounceThreshold", *SPEED, schema=tokens.PHYSX_LIMIT),
    ),
}
"""Fields of a limit beside its bounds."""

ENVELOPE_FIELDS: dict[str, tuple[Source, ...]] = {
    "max_impulse": (Source("warpArtic:drive:{instance}:maxImpulse", *IMPULSE, unbounded=True),),
    "max_velocity": (
        Source("warpArtic:drive:{instance}:maxVelocity", *SPEED, unbounded=True),
        Source(f"{ENVELOPE}:maxActuatorVelocity", *SPEED, unbounded=True, schema=tokens.DRIVE_ENVELOPE),
    ),
    "velocity_gradient": (
        Source("warpArtic:drive:{instance}:velocityGradient", *GRADIENT),
        Source(f"{ENVELOPE}:speedEffortGradient", *GRADIENT, schema=tokens.DRIVE_ENVELOPE),
    ),
    "velocity_resistance": (
        Source("warpArtic:drive:{instance}:velocityResistance", *VISCOUS),
        Source(f"{ENVELOPE}:velocityDependentResistance", *VISCOUS, schema=tokens.DRIVE_ENVELOPE),
    ),
}
"""What bounds a drive beside its largest force."""

TENDON_FIELDS: dict[str, tuple[Source, ...]] = {
    "stiffness": (
        Source("warpArtic:stiffness", units.LINEAR_STIFFNESS),
        Source("physxTendon:{instance}:stiffness", units.LINEAR_STIFFNESS),
    ),
    "damping": (
        Source("warpArtic:damping", units.LINEAR_DAMPING),
        Source("physxTendon:{instance}:damping", units.LINEAR_DAMPING),
    ),
    "limit_stiffness": (
        Source("warpArtic:limitStiffness", units.LINEAR_STIFFNESS),
        Source("physxTendon:{instance}:limitStiffness", units.LINEAR_STIFFNESS),
    ),
    "offset": (
        Source("warpArtic:offset", units.DISTANCE),
        Source("physxTendon:{instance}:offset", units.DISTANCE),
    ),
}
"""Fields of a tendon, fixed or spatial."""

MJC_SPRING = (Source("mjc:stiffness", units.LINEAR_STIFFNESS, units.ANGULAR_STIFFNESS_PER_RADIAN),)
"""The spring in a joint."""
MJC_TENDON_FIELDS: dict[str, tuple[Source, ...]] = {
    "stiffness": (Source("mjc:stiffness", units.LINEAR_STIFFNESS),),
    "damping": (Source("mjc:damping", units.LINEAR_DAMPING),),
}
"""Fields of a tendon of the MuJoCo dialect, whose names are those of joints too."""

LENGTH_FIELDS: dict[str, tuple[Source, ...]] = {
    "rest_length": (
        Source("warpArtic:restLength", units.DISTANCE, unbounded=True),
        Source("physxTendon:{instance}:restLength", units.DISTANCE, unbounded=True),
    ),
    "lower": (
        Source("warpArtic:lowerLimit", units.DISTANCE, unbounded=True),
        Source("physxTendon:{instance}:lowerLimit", units.DISTANCE, unbounded=True),
    ),
    "upper": (
        Source("warpArtic:upperLimit", units.DISTANCE, unbounded=True),
        Source("physxTendon:{instance}:upperLimit", units.DISTANCE, unbounded=True),
    ),
}
"""Fields of a fixed tendon, or of a leaf of a spatial one."""

MESH_TENDON_FIELDS: dict[str, tuple[Source, ...]] = {
    "stiffness": (Source("warpArtic:stiffness", units.LINEAR_STIFFNESS),),
    "smoothing": (Source("warpArtic:smoothing", units.DISTANCE),),
    "target_length": (Source("warpArtic:targetLength", units.DISTANCE),),
    "tension": (Source("warpArtic:targetTension", units.FORCE),),
    "min_tension": (Source("warpArtic:minTension", units.FORCE),),
    "max_tension": (Source("warpArtic:maxTension", units.FORCE, unbounded=True),),
}
"""Fields of a tendon on a mesh."""

ELASTIC_FIELDS: dict[str, tuple[Source, ...]] = {"thickness": (Source("warpArtic:elastic:thickness", units.DISTANCE),)}
"""Fields of an elastic body."""

MATERIAL = "warpArtic:elasticMaterial"
MATERIAL_FIELDS: dict[str, tuple[Source, ...]] = {
    "young_modulus": (
        Source(f"{MATERIAL}:youngModulus", units.PRESSURE),
        Source("omniphysics:youngsModulus", units.PRESSURE, unset_below=SMALLEST),
    ),
    "poisson_ratio": (
        Source(f"{MATERIAL}:poissonRatio", units.NUMBER),
        Source("omniphysics:poissonsRatio", units.NUMBER),
    ),
    "density": (
        Source(f"{MATERIAL}:density", units.DENSITY),
        Source("omniphysics:density", units.DENSITY, unset_below=SMALLEST),
        Source("physics:density", units.DENSITY, unset_below=SMALLEST),
    ),
    "mass_damping": (Source(f"{MATERIAL}:massDamping", units.RATE),),
    "stiffness_damping": (Source(f"{MATERIAL}:stiffnessDamping", units.DURATION),),
}
"""Fields of an elastic material."""

LINK_FIELDS: dict[str, tuple[Source, ...]] = {
    "gravity_scale": (
        Source("warpArtic:link:gravityScale", units.NUMBER),
        Source("physxRigidBody:disableGravity", units.NUMBER, is_complement=True, is_switch=True),
        Source("mjc:gravcomp", units.NUMBER, is_complement=True),
        Source("mjc:body:gravcomp", units.NUMBER, is_complement=True),
    ),
    "linear_damping": (
        Source("warpArtic:link:linearDamping", units.RATE),
        Source("physxRigidBody:linearDamping", units.RATE),
    ),
    "angular_damping": (
        Source("warpArtic:link:angularDamping", units.RATE),
        Source("physxRigidBody:angularDamping", units.RATE),
    ),
    "max_linear_velocity": (
        Source("warpArtic:link:maxLinearVelocity", units.LINEAR_VELOCITY, unbounded=True),
        Source("physxRigidBody:maxLinearVelocity", units.LINEAR_VELOCITY, unbounded=True),
    ),
    "max_angular_velocity": (
        Source("warpArtic:link:maxAngularVelocity", units.ANGULAR_VELOCITY, unbounded=True),
        Source("physxRigidBody:maxAngularVelocity", units.ANGULAR_VELOCITY, unbounded=True),
    ),
}

ARTICULATION_FIELDS: dict[str, tuple[Source, ...]] = {
    "position_iterations": (
        Source("physxArticulation:solverPositionIterationCount", units.NUMBER),
        Source("physxRigidBody:solverPositionIterationCount", units.NUMBER),
    ),
    "velocity_iterations": (
        Source("physxArticulation:solverVelocityIterationCount", units.NUMBER),
        Source("physxRigidBody:solverVelocityIterationCount", units.NUMBER),
    ),
    "sleep_threshold": (
        Source("physxArticulation:sleepThreshold", units.ENERGY_BY_MASS),
        Source("physxRigidBody:sleepThreshold", units.ENERGY_BY_MASS),
    ),
}

TREE_FIELDS: dict[str, tuple[Source, ...]] = {
    "tree_max_linear_velocity": (
        Source("warpArtic:articulation:maxLinearVelocity", units.LINEAR_VELOCITY, unbounded=True),
    ),
    "tree_max_angular_velocity": (
        Source("warpArtic:articulation:maxAngularVelocity", units.ANGULAR_VELOCITY, unbounded=True),
    ),
}
"""Velocities of an articulation as a whole; PhysX has them in its API, but in no schema."""

SCENE_FIELDS: dict[str, tuple[Source, ...]] = {
    "steps_per_second": (
        Source("warpArtic:scene:timeStepsPerSecond", units.RATE),
        Source("newton:timeStepsPerSecond", units.RATE),
        Source("physxScene:timeStepsPerSecond", units.RATE),
        Source("mjc:option:timestep", units.TIME, is_period=True),
    ),
    "position_iterations": (
        Source("warpArtic:scene:positionIterations", units.NUMBER),
        Source("newton:maxSolverIterations", units.NUMBER, unset_below=0.0),
    ),
    "velocity_iterations": (Source("warpArtic:scene:velocityIterations", units.NUMBER),),
    "sleep_after": (Source("warpArtic:scene:sleepAfter", units.DURATION, unbounded=True),),
    "sleep_threshold": (Source("warpArtic:scene:sleepThreshold", units.ENERGY_BY_MASS),),
}


def resolve(
    attributes: Attributes,
    prim: Usd.Prim,
    field: str,
    sources: tuple[Source, ...],
    instances: tuple[str, ...] = ("",),
    is_linear: bool = True,
    inventory: Inventory | None = None,
) -> Reading | None:
    """The value of a field from the first authored source, or None when no source is authored.

    `inventory` is needed where a source has a schema.
    """
    found: list[Reading] = []
    names = attributes.names(prim)
    for source in sources:
        own = instances if "{instance}" in source.attribute else ("",)
        for instance in own:
            name = source.attribute.format(instance=instance)
            attributes.asked.add(name)
            if name in names and (not source.schema or inventory.has_schema(prim, f"{source.schema}:{instance}")):
                reading = _read(attributes, prim, field, name, source, is_linear)
                if reading is not None:
                    found.append(reading)
    if not found:
        return None
    if len(found) == 1:
        return found[0]
    found.sort(key=lambda reading: attributes.rank(_name(reading)))
    for other in found[1:]:
        report_difference(found[0], other, attributes)
    return found[0]


def report_difference(used: Reading, other: Reading, attributes: Attributes) -> None:
    """Report two values of one field that are not the same, with both."""
    if not math.isclose(other.value, used.value, rel_tol=1e-5, abs_tol=1e-12):
        text = f"gives {other.field} {_show(other)}, but {_name(used)} gives {_show(used)}, which is used"
        attributes.report.warn("dialects-differ", other.attribute, text)


def resolve_all(
    attributes: Attributes, prim: Usd.Prim, fields: dict[str, tuple[Source, ...]], instance: str = ""
) -> dict[str, Reading]:
    """The fields of a table that are authored, under an instance name where the attributes have one."""
    found = {name: resolve(attributes, prim, name, sources, (instance,)) for name, sources in fields.items()}
    return {name: reading for name, reading in found.items() if reading is not None}


def _read(attributes, prim, field, name, source: Source, is_linear: bool) -> Reading | None:
    if source.is_switch:
        authored = float(attributes.flag(prim, name, False))
    else:
        authored = attributes.number(prim, name, None, unbounded=source.unbounded)
    if authored is None or authored < source.unset_below:
        return None
    quantity = source.quantity(is_linear)
    value = attributes.units.si(authored, quantity)
    if source.is_period:
        value = 1.0 / value if value else 0.0
    if source.is_complement:
        value = 1.0 - value
    return Reading(field, f"{prim.GetPath()}.{name}", authored, quantity.authored, value, quantity.si)


def _show(reading: Reading) -> str:
    return f"{reading.value:g}" + (f" {reading.unit}" if reading.unit != "1" else "")


def _name(reading: Reading) -> str:
    return reading.attribute.rpartition(".")[2]
