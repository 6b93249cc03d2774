"""Heavy bodies on light ones among many bodies: light ones sank in, swayed and were thrown out."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.islands.crowds import crowd


def pair(ratio: float) -> list:
    """A cube of 1 kg and 1 m below one that is so much heavier."""
    return [box("light", 0.5, (0, 0, 0.5)), box("heavy", 0.5, (0, 0, 1.5), mass=ratio)]


def column(ratio: float) -> list:
    """Nine cubes of 1 kg and 0.2 m below one that is so much heavier."""
    return [box(f"b{k}", 0.1, (0, 0, 0.1 + 0.2 * k), mass=1.0 if k < 9 else ratio) for k in range(10)]


def plate() -> list:
    """A heavy ball on a plate on a small light cube."""
    return [
        box("cube", 0.1, (0, 0, 0.1), mass=0.1),
        box("plate", (0.5, 0.5, 0.02), (0, 0, 0.22), mass=5.0),
        sphere("ball", 0.1, (0, 0, 0.34), mass=20.0),
    ]


@pytest.mark.parametrize(
    "solids, rate, precision, sinks, speed",
    [
        (pair(1e2), 60, "float32", 1.3e-3, 1e-4),
        (pair(1e3), 60, "float64", 1.3e-3, 1e-3),
        (pair(1e3), 240, "float32", 1e-4, 1e-4),
        (pair(1e4), 240, "float64", 1e-3, 1e-3),
        (column(1e2), 240, "float32", 4e-4, 2e-4),
        (column(1e3), 240, "float64", 2e-3, 2e-2),
        (column(1e2), 60, "float32", 5e-3, 2e-2),
        (plate(), 240, "float32", 1e-4, 1e-3),
    ],
)
def test_light_bodies_bear_heavy_ones(solids, rate, precision, sinks, speed):
    """They stand where they have been put, within a share of their size, and are at rest."""
    one = crowd(ContactScene(solids=solids), precision=precision, dt=1.0 / rate)
    own = [one.link_names.index(f"/World/{solid.name}") for solid in solids]
    start = one.state.link_pose.numpy()[own, :3, 0].copy()
    one.step(rate)
    middle = one.state.link_pose.numpy()[own, :3, 0].copy()
    one.step(rate // 2)
    place = one.state.link_pose.numpy()[own, :3, 0]
    assert np.abs(place - start)[:, 2].max() < sinks
    assert np.abs(one.state.link_velocity.numpy()[own, :, 0]).max() < speed
    assert np.abs(place - middle).max() < speed
