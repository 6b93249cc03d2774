"""Findings that do not hide each other, on joints that lead nowhere, and on animated and mirrored bodies."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Tf, Usd, UsdGeom

from tests.usd.authoring import body, joint, open_text, pendulum, warnings_of
from tests.usd.meshes import block, sheet, tendon, world
from warp_artic.cli.main import main
from warp_artic.description.diagnostic import Severity
from warp_artic.errors import StageError
from warp_artic.usd import read_stage as read_stage_module
from warp_artic.usd.read_stage import check_stage, inspect_stage


def test_a_joint_that_leads_nowhere_hides_nothing_and_adds_nothing():
    """What is wrong with its drive is said too, and what is right is not called unused."""
    content = """uniform token physics:axis = "Z"
        float physics:lowerLimit = -10
        float physics:upperLimit = 10
        float drive:angular:physics:stiffness = -5
        float physxJoint:armature = 0.1"""
    hinge = joint("hinge", "Revolute", "/nowhere", "/a", content, applied=("PhysicsDriveAPI:angular",))
    found = check_stage(open_text(body("a") + hinge))
    errors = [(item.rule, item.path) for item in found if item.severity is Severity.ERROR]
    assert ("joint-bodies", "/hinge.physics:body0") in errors
    assert any(path.startswith("/hinge") and rule == "drive" for rule, path in errors)
    assert not [item for item in found if item.rule == "attribute-not-used"]


def test_a_name_that_is_misspelled_is_told_beside_an_error():
    """On a joint that leads nowhere too, and only that name."""
    content = """float drive:angular:physics:stiffness = 5
        float drive:angular:physics:targetPositoin = 5
        float physxJoint:armature = 0.1"""
    hinge = joint("hinge", "Revolute", "/nowhere", "/a", content, applied=("PhysicsDriveAPI:angular",))
    (told,) = [item for item in check_stage(open_text(body("a") + hinge)) if item.rule == "attribute-not-used"]
    assert told.path == "/hinge.drive:angular:physics:targetPositoin"
    assert told.message == "is not used; did you mean drive:angular:physics:targetPosition?"


def test_the_mass_of_a_body_that_is_nowhere_is_not_called_unused():
    """Its transform cannot be read, which is all that is wrong with it."""
    text = body("a").replace("double3 xformOp:translate = (0, 0, 0)", "bool xformOp:translate = 1")
    found = check_stage(open_text(text))
    assert [item.rule for item in found if item.severity is not Severity.NOTE] == ["transform"]


def test_an_animated_body_that_moves_by_forces():
    """Its samples are not followed, and that is said."""
    stage = pendulum()
    rod = UsdGeom.Xformable(stage.GetPrimAtPath("/World/rod"))
    op = rod.GetOrderedXformOps()[0] if rod.GetOrderedXformOps() else rod.AddTranslateOp()
    start = op.Get() or (0, 0, 0)
    op.Set(start, 0.0)
    op.Set(start, 12.0)
    assert warnings_of(stage) == []
    op.Set(tuple(np.add(start, (1, 0, 0))), 24.0)
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/rod: moves over time, and by forces: only where it starts is used")


@pytest.mark.parametrize(
    "content",
    [
        "float physics:tensor:scale = 1",
        "bool physxResidualReporting:enable = 1",
        "float limit:distance:physics:low = 1",
        "bool newton:visualMesh = 1",
        "float physxSensor:rate = 30",
        "bool physxForceSensor:forceEnabled = 1",
        "vector3f physxArticulationForceSensor:force = (0, 0, 1)",
        "float physxDroneCamera:fieldOfView = 60",
        "color3f newton:viewer:color = (1, 0, 0)",
        "float newton:rtxOpacity = 0.5",
        "float newton:contactSensor:rate = 30",
        "float newton:camera:fov = 60",
        "double[] mjc:user = [1, 2]",
        "double[] mjc:userData = [1, 2]",
        "float mjc:sensor:noise = 1",
        "bool isaac:physics:sensor:enabled = 1",
        "bool omni:kit:hide = 1",
        'string semantic:Semantics:params:semanticData = "arm"',
        'token[] semantics:labels:class = ["arm"]',
        'token ui:displayGroup = "arm"',
        'uniform token collection:seen:expansionRule = "explicitOnly"',
        "color3f[] primvars:displayColor = [(1, 1, 1)]",
        'string userProperties:vendor = "x"',
    ],
)
@pytest.mark.parametrize("place", ["joint", "body", "collider"])
def test_attributes_that_say_nothing_about_motion_are_known(content, place):
    """Tensors, looks, sensors and rendering are a note, or nothing."""
    ball = f'def Sphere "ball" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{\n{content}\n}}'
    stages = {"joint": lambda: pendulum(content), "body": lambda: pendulum(rod=content)}
    assert not warnings_of(stages.get(place, lambda: pendulum(rod=ball))())


@pytest.mark.parametrize(
    "kind", ["MjcSensor", "NewtonSensorIMU", "PhysxForceSensorAPI", "NewtonViewerAPI", "SemanticsAPI:a"]
)
def test_types_and_schemas_of_sensors_and_looks_are_known(kind):
    """With all that is authored there."""
    if "API" in kind:
        assert not warnings_of(pendulum(rod_applied=(kind,)))
    else:
        assert not warnings_of(pendulum(more=f'def {kind} "k" {{\ndouble mjc:noise = 1\nfloat newton:rate = 30\n}}\n'))


@pytest.mark.parametrize(
    "name", ["physxForce:force", "newton:sensitivity", "mjc:usr", "physics:sensor", "physxJoint:debug"]
)
def test_names_near_those_of_sensors_are_not_known(name):
    """They are warned of: something was meant."""
    assert [item.split(":")[0] for item in warnings_of(pendulum(f"float {name} = 1"))] == [
        "/World/hinge." + name.split(":")[0]
    ]


@pytest.mark.parametrize("asset", ["arm", "pendulum"])
@pytest.mark.parametrize("mirror", [(-1, 1, 1), (1, -1, 1)])
def test_a_mirrored_reference_moves_as_the_mirror_image(tmp_path, asset, mirror):
    """Without a warning: each link is the image of that in the asset, at the start and after a second."""
    poses = []
    for name, scale in (("asset", (1, 1, 1)), ("image", mirror)):
        path, baked = tmp_path / f"{name}.usda", tmp_path / f"{name}_baked.usda"
        asset_path = Path(f"samples/scenes/{asset}.usda").resolve()
        path.write_text(
            f'#usda 1.0\n(\nmetersPerUnit = 1\nupAxis = "Z"\n)\n'
            f'def Xform "R" (references = @{asset_path}@</World>) {{\n'
            f'double3 xformOp:scale = {scale}\nuniform token[] xformOpOrder = ["xformOp:scale"]\n}}\n'
        )
        assert not [item for item in inspect_stage(str(path)).diagnostics if item.severity is Severity.WARNING]
        options = ["--duration", "1", "--precision", "float64", "-o", str(baked)]
        assert main(["simulate", str(path), *options]) == 0
        stage = Usd.Stage.Open(str(baked))
        links = [prim for prim in stage.Traverse() if prim.HasAPI("PhysicsRigidBodyAPI")]
        caches = [UsdGeom.XformCache(code) for code in (0.0, stage.GetEndTimeCode())]
        poses.append([[np.array(cache.GetLocalToWorldTransform(link)) for link in links] for cache in caches])
    assert len(poses[0][0]) > 0
    assert np.allclose(poses[0] @ np.diag([*mirror, 1.0]), poses[1], atol=1e-9)


@pytest.mark.parametrize(
    "content",
    [b'def Xform "A\xd8" {}', b'def Xform "A" {}\nover "\xff', b'def Xform "A" ( doc = "\xe9" ) { int x = }'],
)
def test_files_that_are_no_text(tmp_path, content):
    """What OpenUSD says in bytes that are no text becomes a StageError all the same."""
    path = tmp_path / "bad.usda"
    path.write_bytes(b"#usda 1.0\n" + content + b"\n")
    with pytest.raises(StageError, match="bad.usda: cannot be read as a USD stage"):
        check_stage(str(path))


def test_what_usd_raises_in_the_midst_of_a_stage(monkeypatch):
    """An error of OpenUSD while a stage is read is ours, with the name of the stage."""
    stage = pendulum()

    def fail(*_):
        Tf.RaiseCodingError("the file is damaged")

    monkeypatch.setattr(read_stage_module, "traverse", fail)
    with pytest.raises(StageError, match="cannot be read as a USD stage: .*the file is damaged"):
        check_stage(stage)


@pytest.mark.parametrize(
    "name, value",
    [("double warpArtic:elastic:thickness", "2"), ("uniform token warpArtic:elastic:planeState", '"stress"')],
)
def test_what_tetrahedra_have_no_use_for(name, value):
    """Thickness and plane state are of triangles: on a TetMesh they are said to be without effect."""
    content = f"{name} = {value}"
    solid, flat = (check_stage(world(make(content))) for make in (block, sheet))
    path = f"/World/block.{name.split()[-1]}"
    assert [item.path for item in solid if item.rule == "attribute-not-used"] == [path]
    assert not [item for item in flat if item.rule == "attribute-not-used"]


@pytest.mark.parametrize(
    "content, text",
    (
        ('uniform token warpArtic:law = "tension"', "has the law tension and no tension, so it never pulls"),
        ("double warpArtic:targetTension = 3", "has a given tension, which does not act: its law is cable"),
        ("double warpArtic:stiffness = 0", "has the law cable and no stiffness, so it never pulls"),
        ('uniform token warpArtic:law = "tension"\ndouble warpArtic:targetTension.timeSamples = {0: 0, 9: 2}', None),
    ),
)
def test_tendons_on_meshes_that_never_pull(content, text):
    """Their law lacks what it pulls with, or has no use for what is given."""
    found = check_stage(world(block(), tendon(f"int[] warpArtic:nodes = [0, 1]\n{content}", "block")))
    told = [(item.path, item.message) for item in found if item.rule == "mesh-tendon-idle"]
    assert told == ([] if text is None else [("/World/cable", text)])
