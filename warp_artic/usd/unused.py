"""Authored physics properties and schemas that nothing has read."""

from __future__ import annotations

import re
from difflib import get_close_matches

from pxr import Usd

from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes, forwarded_targets
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.not_simulated import ENDS, SCHEMAS, TOLD_TYPES, TYPES
from warp_artic.usd.not_simulated_mjc import MJC_HARMLESS, MJC_OF_CONTACTS

READ_SCHEMAS = frozenset(
    {
        "PhysicsRigidBodyAPI",
        "PhysicsMassAPI",
        "PhysicsCollisionAPI",
        "PhysicsArticulationRootAPI",
        "PhysicsDriveAPI",
        "PhysicsLimitAPI",
        "PhysicsJointStateAPI",
        "PhysicsMaterialAPI",
        "PhysicsMeshCollisionAPI",
        "PhysicsFilteredPairsAPI",
        "PhysxSceneAPI",
        "PhysxCollisionAPI",
        "PhysxConvexHullCollisionAPI",
        "PhysxMaterialAPI",
        "PhysxRigidBodyAPI",
        "PhysxArticulationAPI",
        "PhysxJointAPI",
        "PhysxJointAxisAPI",
        "NewtonSceneAPI",
        "NewtonArticulationRootAPI",
        "NewtonJointAPI",
        "NewtonMassAPI",
        "NewtonCollisionAPI",
        "NewtonMeshCollisionAPI",
        "NewtonMaterialAPI",
        "NewtonActuatorControlBaseAPI",
        "NewtonActuatorClampingBaseAPI",
        tokens.MJC_COLLISION,
        "MjcMaterialAPI",
        "MjcMeshCollisionAPI",
        "MjcSceneAPI",
        tokens.MJC_JOINT,
        "MjcEqualityAPI",
        tokens.MJC_EQUALITY,
        *tokens.MJC_OF_BODIES,
        *tokens.SITES,
        tokens.ARTIC_SCENE,
        tokens.ARTIC_LINK,
        tokens.ARTIC_ARTICULATION,
        tokens.ARTIC_DRIVE,
        tokens.ARTIC_JOINT,
        tokens.ARTIC_JOINT_FRAME,
        tokens.ARTIC_MIMIC,
        tokens.ARTIC_TENDON_STATE,
        tokens.ARTIC_ELASTIC_BODY,
        tokens.ARTIC_ELASTIC_MATERIAL,
        tokens.ARTIC_SKEL_JOINT,
        "OmniPhysicsDeformableMaterialAPI",
    }
)
"""Schemas with attributes that are read, or that a run writes, without instance."""
BY_AXIS = frozenset(
    {
        "PhysicsDriveAPI",
        "PhysicsLimitAPI",
        "PhysicsJointStateAPI",
        "PhysxJointAxisAPI",
        "PhysxLimitAPI",
        tokens.ARTIC_DRIVE,
        tokens.ARTIC_JOINT,
    }
)
"""Schemas that have the name of an axis for an instance, and mean something on joints only."""
ON_JOINTS = BY_AXIS | {"PhysxJointAPI", "NewtonJointAPI", tokens.MJC_JOINT, tokens.ARTIC_JOINT_FRAME}
NEEDED = {
    "drive": "PhysicsDriveAPI",
    "limit": "PhysicsLimitAPI",
    "physxLimit": tokens.PHYSX_LIMIT,
    "physxDrivePerformanceEnvelope": tokens.DRIVE_ENVELOPE,
    "physxMimicJoint": tokens.PHYSX_MIMIC,
}
"""Schemas of joints without which attributes have no effect, by how their names begin, before the instance."""
ONLY_AXIS = {tokens.REVOLUTE_JOINT: "angular", tokens.PRISMATIC_JOINT: "linear"}
"""What drives, states and compliance of limits call the axis of joints that have one."""
READ_TYPES = (
    *tokens.JOINTS,
    *tokens.GEARS,
    tokens.SCENE,
    tokens.COLLISION_GROUP,
    tokens.ARTIC_FIXED_TENDON,
    tokens.ARTIC_SPATIAL_TENDON,
    tokens.ARTIC_ATTACHMENT,
    tokens.ARTIC_MESH_TENDON,
    tokens.MJC_TENDON,
    *tokens.ACTUATOR_TARGETS,
)
OUTPUTS = re.compile(
    r"warpArtic:(link:incomingJoint(Force|Torque)|joint:\w+:(effort|mimicError)|(tendon:.+:)?(length|speed|force))"
)
"""Attributes that a run has written, and nobody reads."""

