"""Energy over a minute: what tumbles loses it and comes to rest, what bounces without loss keeps it."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, capsule, sphere
from tests.contacts.motion import simulated


def test_a_minute_of_tumbling():
    """Of a cube, a capsule and a ball that are thrown: no more than at the start, and mostly at rest at the end.

    What resists turning does the same as normals do where a cube lies on a face, and it rocks now and then.
    """
    solids = [
        box("cube", 0.1, (0, 0, 1.0), velocity=(1.0, 0.3, 0), turning=(5.0, 7.0, 3.0)),
        capsule("capsule", 0.05, 0.1, (0, 1.0, 1.0), velocity=(-1.0, 0.5, 0), turning=(5.0, 0.0, 9.0)),
        sphere("ball", 0.1, (0, -1.0, 1.0), velocity=(-0.5, -0.5, 0), turning=(0.0, 0.0, 9.0)),
    ]
    scene = ContactScene(solids=solids, friction=0.4, restitution=0.4, torsional_friction=0.002, rolling_friction=0.002)
    motion = simulated(scene, 60.0, every=12)
    energy = motion.energy
    assert energy.max() < energy[0] * (1.0 + 1e-5)
    rises = energy - np.minimum.accumulate(energy)
    assert rises.max() < 1e-3 * energy[0]
    assert np.median(motion.kinetic[-100:]) < 1e-6
    assert motion.kinetic[-600:].max() < 5e-3


@pytest.mark.parametrize("solver", ["direct", "pgs"])
def test_a_minute_of_bouncing(solver):
    """A ball without loss has nearly as much energy after a minute, and some hundred bounces, and never more."""
    scene = ContactScene(solids=[sphere("ball", 0.1, (0, 0, 0.6))], friction=0.0, restitution=1.0)
    motion = simulated(scene, 60.0, solver=solver)
    energy = motion.energy
    assert energy.max() < energy[0] + 1e-6
    assert energy[-1] > 0.99 * energy[0]
    assert motion.place("ball")[-1000:, 2].max() == pytest.approx(0.6, rel=1e-2)
