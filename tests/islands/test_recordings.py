"""Recordings have the contacts of many bodies: forces over time, and which colliders begin and end to touch."""

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import DT
from tests.islands.crowds import crowd
from warp_artic.errors import SettingsError

G = 9.81
FALL = np.sqrt(2.0 * 0.4 / G)
"""Of the ball [s]."""


def scene() -> ContactScene:
    """A ball that bounces, and two boxes that lie on each other."""
    boxes = [box("low", 0.1, (1.0, 0, 0.1)), box("high", 0.1, (1.0, 0, 0.3))]
    return ContactScene(solids=[sphere("ball", 0.1, (0, 0, 0.5)), *boxes], restitution=0.8)


@pytest.fixture(scope="module")
def recording():
    """A second of two environments, with forces."""
    return crowd(scene(), environments=2, precision="float64").record(240, forces=True)


def test_forces_over_time(recording):
    """They are weights where bodies lie, and the momentum of a ball that bounces is their integral."""
    links = {path.rpartition("/")[2]: place for place, path in enumerate(recording.link_names)}
    mass = {one.name: one.mass for one in scene().solids}
    lying = recording.contact_force_on("/World/high", by="/World/low")[120:]
    np.testing.assert_allclose(
        lying, np.broadcast_to((0, 0, mass["high"] * G), lying.shape), atol=0.02 * mass["high"] * G
    )
    np.testing.assert_allclose(recording.contact_force_on("/World/low", by="/World/high")[120:], -lying)
    velocity = recording.link_velocity[:, :, links["ball"], 2]
    pushed = recording.contact_force_on("/World/ball")[1:, :, 2] * DT
    np.testing.assert_allclose(np.diff(velocity, axis=0), pushed / mass["ball"] - G * DT, atol=1e-6)


def test_events(recording):
    """The ball touches the ground when it falls on it, and the boxes touch from the first step on."""
    events = [one for one in recording.contact_events() if one.environment == 1 and "ball" not in one.colliders[0]]
    bounces = [one for one in events if "/World/ball/shape" in one.colliders]
    assert bounces[0].is_start and bounces[0].time == pytest.approx(FALL, abs=1.01 * DT)
    assert not bounces[1].is_start
    (lies,) = [one for one in events if one.colliders == ("/World/high/shape", "/World/low/shape")]
    assert lies.is_start and lies.time == pytest.approx(DT)


def test_the_last_record_is_the_last_step():
    """As what the simulation says now."""
    one = crowd(scene(), environments=2)
    recording = one.record(120, every=40, forces=True)
    for path in ("/World/high", "/World/ground"):
        np.testing.assert_allclose(recording.contact_force_on(path)[-1], one.contact_force_on(path), rtol=1e-6)


def test_files_and_parts(recording, tmp_path):
    """A recording that is saved, or joined of two, has the same contacts."""
    recording.save(tmp_path / "run.npz")
    one = crowd(scene(), environments=2, precision="float64")
    parts = [one.record(100, forces=True), one.record(140, forces=True)]
    for found in (wa.Recording.load(tmp_path / "run.npz"), wa.Recording.joined(parts)):
        for name in ("island_contact", "island_contact_force"):
            np.testing.assert_array_equal(getattr(found, name), getattr(recording, name))
        assert found.collider_names == recording.collider_names
        assert found.contact_events() == recording.contact_events()


def test_contacts_alone_are_recorded():
    """Where they are asked for, without other forces."""
    recording = crowd(scene()).record(10, quantities=["island_contact_force"])
    assert recording.contact_force_on("/World/low").any() and not recording.joint_contact_force.size


def test_a_recording_without_forces():
    """It says what it needs."""
    recording = crowd(scene()).record(2)
    for ask in (recording.contact_events, lambda: recording.contact_force_on("/World/low")):
        with pytest.raises(SettingsError, match="island_contact_force was not recorded; record with forces=True"):
            ask()


@pytest.mark.parametrize(
    "change, said",
    (
        ({"island_contact": np.zeros((1, 3), int)}, "island_contact has shape"),
        ({"island_contact_force": np.zeros((0, 3))}, "island_contact_force has shape"),
        ({"island_contact": np.array([[5, 0, 0, 1]])}, "is not there"),
        ({"island_contact": np.array([[0, 0, 0, 2]])}, "is not there"),
    ),
)
def test_damaged_lists_are_refused(change, said):
    """Rows that do not fit."""
    given = {"island_contact": np.array([[1, 0, 0, 1]]), "island_contact_force": np.zeros((1, 3))}
    with pytest.raises(SettingsError, match=said):
        wa.Recording(
            time=np.array([0.0, 1.0]), joint_names=(), link_names=(), joint_position=np.zeros((2, 1, 0)),
            collider_names=("/a", "/b"), **given | change,
        )  # fmt: skip
