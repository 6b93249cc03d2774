"""Impacts: heights after bounces, Newton's law for two bodies, energy that never grows."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere, turn
from tests.contacts.motion import PRECISIONS, simulated

G = 9.81
NOWHERE = (0.0, 0.0, 0.0)


def apexes(heights: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Heights where speeds turn from up to down."""
    return np.array([heights[k] for k in range(1, len(heights)) if speeds[k - 1] > 0.0 >= speeds[k]])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_ball_bounces(restitution, precision):
    """Each apex is e^2 of the one before, to 1 %."""
    ball = sphere("ball", 0.1, (0, 0, 0.5))
    motion = simulated(ContactScene(solids=[ball], restitution=restitution), 2.2, precision=precision)
    found = apexes(motion.place("ball")[:, 2] - 0.1, motion.velocity("ball")[:, 2])[:3]
    np.testing.assert_allclose(found, 0.4 * restitution ** (2.0 * np.arange(1, 4)), rtol=0.01)
    assert np.diff(motion.energy).max() < 1e-4 * 0.4 * G


@pytest.mark.parametrize("precision", PRECISIONS)
def test_ball_that_does_not_bounce_stays(precision):
    """With e = 0 it is on the ground after the impact, hardly in it, and at rest."""
    motion = simulated(ContactScene(solids=[sphere("ball", 0.1, (0, 0, 0.5))]), 1.0, precision=precision)
    heights = motion.place("ball")[:, 2] - 0.1
    after = motion.time > np.sqrt(0.8 / G) + 0.01
    assert heights.min() > -2e-4 and np.abs(heights[after]).max() < 2e-4
    assert motion.largest_speed[-1] < 1e-5


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_two_balls_meet(restitution, precision):
    """Free of gravity: momentum stays, and they part with e of the speed with which they met, to 1 %."""
    solids = [
        sphere("light", 0.1, (-0.5, 0, 0), mass=1.0, velocity=(2, 0, 0)),
        sphere("heavy", 0.15, (0.5, 0, 0), mass=3.0, velocity=(-1, 0, 0)),
    ]
    scene = ContactScene(solids=solids, restitution=restitution, gravity=NOWHERE, has_ground=False)
    motion = simulated(scene, 0.6, precision=precision)
    light, heavy = motion.velocity("light")[-1, 0], motion.velocity("heavy")[-1, 0]
    assert light + 3.0 * heavy == pytest.approx(-1.0, abs=1e-5)
    assert heavy - light == pytest.approx(3.0 * restitution, rel=0.01, abs=0.01)
    assert np.diff(motion.energy).max() < 1e-4 * motion.energy[0]


def test_colliding_boxes_keep_their_momenta():
    """Two boxes that meet at a corner in free space, with friction: linear and angular momentum stay, energy falls."""
    first = box("first", (0.1, 0.2, 0.3), (-0.4, 0.05, 0.1), quaternion=turn((1, 2, 3), 0.5), velocity=(2, 0, 0))
    second = box(
        "second", 0.15, (0.3, 0, 0), quaternion=turn((3, 1, 0), 1.0), mass=2.0, velocity=(-1, 0, 0), turning=(0, 1, 2)
    )
    scene = ContactScene(solids=[first, second], friction=0.6, restitution=0.3, gravity=NOWHERE, has_ground=False)
    motion = simulated(scene, 0.8)
    linear = sum(one.mass * motion.velocity(one.name) for one in (first, second))
    np.testing.assert_allclose(linear, np.broadcast_to(linear[0], linear.shape), atol=1e-10)
    angular = np.zeros_like(linear)
    for one in (first, second):
        axes = np.stack([motion.axis(one.name, k) for k in range(3)], axis=2)
        turning = np.einsum("rij,j,rkj,rk->ri", axes, one.inertia, axes, motion.turning(one.name))
        angular += turning + one.mass * np.cross(motion.place(one.name), motion.velocity(one.name))
    assert np.ptp(motion.velocity("first")[:, 0]) > 1.0
    np.testing.assert_allclose(angular, np.broadcast_to(angular[0], angular.shape), atol=2e-3)
    assert np.diff(motion.energy).max() < 1e-4 * motion.energy[0]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_tumbling_cube_never_gains_energy(restitution, precision):
    """Thrown at a corner, no step gains more than 1e-4 of the energy; with e = 0 it ends flat and still."""
    cube = box("cube", 0.1, (0, 0, 0.4), quaternion=turn((3, 5, 2), 0.6), velocity=(1, 0, 0), turning=(2, 3, 1))
    motion = simulated(ContactScene(solids=[cube], friction=0.4, restitution=restitution), 3.0, precision=precision)
    assert np.isfinite(motion.energy).all()
    assert np.diff(motion.energy).max() < 1e-4 * motion.energy[0]
    if restitution == 0.0:
        assert motion.place("cube")[-1, 2] == pytest.approx(0.1, abs=1e-4)
        assert motion.largest_speed[-1] < 5e-5


@pytest.mark.parametrize("spin", [25.0, 100.0])
def test_fast_spins_are_what_a_substep_left(spin):
    """A box that turns by more than 0.4 rad in a step hits a ball in one of its substeps, and no energy is lost."""
    for place in np.linspace(-0.6, -0.556, 12):
        solids = [
            sphere("ball", 0.3, (0.6, 0, 0), mass=5.0),
            box("box", (0.05, 0.2, 0.1), (place, 0.05, 0), velocity=(3.0, 0, 0), turning=(0, 0, spin)),
        ]
        scene = ContactScene(solids=solids, restitution=1.0, friction=0.0, gravity=NOWHERE, has_ground=False)
        motion = simulated(scene, 0.5, dt=1.0 / 60.0, solver="tgs")
        assert np.abs(motion.velocity("ball")[-1]).max() > 0.05
        assert motion.kinetic[-1] == pytest.approx(motion.kinetic[0], rel=0.03)
