"""Blocks on slopes: below the cone of friction they hold for good, above it they slide by Coulomb's law."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, turn
from tests.contacts.motion import PRECISIONS, simulated

G = 9.81


def on_slope(tangent: float, friction: float = 0.5) -> ContactScene:
    """A cube on the ground, with gravity as on a slope that goes down along X."""
    angle = np.arctan(tangent)
    gravity = (float(G * np.sin(angle)), 0.0, float(-G * np.cos(angle)))
    return ContactScene(solids=[box("block", 0.05, (0, 0, 0.05))], friction=friction, gravity=gravity)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_block_below_the_cone_holds_for_a_minute(precision):
    """At 0.499 of mu 0.5 it creeps at most 0.1 mm in 60 s, does not sink, and does not turn."""
    motion = simulated(on_slope(0.499), 60.0, every=240, precision=precision)
    place = motion.place("block")
    assert np.abs(place[-1] - place[0]).max() <= 1e-4
    assert motion.turned("block")[-1] < 1e-4
    assert motion.largest_speed[-1] < 1e-5


@pytest.mark.parametrize("precision, tangent", [("float64", 0.501), ("float64", 0.8), ("float32", 0.55)])
def test_block_above_the_cone_slides(precision, tangent):
    """With g (sin - mu cos) to a thousandth, without turning."""
    scene = on_slope(tangent)
    motion = simulated(scene, 2.0, precision=precision)
    wanted = scene.gravity[0] + 0.5 * scene.gravity[2]
    steady = motion.time > 0.1
    found = np.polyfit(motion.time[steady], motion.velocity("block")[steady, 0], 1)[0]
    assert found == pytest.approx(wanted, rel=1e-3)
    assert motion.turned("block").max() < 1e-3
    assert np.abs(motion.place("block")[:, 2] - 0.05).max() < 1e-4


@pytest.mark.parametrize("tangent", [0.49, 0.55])
def test_block_on_a_turned_box(tangent):
    """On a slope that is a box among the colliders it does as on a plane under turned gravity."""
    angle = float(np.arctan(tangent))
    along, up = np.array([np.cos(angle), 0, -np.sin(angle)]), np.array([np.sin(angle), 0, np.cos(angle)])
    tilt = turn((0, 1, 0), angle)
    slope = box("slope", (2.0, 1.0, 0.2), -0.2 * up, quaternion=tilt, mass=0.0)
    block = box("block", 0.05, 0.05 * up, quaternion=tilt)
    motion = simulated(ContactScene(solids=[slope, block], has_ground=False), 1.0)
    gone = motion.place("block") @ along
    wanted = 0.5 * max(G * (np.sin(angle) - 0.5 * np.cos(angle)), 0.0)
    assert gone[-1] - gone[0] == pytest.approx(wanted, rel=2e-3, abs=1e-5)


def test_friction_turns_against_the_slip():
    """A block thrown across a slope at the cone comes to slide straight down: friction is a circle, not a pyramid.

    There |v| + v_x stays, of the velocity v along the slope, so that at last half of the speed is left, downwards.
    """
    solids = [box("block", 0.05, (0, 0, 0.05), velocity=(0.0, 2.0, 0.0))]
    angle = np.arctan(0.5)
    gravity = (float(G * np.sin(angle)), 0.0, float(-G * np.cos(angle)))
    motion = simulated(ContactScene(solids=solids, friction=0.5, gravity=gravity), 3.0)
    v = motion.velocity("block")
    speed = np.hypot(v[:, 0], v[:, 1])
    np.testing.assert_allclose(speed[5:] + v[5:, 0], 2.0, rtol=5e-3)
    assert v[-1, 0] == pytest.approx(1.0, rel=5e-3) and abs(v[-1, 1]) < 0.02
