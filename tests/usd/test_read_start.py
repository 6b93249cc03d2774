"""Start positions and velocities: joint state, else poses and velocities of the bodies."""

import math

import numpy as np
import pytest

from tests.oracles.joint_motion import coordinates_of, displacement, subspace
from tests.usd.authoring import body, hinge_of, joint, joint_of, open_text, pendulum, warnings_of
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector
from warp_artic.usd.read_stage import read_stage

ORIENT = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]'


def turned(*vectors) -> str:
    """Content of a body turned by rotation vectors in degrees, the last of which turns it first."""
    turn = Pose()
    for vector in vectors:
        turn = turn @ Pose(quaternion=quaternion_from_rotation_vector(np.radians(vector)))
    x, y, z, w = turn.quaternion
    return f"quatd xformOp:orient = ({w}, {x}, {y}, {z})\n{ORIENT}\n"


def test_position_from_poses():
    """Without a joint state the authored poses give the position."""
    stage = pendulum('token physics:axis = "Y"', rod=turned((0, 40, 0)))
    assert hinge_of(stage).dofs[0].position == pytest.approx(math.radians(40))
    assert not warnings_of(stage)


def test_position_from_poses_of_a_prismatic_joint():
    """The translation along the axis of the joint frame."""
    stage = pendulum('token physics:axis = "Y"', "Prismatic")
    stage.GetPrimAtPath("/World/rod").GetAttribute("xformOp:translate").Set((0, 0.25, 0))
    assert hinge_of(stage).dofs[0].position == pytest.approx(0.25)


@pytest.mark.parametrize("kind, position", [("Revolute", (40,)), ("Spherical", (40, -30, 20))])
def test_position_of_a_reversed_joint(kind, position):
    """With the child as body0 the position is that of body1, the parent, seen from the child."""
    vector = (40, 0, 0) if kind == "Revolute" else position
    text = (
        body("base")
        + body("rod", turned(vector))
        + joint("held", "Fixed", "", "/base")
        + joint("hinge", kind, "/rod", "/base")
    )
    hinge = joint_of(read_stage(open_text(text)), "/hinge")
    assert hinge.reversed
    assert np.degrees([dof.position for dof in hinge.dofs]) == pytest.approx(-np.array(position))


@pytest.mark.parametrize("order", [("/base", "/rod"), ("/rod", "/base")])
@pytest.mark.parametrize("kind", ["Revolute", "Prismatic", "Spherical", ""])
def test_positions_put_the_links_where_they_are(kind, order):
    """Parent pose, frames and displacement at the start position give the authored pose of the child."""
    frames = "point3f physics:localPos{0} = (0.1, 0.2, 0.3)\nquatf physics:localRot{0} = (0.5, 0.5, 0.5, 0.5)\n"
    frames += "quatf physics:localRot{1} = (0.5, 0.5, 0.5, 0.5)\npoint3f physics:localPos{1} = (0.1, 0.2, 0.3)"
    parent_side = order.index("/base")
    vector = {"Spherical": (10, 20, 30), "": (100, -120, 40)}.get(kind, (0, 0, 0))
    place = (0, 0, 0) if kind else (0.3, -0.2, 0.5)
    text = body("base") + body("rod", turned(vector), at=place) + joint("held", "Fixed", "", "/base")
    text += joint("hinge", kind, *order, frames.format(parent_side, 1 - parent_side))
    scene = read_stage(open_text(text))
    hinge = joint_of(scene, "/hinge")
    rotation, translation = displacement(hinge, coordinates_of(hinge, [dof.position for dof in hinge.dofs]))
    X_FM = hinge.parent_frame.inverse() @ scene.articulations[0].links[hinge.child].pose @ hinge.child_frame
    assert rotation == pytest.approx(X_FM.rotation, abs=1e-6)
    if kind in ("Prismatic", ""):
        assert translation == pytest.approx(np.array(X_FM.position), abs=1e-6)


def test_joint_state_wins_and_the_difference_is_reported():
    """The joint state is the start; poses that disagree are reported with the amount."""
    stage = pendulum("float state:angular:physics:position = 25", rod=turned((40, 0, 0)))
    assert hinge_of(stage).dofs[0].position == pytest.approx(math.radians(25))
    assert [text for text in warnings_of(stage) if "is -15 degrees from the authored poses" in text]


