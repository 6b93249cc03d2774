"""Pairs that are too far apart to touch in a step are not looked at, and nothing but time tells."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, capsule, cylinder, sphere
from tests.contacts.motion import PRECISIONS, simulated
from warp_artic.constraints import contact_tables


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_motion_is_the_same(precision, monkeypatch):
    """Bitwise, of bodies that fly, spin, hit, roll and pile up."""
    solids = [
        box("a", (0.05, 0.1, 0.2), (0.0, 0.0, 0.6), turning=(9.0, 20.0, 4.0)),
        sphere("b", 0.05, (2.0, 0.0, 0.4), velocity=(-20.0, 0.0, 1.0)),
        cylinder("c", 0.05, 0.2, (0.1, 0.3, 0.9), turning=(30.0, 0.0, 0.0)),
        capsule("d", 0.05, 0.2, (-1.0, 0.1, 0.5), velocity=(5.0, 0.0, 0.0), turning=(0.0, 15.0, 0.0)),
        box("e", 0.1, (0.05, 0.02, 1.4), velocity=(0.0, 0.0, -3.0)),
    ]
    scene = ContactScene(solids=solids, restitution=0.3)
    skipped = simulated(scene, 1.5, precision=precision).recording
    monkeypatch.setattr(contact_tables, "ROOM", 1e3)
    looked_at = simulated(scene, 1.5, precision=precision).recording
    assert np.isfinite(skipped.link_pose).all()
    np.testing.assert_array_equal(skipped.link_pose, looked_at.link_pose)
    np.testing.assert_array_equal(skipped.link_velocity, looked_at.link_velocity)
