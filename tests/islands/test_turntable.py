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


@pytest.mark.parametrize("rate, creep", [(60, 1e-3), (240, 5e-5)])
@pytest.mark.parametrize("friction", [0.5, 0.36])
def test_a_box_stays_where_it_stands(friction, rate, creep):
    """A box that needs 0.33 of its weight as friction does not creep.

    Its corners were taken for points that turn against the table: it went outward with 1.4 mm/s at 60 Hz, and was
    thrown off where friction could hardly hold it.
    """
    table = moved(cylinder("table", 1.5, 0.05), lambda time: (0.0, 0.0, -0.05), seconds=6.0, turns=turned)
    load = [box("load", 0.05, (RADIUS, 0, 0.05))]
    scene = ContactScene(solids=load, friction=friction, joints=table, has_ground=False)
    motion = crowd_motion(scene, 6.0, precision="float64", dt=1 / rate)
    steady = (motion.time > 1.5) & (motion.time < 5.9)
    time, place = motion.time[steady], motion.place("load")[steady, :2]
    out, along = np.linalg.norm(place, axis=1), np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
    assert abs(np.polyfit(time, out, 1)[0]) < 0.2 * creep
    assert abs(np.polyfit(time, along - turned(time), 1)[0]) * RADIUS < creep
    assert np.abs(out - RADIUS).max() < 2 * creep
    assert motion.turning("load")[steady][-1, 2] == pytest.approx(SPEED, abs=1e-4)


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
