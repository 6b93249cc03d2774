"""Impacts that travel through bodies that touch are, among many others too, those of two bodies one after the other."""

from dataclasses import replace

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import PRECISIONS
from tests.contacts.test_cradle import cradle
from tests.contacts.test_impacts_in_a_row import ROWS, in_sequence, row
from tests.islands.crowds import crowd_motion, momentum

CASES = [(*one, gap) for one in ROWS for gap in (0.0, 1e-3) if gap == 0.0 or one[2] == 1.0]
"""With gaps and losses the order of impacts is another."""


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("speeds, masses, restitution, gap", CASES)
def test_rows_part_as_impacts_in_sequence_say(speeds, masses, restitution, gap, precision):
    """To 1e-2 m/s, as sweeps end what closes below the bounce threshold.

    A row of equal balls used to send the first one back with half of its speed, and lost an eighth of the energy.
    """
    scene = row(speeds, masses, restitution, gap)
    scene = replace(scene, solids=[replace(one, name=f"row{k}") for k, one in enumerate(scene.solids)])
    motion = crowd_motion(scene, 0.3, precision=precision)
    found = np.array([motion.velocity(one.name)[:, 0] for one in scene.solids]).T
    assert found[-1] == pytest.approx(in_sequence(speeds, masses, restitution), abs=1e-2)
    linear, _ = momentum(motion, scene.solids)
    assert np.abs(linear - linear[0]).max() < 1e-4 * sum(masses)
    assert motion.energy.max() < motion.energy[0] * (1.0 + 1e-5) + 1e-6


@pytest.mark.parametrize("raised", [1, 2])
def test_pendulums_pass_their_swing_on(raised):
    """The last ones rise as high as the first ones fell, to 2 %, while the others hardly move."""
    scene = cradle(raised)
    scene = replace(
        scene,
        solids=[replace(one, name=f"row{k}") for k, one in enumerate(scene.solids)],
        joints=scene.joints.replace("/World/ball", "/World/row"),
    )
    motion = crowd_motion(scene, 1.05, precision="float64")
    rise = np.array([motion.place(f"row{k}")[:, 2] + 0.5 for k in range(5)])
    fell = rise[0, 0]
    highest = rise[:, motion.time > 0.5].max(axis=1)
    np.testing.assert_allclose(highest, np.where(np.arange(5) >= 5 - raised, fell, 0.0), atol=0.02 * fell)
    assert motion.energy.max() - motion.energy[0] < 2e-3 * fell * 9.81


def test_a_break_keeps_momentum_and_symmetry():
    """Fifteen balls that touch, hit in the middle: nothing is lost, and both halves go alike."""
    radius, mass = 0.03, 0.17
    solids = [sphere("cue", radius, (-0.5, 0, 0), velocity=(5, 0, 0), mass=mass)]
    for rank in range(5):
        for k in range(rank + 1):
            place = (rank * radius * np.sqrt(3.0), (2 * k - rank) * radius, 0)
            solids.append(sphere(f"ball{rank}_{k}", radius, place, mass=mass))
    scene = ContactScene(solids=solids, friction=0.0, restitution=1.0, gravity=(0.0, 0.0, 0.0), has_ground=False)
    motion = crowd_motion(scene, 1.0, precision="float64")
    linear, _ = momentum(motion, solids)
    assert np.abs(linear - linear[0]).max() < 1e-5
    assert np.diff(motion.energy).max() < 1e-4 * motion.energy[0]
    assert motion.energy[-1] > 0.98 * motion.energy[0]
    for rank in range(5):
        left, right = (motion.velocity(f"ball{rank}_{k}")[-1] for k in (0, rank))
        np.testing.assert_allclose(left, right * [1, -1, 1], atol=0.05)


@pytest.mark.parametrize("restitution, leaves", [(0.5, 0.0), (1.0, 1.0)])
def test_box_lands_on_a_stack(restitution, leaves):
    """An elastic impact goes down to the ground and comes back; of a lossy one nothing does."""
    solids = [box(f"box{k}", 0.1, (0, 0, 0.1 + 0.2 * k)) for k in range(3)]
    solids.append(box("top", 0.1, (0, 0, 0.8), velocity=(0, 0, -2)))
    scene = ContactScene(solids=solids, friction=0.0, restitution=restitution)
    motion = crowd_motion(scene, 0.15, precision="float64")
    speeds = motion.velocity("top")[:, 2]
    free = np.sqrt(2.0**2 + 2.0 * 9.81 * (0.8 - motion.place("top")[-1, 2]))
    assert speeds.min() < -2.3 and speeds[-1] == pytest.approx(leaves * free, rel=0.02, abs=0.05)
    for k in range(3):
        assert np.abs(motion.velocity(f"box{k}")[-1, 2]) < 0.05
