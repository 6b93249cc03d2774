"""Bodies that spin fast among many others: contacts take energy, and what flies near the ground keeps it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.contact_stages import ContactScene, capsule, cylinder, turn
from tests.islands.crowds import crowd, crowd_motion


def spinning(make, tilt, spin):
    """A solid of 6 kg above the ground that turns about its own axis, which is tilted."""
    turned = Rotation.from_euler("y", tilt)
    motion = {"quaternion": tuple(turned.as_quat()), "turning": tuple(turned.apply((0.0, 0.0, spin)).tolist())}
    return make("top", 0.084, 0.046 if make is capsule else 0.1, (0.0, 0.0, 0.2), mass=6.0, **motion)


def energies(solid, rate, seconds):
    """Kinetic and potential energy of the first solid of a scene, after each step [J]."""
    scene = ContactScene(solids=(solid,), friction=0.5, restitution=0.5)
    simulation = crowd(scene, dt=1.0 / rate, precision="float32")
    own = [name.rpartition("/")[2] for name in simulation.link_names].index("top")
    found = []
    for _ in range(round(seconds * rate)):
        found.append(float(simulation.state.energy.numpy()[own].sum()))
        simulation.step()
    return np.array(found)


@pytest.mark.parametrize("rate", [60, 240])
@pytest.mark.parametrize("spin", [60.0, 140.0, 280.0])
@pytest.mark.parametrize("tilt", [0.1, 0.6, 1.2])
@pytest.mark.parametrize("make", [capsule, cylinder])
def test_no_energy_is_gained(make, tilt, spin, rate):
    """Bouncing and tumbling for two seconds, turning by a quarter of a radian to nearly five in a step."""
    found = energies(spinning(make, tilt, spin), rate, 2.0)
    assert found.max() < found[0] * (1.0 + 1e-5)
    assert found[-1] < 0.95 * found[0]


def test_flight_near_the_ground_is_free():
    """A capsule that falls along the ground within reach of a contact keeps its path: z = z_0 - g t^2 / 2."""
    solid = capsule("top", 0.1, 0.1, (0.0, 0.0, 0.35), turning=(20.0, 0.0, 90.0), mass=2.0)
    found = energies(solid, 240, 0.1)
    np.testing.assert_allclose(found[1:], found[1], rtol=5e-6)


@pytest.mark.parametrize("half_width", [0.025, 0.2])
@pytest.mark.parametrize("precision, spin", [("float64", 30.0), ("float64", 120.0), ("float32", 120.0)])
def test_a_cylinder_rolls_on(precision, spin, half_width):
    """By two radians in a step: no point of its rims closes by turning about its axis. It rose by 0.9 m."""
    lying = turn((1, 0, 0), 0.5 * np.pi)
    motion = {"velocity": (0.1 * spin, 0, 0), "turning": (0, spin, 0)}
    wheel = cylinder("wheel", 0.1, half_width, (0, 0, 0.1), quaternion=lying, **motion)
    found = crowd_motion(ContactScene(solids=[wheel]), 1.0, dt=1.0 / 60.0, precision=precision)
    np.testing.assert_allclose(found.place("wheel")[:, 2], 0.1, atol=2e-4)
    np.testing.assert_allclose(found.velocity("wheel")[-1], (0.1 * spin, 0, 0), atol=1e-3 * spin)
    np.testing.assert_allclose(found.turning("wheel")[-1], (0, spin, 0), atol=1e-2 * spin)