def test_joint_state_of_several_turns_agrees_with_its_pose():
    """370 degrees and a pose of 10 degrees are the same place."""
    stage = pendulum("float state:angular:physics:position = 370", rod=turned((10, 0, 0)))
    assert hinge_of(stage).dofs[0].position == pytest.approx(math.radians(370))
    assert not warnings_of(stage)


def test_joint_state_of_a_spherical_joint():
    """The state of each axis is a component of the rotation vector."""
    content = "".join(f"float state:rot{axis}:physics:position = {value}\n" for axis, value in zip("XYZ", (10, 20, 30)))
    stage = pendulum(content, "Spherical", rod=turned((10, 20, 30)))
    assert np.degrees([dof.position for dof in hinge_of(stage).dofs]) == pytest.approx((10, 20, 30))
    assert not warnings_of(stage)
    stage = pendulum(content, "Spherical")
    assert [text for text in warnings_of(stage) if "its joint state is 37.42 degrees from" in text]


def test_pose_that_violates_its_joint_is_reported():
    """Millimetres and degrees off the free axes are reported."""
    stage = pendulum('token physics:axis = "X"', rod=turned((20, 0, 0)))
    stage.GetPrimAtPath("/World/rod").GetAttribute("xformOp:translate").Set((0, 0.003, 0.004))
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/hinge: the authored poses of its bodies are 5 mm and 0 degrees off")
    (warning,) = warnings_of(pendulum('token physics:axis = "X"', rod=turned((0, 20, 0))))
    assert "are 0 mm and 20 degrees off" in warning


def test_locked_axis_of_two_rotations_is_checked():
    """What a body is turned about the locked axis, between swing and twist of a universal joint, is reported."""
    content = "float physics:coneAngle0Limit = 0"
    assert not warnings_of(pendulum(content, "Spherical", rod=turned((0, 0, 20), (10, 0, 0))))
    (warning,) = warnings_of(pendulum(content, "Spherical", rod=turned((0, 0, 20), (0, 5, 0), (10, 0, 0))))
    assert "0 mm and 5 degrees off" in warning
    stage = freer(("/base", "/rod"), {"rotX"}, turned((5, 30, -40)))
    (warning,) = warnings_of(stage)
    assert "0 mm and 5 degrees off" in warning


def test_turn_within_the_limits():
    """A derived angle is the one within the limits where a turn brings it there."""
    content = "float physics:lowerLimit = 90\nfloat physics:upperLimit = 270"
    stage = pendulum(content, rod=turned((200, 0, 0)))
    assert hinge_of(stage).dofs[0].position == pytest.approx(math.radians(200))
    assert not warnings_of(stage)


def test_start_outside_the_limit_is_reported():
    """A start beyond the limit is reported with the amount."""
    stage = pendulum("float physics:upperLimit = 10", rod=turned((15, 0, 0)))
    assert warnings_of(stage) == ["/World/hinge: starts at 15, 5 degrees outside its limit of -inf to 10"]


@pytest.mark.parametrize(
    ("twist", "swing", "told"),
    [
        (29.0, (59.0, 0.0), ""),
        (29.0, (50.0, 40.0), ""),
        (29.0, (57.0, -57.0), ""),
        (10.0, (20.0, 62.0), "/World/hinge:rotZ: starts at 62, 2 degrees outside its limit of -60 to 60"),
        (-33.0, (0.0, 50.0), "/World/hinge:rotX: starts at -33, 3 degrees outside its limit of -30 to 30"),
    ],
)
def test_three_rotations_start_at_a_twist_and_swings(twist, swing, told):
    """These are what their limits bound, whatever the components of the rotation vector are."""
    bounds = {axis: 0.0 for axis in ("transX", "transY", "transZ")} | {"rotX": 30.0, "rotY": 60.0, "rotZ": 60.0}
    content = "".join(
        f"float limit:{axis}:physics:low = {-bound or 1}\nfloat limit:{axis}:physics:high = {bound or -1}\n"
        for axis, bound in bounds.items()
    )
    applied = tuple(f"PhysicsLimitAPI:{axis}" for axis in bounds)
    stage = pendulum(content, "", rod=turned((0.0, *swing), (twist, 0.0, 0.0)), applied=applied)
    assert warnings_of(stage) == ([told] if told else [])