DENSITY = "physics:density"
HARMLESS = (
    "physxScene:",
    "physxCollision",
    "physxMaterial:",
    "physxConvex",
    "physxTriangleMesh",
    "physxSDFMesh",
    "physxSphereFill",
    "physxContactReport",
    "physxCookedData",
    "physxArticulation:enabledSelfCollisions",
    "physxArticulation:sleepThreshold",
    "physxArticulation:stabilizationThreshold",
    "physxRigidBody:sleepThreshold",
    "physxRigidBody:stabilizationThreshold",
    "physxRigidBody:contactSlopCoefficient",
    "physxRigidBody:maxDepenetrationVelocity",
    "physxRigidBody:maxContactImpulse",
    "physxRigidBody:enableCCD",
    "physxRigidBody:enableSpeculativeCCD",
    "physxRigidBody:solver",
    "physxRigidBody:solveContact",
    "physics:approximation",
    "physics:collisionEnabled",
    "physics:collisionGroup",
    "physics:filteredPairs",
    "physics:filteredGroups",
    "physics:mergeGroup",
    "physics:invertFilteredGroups",
    "physics:simulationOwner",
    "physics:tensor",
    "physics:staticFriction",
    "physics:dynamicFriction",
    "physics:restitution",
    "newton:contact",
    "newton:rollingFriction",
    "newton:torsionalFriction",
    "newton:selfCollisionEnabled",
    "newton:maxSolverIterations",
    "limit:distance:",
    "physxDiffuseParticles",
    "physxFollow",
    "physxMeshMerge",
    "physxParticleAnisotropy",
    "physxParticleIsosurface",
    "physxResidualReporting",
    "physxSplinesSurfaceVelocity",
    "physxSurfaceVelocity",
    "physxTensor",
    "physxTrigger",
    "physxVehicle",
    "newton:kamino",
    "newton:mpm",
    "newton:vbd",
    "newton:xpbd",
    *MJC_HARMLESS,
)
"""How attributes begin that concern contacts, sleeping or the engine of another simulator.

Those of vehicles are told of by the vehicle.
"""
HARMLESS_SCHEMAS = (
    "Physx",
    "MjcImageable",
)
"""How schemas begin whose absence changes no motion of a tree."""
WATCHING = re.compile(
    r"physxui|newton:?imu|(physx|newton:?|mjc:?|omniphysics:?)\w*(sensor|lidar|camera|viewer|visual|render|rtx|debug)",
    re.IGNORECASE,
)
"""How attributes, types and schemas begin that concern what senses a motion, or how it looks."""


ALIKE, MOST_LETTERS = 0.85, 2
"""How alike names are of which one may be meant by another, as `difflib` counts it, and by how many letters they differ
in length."""
MOST_NAMES = 100
"""Names of a stage that another one is looked for: each takes some milliseconds."""


def report_unused(inventory: Inventory, attributes: Attributes) -> None:
    """Report each property and schema of the physics families that was neither used nor reported before."""
    meant: dict[str, str] = {}
    for prim in inventory.all_prims():
        kind = prim.GetTypeName()
        if kind in TOLD_TYPES:
            text = f"a prim of type {kind} is not used: {TOLD_TYPES[kind]}"
            attributes.report.note("schema-not-used", prim.GetPath(), text)
            continue
        for name in sorted(attributes.names(prim)):
            if name.startswith(tokens.NAMESPACES):
                is_of_contacts = name in MJC_OF_CONTACTS and inventory.has_schema(prim, tokens.COLLISION)
                concern = ""
                if any(map(WATCHING.match, (name, kind))):
                    concern = "sensors or looks"
                elif is_of_contacts or name.startswith(HARMLESS):
                    concern = "contacts, sleeping or another engine"
                elif name == DENSITY:
                    concern = "masses, and no body takes its mass from it"
                _report_property(prim, name, concern, inventory, attributes, meant)
        _report_schemas(prim, inventory, attributes)


