"""Distance joints between two links, or a link and the world."""

import json
import math

import numpy as np
import pytest

import warp_artic as wa
from tests.usd.authoring import SI, body, errors_of, joint, open_text, pendulum, warnings_of
from warp_artic.cli.inspect import content
from warp_artic.cli.inspect_tables import blocks
from warp_artic.description.distance import Distance
from warp_artic.description.joint import WORLD
from warp_artic.usd.read_stage import inspect_stage, read_stage

CENTIMETRES = 'metersPerUnit = 0.01\nkilogramsPerUnit = 1\nupAxis = "Z"'
SPRING = "bool physxPhysicsDistanceJoint:springEnabled = 1\nfloat physxPhysicsDistanceJoint:springStiffness = 300\n"
SPRING += "float physxPhysicsDistanceJoint:springDamping = 5"


def stage_of(
    attributes: str, header: str | None = None, applied: tuple[str, ...] = (), ends=("/World/base", "/World/rod")
):
    """A pendulum with a distance joint between its links."""
    places = "point3f physics:localPos0 = (1, 2, 3)\npoint3f physics:localPos1 = (0, 0, 50)"
    more = joint("string", "Distance", *ends, f"{places}\n{attributes}", applied)
    return pendulum(more=more) if header is None else pendulum(more=more, header=header)


def distance_of(stage):
    """The only further constraint of the only articulation."""
    (tree,) = read_stage(stage).articulations
    (found,) = tree.constraints
    return found


def test_it_is_a_distance_between_the_origins_of_its_frames():
    """In metres, between links by index; a negative end is none; nothing is left to report."""
    stage = stage_of("float physics:minDistance = -1\nfloat physics:maxDistance = 60", CENTIMETRES)
    found = distance_of(stage)
    assert (found.name, found.link0, found.link1) == ("/World/string", 0, 1)
    assert found.position0 == pytest.approx((0.01, 0.02, 0.03))
    assert found.position1 == pytest.approx((0.0, 0.0, 0.5))
    assert (found.lower, found.upper, found.is_soft) == (0.0, pytest.approx(0.6), False)
    assert warnings_of(stage) == []
    assert distance_of(stage_of("float physics:minDistance = 2\nfloat physics:maxDistance = -1")).upper == math.inf


def test_the_spring_of_physx_makes_it_soft():
    """With stiffness and damping in SI; where it is not enabled the distance is hard."""
    applied = ("PhysxPhysicsDistanceJointAPI",)
    found = distance_of(stage_of(f"float physics:maxDistance = 60\n{SPRING}", applied=applied))
    assert (found.is_soft, found.stiffness, found.damping) == (True, 300.0, 5.0)
    stage = stage_of(f"float physics:maxDistance = 60\n{SPRING.replace('= 1', '= 0')}", applied=applied)
    assert not distance_of(stage).is_soft
    assert warnings_of(stage) == []


def test_ends_that_contradict_each_other_are_an_error():
    """With what was found, and what is allowed; so is a spring that pushes."""
    (error,) = errors_of(stage_of("float physics:minDistance = 2\nfloat physics:maxDistance = 1"))
    assert error == (
        "/World/string.physics:maxDistance: the largest distance is 1 m; it must be positive, and not below the "
        "smallest one, 2 m"
    )
    (error,) = errors_of(stage_of(SPRING.replace("300", "-300")))
    assert error.endswith("springStiffness: is -300 force/distance, must not be negative")


def test_the_spring_of_one_that_is_refused():
    """That it is refused is all that is told: springs of distance joints are simulated."""
    applied = ("PhysxPhysicsDistanceJointAPI",)
    stage = stage_of(f"float physics:minDistance = 2\nfloat physics:maxDistance = 1\n{SPRING}", applied=applied)
    assert len(errors_of(stage)) == 1 and warnings_of(stage) == []
    nowhere = stage_of(SPRING, applied=applied, ends=("/World/base", "/nowhere"))
    assert len(errors_of(nowhere)) == 1 and warnings_of(nowhere) == []


