"""Tendons on meshes: lengths, energies, forces and Hessians."""

from dataclasses import replace

import numpy as np
import pytest
import warp as wp

from tests.meshes.tendon_bodies import (
    COUNTS,
    LAWS,
    LINK_POSES,
    WAYPOINTS,
    device_points,
    forces_of,
    node_points,
    random_body,
    some_tendons,
)
from tests.meshes.tendon_matrices import force_matrices, force_matrix, hessian_matrix
from tests.oracles import tendons as oracle
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, TensionLaw
from warp_artic.description.pose import quaternion_from_rotation_vector
from warp_artic.errors import SettingsError, SolveError
from warp_artic.meshes.block_values import block_values
from warp_artic.meshes.tendons import MeshTendons
from warp_artic.meshes.types import mesh_types

DIMS = pytest.mark.parametrize("dim", (2, 3))
KINDS = pytest.mark.parametrize("kind", tuple(WAYPOINTS))
EVERY_LAW = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.value)


def case(dim, kind="nodes", law=TensionLaw.CABLE, precision="float64", environments=1, **fields):
    """Tendons of 2, 3 and 40 waypoints, and random positions of the nodes."""
    rng = np.random.default_rng(dim)
    body = random_body(rng, dim)
    tendons = tuple(replace(tendon, **fields) for tendon in some_tendons(rng, body, kind, law))
    points = rng.uniform(size=(environments, *body.points.shape))
    made = MeshTendons(tendons, body, link_poses=LINK_POSES, environments=environments, precision=precision)
    return made, points


def foreign_places(tendons):
    """Where the oracle has the points that are not on the body."""
    return dict(zip(tendons.foreign, tendons.foreign_start))


def energy_by_definition(tendons, points):
    """Sum of E of one environment, from waypoints."""
    foreign = foreign_places(tendons)
    return sum(
        oracle.energy(tendon, oracle.length(tendon, points, foreign) - tendon.target_length)
        for tendon in tendons.tendons
    )


def differences(function, points, step):
    """Central differences of a function of points (N, dim); the last axes are those of the points."""
    columns = []
    for place in np.ndindex(points.shape):
        ends = []
        for sign in (1.0, -1.0):
            moved = points.copy()
            moved[place] += sign * step
            ends.append(function(moved))
        columns.append((np.asarray(ends[0]) - np.asarray(ends[1])) / (2.0 * step))
    return np.stack(columns, axis=-1)


@DIMS
@KINDS
@EVERY_LAW
def test_lengths_and_energies_are_those_of_the_definition(dim, kind, law):
    """l is the sum of distances between waypoints, Delta its excess over alpha, and E a function of it."""
    tendons, points = case(dim, kind, law, environments=2)
    shape = tendons.evaluate(device_points(tendons, points))
    foreign = foreign_places(tendons)
    lengths = np.array([[oracle.length(tendon, x, foreign) for x in points] for tendon in tendons.tendons])
    np.testing.assert_allclose(shape.length.numpy(), lengths, rtol=1e-13)
    np.testing.assert_allclose(shape.change.numpy(), lengths - tendons.target_length.numpy(), rtol=0, atol=1e-12)
    energies = [energy_by_definition(tendons, x) for x in points]
    np.testing.assert_allclose(tendons.energy().numpy(), energies, rtol=1e-12)


@DIMS
@KINDS
@EVERY_LAW
def test_forces_are_the_negative_gradient_of_energy(dim, kind, law):
    """Forces equal central differences of the energy by definition, for 2, 3 and 40 waypoints at once."""
    tendons, points = case(dim, kind, law)
    change = tendons.evaluate(device_points(tendons, points)).change.numpy()[:, 0]
    assert [0.0 < u < one.smoothing for u, one in zip(change, tendons.tendons)] == [False] * 3 + [True] * 3
    forces, _ = forces_of(tendons, points)
    gradient = differences(lambda x: energy_by_definition(tendons, x), points[0], 1e-5)
    np.testing.assert_allclose(-forces[0].ravel(), gradient, rtol=0, atol=1e-6 * np.abs(gradient).max())


