"""The live view and the replay: what their controls do, and what is refused. The browser's side is viser's own."""

import json
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import warp_artic as wa
from warp_artic.cli.main import main
from warp_artic.looking.live import Live
from warp_artic.looking.replay import Replay
from warp_artic.usd.source import open_source

viser = pytest.importorskip("viser", reason="the extra `view` is not installed")


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch):
    """Relative paths start at the root."""
    monkeypatch.chdir(__file__.partition("/tests/")[0])


@pytest.fixture
def server():
    """On a free port of this machine."""
    found = viser.ViserServer("127.0.0.1", 18080, verbose=False)
    yield found
    found.stop()


@pytest.fixture
def hand(server):
    """The hand, live, with two environments, on hold."""
    source = open_source("samples/scenes/coupled_hand.usda")
    return Live(server, source, wa.Simulation(source.scene, environments=2))


def test_bodies_are_where_the_simulation_has_them(hand):
    """After steps, and at the start again after a reset."""
    start = [np.array(frame.position) for frame in hand.viewer.frames]
    hand.advance(40)
    recording = hand.simulation.record(0)
    for link, body in enumerate(hand.links):
        frame = hand.viewer.frames[body]
        assert np.array(frame.position) == pytest.approx(recording.link_pose[0, 0, link, :3], abs=1e-6)
        assert abs(frame.wxyz @ recording.link_pose[0, 0, link, [6, 3, 4, 5]]) == pytest.approx(1.0, abs=1e-5)
    moved = [np.array(frame.position) for frame in hand.viewer.frames]
    assert np.abs(np.array(moved) - start).max() > 0.01 and hand.clock.value == "0.167 s"
    hand.reset()
    assert np.array([frame.position for frame in hand.viewer.frames]) == pytest.approx(np.array(start), abs=1e-6)


def test_targets_move_joints(hand):
    """A slider's value is where the joint goes, in all environments."""
    number = hand.simulation.joint_names.index("/World/hand/wrist_deviation")
    hand.set_target(number, 0.2)
    hand.advance(480)
    position = hand.simulation.state.joint_position.numpy()[number]
    assert position == pytest.approx([0.2, 0.2], abs=0.02)


def test_a_link_that_is_pulled_follows(hand):
    """The point that is held goes towards the mouse, in the shown environment alone; let go, it goes back."""
    link = hand.simulation.link_names.index("/World/hand/forearm") + 1
    body = hand.links[link]
    hand.advance(240)
    before = hand.simulation.record(0).link_pose[0, :, link, :3]
    hand.pull(body, before[0].astype(float), before[0] + [0.3, 0.0, 0.3])
    assert hand.viewer.lines.get("pull") is None
    hand.advance(24)
    forces = hand.simulation.control.link_external_force.numpy()
    assert np.abs(forces[link, :, 0]).max() > 0.0 and not forces[:, :, 1].any()
    held = hand.viewer.lines["pull"].points[0]
    assert held[1] == pytest.approx(before[0] + [0.3, 0.0, 0.3], abs=1e-5)
    hand.pull(body, None, None)
    hand.advance(1)
    assert not hand.simulation.control.link_external_force.numpy().any()


BALL = """#usda 1.0
(
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)
def PhysicsScene "scene"
{
}
def Sphere "ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI"])
{
    double radius = 0.1
    float physics:mass = 2
    double3 xformOp:translate = (0.3, 0, 0.1)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Plane "ground" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{
    uniform token axis = "Z"
}
"""


