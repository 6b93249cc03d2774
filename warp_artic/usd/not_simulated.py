"""What a stage authors that is understood but not simulated yet, reported by name."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pxr import Usd

from warp_artic.errors import did_you_mean
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.not_simulated_mjc import MJC_ATTRIBUTES, MJC_OF_CONTACTS, MJC_RELATIONSHIPS

NOT_YET = ()
"""Families that are read into the description, but have no effect yet: without its name here, one is not reported."""


@dataclass(frozen=True)
class Feature:
    """A feature given by a schema; `{instance}` in its attributes is the instance of the schema."""

    rule: str
    name: str
    attributes: str
    """How the names of its attributes begin."""
    family: str = ""
    """One of those that NOT_YET may name; empty where the feature is not read at all."""

    @property
    def is_simulated(self) -> bool:
        """Whether there is nothing to report."""
        return self.family != "" and self.family not in NOT_YET


SCHEMAS: dict[str, Feature] = {
    "PhysxTendonAxisRootAPI": Feature("tendon", "fixed tendon {instance}", "physxTendon:{instance}:", "fixed_tendon"),
    "PhysxTendonAxisAPI": Feature(
        "tendon", "axis of the fixed tendon {instance}", "physxTendon:{instance}:", "fixed_tendon"
    ),
    "PhysxTendonAttachmentRootAPI": Feature(
        "tendon", "spatial tendon {instance}", "physxTendon:{instance}:", "spatial_tendon"
    ),
    "PhysxTendonAttachmentAPI": Feature(
        "tendon", "tendon attachment {instance}", "physxTendon:{instance}:", "spatial_tendon"
    ),
    "PhysxTendonAttachmentLeafAPI": Feature(
        "tendon", "tendon leaf {instance}", "physxTendon:{instance}:", "spatial_tendon"
    ),
    "PhysxMimicJointAPI": Feature("mimic", "mimic joint ({instance})", "physxMimicJoint:{instance}:", "mimic"),
    "NewtonMimicAPI": Feature("mimic", "mimic joint", "newton:mimic", "mimic"),
    "MjcEqualityConnectAPI": Feature("loop-joint", "connect constraint on no joint prim", "mjc:"),
    "MjcEqualityWeldAPI": Feature("loop-joint", "weld constraint on no joint prim", "mjc:"),
    "PhysxDrivePerformanceEnvelopeAPI": Feature(
        "drive-envelope",
        "performance envelope of the drive {instance}",
        "physxDrivePerformanceEnvelope:{instance}:",
        "envelope",
    ),
    "PhysxLimitAPI": Feature(
        "limit-soft", "compliance and restitution of the limit {instance}", "physxLimit:{instance}:", "soft_limit"
    ),
    "NewtonActuatorDelayAPI": Feature("actuator", "delay of an actuator", "newton:"),
    "NewtonPDControlAPI": Feature("actuator", "PD control of an actuator", "newton:"),
    "NewtonPIDControlAPI": Feature("actuator", "PID control of an actuator", "newton:"),
    "NewtonNeuralControlAPI": Feature("actuator", "neural control of an actuator", "newton:"),
    "NewtonMaxEffortClampingAPI": Feature("actuator", "largest effort of an actuator", "newton:"),
    "NewtonDCMotorClampingAPI": Feature("actuator", "torque curve of a motor", "newton:"),
    "NewtonPositionBasedClampingAPI": Feature("actuator", "effort by position of an actuator", "newton:"),
    "PhysxPhysicsDistanceJointAPI": Feature(
        "loop-joint", "the spring of a distance joint", "physxPhysicsDistanceJoint:"
    ),
    "PhysxVehicleAPI": Feature("vehicle", "vehicle", "physxVehicle"),
    "PhysxCharacterControllerAPI": Feature("character", "character controller", "physxCharacterController:"),
    "PhysxForceAPI": Feature("force", "force", "physxForce"),
    tokens.SURFACE_VELOCITY: Feature("surface-velocity", "velocity of a surface", "physxSurfaceVelocity:"),
    "PhysxSplinesSurfaceVelocityAPI": Feature(
        "surface-velocity", "velocity of a surface", "physxSplinesSurfaceVelocity:"
    ),
    "PhysxParticleClothAPI": Feature("particles", "cloth of particles", "physxParticle"),
    "PhysxParticleSetAPI": Feature("particles", "particles", "physxParticle"),
    **{
        name: Feature("deformable", "deformable body", prefix)
        for prefix, names in (
            (
                "physxDeformable",
                (
                    "PhysxAutoDeformableBodyAPI",
                    "PhysxBaseDeformableBodyAPI",
                    "PhysxDeformableBodyAPI",
                    "PhysxDeformableSurfaceAPI",
                    "PhysxSurfaceDeformableBodyAPI",
                    "PhysxVolumeDeformableBodyAPI",
                ),
            ),
            (
                "omniphysics:",
                (
                    "OmniPhysicsDeformableBodyAPI",
                    "OmniPhysicsCurvesDeformableSimAPI",
                    "OmniPhysicsSurfaceDeformableSimAPI",
                    "OmniPhysicsVolumeDeformableSimAPI",
                ),
            ),
            ("newton:", ("NewtonPointsDeformableSimAPI",)),
        )
        for name in names
    },
    tokens.TRIGGER: Feature("trigger", "events of a trigger, which touches nothing", "physxTrigger:"),
}
"""By schema name without instance."""

TYPES: dict[str, Feature] = {
    "PhysxPhysicsJointInstancer": Feature("joint-instancer", "joint instancer", "phys"),
    "PhysxPhysicsInstancer": Feature("joint-instancer", "physics instancer", "phys"),
    "PhysxParticleSystem": Feature("particles", "particles", "phys"),
}
"""By prim type."""

TOLD_TYPES: dict[str, str] = {
    "MjcKeyframe": "a run starts from the poses and joint states of the stage, or from --inputs",
    "MjcTexture": "it concerns looks",
}
"""Types of prims that say nothing about the motion from a start, and why."""

ATTRIBUTES: dict[str, tuple[str, object]] = {
    "physxJoint:jointFriction": ("load-proportional joint friction", 0.0),
    "newton:limitStiffness": ("stiffness of the joint limit", -math.inf),
    "newton:limitDamping": ("damping of the joint limit", -math.inf),
    "physxRigidBody:enableGyroscopicForces": ("a body without gyroscopic forces", 1.0),
    "physxRigidBody:retainAccelerations": ("forces kept for further steps", 0.0),
    "physxRigidBody:cfmScale": ("constraint force mixing", 0.0),
    "physxRigidBody:maxContactImpulse": ("a bound on the impulse of contacts", math.inf),
    "physxCollision:torsionalPatchRadius": ("torsional friction that grows with an overlap", 0.0),
    "physxMaterial:compliantContactAccelerationSpring": ("a compliant contact whose spring gives accelerations", 0.0),
    "newton:contactFrictionGain": ("friction by the speed of sliding", -math.inf),
    "newton:contactAdhesion": ("adhesion", -math.inf),
    "newton:massModel": ("a mass that is spread over the surface of a shape", "solid"),
    "newton:shellThickness": ("a mass that is spread over the surface of a shape", -math.inf),
    "physics:breakForce": ("breaking of a joint by force", math.inf),
    "physics:breakTorque": ("breaking of a joint by torque", math.inf),
} | MJC_ATTRIBUTES
"""What an attribute stands for, and the value that means none; of a number several may, such as its default."""
SINGLE = 1e-6
"""By how much a number on a stage may differ from one of these, relative to it: it is a float."""
ENDS = frozenset(("physics:body0", "physics:body1"))
"""What a joint has."""
FAMILIES = {
    "physxJoint:jointFriction": "load_friction",
    "newton:limitStiffness": "soft_limit",
    "newton:limitDamping": "soft_limit",
}
"""Of those attributes above that are read."""


def report_not_simulated(inventory: Inventory, attributes: Attributes) -> None:
    """Report every feature of the tables above that is on the stage."""
    read = {reading.attribute for group in attributes.report.readings.values() for reading in group}
    for prim in inventory.all_prims():
        names = sorted(attributes.names(prim))
        _report_type(prim, names, attributes)
        _report_schemas(prim, inventory, names, attributes)
        if inventory.has_schema(prim, tokens.COLLISION):
            names = [name for name in names if name not in MJC_OF_CONTACTS]
        _report_attributes(prim, names, read, attributes)


def _report_type(prim: Usd.Prim, names: list[str], attributes: Attributes) -> None:
    feature = TYPES.get(prim.GetTypeName())
    if feature:
        _report(prim, feature.rule, feature.name, feature.attributes, names, attributes)
    elif prim.GetTypeName() not in (*tokens.JOINTS, *tokens.GEARS) and not ENDS.isdisjoint(names):
        what = f"a prim of type {prim.GetTypeName()}" if prim.GetTypeName() else "a prim without a type"
        known = did_you_mean(prim.GetTypeName(), tokens.JOINTS)
        attributes.report.warn("joint-type", prim.GetPath(), f"joins bodies as {what}, which is no joint{known}")
        attributes.pass_over(prim)


def _report_schemas(prim: Usd.Prim, inventory: Inventory, names: list[str], attributes: Attributes) -> None:
    if str(prim.GetPath()) in inventory.link_joints | inventory.refused_joints:
        return
    is_joint = str(prim.GetPath()) in inventory.joints
    is_actuator = str(prim.GetPath()) in inventory.actuators
    is_held = str(prim.GetPath()) in inventory.held
    is_elastic = str(prim.GetPath()) in inventory.elastic_bodies
    told = set()
    for schema in sorted(inventory.schemas.get(str(prim.GetPath()), ())):
        kind, _, instance = schema.partition(":")
        is_read = (
            (is_joint and kind in tokens.MJC_OF_BODIES)
            or (is_actuator and kind in tokens.OF_ACTUATORS)
            or (is_held and kind == tokens.SURFACE_VELOCITY)
        )
        feature = None if is_read else SCHEMAS.get(kind)
        if feature and not feature.is_simulated and not (is_elastic and feature.rule == "deformable"):
            name, prefix = feature.name.format(instance=instance), feature.attributes.format(instance=instance)
            _report(prim, feature.rule, "" if name in told else name, prefix, names, attributes)
            told.add(name)


def _report(prim: Usd.Prim, rule: str, name: str, prefix: str, names: Iterable[str], attributes: Attributes) -> None:
    """Report a feature, or none where its name is empty; its attributes are no further findings."""
    if name:
        attributes.report.warn(rule, prim.GetPath(), f"{name}: not simulated yet")
    attributes.report.used.update(f"{prim.GetPath()}.{own}" for own in names if own.startswith(prefix))


def _report_attributes(prim: Usd.Prim, names: list[str], read: set[str], attributes: Attributes) -> None:
    """Report attributes without effect, but not those of prims that were reported as a whole."""
    for name in names:
        path = f"{prim.GetPath()}.{name}"
        is_pending = path in read and FAMILIES.get(name) in NOT_YET
        if name in ATTRIBUTES and (is_pending or path not in attributes.report.used):
            what, none = ATTRIBUTES[name]
            value = attributes.authored(prim, name)
            if value is not None and not _is(value, none):
                text = f"is {value}; {what} is not simulated yet"
                attributes.report.warn("not-simulated", path, text)
        elif name in MJC_RELATIONSHIPS and path not in attributes.report.used:
            targets = ", ".join(str(target) for target in attributes.targets(prim, name))
            if targets:
                text = f"leads to {targets}; {MJC_RELATIONSHIPS[name]} is not simulated yet"
                attributes.report.warn("not-simulated", path, text)


def _is(value, none) -> bool:
    """Whether a value is the one that means none."""
    if isinstance(none, str):
        return value == none
    if isinstance(none, tuple) and hasattr(value, "__len__"):
        return tuple(value) == none
    number = _as_number(value)
    if isinstance(none, tuple):
        return any(math.isclose(number, one, rel_tol=SINGLE) for one in none)
    return number == none


def _as_number(value) -> float:
    """A number, infinite where it stands for infinity; not a number for anything else."""
    if not isinstance(value, (bool, int, float)):
        return math.nan
    return math.copysign(math.inf, value) if abs(value) >= 1e30 else float(value)