@DIMS
@EVERY_LAW
def test_forces_in_single_precision(dim, law):
    """float32 forces are within 1e-3 of differences of the energy by definition, and Hessians of float64 ones."""
    tendons, points = case(dim, "mixed", law, precision="float32")
    forces, _ = forces_of(tendons, points)
    gradient = differences(lambda x: energy_by_definition(tendons, x), points[0], 1e-5)
    np.testing.assert_allclose(-forces[0].ravel(), gradient, rtol=0, atol=1e-3 * np.abs(gradient).max())
    wide, _ = case(dim, "mixed", law)
    wide.evaluate(device_points(wide, points))
    (hessian,) = hessians(wide)
    np.testing.assert_allclose(hessians(tendons)[0], hessian, rtol=0, atol=1e-3 * np.abs(hessian).max())


@DIMS
@KINDS
@EVERY_LAW
def test_hessians_are_differences_of_gradients(dim, kind, law):
    """H equals central differences of the gradient, and is symmetric."""
    tendons, points = case(dim, kind, law)
    difference = differences(lambda x: -forces_of(tendons, x[None])[0][0].ravel(), points[0], 1e-6)
    tendons.evaluate(device_points(tendons, points))
    (hessian,) = hessians(tendons)
    scale = np.abs(hessian).max()
    np.testing.assert_allclose(hessian, difference, rtol=0, atol=1e-5 * scale)
    np.testing.assert_allclose(hessian, hessian.T, rtol=0, atol=1e-12 * scale)


def hessians(tendons, **options):
    """H of each environment from the values of a sparse matrix that also has other blocks."""
    nodes, dim = tendons.body.points.shape
    pairs = np.unique(np.concatenate([tendons.pattern(), [[0, node] for node in range(nodes)]]), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(nodes + 1))
    types = mesh_types(dim, tendons.precision)
    values = block_values(types, tendons.environments, len(pairs), types.mat, tendons.device)
    tendons.add_stiffness(values, tendons.slots(starts, pairs[:, 1]), **options)
    found = np.zeros((tendons.environments, nodes, dim, nodes, dim))
    found[:, pairs[:, 0], :, pairs[:, 1]] = values.numpy().swapaxes(0, 1)
    return found.reshape(-1, nodes * dim, nodes * dim)


@DIMS
def test_pushing_springs_lose_what_makes_hessians_indefinite(dim):
    """The variant for solvers has no negative eigenvalue where springs push, and is H where they pull."""
    tendons, points = case(dim, "means", TensionLaw.SPRING, target_length=20.0)
    tendons.evaluate(device_points(tendons, points))
    pushing = np.linalg.eigvalsh(hessians(tendons)[0])
    assert pushing.min() < -1e-3 * pushing.max()
    safe = np.linalg.eigvalsh(hessians(tendons, psd=True)[0])
    assert safe.min() >= -1e-12 * safe.max()
    pulling, points = case(dim, "means", TensionLaw.SPRING)
    pulling.evaluate(device_points(pulling, points))
    np.testing.assert_array_equal(hessians(pulling, psd=True), hessians(pulling))


@DIMS
@pytest.mark.parametrize("kind", ("nodes", "means"))
def test_forces_on_a_free_body_are_in_balance(dim, kind):
    """Net force and net moment of each tendon of 2, 3 and 40 waypoints vanish."""
    tendons, points = case(dim, kind)
    tendons.evaluate(device_points(tendons, points))
    for column in np.moveaxis(force_matrices(tendons)[0], -1, 0):
        forces = column.reshape(points[0].shape)
        np.testing.assert_allclose(forces.sum(axis=0), 0.0, atol=1e-12)
        moments = np.einsum("ni,nj->ij", points[0], forces)
        np.testing.assert_allclose(moments, moments.T, rtol=0, atol=1e-12)


