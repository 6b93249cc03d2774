"""Tracks, closed chains of plates around two wheels, which loop joints close: loose ones run, tight ones lock."""

import numpy as np
import pytest

from tests import tracks
from tests.contacts.motion import simulation
from tests.islands.crowds import crowd


@pytest.mark.parametrize(
    "slack, precision, rate",
    [(0.006, "float64", 240), (0.01, "float32", 240), (0.01, "float64", 60), (0.03, "float64", 60)],
)
def test_nothing_gains_energy(slack, precision, rate):
    """Tight ones got 400 J in a step from what presses plates onto wheels; they lock, and slide until they stand."""
    one = simulation(tracks.track(slack), precision=precision, dt=1.0 / rate, sleep_after=float("inf"))
    energy = one.record(rate // 3, quantities=("energy",)).energy[:, 0].astype(float)
    gains = np.diff(energy.sum(axis=1))
    assert gains.max() < 4e-3 * energy[0, 0]
    assert gains.sum() < -0.2 * energy[0, 0]


def test_a_driven_one_goes_no_faster_than_its_wheels():
    """It was thrown off."""
    one = simulation(tracks.track(0.006, is_driven=True), dt=1.0 / 240, sleep_after=float("inf"))
    hull = [name.endswith("/hull") for name in one.link_names].index(True)
    speed = one.record(160, quantities=("link_velocity",)).link_velocity[:, 0, hull, :3]
    assert 0.5 * tracks.TURNS * tracks.RADIUS < speed[-40:, 0].mean()
    assert np.linalg.norm(speed, axis=1).max() < tracks.TURNS * (tracks.RADIUS + 2.0 * tracks.PLATE)


@pytest.mark.parametrize("slack", [0.006, 0.03])
def test_among_many_bodies(slack):
    """Contacts moved plates after loops had been closed: these were open by centimetres, and threw the plates away."""
    one = crowd(tracks.track(slack), precision="float64", dt=1.0 / 60)
    found = one.record(30, quantities=("energy", "loop_error"))
    energy = found.energy[:, 0]
    gains = np.diff(energy.sum(axis=1))
    assert gains.max() < 1e-3 * energy[0, 0]
    assert gains.sum() < -0.2 * energy[0, 0]
    assert np.abs(found.loop_error).max() < 1e-5
