"""Spatial tendons: equations 6-9 with gradients by finite differences, routing, strings, the exact trajectories."""

import numpy as np
import pytest

from tests import oracle_stages, trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.tendon import Attachment, SpatialTendon, TendonLeaf

H = 1.0 / 240.0


def random_tendon(rng, link_count, **options):
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
    leaves = tuple(
        TendonLeaf(attachment=k, rest_length=float(rng.uniform(0.2, 1.0)), **options.pop("leaf", {})) for k in (2, 4)
    )
    return SpatialTendon(name="/World/t", attachments=attachments, leaves=leaves, **options)


def chain_of(tendon, leaf):
    """Attachment indices from a leaf to the root."""
    found = [leaf.attachment]
    while tendon.attachments[found[-1]].parent is not None:
        found.append(tendon.attachments[found[-1]].parent)
    return found


def places(tree, tendon, coordinates):
    """World places of the attachments, and the velocity by generalized velocity of each, (3, N)."""
    motion = rigid.motion_at(tree, coordinates, np.zeros(rigid.velocity(tree, trees.authored_state(tree)).size))
    x, J = [], []
    for attachment in tendon.attachments:
        link = attachment.link
        point = motion.p_WL[link] + motion.R_WL[link] @ attachment.position
        arm = point - motion.p_WC[link]
        x.append(point)
        J.append(motion.J[link, :3] - rigid.cross_matrix(arm) @ motion.J[link, 3:])
    return np.array(x), np.array(J)


def law(tree, tendon, leaf, coordinates):
    """L, its gradient, the gradient of S, and the direction of the force, by generalized velocity."""
    x, J = places(tree, tendon, coordinates)
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


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_step_of_random_trees_has_the_dense_law(seed, everywhere):
    """M (v+ - v) = h (-C - g) + sum over leaves of h f push, f at the end of the step; two leaves at once."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 7, floating=bool(seed % 2))
    k, d = 300.0, 15.0
    tendon = random_tendon(rng, 7, stiffness=k, damping=d, offset=0.1, all_segments=everywhere)
    state = trees.random_state(rng, tree)
    simulation = Simulation(
        trees.scene(trees.replace(tree, spatial_tendons=(tendon,))),
        settings=SolverSettings(dt=H, precision="float64", solver="direct"),
    )
    root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
    simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
    recording = simulation.record(1)
    motion = rigid.motion(tree, state)
    M = rigid.mass_matrix(motion)
    matrix, right = M.copy(), M @ motion.velocity - H * (rigid.coriolis_effort(motion) + rigid.gravity_effort(motion))
    for index, leaf in enumerate(tendon.leaves):
        length, J_L, J_S, push = law(tree, tendon, leaf, rigid.coordinates(tree, state))
        matrix += H * np.outer(push, H * k * J_L + d * J_S)
        right += H * k * (leaf.rest_length - length) * push
        np.testing.assert_allclose(recording.tendon_length[0, 0, index], length, atol=1e-12)
        force = k * (leaf.rest_length - length) - d * J_S @ motion.velocity
        np.testing.assert_allclose(recording.tendon_force[0, 0, index], force, rtol=1e-10)
    expected = np.linalg.solve(matrix, right)[-len(tree.dofs) :]
    np.testing.assert_allclose(recording.joint_velocity[1, 0], expected, rtol=1e-7, atol=1e-7)


def test_the_force_of_all_segments_is_the_derivative_of_the_energy():
    """The push is dL/dq by central differences, to 1e-6."""
    rng = np.random.default_rng(9)
    tree = trees.random_articulation(rng, 6, floating=False, kinds=("revolute_x", "prismatic_y"))
    tendon = random_tendon(rng, 6, stiffness=1.0, all_segments=True)
    state = trees.random_state(rng, tree)
    _, J_L, _, push = law(tree, tendon, tendon.leaves[1], rigid.coordinates(tree, state))
    step = 1e-6
    for dof in range(len(tree.dofs)):
        lengths = []
        for sign in (-1.0, 1.0):
            position = state.joint_position.copy()
            position[dof] += sign * step
            simulation = Simulation(
                trees.scene(trees.replace(tree, spatial_tendons=(tendon,))),
                settings=SolverSettings(precision="float64"),
            )
            simulation.set_state(joint_position=position)
            lengths.append(simulation.state.tendon_length.numpy()[1, 0])
        np.testing.assert_allclose((lengths[1] - lengths[0]) / (2 * step), push[dof], atol=1e-6)
        np.testing.assert_allclose(push[dof], J_L[dof], atol=1e-12)


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
    fallen = -0.5 * 9.81 * 0.1**2 * (1 + 1 / 48)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), [[fallen]], rtol=1e-3)
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


@pytest.mark.parametrize(
    "stage",
    [
        "fixed_tendon_offset_rest",
        "fixed_tendon_two_joints",
        "spatial_tendon_single",
        "spatial_tendon_two_leaves",
        "mimic_hard_gear",
    ],
)
def test_stages_with_tendons_and_mimics_converge_to_their_truth(stage):
    """At first order in the step, over two seconds."""
    exact = oracle_stages.truth(stage)
    errors = [oracle_stages.worst(oracle_stages.trajectory(stage, rate), exact) for rate in (240, 480, 960)]
    assert errors[0] < 0.08
    assert errors[0] / errors[1] > 1.7 and errors[1] / errors[2] > 1.7
