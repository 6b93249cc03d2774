"""Tensions for wanted forces through the equilibrium: derivatives, searches, what has no equilibrium."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from tests.meshes.bodies import bar
from warp_artic.description.mesh_tendon import BodyPoint, MeshTendon, TensionLaw, WorldPoint
from warp_artic.errors import SettingsError, SolveError
from warp_artic.meshes import adjoint
from warp_artic.meshes.adjoint import EXACT, DeformedInverse, NodalForces
from warp_artic.meshes.equilibrium import Equilibrium, mesh_with_tendons, weights
from warp_artic.meshes.target_lengths import choose_target_lengths

DIMS = pytest.mark.parametrize("dim", (2, 3))
KINDS = pytest.mark.parametrize("wanted", tuple(NodalForces), ids=lambda kind: kind.name)


def arm(dim):
    """A clamped bar with tendons along its edges, as long as it and half as long, and one to the world."""
    body = bar((8, 2, 2)[:dim], (0.8, 0.3, 0.3)[:dim], young=2e3, thickness=0.3)
    body = replace(body, pinned=tuple(np.flatnonzero(body.points[:, 0] == 0.0).tolist()))
    edges = np.isin(body.points[:, 1:], (0.0, 0.3)).all(axis=1)
    paths = []
    for corner in np.unique(body.points[edges][:, 1:], axis=0):
        row = np.flatnonzero((body.points[:, 1:] == corner).all(axis=1))
        paths += [row, row[:5]]
    tendons = [
        MeshTendon(name=f"/t{number}", body=body.name, waypoints=tuple(BodyPoint(nodes=(int(n),)) for n in row))
        for number, row in enumerate(paths)
    ]
    outside = (BodyPoint(nodes=(int(paths[0][-1]),)), WorldPoint(position=(0.9, -0.6, 0.1)))
    return body, (*tendons, MeshTendon(name="/outside", body=body.name, waypoints=outside))


def case(dim, environments=2, seed=0, **options):
    """The problem of an arm under its weight, and tensions that bend it."""
    body, tendons = arm(dim)
    problem = DeformedInverse(body, tendons, environments=environments, **options)
    mesh = problem.equilibrium.mesh
    problem.equilibrium.loads.assign(mesh.array(weights(mesh, (0.0, -0.5, 0.0))))
    tension = np.random.default_rng(seed).uniform(0.0, 3.0, size=(len(tendons), environments))
    tension[1] = 0.0
    return problem, tension


@DIMS
@KINDS
def test_the_adjoint_gradient_is_a_difference_of_equilibria(dim, wanted):
    """dU/dtau by one adjoint solution, and by all columns of dq/dtau, are central differences of U."""
    rng = np.random.default_rng(1)
    body, _ = arm(dim)
    problem, tension = case(dim, wanted=wanted, weights=rng.uniform(size=body.points.shape), regularisation=0.1)
    forces = problem.forces(tension)
    assert np.abs(problem.points.numpy() - body.points).max() > 0.05
    asked = forces + rng.normal(size=forces.shape)
    _, gradient = problem.objective(tension, asked)
    jacobian = problem.jacobian()
    step = 1e-3
    for tendon in range(len(tension)):
        moved = [tension.copy(), tension.copy()]
        moved[0][tendon] += step
        moved[1][tendon] -= step
        after, before = (problem.objective(one, asked)[0] for one in moved)
        difference = (after - before) / (2 * step)
        np.testing.assert_allclose(gradient[tendon], difference, rtol=0, atol=1e-6 * np.abs(gradient).max())
        after, before = map(problem.forces, moved)
        difference = (after - before) / (2 * step)
        np.testing.assert_allclose(jacobian[:, tendon], difference, rtol=0, atol=1e-6 * np.abs(jacobian).max())


@DIMS
@KINDS
def test_forces_of_an_equilibrium_give_its_tensions_back(dim, wanted):
    """Starting at rest with slack tendons, to 1e-8; U falls in every step."""
    problem, tension = case(dim, wanted=wanted)
    forces = problem.forces(tension)
    points = problem.points.numpy().copy()
    problem.points.assign(problem.equilibrium.mesh.array(problem.tendons.body.points))
    found = problem.solve(forces)
    assert found.converged.all()
    np.testing.assert_allclose(found.tension, tension, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.points, points, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.unreachable, 0.0, atol=1e-8)
    assert (np.diff(found.objectives, axis=0) <= 0.0).all()


def test_wanting_nothing_comes_to_an_end():
    """From tensions that bend the body, the way back to slack tendons and no forces of theirs."""
    problem, tension = case(2)
    forces = problem.forces(tension)
    found = problem.solve(0.0 * forces, tension)
    assert found.converged.all()
    np.testing.assert_allclose(found.tension, 0.0, atol=1e-9)
    assert (found.bound[found.tension == 0.0] == -1).all()


@KINDS
def test_forces_out_of_reach_are_approached_as_scipy_does(wanted):
    """U and tensions are those of `least_squares` with the same bounds, some of which are met."""
    body, tendons = arm(2)
    tendons = tuple(replace(one, max_tension=2.5) for one in tendons)
    problem = DeformedInverse(body, tendons, wanted=wanted)
    tension = np.random.default_rng(0).uniform(0.5, 2.0, size=(len(tendons), 1))
    forces = problem.forces(tension)
    asked = forces + 0.5 * np.random.default_rng(1).normal(size=forces.shape)
    found = problem.solve(asked, tension)
    assert found.converged.all() and (found.tension >= 0.0).all() and (found.tension <= 2.5).all()
    peer = least_squares(
        lambda tau: (problem.forces(tau[:, None]) - asked).ravel(),
        tension[:, 0],
        jac=lambda tau: (problem.forces(tau[:, None]), problem.jacobian())[1].reshape(len(tau), -1).T,
        bounds=(0.0, 2.5), ftol=1e-15, xtol=1e-15, gtol=1e-12,
    )  # fmt: skip
    assert len(found.objectives) < 20
    assert found.objectives[-1][0] <= peer.cost * (1.0 + 1e-10)
    np.testing.assert_allclose(found.tension[:, 0], peer.x, rtol=0, atol=1e-4)
    np.testing.assert_allclose(problem.forces(found.tension) + found.unreachable, asked, rtol=0, atol=1e-9)
    np.testing.assert_allclose(problem.objective(found.tension, asked)[0], found.objectives[-1], rtol=1e-10)


def test_environments_do_not_see_each_other():
    """Each of three problems gives bitwise what it gives alone, though they take different numbers of steps."""
    problem, tension = case(2, environments=3)
    forces = problem.forces(tension)
    asked = forces + np.array([0.0, 0.1, 1.0])[:, None, None] * np.random.default_rng(2).normal(size=forces.shape)
    problem.points.assign(problem.equilibrium.mesh.array(problem.tendons.body.points))
    found = problem.solve(asked)
    for env in range(3):
        single, _ = case(2, environments=1)
        alone = single.solve(asked[env : env + 1])
        np.testing.assert_array_equal(alone.tension[:, 0], found.tension[:, env])
        np.testing.assert_array_equal(alone.points[0], found.points[env])


def test_trials_without_equilibrium_are_taken_back(monkeypatch):
    """Forces far beyond what the body bears: U falls with tensions that have an equilibrium, and the search says that
    it is not done; the other environment is not held up."""
    monkeypatch.setattr(adjoint, "STEPS", 6)
    problem, tension = case(2, environments=2)
    forces = problem.forces(tension)
    problem.points.assign(problem.equilibrium.mesh.array(problem.tendons.body.points))
    found = problem.solve(forces * np.array([1.0, 50.0])[:, None, None])
    assert found.converged.tolist() == [True, False]
    np.testing.assert_allclose(found.tension[:, 0], tension[:, 0], rtol=0, atol=1e-8)
    assert (np.diff(found.objectives, axis=0) <= 0.0).all() and found.objectives[-1][1] < found.objectives[0][1]
    points = found.points.copy()
    made = problem.forces(found.tension)
    np.testing.assert_allclose(problem.points.numpy(), points, rtol=0, atol=1e-6)
    np.testing.assert_allclose(made + found.unreachable, forces * np.array([1.0, 50.0])[:, None, None], atol=1e-5)


def test_lengths_and_tensions_are_two_sides_of_one_equilibrium():
    """Tensions that come of target lengths, imposed in their place, give the same lengths back."""
    body, tendons = arm(3)
    tendons = tuple(replace(one, stiffness=30.0, smoothing=1e-3) for one in tendons)
    mesh, cables = mesh_with_tendons(body, tendons)
    cables.target_length.assign(cables.rest_length[:, None] * np.linspace(0.8, 1.1, len(tendons))[:, None])
    points = mesh.array(body.points)
    assert Equilibrium(mesh, cables, EXACT).solve(points).converged.all()
    shape = cables.evaluate(points)
    assert (shape.tension.numpy() == 0.0).any() and (shape.tension.numpy() > 1.0).any()
    problem = DeformedInverse(body, tendons)
    problem.forces(shape.tension.numpy())
    np.testing.assert_allclose(problem.tendons.shape.length.numpy(), shape.length.numpy(), rtol=0, atol=1e-8)


@pytest.mark.parametrize("law", (TensionLaw.SPRING, TensionLaw.CABLE), ids=lambda law: law.value)
def test_target_lengths_bring_the_body_to_the_wanted_forces(law):
    """With the target lengths of a sequence put into the law of the tendons, the equilibria have the wanted forces."""
    problem, tension = case(3, environments=1)
    times = [0.4 * tension, 0.7 * tension, tension]
    wanted = [problem.forces(tau).copy() for tau in times]
    problem.points.assign(problem.equilibrium.mesh.array(problem.tendons.body.points))
    found = []
    for forces in wanted:
        found.append(problem.solve(forces, found[-1].tension if found else None))
    body, tendons = arm(3)
    mesh, sprung = mesh_with_tendons(body, tuple(replace(one, law=law, smoothing=1e-3) for one in tendons))
    stiffness, targets = choose_target_lengths(sprung, [one.tension for one in found], [one.length for one in found])
    assert stiffness > 0.0 and (targets > 0.0).all()
    equilibrium = Equilibrium(mesh, sprung, EXACT)
    equilibrium.loads.assign(problem.equilibrium.loads)
    points = mesh.array(body.points)
    for target, forces in zip(targets, wanted):
        sprung.target_length.assign(target)
        assert equilibrium.solve(points).converged.all()
        made = mesh.array(np.zeros_like(body.points))
        sprung.evaluate(points)
        sprung.add_forces(made)
        np.testing.assert_allclose(made.numpy(), forces, rtol=0, atol=1e-6)


def test_what_is_refused():
    """Tendons that may push, and tensions without equilibrium."""
    body, tendons = arm(2)
    with pytest.raises(SettingsError, match="/t0: smallest tension -1 N must not be negative where the body deforms"):
        DeformedInverse(body, (replace(tendons[0], min_tension=-1.0),))
    problem = DeformedInverse(body, tendons)
    with pytest.raises(SettingsError, match=r"wanted forces have the shape \(27, 2\), must have \(1, 27, 2\)"):
        problem.solve(np.zeros((27, 2)))
    with pytest.raises(SolveError, match="/World/bar: no equilibrium of environment 0 was found"):
        problem.forces(np.full((len(tendons), 1), np.nan))