def test_contact_forces_are_shown(server, tmp_path, monkeypatch):
    """Of a ball at rest: one at its lowest point, which carries its weight."""
    (tmp_path / "ball.usda").write_text(BALL)
    source = open_source(str(tmp_path / "ball.usda"))
    live, seen = Live(server, source, wa.Simulation(source.scene)), []
    monkeypatch.setattr(live.viewer, "_contacts", lambda given: seen.append(given) or (np.zeros((0, 2, 3)),) * 2)
    live.advance(240)
    places, forces = seen[-1]
    pushed = np.linalg.norm(forces, axis=1) > 1e-6
    np.testing.assert_allclose(np.abs(forces.sum(axis=0)), [0.0, 0.0, 2 * 9.81], atol=0.02)
    np.testing.assert_allclose(places[pushed], [[0.3, 0.0, 0.0]], atol=1e-3)


def test_the_other_environment_is_shown(hand):
    """The slider chooses whose poses are shown."""
    number = hand.simulation.joint_names.index("/World/hand/wrist_deviation")
    positions = np.zeros((2, len(hand.simulation.joint_names)))
    positions[1, number] = 0.3
    hand.simulation.set_state(joint_position=positions)
    hand.chosen.value = 1
    hand.advance(0)
    exact = hand.simulation.record(0).link_pose[0, 1, :, :3]
    shown = np.array([hand.viewer.frames[body].position for body in hand.links])
    assert shown == pytest.approx(exact, abs=1e-6)


def test_a_replay_shows_the_recording(server, tmp_path):
    """At the time of the slider, of the chosen environment."""
    path = str(tmp_path / "run.npz")
    words = ["--steps", "24", "--environments", "2", "--record", path]
    assert main(["simulate", "samples/scenes/pendulum.usda", *words]) == 0
    replay = Replay(server, open_source(path), None, 60.0)
    recording = wa.Recording.load(path)
    replay.clock.value = 0.1
    replay.redraw()
    body = replay.source.drawing.bodies.index(recording.link_names[0])
    assert np.array(replay.viewer.frames[body].position) == pytest.approx(recording.link_pose[24, 0, 0, :3], abs=1e-6)
    replay.choose(1)
    assert np.array(replay.viewer.frames[body].position) == pytest.approx(recording.link_pose[24, 1, 0, :3], abs=1e-6)
    replay.toggle()
    assert replay.is_playing and replay.clock.value == 0.0
    over = threading.Event()
    threading.Timer(1.0, over.set).start()
    replay.run(over.is_set)
    assert replay.clock.value == pytest.approx(0.1) and not replay.is_playing


def test_the_command_serves_for_a_while(capsys):
    """It says where, as an object for programs."""
    assert main(["view", "samples/scenes/pendulum.usda", "--seconds", "0.3", "--port", "18090", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["live"] and found["url"].startswith("http://localhost:")


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (["none.usda"], 1, "there is no such file"),
        (["samples/scenes/arm.usda", "--port", "70000"], 2, "port: 70000 is not a number from 0 to 65535"),
        (["samples/scenes/arm.usda", "--seconds", "-1"], 2, "seconds: -1 is not a time"),
    ],
)
def test_wrong_arguments_are_refused(words, code, sentence, capsys):
    """With a line that says what is allowed."""
    assert main(["view", *words]) == code
    assert sentence in capsys.readouterr().err


def test_without_viser_a_line_says_how_to_get_it(monkeypatch, capsys):
    """The name of the extra."""
    monkeypatch.setitem(sys.modules, "viser", None)
    assert main(["view", "samples/scenes/arm.usda"]) == 2
    assert "pip install 'warp-artic[view]'" in capsys.readouterr().err


def test_drags_reach_the_link(hand):
    """Start, update and end of a drag hold, move and let go the link under the mouse."""
    body, handle = hand.viewer.surfaces[0]
    (entry,) = handle._impl.drag_cb
    point = np.array(hand.viewer.frames[body].position)
    for phase, to in (("start", point + 0.1), ("update", point + 0.2)):
        entry.callback(SimpleNamespace(phase=phase, start_position=tuple(point), end_position=tuple(to)))
        assert hand.held[2] == pytest.approx(to)
    entry.callback(SimpleNamespace(phase="end", start_position=tuple(point), end_position=tuple(point)))
    assert hand.held is None
