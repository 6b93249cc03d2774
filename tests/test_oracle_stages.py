"""The stages with known answers: as close to the truth as PhysX at the same step, converging, and the hand values."""

import numpy as np
import pytest

from tests import oracle_stages, trees
from tests.oracle_stages import WITH_TRUTH, physx, trajectory, truth, worst
from tests.oracles import step
from warp_artic import read_stage

STIFF = ("arm6_drives", "tree_humanoid")
"""Stages of coupled dofs whose drives bring them in a step or two to where they follow."""

LARGEST = {
    "arm6_drives": 3.3e-4,
    "prismatic_spring_drive": 3.7e-4,
    "drive_acceleration": 1.5e-4,
    "drive_force_saturated": 5e-5,
    "tree_humanoid": 8.5e-4,
    "fixed_tendon_offset_rest": 2e-2,
    "fixed_tendon_two_joints": 2e-3,
    "spatial_tendon_single": 2e-3,
    "spatial_tendon_two_leaves": 2e-2,
    "mimic_hard_gear": 1e-2,
}
"""Errors over two seconds at 240 Hz [rad]."""
TRUTH_ROUNDING = 5e-7
"""What the recorded truths may be off by [rad or m]."""


@pytest.mark.parametrize("stage", WITH_TRUTH)
def test_stages_converge_to_their_truth(stage):
    """The error falls by four as the step halves; by less where drives are stiff, and in float32 it is the same."""
    exact = truth(stage)
    paths = [trajectory(stage, rate) for rate in (240, 480, 960)]
    errors = [worst(path, exact) for path in paths]
    assert errors[0] <= LARGEST.get(stage, np.inf)
    assert errors[0] <= worst(physx(stage, "PGS_240_p4v1"), exact)
    least = 2.7 if stage in STIFF else 3.5
    for coarse, fine in zip(errors, errors[1:]):
        assert coarse / fine > least or fine < TRUTH_ROUNDING
    assert worst(trajectory(stage, 240, "float32"), paths[0]) < 2e-5


@pytest.mark.parametrize("stage", WITH_TRUTH)
def test_stages_converge_without_a_middle(stage):
    """At first order or better."""
    exact = truth(stage)
    errors = [worst(trajectory(stage, rate, integrator="semi_implicit"), exact) for rate in (240, 480, 960)]
    assert errors[0] / errors[1] > 1.7 and errors[1] / errors[2] > 1.7


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("stage", WITH_TRUTH)
def test_substeps_are_closer_than_physx(stage, precision):
    """tgs with 4 position iterations is at least as close to the truth as the better of two PhysX recordings."""
    exact = truth(stage)
    ours = worst(trajectory(stage, 240, precision, **oracle_stages.COLUMNS["tgs 4"]), exact)
    assert ours <= min(worst(physx(stage, configuration), exact) for configuration in oracle_stages.PHYSX)


def test_every_truth_is_compared():
    """No file of exact trajectories is left out, nor a recording of PhysX."""
    assert {path.stem for path in (oracle_stages.DATA / "truth").glob("*.npz")} == set(WITH_TRUTH)
    recorded = {path.stem.split("__")[0] for path in (oracle_stages.DATA / "physx").glob("*.npz")}
    assert recorded == {*WITH_TRUTH, *oracle_stages.WITH_RECORDING}


@pytest.mark.parametrize(
    "stage", ["joint_friction", "limit_hard_revolute", "body_order_swapped", "spherical3_pendulum"]
)
def test_stages_without_a_truth(stage):
    """Beside PhysX at 960 Hz, no further than PhysX with PGS at 240 Hz, signs of a swapped joint included."""
    fine = physx(stage, "TGS_960_p4v1")
    assert worst(trajectory(stage, 240), fine) <= 1.05 * worst(physx(stage, "PGS_240_p4v1"), fine)


@pytest.mark.parametrize(
    ("stage", "integrator", "order", "largest"),
    [
        ("link_damping", "midpoint", 2.0, 1e-4),
        ("link_damping", "semi_implicit", 2.0, 2e-3),
        ("floating3_zero_g", "midpoint", 4.0, 3e-6),
        ("floating3_zero_g", "semi_implicit", 2.0, 3e-3),
    ],
)
def test_stages_against_an_exact_trajectory(stage, integrator, order, largest):
    """Against an ODE solver on the description that was read; link damping is of first order."""
    scene = read_stage(oracle_stages.DATA / "stages" / f"{stage}.usda")
    tree = scene.articulations[0]
    times = np.arange(0, 121) / 240
    solved = step.trajectory(tree, trees.authored_state(tree), times, gravity=scene.gravity, tolerance=1e-9)
    exact = {dof.name.rsplit("/", 1)[-1]: solved.joint_position[:, k] for k, dof in enumerate(tree.dofs)}
    paths = [trajectory(stage, rate, integrator=integrator) for rate in (240, 480, 960)]
    errors = [worst({name: q[:121] for name, q in path.items()}, exact) for path in paths]
    assert errors[2] < largest
    assert errors[0] / errors[1] == pytest.approx(order, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(order, rel=0.15)


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
