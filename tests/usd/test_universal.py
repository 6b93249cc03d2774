"""Joints with twist and one swing, and with both swings, from a stage to what is reported and written of them."""

import json

import numpy as np
import pytest
from pxr import Usd

from tests.usd.authoring import body, joint, joint_of, open_text, schemas, warnings_of
from warp_artic import Simulation, read_stage, write_results
from warp_artic.cli.main import main
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector
from warp_artic.description.start_pose import displacement
from warp_artic.usd.read_stage import inspect_stage

AXES = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
ORDERS = [("/World/base", "/World/rod"), ("/World/rod", "/World/base")]
TWIST, SWING = 150.0, -130.0
"""Angles in degrees, far from zero."""


def turn(axis, degrees):
    """A rotation about X, Y or Z."""
    return Pose(quaternion=quaternion_from_rotation_vector(np.radians(degrees) * np.eye(3)["XYZ".index(axis)]))


def oriented(pose):
    """Content of a body that is turned."""
    x, y, z, w = pose.quaternion
    order = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]'
    return f"quatd xformOp:orient = ({w}, {x}, {y}, {z})\n{order}\n"


def free_on(*free, limits=None, content="", applied=()):
    """Content and schemas of a generic joint that is free on some axes, with limits in degrees on some of these."""
    bounds = {axis: (1, -1) for axis in AXES if axis not in free} | (limits or {})
    for axis, (low, high) in bounds.items():
        content += f"\nfloat limit:{axis}:physics:low = {low}\nfloat limit:{axis}:physics:high = {high}\n"
    return content, (*(f"PhysicsLimitAPI:{axis}" for axis in bounds), *applied)


def stage_of(order, pose, content, applied, kind="", motion="", at=(0, 0, 0)):
    """A base on the world, and a rod in a pose on a joint between the two in an order."""
    text = body("base") + body("rod", motion + oriented(pose), at=at)
    text += joint("held", "Fixed", "", "/World/base") + joint("joint", kind, *order, content, applied)
    return open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}}}\n')


def universal(order, swing, *free, motion="", between=0.0, content="", applied=(), limits=None):
    """A rod at TWIST and SWING on a joint with twist X and one swing; it is turned `between` about the locked axis."""
    (locked,) = {"Y", "Z"} - {swing}
    X_01 = turn(swing, SWING) @ turn(locked, between) @ turn("X", TWIST)
    text, schemas = free_on(*free, "rotX", f"rot{swing}", content=content, applied=applied, limits=limits)
    return stage_of(order, X_01 if order == ORDERS[0] else X_01.inverse(), text, schemas, motion=motion)


def dofs_of(stage):
    return joint_of(read_stage(stage), "/World/joint").dofs


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("swing", ["Y", "Z"])
def test_angles_from_poses(swing, order):
    """R_01 = R_u(b) R_x(a), also beyond a quarter of a turn; twist comes first, as X does."""
    for free in ((), ("transX",)):
        stage = universal(order, swing, *free)
        dofs = dofs_of(stage)
        assert [dof.axis.value for dof in dofs] == [*free, "rotX", f"rot{swing}"]
        assert [np.degrees(dof.position) for dof in dofs[-2:]] == pytest.approx([TWIST, SWING])
        assert not warnings_of(stage)
        tree = read_stage(stage).articulations[0]
        found = joint_of(read_stage(stage), "/World/joint")
        placed = found.parent_frame @ displacement(found) @ found.child_frame.inverse()
        np.testing.assert_allclose(placed.rotation, tree.links[found.child].pose.rotation, atol=1e-6)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("letter", "XYZ")
@pytest.mark.parametrize("side", [0, 1])
def test_the_joint_axis_of_a_spherical_joint_is_its_twist_axis(letter, side, order):
    """A cone angle of zero locks the swing about the axis after the joint axis, or about the next one."""
    swings = "XYZXYZ"["XYZ".index(letter) + 1 :][:2]
    X_01 = turn(swings[1 - side], SWING) @ turn(letter, TWIST)
    text = f'uniform token physics:axis = "{letter}"\nfloat physics:coneAngle{side}Limit = 0\n'
    stage = stage_of(order, X_01 if order == ORDERS[0] else X_01.inverse(), text, (), "Spherical")
    found = {dof.axis.value: np.degrees(dof.position) for dof in dofs_of(stage)}
    assert found == pytest.approx({f"rot{letter}": TWIST, f"rot{swings[1 - side]}": SWING})
    assert not warnings_of(stage)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("swing", ["Y", "Z"])
