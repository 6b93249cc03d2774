"""Contacts that begin, stay and end are told, between two looks and over a recording."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import DT, simulation
from warp_artic.errors import SettingsError

G = 9.81


@pytest.fixture(scope="module")
def bouncing():
    """A ball that bounces twice, and a box that lies; recorded with forces."""
    solids = [sphere("ball", 0.1, (0, 0, 0.5)), box("box", 0.1, (1.0, 0, 0.1))]
    return simulation(ContactScene(solids=solids, restitution=0.8), environments=2).record(240, forces=True)


def test_events_of_a_recording(bouncing):
    """The ball touches the ground when it falls on it, for one record, and the box from the first step on."""
    events = bouncing.contact_events()
    assert {one.environment for one in events} == {0, 1}
    own = [one for one in events if one.environment == 1]
    (lies,) = [one for one in own if one.colliders == ("/World/ground", "/World/box/shape")]
    assert lies.is_start and lies.time == pytest.approx(DT)
    bounces = [one for one in own if one.colliders == ("/World/ground", "/World/ball/shape")]
    fall = np.sqrt(2.0 * 0.4 / G)
    hits = [fall, fall + 2.0 * 0.8 * fall]
    starts, ends = ([one.time for one in bounces if one.is_start is wanted] for wanted in (True, False))
    np.testing.assert_allclose(starts, hits, atol=1.01 * DT)
    np.testing.assert_allclose(np.subtract(ends, starts), DT, atol=1e-9)
    assert str(bounces[0]).startswith("/World/ground and /World/ball/shape begin to touch in environment 1 at 0.2")


def test_a_recording_without_forces():
    """It says what it needs."""
    recording = simulation(ContactScene(solids=[sphere("ball", 0.1, (0, 0, 0.1))])).record(2)
    with pytest.raises(SettingsError, match="contact_force has no entries; record with forces=True"):
        recording.contact_events()


def test_changes_from_one_look_to_the_next():
    """A box that falls from one that slides away under it."""
    solids = [box("low", 0.1, (0, 0, 0.1), velocity=(6.0, 0, 0)), box("high", (0.05, 0.05, 0.02), (0, 0, 0.22))]
    one = simulation(ContactScene(solids=solids, friction=0.1))
    one.step(1)
    first = one.contacts()
    changes = one.contact_changes([])
    assert list(changes.started) == first and changes.stayed == () == changes.ended
    one.step(119)
    changes = one.contact_changes(first)
    pair = ("/World/high/shape", "/World/low/shape")
    assert [touch.colliders for touch in changes.ended] == [pair]
    assert [touch.colliders for touch in changes.started] == [("/World/ground", "/World/high/shape")]
    assert [touch.colliders for touch in changes.stayed] == [("/World/ground", "/World/low/shape")]
