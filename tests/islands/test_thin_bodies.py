"""Thin and small bodies on each other among many bodies: they sank into each other by half of their thickness."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, cylinder
from tests.islands.crowds import crowd_motion
from warp_artic.islands.point_law import RESTING_OVERLAP


def coin(name: str, z: float):
    return cylinder(name, 0.012, 0.001, (0, 0, z), mass=0.002)


def die(name: str, z: float):
    return box(name, 0.008, (0, 0, z), mass=0.008)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("body, half, count", [(coin, 0.001, 20), (die, 0.008, 12)])
@pytest.mark.parametrize("rate", [60, 240])
def test_stacks_stand(rate, body, half, count, precision):
    """No body is in the one below it by more than a share of its thickness, and none leaves its place."""
    stack = [body(f"b{k}", half * (2 * k + 1)) for k in range(count)]
    motion = crowd_motion(ContactScene(solids=stack), 4.0, every=rate // 10, precision=precision, dt=1.0 / rate)
    places = np.stack([motion.place(one.name) for one in stack], axis=1)[motion.time > 2.0]
    below = np.concatenate([np.full((len(places), 1), -half), places[:, :-1, 2]], axis=1)
    assert (2.0 * half - (places[:, :, 2] - below)).max() < 1.1 * RESTING_OVERLAP * half
    assert np.abs(places[:, :, :2]).max() < 0.1 * half
