"""Velocity limits of links: they hold after each step, by the shortest way in terms of M, and never give energy."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.oracles import rigid, speed_limits
from warp_artic.constraints import table
from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.friction import Friction
from warp_artic.description.limit import Limit
from warp_artic.description.pose import Pose
from warp_artic.mechanisms.tree import tree_of

H = 1.0 / 240.0

simulate = partial(simulations.simulate, gravity=(0.0, 0.0, 0.0))


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
    """A tumbling body without torque that starts too fast has its limit after a step and loses no more than that."""
    simulation = simulate(with_links(trees.free_body(), max_angular_velocity=4.0), precision="float64")
    simulation.set_state(root_pose=[0, 0, 0, 0, 0, 0, 1], root_velocity=[1.0, 2.0, 3.0, 3.0, 5.0, -4.0])
    recording = simulation.record(480)
    spin = np.linalg.norm(recording.link_velocity[1:, 0, 0, 3:], axis=-1)
    np.testing.assert_allclose(spin[0], 4.0, rtol=1e-12)
    assert spin.max() <= 4.0 * (1 + 1e-6)  # a free tumble is corrected by less at the end of a step
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


KINDS = ("revolute_x", "revolute_y", "revolute_z", "prismatic_x")
SPEEDS = {"moderate": 3.0, "fast": 10.0}
"""Of joints and roots of random trees [m/s or rad/s], whose links may do 0.2 to 2."""


def limited(rng, tree):
    """A tree with limits on most links, and those [m/s and rad/s], shape (L, 2)."""
    most = rng.uniform([0.2, 0.4], [1.0, 2.0], (len(tree.links), 2))
    most[rng.random(most.shape) < 0.3] = np.inf
    return with_links(tree, max_linear_velocity=list(most[:, 0]), max_angular_velocity=list(most[:, 1])), most


def random_case(seed, speed):
    """A random tree of nine links, floating for odd seeds, with its limits and a state."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 9, floating=bool(seed % 2), reverse=True)
    state = trees.random_state(rng, tree, speed=speed)
    return (tree, *limited(rng, tree), state)


def speeds_of(recording):
    """|v_C| and |w|, shape (T+1, L, 2)."""
    v = recording.link_velocity[:, 0]
    return np.stack([np.linalg.norm(v[..., :3], axis=-1), np.linalg.norm(v[..., 3:], axis=-1)], axis=-1)


def excess_of(recording, most):
    """By what share limits are passed at most, shape (T+1)."""
    return (speeds_of(recording) / most - 1.0).max((1, 2))


def record_from(tree, state, steps, **settings):
    simulation = simulate(tree, **settings)
    start(simulation, state)
    return simulation.record(steps), simulation


@pytest.mark.parametrize("speed", SPEEDS.values(), ids=SPEEDS)
def test_the_shortest_way_leads_to_what_all_limits_allow(speed):
    """M (v_free - v+) consists of pushes against the motion of links at their limits, linear and angular, alone.

    With a trace of friction: in trees that move freely velocity forces would be those of the middle of the step, which
    limits change.
    """
    for seed in range(8):
        tree, slow, most, state = random_case(seed, speed)
        tree, slow = (trees.with_dofs(one, friction=Friction(viscous=1e-12)) for one in (tree, slow))
        settings = {"precision": "float64", "integrator": "semi_implicit"}
        _, free = record_from(tree, state, 1, **settings)
        recording, simulation = record_from(slow, state, 1, **settings)
        assert excess_of(recording, most)[-1] <= 1e-8
        placed = rigid.motion(tree, state)
        M, v_free, v = rigid.mass_matrix(placed), velocity_of(free), velocity_of(simulation)
        link, kind = np.nonzero(np.isfinite(most))
        J = np.array([placed.J[k, 3 * part : 3 * part + 3] for k, part in zip(link, kind)])
        y = np.array([recording.link_velocity[1, 0, k, 3 * part : 3 * part + 3] for k, part in zip(link, kind)])
        b = y - J @ v  # links have moved on to the end of the step
        limits = most[link, kind]
        assert speed_limits.unexplained(M, v_free, v, J, b, limits) <= 1e-8
        np.testing.assert_allclose(v, speed_limits.nearest(M, v_free, J, b, limits), atol=1e-6 * speed)
        assert v @ M @ v <= v_free @ M @ v_free


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize(
    "solver, precision, speed, first, later",
    [
        ("direct", "float64", 10.0, 1e-10, 1e-12),
        ("direct", "float32", 10.0, 4e-4, 1e-4),
        ("pgs", "float64", 3.0, 3e-2, 1e-4),
        ("tgs", "float64", 3.0, 3e-2, 1e-4),
    ],
)
def test_limits_hold_after_one_step(solver, precision, speed, first, later, integrator):
    """Of all links of random trees together, by all solvers; kinetic energy never grows."""
    for seed in range(4):
        _, slow, most, state = random_case(seed, speed)
        recording, _ = record_from(
            slow, state, 8, solver=solver, precision=precision, integrator=integrator, position_iterations=20
        )
        excess = excess_of(recording, most)
        assert excess[0] > 2.0
        assert excess[1] <= first and excess[2:].max() <= later
        kinetic = recording.energy[:, 0, 0]
        assert kinetic[1] < kinetic[0]


