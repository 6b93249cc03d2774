"""Spatial tendons: equations 6-9 with gradients by finite differences, routing, energy, strings."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from tests.oracles.dense_step import DenseStep, Spring, assert_steps
from tests.oracles.simulated_state import put
from tests.oracles.state import State
from warp_artic import Simulation, SolverSettings
from warp_artic.description.tendon import Attachment, SpatialTendon, TendonLeaf

H = 1.0 / 240.0


def random_tendon(rng, link_count, leaf=(), **options):
    """Five attachments that branch after the second into two leaves, on links drawn at random."""
    parents = (None, 0, 1, 1, 3)
    attachments = tuple(
        Attachment(
            name=f"/World/a{k}",
            link=int(rng.integers(link_count)),
            position=tuple(rng.normal(size=3) * 0.3),
            parent=parent,
            coefficient=float(rng.uniform(0.5, 1.5)),
        )
        for k, parent in enumerate(parents)
    )
    leaves = tuple(TendonLeaf(attachment=k, rest_length=float(rng.uniform(0.2, 1.0)), **dict(leaf)) for k in (2, 4))
    return SpatialTendon(name="/World/t", attachments=attachments, leaves=leaves, **options)


def chain_of(tendon, leaf):
    """Attachment indices from a leaf to the root."""
    found = [leaf.attachment]
    while tendon.attachments[found[-1]].parent is not None:
        found.append(tendon.attachments[found[-1]].parent)
    return found


def places(tendon, motion):
    """World places of the attachments, and the velocity by generalized velocity of each, (3, N)."""
    x, J = [], []
    for attachment in tendon.attachments:
        link = attachment.link
        point = motion.p_WL[link] + motion.R_WL[link] @ attachment.position
        arm = point - motion.p_WC[link]
        x.append(point)
        J.append(motion.J[link, :3] - rigid.cross_matrix(arm) @ motion.J[link, 3:])
    return np.array(x), np.array(J)


def law(tendon, leaf, motion):
    """L, its gradient, the gradient of S, and the direction of the force, by generalized velocity."""
    x, J = places(tendon, motion)
    ends = chain_of(tendon, leaf)
    segments = list(zip(ends[:-1], ends[1:]))
    length, J_L, J_S, push = tendon.offset, 0.0, 0.0, 0.0
    for index, (outer, inner) in enumerate(segments):
        u = (x[outer] - x[inner]) / np.linalg.norm(x[outer] - x[inner])
        c = tendon.attachments[outer].coefficient
        length += c * np.linalg.norm(x[outer] - x[inner])
        gradient = u @ (J[outer] - J[inner])
        J_L = J_L + c * gradient
        first, last = index == 0, index == len(segments) - 1
        if tendon.all_segments:
            push = push + c * gradient
        else:
            J_S = J_S + (first or last) * gradient
            push = push + first * (u @ J[outer]) - last * (u @ J[inner])
    return length, J_L, J_L if tendon.all_segments else J_S, push


def springs(tendon, motion, reach):
    """The springs and dampers of all leaves, and those of limits that are passed; reach: how far dofs are past q."""
    found = []
    for leaf in tendon.leaves:
        length, J_L, J_S, push = law(tendon, leaf, motion)
        _, J = places(tendon, motion)
        touches = np.abs(J[chain_of(tendon, leaf)]).max(axis=(0, 1)) > 0.0
        L = length - J_L @ reach
        found.append(Spring(tendon.stiffness, tendon.damping, L - leaf.rest_length, J_L, J_S, push, touches))
        if beyond := min(L - leaf.lower, 0.0) + max(L - leaf.upper, 0.0):
            found.append(
                Spring(tendon.limit_stiffness, 0.0, beyond, J_L, J_L, push, touches, is_limit=True, resolves=True)
            )
    return found


def takes_energy(tendon, motion):
    """Whether the force of each leaf acts against its rate: a tendon of which one does not is reported as faulty."""
    M = rigid.mass_matrix(motion)
    found = springs(tendon, motion, 0.0 * motion.velocity)
    return all(spring.length @ np.linalg.solve(M, spring.push) > 0.01 for spring in found)


@pytest.mark.parametrize("leaf", [{}, {"upper": 0.1}, {"lower": 8.0}], ids=["free", "long", "short"])
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_steps_of_random_trees_have_the_dense_law(seed, everywhere, integrator, leaf):
    """Two leaves at once on trees of all joint types; with a middle, L(q) is L(q_M) less its linear change."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 7, floating=bool(seed % 2))
    state = trees.random_state(rng, tree)
    options = {"stiffness": 300.0, "damping": 15.0, "offset": 0.1, "all_segments": everywhere, "limit_stiffness": 200.0}
    tendon = random_tendon(rng, 7, leaf=leaf, **options)
    while not takes_energy(tendon, rigid.motion(tree, state)):
        tendon = random_tendon(rng, 7, leaf=leaf, **options)

    def elements(state, placed, share):
        half = 0.5 * H if integrator == "midpoint" else 0.0
        return springs(tendon, placed, half * rigid.velocity(tree, state))

    simulation = Simulation(
        trees.scene(trees.replace(tree, spatial_tendons=(tendon,))),
        settings=SolverSettings(dt=H, precision="float64", integrator=integrator),
    )
    put(simulation, state)
    assert_steps(simulation, DenseStep(tree, H, integrator, elements=elements), tolerance=1e-8)


