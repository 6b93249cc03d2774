"""Velocity limits of links: exact for one link, an impulse against the motion of that link in a tree, never a gain."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.model.families import Family
from warp_artic.model.tree import tree_of

H = 1.0 / 240.0


def simulate(tree, gravity=(0.0, 0.0, 0.0), environments=1, **settings):
    return Simulation(
        trees.scene(tree, gravity=gravity), environments=environments, settings=SolverSettings(dt=H, **settings)
    )


def with_links(tree, **changes):
    """The tree with fields of its links replaced; a value may be a sequence, one entry a link."""
    links = [
        replace(link, **{name: trees.entry(value, k) for name, value in changes.items()})
        for k, link in enumerate(tree.links)
    ]
    return replace(tree, links=tuple(links))


def start(simulation, state):
    root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
    simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)


def velocity_of(simulation):
    """The generalized velocity of environment 0, root first."""
    root = simulation.state.root_velocity.numpy().reshape(-1)
    return np.concatenate([root, simulation.state.joint_velocity.numpy()[:, 0]])


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_a_falling_body_keeps_its_largest_velocity(integrator):
    """It falls freely until then, and at exactly that speed afterwards."""
    simulation = simulate(
        with_links(trees.free_body(), max_linear_velocity=3.0), gravity=(0, 0, -9.81), integrator=integrator
    )
    recording = simulation.record(240)
    speed = np.linalg.norm(recording.link_velocity[:, 0, 0, :3], axis=-1)
    np.testing.assert_allclose(speed, np.minimum(9.81 * recording.time, 3.0), rtol=1e-5, atol=1e-6)


def test_a_spinning_body_is_slowed_to_its_largest_spin():
    """A tumbling body without torque that starts too fast has its limit after two steps and loses no more than that."""
    simulation = simulate(with_links(trees.free_body(), max_angular_velocity=4.0), precision="float64")
    simulation.set_state(root_pose=[0, 0, 0, 0, 0, 0, 1], root_velocity=[1.0, 2.0, 3.0, 3.0, 5.0, -4.0])
    recording = simulation.record(480)
    spin = np.linalg.norm(recording.link_velocity[1:, 0, 0, 3:], axis=-1)
    assert spin[0] <= 4.0 * 1.05 and spin[1:].max() <= 4.0 * (1 + 1e-4)
    assert np.diff(recording.energy[:, 0, 0]).max() <= 1e-6  # the drift of a free tumble
    np.testing.assert_allclose(recording.link_velocity[:, 0, 0, :3], np.tile([1.0, 2.0, 3.0], (481, 1)), rtol=1e-12)


def test_a_pendulum_swings_no_faster_than_its_link_may():
    """The centre of its rod, at a radius of 0.25 m, moves at 1.5 m/s at most, and so does the energy not grow."""
    tree = with_links(trees.chain(1), max_linear_velocity=1.5)
    simulation = simulate(tree, gravity=(0, 0, -9.81))
    simulation.set_state(joint_position=[3.0])
    recording = simulation.record(720)
    speed = np.abs(recording.joint_velocity[:, 0, 0]) * 0.25
    assert speed.max() <= 1.5 * (1 + 1e-5) and speed.max() > 1.499
    total = recording.energy[:, 0].sum(-1)
    assert total.max() <= total[0] + 1e-4


def test_an_impulse_acts_against_the_motion_of_its_link_alone():
    """On random trees M (v+ - free v+) = - z J_C^T d of the one limited link, and its velocity along d is the limit."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        tree = trees.random_articulation(rng, 9, floating=bool(seed % 2), reverse=True)
        state = trees.random_state(rng, tree, speed=3.0)
        J = rigid.motion(tree, state).J
        link = max(range(9), key=lambda k: np.linalg.norm(J[k] @ rigid.motion(tree, state).velocity))
        part = slice(0, 3) if seed < 4 else slice(3, 6)
        name = "max_linear_velocity" if seed < 4 else "max_angular_velocity"
        limits = [1.0 if k == link else np.inf for k in range(9)]
        after = []
        for limited in (tree, with_links(tree, **{name: limits})):
            simulation = simulate(limited, precision="float64", integrator="semi_implicit")
            start(simulation, state)
            simulation.step()
            after.append(velocity_of(simulation))
        motion = rigid.motion(tree, state)
        v_free = J[link, part] @ after[0]
        d = v_free / np.linalg.norm(v_free)
        assert np.linalg.norm(v_free) > 1.0
        direction = J[link, part].T @ d
        impulse = rigid.mass_matrix(motion) @ (after[1] - after[0])
        z = impulse @ direction / (direction @ direction)
        assert z < 0.0
        np.testing.assert_allclose(impulse, z * direction, atol=1e-8 * abs(z))
        np.testing.assert_allclose(d @ J[link, part] @ after[1], 1.0, rtol=1e-9)


def test_a_whipping_chain_stays_below_its_limits():
    """Every link of a falling chain keeps both limits within a hundredth, and no energy comes."""
    tree = with_links(trees.chain(6), max_linear_velocity=2.0, max_angular_velocity=6.0)
    simulation = simulate(tree, gravity=(0, 0, -9.81))
    simulation.set_state(joint_position=[1.5, 0, 0.5, 0, -1.0, 0])
    recording = simulation.record(960)
    v = recording.link_velocity[1:, 0]
    assert np.linalg.norm(v[..., :3], axis=-1).max() <= 2.0 * 1.01
    assert np.linalg.norm(v[..., 3:], axis=-1).max() <= 6.0 * 1.01
    assert np.linalg.norm(v[..., :3], axis=-1).max() > 1.99
    total = recording.energy[:, 0].sum(-1)
    assert total.max() <= total[0] + 1e-3


def test_unlimited_links_have_no_rows():
    """A row exists for each limit of a link that moves, and none where there is no limit."""
    chain = trees.chain(3)
    assert tree_of(chain).rows == ()
    limited = with_links(chain, max_linear_velocity=[np.inf, 2.0, 3.0], max_angular_velocity=[1.0, np.inf, np.inf])
    assert [row.family for row in tree_of(limited).rows] == [Family.LINK_SPEED] * 2 + [Family.LINK_SPIN]


def test_environments_are_limited_alike_in_every_batch():
    """Bitwise the same alone in its lane block, among others and in another order."""
    tree = with_links(trees.chain(4), max_linear_velocity=1.5, max_angular_velocity=5.0)
    velocity = np.random.default_rng(2).normal(size=(20, 4)) * 4.0

    def run(order):
        simulation = simulate(tree, gravity=(0, 0, -9.81), environments=len(order), variant="lanes")
        simulation.set_state(joint_velocity=velocity[order])
        simulation.step(120)
        return simulation.state.joint_position.numpy().T

    whole = run(np.arange(20))
    order = np.random.default_rng(3).permutation(20)[:9]
    np.testing.assert_array_equal(run(order), whole[order])
    np.testing.assert_array_equal(run(np.array([4])), whole[[4]])