@pytest.mark.parametrize("dt", [1 / 60, 1 / 30])
@pytest.mark.parametrize(
    "solver, precision, allowed", [("direct", "float64", 1e-6), ("direct", "float32", 5e-4), ("tgs", "float64", 1e-6)]
)
def test_limits_hold_where_joints_turn_far_in_a_step(solver, precision, allowed, dt):
    """By up to a radian: what iterations cannot find is taken by slowing trees down; kinetic energy never grows."""
    slowed = 0
    for seed in range(8):
        _, slow, most, state = random_case(seed, 30.0)
        recording, simulation = record_from(
            slow, state, 8, solver=solver, precision=precision, position_iterations=8, dt=dt
        )
        excess = excess_of(recording, most)
        assert excess[0] > 10.0
        assert excess[1:].max() <= allowed
        kinetic = recording.energy[:, 0, 0]
        assert np.diff(kinetic).max() <= 1e-3 * kinetic[1]
        slowed += simulation.unresolved_steps().sum()
    assert 0 < slowed <= 8 * 8


def test_far_turns_are_slowed_alike_in_every_batch():
    """Bitwise the same alone in its lane block as beside environments that turn less."""
    tree = with_links(trees.chain(4), max_linear_velocity=1.5, max_angular_velocity=5.0)
    velocity = np.random.default_rng(2).normal(size=(20, 4)) * np.linspace(1.0, 40.0, 20)[:, None]

    def run(order):
        simulation = simulate(tree, gravity=(0, 0, -9.81), environments=len(order), variant="lanes", dt=1 / 60)
        simulation.set_state(joint_velocity=velocity[order])
        simulation.step(10)
        return np.concatenate([simulation.state.joint_velocity.numpy().T, simulation.unresolved_steps()], axis=1)

    whole = run(np.arange(20))
    assert whole[:, -1].max() > 0
    np.testing.assert_array_equal(run(np.arange(12, 20)), whole[12:])
    np.testing.assert_array_equal(run(np.array([19])), whole[[19]])


def test_a_tree_on_a_moving_base_is_slowed_relative_to_it():
    """Its links keep limits that the base alone does not reach, where its joints start too fast for the step."""
    poses = tuple(Pose((2.0 * time, 0.0, 0.0)) for time in np.linspace(0.0, 4.0, 121))
    tree = with_links(trees.chain(3), max_linear_velocity=3.0, max_angular_velocity=4.0)
    tree = replace(tree, base_motion=BaseMotion("/World/cart", 0.0, 4.0 / 120, poses))
    state = replace(trees.authored_state(tree), joint_velocity=np.array([40.0, -70.0, 50.0]))
    recording, simulation = record_from(tree, state, 30, precision="float64", dt=1 / 60)
    speeds = speeds_of(recording).max(1)
    assert (speeds[1:] <= np.array([3.0, 4.0]) * (1 + 1e-6)).all()
    assert simulation.unresolved_steps().sum() > 0


def test_a_chain_is_slowed_in_one_step():
    """Of speeds of 9.3 m/s and 8 rad/s the first step leaves 0.5 m/s, and no spin grows, as it would by one limit."""
    tree = with_links(trees.chain(6), max_linear_velocity=0.5, max_angular_velocity=2.0)
    state = replace(trees.authored_state(tree), joint_position=np.array([1.5, 0, 0.5, 0, -1, 0]))
    state = replace(state, joint_velocity=np.array([3.0, -2, 1, 2, 4, -3]))
    recording, _ = record_from(tree, state, 4, precision="float64")
    speeds = speeds_of(recording).max(1)
    assert speeds[0] == pytest.approx([9.3, 8.0], abs=0.01)
    np.testing.assert_allclose(speeds[1:, 0], 0.5, rtol=1e-12)
    assert speeds[1:, 1].max() <= 2.0 * (1 + 1e-12)


