"""What acts on the free axes of loop joints: limits and drives from USD, with their units."""

import json
import math

import numpy as np
import pytest

from tests.usd.authoring import SMALL_UNITS, errors_of, joint, pendulum, warnings_of
from warp_artic import Simulation, author
from warp_artic.cli.inspect import content
from warp_artic.cli.inspect_tables import blocks
from warp_artic.description.drive import DriveKind
from warp_artic.description.joint import Axis
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.errors import StageError
from warp_artic.usd.read_stage import inspect_stage, read_stage

X, Y, Z, RX, RY, RZ = Axis
DEGREE = math.pi / 180
OUT = "bool physics:excludeFromArticulation = 1\n"


def stage_of(attributes="", kind="", applied=(), **options):
    """A pendulum whose links a second joint joins beside the tree."""
    more = joint("loop", kind, "/World/base", "/World/rod", OUT + attributes, applied)
    return pendulum(more=more, **options)


def loop_of(stage):
    """The only loop joint of the only articulation."""
    (tree,) = read_stage(stage).articulations
    (found,) = tree.constraints
    return found


def locked(*axes):
    """Locks of a generic joint, and the schemas that they need."""
    text = "".join(f"float limit:{axis}:physics:low = 1\nfloat limit:{axis}:physics:high = -1\n" for axis in axes)
    return text, tuple(f"PhysicsLimitAPI:{axis}" for axis in axes)


def test_limits_of_one_axis_with_springs():
    """In SI units and radians, with what PhysX authors beyond them."""
    text = "float physics:lowerLimit = -10\nfloat physics:upperLimit = 20\nfloat physxLimit:{0}:stiffness = 300\n"
    hinge = loop_of(stage_of(text.format("angular"), "Revolute", ("PhysxLimitAPI:angular",)))
    ((axis, limit),) = hinge.limits
    assert (axis, limit.lower, limit.upper) == (RX, pytest.approx(-10 * DEGREE), pytest.approx(20 * DEGREE))
    assert limit.stiffness == pytest.approx(300 / DEGREE)
    slide = loop_of(stage_of(text.format("linear"), "Prismatic", ("PhysxLimitAPI:linear",), header=SMALL_UNITS))
    assert slide.limits == ((X, Limit(lower=-0.1, upper=0.2, stiffness=pytest.approx(0.3))),)
    text += "float physxLimit:linear:restitution = 0.5"
    (warning,) = warnings_of(stage_of(text.format("linear"), "Prismatic", ("PhysxLimitAPI:linear",)))
    assert warning.endswith("the restitution of its limit has no effect: the limit has a stiffness or a damping")
    text = "float physics:lowerLimit = -10\nfloat physxLimit:linear:restitution = 0.5"
    stage = stage_of(text, "Prismatic", ("PhysxLimitAPI:linear",))
    assert loop_of(stage).limits == ((X, Limit(lower=-10.0, restitution=0.5)),)
    assert warnings_of(stage) == []


def test_a_limit_of_more_than_a_turn_is_told():
    """Turns of loop joints are not counted."""
    stage = stage_of("float physics:lowerLimit = -400\nfloat physics:upperLimit = 20", "Revolute")
    (warning,) = warnings_of(stage)
    assert warning.startswith(
        "/World/loop: closes a loop, where the limit of rotX, -6.98132 to 0.349066 rad, is not sim"
    )
    assert loop_of(stage).limits == ()


def test_a_cone():
    """Of a spherical joint, with a spring beyond it."""
    text = "float physics:coneAngle0Limit = 30\nfloat physics:coneAngle1Limit = 40\n"
    text += 'uniform token physics:axis = "Y"\nfloat physxLimit:cone:stiffness = 3'
    loop = loop_of(stage_of(text, "Spherical", ("PhysxLimitAPI:cone",)))
    assert loop.twist_axis is RY
    assert loop.cone_limit == ConeLimit(
        angle_1=pytest.approx(30 * DEGREE), angle_2=pytest.approx(40 * DEGREE), stiffness=pytest.approx(3 / DEGREE)
    )


def test_limits_of_a_generic_joint_and_of_its_distance():
    """Along axes, about them, and of the free translations together."""
    text, applied = locked("transZ")
    text += "float limit:distance:physics:high = 2\nfloat limit:rotY:physics:low = -20\n"
    text += "float physxLimit:distance:damping = 3\n"
    applied += ("PhysicsLimitAPI:distance", "PhysicsLimitAPI:rotY", "PhysxLimitAPI:distance")
    stage = stage_of(text, "", applied)
    loop = loop_of(stage)
    assert loop.free == (X, Y, RX, RY, RZ)
    assert loop.limits == ((RY, Limit(lower=pytest.approx(-20 * DEGREE))),)
    assert loop.distance_limit == Limit(upper=2.0, damping=3.0)
    assert warnings_of(stage) == []


