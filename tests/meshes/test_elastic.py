"""Energy, forces and stiffness of elastic meshes."""

import math
from dataclasses import replace

import numpy as np
import pytest
import warp as wp

from tests.meshes.bodies import LAWS, bar, box, random_points
from warp_artic.description.diagnostic import Severity
from warp_artic.description.elastic_body import ElasticLaw, PlaneState
from warp_artic.description.validate_meshes import body_findings
from warp_artic.meshes import elastic
from warp_artic.meshes.elastic import ElasticMesh, color_elements
from warp_artic.meshes.element_access import packs_of

CELLS = {2: (3, 2), 3: (2, 1, 2)}
SIZE = {2: (0.9, 0.5), 3: (0.8, 0.4, 0.6)}


def dense(mesh, values):
    """The matrix of the first environment, shape (N dim, N dim)."""
    size, dim = mesh.body.points.shape
    matrix = np.zeros((size, dim, size, dim))
    matrix[mesh.pattern.rows, :, mesh.pattern.columns, :] = values.numpy()[0]
    return matrix.reshape(size * dim, size * dim)


def damped_from(mesh, scale):
    """A potential of damping between random points."""
    damping = mesh.damping(0.3)
    mesh.follow(damping, *(mesh.array(random_points(mesh.body, scale, seed)) for seed in (1, 2)))
    return damping


def evaluate(mesh, points, psd=False, damping=None):
    """Energy, forces (N dim) and stiffness (N dim, N dim) in one environment."""
    x = mesh.array(points)
    energy = wp.array([np.nan], dtype=mesh.types.real)
    forces, values = mesh.array(np.full_like(points, np.nan)), mesh.matrix()
    values.numbers.fill_(np.nan)
    projected = wp.array([int(psd)], dtype=int)
    mesh.fill(x, energy=energy, forces=forces, values=values, projected=projected, damping=damping)
    return energy.numpy()[0], forces.numpy()[0].ravel(), dense(mesh, values)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", (2, 3))
def test_forces_and_stiffness_are_derivatives(law, dim):
    """Also where elements are turned inside out, and with damping."""
    mesh = ElasticMesh(bar(CELLS[dim], SIZE[dim], law, thickness=0.1))
    body = mesh.body
    for scale in (0.02, 0.3):
        points = random_points(body, scale)
        damping = damped_from(mesh, 0.05)
        for damped in (None, damping):
            _, forces, stiffness = evaluate(mesh, points, damping=damped)
            assert np.abs(stiffness - stiffness.T).max() <= 1e-12 * np.abs(stiffness).max()
            direction = np.random.default_rng(3).normal(size=points.shape)
            step = 1e-6 * direction
            (high, f_high, _), (low, f_low, _) = (evaluate(mesh, points + k * step, damping=damped) for k in (1, -1))
            assert (high - low) / 2e-6 == pytest.approx(-forces @ direction.ravel(), rel=1e-6)
            change = stiffness @ direction.ravel()
            np.testing.assert_allclose((f_low - f_high) / 2e-6, change, atol=1e-5 * np.abs(change).max())


@pytest.mark.parametrize("precision", ("float32", "float64"))
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", (2, 3))
def test_elements_in_lanes_are_those_one_by_one(monkeypatch, law, dim, precision):
    """One source makes both, as on a CPU and on CUDA; also where some are turned inside out, and lanes stay empty."""
    body = bar((5, 3, 1)[:dim], SIZE[dim], law)
    if not elastic.is_wide(ElasticMesh(body).device):
        pytest.skip("lanes are for the CPU")
    points = random_points(body, 0.2)
    found = []
    for wide in (True, False):
        monkeypatch.setattr(elastic, "is_wide", lambda device, wide=wide: wide)
        mesh = ElasticMesh(body, precision=precision)
        damping = damped_from(mesh, 0.05)
        for psd in (False, True):
            found.append(evaluate(mesh, points, psd=psd, damping=damping))
    count = len(found) // 2
    for lanes, alone in zip(found[:count], found[count:]):
        for one, other in zip(lanes, alone):
            np.testing.assert_allclose(one, other, rtol=0.0, atol=200.0 * mesh.types.epsilon * np.abs(other).max())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", (2, 3))