def test_a_whipping_chain_stays_below_its_limits():
    """Every link of a falling chain keeps both limits, and no energy comes."""
    tree = with_links(trees.chain(6), max_linear_velocity=2.0, max_angular_velocity=6.0)
    simulation = simulate(tree, gravity=(0, 0, -9.81))
    simulation.set_state(joint_position=[1.5, 0, 0.5, 0, -1.0, 0])
    recording = simulation.record(960)
    speeds = speeds_of(recording)
    assert speeds[..., 0].max() <= 2.0 * (1 + 1e-4) and speeds[..., 1].max() <= 6.0 * (1 + 1e-4)
    assert speeds[..., 0].max() > 1.9999
    total = recording.energy[:, 0].sum(-1)
    assert total.max() <= total[0] + 1e-3


def test_links_hold_their_limits_beside_stops_drives_and_friction():
    """A joint at its limit, a saturated drive, dry friction: each keeps its law while links are slowed."""
    h, speed = 1.0 / 240.0, 6.0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        tree = trees.random_articulation(rng, 7, kinds=KINDS, floating=bool(seed % 2))
        state = trees.random_state(rng, tree, speed=speed)
        q, v = state.joint_position, state.joint_velocity
        stops = [Limit(lower=a - 0.005, upper=a + 0.005) if k % 2 else None for k, a in enumerate(q)]
        tree = trees.with_dofs(tree, limit=stops)
        slow, most = limited(rng, tree)
        settings = {"precision": "float64", "integrator": "semi_implicit"}
        _, free = record_from(trees.with_dofs(tree, limit=None), state, 1, **settings)
        recording, simulation = record_from(slow, state, 1, **settings)
        assert excess_of(recording, most)[-1] <= 1e-9
        after = simulation.state.joint_position.numpy()[:, 0]
        base = rigid.base_count(tree)
        placed = rigid.motion(tree, state)
        C, c = [], []
        for k, stop in enumerate(stops):
            if stop is not None:
                assert stop.lower - 1e-12 <= after[k] <= stop.upper + 1e-12
                e = np.eye(base + len(q))[base + k]
                C += [e, -e]
                c += [(stop.upper - q[k]) / h, (q[k] - stop.lower) / h]
        link, kind = np.nonzero(np.isfinite(most))
        J = np.array([placed.J[k, 3 * part : 3 * part + 3] for k, part in zip(link, kind)])
        y = np.array([recording.link_velocity[1, 0, k, 3 * part : 3 * part + 3] for k, part in zip(link, kind)])
        v = velocity_of(simulation)
        M, v_free = rigid.mass_matrix(placed), velocity_of(free)
        assert speed_limits.unexplained(M, v_free, v, J, y - J @ v, most[link, kind], C, c) <= 1e-8


@pytest.mark.parametrize("solver", ["direct", "pgs"])
def test_a_limit_of_zero_holds_a_link_still(solver):
    """Its centre does not move, nor does it turn, while its neighbours do; alone each of the two does its part."""
    chain = trees.chain(3, floating=True)
    for linear, angular in ((0.0, np.inf), (np.inf, 0.0), (0.0, 0.0)):
        tree = with_links(chain, max_linear_velocity=[np.inf, linear, np.inf],
                          max_angular_velocity=[np.inf, angular, np.inf])  # fmt: skip
        state = replace(trees.authored_state(tree), joint_velocity=np.array([2.0, -3.0]))
        recording, _ = record_from(tree, state, 20, precision="float64", solver=solver, position_iterations=20)
        speeds = speeds_of(recording)
        assert speeds[0, 1].min() > 0.0
        most = {0.0: 1e-9, np.inf: np.inf}
        assert speeds[1:, 1, 0].max() <= most[linear] and speeds[1:, 1, 1].max() <= most[angular]
        assert speeds[-1, 2, 1] > 0.1


def test_welded_links_share_their_limits():
    """Rows that say the same do not add up: the smaller one of two limits holds, at once and after."""
    chain = trees.chain(2)
    joints = (chain.joints[0], replace(chain.joints[1], dofs=()))
    tree = with_links(replace(chain, joints=joints), max_angular_velocity=[1.5, 1.0])
    simulation = simulate(tree, precision="float64")
    simulation.set_state(joint_velocity=[4.0])
    recording = simulation.record(10)
    np.testing.assert_allclose(recording.joint_velocity[1:, 0, 0], 1.0, rtol=1e-12)


def test_unlimited_links_have_no_rows():
    """Three rows exist for each limit of a link that moves, and none where there is no limit."""
    chain = trees.chain(3)
    assert tree_of(chain).rows == ()
    limited = with_links(chain, max_linear_velocity=[np.inf, 2.0, 3.0], max_angular_velocity=[1.0, np.inf, np.inf])
    assert [row.family for row in tree_of(limited).rows] == [table.LINK_SPEED] * 6 + [table.LINK_SPIN] * 3


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
