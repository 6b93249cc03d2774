"""Every attribute of the schemas that touch articulations is read, or reported in words of its own."""

import importlib.util
import re
from pathlib import Path

import pytest
from pxr import Plug, Sdf, Usd

from tests.usd.authoring import body, joint, pendulum
from warp_artic import schema_root
from warp_artic.description.diagnostic import Severity
from warp_artic.usd.read_stage import inspect_stage

TOUCHES = re.compile(
    r"Articulation|Equality|Joint|Drive|Limit|Tendon|Mimic|Actuator|Control(Base)?API|Clamping|RigidBody|Mass|Force|Link"
    r"|Scene(API)?$"
)
ELSEWHERE = re.compile(r"Vehicle|Character|MPM|Vbd|Kamino|Xpbd|Deformable|Particle|Mesh|Quasistatic|ContactReport")
"""Schemas of cars, cloth and other engines."""
INSTANCES = {
    "PhysicsLimitAPI": "rotX",
    "PhysxMimicJointAPI": "rotX",
    "PhysxTendonAttachmentAPI": "a",
    "PhysxTendonAttachmentRootAPI": "r",
    "PhysxTendonAttachmentLeafAPI": "b",
    "PhysxTendonAxisAPI": "t",
    "PhysxTendonAxisRootAPI": "t",
    "WarpArticTendonStateAPI": "t",
}
"""Those that are not the axis of a hinge, or an attachment of a tendon."""
REFERENCES = {
    "PhysxMimicJointAPI": "physxMimicJoint:rotX:referenceJoint",
    "NewtonMimicAPI": "newton:mimicJoint",
    "MjcEqualityJointAPI": "mjc:target",
    "WarpArticMimicAPI": "warpArtic:mimic:angular:leaders",
}
"""What leads from a follower to another joint."""
ON_LINKS = re.compile(r"RigidBody|Mass|Attachment(Root|Leaf)?API|Force|Link|PhysicsRigid")
VALUES = {"bool": True, "int": 7, "uint": 7, "float": 7.5, "double": 7.5, "token": "other", "string": "other"}


def schema_files() -> dict[str, Path]:
    """The schema source of each package that is installed, and a list of what MuJoCo has."""
    found = {"ours": schema_root() / "generatedSchema.usda"}
    found["mjc"] = Path(__file__).parents[1] / "data" / "mjc_schemas.usda"
    physics = next(one for one in Plug.Registry().GetAllPlugins() if one.name == "usdPhysics")
    found["usdphysics"] = Path(physics.resourcePath) / "generatedSchema.usda"
    for package, inside in (
        ("newton_usd_schemas", "generatedSchema.usda"),
        ("physx_usd_schemas", "PhysxSchema/resources/generatedSchema.usda"),
    ):
        spec = importlib.util.find_spec(package)  # not imported: that would register its plugins for all tests
        if spec is not None:
            found[package] = Path(spec.submodule_search_locations[0]) / inside
    return found


LAYERS = {package: Sdf.Layer.FindOrOpen(str(path)) for package, path in schema_files().items()}


def rows() -> list:
    """Each property of each schema of these families."""
    return [
        pytest.param(schema, one, id=f"{package}-{schema.name}-{one.name}")
        for package, layer in LAYERS.items()
        for schema in layer.rootPrims
        if TOUCHES.search(schema.name) and not ELSEWHERE.search(schema.name)
        for one in schema.properties
    ]