def test_a_generic_joint_may_only_drive():
    """With all axes free."""
    text = "float drive:transX:physics:stiffness = 200\nfloat drive:transX:physics:targetPosition = 3\n"
    text += 'uniform token drive:rotZ:physics:type = "acceleration"\nfloat drive:rotZ:physics:damping = 2\n'
    text += "float drive:rotZ:physics:targetVelocity = 90\nfloat drive:rotZ:physics:maxForce = 7"
    stage = stage_of(text, "", ("PhysicsDriveAPI:transX", "PhysicsDriveAPI:rotZ"))
    (first, slide), (second, turn) = loop_of(stage).drives
    assert (first, slide.stiffness, slide.position_target, slide.kind) == (X, 200.0, 3.0, DriveKind.FORCE)
    assert (second, turn.kind, turn.max_force) == (RZ, DriveKind.ACCELERATION, 7.0)
    assert (turn.damping, turn.velocity_target) == (pytest.approx(2 / DEGREE), pytest.approx(math.pi / 2))
    assert warnings_of(stage) == []
    stage = stage_of()
    assert warnings_of(stage) == ["/World/loop: leaves all six axes free: it has no effect beside the tree"]


SLERP = "float drive:slerp:physics:stiffness = 5\nfloat drive:slerp:physics:damping = 1\n"


def test_a_slerp_drive():
    """It has the targets of the rotations, whose own gains have no effect; it needs all three."""
    applied = ("PhysicsDriveAPI:slerp", "PhysicsDriveAPI:rotX", "PhysicsDriveAPI:rotY")
    text = SLERP + "float drive:rotX:physics:targetPosition = 30\nfloat drive:rotY:physics:targetVelocity = 90\n"
    stage = stage_of(text, "", applied)
    loop = loop_of(stage)
    assert loop.slerp
    assert [axis for axis, _ in loop.drives] == [RX, RY, RZ]
    np.testing.assert_allclose([drive.stiffness for _, drive in loop.drives], 5 / DEGREE)
    np.testing.assert_allclose([drive.position_target for _, drive in loop.drives], (30 * DEGREE, 0.0, 0.0))
    np.testing.assert_allclose([drive.velocity_target for _, drive in loop.drives], (0.0, math.pi / 2, 0.0))
    assert warnings_of(stage) == []
    stage = stage_of(text + "float drive:rotX:physics:stiffness = 1\n", "", applied)
    assert warnings_of(stage) == [
        "/World/loop: has a slerp drive: the gains of its drives of rotX have no effect beside it"
    ]
    text, locks = locked("rotZ")
    (warning,) = warnings_of(stage_of(text + SLERP, "", ("PhysicsDriveAPI:slerp", *locks)))
    assert warning.startswith("/World/loop: the drive slerp has no effect: no such axis of the joint is free")


def test_a_joint_of_a_tree_has_what_acts_on_several_axes_beside_it():
    """A slerp drive, in place of those of its rotations, and a distance; the loop joint holds nothing."""
    text = SLERP + "float drive:rotX:physics:targetPosition = 30\nfloat limit:distance:physics:high = 2\n"
    stage = pendulum(text, "", ("PhysicsDriveAPI:slerp", "PhysicsDriveAPI:rotX", "PhysicsLimitAPI:distance"))
    (tree,) = read_stage(stage).articulations
    assert [dof.drive for dof in tree.joints[-1].dofs] == [None] * 6
    (loop,) = tree.constraints
    assert (loop.name, loop.link0, loop.link1, loop.held) == ("/World/hinge", 0, 1, ())
    assert (loop.slerp, loop.distance_limit) == (True, Limit(upper=2.0))
    assert warnings_of(stage) == []
    text, locks = locked("transX", "transY", "transZ")
    scene = read_stage(pendulum(text + SLERP.replace("5", "500"), "", ("PhysicsDriveAPI:slerp", *locks)))
    simulation = Simulation(scene)
    simulation.parameters.loop_drive_position_target = [[0.3], [-0.4], [0.5]]
    simulation.step(2000)
    np.testing.assert_allclose(simulation.state.joint_position.numpy()[:, 0], (0.3, -0.4, 0.5), atol=1e-4)


