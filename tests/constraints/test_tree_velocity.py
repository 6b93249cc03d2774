"""Velocity limits of a floating articulation as a whole: of its centre of mass, and of its rotation as one body."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.constraints import table
from warp_artic.mechanisms.tree import tree_of

H = 1.0 / 240.0
SOLVERS = ("direct", "pgs", "tgs")
SINGLE = ("revolute_x", "revolute_y", "prismatic_z", "fixed")


def whole_motion(tree, state):
    """v_C and w of all links as one, shape (2, 3), in plain NumPy."""
    motion = rigid.motion(tree, state)
    masses = np.array([link.mass for link in tree.links])
    total = rigid.momentum(motion)
    center, v = rigid.center_of_mass(motion), total[:3] / masses.sum()
    L = total[3:] - np.cross(center, total[:3])
    inertia = np.zeros((3, 3))
    for mass, p, block in zip(masses, motion.p_WC - center, rigid.spatial_inertias(motion)):
        inertia += block[3:, 3:] + mass * (p @ p * np.eye(3) - np.outer(p, p))
    return np.array([v, np.linalg.solve(inertia, L)])


def state_of(simulation):
    state = simulation.state
    return trees.State(
        joint_position=state.joint_position.numpy()[:, 0],
        joint_velocity=state.joint_velocity.numpy()[:, 0],
        root_pose=state.root_pose.numpy().reshape(-1),
        root_velocity=state.root_velocity.numpy().reshape(-1),
    )


def begin(tree, state, gravity=(0.0, 0.0, 0.0), **settings):
    options = {"precision": "float64", **settings}
    simulation = Simulation(trees.scene(tree, gravity=gravity), settings=SolverSettings(dt=H, **options))
    root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
    simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
    return simulation


def random_case(seed, speed=3.0, **options):
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 7, floating=True, **options)
    return tree, trees.random_state(rng, tree, speed=speed)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_both_limits_hold_after_each_step(solver, integrator):
    """On random trees, in the pose at the end of the step; a limit that is above the motion does nothing."""
    for seed in range(5):
        tree, state = random_case(seed)
        limits = np.array([0.4, 0.6])
        limited = replace(tree, max_linear_velocity=0.4, max_angular_velocity=0.6)
        assert np.all(np.linalg.norm(whole_motion(tree, state), axis=1) > limits)
        simulation = begin(limited, state, solver=solver, integrator=integrator)
        for _ in range(6):
            simulation.step()
            found = np.linalg.norm(whole_motion(tree, state_of(simulation)), axis=1)
            np.testing.assert_array_less(found, limits * (1 + 1e-9))
        loose = replace(tree, max_linear_velocity=1e3, max_angular_velocity=1e3)
        ends = [begin(one, state, solver=solver, integrator=integrator) for one in (tree, loose)]
        for one in ends:
            one.step(6)
        velocities = [one.state.joint_velocity.numpy() for one in ends]
        np.testing.assert_allclose(*velocities, rtol=1e-12, atol=1e-12)


def test_joints_do_not_feel_it():
    """The change of velocity is that of one rigid body: joints keep theirs; it is against the motion.

    Of joints with one axis, where velocity forces are those of the start of the step, limited or not.
    """
    for seed in range(6):
        tree, state = random_case(seed, kinds=SINGLE)
        limited = replace(tree, max_linear_velocity=0.4, max_angular_velocity=0.6)
        free, slow = (begin(one, state, integrator="semi_implicit") for one in (tree, limited))
        free.step()
        slow.step()
        after, before = state_of(slow), state_of(free)
        np.testing.assert_allclose(after.joint_velocity, before.joint_velocity, atol=1e-10)
        v, w = whole_motion(
            tree, replace(state, joint_velocity=after.joint_velocity, root_velocity=after.root_velocity)
        )
        v_free, w_free = whole_motion(
            tree, replace(state, joint_velocity=before.joint_velocity, root_velocity=before.root_velocity)
        )
        v_end, w_end = whole_motion(tree, after)
        for change, end, limit in ((v_free - v, v_end, 0.4), (w_free - w, w_end, 0.6)):
            assert np.linalg.norm(end) == pytest.approx(limit, rel=1e-9)
            assert change @ end > 0.0
        np.testing.assert_allclose(np.linalg.norm(v_free - v), (v_free - v) @ v_end / 0.4, rtol=1e-9)
        motion = rigid.motion(tree, state)
        M = rigid.mass_matrix(motion)
        kinetic = [0.5 * rigid.velocity(tree, one) @ M @ rigid.velocity(tree, one) for one in (before, after)]
        assert kinetic[1] < kinetic[0]


def test_a_falling_chain_has_its_terminal_speed():
    """It falls freely as a whole until its centre has the largest speed, and with no more than that from then on."""
    tree = replace(trees.chain(3, floating=True), max_linear_velocity=2.0)
    state = replace(trees.authored_state(tree), joint_velocity=np.array([1.0, -2.0]))
    simulation = begin(tree, state, gravity=(0, 0, -9.81), precision="float32")
    start = whole_motion(tree, state)[0]
    for step in range(1, 121):
        simulation.step()
        speed = np.linalg.norm(whole_motion(tree, state_of(simulation))[0])
        free = np.linalg.norm(start + [0, 0, -9.81 * step * H])
        assert speed <= 2.0 * (1 + 2e-5)
        assert speed == pytest.approx(min(free, 2.0), rel=1e-3)  # a step of whirling links changes momentum a little


def test_the_joints_of_a_slowed_tree_transmit_what_they_would_alone():
    """Incoming joint forces are those of the free tree: the limit acts on all links from outside of it."""
    tree, state = random_case(3, kinds=SINGLE)
    limited = replace(tree, max_linear_velocity=0.4, max_angular_velocity=0.6)
    forces = []
    for one in (tree, limited):
        simulation = begin(one, state, integrator="semi_implicit")
        forces.append(simulation.record(1, forces=True).link_incoming_joint_force[1])
    np.testing.assert_allclose(*forces, rtol=1e-9, atol=1e-9 * np.abs(forces[0]).max())


def test_a_fixed_base_has_no_such_rows():
    """What PhysX says of it too; a floating tree has three rows for each of the two."""
    speeds = {"max_linear_velocity": 1.0, "max_angular_velocity": 2.0}
    assert tree_of(replace(trees.chain(2), **speeds)).rows == ()
    rows = tree_of(replace(trees.chain(2, floating=True), **speeds)).rows
    assert [row.family for row in rows] == [table.TREE_SPEED] * 3 + [table.TREE_SPIN] * 3


def test_environments_are_limited_alike_in_every_batch():
    """Bitwise the same alone in its lane block, among others and in another order."""
    tree = replace(trees.chain(4, floating=True), max_linear_velocity=1.0, max_angular_velocity=2.0)
    velocity = np.random.default_rng(2).normal(size=(20, 3)) * 4.0

    def run(order):
        settings = SolverSettings(dt=H, variant="lanes")
        simulation = Simulation(trees.scene(tree), environments=len(order), settings=settings)
        simulation.set_state(joint_velocity=velocity[order])
        simulation.step(60)
        return simulation.state.joint_position.numpy().T

    whole = run(np.arange(20))
    order = np.random.default_rng(3).permutation(20)[:9]
    np.testing.assert_array_equal(run(order), whole[order])
    np.testing.assert_array_equal(run(np.array([4])), whole[[4]])
