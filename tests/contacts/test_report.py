"""What is told of contacts: which colliders touch, where, and with which force."""

from __future__ import annotations

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import PRECISIONS, simulation
from warp_artic.errors import SettingsError

G = 9.81
FAR = (300.0, -400.0, 0.0)
"""A place with an origin of its own."""


def at(place, offset) -> tuple[float, ...]:
    """A place moved by an offset."""
    return tuple(np.add(place, offset).tolist())


@pytest.fixture(scope="module")
def plank():
    """A plank of 3 kg, 1 m long, on a fixed block at one end and on a loose one of 2 kg, whose centre is 0.2 m from the
    middle of the plank; a ball in flight far above."""
    return ContactScene(
        solids=(
            box("block", 0.1, (0.2, 0, 0.1), mass=2.0),
            box("plank", (0.5, 0.05, 0.02), (0, 0, 0.22), mass=3.0),
            box("rest", 0.1, (-0.45, 0, 0.1), mass=0.0),
            sphere("ball", 0.1, (0, 0, 50)),
        )
    )


@pytest.fixture(scope="module")
def lying(plank):
    """It at rest, in two environments."""
    found = simulation(plank, environments=2)
    found.step(240, forces=True)
    return found


def of(contacts, *ends: str, environment: int = 1):
    """The contact of two colliders."""
    paths = tuple(f"/World/{end}" for end in ends)
    (found,) = [one for one in contacts if one.colliders == paths and one.environment == environment]
    return found


def test_contacts_are_told_by_name(lying):
    """Whatever touches, in each environment, and nothing else: not the ball."""
    contacts = lying.contacts()
    assert [one.environment for one in contacts] == [0, 0, 0, 1, 1, 1]
    assert {one.colliders for one in contacts} == {
        ("/World/ground", "/World/block/shape"),
        ("/World/block/shape", "/World/plank/shape"),
        ("/World/rest/shape", "/World/plank/shape"),
    }
    assert of(contacts, "block/shape", "plank/shape").links == ("/World/block", "/World/plank")
    assert of(contacts, "rest/shape", "plank/shape").links == ("", "/World/plank")
    assert all(one.points == 4 for one in contacts if one.colliders[0] == "/World/ground")
    assert "touch in environment 0 at" in str(contacts[0])


def test_supports_carry_the_weight_above_them(lying):
    """The ground carries block and plank, less what the other support does; that is what levers say."""
    contacts = lying.contacts()
    under_block = of(contacts, "ground", "block/shape")
    on_block = of(contacts, "block/shape", "plank/shape")
    on_rest = of(contacts, "rest/shape", "plank/shape")
    assert on_block.normal_force + on_rest.normal_force == pytest.approx(3.0 * G, rel=1e-5)
    assert under_block.normal_force == pytest.approx(2.0 * G + on_block.normal_force, rel=1e-5)
    for one in contacts:
        assert abs(one.gap) < 1e-5
        assert one.force[2] == pytest.approx(one.normal_force, rel=1e-6)
        assert one.friction_force <= 0.5 * one.normal_force

    on_plank = ["/shape:/World/plank/shape" in name for name in lying.contact_names]
    places, forces = (getattr(lying.state, f"contact_{name}").numpy()[on_plank, :, 0] for name in ("position", "force"))
    torque = np.cross(places - [0, 0, 0.22], forces).sum(axis=0)
    np.testing.assert_allclose(torque, 0.0, atol=1e-3)


def test_force_on_a_link_is_the_sum_over_its_contacts(lying):
    """A sensor of a link, also of one partner; the force on a partner is the opposite."""
    on_plank = lying.contact_force_on("/World/plank")
    assert on_plank.shape == (2, 3)
    np.testing.assert_allclose(on_plank, [[0, 0, 3.0 * G]] * 2, atol=1e-3)
    by_block = lying.contact_force_on("/World/plank", by="/World/block")
    by_rest = lying.contact_force_on("/World/plank", by="/World/rest")
    np.testing.assert_allclose(by_block + by_rest, on_plank, atol=1e-9)
    np.testing.assert_allclose(lying.contact_force_on("/World/block", by="/World/plank"), -by_block, atol=1e-12)
    np.testing.assert_allclose(lying.contact_force_on("/World/rest"), -by_rest, atol=1e-12)
    np.testing.assert_array_equal(lying.contact_force_on("/World/ball"), np.zeros((2, 3)))
    np.testing.assert_allclose(lying.contact_force_on("/World"), 0.0, atol=1e-9)
    with pytest.raises(SettingsError, match="/World/plonk: there is no collider .*did you mean /World/plank"):
        lying.contact_force_on("/World/plonk")


