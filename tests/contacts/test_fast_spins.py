"""Bodies without joints that turn by more than half a radian in a step while they touch the ground."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.contact_stages import ContactScene, box, capsule, cylinder, turn
from tests.contacts.motion import PRECISIONS, simulated

G = 9.81
RADIUS = 0.1
LYING = turn((1, 0, 0), 0.5 * np.pi)


@pytest.mark.parametrize("width, precision", [(0.05, "float64"), (0.05, "float32"), (0.4, "float64")])
@pytest.mark.parametrize("rate, spin", [(30, 150.0), (60, 150.0), (60, 300.0)])
def test_a_spinning_cylinder_comes_to_roll(rate, spin, width, precision):
    """It gains speed by mu g until it rolls with w r / 3, and no point of its rims closes by turning about its axis.

    Its straight path is unstable, by exp(mu w t) of what rounding errors turn it: in single precision at 300 rad/s by
    up to 0.08 rad, another angle for every spin, and then it hops by up to 1.3 mm as it comes to roll.
    """
    wheel = cylinder("wheel", RADIUS, 0.5 * width, (0, 0, RADIUS), quaternion=LYING, turning=(0, spin, 0))
    motion = simulated(ContactScene(solids=[wheel], friction=1.0), 1.4, dt=1.0 / rate, precision=precision)
    speed = np.minimum(G * motion.time, spin * RADIUS / 3.0)
    tolerances = (3e-2, 2e-3) if precision == "float32" and spin == 300.0 else (3e-3, 1e-4)
    np.testing.assert_allclose(motion.velocity("wheel")[:, 0], speed, atol=tolerances[0])
    np.testing.assert_allclose(motion.place("wheel")[:, 2], RADIUS, atol=tolerances[1])
    assert motion.energy.max() < motion.energy[0] * (1.0 + 1e-5)


@pytest.mark.parametrize("rate, spin, left", [(240, 150.0, 0.97), (240, 300.0, 0.94), (60, 150.0, 0.85)])
def test_a_spinning_coin_keeps_its_energy(rate, spin, left):
    """On its rim, about the vertical: it leans until it rolls on one edge. It gained 2, 42 and 34 % in a second."""
    coin = cylinder("coin", RADIUS, 0.005, (0, 0, RADIUS), quaternion=LYING, turning=(0, 0, spin))
    motion = simulated(ContactScene(solids=[coin]), 1.0, dt=1.0 / rate)
    assert motion.energy.max() < motion.energy[0] * (1.0 + 1e-6)
    assert motion.energy[-1] > left * motion.energy[0]
    np.testing.assert_allclose(motion.place("coin")[:, 2], RADIUS, atol=1e-3)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("rate, spin", [(30, 150.0), (30, 300.0), (60, 300.0), (240, 300.0)])
@pytest.mark.parametrize("make, size", [(cylinder, (0.1, 0.025)), (capsule, (0.1, 0.1)), (box, ((0.1, 0.07, 0.04),))])
def test_no_energy_is_gained(make, size, rate, spin, precision):
    """Thrown with a spin about a tilted axis. Velocity forces fed themselves: a disc had ten times its energy."""
    tilt = Rotation.from_euler("y", 0.5)
    turning = tuple(tilt.apply((0.05 * spin, 0.0, spin)).tolist())
    solid = make("body", *size, (0, 0, 0.25), quaternion=tuple(tilt.as_quat().tolist()), turning=turning)
    motion = simulated(ContactScene(solids=[solid]), 1.0, dt=1.0 / rate, precision=precision)
    assert motion.energy.max() < motion.energy[0] * (1.0 + 1e-5)
    assert motion.energy[-1] < 0.95 * motion.energy[0]