def test_one_to_the_world():
    """The point there is authored in the world."""
    stage = stage_of("float physics:maxDistance = 60", ends=("/World/rod", ""))
    found = distance_of(stage)
    assert (found.link0, found.link1, found.position1) == (1, WORLD, (0.0, 0.0, 50.0))
    assert warnings_of(stage) == []


def test_inspect_shows_it():
    """Values, links by their paths, and where values come from."""
    inspection = inspect_stage(stage_of(f"float physics:maxDistance = 3\n{SPRING}"))
    shown = content(inspection)
    (found,) = shown["articulations"][0]["constraints"]
    assert (found["kind"], found["link0"], found["upper"]) == ("distance", "/World/base", 3.0)
    assert found["sources"] == {
        "lower": "default", "upper": "usdphysics", "stiffness": "physx", "damping": "physx",
    }  # fmt: skip
    json.dumps(shown)
    text = "\n".join(map(str, blocks(shown)))
    assert "Distances" in text
    assert "string" in text


def test_a_disabled_one_is_left_out():
    """By physics:jointEnabled, as other joints."""
    (tree,) = read_stage(stage_of("bool physics:jointEnabled = 0\nfloat physics:maxDistance = 1")).articulations
    assert tree.constraints == ()


ROD = "float physics:minDistance = 1\nfloat physics:maxDistance = 1\n"
KINDS = {
    "rod": (ROD, ()),
    "rope": ("float physics:maxDistance = 1\n", ()),
    "spring": (f"float physics:maxDistance = 0.9\n{SPRING}\n", ("PhysxPhysicsDistanceJointAPI",)),
}


def swinging(attributes: str, applied: tuple[str, ...] = ()) -> wa.Simulation:
    """A ball of 2 kg, released 1 m beside the point that a distance joint holds it from."""
    gravity = "vector3f physics:gravityDirection = (0, 0, -1)\nfloat physics:gravityMagnitude = 10\n"
    text = f'def PhysicsScene "scene" {{\n{gravity}}}\ndef Xform "World" {{\n'
    text += body("ball", at=(1.0, 0.0, 0.0)) + joint("string", "Distance", "", "/World/ball", attributes, applied)
    return wa.Simulation(read_stage(open_text(text + "}\n", SI)), settings=wa.SolverSettings(precision="float64"))


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_could_break_holds_as_others_do(kind):
    """Where nothing breaks it, over a second; its load is that of the distance."""
    attributes, applied = KINDS[kind]
    one, other = (swinging(attributes + load, applied) for load in ("", "float physics:breakForce = 1000"))
    assert isinstance(one.scene.articulations[0].constraints[0], Distance)
    found, wanted = (simulation.record(240, forces=True) for simulation in (other, one))
    np.testing.assert_allclose(found.link_pose, wanted.link_pose, atol=1e-5)
    load = np.linalg.norm(found.loop_force[1:, 0, 0], axis=-1)
    np.testing.assert_allclose(load, np.abs(wanted.distance_force[1:, 0, 0]), rtol=1e-3, atol=0.15)


@pytest.mark.parametrize("kind", ["rod", "rope"])
def test_it_breaks_at_its_load(kind):
    """A pendulum that falls from the horizontal pulls with  3 m g sin a  below it; then the ball flies on."""
    simulation = swinging(KINDS[kind][0] + "float physics:breakForce = 40")
    recording = simulation.record(180)
    (event,) = simulation.broken_loops()
    place = np.asarray(recording.link_pose)[:, 0, 0, :3]
    assert event.joint == "/World/string" and 40.0 < event.force < 41.0
    assert -place[event.step - 1, 2] <= 2.0 / 3.0 + 0.01 and -place[event.step, 2] >= 2.0 / 3.0 - 0.01
    falls = np.diff(place[event.step :, 2], 2) * 240.0**2
    np.testing.assert_allclose(falls, -10.0, atol=1e-6)
