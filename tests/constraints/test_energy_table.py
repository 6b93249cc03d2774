"""Undamped springs, tendons and mimic joints on two joints of every kind: energy over a minute."""

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_rotation_drive import bodies, drives_of, simulate
from tests.oracles.rotation_drive import spring_energy
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon

RATE = 960
STIFFNESS, REST = 40.0, 0.3
GAINS = (4.0, 6.0, 5.0, 7.0, 6.5, 5.5)
TARGET = (0.3, -0.2, 0.25, 0.1, 0.2, -0.1)
KINDS = {kind: len(dofs) for kind, dofs in (trees.JOINT_KINDS | trees.FREER_KINDS).items() if dofs}
SLIDING = ("prismatic", "cylindrical", "planar", "slide")


@pytest.mark.parametrize("coupling", ["none", "tendon", "mimic"])
@pytest.mark.parametrize("kind", KINDS)
def test_joints_of_every_kind_keep_the_energy_of_springs(kind, coupling):
    """Springs on all dofs, and a tendon across both joints or a hard mimic joint between them: within 2 %."""
    dofs = KINDS[kind]
    stiffer = 10.0 if kind.startswith(SLIDING) else 1.0
    gains = tuple(stiffer * gain for gain in GAINS[:dofs])
    target = (0.0,) * dofs if coupling == "mimic" else TARGET[:dofs]
    tree = bodies(kind, drives=drives_of(kind, gains, target))
    other = min(1, dofs - 1)
    if coupling == "tendon":
        chosen = tuple(dict.fromkeys((0, other, 2 * dofs - 1)))
        weights = (1.0, -0.7, 0.5)[: len(chosen)]
        own = {"stiffness": STIFFNESS, "rest_length": REST}
        tendon = FixedTendon(name="t", dofs=chosen, coefficients=weights, force_coefficients=weights, **own)
        tree = trees.replace(tree, fixed_tendons=(tendon,))
    if coupling == "mimic":
        tree = trees.replace(tree, mimics=(Mimic(name="m", dofs=(0, dofs + other), gears=(1.0, -0.5)),))
    simulation = simulate(tree, 4, precision="float64", dt=1.0 / RATE)
    rng = np.random.default_rng(1)
    start = 0.2 * rng.uniform(-1.0, 1.0, (4, 2 * dofs))
    simulation.set_state(
        joint_position=0.0 * start if coupling == "mimic" else start,
        joint_velocity=0.5 * rng.uniform(-1.0, 1.0, (4, 2 * dofs)),
    )
    recording = simulation.record(60 * RATE, every=32)
    q = recording.joint_position.astype(float)
    energy = recording.energy[..., 0].astype(float).reshape(q.shape[:2])
    if coupling == "tendon":
        energy += 0.5 * STIFFNESS * (recording.tendon_length[..., 0].astype(float) - REST) ** 2
    for joint, part in zip(tree.joints, (slice(0, dofs), slice(dofs, 2 * dofs))):
        energy += spring_energy(joint, gains, q[..., part], target)
    energy = energy[1:]  # the first step is one of implicit Euler for rows
    assert (np.abs(energy - energy[0]).max(axis=0) / energy[0]).max() < 0.02
    if coupling == "mimic":
        assert np.abs(recording.mimic_error).max() < 1e-9
