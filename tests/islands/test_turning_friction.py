"""Torsional and rolling friction among many bodies stop what spins and rolls when closed forms say."""

from dataclasses import replace

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import DT, PRECISIONS
from tests.islands.crowds import crowd, crowd_motion, momentum

G = 9.81
RADIUS = 0.1


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_spinning_ball_stops(precision):
    """With the deceleration r m g / I, and then it stays."""
    ball = sphere("ball", RADIUS, (0, 0, RADIUS), turning=(0, 0, 10.0), mass=2.0)
    motion = crowd_motion(ContactScene(solids=[ball], torsional_friction=0.005), 1.5, precision=precision)
    deceleration = 0.005 * G / (0.4 * RADIUS**2)
    spin = motion.turning("ball")[:, 2]
    np.testing.assert_allclose(spin, np.maximum(10.0 - deceleration * motion.time, 0.0), atol=0.15)
    assert 10.0 / deceleration == pytest.approx(motion.time[np.argmax(spin < 1e-3)], abs=3.1 * DT)
    assert np.abs(spin[motion.time > 1.0]).max() < 1e-4


@pytest.mark.parametrize("way", [0.0, 0.7])
def test_a_rolling_ball_stops(way):
    """With the deceleration r g / (1.4 R), whatever way it rolls, and straight."""
    direction = np.array([np.cos(way), np.sin(way), 0.0])
    across = np.array([-np.sin(way), np.cos(way), 0.0])
    ball = sphere("ball", RADIUS, (0, 0, RADIUS), velocity=tuple(0.5 * direction), turning=tuple(5.0 * across))
    motion = crowd_motion(ContactScene(solids=[ball], rolling_friction=0.01), 1.5)
    deceleration = 0.01 * G / (1.4 * RADIUS)
    speed = motion.velocity("ball") @ direction
    np.testing.assert_allclose(speed, np.maximum(0.5 - deceleration * motion.time, 0.0), atol=1e-2)
    assert np.abs(motion.place("ball") @ across).max() < 1e-4
    assert np.abs(speed[motion.time > 1.0]).max() < 1e-4


@pytest.mark.parametrize("tangent, rolls", [(0.09, False), (0.11, True)])
def test_a_ball_on_a_slope(tangent, rolls):
    """It stays where R tan is below the length of rolling friction, and rolls with what is left above."""
    angle = float(np.arctan(tangent))
    gravity = (G * np.sin(angle), 0.0, -G * np.cos(angle))
    ball = sphere("ball", RADIUS, (0, 0, RADIUS))
    motion = crowd_motion(ContactScene(solids=[ball], rolling_friction=0.01, gravity=gravity), 2.0)
    wanted = (gravity[0] + 0.1 * gravity[2]) / 1.4 if rolls else 0.0
    steady = motion.time > 0.2
    found = np.polyfit(motion.time[steady], motion.velocity("ball")[steady, 0], 1)[0]
    assert found == pytest.approx(wanted, rel=1e-2, abs=2e-4)


def test_the_torque_is_passed_on():
    """A plate that turns on a ball is stopped by the upper contact, and the ball is held by the lower one."""
    solids = [
        sphere("ball", RADIUS, (0, 0, RADIUS), mass=5.0),
        box("plate", (0.3, 0.3, 0.01), (0, 0, 2.0 * RADIUS + 0.01), turning=(0, 0, 2.0), mass=1.0),
    ]
    motion = crowd_motion(ContactScene(solids=solids, torsional_friction=0.01, rolling_friction=0.05), 0.4)
    deceleration = 0.01 * 1.0 * G / solids[1].inertia[2]
    np.testing.assert_allclose(
        motion.turning("plate")[:, 2], 2.0 - deceleration * motion.time, rtol=3e-2, atol=deceleration / 50.0
    )
    assert np.abs(motion.turning("ball")[:, 2]).max() < 1e-2


def test_it_has_an_opposite():
    """Two balls that meet in the air while they spin keep momentum, and angular momentum about as well as without it:
    to first order in the time step."""
    solids = [
        sphere("one", RADIUS, (0, 0, 0), velocity=(0.4, 0, 0), turning=(9.0, 1.0, 0), mass=1.0),
        sphere("other", RADIUS, (0.21, 0, 0), velocity=(-0.4, 0, 0), turning=(-2.0, 3.0, 1.0), mass=2.0),
    ]
    frictions = {"torsional_friction": 0.05, "rolling_friction": 0.05}
    scene = ContactScene(solids=solids, gravity=(0.0, 0.0, 0.0), has_ground=False, **frictions)
    motion = crowd_motion(scene, 0.2, dt=1.0 / 960.0)
    linear, angular = momentum(motion, solids)
    assert np.abs(motion.turning("one")[-1] - (9.0, 1.0, 0.0)).max() > 0.5
    np.testing.assert_allclose(linear, np.broadcast_to(linear[0], linear.shape), atol=1e-9)
    smooth = crowd_motion(replace(scene, torsional_friction=0.0, rolling_friction=0.0), 0.2, dt=1.0 / 960.0)
    lost, own = (np.abs(one - one[0]).max() for one in (momentum(smooth, solids)[1], angular))
    assert own <= 1.5 * lost
    assert lost < 3e-3 * np.abs(angular).max()


def test_snapshots_go_on_bitwise():
    """With the impulses of turning that contacts remember."""
    solids = [sphere("ball", RADIUS, (0, 0, RADIUS), velocity=(0.5, 0, 0), turning=(0, 5.0, 8.0))]
    scene = ContactScene(solids=solids, torsional_friction=0.01, rolling_friction=0.01)
    one = crowd(scene, environments=2)
    one.step(30)
    kept = one.snapshot()
    one.step(30)
    found = one.state.link_velocity.numpy().copy()
    one.apply(kept)
    one.step(30)
    np.testing.assert_array_equal(one.state.link_velocity.numpy(), found)
