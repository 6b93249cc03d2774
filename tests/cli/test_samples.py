"""Every sample simulates, keeps what it promises, and can be drawn."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa

SAMPLES = Path(__file__).parents[2] / "samples"
NAMES = sorted(path.stem for path in (SAMPLES / "scenes").glob("*.usda"))


def recorded(name, seconds, **settings):
    scene = wa.read_stage(str(SAMPLES / "scenes" / f"{name}.usda"))
    simulation = wa.Simulation(scene, settings=wa.SolverSettings(**settings))
    return scene, simulation.record(round(seconds / simulation.settings.dt))


@pytest.mark.parametrize("name", NAMES)
def test_sample_has_nothing_to_report(name):
    """No sample has an error or a warning, but that a joint to a prim without a body is one to the world."""
    diagnostics = wa.check_stage(str(SAMPLES / "scenes" / f"{name}.usda"))
    found = [str(item) for item in diagnostics if item.severity.value != "note" and item.rule != "joint-static"]
    assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_sample_moves_and_stays_finite(name):
    """A second of each sample has motion and finite numbers."""
    _, recording = recorded(name, 1.0)
    assert np.isfinite(recording.link_pose).all()
    assert np.ptp(recording.link_pose, axis=0).max() > 0.1


def test_double_pendulum_keeps_its_energy():
    """Without friction the energy stays within the error of the step."""
    _, recording = recorded("double_pendulum", 2.0, dt=1 / 2000, precision="float64")
    total = recording.energy.sum(axis=-1)
    assert np.ptp(total) < 0.02 * recording.energy[..., 0].max()


@pytest.mark.parametrize("dt", [1 / 240, 1 / 1920])
def test_floating_links_keep_their_linear_momentum(dt):
    """Without gravity the momentum of the three links stays, to the first order in the time step."""
    scene, recording = recorded("floating_three_links", 2.0, precision="float64", dt=dt)
    mass = {link.path: link.mass for tree in scene.articulations for link in tree.links}
    weights = np.array([mass[name] for name in recording.link_names])
    momentum = np.einsum("l,reli->ri", weights, recording.link_velocity[..., :3])
    drift = np.linalg.norm(momentum - momentum[0], axis=1).max()
    assert drift < 10.0 * dt * np.linalg.norm(momentum[0])


def test_ragdoll_stays_within_its_limits():
    """Elbows, knees and ankles stop at their limits."""
    scene, recording = recorded("ragdoll", 1.0)
    limits = {dof.name: dof.limit for tree in scene.articulations for dof in tree.dofs if dof.limit}
    assert len(limits) == 6
    for column, name in enumerate(recording.joint_names):
        if name in limits:
            q = recording.joint_position[:, 0, column]
            assert limits[name].lower - 0.02 < q.min() and q.max() < limits[name].upper + 0.02


def test_pictures_can_be_drawn(tmp_path):
    """The program that draws the gallery works."""
    pytest.importorskip("matplotlib")
    render = runpy.run_path(str(SAMPLES / "render.py"))
    render["draw"](render["bake"]("pendulum", tmp_path), "pendulum", tmp_path / "pendulum.png")
    assert (tmp_path / "pendulum.png").stat().st_size > 10_000
