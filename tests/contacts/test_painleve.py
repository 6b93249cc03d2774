"""Painleve's rod: where rigid friction has no answer, or several, steps go on and no energy comes from nowhere."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, capsule, turn
from tests.contacts.motion import simulated

ANGLES = np.linspace(0.2, 1.4, 7)
"""Of the rods to the ground [rad]."""


@pytest.mark.parametrize("friction", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("slide", [-3.0, 3.0])
def test_sliding_rods_do_not_explode(friction, slide):
    """Rods with one end on the ground, dragged either way: finite, never faster than their energy allows."""
    radius, half = 0.01, 0.5
    solids = []
    for k, angle in enumerate(ANGLES):
        place = (0.0, 2.0 * k, float(half * np.sin(angle) + radius))
        lean = turn((0, 1, 0), float(0.5 * np.pi - angle))
        solids.append(capsule(f"rod{k}", radius, half, place, quaternion=lean, velocity=(slide, 0, 0)))
    motion = simulated(ContactScene(solids=solids, friction=friction), 2.0)
    assert np.isfinite(motion.energy).all()
    assert np.diff(motion.energy).max() < 5e-3 * motion.energy[0]
    heights = np.array([motion.place(f"rod{k}")[-1, 2] for k in range(len(ANGLES))])
    assert (heights > 0.9 * radius).all() and (heights < 1.5 * half).all()
    assert motion.kinetic[-1] < motion.kinetic[0]
