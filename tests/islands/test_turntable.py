"""A turntable among many bodies carries what stands on it, on a circle."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, cylinder
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