def test_recordings_have_forces_on_links_over_time(plank):
    """A ball falls onto the ground: no force in flight, then that of the impact, then its weight."""
    scene = ContactScene(solids=(sphere("ball", 0.1, (0, 0, 0.6), mass=2.0),))
    recording = simulation(scene).record(240, forces=True)
    force = recording.contact_force_on("/World/ball", by="/World/ground")
    assert force.shape == (241, 1, 3)
    height = recording.link_pose[:, 0, 0, 2] - 0.1
    flies = height > 0.05
    assert flies.sum() > 60
    np.testing.assert_array_equal(force[flies], 0.0)
    np.testing.assert_allclose(force[-1, 0], (0, 0, 2.0 * G), rtol=1e-5, atol=1e-9)
    impulse = force[:, 0, 2].sum() / 240.0
    assert impulse == pytest.approx(2.0 * G * 1.0, rel=1e-6)  # of a second of weight, as it is at rest at both ends
    np.testing.assert_allclose(recording.contact_gap[:, 0, 0], height, atol=1e-12)
    without = simulation(scene).record(2)
    assert without.contact_gap.size == 0
    with pytest.raises(SettingsError, match="record with forces=True"):
        without.contact_force_on("/World/ball")
    assert simulation(scene).record(2, quantities=["contact_gap"]).contact_gap.shape == (3, 1, 1)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_forces_are_on_the_second_collider_whatever_its_kind(precision):
    """A ball on a fixed box, a box on a fixed ball: what is fixed comes first, and what moves is pushed up."""
    scene = ContactScene(
        solids=(
            box("table", 0.5, (0, 0, 0.5), mass=0.0),
            sphere("ball", 0.1, (0, 0, 1.1), mass=2.0),
            sphere("dome", 0.5, (3, 0, 0.5), mass=0.0),
            box("lid", (0.3, 0.3, 0.05), (3, 0, 1.05), mass=2.0),
        ),
    )
    found = simulation(scene, precision=precision)
    found.step(120, forces=True)
    for fixed, moves in (("table/shape", "ball/shape"), ("dome/shape", "lid/shape")):
        one = of(found.contacts(), fixed, moves, environment=0)
        np.testing.assert_allclose(one.force, (0, 0, 2.0 * G), rtol=1e-3, atol=2e-2)
        points = [name.startswith(f"/World/{fixed}:/World/{moves}:") for name in found.contact_names]
        force = found.state.contact_force.numpy()[points, :, 0].sum(axis=0)
        np.testing.assert_allclose(force, one.force, rtol=1e-4, atol=1e-4)
        normal = found.state.contact_normal.numpy()[points, :, 0]
        touch = found.state.contact_gap.numpy()[points, 0] < 1e-3
        np.testing.assert_allclose(normal[touch], [[0, 0, 1]] * touch.sum(), atol=1e-3)


def test_friction_of_what_slides_is_told(plank):
    """A box that slides at 2 m/s: friction of mu times its weight, against its way."""
    scene = ContactScene(solids=(box("box", 0.1, (0, 0, 0.1), mass=2.0, velocity=(0, 2, 0)),), friction=0.3)
    found = simulation(scene)
    found.step(48)
    (one,) = found.contacts()
    assert one.normal_force == pytest.approx(2.0 * G, rel=1e-4)
    assert one.friction_force == pytest.approx(0.3 * 2.0 * G, rel=1e-4)
    np.testing.assert_allclose(one.force, (0, -0.3 * 2.0 * G, 2.0 * G), rtol=1e-4, atol=1e-6)


def test_overlaps_are_told_before_any_step():
    """Two balls that overlap by 2 mm at the start touch, without a force."""
    scene = ContactScene(
        solids=(sphere("a", 0.1), sphere("b", 0.1, (0, 0.198, 0))), gravity=(0.0, 0.0, 0.0), has_ground=False
    )
    (one,) = simulation(scene).contacts()
    assert one.gap == pytest.approx(-0.002, abs=1e-9)
    assert (one.points, one.normal_force, one.friction_force) == (1, 0.0, 0.0)
    assert "overlap by 0.002 m" in str(one)


@pytest.mark.parametrize("settings", [{"solver": "tgs"}, {"solver": "pgs"}, {"precision": "float32"}])
def test_every_solver_reports_the_weight(settings):
    """Of a box at rest."""
    scene = ContactScene(solids=(box("box", 0.1, (0, 0, 0.1), mass=2.0),))
    found = simulation(scene, environments=3, **settings)
    found.step(60)
    np.testing.assert_allclose(found.contact_force_on("/World/box"), [[0, 0, 2.0 * G]] * 3, rtol=1e-3, atol=1e-2)
    assert [one.normal_force for one in found.contacts()] == pytest.approx([2.0 * G] * 3, rel=1e-3)


def test_recorded_points_are_places_in_the_world():
    """Also of what is far from the origin of the world."""
    scene = ContactScene(solids=(box("box", 0.1, at(FAR, (0, 0, 0.1))),))
    found = simulation(scene, precision="float32")
    recording = found.record(2, quantities=["contact_position", "contact_gap"])
    touch = recording.contact_gap[-1, 0] < 1e-3
    assert touch.sum() == 4
    places = recording.contact_position[-1, 0, touch]
    np.testing.assert_allclose(np.abs(places - FAR), [[0.1, 0.1, 0.0]] * 4, atol=1e-3)


def test_scenes_without_contacts_have_no_report():
    """Nothing touches: no points, no contacts."""
    found = simulation(ContactScene(solids=(sphere("ball", 0.1),), has_ground=False))
    assert found.contacts() == []
    assert found.contact_names == ()
    assert found.state.contact_gap.shape == (0, 1)
