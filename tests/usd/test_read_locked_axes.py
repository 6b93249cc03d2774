"""Axes of the world that the schema of PhysX locks: a joint to the world, at the centre of mass."""

import numpy as np
import pytest

import warp_artic as wa
from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, notes_of, open_text, pendulum, warnings_of
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.usd.read_stage import read_stage

TURNED = """
double3 xformOp:translate = (1, 2, 3)
float xformOp:rotateZ = 30
uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
"""


def locks(positions: int, rotations: int) -> str:
    """The attributes."""
    return f"int physxRigidBody:lockedPosAxis = {positions}\nint physxRigidBody:lockedRotAxis = {rotations}\n"


def loops(stage) -> list[LoopJoint]:
    """Loop joints of all trees of a stage."""
    return [loop for tree in read_stage(stage).articulations for loop in tree.constraints_of(LoopJoint)]


@pytest.mark.parametrize("header, meters", [(SI, 1.0), (SMALL_UNITS, 0.01)])
def test_a_joint_to_the_world(header, meters):
    """At the centre of mass, along the axes of the world, however the body is turned."""
    stage = open_text(body("box", TURNED + locks(2, 5) + "point3f physics:centerOfMass = (1, 0, 0)"), header)
    (loop,) = loops(stage)
    assert (loop.name, loop.link0, loop.link1) == ("/box", WORLD, 0)
    assert loop.held == (Axis.TRANS_Y, Axis.ROT_X, Axis.ROT_Z)
    center = np.array([1 + np.sqrt(0.75), 2.5, 3]) * meters
    np.testing.assert_allclose(loop.frame0.position, center, atol=1e-6)
    assert loop.frame0.quaternion == (0.0, 0.0, 0.0, 1.0)
    (link,) = read_stage(stage).articulations[0].links
    there = link.pose @ loop.frame1
    np.testing.assert_allclose(there.position, center, atol=1e-6)
    np.testing.assert_allclose(there.rotation, np.eye(3), atol=1e-6)
    assert errors_of(stage) == warnings_of(stage) == []


def test_one_rotation():
    """What is left are swings of the axis that is locked."""
    (loop,) = loops(open_text(body("box", locks(0, 2))))
    assert (loop.held, loop.twist_axis) == ((Axis.ROT_Y,), Axis.ROT_Y)


def test_no_axes():
    """Zero, the fallback, is none."""
    assert loops(open_text(body("box", locks(0, 0)))) == []


@pytest.mark.parametrize("value", [-1, 8])
def test_other_numbers(value):
    """An error with the attribute."""
    assert errors_of(open_text(body("box", locks(value, 0)))) == [
        f"/box.physxRigidBody:lockedPosAxis: is {value}, must be a sum of 1 for X, 2 for Y and 4 for Z"
    ]


def test_links_of_articulations():
    """PhysX locks none of them."""
    stage = pendulum(rod=locks(1, 0))
    assert loops(stage) == []
    assert "/World/rod: has locked axes, which have no effect on a link of an articulation" in notes_of(stage)


def test_copies_that_are_turned():
    """All have the same locked axes, those of the world."""
    copy = 'def Xform "{name}" (prepend references = </like>) {{\nfloat xformOp:rotateY = {angle}\n{order}\n}}\n'
    order = 'uniform token[] xformOpOrder = ["xformOp:rotateY"]'
    like = f'class "like" {{\n{body("box", locks(2, 5))}}}\n'
    text = like + "".join(copy.format(name=f"c{angle}", angle=angle, order=order) for angle in (0, 40, 90))
    found = loops(open_text(text))
    assert len(found) == 3
    for loop in found:
        assert loop.frame0.quaternion == (0.0, 0.0, 0.0, 1.0)


def test_a_flight():
    """In a plane: a parabola, and a steady turn about the axis of the plane, which is no principal axis."""
    thrown = "vector3f physics:velocity = (1, 0, 2)\nvector3f physics:angularVelocity = (0, 100, 0)\n"
    scene = read_stage(open_text(body("box", TURNED + locks(2, 5) + thrown)))
    simulation = wa.Simulation(scene, settings=wa.SolverSettings(dt=1 / 240))
    simulation.step(240)
    velocity = simulation.state.link_velocity.numpy()[0, :, 0]
    np.testing.assert_allclose(velocity, [1, 0, 2 - 9.81, 0, np.radians(100), 0], atol=2e-5)
    position = simulation.state.link_pose.numpy()[0, :3, 0]
    np.testing.assert_allclose(position, [2, 2, 3 + 2 - 9.81 / 2], atol=2e-5)
