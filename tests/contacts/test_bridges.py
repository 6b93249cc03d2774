"""Boxes that fall on a rope bridge are held by it: what closes the chain takes nothing from what contacts give it."""

import numpy as np
import pytest

from tests.bridges import HALF, SIDE, bridge, least_height
from tests.contacts.motion import simulation


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("rate", [120, 240])
def test_heavy_boxes_land(rate, precision):
    """Those of 20 kg went through planks of 2 kg, or sank into them by 6 cm, and planks had no velocity after it."""
    scene = bridge(4, mass=20.0, drop=0.5)
    one = simulation(scene, precision=precision, dt=1.0 / rate, sleep_after=float("inf"))
    found = one.record(rate, quantities=("link_pose", "energy", "loop_error"))
    energy = found.energy[:, 0].astype(float)
    assert least_height(found).min() > 0.9 * (HALF + SIDE)
    assert np.diff(energy.sum(axis=1)).max() < 3e-3 * energy[:, 0].max()
    assert np.abs(found.loop_error).max() < 1e-3


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_environments_do_not_notice_each_other(precision):
    """Some have to hold contacts as loops close, in some steps, beside others that have not."""
    scene = bridge(2, mass=20.0, drop=-0.2)
    speeds = np.random.default_rng(4).normal(size=(17, 12))

    def run(chosen):
        one = simulation(scene, precision=precision, variant="lanes", dt=1.0 / 120, environments=len(chosen))
        one.set_state(joint_velocity=speeds[chosen])
        found = one.record(60, quantities=("link_pose", "contact_force", "loop_force"), forces=True)
        return found.link_pose, found.contact_force, found.loop_force

    together = run(list(range(17)))
    for one in (0, 7, 16):
        for alone, beside in zip(run([one]), together):
            np.testing.assert_array_equal(alone[:, 0], beside[:, one])
