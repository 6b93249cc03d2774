"""What slides over a floor of boxes among many bodies does as on one box."""

import numpy as np
import pytest

from tests.contacts.test_level_floors import SLIDERS, SPEED, over_tiles
from tests.islands.crowds import crowd_motion


@pytest.mark.parametrize("name", ["box", "turned box", "upright cylinder", "ball"])
def test_slides_on_over_level_boxes(name):
    """It goes straight on, at 60 Hz too."""
    motion = crowd_motion(over_tiles(SLIDERS[name]), 2.0, dt=1 / 60)
    assert motion.place("slider")[:, 0] == pytest.approx(SPEED * motion.time, abs=5e-4)
    assert np.abs(motion.place("slider")[:, 2] - 0.05).max() < 2e-4