def test_forces_of_small_and_of_rigid_displacements(law, dim):
    """At rest the stiffness is that of Young and Poisson; a rigid motion has no energy, and no net force acts."""
    mesh = ElasticMesh(bar(CELLS[dim], SIZE[dim], law))
    body = mesh.body
    points = body.points
    _, _, stiffness = evaluate(mesh, points)
    for strain in np.random.default_rng(0).normal(size=(3, dim, dim)):
        u = 1e-7 * points @ strain.T
        strain = 0.5e-7 * (strain + strain.T)
        E, nu, volume = body.material.young_modulus, body.material.poisson_ratio, np.prod(SIZE[dim])
        mu = E / (2 * (1 + nu))
        lame = E * nu / (1 - nu**2) if dim == 2 else E * nu / (1 + nu) / (1 - 2 * nu)
        wanted = volume * (mu * (strain**2).sum() + lame / 2 * np.trace(strain) ** 2)
        assert 0.5 * u.ravel() @ stiffness @ u.ravel() == pytest.approx(wanted, rel=1e-9)
        assert evaluate(mesh, points + u)[0] == pytest.approx(wanted, rel=1e-5)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(dim, dim)))[0]
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    energy, forces, _ = evaluate(mesh, points @ turn.T + 0.3)
    assert abs(energy) < 1e-9 and np.abs(forces).max() < 1e-9
    x = random_points(body, 0.1)
    forces = evaluate(mesh, x)[1].reshape(-1, dim)
    moment = np.einsum("ni,nj->ij", x, forces)
    assert np.abs(forces.sum(axis=0)).max() < 1e-12 * np.abs(forces).sum()
    assert np.abs(moment - moment.T).max() < 1e-12 * np.abs(forces).sum()
    turned = evaluate(mesh, x @ turn.T)[1].reshape(-1, dim)
    np.testing.assert_allclose(turned, forces @ turn.T, atol=1e-10 * np.abs(forces).max())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", (2, 3))
def test_the_projected_stiffness_is_positive_semi_definite(law, dim):
    """And it is the true one where that is, as at rest."""
    mesh = ElasticMesh(bar(CELLS[dim], SIZE[dim], law))
    for scale in (0.0, 0.05, 0.5):
        points = random_points(mesh.body, scale)
        true, projected = (evaluate(mesh, points, psd=psd)[2] for psd in (False, True))
        values = np.linalg.eigvalsh(projected)
        assert values[0] >= -1e-10 * values[-1]
        if scale == 0.0:
            np.testing.assert_allclose(projected, true, atol=1e-10 * values[-1])
    assert np.linalg.eigvalsh(true)[0] < -1e-3 * values[-1]


@pytest.mark.parametrize("dim", (2, 3))
def test_the_rotation_is_that_of_singular_values(dim):
    """Of corotated elements that are turned and stretched, by Newton's iteration and, where projected, by these."""
    mesh = ElasticMesh(bar(CELLS[dim], SIZE[dim], ElasticLaw.COROTATED))
    rng = np.random.default_rng(4)
    turn, _ = np.linalg.qr(rng.normal(size=(dim, dim)))
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    for flattened in (3.0, 1.0, 0.2, 0.011, 0.009, -0.5):
        stretches = np.linspace(1.0, 2.0, dim)
        stretches[-1] = flattened
        points = random_points(mesh.body, 1e-4) * stretches @ turn.T
        energy, forces, stiffness = evaluate(mesh, points)
        wanted_energy, wanted_forces, projected = evaluate(mesh, points, psd=True)
        assert energy == pytest.approx(wanted_energy, rel=1e-12)
        np.testing.assert_allclose(forces, wanted_forces, rtol=0.0, atol=1e-11 * np.abs(wanted_forces).max())
        if flattened == 3.0:  # all are stretched, and nothing is projected
            np.testing.assert_allclose(stiffness, projected, rtol=0.0, atol=1e-11 * np.abs(projected).max())


def test_elements_that_are_flat_are_defined():
    """Points on a line or on one point have finite energies, forces and projected stiffness."""
    for law in LAWS:
        for dim in (2, 3):
            mesh = ElasticMesh(bar(CELLS[dim], SIZE[dim], law))
            for keep in range(dim):
                points = mesh.body.points * (np.arange(dim) < keep)
                energy, forces, stiffness = evaluate(mesh, points, psd=True)
                assert np.isfinite(energy) and np.isfinite(forces).all() and np.isfinite(stiffness).all()
                assert np.linalg.eigvalsh(stiffness)[0] >= -1e-9 * np.abs(stiffness).max()


def test_plane_strain_is_a_slice_of_space():
    """A strip between two walls has the stiffness of plane strain, per thickness."""
    flat = ElasticMesh(bar((2, 2), (1.0, 0.5), ElasticLaw.COROTATED, plane_state=PlaneState.STRAIN, thickness=0.2))
    solid = ElasticMesh(bar((2, 2, 1), (1.0, 0.5, 0.2), ElasticLaw.COROTATED))
    strain = np.array([[1.05, 0.1], [0.0, 0.9]])
    deep = np.eye(3)
    deep[:2, :2] = strain
    energies = (evaluate(mesh, mesh.body.points @ F.T)[0] for mesh, F in ((flat, strain), (solid, deep)))
    assert next(energies) == pytest.approx(next(energies), rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("dim", "precision"), [(2, "float32"), (3, "float32"), (3, "float64")])
