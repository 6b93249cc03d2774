"""Cones stand, slide and roll as closed forms say."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, cone, turn
from tests.contacts.motion import PRECISIONS, simulated

G = 9.81


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_cone_stands_on_its_base_and_carries_a_plate(precision):
    """Base down it does not sink or turn, and a plate that it carries on its apex neither."""
    solids = [cone("cone", 0.1, 0.1, (0, 0, 0.1)), box("plate", (0.2, 0.2, 0.01), (0.0, 0.0, 0.21), mass=0.2)]
    motion = simulated(ContactScene(solids=solids), 1.0, precision=precision)
    for name, height in (("cone", 0.1), ("plate", 0.21)):
        assert np.abs(motion.place(name)[:, 2] - height).max() < 2e-6
        assert motion.turned(name).max() < 1e-4


@pytest.mark.parametrize("tangent", [0.49, 0.55])
def test_a_cone_on_a_slope(tangent):
    """On its base, flat enough not to tip over, it holds below the friction angle and slides as a block does above."""
    angle = float(np.arctan(tangent))
    gravity = (G * np.sin(angle), 0.0, -G * np.cos(angle))
    scene = ContactScene(solids=[cone("cone", 0.1, 0.05, (0, 0, 0.05))], friction=0.5, gravity=gravity)
    motion = simulated(scene, 1.0)
    wanted = 0.5 * max(G * (np.sin(angle) - 0.5 * np.cos(angle)), 0.0)
    assert motion.place("cone")[-1, 0] == pytest.approx(wanted, rel=2e-3, abs=1e-5)
    assert np.abs(motion.place("cone")[:, 2] - 0.05).max() < 1e-5


def test_a_cone_rolls_about_its_apex():
    """On its side, rolling without slipping, it goes round its apex at a steady rate W: w = - W cot(half angle)."""
    radius, height, rate = 0.05, 0.2, 1.5
    half = np.arctan2(radius, height)
    along = np.array([np.cos(half), 0.0, np.sin(half)])
    lying = turn((0, 1, 0), -(0.5 * np.pi + half))
    speed = 0.75 * height * np.cos(half) * rate
    solid = cone(
        "cone",
        radius,
        0.5 * height,
        0.5 * height * along,
        quaternion=lying,
        velocity=(0.0, speed, 0.0),
        turning=(-rate / np.tan(half), 0.0, 0.0),
    )
    motion = simulated(ContactScene(solids=[solid], friction=0.8), 2.0)
    round_it = np.unwrap(np.arctan2(*motion.place("cone").T[1::-1]))
    assert round_it[-1] == pytest.approx(rate * 2.0, rel=2e-3)
    apex = motion.place("cone") + 0.5 * height * motion.axis("cone", 2)
    assert np.abs(apex).max() < 1e-3
    spin = rate / np.tan(half)
    moment = 0.3 * (radius * np.cos(half)) ** 2 + 0.6 * (height**2 + 0.25 * radius**2) * np.sin(half) ** 2
    np.testing.assert_allclose(motion.kinetic[1:], 0.5 * moment * spin**2, rtol=5e-3)
