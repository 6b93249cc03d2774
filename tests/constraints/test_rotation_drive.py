"""Drives of joints with two or three rotations: their potential, their torque, and steps of any stiffness."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests import simulations, trees
from tests.oracles.couplings import STENCIL
from tests.oracles.movement import moved_joint
from tests.oracles.rotation_drive import potential
from warp_artic.description.drive import Drive

KINDS = ("spherical", "zero_twist")
GAINS = ((30.0, 30.0, 30.0), (50.0, 10.0, 0.0), (0.0, 0.0, 40.0))


def bodies(kind, count=2, reverse=False, drives=()):
    """Links of 1 kg with inertias of like size, each on a joint of a kind; a drive for each dof of a joint."""
    tree = trees.chain(count, kind)
    links = tuple(trees.replace(link, inertia=(0.05, 0.01, 0.0, 0.06, 0.0, 0.07)) for link in tree.links)
    joints = tuple(trees.replace(joint, reversed=reverse) for joint in tree.joints)
    tree = trees.replace(tree, links=links, joints=joints)
    return trees.with_dofs(tree, drive=list(drives) * count) if drives else tree


def drives_of(kind, gains, target, **options):
    dofs = len((trees.JOINT_KINDS | trees.FREER_KINDS)[kind])
    return [Drive(stiffness=gains[k], position_target=target[k], **options) for k in range(dofs)]


simulate = partial(simulations.simulate, gravity=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("gains", GAINS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_torque_is_the_gradient_of_the_potential(kind, gains, reverse):
    """At random poses and targets: - dU by finite differences of displacements, to 1e-7; a step of no length."""
    rng = np.random.default_rng(1)
    dofs = len(trees.JOINT_KINDS[kind])
    for _ in range(12):
        q, target = (rng.uniform(-1.0, 1.0, dofs) * rng.uniform(0.5, 1.6) for _ in range(2))
        tree = bodies(kind, 1, reverse, drives_of(kind, gains, target))
        joint, k = tree.joints[0], np.array(gains[:dofs])
        simulation = simulate(tree, precision="float64", dt=1e-9)
        simulation.set_state(joint_position=q)
        simulation.step(1, forces=True)
        found = simulation.state.joint_drive_force.numpy()[:, 0]
        wanted = np.zeros(dofs)
        for i, direction in enumerate(np.eye(dofs)):
            for time, weight in STENCIL:
                wanted[i] -= weight * potential(joint, k, moved_exactly(joint, q, direction, time), target)
        np.testing.assert_allclose(found, wanted / STENCIL[0][0], atol=1e-7 * max(np.abs(wanted).max() * 1e3, 1.0))


def moved_exactly(joint, q, direction, time):
    """A public position after a small displacement, in parts that leave no error of the explicit midpoint rule."""
    for _ in range(8):
        q = moved_joint(joint, q, direction, time / 8.0)
    return q


@pytest.mark.parametrize("reverse", [False, True])
def test_equal_gains_give_twice_the_vector_of_the_quaternion(reverse):
    """tau = k 2 vec(q^-1 q*) - d omega on a ball joint, as PhysX has it."""
    rng = np.random.default_rng(2)
    k, d = 30.0, 2.0
    for _ in range(8):
        q, target, v = rng.normal(size=(3, 3))
        tree = bodies("spherical", 1, reverse, drives_of("spherical", (k,) * 3, target, damping=d))
        simulation = simulate(tree, precision="float64", dt=1e-9)
        simulation.set_state(joint_position=q, joint_velocity=v)
        simulation.step(1, forces=True)
        pose = Rotation.from_rotvec(q)
        x = (pose.inv() * Rotation.from_rotvec(target)).as_quat(canonical=True)[:3]
        if reverse:  # the first frame of the joint is that of the child
            x = pose.apply(x)
        np.testing.assert_allclose(simulation.state.joint_drive_force.numpy()[:, 0], 2.0 * k * x - d * v, atol=1e-6)


@pytest.mark.parametrize(("precision", "environments"), [("float32", 1), ("float32", 16), ("float64", 4)])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("gains", [(30.0, 30.0, 30.0), (50.0, 20.0, 10.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_undamped_drives_keep_their_energy(kind, gains, reverse, precision, environments):
    """Two bodies on springs towards turned targets, for a minute at 480 Hz: within 2 % of the whole."""
    target = (0.5, -0.7, 0.4)
    tree = bodies(kind, 2, reverse, drives_of(kind, gains, target))
    dofs = len(tree.dofs) // 2
    rng = np.random.default_rng(3)
    simulation = simulate(tree, environments, precision=precision, dt=1.0 / 480.0)
    shape = environments, len(tree.dofs)
    simulation.set_state(
        joint_position=np.tile(target[:dofs], 2) + 0.3 * rng.normal(size=shape), joint_velocity=rng.normal(size=shape)
    )
    recording = simulation.record(steps=60 * 480, every=16)
    q = recording.joint_position.astype(float)
    energy = recording.energy[..., 0].astype(float).reshape(q.shape[:2])
    for joint, part in zip(tree.joints, (slice(0, dofs), slice(dofs, 2 * dofs))):
        energy += potential(joint, gains[:dofs], q[..., part], target[:dofs])
    assert (np.abs(energy - energy[0]).max(axis=0) / energy[0]).max() < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_steps_with_such_drives_are_of_second_order(kind):
    """Positions after half a second: errors fall with the square of the step, once the step resolves the drives."""
    ends = []
    for rate in (480, 960, 1920, 15360):
        tree = bodies(kind, 2, drives=drives_of(kind, (50.0, 10.0, 20.0), (0.5, -0.7, 0.4), damping=0.5))
        simulation = simulate(tree, precision="float64", dt=1.0 / rate, gravity=(0.0, 0.0, -9.81))
        simulation.set_state(joint_velocity=np.linspace(1.0, -1.0, len(tree.dofs)))
        ends.append(simulation.record(rate // 2).joint_position[-1, 0])
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert errors[0] < 1.5e-4
    assert errors[1] < errors[0] / 3.2 and errors[2] < errors[1] / 3.2


@pytest.mark.parametrize("solver", ["direct", "tgs"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(("gains", "damping"), [((1e6,) * 3, 0.0), ((1e6, 1e3, 0.0), 1e3), ((1e8,) * 3, 1e4)])
@pytest.mark.parametrize("kind", KINDS)
def test_stiff_drives_come_to_rest_on_their_targets(kind, gains, damping, precision, solver):
    """Three links against gravity, let go beside the targets, at 240 Hz: no torque but what holds their weight."""
    target = (0.5, -0.7, 0.4)
    tree = bodies(kind, 3, drives=drives_of(kind, gains, target, damping=damping))
    dofs = len(tree.dofs) // 3
    rng = np.random.default_rng(4)
    simulation = simulate(tree, 4, precision=precision, solver=solver, gravity=(0.0, 0.0, -9.81))
    shape = 4, len(tree.dofs)
    simulation.set_state(
        joint_position=np.tile(target[:dofs], 3) + 0.2 * rng.normal(size=shape), joint_velocity=rng.normal(size=shape)
    )
    recording = simulation.record(steps=1200)
    driven = np.tile(np.array(gains[:dofs]) > 1e5, 3)
    error = recording.joint_position[-1] - np.tile(target[:dofs], 3)
    if driven.all():
        assert np.abs(error).max() < 1e-4 and np.abs(recording.joint_velocity[-1]).max() < 1e-3
    assert np.abs(recording.joint_velocity[600:]).max() < 1.0
