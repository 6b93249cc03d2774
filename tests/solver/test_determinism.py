"""The same environment is bitwise the same in any batch and slot."""

import numpy as np
import pytest

from tests import trees
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.friction import Friction
from warp_artic.description.limit import ConeLimit, Limit


def busy_tree():
    """A floating tree with every joint type in which drives saturate, limits are met and friction slides."""
    rng = np.random.default_rng(11)
    tree = trees.random_articulation(rng, 12, floating=True)
    drives = [
        Drive(
            kind=DriveKind.ACCELERATION if k % 5 == 0 else DriveKind.FORCE,
            stiffness=float(rng.uniform(10, 1e4)),
            damping=float(rng.uniform(0, 50)),
            position_target=float(rng.normal()),
            max_force=8.0 if k % 3 == 0 else np.inf,
        )
        for k in range(len(tree.dofs))
    ]
    tree = trees.with_dofs(
        tree,
        drive=drives,
        limit=[Limit(lower=-0.6, upper=0.5) if k % 2 else None for k in range(len(drives))],
        friction=[Friction(static_effort=0.3, dynamic_effort=0.2) if k % 4 == 0 else None for k in range(len(drives))],
        velocity_limit=[2.0 if k % 7 == 0 else np.inf for k in range(len(drives))],
    )
    joints = [
        trees.replace(joint, cone_limit=ConeLimit(angle_1=0.8, angle_2=0.6)) if len(joint.dofs) == 3 else joint
        for joint in tree.joints
    ]
    return trees.replace(tree, joints=tuple(joints))


def final_states(tree, states, environments, slots, precision, steps=60):
    """Final positions, velocities and root poses of the given states, put into the given slots of a batch."""
    simulation = Simulation(
        trees.scene(tree),
        environments=environments,
        settings=SolverSettings(dt=1 / 240, variant="lanes", precision=precision),
    )
    rng = np.random.default_rng(environments)
    others = [trees.random_state(rng, tree, speed=2.0) for _ in range(environments)]
    for slot, state in zip(slots, states):
        others[slot] = state
    simulation.set_state(
        joint_position=np.array([state.joint_position for state in others]),
        joint_velocity=np.array([state.joint_velocity for state in others]),
        root_pose=np.array([state.root_pose for state in others]),
        root_velocity=np.array([state.root_velocity for state in others]),
    )
    simulation.step(steps)
    assert not [failure for failure in simulation.failures() if failure.environment in slots]
    return [
        np.concatenate(
            [
                simulation.state.joint_position.numpy()[:, slot],
                simulation.state.joint_velocity.numpy()[:, slot],
                simulation.state.root_pose.numpy()[0, :, slot],
                simulation.state.root_velocity.numpy()[0, :, slot],
            ]
        )
        for slot in slots
    ]


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_results_do_not_depend_on_batch_slot_or_neighbours(precision):
    """Bitwise equal in batches of 1, 17 and 1000, at the front, in the middle and at the end."""
    tree = busy_tree()
    rng = np.random.default_rng(2)
    states = [trees.random_state(rng, tree) for _ in range(3)]
    alone = [final_states(tree, [state], 1, [0], precision)[0] for state in states]
    for environments, slots in ((17, (0, 7, 16)), (17, (16, 0, 3)), (1000, (999, 15, 512))):
        for expected, found in zip(alone, final_states(tree, states, environments, slots, precision)):
            np.testing.assert_array_equal(found, expected)


def test_runs_repeat_and_bursts_equal_single_steps():
    """Two runs are bitwise equal, and so are one launch of 60 steps and 60 launches of one."""
    tree = busy_tree()
    paths = []
    for burst in (60, 60, 1):
        simulation = Simulation(trees.scene(tree), environments=5)
        for _ in range(60 // burst):
            simulation.step(burst)
        paths.append(simulation.state.joint_position.numpy().copy())
    np.testing.assert_array_equal(paths[0], paths[1])
    np.testing.assert_array_equal(paths[0], paths[2])


def test_a_checkpoint_resumes_bitwise(tmp_path):
    """Saving and loading in the middle changes nothing; another model is refused."""
    tree = busy_tree()
    whole = Simulation(trees.scene(tree), environments=3)
    whole.step(25)
    whole.save(tmp_path / "half.npz")
    whole.step(25)
    resumed = Simulation(trees.scene(tree), environments=3)
    resumed.load(tmp_path / "half.npz")
    resumed.step(25)
    assert resumed.steps_done == 50
    np.testing.assert_array_equal(resumed.state.joint_position.numpy(), whole.state.joint_position.numpy())
    other = Simulation(trees.scene(trees.chain(2)), environments=3)
    with pytest.raises(Exception, match="another model"):
        other.load(tmp_path / "half.npz")


def test_a_bad_environment_is_frozen_and_named_and_the_others_go_on():
    """A NaN effort stops one environment at its last finite state; its neighbours are bitwise unchanged."""
    tree = busy_tree()
    clean = Simulation(trees.scene(tree), environments=20)
    clean.step(30)
    dirty = Simulation(trees.scene(tree), environments=20)
    dirty.step(10)
    before = dirty.state.joint_position.numpy()[:, 4].copy()
    effort = np.zeros(dirty.control.joint_effort.shape)
    effort[3, 4] = np.nan
    dirty.control.joint_effort.assign(effort)
    dirty.step(20)
    (failure,) = dirty.failures()
    assert (failure.environment, failure.step) == (4, 11)
    assert "environment 4 stopped at step 11" in str(failure)
    others = [k for k in range(20) if k != 4]
    np.testing.assert_array_equal(
        dirty.state.joint_position.numpy()[:, others], clean.state.joint_position.numpy()[:, others]
    )
    np.testing.assert_array_equal(dirty.state.joint_position.numpy()[:, 4], before)
