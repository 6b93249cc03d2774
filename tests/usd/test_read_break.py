"""What joints break at: read in the units of the stage, and beside the trees."""

import math

import numpy as np
import pytest

from tests.oracle_stages import DATA
from tests.usd.authoring import body, errors_of, joint, notes_of, open_text, warnings_of
from tests.usd.test_read_trees import bodies, chain
from warp_artic import Simulation, SolverSettings
from warp_artic.usd.read_stage import read_stage

WEAK = "float physics:breakForce = 50\nfloat physics:breakTorque = 7"


def loops_of(text):
    (tree,) = read_stage(open_text(text)).articulations
    return tree, tree.constraints


def test_a_ring_is_opened_where_it_breaks():
    """The joint that breaks is held beside the tree, though it comes first and is driven."""
    weak = joint("ab", "Revolute", "/a", "/b", content=WEAK, applied=("PhysicsDriveAPI:angular",))
    text = bodies("a", "b", "c") + joint("held", "Fixed", "", "/a") + weak + chain("b", "c") + chain("c", "a")
    tree, (loop,) = loops_of(text)
    assert loop.name == "/ab" and (loop.break_force, loop.break_torque) == (50.0, 7.0)
    assert {one.path for one in tree.joints} == {"/held", "/bc", "/ca"}
    assert not any("break" in text for text in warnings_of(open_text(text)))


def test_units_of_the_stage():
    """Centimetres and grams: a force in g cm/s^2 and a torque in g cm^2/s^2; one that is not authored is endless."""
    text = body("a") + joint("held", "Fixed", "", "/a", content="float physics:breakTorque = 7e7")
    stage = open_text(text)
    stage.SetMetadata("metersPerUnit", 0.01)
    stage.SetMetadata("kilogramsPerUnit", 0.001)
    (tree,) = read_stage(stage).articulations
    (loop,) = tree.constraints
    assert loop.break_torque == pytest.approx(7.0) and loop.break_force == math.inf
    assert loop.words["breaks at"] == "7 N m"


def test_held_by_what_breaks_a_body_floats():
    """A breakable joint to the world is a loop joint on a floating tree; beside one that holds it stays a loop."""
    tree, (loop,) = loops_of(bodies("a", "b") + joint("held", "Fixed", "", "/a", content=WEAK) + chain("a", "b"))
    assert tree.is_floating and loop.name == "/held" and (loop.link0, loop.link1) == (-1, 0)
    notes = notes_of(open_text(bodies("a") + joint("held", "Fixed", "", "/a", content=WEAK)))
    assert "/held: breaks where it transmits too much: it is held beside the trees" in notes
    text = bodies("a", "b") + joint("weak", "Fixed", "", "/a", content=WEAK) + chain("a", "b")
    tree, (loop,) = loops_of(text + joint("held", "Revolute", "", "/b"))
    assert not tree.is_floating and loop.name == "/weak"
    assert {one.path for one in tree.joints} == {"/held", "/ab"}


def test_a_root_on_a_joint_that_breaks():
    """The articulation of its name floats."""
    weak = joint("held", "Fixed", "", "/b", content=WEAK, applied=("PhysicsArticulationRootAPI",))
    tree, (loop,) = loops_of(bodies("a", "b") + weak + chain("a", "b"))
    assert (tree.path, tree.is_floating) == ("/held", True) and loop.name == "/held"
    assert tree.inbound[1] is None and not any(
        "no effect" in text for text in warnings_of(open_text(bodies("a", "b") + weak))
    )


def test_what_never_breaks_is_a_branch():
    """Infinity, or the largest number of a host, is no load."""
    for value in ("inf", "3.4028235e38"):
        tree, found = loops_of(
            body("a") + joint("held", "Fixed", "", "/a", content=f"float physics:breakForce = {value}")
        )
        assert not found and not tree.is_floating


def test_a_bridge_between_bodies():
    """A joint that alone joins two bodies is between two floating trees, which are one mechanism."""
    stage = open_text(bodies("a", "b") + joint("ab", "Revolute", "/a", "/b", content=WEAK))
    first, second = read_stage(stage).articulations
    (loop,) = first.constraints
    assert first.is_floating and second.is_floating and not second.constraints
    assert (loop.name, loop.articulation1, loop.break_force) == ("/ab", "/b", 50.0)
    assert not any("break" in text for text in warnings_of(stage))


def test_a_breaking_joint_may_be_an_articulation_root():
    """Of both trees that it joins, each of which starts at its own body."""
    weak = joint("bc", "Revolute", "/b", "/c", content=WEAK, applied=("PhysicsArticulationRootAPI",))
    stage = open_text(bodies("a", "b", "c", "d") + chain("a", "b") + weak + chain("c", "d"))
    first, second = read_stage(stage).articulations
    assert [tree.links[tree.inbound.index(None)].path for tree in (first, second)] == ["/b", "/c"]
    (loop,) = first.constraints
    assert loop.name.endswith("/bc") and loop.break_force == 50.0


def test_a_bridge_breaks():
    """A beam that hangs on a joint between two articulations falls once that has broken; the recording has both."""
    held = body("a") + body("b") + joint("held", "Fixed", "", "/a")
    scene = read_stage(open_text(held + joint("ab", "Fixed", "/a", "/b", content="float physics:breakForce = 1")))
    simulation = Simulation(scene, settings=SolverSettings(dt=1.0 / 240.0))
    assert simulation.loop_names == ("/ab",)
    recording = simulation.record(24, forces=True)
    (event,) = simulation.broken_loops()
    assert event.joint == "/ab" and event.step == 1 and event.force > 1.0
    np.testing.assert_array_equal(recording.loop_broken[:, 0, 0], np.arange(25) > 0)
    moved = np.abs(np.diff(recording.link_pose[[0, -1], 0, :, :3], axis=0)).max(axis=(0, 2))
    assert moved[recording.link_names.index("/a")] < 1e-5 < 1e-3 < moved[recording.link_names.index("/b")]


@pytest.mark.parametrize("value", ["0", "-3"])
def test_what_is_not_allowed(value):
    """Where it is, what it is, and what it must be."""
    text = body("a") + joint("held", "Fixed", "", "/a", content=f"float physics:breakForce = {value}")
    (error,) = errors_of(open_text(text))
    assert error.startswith("/held.physics:breakForce: is ") and "must be positive" in error


def oracle(**settings):
    """The ball that swings from a joint of 39.24 N."""
    options = {"dt": 1.0 / 240.0} | settings
    return Simulation(read_stage(DATA / "stages" / "loop_breakable.usda"), settings=SolverSettings(**options))


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_it_breaks_when_physx_does(precision):
    """To a step, and in the step in which the tension of a ball that swings down from the horizontal is 39.24 N."""
    with np.load(DATA / "loop_breakable.npz") as content:
        recorded = [int(np.argmax(np.abs(np.diff(v) * 240.0 + 9.81) < 0.02)) for v in content.values()]
    simulation = oracle(precision=precision)
    recording = simulation.record(120, forces=True)
    (event,) = simulation.broken_loops()
    assert all(abs(event.step - step) <= 1 for step in recorded)
    v = recording.link_velocity[:, 0, recording.link_names.index("/World/Robot/ball"), 2].astype(float)
    assert int(np.argmax(np.abs(np.diff(v) * 240.0 + 9.81) < 0.02)) == event.step
    load = np.linalg.norm(recording.loop_force[: event.step + 1, 0, 0, :3].astype(float), axis=1)
    assert load[-2] <= 39.24 < load[-1]
