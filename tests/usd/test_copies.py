"""Copies of one asset are read once, and what comes out is what reading each of them gives."""

import random
from pathlib import Path

import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from tests.usd.authoring import SI, body, joint, open_text, schemas
from warp_artic.usd import read_stage as module
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.copies import find_families, take_inventory_once
from warp_artic.usd.inventory import traverse
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_stage import inspect_stage
from warp_artic.usd.report import Report
from warp_artic.usd.units import Units

DATA = Path(__file__).parent.parent / "data"
STAGES = sorted(
    [
        *(DATA / "oracle" / "stages").glob("*.usda"),
        *(DATA / "peers").glob("*.usda"),
        *(DATA / "mujoco" / f"{name}.usdc" for name in ("stacked", "tendons", "dm_ball_in_cup")),
    ]
)
BOX = 'def Cube "shape" {} {{\ndouble size = 0.3\ndouble3 xformOp:translate = (0.1, 0, 0.2)\n{}\n}}'.format(
    schemas("PhysicsCollisionAPI"), 'uniform token[] xformOpOrder = ["xformOp:translate"]'
)
TIP = """def Xform "tip" {
double3 xformOp:translate = (0, 0.1, 0.3)
uniform token[] xformOpOrder = ["xformOp:translate"]
}"""
DRIVE = "float drive:angular:physics:stiffness = 10\nfloat drive:angular:physics:targetPosition = 20"
LAID_DOWN = 'quatf xformOp:orient = (0.9, 0.1, 0.3, 0.2)\nuniform token[] xformOpOrder = ["xformOp:orient"]'
TENDON = """def WarpArticFixedTendon "tendon" {
rel warpArtic:joints = [</Robot/hinge>, </Robot/elbow>]
float[] warpArtic:coefficients = [1, 1]
float[] warpArtic:forceCoefficients = [-1, 0.5]
float warpArtic:stiffness = 5
}
"""
VARIANTS = """variantSet "hand" = {
"left" {
over "fore" {
float physxRigidBody:linearDamping = 3
}
}
"right" {
over "fore" {
float physxRigidBody:linearDamping = 4
}
}
}
"""


LOCKED = ("transZ", "rotX", "rotY")
PLANAR = (
    "".join(f"float limit:{axis}:physics:{side}\n" for axis in LOCKED for side in ("low = 1", "high = -1")),
    tuple(f"PhysicsLimitAPI:{axis}" for axis in LOCKED),
)
"""Content and schemas of a joint that leaves two translations and a rotation free."""


def robot(anchor: str) -> Sdf.Layer:
    """An asset of three links with colliders, a drive, a tendon, a spatial one, odd values, and a material."""
    held = {
        "floating": "",
        "world": joint("held", "Revolute", "", "/Robot/base"),
        "root": joint("held", "Fixed", "/Robot", "/Robot/base"),
        "reversed": joint("held", "Revolute", "/Robot/base", "", "point3f physics:localPos0 = (0, 0, 1)"),
        "planar": joint("held", "", "", "/Robot/base", *PLANAR),
    }[anchor]
    text = (
        body("base", BOX, mass="float physics:density = 500\nfloat physics:nonsense = 1")
        + f'def Xform "arms" {{\n{LAID_DOWN}\n'
        + body(
            "upper", BOX, ("MaterialBindingAPI",), mass="rel material:binding:physics = </Robot/stuff>", at=(0.4, 0, 0)
        )
        + "}\n"
        + body("fore", TIP, at=(0.9, 0.2, 0))
        + held
        + joint("hinge", "Revolute", "/Robot/base", "/Robot/arms/upper", DRIVE, ("PhysicsDriveAPI:angular",))
        + joint("elbow", "Spherical", "/Robot/arms/upper", "/Robot/fore/tip", "float newton:armature = 0.1")
        + joint("distance", "Distance", "/Robot/base", "/Robot/fore")
        + f'def Material "stuff" {schemas("PhysicsMaterialAPI")} {{\nfloat physics:density = 300\n}}\n'
        + (TENDON if anchor != "reversed" else "")
        .replace("elbow", "slide")
        .replace("def Wa", joint("slide", "Prismatic", "/Robot/fore", "/Robot/slider") + body("slider") + "def Wa")
    )
    applied = '(\nvariants = { string hand = "left" }\nprepend variantSets = "hand"\n'
    applied += 'prepend apiSchemas = ["PhysicsArticulationRootAPI"]\n)'
    layer = Sdf.Layer.CreateAnonymous(f"{anchor}.usda")
    assert layer.ImportFromString(f'#usda 1.0\n(\n{SI}\n)\ndef Xform "Robot" {applied} {{\n{VARIANTS}\n{text}\n}}\n')
    return layer


