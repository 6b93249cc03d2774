"""Pyramids of cans, each on two others: friction that starts at the end of it goes over to points that can bear it."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, cylinder
from tests.contacts.motion import simulated

RADIUS, HALF = 0.033, 0.06


def cans(rows: int) -> list:
    """So many cans in the lowest row, 4 mm apart; one on each two of the row below."""
    return [
        cylinder(f"c{row}_{k}", RADIUS, HALF, (0.07 * (k - 0.5 * (rows - row)), 0.0, HALF * (2 * row + 1)), mass=0.29)
        for row in range(rows)
        for k in range(rows - row)
    ]


@pytest.mark.parametrize("rows, rate, precision", [(4, 60, "float32"), (4, 240, "float64"), (5, 60, "float32")])
def test_cans_come_to_rest(rows, rate, precision):
    """They went on creeping with up to 0.2 mm/s."""
    motion = simulated(ContactScene(solids=cans(rows)), 1.5, every=rate // 10, precision=precision, dt=1.0 / rate)
    names = [one.name for one in cans(rows)]
    late = motion.time > 1.0
    speeds = [np.abs(motion.velocity(name)[late]).max() for name in names]
    assert max(speeds) < (1e-5 if precision == "float32" else 1e-9)
    assert max(np.abs(motion.place(name)[-1] - motion.place(name)[0]).max() for name in names) < 1e-4
