"""A turntable among many bodies carries what stands or rolls on it, on a circle."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, cylinder, sphere
from tests.contacts.test_moved_bodies import moved
from tests.islands.crowds import crowd_motion

RADIUS, SPEED = 0.8, 2.0


def turned(time):
    """From rest with 2 rad/s^2, and after a second with 2 rad/s."""
    return np.where(time < 1.0, 0.5 * SPEED * time**2, SPEED * (time - 0.5))


@pytest.mark.parametrize("rate", [60, 240])
def test_a_box_stays_where_it_stands(rate):
    """It used to go outward with 45 mm/s at 60 Hz and 10 mm/s at 240 Hz."""
    table = moved(cylinder("table", 1.5, 0.05), lambda time: (0.0, 0.0, -0.05), seconds=4.0, turns=turned)
    scene = ContactScene(solids=[box("load", 0.05, (RADIUS, 0, 0.05))], joints=table, has_ground=False)
    motion = crowd_motion(scene, 3.0, precision="float64", dt=1 / rate)
    out = np.linalg.norm(motion.place("load")[:, :2], axis=1)
    steady = motion.time > 1.2
    assert np.ptp(out[steady]) < 6e-3
    assert motion.turning("load")[-1, 2] == pytest.approx(SPEED, abs=0.05)
    speed = np.linalg.norm(motion.velocity("load")[steady, :2], axis=1)
    np.testing.assert_allclose(speed, SPEED * out[steady], rtol=5e-3)


@pytest.mark.parametrize("precision, environments", [("float64", 1), ("float32", 8)])
@pytest.mark.parametrize("rate", [60, 240])
def test_a_ball_rolls_in_a_circle(rate, precision, environments):
    """Without slip it goes round with 2/7 of the spin of the table, wherever the middle of its circle is.

    The surface below it was taken for one that it goes along with: at 60 Hz its speed swayed by 1.4 %, and its way by
    17 mm.
    """
    radius, spin, speed, out = 0.1, 3.0, 0.6, 0.5
    table = moved(cylinder("table", 2.0, 0.05), lambda time: (0.0, 0.0, -0.05), seconds=3.0, turns=lambda t: spin * t)
    turning = (spin * out / radius, speed / radius, 0.0)
    ball = sphere("ball", radius, (out, 0.0, radius), velocity=(speed, 0.0, 0.0), turning=turning)
    scene = ContactScene(solids=[ball], friction=0.8, joints=table, has_ground=False)
    motion = crowd_motion(scene, 2.0, precision=precision, dt=1 / rate, environments=environments)
    rolls = motion.time > 0.1  # the table starts at once, which friction does not follow in every step
    v = motion.velocity("ball")[rolls, :2]
    turned = np.unwrap(np.arctan2(v[:, 1], v[:, 0]))
    assert np.polyfit(motion.time[rolls], turned, 1)[0] == pytest.approx(2.0 / 7.0 * spin, rel=1e-3)
    assert np.ptp(np.linalg.norm(v, axis=1)) < 1e-4 * speed
