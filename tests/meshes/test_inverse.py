"""Tensions for wanted forces: against SciPy, bounds, dependent tendons, batches, what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import warp as wp
from scipy.optimize import lsq_linear, nnls

from tests.meshes.tendon_bodies import WAYPOINTS, device_points, random_body
from tests.meshes.tendon_matrices import force_matrices
from warp_artic.description.mesh_tendon import BodyPoint, MeshTendon, TensionLaw
from warp_artic.errors import SettingsError, SolveError
from warp_artic.meshes.inverse import InverseProblem
from warp_artic.meshes.length_changes import changes_for
from warp_artic.meshes.tendons import MeshTendons

DIMS = pytest.mark.parametrize("dim", (2, 3))
COUNTS = pytest.mark.parametrize("count", (2, 3, 40))


def placed(dim, count=3, tendons=9, environments=3, nodes=60, kind="nodes", seed=0, precision="float64", **fields):
    """Tendons of `count` waypoints on random nodes at random positions, and a generator."""
    rng = np.random.default_rng(seed)
    body = random_body(rng, dim, nodes)
    fields = {"stiffness": 40.0, **fields}
    paths = [WAYPOINTS[kind](rng, body, count) for _ in range(tendons)]
    made = tuple(MeshTendon(name=f"/t{i}", body=body.name, waypoints=path, **fields) for i, path in enumerate(paths))
    return placed_on(rng.uniform(size=(environments, *body.points.shape)), made, body, precision), rng


def placed_on(points, tendons, body, precision="float64"):
    """Tendons at points of shape (environments, N, dim)."""
    made = MeshTendons(tendons, body, environments=len(points), precision=precision)
    made.evaluate(device_points(made, points))
    return made


def nearly_parallel(dim):
    """Three tendons from a node to points of an edge that are a thousandth of it apart."""
    rng = np.random.default_rng(dim)
    body = random_body(rng, dim, 3)
    shares = (0.5, 0.501, 0.502)
    made = tuple(
        MeshTendon(
            name=f"/t{share}",
            body=body.name,
            waypoints=(BodyPoint(nodes=(0,)), BodyPoint(nodes=(1, 2), weights=(share, 1.0 - share))),
        )
        for share in shares
    )
    return placed_on(rng.uniform(size=(8, 3, dim)), made, body), rng


def wanted(tendons, forces):
    """Forces of shape (environments, N dim) as an array of vectors."""
    return wp.array(forces.reshape(len(forces), -1, tendons.body.dim), dtype=tendons.vec)


def made_by(tendons, tension):
    """A tau of each environment."""
    return np.einsum("eft,te->ef", force_matrices(tendons), tension)


def solve(tendons, forces, **options):
    """A problem and its solution."""
    problem = InverseProblem(tendons, **options)
    return problem, problem.solve(wanted(tendons, forces))


@DIMS
@COUNTS
def test_forces_that_tendons_make_give_their_tensions_back(dim, count):
    """A random tau >= 0, with zeros among it, comes back from A tau where A has full column rank."""
    tendons, rng = placed(dim, count)
    tension = rng.uniform(size=(9, 3)) * (rng.uniform(size=(9, 3)) > 0.3)
    problem, found = solve(tendons, made_by(tendons, tension))
    assert (found.rank == 9).all()
    np.testing.assert_allclose(found.tension, tension, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.unreachable, 0.0, atol=1e-12)
    np.testing.assert_allclose(problem.conditions(), np.linalg.cond(force_matrices(tendons)), rtol=1e-11)


@DIMS
def test_nearly_parallel_tendons_lose_no_digits_to_squares(dim):
    """With conditions above 1e6, whose squares leave four digits, tau comes back to nine."""
    tendons, rng = nearly_parallel(dim)
    tension = rng.uniform(0.5, 1.0, size=(3, 8))
    problem, found = solve(tendons, made_by(tendons, tension))
    condition = np.linalg.cond(force_matrices(tendons))
    assert condition.min() > 1e5 and condition.max() > 1e6
    np.testing.assert_allclose(problem.conditions(), condition, rtol=1e-8)
    np.testing.assert_allclose(found.tension, tension, rtol=0, atol=1e-9)


@DIMS
@COUNTS
@pytest.mark.parametrize("kind", ("nodes", "means"))
def test_forces_out_of_reach_are_approached_as_scipy_does(dim, count, kind):
    """Slopes and their products with tensions vanish, and U is that of `nnls`."""
    tendons, rng = placed(dim, count, kind=kind, tendons=20)
    forces = rng.normal(size=(3, 60 * dim))
    _, found = solve(tendons, forces)
    assert (found.tension >= 0.0).all() and (found.optimality <= 1e-10).all()
    np.testing.assert_allclose(found.tension * found.gradient, 0.0, atol=1e-10)
    for matrix, force, objective, tension in zip(force_matrices(tendons), forces, found.objective, found.tension.T):
        peer, distance = nnls(matrix, force)
        np.testing.assert_allclose(objective, 0.5 * distance**2, rtol=1e-10)
        np.testing.assert_allclose(tension, peer, rtol=0, atol=1e-10)
    rest = forces - made_by(tendons, found.tension)
    np.testing.assert_allclose(found.unreachable.reshape(3, -1), rest, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.residual, np.linalg.norm(rest, axis=1), rtol=1e-12)


@DIMS
@pytest.mark.parametrize("regularisation", (0.0, 1e-3))
def test_bounds_weights_and_regularisation(dim, regularisation):
    """U is that of `lsq_linear` on the stacked problem, and tensions lie on the bounds on which they are said to be."""
    tendons, rng = placed(dim, tendons=20, min_tension=0.02, max_tension=0.1)
    weights = rng.uniform(size=(60, dim)) * (rng.uniform(size=(60, 1)) > 0.2)
    forces = 0.2 * rng.normal(size=(3, 60 * dim))
    _, found = solve(tendons, forces, weights=weights, regularisation=regularisation)
    assert {-1, 0, 1} == set(found.bound.ravel())
    np.testing.assert_array_equal(found.tension[found.bound == -1], 0.02)
    np.testing.assert_array_equal(found.tension[found.bound == 1], 0.1)
    assert (found.optimality <= 1e-10).all()
    root = np.sqrt(weights).ravel()
    for matrix, force, objective in zip(force_matrices(tendons), forces, found.objective):
        stacked = np.concatenate([root[:, None] * matrix, np.sqrt(regularisation) * np.eye(20)])
        peer = lsq_linear(stacked, np.concatenate([root * force, np.zeros(20)]), (0.02, 0.1), method="bvls", tol=1e-15)
        np.testing.assert_allclose(objective, peer.cost, rtol=1e-10)


@pytest.mark.parametrize(("dim", "nodes", "tendons"), [(2, 6, 40), (3, 5, 20)])
def test_rounding_makes_no_tendon_independent(dim, nodes, tendons):
    """There are never more independent tendons than forces without resultant and moment, however near they are."""
    tendons, _ = placed(dim, tendons=tendons, nodes=nodes, environments=1024)
    found = InverseProblem(tendons).solve(wp.zeros((1024, nodes), dtype=tendons.vec))
    assert found.rank.max() == nodes * dim - dim * (dim + 1) // 2


def test_no_force_that_counts_leaves_nothing_to_solve():
    """Without weights tendons stay slack, none is independent, and the condition is that of a singular matrix."""
    tendons, rng = placed(3)
    problem, found = solve(tendons, rng.normal(size=(3, 180)), weights=0.0)
    assert not found.tension.any() and not found.rank.any() and not found.objective.any()
    with np.errstate(all="raise"):
        assert np.isinf(problem.conditions()).all()


@DIMS
@pytest.mark.parametrize("seed", range(6))
def test_dependent_tendons_are_no_obstacle(dim, seed):
    """With more tendons than forces, some of them twice, U is still that of `lsq_linear`, and a second run is equal."""
    few, rng = placed(dim, tendons=15, nodes=5, seed=seed)
    twice = tuple(replace(one, name=f"{one.name}_{copy}") for one in few.tendons for copy in (0, 1))
    tendons = placed_on(rng.uniform(size=(3, 5, dim)), twice, few.body)
    forces = rng.normal(size=(3, 5 * dim))
    problem, found = solve(tendons, forces)
    matrices = force_matrices(tendons)
    np.testing.assert_array_equal(found.rank, np.linalg.matrix_rank(matrices))
    assert np.isinf(problem.conditions()).all() and (found.optimality <= 1e-10).all()
    for matrix, force, objective in zip(matrices, forces, found.objective):
        peer = lsq_linear(matrix, force, (0.0, np.inf), method="bvls", tol=1e-15)
        np.testing.assert_allclose(objective, peer.cost, rtol=1e-10, atol=1e-20)
    # Of two that are the same the first one pulls.
    assert not found.tension[1::2].any()
    np.testing.assert_array_equal(problem.solve(wanted(tendons, forces)).tension, found.tension)


def test_a_batch_is_bitwise_its_problems():
    """64 problems at once give what each gives alone."""
    tendons, rng = placed(3, environments=64, tendons=20)
    points = rng.uniform(size=(64, 60, 3))
    tendons.evaluate(device_points(tendons, points))
    forces = rng.normal(size=(64, 180))
    _, found = solve(tendons, forces)
    single = MeshTendons(tendons.tendons, tendons.body)
    problem = InverseProblem(single)
    for env in range(64):
        single.evaluate(device_points(single, points[env : env + 1]))
        alone = problem.solve(wanted(single, forces[env : env + 1]))
        np.testing.assert_array_equal(alone.tension[:, 0], found.tension[:, env])
        np.testing.assert_array_equal(alone.unreachable[0], found.unreachable[env])
        assert alone.objective[0] == found.objective[env]


@DIMS
def test_a_start_near_the_best_shortens_the_search(dim):
    """From the tensions of slightly other forces the same ones are found, in fewer rounds."""
    tendons, rng = placed(dim, tendons=40, environments=8)
    forces = rng.normal(size=(8, 60 * dim))
    problem, before = solve(tendons, forces)
    forces += 0.01 * rng.normal(size=forces.shape)
    cold = problem.solve(wanted(tendons, forces))
    warm = problem.solve(wanted(tendons, forces), before.tension)
    np.testing.assert_allclose(warm.tension, cold.tension, rtol=0, atol=1e-12)
    assert warm.rounds.sum() < cold.rounds.sum()


def test_the_part_that_no_tendon_makes_is_named():
    """Two nodes can only be pulled together: pushing them apart, and forces across, are out of reach."""
    body = replace(random_body(np.random.default_rng(0), 2), points=np.array([[0.0, 0.0], [2.0, 0.0]]))
    path = tuple(BodyPoint(nodes=(node,)) for node in (0, 1))
    tendons = placed_on(body.points[None], (MeshTendon(name="/t", body=body.name, waypoints=path),), body)
    _, found = solve(tendons, np.array([[3.0, 1.0, -3.0, 0.0]]))
    np.testing.assert_allclose(found.tension, [[3.0]])
    np.testing.assert_allclose(found.unreachable[0], [[0.0, 1.0], [0.0, 0.0]], atol=1e-15)
    _, found = solve(tendons, np.array([[-3.0, 0.0, 3.0, 0.0]]))
    assert found.tension[0, 0] == 0.0 and found.bound[0, 0] == -1
    np.testing.assert_array_equal(found.unreachable[0], [[-3.0, 0.0], [3.0, 0.0]])


@pytest.mark.parametrize("law", (TensionLaw.SPRING, TensionLaw.CABLE), ids=lambda law: law.value)
def test_derivatives_by_length_changes(law):
    """The gradient and the Hessian of section 3 are differences of U and of the gradient; for springs H = K A^T A K."""
    tendons, rng = placed(3, law=law, smoothing=0.05)
    stiffness = rng.uniform(20.0, 60.0, size=(9, 3))
    tendons.stiffness.assign(stiffness)
    problem = InverseProblem(tendons, regularisation=0.3, weights=rng.uniform(0.5, 1.0, size=(60, 3)))
    forces = wanted(tendons, rng.normal(size=(3, 180)))
    # Slack, within the start, and beyond.
    changes = np.repeat(np.array([-0.02, 0.02, 0.09]), 3)[:, None] + rng.uniform(0.0, 0.005, size=(9, 3))
    _, gradient, hessian = problem.derivatives(changes, forces)
    step = 1e-6
    for tendon in range(9):
        moved = [changes.copy(), changes.copy()]
        moved[0][tendon] += step
        moved[1][tendon] -= step
        after, before = (problem.derivatives(one, forces) for one in moved)
        scale = np.abs(gradient).max()
        np.testing.assert_allclose((after[0] - before[0]) / (2 * step), gradient[tendon], rtol=0, atol=1e-6 * scale)
        difference = (after[1] - before[1]) / (2 * step)
        np.testing.assert_allclose(difference.T, hessian[:, tendon], rtol=0, atol=1e-5 * np.abs(hessian).max())
    np.testing.assert_array_equal(hessian, hessian.swapaxes(1, 2))
    if law is TensionLaw.SPRING:
        plain = InverseProblem(tendons)
        A = force_matrices(tendons)
        expected = stiffness.T[:, :, None] * (A.swapaxes(1, 2) @ A) * stiffness.T[:, None, :]
        np.testing.assert_allclose(plain.derivatives(changes, forces)[2], expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("law", (TensionLaw.SPRING, TensionLaw.CABLE), ids=lambda law: law.value)
def test_the_best_tensions_are_the_best_length_changes(law):
    """At the length changes of the best tensions U is the same, and no slope leads lower."""
    tendons, rng = placed(2, tendons=20, law=law, smoothing=0.01)
    forces = rng.normal(size=(3, 120))
    problem, found = solve(tendons, forces)
    changes = changes_for(tendons, found.tension)
    assert (changes >= 0.0).all() and (changes[found.tension == 0.0] == 0.0).all()
    objective, gradient, _ = problem.derivatives(changes, wanted(tendons, forces))
    np.testing.assert_allclose(objective, found.objective, rtol=1e-12)
    np.testing.assert_allclose(np.where(found.bound == 0, gradient, np.minimum(gradient, 0.0)), 0.0, atol=1e-9)


def test_tendons_in_single_precision():
    """A in float32 is taken as it is: the search loses no digits."""
    tendons, rng = placed(3, tendons=20, precision="float32")
    forces = rng.normal(size=(3, 180)).astype(np.float32).astype(np.float64)
    _, found = solve(tendons, forces)
    assert (found.optimality <= 1e-10).all()
    for matrix, force, objective in zip(force_matrices(tendons), forces, found.objective):
        np.testing.assert_allclose(objective, 0.5 * nnls(matrix, force)[1] ** 2, rtol=1e-10)


def test_tendons_through_foreign_points_count_by_their_nodes():
    """Only forces on nodes are wanted; what a tendon does to links and to the world is free."""
    rng = np.random.default_rng(0)
    body = random_body(rng, 3)
    from_world = WAYPOINTS["mixed"](rng, body, 4)
    path = (from_world[0], *from_world[2:])
    tendons = placed_on(body.points[None], (MeshTendon(name="/t", body=body.name, waypoints=path),), body)
    tension = np.array([[2.5]])
    _, found = solve(tendons, made_by(tendons, tension))
    np.testing.assert_allclose(found.tension, tension, rtol=1e-12)


@pytest.mark.parametrize(
    "options, sentence",
    (
        ({"weights": -1.0}, "weights: -1 to -1 must be finite and not negative"),
        ({"weights": np.ones(7)}, r"weights have the shape \(7,\), which does not broadcast to \(60, 2\)"),
        ({"regularisation": np.nan}, "regularisation: nan to nan must be finite and not negative"),
    ),
)
def test_what_is_refused(options, sentence):
    """Weights and regularisation are checked."""
    tendons, _ = placed(2)
    with pytest.raises(SettingsError, match=sentence):
        InverseProblem(tendons, **options)


def test_what_a_search_refuses():
    """Forces of another shape or not finite, and bounds that leave nothing."""
    tendons, rng = placed(2)
    problem = InverseProblem(tendons)
    forces = rng.normal(size=(3, 120))
    with pytest.raises(SettingsError, match=r"forces have the shape \(2, 60\), must have \(3, 60\)"):
        problem.solve(wanted(tendons, forces[:2]))
    with pytest.raises(SettingsError, match=r"tensions at the start have the shape \(9, 2\), must have \(9, 3\)"):
        problem.solve(wanted(tendons, forces), np.zeros((9, 2)))
    forces[1, 5] = np.nan
    with pytest.raises(SolveError, match="wanted forces, points or start of environment 1 are not finite"):
        problem.solve(wanted(tendons, forces))
    problem.max_tension.fill_(-1.0)
    with pytest.raises(SettingsError, match="/t0: smallest tension 0 N is above the largest one, -1 N, in environment"):
        problem.solve(wanted(tendons, forces))


@pytest.mark.parametrize("scale", (1e-9, 1e9))
def test_sizes_do_not_matter(scale):
    """Forces a billion times smaller or larger give tensions that are, and no forces give none."""
    tendons, rng = placed(3, tendons=20)
    forces = rng.normal(size=(3, 180))
    problem, found = solve(tendons, forces)
    other = problem.solve(wanted(tendons, scale * forces))
    np.testing.assert_allclose(other.tension, scale * found.tension, rtol=1e-10, atol=1e-13 * scale)
    assert (other.bound == found.bound).all()
    assert not problem.solve(wanted(tendons, 0.0 * forces)).tension.any()
