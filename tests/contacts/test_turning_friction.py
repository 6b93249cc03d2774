"""Torsional and rolling friction stop what spins and rolls when closed forms say, and hold below their bounds."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import PRECISIONS, simulated

G = 9.81
RADIUS = 0.1


@pytest.mark.parametrize("solver, precision", [("direct", "float64"), ("direct", "float32"), ("pgs", "float64")])
def test_a_spinning_ball_stops(solver, precision):
    """With the deceleration r m g / I, and then it stays."""
    ball = sphere("ball", RADIUS, (0, 0, RADIUS), turning=(0, 0, 10.0), mass=2.0)
    motion = simulated(ContactScene(solids=[ball], torsional_friction=0.005), 1.5, solver=solver, precision=precision)
    deceleration = 0.005 * G / (0.4 * RADIUS**2)
    spin = motion.turning("ball")[:, 2]
    np.testing.assert_allclose(spin, np.maximum(10.0 - deceleration * motion.time, 0.0), atol=0.06)
    assert 10.0 / deceleration == pytest.approx(motion.time[np.argmax(spin < 1e-3)], abs=2.1 / 240)
    assert np.abs(spin[motion.time > 1.0]).max() < 1e-5
    assert np.abs(motion.place("ball") - (0, 0, RADIUS)).max() < 1e-5


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_a_spinning_ball_bounces(scale, solver):
    """An impact takes r m (1 + e) u / I of its spin, at any time step, in any unit of length, and flight nothing."""
    radius, height, length = scale * RADIUS, 0.4 * scale, 0.005 * scale
    ball = sphere("ball", radius, (0, 0, radius + height), turning=(0, 0, 20.0))
    scene = ContactScene(solids=[ball], restitution=0.5, torsional_friction=length, gravity=(0, 0, -G * scale))
    left = 20.0 - length * 1.5 * np.sqrt(2.0 * G * scale * height) / (0.4 * radius**2)
    for rate in (60, 240, 960):
        motion = simulated(scene, 0.5, solver=solver, dt=1.0 / rate)
        spin = motion.turning("ball")[:, 2]
        assert spin[-1] == pytest.approx(left, rel=5e-4)
        assert len(np.unique(np.round(spin, 6))) == 2


def test_a_spinning_ball_lands():
    """Without a bounce it takes r m u / I at once, and r m g / I after it."""
    ball = sphere("ball", RADIUS, (0, 0, 0.4 + RADIUS), turning=(0, 0, 30.0), mass=2.0)
    motion = simulated(ContactScene(solids=[ball], torsional_friction=0.005), 0.6)
    inertia, fall = 0.4 * RADIUS**2, np.sqrt(0.8 / G)
    wanted = 30.0 - 0.005 * (np.sqrt(0.8 * G) + G * (motion.time - fall)) / inertia
    lies = motion.time > fall + 1.0 / 240.0
    np.testing.assert_allclose(motion.turning("ball")[lies, 2], wanted[lies], atol=0.005 * G / inertia / 240.0)


@pytest.mark.parametrize("way", [0.0, 0.7])
def test_a_rolling_ball_stops(way):
    """With the deceleration r g / (1.4 R), whatever way it rolls, and straight."""
    direction = np.array([np.cos(way), np.sin(way), 0.0])
    across = np.array([-np.sin(way), np.cos(way), 0.0])
    ball = sphere("ball", RADIUS, (0, 0, RADIUS), velocity=tuple(0.5 * direction), turning=tuple(5.0 * across))
    motion = simulated(ContactScene(solids=[ball], rolling_friction=0.01), 1.5)
    deceleration = 0.01 * G / (1.4 * RADIUS)
    speed = motion.velocity("ball") @ direction
    np.testing.assert_allclose(speed, np.maximum(0.5 - deceleration * motion.time, 0.0), atol=5e-3)
    assert motion.place("ball")[-1] @ direction == pytest.approx(0.5 * 0.5**2 / deceleration, rel=2e-3)
    assert np.abs(motion.place("ball") @ across).max() < 1e-4
    assert np.abs(speed[motion.time > 1.0]).max() < 1e-5


@pytest.mark.parametrize("tangent, rolls", [(0.09, False), (0.11, True)])
def test_a_ball_on_a_slope(tangent, rolls):
    """It stays where R tan is below the length of rolling friction, and rolls with what is left above."""
    angle = float(np.arctan(tangent))
    gravity = (G * np.sin(angle), 0.0, -G * np.cos(angle))
    ball = sphere("ball", RADIUS, (0, 0, RADIUS))
    motion = simulated(ContactScene(solids=[ball], rolling_friction=0.01, gravity=gravity), 2.0)
    wanted = (gravity[0] + 0.1 * gravity[2]) / 1.4 if rolls else 0.0
    steady = motion.time > 0.2
    found = np.polyfit(motion.time[steady], motion.velocity("ball")[steady, 0], 1)[0]
    assert found == pytest.approx(wanted, rel=2e-3, abs=1e-4)


def test_as_in_mujoco():
    """A ball that rolls, and one that spins, stop as there, where contacts give way a little."""
    mujoco = pytest.importorskip("mujoco")
    ball = sphere("ball", RADIUS, (0, 0, RADIUS), velocity=(0.6, 0, 0), turning=(0, 6.0, 0))
    scene = ContactScene(solids=[ball], rolling_friction=0.008)
    model = mujoco.MjModel.from_xml_string(scene.mjcf(1.0 / 960.0))
    data = mujoco.MjData(model)
    data.qvel[:] = (0.6, 0, 0, 0, 6.0, 0.0)
    mujoco.mj_step(model, data, 1440)
    motion = simulated(scene, 1.5)
    np.testing.assert_allclose(motion.place("ball")[-1, :2], data.qpos[:2], rtol=3e-2, atol=2e-3)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_box_turns_on_a_point(precision):
    """A ball with a box on it: the torque of the upper contact is passed on to the lower one."""
    solids = [
        sphere("ball", RADIUS, (0, 0, RADIUS), mass=5.0),
        box("plate", (0.3, 0.3, 0.01), (0, 0, 2.0 * RADIUS + 0.01), turning=(0, 0, 2.0), mass=1.0),
    ]
    motion = simulated(
        ContactScene(solids=solids, torsional_friction=0.01, rolling_friction=0.05), 0.4, precision=precision
    )
    inertia = solids[1].inertia[2]
    deceleration = 0.01 * 1.0 * G / inertia
    np.testing.assert_allclose(
        motion.turning("plate")[:, 2], 2.0 - deceleration * motion.time, rtol=1e-2, atol=deceleration / 100.0
    )
    assert np.abs(motion.turning("ball")[:, 2]).max() < 1e-3