def test_environments_are_bitwise_those_alone(law, dim, precision):
    """Energy, forces and stiffness at points that differ, some of them with elements inside out, some projected; those
    that are not asked for stay as they are."""
    count = 19
    batch = ElasticMesh(bar((4, 2, 2)[:dim], SIZE[dim], law), environments=count, precision=precision)
    alone = ElasticMesh(batch.body, precision=precision)
    assert (batch.together > 1) == elastic.is_wide(batch.device) and alone.together == 1
    points = np.stack([random_points(batch.body, 0.02 * seed, seed) for seed in range(count)])
    projected, asked = np.arange(count) % 3 == 1, np.arange(count) % 5 != 2
    x, forces, values = batch.array(points), batch.array(np.full_like(points[0], 7.0)), batch.matrix()
    values.numbers.fill_(7.0)
    energy, damping = wp.full(count, 7.0, dtype=batch.types.real), batch.damping(0.3)
    batch.follow(damping, batch.array(points[::-1]), x)
    flags = {"asked": asked, "projected": projected}
    of_all = {name: wp.array(flag.astype(np.int32), dtype=int) for name, flag in flags.items()}
    batch.fill(x, energy=energy, forces=forces, values=values, damping=damping, **of_all)
    kept = ~asked
    assert (energy.numpy()[kept] == 7.0).all() and (forces.numpy()[kept] == 7.0).all()
    assert (values.numpy()[kept] == 7.0).all()
    for k in np.flatnonzero(asked):
        x_k, forces_k, values_k = alone.array(points[k]), alone.array(np.zeros_like(points[k])), alone.matrix()
        damping_k, projected_k = alone.damping(0.3), wp.array(projected[k : k + 1].astype(np.int32), dtype=int)
        energy_k = wp.zeros(1, dtype=alone.types.real)
        alone.follow(damping_k, alone.array(points[count - 1 - k]), x_k)
        alone.fill(x_k, energy=energy_k, forces=forces_k, values=values_k, projected=projected_k, damping=damping_k)
        np.testing.assert_array_equal(forces.numpy()[k], forces_k.numpy()[0])
        np.testing.assert_array_equal(values.numpy()[k], values_k.numpy()[0])
        assert energy.numpy()[k] == energy_k.numpy()[0]


@pytest.mark.parametrize("size", [1, 4, 16])
def test_elements_of_a_pack_share_no_nodes(size):
    """Every element has one pack; packs are full where that can be."""
    for cells, least in (((3, 3, 3), 2.5 if size > 4 else 1.05), ((1, 1, 1), 6.0 * size)):
        _, elements = box(cells, (1.0, 1.0, 1.0))
        packs = packs_of(elements, size)
        assert sorted(packs[packs >= 0]) == list(range(len(elements)))
        assert len(packs) <= least * -(-len(elements) // size)
        for pack in packs:
            nodes = elements[pack[pack >= 0]].ravel()
            assert len(nodes) and len(np.unique(nodes)) == len(nodes)


def test_mass_is_that_of_the_volume():
    """Of triangles with their thickness."""
    for dim, thickness in ((2, 0.1), (3, 1.0)):
        mesh = ElasticMesh(bar(CELLS[dim], SIZE[dim], density=800.0, thickness=thickness))
        assert mesh.node_mass.sum() == pytest.approx(800.0 * np.prod(SIZE[dim]) * thickness, rel=1e-12)


def test_elements_of_a_color_share_no_nodes():
    """Every element has one colour."""
    _, elements = box((3, 3, 3), (1.0, 1.0, 1.0))
    order, starts = color_elements(elements)
    assert sorted(order) == list(range(len(elements))) and starts[-1] == len(elements)
    for first, end in zip(starts, starts[1:]):
        nodes = elements[order[first:end]].ravel()
        assert end > first and len(np.unique(nodes)) == len(nodes)


def test_plane_stress_without_a_bound_is_refused():
    """Strongly auxetic neo-Hookean sheets would gain energy without end as they grow."""
    for law, plane, allowed in (
        (ElasticLaw.NEO_HOOKEAN, PlaneState.STRESS, False),
        (ElasticLaw.NEO_HOOKEAN, PlaneState.STRAIN, True),
        (ElasticLaw.COROTATED, PlaneState.STRESS, True),
    ):
        body = bar((2, 1), (1.0, 0.5), law, poisson=-0.6, plane_state=plane)
        far = ElasticMesh(body)
        energies = [far.energy(far.array(scale * body.points)).numpy()[0] for scale in (10.0, 100.0)]
        assert (energies[1] > energies[0]) == allowed
        broken = [finding.rule for finding in body_findings(body) if finding.severity is Severity.ERROR]
        assert broken == [] if allowed else broken == ["elastic-material"]


@pytest.mark.parametrize("name", ("element_moduli", "element_densities"))
@pytest.mark.parametrize("values", ((1.0,), (1.0, 0.0), (1.0, math.nan)))
def test_numbers_of_elements_are_checked(name, values):
    """There is one for each element, positive and finite."""
    (found,) = body_findings(replace(bar((1, 1), (1.0, 1.0)), pinned=(0,), **{name: np.array(values)}))
    assert "of elements must be 2 positive and finite numbers, one for each" in found.message
