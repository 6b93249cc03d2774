"""Kinematics and accelerations of random trees against Pinocchio in double precision."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.oracles import pinocchio_model, rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.joint import WORLD

COUNTS = (1, 2, 3, 5, 8, 13, 21, 34, 64)
CASES = [(count, floating, seed) for count in COUNTS for floating in (False, True) for seed in (0, 1)]


def simulate(articulation, states, precision, variant="auto"):
    """A simulation with one environment for each state."""
    simulation = Simulation(
        trees.scene(articulation),
        environments=len(states),
        settings=SolverSettings(precision=precision, variant=variant),
    )
    set_states(simulation, states)
    return simulation


def set_states(simulation, states):
    """Give each environment its state."""
    roots = {}
    if states[0].root_pose is not None:
        roots = {
            "root_pose": np.array([state.root_pose for state in states]),
            "root_velocity": np.array([state.root_velocity for state in states]),
        }
    simulation.set_state(
        joint_position=np.array([state.joint_position for state in states]),
        joint_velocity=np.array([state.joint_velocity for state in states]),
        **roots,
    )


def moved(articulation, offset):
    """The articulation at another place in the world."""

    def shifted(pose):
        return replace(pose, position=tuple(np.add(pose.position, offset)))

    return replace(
        articulation,
        links=tuple(replace(link, pose=shifted(link.pose)) for link in articulation.links),
        joints=tuple(
            replace(joint, parent_frame=shifted(joint.parent_frame)) if joint.parent == WORLD else joint
            for joint in articulation.joints
        ),
    )


def random_case(count, floating, seed, environments=5):
    """A random tree, and states and efforts for some environments."""
    rng = np.random.default_rng((count, floating, seed))
    articulation = trees.random_articulation(rng, count, floating=floating)
    states = [trees.random_state(rng, articulation) for _ in range(environments)]
    size = len(articulation.dofs) + 6 * floating
    return articulation, states, 5.0 * rng.normal(size=(environments, size)), rng


@pytest.mark.parametrize(("count", "floating", "seed"), CASES)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-10), ("float32", 1e-5)])
def test_accelerations_agree_with_pinocchio(count, floating, seed, precision, tolerance):
    """vdot under efforts, gravity, velocities and external link forces, relative to the largest entry."""
    articulation, states, efforts, rng = random_case(count, floating, seed)
    wrenches = rng.normal(size=(len(states), count, 6))
    simulation = simulate(articulation, states, precision)
    simulation.control.link_external_force.assign(wrenches.transpose(1, 2, 0))
    found = simulation.joint_acceleration(efforts).numpy()
    model = pinocchio_model.build(articulation)
    for state, effort, wrench, vdot in zip(states, efforts, wrenches, found):
        expected = pinocchio_model.acceleration(model, state, effort, wrench)
        scale = max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(vdot, expected, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize(("count", "floating", "seed"), CASES[::2])
def test_mass_matrix_by_columns(count, floating, seed):
    """Differences of accelerations under unit efforts are the columns of the inverse of Pinocchio's mass matrix."""
    articulation, states, _, _ = random_case(count, floating, seed, environments=1)
    size = len(articulation.dofs) + 6 * floating
    if size == 0:
        pytest.skip("a tree of fixed joints has no mass matrix")
    simulation = Simulation(
        trees.scene(articulation), environments=size + 1, settings=SolverSettings(precision="float64")
    )
    set_states(simulation, states * (size + 1))
    vdot = simulation.joint_acceleration(np.vstack([np.zeros(size), np.eye(size)])).numpy()
    inverse = (vdot[1:] - vdot[0]).T
    M = pinocchio_model.mass_matrix(pinocchio_model.build(articulation), states[0])
    np.testing.assert_allclose(inverse @ M, np.eye(size), atol=1e-9 * np.linalg.cond(M) ** 0.5)


@pytest.mark.parametrize(("count", "floating", "seed"), CASES)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-10), ("float32", 1e-5)])
def test_kinematics_agree_with_pinocchio(count, floating, seed, precision, tolerance):
    """Link poses and velocities, and energies."""
    articulation, states, _, _ = random_case(count, floating, seed)
    simulation = simulate(articulation, states, precision)
    pose = simulation.state.link_pose.numpy()
    velocity = simulation.state.link_velocity.numpy()
    energy = simulation.state.energy.numpy()[0]
    model = pinocchio_model.build(articulation)
    for environment, state in enumerate(states):
        rotation, position, V = pinocchio_model.link_motion(model, state)
        reach = max(1.0, np.abs(position).max())
        np.testing.assert_allclose(pose[:, :3, environment], position, rtol=0, atol=tolerance * reach)
        turned = np.array([trees.Pose((0, 0, 0), tuple(q)).rotation for q in pose[:, 3:, environment]])
        np.testing.assert_allclose(turned, rotation, rtol=0, atol=tolerance)
        scale = max(1.0, np.abs(V).max())
        np.testing.assert_allclose(velocity[:, :, environment], V, rtol=0, atol=tolerance * scale)
        motion = rigid.motion(articulation, state)
        kinetic, potential = rigid.kinetic_energy(motion), rigid.potential_energy(motion)
        np.testing.assert_allclose(
            energy[:, environment], [kinetic, potential], rtol=tolerance * 10, atol=tolerance * 10
        )


def test_scalar_and_lane_kernels_agree():
    """One environment at a time and a lane block at a time, to rounding."""
    articulation, states, efforts, _ = random_case(21, True, 7)
    found = [
        simulate(articulation, states, "float64", variant).joint_acceleration(efforts).numpy()
        for variant in ("scalar", "lanes")
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-11, atol=1e-11 * np.abs(found[0]).max())


def test_a_chain_far_from_the_origin_is_as_accurate_as_one_at_it():
    """Float32 accelerations of a chain do not change when its base, or its floating root, is 10 km away."""
    for floating in (False, True):
        rng = np.random.default_rng(3)
        near = trees.random_articulation(rng, 8, floating=floating)
        far = moved(near, (1e4, -1e4, 1e4))
        state = trees.random_state(np.random.default_rng(4), near)
        results = []
        for articulation in (near, far):
            simulation = Simulation(trees.scene(articulation))
            root = {}
            if floating:
                authored = np.asarray(articulation.links[articulation.inbound.index(None)].pose.position)
                root = {
                    "root_pose": np.concatenate([authored, state.root_pose[3:]]),
                    "root_velocity": state.root_velocity,
                }
            simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
            simulation.step(100)
            results.append((simulation.state.joint_position.numpy(), simulation.joint_acceleration().numpy()))
        np.testing.assert_array_equal(results[0][0], results[1][0])
        np.testing.assert_array_equal(results[0][1], results[1][1])