ANCHORS = ("floating", "world", "root", "reversed", "planar")
ASSETS = {anchor: robot(anchor) for anchor in ANCHORS}


def stage_of(anchor: str, count: int = 3, instanced: bool = False) -> Usd.Stage:
    """Copies of a robot, each somewhere else."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    for number in range(count):
        place = UsdGeom.Xform.Define(stage, f"/Set/place{number}")
        place.AddRotateYOp().Set(31.0 * number)
        prim = stage.DefinePrim(f"/Set/place{number}/robot")
        prim.GetReferences().AddReference(ASSETS[anchor].identifier, "/Robot")
        prim.SetInstanceable(instanced)
        UsdGeom.Xformable(prim).AddTranslateOp().Set(Gf.Vec3d(1.7 * number, 0.3, 10.1 * number))
    return stage


def copies_of(stage: Usd.Stage) -> set[str]:
    """The copies of a stage that are not read."""
    attributes = Attributes(module.start_time(stage), Units(), Report())
    prims = traverse(stage)
    _, copies = take_inventory_once(prims, find_families(prims), attributes, Placements(attributes))
    return {copy.root for copy in copies}


def assert_same(stage: Usd.Stage, monkeypatch) -> None:
    """What is read, and reported, is what it is where no copies are looked for."""
    found = inspect_stage(stage)
    with monkeypatch.context() as patch:
        patch.setattr(module, "find_families", lambda prims: [])
        expected = inspect_stage(stage)
    assert found.diagnostics == expected.diagnostics
    assert found.scene == expected.scene
    assert found.readings == expected.readings
    assert list(map(repr, found.diagnostics)) == list(map(repr, expected.diagnostics))


@pytest.mark.parametrize("instanced", [False, True])
@pytest.mark.parametrize("anchor", ANCHORS)
def test_copies_are_as_if_each_were_read(anchor, instanced, monkeypatch):
    """Floating and fixed robots, turned and moved, as references and as native instances."""
    stage = stage_of(anchor, instanced=instanced)
    assert copies_of(stage) == {"/Set/place1/robot", "/Set/place2/robot"}
    assert len(inspect_stage(stage).scene.articulations) == 3
    assert_same(stage, monkeypatch)


@pytest.mark.parametrize("ends", [("", "/Robot/rod"), ("/Robot/base", "/Robot/rod"), ("/Robot", "/Robot/rod")])
def test_copies_of_joints_that_stack(ends, monkeypatch):
    """On another body, on the world, and on a prim that stands for it."""
    axis = 'uniform token physics:axis = "Z"\n'
    stacks = joint("one", "Prismatic", *ends, "float state:linear:physics:position = 0.2") + joint(
        "two", "Prismatic", "" if ends[0] == "/Robot" else ends[0], ends[1], axis
    )
    text = body("base") + body("rod") + stacks
    applied = schemas("NewtonArticulationRootAPI")
    source = open_text(f'def Xform "Robot" {applied} {{\nuniform bool newton:jointsAddMobility = true\n{text}}}\n')
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    for number in range(3):
        prim = stage.DefinePrim(f"/Set/robot{number}")
        prim.GetReferences().AddReference(source.GetRootLayer().identifier, "/Robot")
    assert copies_of(stage) == set()
    scene = inspect_stage(stage).scene
    assert sum(link.is_massless for tree in scene.articulations for link in tree.links) == 3
    assert_same(stage, monkeypatch)


@pytest.mark.parametrize("path", STAGES, ids=lambda path: path.stem)
def test_copies_of_whole_stages(path, monkeypatch):
    """The stages that other tests simulate, each with its physics scene, three times on one stage."""
    stage = Usd.Stage.CreateInMemory()
    source = Usd.Stage.Open(str(path))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.GetStageUpAxis(source))
    UsdGeom.SetStageMetersPerUnit(stage, UsdGeom.GetStageMetersPerUnit(source))
    for number in range(3):
        prim = stage.DefinePrim(f"/copy{number}", "Xform")
        prim.GetReferences().AddReference(str(path), source.GetPseudoRoot().GetChildren()[0].GetPath())
        place = UsdGeom.Xformable(prim)
        place.AddTranslateOp(opSuffix="own").Set(Gf.Vec3d(3.1 * number, 0, 0.2))
        place.AddRotateZOp(opSuffix="own").Set(20.0 * number)
    assert_same(stage, monkeypatch)


def edit(stage: Usd.Stage, path: str, name: str, kind, value) -> None:
    """Author an attribute of a copy."""
    stage.OverridePrim(path).CreateAttribute(name, kind).Set(value)


def scale(stage: Usd.Stage, path: str, *factors: float) -> None:
    """Scale a copy."""
    UsdGeom.Xformable(stage.GetPrimAtPath(path)).AddScaleOp().Set(Gf.Vec3f(*factors))


def samples(stage: Usd.Stage, path: str, name: str) -> None:
    """Animate a number of a copy."""
    attribute = stage.OverridePrim(path).CreateAttribute(name, Sdf.ValueTypeNames.Float)
    attribute.Set(3.0, 0.0)
    attribute.Set(5.0, 24.0)


def move(stage: Usd.Stage, path: str) -> None:
    """Animate the place of a copy."""
    op = UsdGeom.Xformable(stage.GetPrimAtPath(path)).AddTranslateOp(opSuffix="moving")
    op.Set(Gf.Vec3d(0, 0, 0), 0.0)
    op.Set(Gf.Vec3d(0, 0, 1), 24.0)


def choose(stage: Usd.Stage, path: str) -> None:
    """Another variant of a copy."""
    stage.GetPrimAtPath(path).GetVariantSets().GetVariantSet("hand").SetVariantSelection("right")


def join(stage: Usd.Stage, path: str) -> None:
    """A joint from outside."""
    weld = UsdPhysics.FixedJoint.Define(stage, "/weld")
    weld.CreateBody1Rel().SetTargets([f"{path}/base"])


def lead_out(stage: Usd.Stage, path: str) -> None:
    """A relationship that leads to another copy."""
    stage.OverridePrim(f"{path}/hinge").CreateRelationship("physics:body0").SetTargets(["/Set/place2/robot/base"])


def reset(stage: Usd.Stage, path: str) -> None:
    """A copy that is where it is whatever is above it."""
    UsdGeom.Xformable(stage.GetPrimAtPath(path)).SetResetXformStack(True)


def turn_oddly(stage: Usd.Stage, path: str) -> None:
    """A copy with a quaternion that is not of unit length."""
    UsdGeom.Xformable(stage.GetPrimAtPath(path)).AddOrientOp().Set(Gf.Quatf(2, 0, 1, 0))


def apply(stage: Usd.Stage, path: str, schema: str) -> None:
    """Apply a schema to a prim."""
    (stage.GetPrimAtPath(path) or stage.OverridePrim(path)).AddAppliedSchema(schema)


def add_tendon(stage: Usd.Stage, path: str) -> None:
    """A tendon on joints of a copy that is authored outside of it."""
    tendon = stage.DefinePrim("/tendon", "WarpArticFixedTendon")
    tendon.CreateRelationship("warpArtic:joints").SetTargets([f"{path}/hinge"])
    tendon.CreateAttribute("warpArtic:coefficients", Sdf.ValueTypeNames.FloatArray).Set([1.0])


FLOAT, VECTOR = Sdf.ValueTypeNames.Float, Sdf.ValueTypeNames.Vector3f
EDITS = {
    "target": lambda s, p: edit(s, f"{p}/hinge", "drive:angular:physics:targetPosition", FLOAT, 45.0),
    "mass": lambda s, p: edit(s, f"{p}/fore", "physics:mass", FLOAT, 7.0),
    "wrong mass": lambda s, p: edit(s, f"{p}/fore", "physics:mass", FLOAT, -1.0),
    "on the root": lambda s, p: edit(s, p, "physxArticulation:solverPositionIterationCount", FLOAT, 9.0),
    "unknown": lambda s, p: edit(s, f"{p}/arms", "physics:nobodyKnows", FLOAT, 7.0),
    "velocity": lambda s, p: edit(s, f"{p}/base", "physics:velocity", VECTOR, Gf.Vec3f(0, 1, 0)),
    "moved part": lambda s, p: edit(
        s, f"{p}/fore", "xformOp:translate", Sdf.ValueTypeNames.Double3, Gf.Vec3d(0.9, 0.3, 0.1)
    ),
    "scaled": lambda s, p: scale(s, p, 2, 2, 2),
    "stretched": lambda s, p: scale(s, p, 1, 1, 3),
    "mirrored": lambda s, p: scale(s, p, -1, 1, 1),
    "no size": lambda s, p: scale(s, p, 0, 1, 1),
    "animated": lambda s, p: samples(s, f"{p}/hinge", "drive:angular:physics:targetPosition"),
    "moving": move,
    "variant": choose,
    "joined": join,
    "leading out": lead_out,
    "resetting": reset,
    "odd turn": turn_oddly,
    "tendon outside": add_tendon,
    "without a part": lambda s, p: s.OverridePrim(f"{p}/arms/upper/shape").SetActive(False),
    "with a part": lambda s, p: s.DefinePrim(f"{p}/more", "Xform"),
    "no root": lambda s, p: s.GetPrimAtPath(p).RemoveAppliedSchema("PhysicsArticulationRootAPI"),
    "body above": lambda s, p: apply(s, p.rpartition("/")[0], "PhysicsRigidBodyAPI"),
    "root above": lambda s, p: apply(s, "/Set", "PhysicsArticulationRootAPI"),
    "far": lambda s, p: UsdGeom.Xformable(s.GetPrimAtPath(p)).AddTranslateOp(opSuffix="x").Set(Gf.Vec3d(1e13, 0, 0)),
    "other layer": lambda s, p: (
        s.GetPrimAtPath(p).GetReferences().SetReferences([Sdf.Reference(ASSETS["world"].identifier, "/Robot")])
    ),
    "session": lambda s, p: Sdf.CreatePrimInLayer(s.GetSessionLayer(), f"{p}/hinge").SetInfo("active", False),
}
SHARED = ("odd turn", "resetting")
"""Edits after which a copy is one still."""
REFUSED = (
    "wrong mass",
    "stretched",
    "no size",
    "leading out",
    "without a part",
    "body above",
    "root above",
    "far",
    "session",
)
"""Edits after which a stage cannot be read."""


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", EDITS)
def test_an_edited_copy_is_read_by_itself(name, number, monkeypatch):
    """Whatever one copy has of its own counts, whether it is the one that would be read or another one."""
    stage = stage_of("floating")
    path = f"/Set/place{number}/robot"
    before = inspect_stage(stage)
    EDITS[name](stage, path)
    after = inspect_stage(stage)
    if name not in ("resetting", "with a part"):
        assert (after.scene, after.diagnostics) != (before.scene, before.diagnostics)
    if name not in SHARED:
        assert path not in copies_of(stage)
    assert_same(stage, monkeypatch)


@pytest.mark.parametrize("seed", range(24))
def test_random_edits(seed, monkeypatch):
    """Several edits of several copies."""
    random_of = random.Random(seed)
    stage = stage_of(random_of.choice(ANCHORS), count=5)
    for name in random_of.sample(sorted(EDITS.keys() - REFUSED), 3):
        EDITS[name](stage, f"/Set/place{random_of.randrange(5)}/robot")
    assert_same(stage, monkeypatch)


def test_animated_asset_with_a_layer_offset(monkeypatch):
    """An asset with time samples is read for each copy, which may shift its time."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(ASSETS["floating"])
    layer.SetTimeSample("/Robot/hinge.drive:angular:physics:targetPosition", 0.0, 1.0)
    layer.SetTimeSample("/Robot/hinge.drive:angular:physics:targetPosition", 10.0, 2.0)
    stage = Usd.Stage.CreateInMemory()
    for number in range(2):
        prim = stage.DefinePrim(f"/robot{number}")
        prim.GetReferences().AddReference(layer.identifier, "/Robot", Sdf.LayerOffset(-5.0 * number))
    assert copies_of(stage) == set()
    targets = [tree.dofs[0].drive.position_target for tree in inspect_stage(stage).scene.articulations]
    assert targets[0] != targets[1]
    assert_same(stage, monkeypatch)


def test_copies_within_copies(monkeypatch):
    """Sets of robots that are copies of each other."""
    stage = stage_of("root")
    layer = stage.GetRootLayer()
    outer = Usd.Stage.CreateInMemory()
    for number in range(2):
        prim = outer.DefinePrim(f"/hall{number}", "Xform")
        prim.GetReferences().AddReference(layer.identifier, "/Set")
        UsdGeom.Xformable(prim).AddTranslateOp().Set(Gf.Vec3d(0, 100.0 * number, 0))
    assert copies_of(outer) == {"/hall1"}
    assert len(inspect_stage(outer).scene.articulations) == 6
    assert_same(outer, monkeypatch)


def test_names_that_begin_alike(monkeypatch):
    """The copy r1 is not mistaken for r10, nor its name for a unit in a sentence."""
    stage = Usd.Stage.CreateInMemory()
    for name in ("s", "s1", "s10", "rad"):
        stage.DefinePrim(f"/{name}").GetReferences().AddReference(ASSETS["root"].identifier, "/Robot")
    assert copies_of(stage) == {"/s1", "/s10", "/rad"}
    assert_same(stage, monkeypatch)