def test_what_acts_on_several_axes_is_authored():
    """As drives of axes are; where not all rotations are free there is no slerp drive."""
    stage = stage_of("float limit:distance:physics:high = 2", "", ("PhysicsLimitAPI:distance",))
    author.drive(stage, "/World/loop", "slerp", stiffness=5, max_force=3)
    author.drive(stage, "/World/loop", "rotY", target_position=30)
    author.joint(stage, "/World/loop", "distance", limit_damping=4)
    loop = loop_of(stage)
    assert loop.slerp and loop.distance_limit == Limit(upper=2.0, damping=4.0)
    assert [drive.position_target for _, drive in loop.drives] == [0.0, pytest.approx(30 * DEGREE), 0.0]
    assert {drive.max_force for _, drive in loop.drives} == {3.0}
    with pytest.raises(StageError, match="no free axis of the joint is called 'slerp'"):
        author.drive(pendulum(), "/World/hinge", "slerp")


def test_a_target_over_time_moves_it():
    """The samples are those of a parameter, at the end of each step."""
    text = "float drive:linear:physics:stiffness = 2000\nfloat drive:linear:physics:damping = 100\n"
    text += "float drive:linear:physics:targetPosition.timeSamples = {0: 0, 24: 0.5}"
    simulation = Simulation(read_stage(stage_of(text, "Prismatic", ("PhysicsDriveAPI:linear",))))
    (key,) = simulation.target_tracks
    assert key == ("loop_drive_position_target", "/World/loop:transX")
    simulation.step(240)
    assert simulation.parameters.loop_drive_position_target.numpy()[0, 0] == pytest.approx(0.5, abs=1e-3)


def test_what_acts_beside_limits_and_drives():
    """Armature, friction and the largest speed of a hinge; the share of the load of the old friction is told."""
    text = "float physxJoint:armature = 1\nfloat physxJoint:maxJointVelocity = 90\nfloat newton:friction = 0.2"
    stage = stage_of(text, "Revolute", ("PhysxJointAPI", "NewtonJointAPI"))
    assert not any("not simulated" in text for text in warnings_of(stage))
    (loop,) = (loop for tree in read_stage(stage).articulations for loop in tree.constraints)
    (axis,) = loop.axes
    assert (axis.armature, axis.friction.static_effort) == (1.0, pytest.approx(0.2))
    assert axis.velocity_limit == pytest.approx(math.pi / 2)
    stage = stage_of("float physxJoint:jointFriction = 0.3", "Revolute", ("PhysxJointAPI",))
    assert warnings_of(stage) == [
        "/World/loop: closes a loop, beside the tree, where friction in proportion to the load of its free axes is not "
        "simulated yet"
    ]
    stage = stage_of(
        "float physxJoint:armature = 1\nfloat newton:friction = 0.2", "Spherical", ("PhysxJointAPI", "NewtonJointAPI")
    )
    assert not any("not simulated" in text for text in warnings_of(stage))
    (loop,) = (loop for tree in read_stage(stage).articulations for loop in tree.constraints)
    assert [(axis.armature, axis.friction.static_effort) for axis in loop.axes] == 3 * [(1.0, pytest.approx(0.2))]


def test_ends_that_contradict_each_other_are_an_error():
    """With what was found, and what is allowed."""
    text = "float limit:distance:physics:low = 2\nfloat limit:distance:physics:high = 1"
    (error,) = errors_of(stage_of(text, "", ("PhysicsLimitAPI:distance",)))
    assert error == (
        "/World/loop.limit:distance:physics:high: the largest distance is 1 m; it must be positive, and not below the "
        "smallest one, 2 m"
    )


def test_inspect_shows_it():
    """Values, and what acts on which axis."""
    text = "float physics:lowerLimit = -1\nfloat physics:upperLimit = 2\nfloat drive:linear:physics:stiffness = 20"
    inspection = inspect_stage(stage_of(text, "Prismatic", ("PhysicsDriveAPI:linear",)))
    shown = content(inspection)
    (loop,) = json.loads(json.dumps(shown))["articulations"][0]["constraints"]
    assert loop["words"] == {
        "holds": "transY, transZ, rotX, rotY, rotZ",
        "limits": "transX",
        "drives": "transX",
        "friction": "",
        "armature": "",
        "velocity limits": "",
        "breaks at": "",
        "scales": "",
    }
    (axis,) = shown["articulations"][0]["loop_axes"]
    assert (axis["name"], axis["si"]["lower"], axis["si"]["stiffness"]) == ("/World/loop:transX", -1.0, 20.0)
    titles = [block.title for block in blocks(shown) if not isinstance(block, str)]
    assert "Loop joints" in titles and "Axes of loop joints" in titles
