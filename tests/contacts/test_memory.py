"""What contacts remember goes along: snapshots, checkpoints, sleep, and edits in the middle of a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import PRECISIONS, simulation
from tests.usd.authoring import open_text
from warp_artic.constraints import contact_pair
from warp_artic.mechanisms import work_space
from warp_artic.sim.revise import revise

PARTS = ("root_pose", "root_velocity", "contact_impulse", "contact_impact")
ROLLS = {"velocity": (1.0, 0.3, 0.0), "turning": (0.0, 2.0, 1.0)}
SCENE = ContactScene(
    solids=(
        box("lower", 0.1, (0, 0, 0.1), mass=2.0),
        box("upper", 0.1, (0.02, 0.01, 0.3), velocity=(0.3, 0, 0)),
        sphere("ball", 0.1, (-0.5, 0, 0.15), **ROLLS),
    )
)
"""A ball that lands and rolls into two boxes, of which one slides on the other."""


def state_of(one: wa.Simulation) -> list[np.ndarray]:
    """All that steps go on from."""
    return [getattr(one.state, name).numpy().copy() for name in PARTS]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_snapshots_and_checkpoints_go_on_bitwise(precision, tmp_path):
    """In the middle of impacts and of rest: the same steps again give the same, here and in another simulation."""
    one = simulation(SCENE, precision=precision, environments=3)
    one.step(40)
    start = one.snapshot()
    one.save(tmp_path / "start.npz")
    memory = state_of(one)
    assert memory[2].any()
    one.step(150)
    ends = state_of(one)
    one.apply(start)
    for before, after in zip(memory, state_of(one)):
        np.testing.assert_array_equal(before, after)
    one.step(150)
    other = simulation(SCENE, precision=precision, environments=3)
    other.load(tmp_path / "start.npz")
    other.step(150)
    for first, second, third in zip(ends, state_of(one), state_of(other)):
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(first, third)


def test_snapshots_of_an_environment_go_on_in_others():
    """Bitwise as in its own, whatever the others have done before."""
    one = simulation(SCENE, environments=3)
    one.set_state(root_velocity=np.zeros((3, 6)), environments=[1])
    one.step(60)
    one.apply(one.snapshot(environments=[0]), environments=[1, 2])
    one.step(60)
    for values in state_of(one):
        np.testing.assert_array_equal(values[..., 1], values[..., 0])
        np.testing.assert_array_equal(values[..., 2], values[..., 0])


def test_a_state_that_is_set_has_no_contacts_of_before():
    """Positions that are written begin anew: no impulse is remembered, as at the start."""
    one = simulation(SCENE)
    one.step(60)
    assert one.state.contact_impulse.numpy().any()
    one.reset()
    assert not one.state.contact_impulse.numpy().any()
    first = simulation(SCENE)
    one.step(30)
    first.step(30)
    for again, once in zip(state_of(one), state_of(first)):
        np.testing.assert_array_equal(again, once)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_box_at_rest_sleeps_until_it_is_pushed(precision):
    """On the ground it stays bitwise, with its contacts; a push wakes it, and it slides to rest and sleeps again."""
    scene = ContactScene(solids=(box("box", 0.1, (0, 0, 0.1), mass=2.0),), friction=0.3)
    one = simulation(scene, precision=precision, sleep_after=0.2, environments=2)
    one.step(72)
    assert one.asleep().all()
    before = state_of(one)
    one.step(240)
    for old, new in zip(before, state_of(one)):
        np.testing.assert_array_equal(old, new)
    np.testing.assert_allclose(one.contact_force_on("/World/box")[:, 2], 2.0 * 9.81, rtol=1e-3)
    velocity = np.zeros((2, 6))
    velocity[1, 0] = 1.0
    one.set_state(root_velocity=velocity[1:], environments=[1])
    one.step(12)
    assert one.asleep().ravel().tolist() == [True, False]
    one.step(228)
    assert one.asleep().all()
    way = one.state.link_pose.numpy()[0, 0]
    np.testing.assert_allclose(way, [before[0][0, 0, 0], 1.0 / (2.0 * 0.3 * 9.81)], rtol=2e-3, atol=1e-6)


def test_what_lands_on_a_sleeper_wakes_it():
    """A ball falls on a sleeping box: they are one mechanism, which does not sleep while the ball moves."""
    scene = ContactScene(solids=(box("box", 0.1, (0, 0, 0.1), mass=2.0), sphere("ball", 0.1, (0, 0, 1.3))))
    one = simulation(scene, sleep_after=0.1)
    one.step(48)
    assert not one.asleep().any()
    one.step(192)
    assert one.asleep().all()
    assert one.contact_force_on("/World/box", by="/World/ball")[0, 2] == pytest.approx(-9.81, rel=1e-3)


def test_edits_of_numbers_keep_the_run():
    """Less friction while a box rests on a slope: the same simulation goes on, and the box slides."""
    tilt = np.arctan(0.3)
    gravity = tuple((9.81 * np.array([np.sin(tilt), 0.0, -np.cos(tilt)])).tolist())
    scene = ContactScene(solids=(box("box", 0.1, (0, 0, 0.1)),), friction=0.5, gravity=gravity)
    one = simulation(scene)
    one.step(120)
    resting = one.state.link_pose.numpy()[0, 0, 0]
    settings = one.settings
    assert revise(one, wa.read_stage(open_text(replace(scene, friction=0.1).usd)), settings) is one
    one.step(120)
    slid = one.state.link_pose.numpy()[0, 0, 0] - resting
    acceleration = 9.81 * (np.sin(tilt) - 0.1 * np.cos(tilt))
    assert slid == pytest.approx(0.5 * acceleration * 0.5**2, rel=2e-2)


def test_what_comes_into_a_run_is_touched():
    """A step is put in the way of a ball that rolls, and a box comes to the scene: all else goes on."""
    rolling = sphere("ball", 0.1, (0, 0, 0.1), velocity=(1.0, 0, 0), turning=(0, 10.0, 0))
    scene = ContactScene(solids=(rolling,))
    one = simulation(scene)
    one.step(120)
    before = state_of(one)
    more = (rolling, box("wall", 0.1, (1.2, 0, 0.1), mass=0.0), box("box", 0.1, (0, 2, 0.1)))
    made = revise(one, wa.read_stage(open_text(replace(scene, solids=more).usd)), one.settings)
    assert made is not one
    ball = made.link_names.index("/World/ball")
    np.testing.assert_array_equal(made.state.link_pose.numpy()[ball, :3], before[0][0, :3])
    assert made.contact_names != one.contact_names
    force = made.record(240, forces=True).contact_force_on("/World/ball", by="/World/wall")
    assert force[:, 0, 0].min() < -1.0
    place = made.state.link_pose.numpy()[:, :3, 0]
    assert place[ball, 0] <= 1.0 + 1e-4
    np.testing.assert_allclose(place[made.link_names.index("/World/box")], (0, 2, 0.1), atol=1e-6)


def test_a_collider_that_is_moved_is_touched_where_it_is():
    """The shape of a box is lowered in its body: the body rises to rest on it, and the simulation is the same."""
    scene = ContactScene(solids=(box("box", 0.1, (0, 0, 0.1)),))
    one = simulation(scene)
    one.step(60)
    edited = open_text(scene.usd)
    cube = edited.GetPrimAtPath("/World/box/shape")
    cube.GetAttribute("xformOp:scale").Set((0.2, 0.2, 0.22))
    made = revise(one, wa.read_stage(edited), one.settings)
    made.step(240)
    assert made.state.link_pose.numpy()[0, 2, 0] == pytest.approx(0.11, abs=1e-5)


def test_points_without_room_are_told(monkeypatch):
    """Where more points touch than there is room for, the state says which, and without that it says none."""
    boxes = tuple(box(f"box{number}", 0.1, (0.5 * number, 0, 0.1)) for number in range(3))
    scene = ContactScene(solids=(*boxes, box("lid", (0.7, 0.1, 0.05), (0.5, 0, 0.25))))
    roomy = simulation(scene)
    roomy.step(2)
    assert not roomy.state.contact_crowded.numpy().any()
    for module in (contact_pair, work_space):
        monkeypatch.setattr(module, "MOST_POINTS", 8)
    crowded = simulation(scene)
    crowded.step(2)
    left = crowded.state.contact_crowded.numpy()[..., 0] > 0.0
    touching = np.linalg.norm(roomy.state.contact_impulse.numpy()[..., 0].reshape(left.size, 3), axis=1) > 0.0
    assert left.any() and touching[left.ravel()].all()
    assert touching.sum() - left.sum() <= 8
