"""Capsules and cylinders that lie or stand stay as they are."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, capsule, cylinder, turn
from tests.contacts.motion import PRECISIONS, simulated

LYING = turn((0, 1, 0), 0.5 * np.pi)
CASES = {
    "capsule lying": (capsule("it", 0.05, 0.2, (0, 0, 0.05), quaternion=LYING), 0.05),
    "cylinder lying": (cylinder("it", 0.05, 0.2, (0, 0, 0.05), quaternion=LYING), 0.05),
    "cylinder standing": (cylinder("it", 0.05, 0.2, (0, 0, 0.2)), 0.2),
    "flat box": (box("it", (0.3, 0.2, 0.01), (0, 0, 0.01)), 0.01),
}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("case", CASES)
def test_it_stays(case, precision):
    """For 10 s: at its height, unturned, at rest."""
    solid, height = CASES[case]
    motion = simulated(ContactScene(solids=[solid]), 10.0, every=240, precision=precision)
    np.testing.assert_allclose(motion.place("it")[-1], [0, 0, height], atol=2e-5)
    assert motion.turned("it")[-1] < 1e-4
    assert motion.largest_speed[-1] < 5e-5


@pytest.mark.parametrize("case", CASES)
def test_it_lands_flat(case):
    """Dropped level from 5 cm it does not turn, and comes to rest."""
    solid, height = CASES[case]
    dropped = type(solid)(**vars(solid) | {"position": (0.0, 0.0, height + 0.05)})
    motion = simulated(ContactScene(solids=[dropped]), 1.0)
    assert motion.place("it")[-1, 2] == pytest.approx(height, abs=2e-5)
    assert motion.turned("it").max() < 1e-3
    assert motion.largest_speed[-1] < 1e-5


def test_leaning_cylinder_falls_over_or_back():
    """Leaning less than the corner below its centre it comes back to stand, leaning more it falls on its side."""
    edge = np.arctan(0.05 / 0.1)
    for angle, stands in ((0.8 * edge, True), (1.2 * edge, False)):
        height = 0.1 * np.cos(angle) + 0.05 * np.sin(angle)
        solid = cylinder("it", 0.05, 0.1, (0, 0, height), quaternion=turn((0, 1, 0), float(angle)))
        motion = simulated(ContactScene(solids=[solid], friction=0.8), 2.0)
        assert abs(motion.axis("it", 2)[-1, 2]) == pytest.approx(1.0 if stands else 0.0, abs=1e-3)