@DIMS
def test_foreign_points_take_the_rest_of_the_balance(dim):
    """Forces on nodes and on points of links and of the world sum to zero, and the latter are a gradient too."""
    tendons, points = case(dim, "mixed")
    forces, foreign = forces_of(tendons, points)
    np.testing.assert_allclose(forces[0].sum(axis=0) + foreign[0].sum(axis=0), 0.0, atol=1e-12)

    def energy(places):
        tendons.evaluate(device_points(tendons, points), device_points(tendons, places[None]))
        return tendons.energy().numpy()[0]

    gradient = differences(energy, tendons.foreign_start, 1e-6)
    np.testing.assert_allclose(-foreign[0].ravel(), gradient, rtol=0, atol=1e-6 * np.abs(gradient).max())


def test_points_of_links_are_where_the_link_is():
    """A waypoint on a link starts where the pose of its link puts it, seen from the frame of the body."""
    tendons, _ = case(3, "mixed")
    for point, place in zip(tendons.foreign, tendons.foreign_start):
        in_world = tendons.body.pose.apply(place)
        expected = LINK_POSES[point.link].apply(point.position) if isinstance(point, LinkPoint) else point.position
        np.testing.assert_allclose(in_world, expected, atol=1e-14)


@DIMS
@pytest.mark.parametrize("kind", ("nodes", "means"))
def test_rigid_motions_change_nothing(dim, kind):
    """Lengths stay, and forces turn with the body."""
    tendons, points = case(dim, kind)
    turn = replace(tendons.body.pose, quaternion=quaternion_from_rotation_vector((0.0, 0.0, 0.7))).rotation
    turn = turn[:dim, :dim]
    forces, _ = forces_of(tendons, points)
    length, energy = tendons.shape.length.numpy().copy(), tendons.energy().numpy()
    moved, _ = forces_of(tendons, points @ turn.T + np.arange(1.0, dim + 1.0))
    np.testing.assert_allclose(tendons.shape.length.numpy(), length, rtol=1e-12)
    np.testing.assert_allclose(tendons.energy().numpy(), energy, rtol=1e-12)
    np.testing.assert_allclose(moved, forces @ turn.T, rtol=0, atol=1e-12 * np.abs(forces).max())


@DIMS
@pytest.mark.parametrize("count", COUNTS)
def test_cables_start_smoothly(dim, count):
    """E, tau and tau' are continuous at Delta = 0 and at Delta = eps: across each they change with the step only."""
    rng = np.random.default_rng(count)
    body = random_body(rng, dim)
    K, eps = 3.0, 0.05
    cable = MeshTendon(name="/cable", body=body.name, waypoints=node_points(rng, body, count), stiffness=K,
                       smoothing=eps)  # fmt: skip
    tendons = MeshTendons((cable,), body, environments=7)
    step = 1e-7
    changes = np.array([-step, 0.0, step, eps - step, eps, eps + step, 3.0 * eps])
    tendons.target_length.assign(tendons.rest_length - changes[None])
    shape = tendons.evaluate(device_points(tendons, np.repeat(body.points[None], 7, axis=0)))
    energy, tension, slope = tendons.energy().numpy(), shape.tension.numpy()[0], shape.slope.numpy()[0]
    np.testing.assert_allclose(energy[:3], 0.0, atol=1e-18)
    np.testing.assert_allclose(tension[:3], 0.0, atol=1e-11)
    np.testing.assert_allclose(slope[:3], [0.0, 0.0, K * step / eps], atol=1e-12)
    np.testing.assert_allclose(energy[3:6], K * eps**2 / 6.0, rtol=1e-5)
    np.testing.assert_allclose(tension[3:6], 0.5 * K * eps, rtol=1e-5)
    np.testing.assert_allclose(slope[3:6], [K * (1.0 - step / eps), K, K], rtol=1e-9)
    np.testing.assert_allclose(np.diff(energy[3:6]) / step, 0.5 * K * eps, rtol=1e-5)
    np.testing.assert_allclose(np.diff(tension[3:6]) / step, K, rtol=1e-5)
    np.testing.assert_allclose(tension[6], 2.5 * K * eps, rtol=1e-12)


