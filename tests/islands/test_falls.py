"""Bodies on joints with limits that fall in each other, among many bodies."""

import numpy as np
import pytest

from tests.contact_stages import STILL, ContactScene, sphere
from tests.contacts.falls import tree
from tests.contacts.motion import DT, PRECISIONS, Motion
from tests.islands.crowds import crowd
from warp_artic.islands.overlaps import PROJECTED_OVERLAP

SECONDS, LONG, RADIUS = 1.2, 3.0, 0.1
"""By 1.2 s all have landed, and overlaps are taken back; most have come to rest."""


@pytest.mark.parametrize(
    "precision, seed, seconds",
    [
        *(("float32", seed, LONG if seed in (1, 11) else SECONDS) for seed in range(1, 13, 2)),
        ("float64", 1, SECONDS),
        ("float64", 11, SECONDS),
    ],
)
def test_trees_that_overlap_gain_no_energy(precision, seed, seconds):
    """What takes overlaps back moves positions; impulses know nothing of limits, which would let it throw the trees."""
    one = crowd(tree(seed), precision=precision)
    energy = Motion(one.record(round(seconds / DT), quantities=["energy"])).energy
    assert one.failures() == []
    assert energy.max() < 1.001 * energy[0]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_an_overlap_is_taken_back(precision):
    """Of a ball on an arm, in another ball, without gravity: half of what is left in a step, but for what gives way."""
    joint = (
        'def PhysicsRevoluteJoint "hinge" {\nuniform token physics:axis = "Y"\n'
        "rel physics:body1 = </World/ball>\npoint3f physics:localPos1 = (-0.3, 0, 0)\n}\n"
    )
    solids = [sphere("ball", RADIUS, (0.3, 0, 0)), sphere("other", RADIUS, (0.3, 0, 2 * RADIUS - 0.02), mass=0.0)]
    scene = ContactScene(solids=solids, has_ground=False, gravity=STILL, joints=joint)
    one = crowd(scene, precision=precision)
    one.step(40)
    place = one.link_names.index("/World/ball")
    distance = np.linalg.norm(one.state.link_pose.numpy()[place, :3, 0] - [0.3, 0, 2 * RADIUS - 0.02])
    assert 2 * RADIUS - distance < PROJECTED_OVERLAP * RADIUS