def stage_for(schema: Sdf.PrimSpec) -> Usd.Stage:
    """A pendulum on which a schema means something: with what it takes beside the schema."""
    kind = re.fullmatch("Physics(.*)Joint", schema.name)
    if kind and kind[1] != "Distance":
        return pendulum(kind=kind[1])
    if schema.name == "PhysicsLimitAPI":
        return pendulum(kind="")
    bounds = "float physics:lowerLimit = -60\nfloat physics:upperLimit = 60\n"
    root = (
        body("lead")
        + joint("lead_joint", "Revolute", "/World/base", "/World/lead")
        + joint("distance", "Distance", "/World/base", "/World/rod")
    )
    content = f"rel {REFERENCES[schema.name]} = </World/lead_joint>\n" if schema.name in REFERENCES else ""
    applied = () if "Drive" not in schema.name else ("PhysicsDriveAPI:angular",)
    applied += ("PhysxTendonAxisRootAPI:t",) if schema.name == "PhysxTendonAxisAPI" else ()
    stage = pendulum(bounds + content, applied=applied, more=root)
    if "TendonAttachment" in schema.name and schema.name.startswith("Physx"):
        chain = {"/World/base": ("Root", "r", None), "/World/rod": ("", "a", "r"), "/World/lead": ("Leaf", "b", "a")}
        paths = {instance: path for path, (_, instance, _) in chain.items()}
        for path, (part, instance, parent) in chain.items():
            prim = stage.GetPrimAtPath(path)
            prim.AddAppliedSchema(f"PhysxTendonAttachment{part}API:{instance}")
            if parent:
                prim.CreateRelationship(f"physxTendon:{instance}:parentLink").SetTargets([paths[parent]])
                name = f"physxTendon:{instance}:parentAttachment"
                prim.CreateAttribute(name, Sdf.ValueTypeNames.Token).Set(parent)
    return stage


def prim_for(stage: Usd.Stage, schema: Sdf.PrimSpec, instance: str) -> Usd.Prim:
    """A prim that has the schema."""
    if not schema.name.endswith("API"):
        kinds = {"PhysicsScene": "/World/scene", "PhysicsDistanceJoint": "/World/distance"}
        kind = re.fullmatch("Physics(.*)Joint", schema.name)
        path = kinds.get(schema.name, "/World/hinge" if kind else "/World/other")
        return stage.DefinePrim(path, schema.name)
    parts = {"PhysxTendonAttachmentRootAPI": "/World/base", "PhysxTendonAttachmentLeafAPI": "/World/lead"}
    if schema.name.endswith("SceneAPI"):
        path = "/World/scene"
        stage.DefinePrim(path, "PhysicsScene")
    elif schema.name in parts:
        path = parts[schema.name]
    elif "DistanceJoint" in schema.name:
        path = "/World/distance"
    elif "Articulation" in schema.name:
        path = "/World"
    elif ON_LINKS.search(schema.name):
        path = "/World/rod"
    elif re.search("Control|Clamping|Actuator", schema.name):
        path = "/World/actuator"
        stage.DefinePrim(path, "NewtonActuator")
    elif "Weld" in schema.name or schema.name == "MjcEqualityAPI":
        path = "/World/distance"
    else:
        path = "/World/hinge"
    prim = stage.GetPrimAtPath(path)
    prim.AddAppliedSchema(f"{schema.name}:{instance}" if instance else schema.name)
    return prim


def value_for(one: Sdf.AttributeSpec):
    """A value other than the default."""
    kind = str(one.typeName).removesuffix("[]")
    base = VALUES.get(kind)
    if base is None:
        return one.typeName.defaultValue
    if kind == "bool":
        base = not one.default
    if kind == "token" and one.allowedTokens:
        base = next((word for word in one.allowedTokens if word != one.default), base)
    return [base] if str(one.typeName).endswith("[]") else base


@pytest.mark.parametrize("schema, one", rows())
def test_nothing_falls_through(schema, one):
    """No property gets only the message of those that nobody knows."""
    is_multiple = "__INSTANCE_NAME__" in one.name
    instance = INSTANCES.get(schema.name, "angular") if is_multiple else ""
    stage = stage_for(schema)
    prim = prim_for(stage, schema, instance)
    name = one.name.replace("__INSTANCE_NAME__", instance)
    if isinstance(one, Sdf.RelationshipSpec):
        prim.CreateRelationship(name).SetTargets(["/World/lead_joint"])
    else:
        prim.CreateAttribute(name, one.typeName).Set(value_for(one))
    paths = (str(prim.GetPath()), f"{prim.GetPath()}.{name}")
    unknown = [
        str(finding)
        for finding in inspect_stage(stage).diagnostics
        if finding.rule in ("attribute-not-used", "schema-not-used")
        and finding.severity is Severity.WARNING
        and finding.path in paths
    ]
    assert unknown == []