def test_a_start_outside_of_a_cone_is_reported():
    """In the direction of the swing."""
    content = "float physics:coneAngle0Limit = 30\nfloat physics:coneAngle1Limit = 30"
    stage = pendulum(content, "Spherical", rod=turned((0.0, 24.0, 24.0), (50.0, 0.0, 0.0)))
    assert warnings_of(stage) == ["/World/hinge: starts 3.941 degrees outside its cone"]


def test_velocity_from_bodies():
    """Without a joint state the authored velocities of the child give the rate, in degrees a second."""
    stage = pendulum('token physics:axis = "Z"', rod="vector3f physics:angularVelocity = (0, 0, 90)")
    assert hinge_of(stage).dofs[0].velocity == pytest.approx(math.pi / 2)


def test_velocity_of_a_slider_is_that_of_the_joint_frame():
    """A child that turns about its centre of mass moves its joint frame."""
    text = body("base") + body("rod", "vector3f physics:velocity = (3, 0, 0)\npoint3f physics:centerOfMass = (1, 0, 0)")
    text += joint("held", "Fixed", "", "/base") + joint("slide", "Prismatic", "/base", "/rod")
    assert joint_of(read_stage(open_text(text)), "/slide").dofs[0].velocity == pytest.approx(3)


def test_velocity_of_the_root_alone_sets_no_joint_rates():
    """A thrown mechanism whose root alone has a velocity starts with joints at rest."""
    text = (
        body("base", "vector3f physics:angularVelocity = (90, 0, 0)")
        + body("rod")
        + joint("j", "Revolute", "/base", "/rod")
    )
    scene = read_stage(open_text(text))
    assert joint_of(scene, "/j").dofs[0].velocity == 0.0
    assert scene.articulations[0].links[0].angular_velocity == pytest.approx((math.pi / 2, 0, 0))


@pytest.mark.parametrize(
    ("kind", "velocity", "found"),
    [
        ("Fixed", "physics:velocity = (0, 3, 4)", "5 m/s and 0 rad/s"),
        ("Revolute", "physics:angularVelocity = (20, 90, 0)", "0 m/s and 1.571 rad/s"),
        ("Revolute", "physics:velocity = (2, 0, 0)", "2 m/s and 0 rad/s"),
        ("Prismatic", "physics:velocity = (2, 0, 1)", "1 m/s and 0 rad/s"),
        ("Spherical", "physics:velocity = (2, 0, 0)", "2 m/s and 0 rad/s"),
    ],
)
def test_velocities_that_a_joint_forbids_are_reported(kind, velocity, found):
    """What is off its free axes, X here, has no effect."""
    stage = pendulum("", kind, rod=f"vector3f {velocity}")
    (text,) = warnings_of(stage)
    assert text.startswith("/World/hinge: the authored velocities of its bodies are " + found)


@pytest.mark.parametrize("order", [("/base", "/rod"), ("/rod", "/base")])
def test_two_free_swings_turn_about_the_twist_axis_too(order):
    """Away from the middle, the velocity of a body with two free swings is one that the joint allows."""
    rates = np.array([0.7, -0.4])
    locked = "float limit:rotX:physics:low = 1\nfloat limit:rotX:physics:high = -1"
    names = ("PhysicsLimitAPI:rotX", *(f"PhysicsLimitAPI:trans{axis}" for axis in "XYZ"))
    locked += "".join(
        f"\nfloat limit:trans{axis}:physics:{side}" for axis in "XYZ" for side in ("low = 1", "high = -1")
    )

    def stage_of(velocity):
        content = f"vector3f physics:angularVelocity = {tuple(map(float, np.degrees(velocity)))}\n"
        rod = body("rod", content + turned((0, 30, -40)))
        held, ball = joint("held", "Fixed", "", "/base"), joint("ball", "", *order, locked, names)
        return open_text(body("base") + rod + held + ball)

    ball = joint_of(read_stage(stage_of((0, 0, 0))), "/ball")
    coordinates = coordinates_of(ball, [dof.position for dof in ball.dofs])
    R_FM = displacement(ball, coordinates)[0]
    stage = stage_of(R_FM @ (subspace(ball, coordinates) @ rates)[3:])
    assert not warnings_of(stage)
    assert [dof.velocity for dof in joint_of(read_stage(stage), "/ball").dofs] == pytest.approx(rates)
    assert (
        "0 m/s and 0.1 rad/s"
        in warnings_of(stage_of(R_FM @ ((subspace(ball, coordinates) @ rates)[3:] + (0.1, 0, 0))))[0]
    )


