"""Segments of tendons that collapse: forces and stiffness where they are shortest, and steps that converge."""

import numpy as np
import pytest

from tests.meshes.bodies import LAWS
from tests.meshes.tendon_bodies import device_points
from tests.meshes.test_elastic import dense
from tests.meshes.test_equilibrium import clamped, pulled
from tests.sim.bodies_on_links import DOWN, simulate
from warp_artic.description.mesh_tendon import TensionLaw
from warp_artic.description.scene import Scene
from warp_artic.meshes.equilibrium import mesh_with_tendons

ROW = tuple(4 * k + 1 for k in range(5))
"""Nodes along an edge of the bar."""


@pytest.mark.parametrize("law", TensionLaw)
@pytest.mark.parametrize("length", (0.3, 0.9, 1.1))
def test_forces_and_stiffness_of_a_collapsed_segment(law, length):
    """They are central differences of the energy of |s|, or of (|s|^2 / c + c) / 2 below c, on either side of c."""
    body = clamped((4, 1, 1), (0.4, 0.1, 0.1))
    fields = dict(law=law, stiffness=50.0, tension=5.0, target_length=0.15, smoothing=0.01)
    mesh, tendons = mesh_with_tendons(body, (pulled(body, ROW, **fields),))
    core = 1e-4
    points = body.points.copy()
    points[ROW[2]] = points[ROW[1]] + length * core * np.array([0.6, -0.48, 0.64])

    def energy(u):
        if law is TensionLaw.TENSION:
            return 5.0 * u
        if law is TensionLaw.SPRING:
            return 25.0 * u**2
        return 50.0 * (u**2 / 2 - 0.01 * u / 2 + 0.01**2 / 6)

    def stored(x):
        s = np.linalg.norm(np.diff(x[list(ROW)], axis=0), axis=1)
        return energy(np.where(s < core, (s**2 / core + core) / 2, s).sum() - 0.15)

    tendons.evaluate(device_points(tendons, points[None]))
    assert tendons.energy().numpy()[0] == pytest.approx(stored(points), rel=1e-12)
    step, forces = 1e-8, device_points(tendons, np.zeros_like(points)[None])
    tendons.add_forces(forces)
    values = mesh.matrix()
    tendons.add_stiffness(values, tendons.slots(mesh.pattern.starts, mesh.pattern.columns))
    stiffness = dense(mesh, values)
    for axis in range(3):
        ends = []
        for sign in (1.0, -1.0):
            moved = points.copy()
            moved[ROW[2], axis] += sign * step
            tendons.evaluate(device_points(tendons, moved[None]))
            there = device_points(tendons, np.zeros_like(points)[None])
            tendons.add_forces(there)
            ends.append((stored(moved), there.numpy()[0]))
        slope = (ends[0][0] - ends[1][0]) / (2 * step)
        assert -forces.numpy()[0, ROW[2], axis] == pytest.approx(slope, abs=1e-5)
        column = -(ends[0][1] - ends[1][1]).ravel() / (2 * step)
        np.testing.assert_allclose(stiffness[:, 3 * ROW[2] + axis], column, atol=1e-6 * np.abs(stiffness).max())


@pytest.mark.parametrize("precision", ("float32", "float64"))
@pytest.mark.parametrize("law", LAWS)
def test_steps_converge_while_a_tendon_collapses(law, precision):
    """A tension far above what elements bear draws all waypoints together, where they rest; no step is left open."""
    body = clamped((4, 1, 1), (0.4, 0.1, 0.1), law=law, stiffness_damping=0.01)
    tendon = pulled(body, ROW, law=TensionLaw.TENSION, tension=3000.0)
    scene = Scene(articulations=(), elastic_bodies=(body,), mesh_tendons=(tendon,), gravity=DOWN)
    simulation = simulate(scene, 1 / 240, precision=precision)
    simulation.step(240)
    (own,) = simulation.elastic_bodies
    assert not own.unconverged.any() and not simulation.failures()
    lengths = np.linalg.norm(np.diff(own.points.numpy()[0, ROW], axis=0), axis=1)
    assert lengths.max() < 1e-4
    assert own.energy()[0][0] < 1e-2
