"""Compliant contacts among many bodies: springs with dampers, and those that a step does not resolve."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.test_surfaces import G, compliant, simulated
from tests.islands.crowds import crowded


@pytest.mark.parametrize("damping", [0.0, 4.0])
def test_a_ball_swings(damping):
    """One that is let go above its rest position, and never leaves, swings as m x'' = - k x - d x' - m g."""
    mass, k = 1.0, 400.0
    sag = mass * G / k
    ball = sphere("ball", 0.1, (0, 0, 0.1 - 0.5 * sag), mass=mass)
    errors = []
    for dt in (1.0 / 120.0, 1.0 / 240.0):
        motion = simulated(crowded(ContactScene(solids=[ball])), 0.6, dt, restitution=compliant(k, damping))
        decay = 0.5 * damping / mass
        rate = np.sqrt(k / mass - decay**2)
        t = motion.time
        swing = np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
        errors.append(np.abs(motion.place("ball")[:, 2] - (0.1 - sag + 0.5 * sag * swing)).max() / sag)
    assert errors[1] < 4e-3 and errors[0] / errors[1] > 1.9


def test_a_ball_bounces():
    """A spring without a damper gives back what it takes."""
    mass, k, fall = 2.0, 1000.0, 0.3
    ball = sphere("ball", 0.1, (0, 0, 0.1 + fall), mass=mass)
    motion = simulated(crowded(ContactScene(solids=[ball])), 0.9, 1 / 240, restitution=compliant(k, 0.0))
    height = motion.place("ball")[:, 2] - 0.1
    sag = mass * G / k
    assert height.min() == pytest.approx(-sag - np.sqrt(sag**2 + 2.0 * sag * fall), rel=2e-3)
    assert height[height.argmin() :].max() == pytest.approx(fall, rel=1e-2)


@pytest.mark.parametrize("rate, lost", [(60, 3e-3), (120, 1e-3), (240, 5e-4)])
def test_bounces_on_a_spring_keep_their_height(rate, lost):
    """They rose by 1.3 % each at 120 Hz and by 0.7 % at 240 Hz, as positions were ahead of velocities."""
    ball = sphere("ball", 0.1, (0, 0, 0.3), mass=2.0)
    motion = simulated(crowded(ContactScene(solids=[ball])), 1.5, 1 / rate, restitution=compliant(1e3, 0.0))
    energy = 0.5 * (motion.velocity("ball") ** 2).sum(axis=1) + G * (motion.place("ball")[:, 2] - 0.1)
    flies = motion.place("ball")[:, 2] > 0.11
    np.testing.assert_allclose(energy[flies], 0.2 * G, rtol=lost)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 120])
@pytest.mark.parametrize("k", [1e4, 1e5, 3e5, 1e6, 1e7, 1e9])
def test_a_heavy_box_on_a_light_one_comes_to_rest(k, dt):
    """The lower one sinks in by a quarter of the weights over k, for its four corners, or by less than 0.2 mm."""
    solids = [box("lower", 0.1, (0, 0, 0.1), mass=1.0), box("upper", 0.1, (0, 0, 0.3), mass=5.0)]
    motion = simulated(crowded(ContactScene(solids=solids)), 3.0, dt, restitution=compliant(k, 2000.0))
    sunk = 0.1 - motion.place("lower")[-1, 2]
    assert motion.largest_speed[-60:].max() < 1e-6
    assert sunk == pytest.approx(0.25 * 6.0 * G / k, rel=1e-3, abs=2e-4)
