"""Every attribute of the schemas that touch articulations changes what is read of a stage, or is reported by name."""

import dataclasses
import functools
import importlib.util
import re
from pathlib import Path

import pytest
from pxr import Plug, Sdf, Usd

from tests.usd.authoring import body, joint, pendulum, schemas
from warp_artic import schema_root
from warp_artic.description.diagnostic import Severity
from warp_artic.usd import tokens
from warp_artic.usd.read_stage import Inspection, inspect_stage

TOUCHES = re.compile(
    r"Articulation|Equality|Joint|Drive|Limit|Tendon|Mimic|Actuator|Control(Base)?API|Clamping|RigidBody|Mass|Force|Link"
    r"|Elastic|Scene(API)?$"
)
ELSEWHERE = re.compile(
    r"Vehicle|Character|MPM|Vbd|Kamino|Xpbd|Deformable|Particle|(?<!WarpArtic)Mesh|Quasistatic|ContactReport"
)
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
UNKNOWN = ("attribute-not-used", "schema-not-used")
ON_LINKS = re.compile(r"RigidBody|Mass|Attachment(Root|Leaf)?API|Force|Link|PhysicsRigid|SkelJoint")
VALUES = {"bool": True, "int": 7, "uint": 7, "float": 7.5, "double": 7.5, "token": "other", "string": "other"}
VECTOR = (0.25, 0.5, 0.75)
FINITE = "float physics:lowerLimit = -60\nfloat physics:upperLimit = 60\n"
LOCKED = "".join(
    f"float limit:{axis}:physics:low = 1\nfloat limit:{axis}:physics:high = -1\n"
    for axis in ("transX", "transY", "transZ", "rotY", "rotZ")
)
MIMIC = FINITE + "rel {} = </World/lead_joint>\n"
ON_HINGE = {
    "PhysxMimicJointAPI": MIMIC.format("physxMimicJoint:rotX:referenceJoint"),
    "NewtonMimicAPI": MIMIC.format("newton:mimicJoint"),
    "MjcEqualityJointAPI": MIMIC.format("mjc:target") + "double mjc:coef2 = 0.5",
    "MjcEqualityAPI": MIMIC.format("mjc:target"),
    "WarpArticMimicAPI": MIMIC.format("warpArtic:mimic:angular:leaders"),
    "PhysicsDriveAPI": "float drive:angular:physics:stiffness = 3\nfloat drive:angular:physics:damping = 2",
    "MjcJointAPI": "double mjc:stiffness = 3\n"
    "double mjc:actuatorfrcrange:min = -4\ndouble mjc:actuatorfrcrange:max = 4",
    "PhysicsLimitAPI": "float limit:rotX:physics:low = -50\nfloat limit:rotX:physics:high = 50\n" + LOCKED,
    "PhysicsJoint": LOCKED,
}
"""What /World/hinge has, beside the property, for it to mean something."""
TERMS = "rel {} = [</World/hinge>, </World/lead_joint>]\n"
AT_SITES = 'def Xform "at" (prepend apiSchemas = ["MjcSiteAPI"]) {}\n'
CABLE = """
def WarpArticSpatialTendon "other" {
    double warpArtic:stiffness = 3
    def WarpArticTendonAttachment "root" {
        rel warpArtic:body = </World/base>
        def WarpArticTendonAttachment "tip" {
rel warpArtic:body = </World/rod>
}
    }
}
"""
SHEET = """
def Material "rubber" (prepend apiSchemas = ["WarpArticElasticMaterialAPI"]) {
    double warpArtic:elasticMaterial:youngModulus = 1000
}
def Mesh "sheet" (prepend apiSchemas = ["WarpArticElasticBodyAPI", "MaterialBindingAPI"]) {
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    rel material:binding = </World/rubber>
}
"""
OTHERS = {
    "WarpArticSkelJointAPI": 'def SkelRoot "character" {\ndef Skeleton "skeleton" {\nuniform token[] joints = ["one"]\n'
    "uniform matrix4d[] restTransforms = [((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))]\n}\n}\n",
    "WarpArticElasticBodyAPI": SHEET,
    "WarpArticElasticMaterialAPI": SHEET,
    "WarpArticMeshTendon": f"""
    {SHEET}
    def WarpArticMeshTendon "other" {{
        rel warpArtic:mesh = </World/sheet>
        int[] warpArtic:nodes = [0, 1]
        double warpArtic:stiffness = 4
    }}
    """,
    "WarpArticFixedTendon": f"""
    def WarpArticFixedTendon "other" {{
        {TERMS.format("warpArtic:joints")}
        double[] warpArtic:coefficients = [0.5, 0.25]
    }}
    """,
    "WarpArticSpatialTendon": CABLE,
    "WarpArticTendonAttachment": CABLE,
    "MjcTendon": f"""
    def MjcTendon "other" {{
        uniform token mjc:type = "fixed"
        {TERMS.format("mjc:path")}
        double[] mjc:path:coef = [0.5, 0.25]
        double mjc:range:max = 4
        double mjc:actuatorfrcrange:max = 4
    }}
    """,
    "through sites": """
    def MjcTendon "other" {
        rel mjc:path = [</World/base/at>, </World/rod/at>, </World/lead/at>]
    }
    """,
    "MjcActuator": """
    def MjcActuator "other" {
        rel mjc:target = </World/hinge>
        token mjc:biasType = "affine"
        double[] mjc:gainPrm = [4]
        double[] mjc:biasPrm = [0, -4, -0.25]
        double mjc:ctrlRange:min = 1
        double mjc:ctrlRange:max = 2
        double mjc:forceRange:min = -5
        double mjc:forceRange:max = 5
    }
    """,
}
"""What is authored of a prim of a type for its properties to mean something."""
GROUPS = """
    def PhysicsCollisionGroup "one" (prepend apiSchemas = ["CollectionAPI:colliders"]) {
        rel collection:colliders:includes = </World/rod>
        rel physics:filteredGroups = </World/two>
    }
    def PhysicsCollisionGroup "two" (prepend apiSchemas = ["CollectionAPI:colliders"]) {
        rel collection:colliders:includes = </World/lead>
        rel physics:filteredGroups = </World/one>
    }
"""
"""Two links that do not touch, unless all groups are inverted."""
WITHOUT_EFFECT = {("PhysicsFixedJoint", "physics:collisionEnabled")}
"""What says nothing where the stage has it: links that cannot move against each other do not touch."""
THROUGH_SITES = re.compile("mjc:(path:(segments|divisors)|sideSites)")
WHOLE = frozenset({"actuator", "gear", "joint-instancer", "loop-joint", "drive-envelope", "force"})
"""Rules that report a prim with everything on it."""


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