LOCKED = {"transZ", "rotX", "rotY"}
"""Axes of which a planar joint has none."""


def freer(order, locked, rod: str, at=(0, 0, 0), state: str = "", applied=()):
    """A base on the world and a rod, which a generic joint with frames of its own joins."""
    limits = [f"float limit:{axis}:physics:{side}" for axis in locked for side in ("low = 1", "high = -1")]
    frames = "\n".join(f"point3f physics:localPos{order.index(path)} = (0.1, 0.2, 0)" for path in order)
    content = "\n".join([frames, *limits, state])
    schemas = (*(f"PhysicsLimitAPI:{axis}" for axis in locked), *applied)
    held, free = joint("held", "Fixed", "", "/base"), joint("free", "", *order, content, schemas)
    return open_text(body("base") + body("rod", rod, at=at) + held + free)


def test_position_on_a_planar_joint():
    """Distances and the angle, which is in its limit, from poses; a state of one axis wins, and is compared alone."""
    rod, order = turned((0, 0, 90)), ("/base", "/rod")
    (x, y, turn) = joint_of(read_stage(freer(order, LOCKED, rod, (0.5, 0.2, 0))), "/free").dofs
    assert (x.position, y.position, turn.position) == pytest.approx((0.2, 0.1, math.pi / 2))
    assert not warnings_of(freer(order, LOCKED, rod, (0.5, 0.2, 0)))
    state = "float state:transY:physics:position = 0.3"
    stage = freer(order, LOCKED, rod, (0.5, 0.2, 0), state, ("PhysicsJointStateAPI:transY",))
    assert joint_of(read_stage(stage), "/free").dofs[1].position == pytest.approx(0.3)
    text = "is 200 mm from the authored poses of the bodies; the joint state is used"
    assert warnings_of(stage) == [f"/free.state:transY:physics:position: {text}"]
    (text,) = warnings_of(freer(order, LOCKED, rod, (0.5, 0.2, 0.4)))
    assert text.startswith("/free: the authored poses of its bodies are 400 mm and 0 degrees off the axes it leaves")


@pytest.mark.parametrize("locked", [set(), LOCKED, {"rotX"}], ids=["all", "planar", "zero-twist"])
@pytest.mark.parametrize("order", [("/base", "/rod"), ("/rod", "/base")])
def test_velocities_of_translations_and_rotations(order, locked):
    """A body that moves as rates of all axes say has these rates at the start."""
    angles, place = ((0, 0, 40), (0.5, 0.2, 0.0)) if locked == LOCKED else ((0, 30, -40), (0.5, 0.2, 0.7))
    center = (0.0, 0.3, 0.0)
    content = f"point3f physics:centerOfMass = {center}\n" + turned(angles)
    free = joint_of(read_stage(freer(order, locked, content, place)), "/free")
    rates = np.array([0.7, -0.4, 1.1, 0.3, -0.9, 0.5])[: len(free.dofs)]
    coordinates = coordinates_of(free, [dof.position for dof in free.dofs])
    R_FM, p_FM = displacement(free, coordinates)
    linear, angular = (R_FM @ part for part in np.split(subspace(free, coordinates) @ rates, 2))
    arm = np.array(place) + R_FM @ center - (np.array(free.parent_frame.position) + p_FM)
    linear += np.cross(angular, arm)
    content += "".join(
        f"\nvector3f physics:{name} = {tuple(map(float, value))}"
        for name, value in (("velocity", linear), ("angularVelocity", np.degrees(angular)))
    )
    stage = freer(order, locked, content, place)
    assert not warnings_of(stage)
    assert [dof.velocity for dof in joint_of(read_stage(stage), "/free").dofs] == pytest.approx(rates, abs=1e-5)


def test_joint_state_velocity():
    """The velocity of the joint state is in degrees a second."""
    stage = pendulum("float state:angular:physics:velocity = 90", rod="vector3f physics:angularVelocity = (10, 0, 0)")
    assert hinge_of(stage).dofs[0].velocity == pytest.approx(math.pi / 2)
    assert [text for text in warnings_of(stage) if "a velocity of 1.571 rad/s, its bodies have 0.1745" in text]
