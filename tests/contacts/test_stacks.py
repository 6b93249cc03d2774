"""Stacks that stand: no sinking, no drift, no turn, whatever the masses."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box
from tests.contacts.motion import PRECISIONS, Motion, simulated

EDGE = 0.1


def stack(masses) -> ContactScene:
    """Cubes on each other, from below."""
    solids = [box(f"box{k}", 0.5 * EDGE, (0, 0, (k + 0.5) * EDGE), mass=float(mass)) for k, mass in enumerate(masses)]
    return ContactScene(solids=solids)


SLOWEST = {"float64": 1e-6, "float32": 2e-5}
"""What rounding may leave of velocities [m/s or rad/s]."""


def assert_stands(motion: Motion, count: int, precision: str = "float64") -> None:
    """Each contact is in by less than a thousandth of the size, nothing moves, turns or has drifted."""
    heights = np.array([motion.place(f"box{k}")[-1, 2] for k in range(count)])
    gaps = np.diff(heights, prepend=-0.5 * EDGE) - EDGE
    assert np.abs(gaps).max() <= 1e-3 * EDGE
    assert motion.largest_speed[-1] <= SLOWEST[precision]
    for k in range(count):
        assert np.hypot(*motion.place(f"box{k}")[-1, :2]) < 1e-5
        assert motion.turned(f"box{k}")[-1] < 1e-5


@pytest.mark.parametrize("precision", PRECISIONS)
def test_ten_boxes_stand_for_a_minute(precision):
    """Ten equal cubes, 60 s."""
    assert_stands(simulated(stack([1.0] * 10), 60.0, every=240, precision=precision), 10, precision)


@pytest.mark.parametrize(("ratio", "precision"), [(1e2, "float64"), (1e4, "float64"), (1e2, "float32")])
def test_heavy_box_stands_on_a_light_one(ratio, precision):
    """10 s. Ten thousand times as heavy in double precision only: rounding of impulses squeezes the light one out."""
    assert_stands(simulated(stack([1.0, ratio]), 10.0, every=240, precision=precision), 2, precision)


def test_heavy_box_stands_on_five_light_ones():
    """A hundred times as heavy as each."""
    assert_stands(simulated(stack([1.0] * 5 + [100.0]), 10.0, every=240), 6)


def test_growing_masses_stand():
    """Each three times as heavy as the one below."""
    assert_stands(simulated(stack(3.0 ** np.arange(6)), 10.0, every=240), 6)


def test_boxes_that_overlap_come_apart_slowly():
    """Two cubes started 1 cm in each other part with no more speed than the depenetration speed, and end at rest."""
    solids = [box("low", 0.05, (0, 0, 0.05)), box("high", 0.05, (0, 0, 0.14))]
    motion = simulated(ContactScene(solids=solids), 2.0)
    assert motion.largest_speed.max() <= 3.0
    assert motion.place("high")[-1, 2] == pytest.approx(0.15, abs=1e-4)
    assert motion.largest_speed[-1] <= 2e-5
