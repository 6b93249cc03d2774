"""Environments of a body that are solved side by side, in lanes and by threads: each is bitwise what it is alone."""

import numpy as np
import pytest
import warp as wp

from tests.meshes.test_dynamics import tumbling
from tests.meshes.test_equilibrium import clamped, pulled
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.equilibrium import Equilibrium, mesh_with_tendons, weights
from warp_artic.meshes.newton import NewtonOnThreads

COUNT = 19
"""More than two groups of float64, in lanes of any width, of which the last one is not full."""


def batch(dim, precision, which, threads=1, dt=1 / 60):
    """Some of many environments of a body with a coarse space, which differ in loads, tendons and motion."""
    body, tendons = tumbling(dim, young=3e5)
    found = ElasticDynamics(*mesh_with_tendons(body, tendons, len(which), precision), dt, threads=threads)
    rng, count = np.random.default_rng(0), len(body.points)
    loads = rng.normal(size=(COUNT, count, dim)) * np.geomspace(1e-3, 10.0, COUNT)[:, None, None]
    speeds = np.linspace(0.0, 3.0, COUNT)[:, None, None] * np.asarray(body.start_velocities)
    squeezed = np.asarray(body.points) * np.linspace(1.0, 0.3, COUNT)[:, None, None]
    found.loads.assign(loads[which])
    found.velocities.assign(speeds[which])
    found.points.assign(squeezed[which])
    found.tendons.target_length.assign(np.linspace(0.57, 0.1, COUNT)[None, which])
    return found


def ways(found):
    """How solves went."""
    return found.steps, found.linear_iterations, found.converged, found.force


@pytest.mark.parametrize(("dim", "precision"), [(2, "float32"), (3, "float64")])
@pytest.mark.parametrize("threads", [1, 3])
def test_steps_are_those_alone(dim, precision, threads, monkeypatch):
    """Bitwise, and with as many iterations; some meet directions without stiffness, others are done at once."""
    monkeypatch.setattr("warp_artic.meshes.newton.LEAST_SHARE", 1)
    together = batch(dim, precision, np.arange(COUNT), threads)
    assert together.mesh.together > 1
    alone = {k: batch(dim, precision, np.array([k])) for k in (0, 3, 8, 15, 18)}
    assert all(one.mesh.together == 1 for one in alone.values())
    for _ in range(4):
        found = together.step()
        for k, one in alone.items():
            for own, other in zip(ways(one.step()), ways(found)):
                assert own[0] == other[k]
            np.testing.assert_array_equal(one.points.numpy()[0], together.points.numpy()[k])
            np.testing.assert_array_equal(one.velocities.numpy()[0], together.velocities.numpy()[k])
    assert len(set(found.linear_iterations)) > 2 and found.converged.all()


def test_others_do_not_notice_what_is_lost():
    """An environment without numbers, beside others in the same lanes."""
    both = [batch(3, "float64", np.arange(COUNT)) for _ in range(2)]
    points = both[1].points.numpy()
    points[5], points[12] = np.nan, 1e150 * points[12]
    for _ in range(3):
        for one in both:
            with np.errstate(all="ignore"):
                one.step()
    others = np.delete(np.arange(COUNT), (5, 12))
    np.testing.assert_array_equal(both[0].points.numpy()[others], both[1].points.numpy()[others])


def test_only_those_that_are_asked_for_are_solved():
    """Others keep their points, solutions and counts, also in the same lanes."""
    dynamics = batch(3, "float64", np.arange(COUNT))
    dynamics.begin()
    dynamics.solve()
    system = dynamics.potential.system
    kept = [wp.clone(array) for array in (dynamics.middle, system.solution, system.slope, system.iterations)]
    asked = np.arange(COUNT) % 3 == 1
    dynamics.loads.assign(2.0 * dynamics.loads.numpy())
    dynamics.solve(asked)
    now = (dynamics.middle, system.solution, system.slope, system.iterations)
    for before, after in zip(kept, now):
        np.testing.assert_array_equal(before.numpy()[~asked], after.numpy()[~asked])
    assert (kept[0].numpy()[asked] != now[0].numpy()[asked]).any(axis=(1, 2)).all()


def test_equilibria_are_those_alone():
    """Of a clamped bar, by many steps of Newton's method."""
    body = clamped((8, 2, 2), (1.0, 0.2, 0.2))
    row = np.flatnonzero((body.points[:, 1] == 0.2) & (body.points[:, 2] == 0.0))
    tendon = pulled(body, row, stiffness=100.0, smoothing=1e-3)
    loads = np.linspace(0.0, 5.0, COUNT)

    def solve(which):
        mesh, tendons = mesh_with_tendons(body, (tendon,), len(which))
        tendons.target_length.assign(np.linspace(1.0, 0.5, COUNT)[None, which])
        equilibrium = Equilibrium(mesh, tendons)
        equilibrium.loads.assign(mesh.array(loads[which, None, None] * weights(mesh, (0.0, 0.0, -1.0))))
        points = mesh.array(body.points)
        return points.numpy(), equilibrium.solve(points)

    points, found = solve(np.arange(COUNT))
    assert found.converged.all() and len(set(found.steps)) > 1
    for k in (0, 7, 18):
        alone, convergence = solve(np.array([k]))
        np.testing.assert_array_equal(alone[0], points[k])
        assert convergence.steps[0] == found.steps[k]


def test_threads_have_whole_groups(monkeypatch):
    """None where one would do; never more than there are groups."""
    dynamics = batch(3, "float64", np.arange(COUNT))
    elements = COUNT * len(dynamics.mesh.body.elements)
    for share, most in ((elements / 3.9, 1), (elements / 4.1, 2)):
        monkeypatch.setattr("warp_artic.meshes.newton.LEAST_SHARE", share)
        assert len(NewtonOnThreads(dynamics.potential, None, 64).parts) == most
    monkeypatch.setattr("warp_artic.meshes.newton.LEAST_SHARE", 1)
    groups = -(-COUNT // dynamics.mesh.together)
    shares = [len(NewtonOnThreads(dynamics.potential, None, threads).parts) for threads in (1, 2, 64)]
    assert shares[:2] == [1, min(2, groups)] and shares[2] <= groups
    small = batch(3, "float64", np.arange(1), threads=8)
    assert len(small.newton.parts) == 1
