"""The stages with known answers: as close to the truth as PhysX at the same step, converging, and the hand values."""

import numpy as np
import pytest

from tests import oracle_stages, trees
from tests.oracle_stages import WITH_TRUTH, physx, trajectory, truth, worst
from tests.oracles import step
from warp_artic import read_stage


@pytest.mark.parametrize("stage", WITH_TRUTH)
def test_stages_with_a_truth(stage):
    """At 240 Hz the error is at most 1.05 times that of PhysX with PGS, and it halves with the step."""
    exact = truth(stage)
    errors = [worst(trajectory(stage, rate), exact) for rate in (240, 480, 960)]
    assert errors[0] <= 1.05 * worst(physx(stage, "PGS_240_p4v1"), exact)
    assert errors[0] / errors[1] > 1.7 and errors[1] / errors[2] > 1.7
    assert worst(trajectory(stage, 240, "float32"), exact) <= 1.05 * errors[0]


@pytest.mark.parametrize(
    "stage", ["joint_friction", "limit_hard_revolute", "body_order_swapped", "spherical3_pendulum"]
)
def test_stages_without_a_truth(stage):
    """Beside PhysX at 960 Hz, no further than PhysX with PGS at 240 Hz, signs of a swapped joint included."""
    fine = physx(stage, "TGS_960_p4v1")
    assert worst(trajectory(stage, 240), fine) <= 1.05 * worst(physx(stage, "PGS_240_p4v1"), fine)


@pytest.mark.parametrize("stage", ["link_damping", "floating3_zero_g"])
def test_stages_against_an_exact_trajectory(stage):
    """First order against an ODE solver on the description that was read."""
    scene = read_stage(oracle_stages.DATA / "stages" / f"{stage}.usda")
    tree = scene.articulations[0]
    times = np.arange(0, 121) / 240
    solved = step.trajectory(tree, trees.authored_state(tree), times, gravity=scene.gravity, tolerance=1e-9)
    exact = {dof.name.rsplit("/", 1)[-1]: solved.joint_position[:, k] for k, dof in enumerate(tree.dofs)}
    found = [{name: q[:121] for name, q in trajectory(stage, rate).items()} for rate in (240, 480, 960)]
    errors = [worst(q, exact) for q in found]
    assert errors[2] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.15)


def test_hand_values_of_joint_friction():
    """2.80 rad/s at 0.25 s, a dead stop near 1.05 s, and a held rod that does not move at all."""
    recording = oracle_stages.simulate("joint_friction", 960).record(1920)
    names = [name.rsplit("/", 1)[-1] for name in recording.joint_names]
    v = recording.joint_velocity[:, 0]
    sliding = int(np.abs(v).max(axis=0).argmax())
    assert abs(v[240, sliding]) == pytest.approx(2.80, abs=0.01)
    stop = recording.time[np.flatnonzero(np.abs(v[:, sliding]) > 1e-9)[-1]]
    assert stop == pytest.approx(1.05, abs=0.02)
    held = [k for k in range(len(names)) if k != sliding]
    assert np.abs(np.diff(recording.joint_position[:, 0, held], axis=0)).max(initial=0.0) == 0.0
