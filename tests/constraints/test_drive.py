"""Drives: the implicit law, its bound, and acceleration drives."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive, DriveKind

H = 1.0 / 240.0


def slider(mass=2.0, **dof):
    """One link on a prismatic joint along x."""
    return trees.with_dofs(trees.chain(1, "prismatic_x", mass=mass), **dof)


def simulate(articulation, gravity=(0.0, 0.0, 0.0), **settings):
    return Simulation(trees.scene(articulation, gravity=gravity), settings=SolverSettings(dt=H, **settings))


@pytest.mark.parametrize("damping", [10.0, 1e3])
def test_a_stiff_drive_takes_a_backward_euler_step(damping):
    """One step of kp = 1e6 equals the closed form, and 10 s of it stay put."""
    mass, stiffness, q, v, target = 2.0, 1e6, 0.3, -1.0, 0.5
    drive = Drive(stiffness=stiffness, damping=damping, position_target=target)
    simulation = simulate(slider(mass, drive=drive))
    simulation.set_state(joint_position=[q], joint_velocity=[v])
    simulation.step()
    expected = (mass * v + H * stiffness * (target - q)) / (mass + H * damping + H * H * stiffness)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), [[expected]], rtol=1e-5)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), [[q + H * expected]], rtol=1e-5)
    simulation.step(2400)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), [[target]], atol=1e-5)


@pytest.mark.parametrize("damping", [10.0, 1e3])
def test_stiff_drives_hold_a_falling_chain(damping):
    """kp = 1e6 on every joint of a six-link chain is stable at 1/240 and sags as statics say."""
    chain = trees.with_dofs(trees.chain(6), drive=Drive(stiffness=1e6, damping=damping))
    simulation = simulate(chain, gravity=(0, 0, -9.81))
    simulation.step(2400)
    state = trees.authored_state(chain)
    effort = rigid.gravity_effort(rigid.motion(chain, state))
    np.testing.assert_allclose(simulation.state.joint_position.numpy()[:, 0], effort / 1e6, rtol=2e-2, atol=1e-7)


def test_random_trees_step_as_the_dense_law_says():
    """(M + h slope) (v+ - v) = h (effort + bias - slope v - C - g) on trees with all joint types."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        tree = trees.random_articulation(rng, 9, floating=bool(seed % 2))
        drives = [Drive(stiffness=float(k), damping=float(d)) for k, d in rng.uniform(0, 300, (len(tree.dofs), 2))]
        tree = trees.with_dofs(tree, drive=drives)
        state = trees.random_state(rng, tree)
        simulation = Simulation(trees.scene(tree), settings=SolverSettings(dt=H, precision="float64"))
        root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
        simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
        simulation.step()
        motion = rigid.motion(tree, state)
        roots = motion.velocity.size - len(tree.dofs)
        stiffness = np.array([0.0] * roots + [drive.stiffness for drive in drives])
        damping = np.array([0.0] * roots + [drive.damping for drive in drives])
        slope = damping + H * stiffness
        position = np.concatenate([np.zeros(roots), state.joint_position])
        effort = -stiffness * position - slope * motion.velocity
        effort -= rigid.coriolis_effort(motion) + rigid.gravity_effort(motion)
        change = np.linalg.solve(rigid.mass_matrix(motion) + H * np.diag(slope), H * effort)
        expected = (motion.velocity + change)[roots:]
        np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[:, 0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("stiffness", [1e2, 1e5, 1e8])
def test_max_force_bounds_the_whole_reaction(stiffness):
    """A drive far from its target accelerates its dof by the maximum force, however stiff it is."""
    drive = Drive(stiffness=stiffness, damping=stiffness * 0.01, position_target=100.0, max_force=3.0)
    simulation = simulate(slider(2.0, drive=drive))
    simulation.step(24)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), [[3.0 / 2.0 * 0.1]], rtol=2e-5)


def test_a_saturated_drive_in_a_tree_applies_its_maximum_force():
    """The step of a tree in which some drives saturate equals the dense step with those replaced by their bounds."""
    rng = np.random.default_rng(5)
    tree = trees.random_articulation(rng, 8, floating=True, kinds=("revolute_x", "revolute_y", "prismatic_z"))
    count = len(tree.dofs)
    drives = [
        Drive(stiffness=1e4, damping=10.0, position_target=float(target), max_force=5.0)
        for target in rng.normal(size=count)
    ]
    tree = trees.with_dofs(tree, drive=drives)
    state = trees.random_state(rng, tree, speed=0.1)
    simulation = Simulation(
        trees.scene(tree), settings=SolverSettings(dt=H, precision="float64", position_iterations=200)
    )
    simulation.set_state(
        joint_position=state.joint_position,
        joint_velocity=state.joint_velocity,
        root_pose=state.root_pose,
        root_velocity=state.root_velocity,
    )
    simulation.step()
    motion = rigid.motion(tree, state)
    after = np.concatenate(
        [simulation.state.root_velocity.numpy()[0, :, 0], simulation.state.joint_velocity.numpy()[:, 0]]
    )
    passive = rigid.coriolis_effort(motion) + rigid.gravity_effort(motion)
    force = (rigid.mass_matrix(motion) @ (after - motion.velocity) / H + passive)[6:]
    target = np.array([drive.position_target for drive in drives])
    wanted = 1e4 * (target - state.joint_position - H * after[6:]) - 10.0 * after[6:]
    assert (np.abs(wanted) > 5.0).sum() >= 3
    np.testing.assert_allclose(force, np.clip(wanted, -5.0, 5.0), atol=1e-4)


def test_acceleration_drives_do_not_depend_on_mass():
    """The same acceleration drive moves light and heavy links alike, with armature and in a tree."""
    drive = Drive(kind=DriveKind.ACCELERATION, stiffness=100.0, damping=4.0, position_target=1.0)
    paths = []
    for mass in (0.01, 1.0, 500.0):
        simulation = simulate(slider(mass, drive=drive))
        paths.append(simulation.record(120).joint_position[:, 0, 0])
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-5)
    np.testing.assert_allclose(paths[2], paths[1], atol=1e-5)
    v = (100.0 * H) / (1.0 + H * 4.0 + H * H * 100.0)
    np.testing.assert_allclose(paths[1][1], H * v, rtol=1e-5)


def test_acceleration_drives_use_the_effective_inertia_of_their_dof():
    """In a tree the gains are multiplied by 1 / (M^-1)_ii, M with armature."""
    rng = np.random.default_rng(8)
    tree = trees.random_articulation(rng, 6, floating=False, kinds=("revolute_x", "revolute_y"))
    drives = [Drive(kind=DriveKind.ACCELERATION, stiffness=50.0, damping=2.0, position_target=0.3)]
    tree = trees.with_dofs(tree, drive=[*drives, *[None] * (len(tree.dofs) - 1)])
    state = trees.random_state(rng, tree)
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(dt=H, precision="float64"))
    simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity)
    simulation.step()
    motion = rigid.motion(tree, state)
    M = rigid.mass_matrix(motion)
    inertia = 1.0 / np.linalg.inv(M)[0, 0]
    slope = np.zeros(len(tree.dofs))
    slope[0] = inertia * (2.0 + H * 50.0)
    effort = -rigid.coriolis_effort(motion) - rigid.gravity_effort(motion) - slope * motion.velocity
    effort[0] += inertia * 50.0 * (0.3 - state.joint_position[0])
    expected = motion.velocity + np.linalg.solve(M + H * np.diag(slope), H * effort)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[:, 0], expected, rtol=1e-9, atol=1e-9)
