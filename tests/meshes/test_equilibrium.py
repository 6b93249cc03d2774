"""Quasi-static equilibrium: patch test, beams, convergence, and what has none."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.meshes.bodies import LAWS, bar
from tests.meshes.equilibria import solve_equilibrium
from tests.meshes.exact_potential import exact_potential
from warp_artic import DescriptionError
from warp_artic.description.elastic_body import ElasticLaw
from warp_artic.description.mesh_tendon import BodyPoint, MeshTendon, TensionLaw, WorldPoint
from warp_artic.meshes.equilibrium import Equilibrium, mesh_with_tendons, weights
from warp_artic.meshes.newton import NewtonOptions

EXACT = NewtonOptions(tolerance=1e-13)


def clamped(cells, size, **fields):
    """A bar whose end at x = 0 is pinned."""
    body = bar(cells, size, **fields)
    return replace(body, pinned=tuple(np.flatnonzero(body.points[:, 0] == 0.0).tolist()))


def pulled(body, nodes, **fields):
    """A tendon over nodes."""
    waypoints = tuple(BodyPoint(nodes=(int(node),)) for node in nodes)
    return MeshTendon(name="/World/tendon", body=body.name, waypoints=waypoints, **fields)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", (2, 3))
def test_patch(law, dim):
    """Where the surface is strained as a whole, so is the inside of an irregular mesh."""
    body = bar((4, 3, 3)[:dim], (0.8, 0.6, 0.5)[:dim], law)
    size = np.ptp(body.points, axis=0)
    surface = ((body.points == 0.0) | (body.points == size)).any(axis=1)
    rng = np.random.default_rng(0)
    points = body.points + np.where(surface[:, None], 0.0, 0.03 * rng.uniform(-1, 1, body.points.shape))
    F = np.eye(dim) + 0.2 * rng.uniform(-1, 1, (dim, dim))
    start = np.where(surface[:, None], points @ F.T, points)
    body = replace(body, points=points, start_points=start, pinned=tuple(np.flatnonzero(surface).tolist()))
    found = solve_equilibrium(body, options=EXACT)
    np.testing.assert_allclose(found, points @ F.T, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("law", LAWS)
def test_a_cantilever_bends_as_a_beam(law):
    """Under a small load at its tip, as Euler and Bernoulli say but for shear; the error falls with the square."""
    length, height, E = 1.0, 0.1, 1e6
    load = 1e-3
    found = []
    for count in (8, 16, 32):
        body = clamped((10 * count, count), (length, height), law=law, young=E, poisson=0.0)
        tip = np.flatnonzero(body.points[:, 0] == length)
        loads = np.zeros_like(body.points)
        shares = np.where(np.isin(body.points[tip, 1], (0.0, height)), 0.5, 1.0)
        loads[tip, 1] = -load * shares / shares.sum()
        found.append(-(solve_equilibrium(body, loads=loads) - body.points)[tip, 1].mean())
    wanted = load * length**3 / (3 * E * height**3 / 12)
    sheared = wanted + load * length / (5 / 6 * E / 2 * height)
    assert np.log2((found[1] - found[0]) / (found[2] - found[1])) == pytest.approx(2.0, abs=0.1)
    assert found[2] == pytest.approx(wanted, rel=0.01)
    finest = found[2] + (found[2] - found[1]) / 3
    assert finest == pytest.approx(sheared, rel=2e-4)


@pytest.mark.parametrize("law", LAWS)
def test_a_tendon_off_the_axis_bends_a_beam(law):
    """The curvature is T e / (E I), away from the ends."""
    length, height, E, T = 0.6, 0.1, 1e6, 0.02
    body = clamped((192, 32), (length, height), law=law, young=E, poisson=0.0, thickness=0.5)
    row = np.flatnonzero(np.isclose(body.points[:, 1], 0.75 * height))
    tendon = pulled(body, row, law=TensionLaw.TENSION, tension=T)
    points = solve_equilibrium(body, (tendon,))
    axis = np.isclose(body.points[:, 1], 0.5 * height) & (np.abs(body.points[:, 0] - 0.5 * length) < height)
    curvature = 2 * np.polyfit(body.points[axis, 0], (points - body.points)[axis, 1], 2)[0]
    assert curvature == pytest.approx(T * 0.25 * height / (E * 0.5 * height**3 / 12), rel=0.01)


def hanging(law, cells, most_steps=100):
    """A clamped bar that hangs and is bent by a cable: what has been solved, with its loads and how that went."""
    dim = len(cells)
    body = clamped(cells, (1.0, 0.2, 0.2)[:dim], law=law, young=1e5)
    row = np.flatnonzero(body.points[:, 1] == 0.2)[:: dim**2]
    cable = pulled(body, row, stiffness=300.0, smoothing=1e-3, target_length=0.6)
    mesh, tendons = mesh_with_tendons(body, (cable,))
    equilibrium = Equilibrium(mesh, tendons, NewtonOptions(most_steps=most_steps))
    load = weights(mesh, (0.0, -9.81, 0.0))
    equilibrium.loads.assign(mesh.array(load))
    points = mesh.array(body.points)
    found = equilibrium.solve(points)
    return SimpleNamespace(
        body=body, cable=cable, load=load, points=points.numpy()[0], found=found, forces=equilibrium.forces.numpy()[0]
    )


@pytest.mark.parametrize("dim", (2, 3))
@pytest.mark.parametrize("law", LAWS)
def test_every_step_goes_downhill(law, dim):
    """Far from rest, with tendons; the last steps converge quadratically, and forces are held."""
    run = hanging(law, (12, 3, 3)[:dim])
    found, body = run.found, run.body
    energies, falls = (np.array(values)[:, 0] for values in (found.energies, found.falls))
    assert found.converged.all() and len(falls) == found.steps[0] < 40
    assert (falls > 0.0).all()
    # Energies have rounding, falls do not.
    np.testing.assert_allclose(energies[0] - np.cumsum(falls), energies[1:], rtol=0.0, atol=4e-13 * energies[0])
    assert found.force[0] <= 1e-7 * found.reference[0]
    assert np.abs(run.points - body.points).max() > 0.1
    reaction = run.forces[list(body.pinned)].sum(axis=0)
    np.testing.assert_allclose(reaction, run.load.sum(axis=0), atol=1e-6 * np.abs(run.load.sum()))


@pytest.mark.parametrize(
    ("law", "cells"),
    [(ElasticLaw.NEO_HOOKEAN, (12, 3)), (ElasticLaw.COROTATED, (12, 3)), (ElasticLaw.NEO_HOOKEAN, (6, 2, 2))],
)
def test_energy_falls_beyond_its_digits(law, cells):
    """In every step, as fifty digits of it show; the last falls are 1e-15 of the energy and less."""
    run = hanging(law, cells)
    points = [hanging(law, cells, most_steps=count).points for count in range(run.found.steps[0] + 1)]
    np.testing.assert_array_equal(points[-1], run.points)
    energies = [exact_potential(run.body, run.cable, run.load, at) for at in points]
    falls = -np.diff(energies).astype(float)
    assert (falls > 0.0).all() and falls[-1] < 1e-14 * abs(float(energies[-1]))
    np.testing.assert_allclose(np.array(run.found.falls)[:, 0], falls, rtol=1e-6, atol=1e-14 * float(energies[0]))
    assert run.found.falls[-1][0] == pytest.approx(falls[-1], rel=1e-6)


def test_environments_converge_on_their_own():
    """Each is bitwise the one that is solved alone, with other loads and tendons."""
    body = clamped((8, 2, 2), (1.0, 0.2, 0.2))
    row = np.flatnonzero((body.points[:, 1] == 0.2) & (body.points[:, 2] == 0.0))
    tendon = pulled(body, row, stiffness=100.0, smoothing=1e-3)

    def solve(environments, which):
        mesh, tendons = mesh_with_tendons(body, (tendon,), environments)
        tendons.target_length.assign(np.array([[1.0, 0.8, 0.5]])[:, which])
        equilibrium = Equilibrium(mesh, tendons)
        load = np.array([0.0, 1.0, 5.0])[which, None, None] * weights(mesh, (0.0, 0.0, -1.0))
        equilibrium.loads.assign(mesh.array(load))
        points = mesh.array(body.points)
        return points, equilibrium.solve(points)

    points, found = solve(3, [0, 1, 2])
    assert found.converged.all() and len(set(found.steps)) > 1
    for k in range(3):
        alone, convergence = solve(1, [k])
        assert (alone.numpy()[0] == points.numpy()[k]).all() and convergence.steps[0] == found.steps[k]


def test_single_precision_finds_the_same():
    """A bar that hangs by 5 cm, to 0.1 mm."""
    body = clamped((8, 2, 2), (1.0, 0.2, 0.2), law=ElasticLaw.NEO_HOOKEAN)
    double, single = (solve_equilibrium(body, gravity=(0, 0, -2.0), precision=name) for name in ("float64", "float32"))
    assert np.abs(double - body.points).max() > 0.05
    np.testing.assert_allclose(single, double, atol=1e-4)


def test_what_nothing_holds_has_no_equilibrium():
    """A part of a mesh is held by a pin, or by a tendon that leads elsewhere."""
    body = bar((2, 2), (1.0, 1.0))
    with pytest.raises(DescriptionError, match="/World/bar: the mesh is held by nothing"):
        solve_equilibrium(body)
    count = len(body.points)
    points = np.concatenate([body.points, body.points + 2.0])
    two = replace(body, points=points, elements=np.concatenate([body.elements, body.elements + count]), pinned=(0, 1))
    with pytest.raises(DescriptionError, match=f"the part with node {count}, of 2 parts, is held by nothing"):
        solve_equilibrium(two)
    waypoints = BodyPoint(nodes=(count,)), WorldPoint(position=(3.0, 3.0, 0.0))
    tendon = MeshTendon(name="/World/tendon", body=two.name, waypoints=waypoints, stiffness=1.0)
    mesh, tendons = mesh_with_tendons(two, (tendon,))
    Equilibrium(mesh, tendons)
