"""What falls flat among many bodies stays flat: all corners hit at once, and friction has nothing to do."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, cone, cylinder, turn
from tests.islands.crowds import crowd_motion

SPEED = 6.0
SOLIDS = {
    "box": lambda **options: box("solid", (0.1, 0.1, 0.15), **options),
    "cylinder": lambda **options: cylinder("solid", 0.1, 0.15, **options),
    "cone": lambda **options: cone("solid", 0.1, 0.15, **options),
}


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("turned, height", [(0.3, 0.44), (1.1, 0.5)])
@pytest.mark.parametrize("rate", [60, 240])
@pytest.mark.parametrize("kind", SOLIDS)
def test_it_lands_flat(kind, rate, turned, height, restitution):
    """On a box, turned about the vertical: it used to go off with 0.6 m/s and 5 rad/s, and bounced with 16 rad/s."""
    solid = SOLIDS[kind](
        position=(0.1, 0.2, 0.15 + height), quaternion=turn((0, 0, 1), turned), velocity=(0.0, 0.0, -SPEED)
    )
    floor = box("floor", (3.0, 3.0, 0.5), (0.0, 0.0, -0.5), mass=0.0)
    scene = ContactScene(solids=[solid, floor], restitution=restitution, has_ground=False)
    motion = crowd_motion(scene, 0.25, precision="float32", dt=1 / rate)
    assert np.abs(motion.turning("solid")).max() < 0.5
    assert np.abs(motion.velocity("solid")[:, :2]).max() < 0.05
    bounce = restitution * np.sqrt(SPEED**2 + 2.0 * 9.81 * height)
    assert motion.velocity("solid")[:, 2].max() == pytest.approx(bounce, abs=0.2)
