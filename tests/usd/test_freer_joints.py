"""Joints that leave translations free beside other axes, from a stage to a run layer and back."""

import json

import numpy as np
import pytest
from pxr import Sdf, Usd

from tests.usd.authoring import body, joint, open_text, schemas, warnings_of
from warp_artic import Simulation, read_stage, write_results
from warp_artic.cli.main import main
from warp_artic.usd.convert_stage import convert_stage

LOCKED = ("transZ", "rotX", "rotY")
LIMITS = "".join(f"float limit:{axis}:physics:{side}\n" for axis in LOCKED for side in ("low = 1", "high = -1"))
PLANAR = (
    LIMITS
    + """
float limit:transY:physics:low = -0.2
float limit:transY:physics:high = 0.5
float drive:transX:physics:stiffness = 50
float drive:rotZ:physics:damping = 0.02
float physxJoint:armature = 0.1
"""
)
APPLIED = (
    *(f"PhysicsLimitAPI:{axis}" for axis in (*LOCKED, "transY")),
    *("PhysicsDriveAPI:transX", "PhysicsDriveAPI:rotZ", "PhysxJointAPI"),
)
NAMES = tuple(f"/World/planar:{axis}" for axis in ("transX", "transY", "rotZ"))
NAMES += tuple(f"/World/free:{axis}" for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"))
START = [0.1, 0.2, 2.0, 0.05, -0.1, 0.2, 1.0, -0.5, 2.0]


@pytest.fixture
def source(tmp_path):
    """A base on a plane, and a body that is joined to it, from the body's side, without being held."""
    text = (
        body("base")
        + body("arm", at=(0, 0, 0.5))
        + joint("planar", "", "", "/World/base", PLANAR, APPLIED)
        + joint("free", "", "/World/arm", "/World/base", "point3f physics:localPos1 = (0, 0, 0.5)\n")
    )
    stage = open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}}}\n')
    stage.Export(str(tmp_path / "in.usda"))
    return tmp_path / "in.usda"


def test_what_is_read(source):
    """One joint for each prim, with a dof for each axis, its drive, limit and armature; no link that is no body."""
    scene = read_stage(source)
    assert (scene.dof_names, scene.link_names) == (NAMES, ("/World/base", "/World/arm"))
    (tree,) = scene.articulations
    assert [one.path for one in tree.joints] == ["/World/planar", "/World/free"]
    x, y, turn = tree.joints[0].dofs
    assert (x.drive.stiffness, y.drive, turn.drive.damping) == pytest.approx((50, None, 0.02 * 180 / np.pi))
    assert (x.limit, y.limit.lower, y.limit.upper, turn.limit) == pytest.approx((None, -0.2, 0.5, None))
    assert [dof.armature for dof in tree.dofs] == pytest.approx([0.1] * 3 + [0.0] * 6)
    assert warnings_of(str(source)) == []


def test_a_run_layer_starts_where_it_did(source, tmp_path):
    """States of all axes are written and read back, with poses that agree with them; frames between are on the way."""
    simulation = Simulation(read_stage(source), device="cpu")
    simulation.set_state(joint_position=START)
    recording = simulation.record(24)
    assert (recording.joint_names, recording.link_names) == (NAMES, ("/World/base", "/World/arm"))
    write_results(source, recording, tmp_path / "run.usda")
    assert warnings_of(str(tmp_path / "run.usda")) == []
    (tree,) = (again := read_stage(tmp_path / "run.usda")).articulations
    assert [dof.position for dof in tree.dofs] == pytest.approx(START, abs=1e-6)
    np.testing.assert_allclose(
        Simulation(again, device="cpu").record(0).link_pose[0], recording.link_pose[0], atol=1e-6
    )
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    for name, value in zip(NAMES, recording.joint_position[-1, 0]):
        path, axis = name.split(":")
        written = stage.GetPrimAtPath(path).GetAttribute(f"state:{axis}:physics:position").Get(stage.GetEndTimeCode())
        assert written == pytest.approx(value if axis.startswith("trans") else np.degrees(value), rel=1e-5, abs=1e-5)
    layer = Sdf.Layer.FindOrOpen(str(tmp_path / "run.usda"))
    names = " ".join(layer.GetPrimAtPath("/World/free").properties.keys())
    assert "xformOp" not in names and "warpArtic:link" not in names


def test_distances_go_on_while_a_rotation_is_taken_back(source, tmp_path):
    """Where the rotation vector jumps by a turn from one record to the next, translations stay on the line between."""
    recording = Simulation(read_stage(source), device="cpu").record(3)
    recording.joint_position[:, 0] = 0.0
    recording.joint_position[:, 0, 3] = 0.0, 0.0, 0.4, 0.4
    recording.joint_position[:, 0, 8] = 3.0, 3.1, -3.1, -3.0
    write_results(source, recording, tmp_path / "run.usda", frames_per_second=160)
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    free = stage.GetPrimAtPath("/World/free")
    distance, angle = (free.GetAttribute(f"state:{axis}:physics:position") for axis in ("transX", "rotZ"))
    _, between, _ = distance.GetTimeSamples()
    assert distance.Get(between) == pytest.approx(0.2)
    assert abs(np.radians(angle.Get(between))) == pytest.approx(3.1)


