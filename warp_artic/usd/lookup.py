"""One table: a field of ours, and the attributes of each dialect that give it, in order of priority.

The first authored attribute gives the value: Newton, then PhysX by axis, then PhysX by joint, then MuJoCo. Where two of
them are authored and differ in SI units, that is reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pxr import Usd

from warp_artic.usd import units
from warp_artic.usd.attributes import Attributes
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

    def quantity(self, is_linear: bool) -> Quantity:
        """The quantity on an axis."""
        return self.linear if is_linear or self.angular is None else self.angular


ARMATURE = (units.MASS, units.INERTIA)
EFFORT = (units.FORCE, units.TORQUE)
VISCOUS = (units.LINEAR_DAMPING, units.ANGULAR_DAMPING)
VISCOUS_PER_RADIAN = (units.LINEAR_DAMPING, units.ANGULAR_DAMPING_PER_RADIAN)
SPEED = (units.LINEAR_VELOCITY, units.ANGULAR_VELOCITY)
PLACE = (units.DISTANCE, units.ANGLE)
STIFFNESS = (units.LINEAR_STIFFNESS, units.ANGULAR_STIFFNESS)
GRADIENT = (units.LINEAR_GRADIENT, units.ANGULAR_GRADIENT)

DOF_FIELDS: dict[str, tuple[Source, ...]] = {
    "armature": (
        Source("newton:armature", *ARMATURE),
        Source("physxJointAxis:{instance}:armature", *ARMATURE),
        Source("physxJoint:armature", *ARMATURE),
        Source("mjc:armature", *ARMATURE),
    ),
    "velocity_limit": (
        Source("newton:velocityLimit", *SPEED, unbounded=True),
        Source("physxJointAxis:{instance}:maxJointVelocity", *SPEED, unbounded=True),
        Source("physxJoint:maxJointVelocity", *SPEED, unbounded=True),
    ),
    "static_effort": (
        Source("newton:friction", *EFFORT),
        Source("physxJointAxis:{instance}:staticFrictionEffort", *EFFORT),
        Source("mjc:frictionloss", *EFFORT),
    ),
    "dynamic_effort": (
        Source("newton:friction", *EFFORT),
        Source("physxJointAxis:{instance}:dynamicFrictionEffort", *EFFORT),
        Source("mjc:frictionloss", *EFFORT),
    ),
    "viscous": (
        Source("newton:damping", *VISCOUS),
        Source("physxJointAxis:{instance}:viscousFrictionCoefficient", *VISCOUS),
        Source("mjc:damping", *VISCOUS_PER_RADIAN),
    ),
    "position": (Source("state:{instance}:physics:position", *PLACE),),
    "velocity": (Source("state:{instance}:physics:velocity", *SPEED),),
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
    "coefficient": (Source("physxJoint:jointFriction", units.NUMBER),),
}
"""Fields of a dof, its drive and its friction."""

LIMIT_FIELDS: dict[str, tuple[Source, ...]] = {
    "stiffness": (
        Source("newton:limitStiffness", *STIFFNESS, unbounded=True, unset_below=0.0),
        Source("physxLimit:{instance}:stiffness", *STIFFNESS),
    ),
    "damping": (
        Source("newton:limitDamping", *VISCOUS, unbounded=True, unset_below=0.0),
        Source("physxLimit:{instance}:damping", *VISCOUS),
    ),
    "restitution": (Source("physxLimit:{instance}:restitution", units.NUMBER),),
    "bounce_threshold": (Source("physxLimit:{instance}:bounceThreshold", *SPEED),),
}
"""Fields of a limit beside its bounds."""

ENVELOPE_FIELDS: dict[str, tuple[Source, ...]] = {
    "max_velocity": (Source("physxDrivePerformanceEnvelope:{instance}:maxActuatorVelocity", *SPEED, unbounded=True),),
    "velocity_gradient": (Source("physxDrivePerformanceEnvelope:{instance}:speedEffortGradient", *GRADIENT),),
    "velocity_resistance": (Source("physxDrivePerformanceEnvelope:{instance}:velocityDependentResistance", *VISCOUS),),
}
"""Fields of the performance envelope of a drive."""

TENDON_FIELDS: dict[str, tuple[Source, ...]] = {
    "stiffness": (Source("physxTendon:{instance}:stiffness", units.LINEAR_STIFFNESS),),
    "damping": (Source("physxTendon:{instance}:damping", units.LINEAR_DAMPING),),
    "limit_stiffness": (Source("physxTendon:{instance}:limitStiffness", units.LINEAR_STIFFNESS),),
    "offset": (Source("physxTendon:{instance}:offset", units.DISTANCE),),
}
"""Fields of the root of a tendon, fixed or spatial."""

LENGTH_FIELDS: dict[str, tuple[Source, ...]] = {
    "rest_length": (Source("physxTendon:{instance}:restLength", units.DISTANCE, unbounded=True),),
    "lower": (Source("physxTendon:{instance}:lowerLimit", units.DISTANCE, unbounded=True),),
    "upper": (Source("physxTendon:{instance}:upperLimit", units.DISTANCE, unbounded=True),),
}
"""Fields of the root of a fixed tendon, or of a leaf of a spatial one."""

LINK_FIELDS: dict[str, tuple[Source, ...]] = {
    "linear_damping": (Source("physxRigidBody:linearDamping", units.RATE),),
    "angular_damping": (Source("physxRigidBody:angularDamping", units.RATE),),
    "max_linear_velocity": (Source("physxRigidBody:maxLinearVelocity", units.LINEAR_VELOCITY, unbounded=True),),
    "max_angular_velocity": (Source("physxRigidBody:maxAngularVelocity", units.ANGULAR_VELOCITY, unbounded=True),),
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
}

SCENE_FIELDS: dict[str, tuple[Source, ...]] = {
    "steps_per_second": (
        Source("newton:timeStepsPerSecond", units.RATE),
        Source("physxScene:timeStepsPerSecond", units.RATE),
    ),
    "position_iterations": (Source("newton:maxSolverIterations", units.NUMBER, unset_below=0.0),),
}


def resolve(
    attributes: Attributes,
    prim: Usd.Prim,
    field: str,
    sources: tuple[Source, ...],
    instances: tuple[str, ...] = ("",),
    is_linear: bool = True,
) -> Reading | None:
    """The value of a field from the first authored source, or None when no source is authored."""
    found: list[Reading] = []
    names = attributes.names(prim)
    for source in sources:
        own = instances if "{instance}" in source.attribute else ("",)
        for instance in own:
            name = source.attribute.format(instance=instance)
            if name in names:
                reading = _read(attributes, prim, field, name, source, is_linear)
                if reading is not None:
                    found.append(reading)
    if not found:
        return None
    for other in found[1:]:
        if not math.isclose(other.value, found[0].value, rel_tol=1e-5, abs_tol=1e-12):
            text = (
                f"gives {field} {other.value:g} {other.unit}, but {_name(found[0])} gives {found[0].value:g} "
                f"{found[0].unit}, which is used"
            )
            attributes.report.warn("dialects-differ", other.attribute, text)
    return found[0]


def resolve_all(
    attributes: Attributes, prim: Usd.Prim, fields: dict[str, tuple[Source, ...]], instance: str
) -> dict[str, Reading]:
    """The fields of a table that are authored under an instance name."""
    found = {name: resolve(attributes, prim, name, sources, (instance,)) for name, sources in fields.items()}
    return {name: reading for name, reading in found.items() if reading is not None}


def _read(attributes, prim, field, name, source: Source, is_linear: bool) -> Reading | None:
    authored = attributes.number(prim, name, None, unbounded=source.unbounded)
    if authored is None or authored < source.unset_below:
        return None
    quantity = source.quantity(is_linear)
    value = attributes.units.si(authored, quantity)
    return Reading(field, f"{prim.GetPath()}.{name}", authored, quantity.authored, value, quantity.si)


def _name(reading: Reading) -> str:
    return reading.attribute.rpartition(".")[2]