@pytest.mark.parametrize(
    ("options", "leaf"),
    [
        ({"stiffness": 40.0}, {}),
        ({"damping": 7.0}, {}),
        ({"limit_stiffness": 90.0}, {"upper": 0.1}),
        ({"limit_stiffness": 90.0}, {"lower": 20.0}),
        ({"limit_stiffness": 90.0}, {"lower": 0.0, "upper": 20.0}),
        ({"stiffness": 40.0, "damping": 7.0, "limit_stiffness": 90.0}, {"upper": 0.1}),
    ],
    ids=["spring", "damper", "upper", "lower", "between", "all"],
)
@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_length_and_force_at_random_states(seed, everywhere, options, leaf):
    """L (6), S (7) by differences of segment lengths on the way, f (8) and Delta (9), each alone and together."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 7, floating=bool(seed % 2))
    tendon = random_tendon(rng, 7, leaf=leaf, offset=0.2, all_segments=everywhere, **options)
    state = trees.random_state(rng, tree)
    simulation = Simulation(
        trees.scene(trees.replace(tree, spatial_tendons=(tendon,))), settings=SolverSettings(precision="float64")
    )
    put(simulation, state)
    q, v = rigid.coordinates(tree, state), rigid.velocity(tree, state)
    way = 1e-6 * rigid.coordinates_rate(tree, q, v)
    before, here, after = (places(tendon, rigid.motion_at(tree, q + s * way, v))[0] for s in (-1.0, 0.0, 1.0))

    def distance(x, end):
        return np.linalg.norm(x[end] - x[tendon.attachments[end].parent])

    for index, end in enumerate(tendon.leaves):
        chain = chain_of(tendon, end)[:-1]
        weights = {k: tendon.attachments[k].coefficient for k in chain}
        L = 0.2 + sum(c * distance(here, k) for k, c in weights.items())
        rates = {k: (distance(after, k) - distance(before, k)) / 2e-6 for k in chain}
        S = sum(weights[k] * rates[k] for k in chain) if everywhere else sum(rates[k] for k in {chain[0], chain[-1]})
        delta = max(end.lower - L, 0.0) + min(end.upper - L, 0.0)
        force = tendon.stiffness * (end.rest_length - L) - tendon.damping * S + tendon.limit_stiffness * delta
        np.testing.assert_allclose(simulation.state.tendon_length.numpy()[index, 0], L, rtol=1e-12)
        speed = sum(weights[k] * rates[k] for k in chain)
        np.testing.assert_allclose(simulation.state.tendon_speed.numpy()[index, 0], speed, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(simulation.state.tendon_force.numpy()[index, 0], force, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("leaf", [{}, {"upper": 0.4}, {"lower": 6.0}])
@pytest.mark.parametrize("seed", range(3))
def test_forces_of_all_segments_are_the_derivative_of_the_potential(seed, leaf):
    """-d/dq of k (L - rest)^2 / 2 + k_lim Delta^2 / 2 of both leaves, by central differences of reported lengths."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 6, floating=False, kinds=("revolute_x", "prismatic_y"))
    tendon = random_tendon(rng, 6, leaf=leaf, stiffness=30.0, limit_stiffness=70.0, all_segments=True)
    scene = trees.scene(trees.replace(tree, spatial_tendons=(tendon,)), gravity=(0, 0, 0))
    h = 1e-6
    simulation = Simulation(scene, settings=SolverSettings(dt=h, precision="float64", integrator="semi_implicit"))
    position = trees.random_state(rng, tree).joint_position

    def potential(q):
        simulation.set_state(joint_position=q)
        total = 0.0
        for L, end in zip(simulation.state.tendon_length.numpy()[:, 0], tendon.leaves):
            delta = max(end.lower - L, 0.0) + max(L - end.upper, 0.0)
            total += 0.5 * 30.0 * (L - end.rest_length) ** 2 + 0.5 * 70.0 * delta**2
        return total

    slopes = [(potential(position + e) - potential(position - e)) / 2e-5 for e in 1e-5 * np.eye(len(position))]
    simulation.set_state(joint_position=position)
    simulation.step()
    rest = State(joint_position=position, joint_velocity=np.zeros(len(position)))
    applied = rigid.mass_matrix(rigid.motion(tree, rest)) @ simulation.state.joint_velocity.numpy()[:, 0] / h
    np.testing.assert_allclose(applied, -np.array(slopes), rtol=0.0, atol=1e-6 * np.abs(slopes).max())


