"""Piles come to rest, and stay there."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box
from tests.islands.crowds import crowd

RATE = 240
EDGE, LAYERS, SIZE = 3, 10, 0.1


def columns(seed: int) -> ContactScene:
    """Cubes that fall 3 cm onto each other in columns, each a little aside."""
    rng = np.random.default_rng(seed)
    solids = []
    for layer in range(LAYERS):
        for column in range(EDGE * EDGE):
            x, y = 0.13 * np.array((column % EDGE, column // EDGE)) + rng.uniform(-0.02, 0.02, 2)
            solids.append(box(f"box{len(solids)}", SIZE / 2.0, (x, y, SIZE + 0.13 * layer)))
    return ContactScene(solids=solids, friction=0.8)


@pytest.mark.parametrize("seed, precision", [(0, "float32"), (1, "float64")])
def test_columns_of_boxes_come_to_rest(seed, precision):
    """Edges that are nearly parallel, and corners that are known by another number, had them sway for ever."""
    one = crowd(columns(seed), precision=precision, dt=1 / RATE)
    count = EDGE * EDGE * LAYERS
    one.step(4 * RATE)
    start = one.state.link_pose.numpy()[:count, :3, 0].copy()
    speeds = []
    for _ in range(RATE):
        one.step()
        speeds.append(np.linalg.norm(one.state.link_velocity.numpy()[:count, :3, 0], axis=1).max())
    assert max(speeds) < 1e-4
    drift = np.abs(one.state.link_pose.numpy()[:count, :3, 0] - start).max()
    assert drift < (1e-6 if precision == "float64" else 5e-5)
    overlaps = [contact.gap for contact in one.contacts()]
    assert min(overlaps) > -1e-3 * SIZE