def _report_property(
    prim: Usd.Prim, name: str, concern: str, inventory: Inventory, attributes: Attributes, meant: dict[str, str]
) -> None:
    """Report a property that nothing has used; a note where it concerns something other than motion."""
    path = f"{prim.GetPath()}.{name}"
    is_passed_over = path in attributes.passed_over
    if (path in attributes.report.used and not is_passed_over) or OUTPUTS.fullmatch(name):
        return
    attribute = prim.GetAttribute(name)
    if attribute and not attribute.HasAuthoredValue():
        return
    if forwarded_targets(prim, name) == []:
        return
    is_known = name in attributes.asked or name in prim.GetPrimDefinition().GetPropertyNames()
    if name not in meant:
        meant[name] = _meant(name, attributes) if len(meant) < MOST_NAMES and not (concern and is_known) else ""
    if is_passed_over and (is_known or not meant[name]):
        return
    if concern and not meant[name]:
        attributes.report.note("attribute-not-used", path, f"is not used: it concerns {concern}")
    else:
        text = f"is not used{meant[name] or _needed(prim, name, inventory)}"
        attributes.report.warn("attribute-not-used", path, text)


def _needed(prim: Usd.Prim, name: str, inventory: Inventory) -> str:
    """What an attribute of a joint lacks: its schema, or the name that the axis of such a joint has."""
    kind, start = prim.GetTypeName(), name.split(":")
    if kind not in tokens.JOINTS or len(start) < 3:
        return ""
    axis = ONLY_AXIS.get(kind, start[1])
    if start[0] == "limit" and kind in ONLY_AXIS:
        return f": a {kind} has physics:lowerLimit and physics:upperLimit"
    if start[0] in ("drive", "state", "physxLimit") and start[1] != axis:
        return f": the axis of a {kind} is called {axis}"
    schema = f"{NEEDED.get(start[0])}:{start[1]}"
    return "" if start[0] not in NEEDED or inventory.has_schema(prim, schema) else f": it needs the schema {schema}"


def _meant(name: str, attributes: Attributes) -> str:
    """The attribute that may be meant: one that a prim of this stage has been asked for, with nearly the same name."""
    start, last = name[: name.find(":")], name.rpartition(":")[2]
    near = [
        one
        for one in attributes.asked
        if abs(len(one) - len(name)) <= MOST_LETTERS and one != name and one.rpartition(":")[2] != last
        if get_close_matches(one[: one.find(":")], (start,), cutoff=ALIKE)
        and get_close_matches(one.rpartition(":")[2], (last,), cutoff=ALIKE)
    ]
    found = get_close_matches(name, sorted(near), n=1, cutoff=ALIKE)
    return f"; did you mean {found[0]}?" if found else ""


def _report_schemas(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> None:
    kind = prim.GetTypeName()
    is_told = not ENDS.isdisjoint(attributes.names(prim))
    if kind.startswith(tokens.SCHEMA_FAMILIES) and kind not in (*READ_TYPES, *TYPES) and not is_told:
        _report_name(prim, f"a prim of type {kind}", kind, attributes)
    for schema in sorted(inventory.schemas.get(str(prim.GetPath()), ())):
        kind, _, instance = schema.partition(":")
        if kind in ON_JOINTS and prim.GetTypeName() not in (*tokens.JOINTS, *tokens.GEARS):
            attributes.report.warn(
                "schema-not-used", prim.GetPath(), f"the schema {schema} is not used: it is no joint"
            )
        elif kind in BY_AXIS and not instance:
            text = f"the schema {schema} is not used: it names no axis, as {kind}:angular does"
            attributes.report.warn("schema-not-used", prim.GetPath(), text)
        elif kind.startswith(tokens.SCHEMA_FAMILIES) and kind not in READ_SCHEMAS and kind not in SCHEMAS:
            _report_name(prim, f"the schema {schema}", kind, attributes)


def _report_name(prim: Usd.Prim, what: str, kind: str, attributes: Attributes) -> None:
    is_harmless = kind.startswith(HARMLESS_SCHEMAS) or WATCHING.match(kind) is not None
    add = attributes.report.note if is_harmless else attributes.report.warn
    add("schema-not-used", prim.GetPath(), f"{what} is not used")