@DIMS
@pytest.mark.parametrize("smoothing", (0.0, 0.1))
def test_slack_cables_do_exactly_nothing(dim, smoothing):
    """Energy, forces and Hessian of a cable that is longer than its path are zero to the last bit."""
    tendons, points = case(dim, "mixed", smoothing=smoothing, target_length=100.0)
    forces, foreign = forces_of(tendons, points)
    assert not tendons.energy().numpy().any() and not tendons.shape.tension.numpy().any()
    assert not forces.any() and not foreign.any() and not hessians(tendons).any()


@DIMS
def test_a_mean_with_all_weight_on_a_node_is_the_node(dim):
    """Bitwise, in lengths, forces and Hessians."""
    tendons, points = case(dim)
    nodes = len(tendons.body.points)

    def as_mean(point):
        others = tuple((point.nodes[0] + step) % nodes for step in range(1, dim + 1))
        return BodyPoint(nodes=(*others, point.nodes[0]), weights=(0.0,) * dim + (1.0,))

    means = tuple(replace(one, waypoints=tuple(map(as_mean, one.waypoints))) for one in tendons.tendons)
    others = MeshTendons(means, tendons.body)
    for one, other in zip(forces_of(tendons, points), forces_of(others, points)):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(tendons.shape.length.numpy(), others.shape.length.numpy())
    np.testing.assert_array_equal(hessians(tendons), hessians(others))


@DIMS
def test_a_batch_is_bitwise_its_environments(dim):
    """Each of 5 environments gives what it gives alone, with values of its own."""
    tendons, points = case(dim, "mixed", environments=5)
    stiffness = np.random.default_rng(1).uniform(1.0, 9.0, size=tendons.stiffness.shape)
    tendons.stiffness.assign(stiffness)
    forces, foreign = forces_of(tendons, points)
    hessian, energy = hessians(tendons), tendons.energy().numpy()
    single, _ = case(dim, "mixed")
    for env in range(5):
        single.stiffness.assign(stiffness[:, env : env + 1])
        alone, foreign_alone = forces_of(single, points[env : env + 1])
        np.testing.assert_array_equal(alone[0], forces[env])
        np.testing.assert_array_equal(foreign_alone[0], foreign[env])
        np.testing.assert_array_equal(hessians(single)[0], hessian[env])
        assert single.energy().numpy()[0] == energy[env]


