"""Momentum, energy and order of convergence of the time step."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import reference_problems, rigid, step
from tests.oracles.state import State
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive


def run(tree, state, seconds, dt, gravity=rigid.GRAVITY, precision="float64"):
    """The recording of a run from a state."""
    simulation = Simulation(trees.scene(tree, gravity=gravity), settings=SolverSettings(dt=dt, precision=precision))
    root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
    simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
    return simulation.record(round(seconds / dt))


def final_state(simulation_tree, recording):
    """The public state at the end of a recording."""
    root = simulation_tree.inbound.index(None) if simulation_tree.is_floating else None
    return State(
        joint_position=recording.joint_position[-1, 0],
        joint_velocity=recording.joint_velocity[-1, 0],
        root_pose=None if root is None else recording.link_pose[-1, 0, root],
        root_velocity=None if root is None else recording.link_velocity[-1, 0, root],
    )


def test_momentum_of_a_floating_tree_without_gravity():
    """Linear momentum is exact to rounding at any step; the error of the angular one halves with the step."""
    rng = np.random.default_rng(3)
    tree = trees.random_articulation(rng, 5, floating=True, armature=False)
    state = trees.random_state(rng, tree, speed=0.3)
    expected = rigid.momentum(rigid.motion(tree, state))
    errors = []
    for dt in (1 / 480, 1 / 960, 1 / 1920):
        recording = run(tree, state, 0.5, dt, gravity=(0, 0, 0))
        found = rigid.momentum(rigid.motion(tree, final_state(tree, recording)))
        errors.append(np.abs(found - expected).max() / np.abs(expected).max())
    assert errors[2] < 2e-2
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.25)


def test_a_free_body_keeps_its_linear_momentum():
    """A body without forces moves in a straight line with its centre of mass, in float32 too."""
    tree = trees.free_body()
    state = State(
        joint_position=np.zeros(0),
        joint_velocity=np.zeros(0),
        root_pose=np.array([0, 0, 0, 0, 0, 0, 1.0]),
        root_velocity=np.array([0.3, -0.2, 0.1, 2.0, 1.0, -3.0]),
    )
    recording = run(tree, state, 2.0, 1 / 240, gravity=(0, 0, 0), precision="float32")
    np.testing.assert_array_equal(recording.link_velocity[:, 0, 0, :3], np.float32([[0.3, -0.2, 0.1]]).repeat(481, 0))


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_energy_error_halves_with_the_step(precision):
    """A free double pendulum: max |E - E0| is of first order in dt."""
    tree = trees.chain(2)
    state = State(joint_position=np.array([1.0, 0.5]), joint_velocity=np.zeros(2))
    errors = []
    for dt in (1 / 240, 1 / 480, 1 / 960):
        energy = run(tree, state, 2.0, dt, precision=precision).energy[:, 0].sum(axis=1)
        errors.append(np.abs(energy - energy[0]).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.2)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.2)


def test_the_heavy_top_converges_to_its_published_orientation():
    """Orientation at 0.1 s, at first order in dt."""
    tree, start = reference_problems.heavy_top(), reference_problems.heavy_top_start()
    expected = np.asarray(reference_problems.HEAVY_TOP_QUATERNION[0.1])
    errors = []
    for dt in (1e-4, 5e-5, 2.5e-5):
        recording = run(tree, start, 0.1, dt, gravity=reference_problems.HEAVY_TOP_GRAVITY)
        found = recording.link_pose[-1, 0, 0, 3:]
        errors.append(min(np.abs(found - expected).max(), np.abs(found + expected).max()))
    assert errors[2] < 2e-2
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.2)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.2)


@pytest.mark.parametrize("seed", range(4))
def test_driven_trees_converge_to_the_exact_trajectory(seed):
    """Random trees with drives, all joint types: first order against an ODE solver with tight tolerances."""
    rng = np.random.default_rng(40 + seed)
    tree = trees.random_articulation(rng, 5, floating=bool(seed % 2))
    drives = [Drive(stiffness=float(k), damping=0.2 * float(k)) for k in rng.uniform(5, 50, len(tree.dofs))]
    single = {dof.name for joint in tree.joints if len(joint.dofs) == 1 for dof in joint.dofs}
    drives = [drive if dof.name in single else None for drive, dof in zip(drives, tree.dofs)]
    tree = trees.with_dofs(tree, drive=drives)
    state = trees.random_state(rng, tree, speed=0.5)
    exact = step.trajectory(tree, state, np.array([0.0, 0.25]))
    errors = []
    for dt in (1 / 960, 1 / 1920, 1 / 3840):
        recording = run(tree, state, 0.25, dt)
        errors.append(np.abs(recording.joint_velocity[-1, 0] - exact.joint_velocity[-1]).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.3)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.3)


def test_a_revolute_joint_without_limits_wraps_inside_two_turns():
    """Position stays in (-2 pi, 2 pi); with limits it does not wrap."""
    tree = trees.chain(1)
    recording = run(tree, State(joint_position=np.zeros(1), joint_velocity=np.array([30.0])), 2.0, 1 / 240, (0, 0, 0))
    q = recording.joint_position[:, 0, 0]
    assert np.abs(q).max() < 2 * np.pi
    turns = (q - 30.0 * recording.time) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)


def test_a_locked_rotation_does_not_drift():
    """After two seconds of wild motion a joint with two free rotations still has no rotation about the third axis."""
    for kind, locked in (("universal_xy", 2), ("universal_yz", 0), ("universal_xz", 1)):
        tree = trees.chain(1, kind)
        start = State(joint_position=np.array([0.3, -0.2]), joint_velocity=np.array([3.0, 2.0]))
        recording = run(tree, start, 2.0, 1 / 240, precision="float32")
        for pose in recording.link_pose[::40, 0, 0]:
            R = trees.Pose((0, 0, 0), tuple(pose[3:].astype(float))).rotation
            assert abs(trees.rotation_vector_from_matrix(R)[locked]) < 1e-5