def energy_with_tendon(stiffness, **settings):
    """Energy with gravity and tendon of two links over 10 s; the tendon is at rest at the start."""
    attachments = (
        Attachment(name="root", link=0, position=(0.1, 0, -0.1), parent=None),
        Attachment(name="middle", link=0, position=(0.15, 0, -0.4), parent=0, coefficient=0.7),
        Attachment(name="leaf", link=1, position=(0.1, 0, -0.3), parent=1),
    )
    tendon = SpatialTendon(
        name="t",
        attachments=attachments,
        leaves=(TendonLeaf(attachment=2, rest_length=0.0),),
        stiffness=stiffness,
        all_segments=True,
    )
    simulation = Simulation(
        trees.scene(trees.replace(trees.chain(2), spatial_tendons=(tendon,))),
        settings=SolverSettings(dt=H, precision="float64", **settings),
    )
    simulation.set_state(joint_position=[0.3, 0.2])
    rest = simulation.state.tendon_length.numpy()[0, 0]
    simulation.parameters.leaf_rest_length.fill_(rest)
    recording = simulation.record(2400)
    stored = 0.5 * stiffness * (recording.tendon_length[:, 0, 0] - rest) ** 2
    return recording.energy[:, 0].sum(axis=1) + stored


@pytest.mark.parametrize("stiffness", [1.0, 10.0, 100.0])
def test_an_undamped_tendon_keeps_energy_as_the_pendulum_without_it(stiffness):
    """After the first step, which is backward Euler, energy drifts no more in 10 s than without it, to a twentieth."""
    bare, tendon = energy_with_tendon(0.0), energy_with_tendon(stiffness)
    assert np.abs(tendon[1:] - tendon[1]).max() <= 1.05 * np.abs(bare - bare[0]).max()


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("stiffness", [1e3, 1e4, 1e6, 1e9])
def test_an_undamped_stiff_tendon_gains_no_energy(stiffness, integrator):
    """However stiff: nothing beyond what the pendulum without it gains."""
    bare, tendon = energy_with_tendon(0.0, integrator=integrator), energy_with_tendon(stiffness, integrator=integrator)
    assert (tendon - tendon[0]).max() <= np.abs(bare - bare[0]).max()


def test_an_unauthored_rest_length_is_that_of_the_start():
    """Nothing moves until something else does; a reversed, turned and shifted tree is measured right."""
    tree = trees.authored_at(
        base := trees.random_articulation(3, 6, floating=False), trees.random_state(np.random.default_rng(3), base)
    )
    tendon = random_tendon(np.random.default_rng(4), 6, stiffness=1e3)
    leaves = tuple(TendonLeaf(attachment=leaf.attachment) for leaf in tendon.leaves)
    tendon = trees.replace(tendon, leaves=leaves)
    simulation = Simulation(
        trees.scene(trees.replace(tree, spatial_tendons=(tendon,)), gravity=(0, 0, 0)),
        settings=SolverSettings(precision="float64"),
    )
    np.testing.assert_allclose(simulation.state.tendon_force.numpy(), 0.0, atol=1e-9)


def test_a_string_pulls_and_does_not_push():
    """With limits alone a weight on a string hangs at the upper limit and falls freely above it."""
    tree = trees.chain(2, "prismatic_z", mass=1.0)
    tree = trees.replace(
        tree,
        joints=(trees.replace(tree.joints[0], dofs=()), tree.joints[1]),
        spatial_tendons=(
            SpatialTendon(
                name="s",
                attachments=(
                    Attachment(name="root", link=0, position=(0, 0, 0.5), parent=None),
                    Attachment(name="leaf", link=1, position=(0, 0, 0), parent=0),
                ),
                leaves=(TendonLeaf(attachment=1, upper=1.5),),
                limit_stiffness=1e4,
                damping=50.0,
            ),
        ),
    )
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(dt=1 / 480))
    assert simulation.joint_names == ("/World/chain/joint_01",)
    simulation.parameters.spatial_damping.fill_(0.0)
    simulation.step(48)
    fallen = -0.5 * 9.81 * 0.1**2
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), [[fallen]], rtol=1e-5)
    simulation.parameters.spatial_damping.fill_(50.0)
    simulation.step(4800)
    np.testing.assert_allclose(simulation.state.tendon_length.numpy(), [[1.5 + 9.81 / 1e4]], rtol=1e-4)
    np.testing.assert_allclose(simulation.state.tendon_force.numpy(), [[-9.81]], rtol=1e-2)


def test_coincident_attachments_give_no_nan():
    """A segment of no length has no direction and no force."""
    tendon = SpatialTendon(
        name="t",
        attachments=(
            Attachment(name="root", link=0, position=(0, 0, -0.5), parent=None),
            Attachment(name="leaf", link=1, position=(0, 0, 0), parent=0),
        ),
        leaves=(TendonLeaf(attachment=1, rest_length=0.2),),
        stiffness=1e3,
    )
    tree = trees.replace(trees.chain(2), spatial_tendons=(tendon,))
    simulation = Simulation(trees.scene(tree))
    simulation.set_state(joint_position=[0.4, 0.2])
    recording = simulation.record(100)
    assert np.isfinite(recording.joint_position).all() and not simulation.failures()