def rows(touches: bool) -> list:
    """Each property of each schema of these families, or of the others."""
    return [
        pytest.param(schema, one, id=f"{package}-{schema.name}-{one.name}")
        for package, layer in LAYERS.items()
        for schema in layer.rootPrims
        if touches == bool(TOUCHES.search(schema.name) and not ELSEWHERE.search(schema.name))
        for one in schema.properties
        if one.name.startswith(tokens.NAMESPACES)
    ]


def stage_for(schema: Sdf.PrimSpec, one: Sdf.PropertySpec) -> Usd.Stage:
    """A pendulum on which a property of a schema means something."""
    kind = re.fullmatch("Physics(.*)Joint", schema.name)
    kind = kind[1] if kind and kind[1] != "Distance" else "Revolute"
    kind = "" if schema.name == "PhysicsLimitAPI" else kind
    kind = "Spherical" if "jointAxis" in one.name else kind
    content = ON_HINGE.get(schema.name, FINITE if kind == "Revolute" else "")
    leader = "Spherical" if "referenceJointAxis" in one.name else "Revolute"
    applied = ("PhysicsDriveAPI:angular",) if "Drive" in schema.name else ()
    applied += tuple(f"PhysicsLimitAPI:{axis}" for axis in re.findall("limit:(.*):physics:low", content))
    applied += ("PhysxTendonAxisRootAPI:t",) if schema.name == "PhysxTendonAxisAPI" else ()
    applied += ("MjcEqualityJointAPI",) if schema.name == "MjcEqualityAPI" else ()
    more = body("lead", f"float physxRigidBody:maxDepenetrationVelocity = 9\n{AT_SITES}")
    more += joint("lead_joint", leader, "/World/base", "/World/lead")
    more += joint("distance", "Distance", "/World/lead", "/World/rod" if "Distance" in schema.name else "/World/base")
    more += GROUPS if "invertCollisionGroup" in one.name else ""
    if "jointsAddMobility" in one.name:
        more += joint("beside", "Revolute", "/World/base", "/World/rod", 'uniform token physics:axis = "Y"')
    more += OTHERS.get("through sites" if THROUGH_SITES.match(one.name) else schema.name, "")
    mass = None
    if schema.name == "PhysicsMassAPI":
        mass = "float3 physics:diagonalInertia = (0.1, 0.2, 0.25)"
    box = f'def Cube "shape" {schemas("PhysicsCollisionAPI")} {{}}\n'
    stage = pendulum(content, kind=kind, applied=applied, rod=AT_SITES + box, rod_mass=mass, more=more)
    stage.DefinePrim("/World/base/at", "Xform").AddAppliedSchema("MjcSiteAPI")
    for link in ("base", "lead"):
        stage.DefinePrim(f"/World/{link}/shape", "Cube").AddAppliedSchema("PhysicsCollisionAPI")
    if "SkelJoint" in schema.name:
        rod = stage.GetPrimAtPath("/World/rod")
        rod.CreateRelationship("warpArtic:skel:skeleton", custom=False).SetTargets(["/World/character/skeleton"])
        rod.CreateAttribute("warpArtic:skel:joint", Sdf.ValueTypeNames.Token).Set("one")
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
        path = "/World/other/root/tip" if schema.name == "WarpArticTendonAttachment" else path
        return stage.DefinePrim(path, schema.name)
    parts = {
        "PhysxTendonAttachmentRootAPI": "/World/base",
        "PhysxTendonAttachmentLeafAPI": "/World/lead",
        "WarpArticElasticBodyAPI": "/World/sheet",
        "WarpArticElasticMaterialAPI": "/World/rubber",
    }
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
    elif "Weld" in schema.name:
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
        base = one.typeName.scalarType.defaultValue
        if hasattr(base, "GetReal"):
            base = type(base)(0.5, 0.5, 0.5, 0.5)
        elif hasattr(base, "__len__") and len(base) == 3:
            base = type(base)(*VECTOR)
    if kind == "bool":
        base = not one.default
    if kind == "token" and one.allowedTokens:
        base = next((word for word in one.allowedTokens if word != one.default), base)
    return [base] if str(one.typeName).endswith("[]") else base


