"""Fixed tendons and mimic joints on joints with several rotations: rates, forces, and energy over a minute."""

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_rotation_drive import bodies, drives_of, simulate
from tests.oracles import couplings
from tests.oracles.rotation_drive import spring_energy
from tests.oracles.simulated_state import put
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon

KINDS = ("spherical", "zero_twist")
STIFFNESS, REST = 40.0, 0.3


def tied(tree, dofs=None, coefficients=(1.0, -0.7, 0.5), **options):
    """The tree with a tendon over two dofs of the first joint, if it has as many, and one of the last."""
    if dofs is None:
        dofs = tuple(dict.fromkeys((0, 1, len(tree.dofs) - 1)))
        coefficients = coefficients[: len(dofs)]
    tendon = FixedTendon(
        name="/World/tendon",
        dofs=dofs,
        coefficients=coefficients,
        force_coefficients=coefficients,
        stiffness=STIFFNESS,
        rest_length=REST,
        **options,
    )
    return trees.replace(tree, fixed_tendons=(tendon,))


@pytest.mark.parametrize("seed", range(4))
def test_coefficients_are_the_gradient_of_the_length(seed):
    """The coefficient matrix on random trees with joints of every kind, by finite differences of displacements."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 9, floating=bool(seed % 2))
    dofs = tuple(int(dof) for dof in rng.choice(len(tree.dofs), 5, replace=False))
    c = tuple(float(value) for value in rng.normal(size=5))
    gears = Mimic(name="/World/mimic", dofs=dofs[::-1], gears=c)
    tree = trees.replace(tied(tree, dofs, c), mimics=(gears,))
    simulation = simulate(tree, precision="float64")
    state = trees.random_state(rng, tree)
    put(simulation, state)
    matrix = simulation.coefficient_matrix().numpy()[0]
    for column, (chosen, values) in enumerate(((dofs, c), (dofs[::-1], c))):
        weights = np.zeros(len(tree.dofs))
        weights[list(chosen)] = values
        np.testing.assert_allclose(matrix[:, column], couplings.gradient(tree, state, weights), atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_speeds_are_rates_of_lengths(kind):
    """Along a motion: the reported speed is the derivative of the reported length."""
    tree = tied(bodies(kind))
    simulation = simulate(tree, precision="float64", dt=1e-4)
    simulation.set_state(
        joint_position=np.full(len(tree.dofs), 0.9), joint_velocity=np.linspace(2.0, -3.0, len(tree.dofs))
    )
    lengths, speeds = [], []
    simulation.step(3)
    for _ in range(3):
        lengths.append(float(simulation.state.tendon_length.numpy()[0, 0]))
        speeds.append(float(simulation.state.tendon_speed.numpy()[0, 0]))
        simulation.step()
    assert (lengths[2] - lengths[0]) / 2e-4 == pytest.approx(speeds[1], abs=1e-5)
    assert abs(speeds[1]) > 0.1


TIED = (*KINDS, "universal_xy", "revolute_y", "cylindrical", "slide_ball")
BATCHES = (("float32", 1), ("float32", 16), ("float64", 4))


@pytest.mark.parametrize(
    ("kind", "solver", "precision", "environments"),
    [(kind, "direct", *batch) for kind in TIED for batch in BATCHES]
    + [(kind, "tgs", "float32", 16) for kind in TIED]
    + [("slide_ball", "tgs", *batch) for batch in BATCHES if batch[1] != 16],
)
def test_undamped_tendons_keep_their_energy(kind, solver, precision, environments):
    """A tendon across two joints, on springs that keep them near their targets: for a minute, within 2 %."""
    rate = 480 if solver == "direct" else 960
    gains, target = (40.0, 6.0, 5.0, 7.0) if "slide" in kind else (4.0, 6.0, 5.0), (0.4, -0.3, 0.2, 0.3)
    tree = tied(bodies(kind, drives=drives_of(kind, gains, target)))
    dofs = len(tree.dofs) // 2
    simulation = simulate(tree, environments, precision=precision, solver=solver, dt=1.0 / rate)
    rng = np.random.default_rng(5)
    simulation.set_state(
        joint_position=0.2 * rng.uniform(-1.0, 1.0, (environments, len(tree.dofs))),
        joint_velocity=0.5 * rng.uniform(-1.0, 1.0, (environments, len(tree.dofs))),
    )
    recording = simulation.record(steps=60 * rate, every=16)
    q = recording.joint_position.astype(float)
    energy = recording.energy[..., 0].astype(float).reshape(q.shape[:2])
    energy += 0.5 * STIFFNESS * (recording.tendon_length[..., 0].astype(float) - REST) ** 2
    for joint, part in zip(tree.joints, (slice(0, dofs), slice(dofs, 2 * dofs))):
        energy += spring_energy(joint, gains[:dofs], q[..., part], target[:dofs])
    energy = energy[1:]  # the first step is one of implicit Euler for rows
    assert (np.abs(energy - energy[0]).max(axis=0) / energy[0]).max() < 0.02


@pytest.mark.parametrize(("precision", "environments"), [("float32", 1), ("float32", 16), ("float64", 4)])
@pytest.mark.parametrize("frequency", [0.0, 3.0])
@pytest.mark.parametrize("kind", [*KINDS, "universal_xy", "cylindrical"])
def test_mimic_joints_take_no_energy(kind, frequency, precision, environments):
    """q_0 = q_1 / 2 of two joints on springs, for a minute: hard ones hold to 1e-4, and energy stays within 2 %.

    The spring of a compliant one is as stiff as its effective mass has it, which changes with the pose: it may do some
    work, but must not feed itself.
    """
    gains = (4.0, 6.0, 5.0)
    tree = bodies(kind, drives=drives_of(kind, gains, (0.0, 0.0, 0.0)))
    dofs = len(tree.dofs) // 2
    mimic = Mimic(name="/World/mimic", dofs=(0, dofs + 1), gears=(1.0, -0.5), natural_frequency=frequency)
    tree = trees.replace(tree, mimics=(mimic,))
    simulation = simulate(tree, environments, precision=precision, dt=1 / 480)
    rng = np.random.default_rng(1)
    simulation.set_state(joint_velocity=0.5 * rng.uniform(-1.0, 1.0, (environments, len(tree.dofs))))
    recording = simulation.record(steps=28800, every=8)
    q = recording.joint_position.astype(float)
    energy = recording.energy[..., 0].astype(float).reshape(q.shape[:2])
    for joint, part in zip(tree.joints, (slice(0, dofs), slice(dofs, 2 * dofs))):
        energy += spring_energy(joint, gains[:dofs], q[..., part], (0.0, 0.0, 0.0)[:dofs])
    energy = energy[2:]
    if frequency:
        assert (energy[-900:].max(axis=0) / energy[:900].max(axis=0)).max() < 1.1
    else:
        assert np.abs(recording.mimic_error[2:]).max() < 1e-4
        assert (np.abs(energy - energy[0]).max(axis=0) / energy[0]).max() < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_positions_that_are_coupled_do_not_jump_at_half_a_turn(kind):
    """A body that a tendon turns on from its joint passes half a turn without a jump of the length."""
    tree = tied(bodies(kind, 1), dofs=(0,), coefficients=(1.0,))
    simulation = simulate(tree, precision="float64")
    simulation.set_state(joint_velocity=[9.0, *[0.3] * (len(tree.dofs) - 1)])
    recording = simulation.record(steps=240)
    lengths = recording.tendon_length[:, 0, 0]
    assert np.abs(np.diff(lengths)).max() < 0.1