@DIMS
def test_forces_are_the_matrix_times_tensions(dim):
    """A as an operator is A as a matrix, its transpose too, and its columns are unit vectors along segments."""
    tendons, points = case(dim, "means", environments=2)
    tendons.evaluate(device_points(tendons, points))
    matrices = force_matrices(tendons)
    tau = np.random.default_rng(2).uniform(size=(len(tendons.tendons), 2))
    forces = wp.zeros((2, len(tendons.body.points)), dtype=tendons.vec)
    tendons.add_forces(forces, tension=wp.array(tau, dtype=wp.float64))
    expected = np.einsum("eft,te->ef", matrices, tau)
    np.testing.assert_allclose(forces.numpy().reshape(2, -1), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(tendons.project(forces).numpy(), np.einsum("eft,ef->te", matrices, expected), rtol=1e-12)


@DIMS
def test_sparse_matrices_have_a_block_for_each_environment(dim):
    """A and H as sparse matrices are those of the environments on the diagonal."""
    tendons, points = case(dim, "mixed", environments=2)
    tendons.evaluate(device_points(tendons, points))
    nodes, count = len(tendons.body.points), len(tendons.tendons)
    expected = np.zeros((2, nodes * dim, 2, count))
    for env, matrix in enumerate(force_matrices(tendons)):
        expected[env, :, env] = matrix
    np.testing.assert_array_equal(dense(force_matrix(tendons)), expected.reshape(2 * nodes * dim, 2 * count))
    found = dense(hessian_matrix(tendons)).reshape(2, nodes * dim, 2, nodes * dim)
    for env, expected in enumerate(hessians(tendons)):
        np.testing.assert_allclose(found[env, :, env], expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        assert not found[env, :, 1 - env].any()


def dense(matrix):
    """A sparse matrix of blocks as a dense one."""
    offsets, columns, values = (part.numpy() for part in (matrix.offsets, matrix.columns, matrix.values))
    rows, width = matrix.block_shape
    result = np.zeros((matrix.nrow, rows, matrix.ncol, width))
    for row in range(matrix.nrow):
        for slot in range(offsets[row], offsets[row + 1]):
            result[row, :, columns[slot]] += values[slot].reshape(rows, width)
    return result.reshape(matrix.nrow * rows, matrix.ncol * width)


@DIMS
def test_arrays_of_another_shape_are_refused(dim):
    """Points of too few nodes or environments are named, and not read."""
    tendons, points = case(dim, "mixed", environments=2)
    with pytest.raises(SettingsError, match=r"points have the shape \(1, 60\), must have \(2, 60\)"):
        tendons.evaluate(device_points(tendons, points[:1]))
    with pytest.raises(SettingsError, match=r"foreign points have the shape \(2, 60\), must have \(2, 2\)"):
        tendons.evaluate(device_points(tendons, points), device_points(tendons, points))


def test_columns_pull_neighbours_together():
    """For a path 0 - 1 - 2 with a right angle, node 0 is pulled to 1, node 2 to 1, and node 1 to both."""
    body = replace(random_body(np.random.default_rng(0), 2), points=np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 3.0]]))
    waypoints = tuple(BodyPoint(nodes=(node,)) for node in range(3))
    tendons = MeshTendons((MeshTendon(name="/t", body=body.name, waypoints=waypoints, stiffness=1.0),), body)
    tendons.evaluate(device_points(tendons, body.points[None]))
    np.testing.assert_array_equal(force_matrices(tendons)[0, :, 0], [1.0, 0.0, -1.0, 1.0, 0.0, -1.0])
    assert tendons.rest_length[0] == 5.0 and tendons.target_length.numpy()[0, 0] == 5.0


@DIMS
@pytest.mark.parametrize("precision", ("float32", "float64"))
def test_coincident_neighbours_are_named(dim, precision):
    """Waypoints that meet raise an error with the path, the waypoints and the environment, unless that is not meant;
    results stay finite."""
    tendons, points = case(dim, environments=2, precision=precision)
    nodes = [waypoint.nodes[0] for waypoint in tendons.tendons[2].waypoints]
    points[1, nodes[7]] = points[1, nodes[8]]
    forces, _ = forces_of(tendons, points)
    assert np.isfinite(forces).all()
    with pytest.raises(SolveError, match="/World/tendon_40_beyond: waypoints 7 and 8 coincide in environment 1"):
        tendons.check()
    tendons.check(wp.array([1, 0], dtype=int))
    points[1, nodes[7]] += 0.1
    tendons.evaluate(device_points(tendons, points))
    tendons.check()


def test_lengths_at_rest_are_taken_where_no_target_is_given():
    """alpha is the length at rest, also through points of links."""
    tendons, _ = case(3, "mixed", target_length=None)
    foreign = foreign_places(tendons)
    expected = [oracle.length(tendon, tendons.body.points, foreign) for tendon in tendons.tendons]
    np.testing.assert_allclose(tendons.target_length.numpy()[:, 0], expected, rtol=1e-14)