@functools.cache
def understood(text: str) -> Inspection:
    """What is understood of a stage; without the property that each is for, many are the same."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(text)
    return inspect_stage(Usd.Stage.Open(layer))


def seen(schema: Sdf.PrimSpec, one: Sdf.PropertySpec, is_authored: bool):
    """The prim of a property, its name, and what is understood of a stage with or without it."""
    instance = INSTANCES.get(schema.name, "angular") if "__INSTANCE_NAME__" in one.name else ""
    stage = stage_for(schema, one)
    prim = prim_for(stage, schema, instance)
    name = one.name.replace("__INSTANCE_NAME__", instance)
    if not is_authored:
        prim.RemoveProperty(name)
        return str(prim.GetPath()), name, understood(stage.GetRootLayer().ExportToString())
    if not prim.HasProperty(name) or not prim.GetProperty(name).IsAuthored():
        if isinstance(one, Sdf.RelationshipSpec):
            prim.CreateRelationship(name).SetTargets(["/World/lead_joint"])
        else:
            prim.CreateAttribute(name, one.typeName).Set(value_for(one))
    return str(prim.GetPath()), name, inspect_stage(stage)


@pytest.mark.parametrize("schema, one", rows(touches=True))
def test_nothing_falls_through(schema, one):
    """With a property the description is another one, or a finding tells of it, in words that are not those for all."""
    path, name, found = seen(schema, one, True)
    _, _, before = seen(schema, one, False)
    about = [finding for finding in found.diagnostics if finding.path in (path, f"{path}.{name}")]
    unknown = [one for one in about if one.rule in UNKNOWN and one.severity is Severity.WARNING]
    assert unknown == []
    if one.HasInfo("documentation") and one.documentation.startswith("Output"):
        assert about == []
    else:
        is_described = repr(found.articulations) != repr(before.articulations) or settings(found) != settings(before)
        is_traced = dict(found.readings) != dict(before.readings)
        is_reported = found.diagnostics != before.diagnostics or any(one.rule in WHOLE for one in about)
        assert is_described or is_traced or is_reported or (schema.name, one.name) in WITHOUT_EFFECT


def settings(found: Inspection):
    """What a scene has beside its articulations and findings, in words, as arrays are not equal or unequal."""
    return repr(found.scene and vars(dataclasses.replace(found.scene, articulations=(), diagnostics=())))


def test_other_schemas_are_named():
    """What colliders, cars, cloth and other engines have is in a finding, or decides on what touches or weighs."""
    silent = []
    for row in rows(touches=False):
        schema, one = row.values
        stage = pendulum()
        is_applied = schema.name.endswith("API")
        prim = stage.GetPrimAtPath("/World/rod") if is_applied else stage.DefinePrim("/World/other", schema.name)
        if is_applied:
            prim.AddAppliedSchema(f"{schema.name}:i" if "__INSTANCE_NAME__" in one.name else schema.name)
        name = one.name.replace("__INSTANCE_NAME__", "i")
        if isinstance(one, Sdf.RelationshipSpec):
            prim.CreateRelationship(name).SetTargets(["/World/base"])
        else:
            prim.CreateAttribute(name, one.typeName).Set(value_for(one))
        paths = (str(prim.GetPath()), f"{prim.GetPath()}.{name}")
        if not any(finding.path in paths for finding in inspect_stage(stage).diagnostics):
            silent.append(name)
    assert sorted(silent) == [
        "physics:collisionEnabled",
        "physics:density",
        "physics:filteredPairs",
        "physics:invertFilteredGroups",
        "physics:mergeGroup",
    ]