def test_what_a_universal_joint_forbids_is_reported(swing, order):
    """A turn about the third axis in the poses, and a turning about it in the velocities; the rest is used."""
    (text,) = warnings_of(universal(order, swing, between=3.0))
    assert text.startswith("/World/joint: the authored poses of its bodies are 0 mm and 3 degrees off")
    R_01, rates = (turn(swing, SWING) @ turn("X", TWIST)).rotation, np.array([0.7, -0.4])
    x, u = np.eye(3)[0], R_01.T @ np.eye(3)["XYZ".index(swing)]  # in frame 1
    to_world = R_01 if order == ORDERS[0] else -np.eye(3)  # which is that of the base
    omega, third = to_world @ (rates[0] * x + rates[1] * u), to_world @ np.cross(x, u)
    for off, expected in ((0.0, []), (0.1, ["0 m/s and 0.1 rad/s"])):
        velocity = tuple(map(float, np.degrees(omega + off * third)))
        stage = universal(order, swing, motion=f"vector3f physics:angularVelocity = {velocity}\n")
        assert [dof.velocity for dof in dofs_of(stage)] == pytest.approx(rates, abs=1e-5)
        found = warnings_of(stage)
        assert len(found) == len(expected) and all(part in text for part, text in zip(expected, found))


def test_states_and_limits_are_of_each_angle():
    """A state of one angle wins and is compared alone; a limit takes a turn on, and may be soft or bounce."""
    state = "float state:rotY:physics:position = -100\n"
    stage = universal(ORDERS[0], "Y", content=state, applied=("PhysicsJointStateAPI:rotY",))
    assert np.degrees([dof.position for dof in dofs_of(stage)]) == pytest.approx([TWIST, -100.0])
    (text,) = warnings_of(stage)
    assert text.startswith("/World/joint.state:rotY:physics:position: is 30 degrees from the authored poses")
    soft = "float physxLimit:rotX:stiffness = 3\nfloat physxLimit:rotY:restitution = 0.5\n"
    applied, limits = ("PhysxLimitAPI:rotX", "PhysxLimitAPI:rotY"), {"rotX": (-300, -200), "rotY": (-140, 0)}
    stage = universal(ORDERS[0], "Y", content=soft, applied=applied, limits=limits)
    twist, swing = dofs_of(stage)
    assert np.degrees([twist.position, swing.position]) == pytest.approx([TWIST - 360.0, SWING])
    assert twist.limit.stiffness > 0.0 and swing.limit.restitution == 0.5
    assert not warnings_of(stage)


def test_inspect_says_which_two_rotations(tmp_path, capsys):
    """Universal and zero-twist joints, alone and with a translation."""
    kinds = {
        ("rotX", "rotY"): "universal (twist x, swing y)",
        ("rotX", "rotZ"): "universal (twist x, swing z)",
        ("rotY", "rotZ"): "zero-twist (swing y, z)",
        ("transX", "rotX", "rotY"): "translation, universal (twist x, swing y)",
        ("transX", "transZ", "rotY", "rotZ"): "two translations, zero-twist (swing y, z)",
    }
    for free, kind in kinds.items():
        stage_of(ORDERS[0], Pose(), *free_on(*free)).Export(str(tmp_path / "in.usda"))
        assert main(["inspect", str(tmp_path / "in.usda"), "--json"]) == 0
        joints = json.loads(capsys.readouterr().out)["articulations"][0]["joints"]
        assert [one["kind"] for one in joints] == ["fixed", kind]


@pytest.mark.parametrize(
    ("free", "limits", "advised"),
    [
        (("rotY", "rotZ"), {}, True),
        (("transX", "rotY", "rotZ"), {}, True),
        (("rotY", "rotZ"), {"rotY": (-90, 90)}, True),
        (("rotY", "rotZ"), {"rotY": (-90, 90), "rotZ": (-180, 100)}, True),
        (("rotY", "rotZ"), {"rotY": (-90, 90), "rotZ": (-179, 100)}, False),
        (("rotX", "rotY"), {}, False),
        (("rotX", "rotZ"), {}, False),
        (("rotX", "rotY", "rotZ"), {}, False),
        (("rotY",), {}, False),
    ],
)
def test_a_limit_of_the_swing_of_a_zero_twist_joint_is_advised(free, limits, advised):
    """Where both swings are free and not both limited below half a turn; it is a note, and nothing is wrong."""
    stage = stage_of(ORDERS[0], Pose(), *free_on(*free, limits=limits))
    found = [one for one in inspect_stage(stage).diagnostics if one.rule == "swing-limit"]
    assert [one.path for one in found] == ["/World/joint"] * advised
    assert not warnings_of(stage)
    if advised:
        assert found[0].message.startswith("swings freely about rotY and rotZ without twist: at 180 degrees")