def test_converted_to_our_schemas(source, tmp_path):
    """The armature of the joint becomes one of each axis, and the motion is the same to the last bit."""
    convert_stage(source, tmp_path / "ours.usda")
    stage = Usd.Stage.Open(str(tmp_path / "ours.usda"))
    planar = stage.GetPrimAtPath("/World/planar")
    for axis in ("transX", "transY", "rotZ"):
        assert planar.GetAttribute(f"warpArtic:joint:{axis}:armature").Get() == pytest.approx(0.1)
    first, second = (
        Simulation(read_stage(path), device="cpu").record(24).link_pose for path in (source, tmp_path / "ours.usda")
    )
    assert np.array_equal(first, second)


def test_inspected(source, capsys):
    """Each prim has a line; axes are named, massless links are not."""
    assert main(["inspect", str(source), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["totals"]["links"], content["totals"]["joints"], content["totals"]["dofs"]) == (2, 2, 9)
    kinds = [one["kind"] for one in content["articulations"][0]["joints"]]
    assert kinds == ["two translations, rotation", "three translations, three rotations"]
    assert main(["inspect", str(source)]) == 0
    assert "authored from child to parent" in capsys.readouterr().out


@pytest.mark.parametrize("free", [("transY",), ("transX", "transY")])
def test_the_instance_linear_is_that_of_the_only_translation(free):
    """Of several it says nothing: it is not used, and reported."""
    locked = [axis for axis in ("transX", "transY", "transZ") if axis not in free]
    limits = "".join(f"float limit:{axis}:physics:{side}\n" for axis in locked for side in ("low = 1", "high = -1"))
    state = "float state:linear:physics:velocity = 0.2\ndouble warpArtic:joint:linear:armature = 3\n"
    applied = (
        *(f"PhysicsLimitAPI:{axis}" for axis in locked),
        "PhysicsJointStateAPI:linear",
        "WarpArticJointAPI:linear",
    )
    stage = open_text(body("rod") + joint("free", "", "", "/rod", limits + state, applied))
    slides = [dof for dof in read_stage(stage).articulations[0].dofs if dof.axis.is_linear]
    found = [(dof.velocity, dof.armature) for dof in slides]
    if len(free) == 1:
        assert found == [(pytest.approx(0.2), 3.0)] and warnings_of(stage) == []
    else:
        assert found == [(0.0, 0.0)] * 2
        idle, unused = warnings_of(stage)
        assert idle.startswith("/free: WarpArticJointAPI:linear has no effect: no such axis of the joint is free")
        assert unused == "/free.state:linear:physics:velocity: is not used"


def stacked(*joints: str):
    """A rod on the world by joints that stack."""
    root = "uniform bool newton:jointsAddMobility = true\n"
    return read_stage(
        open_text(
            f'def Xform "World" {schemas("NewtonArticulationRootAPI")} {{\n{root}{body("rod")}{"".join(joints)}}}\n'
        )
    )


def test_one_joint_is_as_several_that_stack():
    """Two slides and a hinge, as three prims, as one, and as two, of which one is a table."""
    ends = ("", "/World/rod")
    z, y = (f'uniform token physics:axis = "{letter}"\n' for letter in "ZY")
    locked = {axis: ("transY", "rotX", "rotZ", *axis) for axis in ((), ("rotY",))}
    one, table = (
        joint(
            "many",
            "",
            *ends,
            "".join(f"float limit:{axis}:physics:{side}\n" for axis in axes for side in ("low = 1", "high = -1")),
            tuple(f"PhysicsLimitAPI:{axis}" for axis in axes),
        )
        for axes in locked.values()
    )
    turn = joint("turn", "Revolute", *ends, y)
    slides = joint("a", "Prismatic", *ends), joint("b", "Prismatic", *ends, z)
    accelerations, poses = [], []
    for scene in (stacked(*slides, turn), stacked(one), stacked(table, turn)):
        assert scene.link_names == ("/World/rod",)
        simulation = Simulation(scene, device="cpu")
        simulation.set_state(joint_position=[0.3, -0.2, 1.1], joint_velocity=[1.0, 0.5, -2.0])
        accelerations.append(simulation.joint_acceleration([1.0, 2.0, 0.3]).numpy())
        poses.append(simulation.record(24).link_pose)
    for found in (accelerations, poses):
        np.testing.assert_allclose(found[1], found[0], atol=1e-6)
        np.testing.assert_allclose(found[2], found[0], atol=1e-6)