@pytest.mark.parametrize(("armatures", "told"), [((0.1, 0.1), False), ((0.1, 0.3), True)])
def test_armatures_that_differ_are_told_with_the_swing(armatures, told):
    """Of a zero-twist joint without limits: their energy is not the same on both sides of half a turn."""
    values = "".join(f"double warpArtic:joint:rot{axis}:armature = {value}\n" for axis, value in zip("YZ", armatures))
    names = tuple(f"WarpArticJointAPI:rot{axis}" for axis in "YZ")
    stage = stage_of(ORDERS[0], Pose(), *free_on("rotY", "rotZ", content=values, applied=names))
    (found,) = [one for one in inspect_stage(stage).diagnostics if one.rule == "swing-limit"]
    assert ("armatures" in found.message) == told


@pytest.mark.parametrize("order", ORDERS)
def test_a_run_layer_starts_where_it_did(order, tmp_path):
    """Both angles are written and read back, with poses that agree; a turn that is taken back is that of one angle."""
    universal(order, "Z", "transY").Export(str(tmp_path / "in.usda"))
    simulation = Simulation(read_stage(tmp_path / "in.usda"), device="cpu")
    simulation.set_state(joint_position=[0.1, 2.0, -1.5], joint_velocity=[0.3, 1.0, -2.0])
    recording = simulation.record(3)
    recording.joint_position[:, 0, 1] = 6.0, 6.2, 6.2 - 4 * np.pi, 6.4 - 4 * np.pi
    recording.joint_position[1:, 0, 2] = 0.1, 0.3, 0.5
    write_results(tmp_path / "in.usda", recording, tmp_path / "run.usda", frames_per_second=160)
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    twist, swing = (
        stage.GetPrimAtPath("/World/joint").GetAttribute(f"state:rot{axis}:physics:position") for axis in "XZ"
    )
    _, between, _ = swing.GetTimeSamples()
    assert np.radians(swing.Get(between)) == pytest.approx(0.2)
    assert np.abs(np.radians(twist.Get(between)) - [6.2, 6.2 - 4 * np.pi]).min() < 1e-5
    write_results(tmp_path / "in.usda", simulation.record(0), tmp_path / "end.usda")
    again = read_stage(tmp_path / "end.usda")
    assert warnings_of(str(tmp_path / "end.usda")) == []
    dofs = joint_of(again, "/World/joint").dofs
    assert [dof.position for dof in dofs] == pytest.approx(simulation.state.joint_position.numpy()[:, 0], abs=1e-5)
    np.testing.assert_allclose(
        Simulation(again, device="cpu").state.link_pose.numpy(), simulation.state.link_pose.numpy(), atol=1e-5
    )


@pytest.mark.parametrize("swing", ["Y", "Z"])
def test_it_moves_as_a_hinge_on_a_hinge(swing):
    """Two hinges that stack, first about the swing axis and then about X, with limits, drives and friction."""
    root = "uniform bool newton:jointsAddMobility = true\n"

    def scene_of(joints):
        rod = body("rod", "point3f physics:centerOfMass = (0.3, 0.2, 0.1)\n")
        head = f'def Xform "World" {schemas("NewtonArticulationRootAPI")}'
        return read_stage(open_text(f"{head} {{\n{root}{rod}{joints}}}\n"))

    def drive(axis, stiffness):
        return (
            f"float drive:{axis}:physics:stiffness = {stiffness}\nfloat drive:{axis}:physics:damping = 0.01\n"
            f"float warpArtic:joint:{axis}:dynamicFrictionEffort = 0.01\n"
        )

    def applied(axis):
        return f"PhysicsDriveAPI:{axis}", f"WarpArticJointAPI:{axis}"

    bounds = "float physics:lowerLimit = 20\nfloat physics:upperLimit = 125\n"
    hinges = ""
    for name, letter, stiffness in (("first", swing, 0.1), ("second", "X", 0.02)):
        content = f'uniform token physics:axis = "{letter}"\n{bounds}' + drive("angular", stiffness)
        hinges += joint(name, "Revolute", "", "/World/rod", content, applied("angular"))
    axes = ("rotX", f"rot{swing}")
    text, names = free_on(
        *axes,
        limits=dict.fromkeys(axes, (20, 125)),
        content=drive("rotX", 0.02) + drive(f"rot{swing}", 0.1),
        applied=(*applied("rotX"), *applied(f"rot{swing}")),
    )
    one, runs = joint("one", "", "", "/World/rod", text, names), []
    for scene, order in ((scene_of(hinges), [1, 0]), (scene_of(one), [0, 1])):
        simulation = Simulation(scene, device="cpu")
        simulation.set_state(joint_position=np.array([2.0, 1.0])[order], joint_velocity=np.array([8.0, 5.0])[order])
        recording = simulation.record(480)
        runs.append((recording.joint_position[:, 0][:, order], recording.link_pose, recording.energy))
    for one, other in zip(*runs):
        np.testing.assert_array_equal(one, other)
    assert np.degrees(runs[0][0]).max() == pytest.approx(125.0, abs=1e-3)
