"""The bridge among the samples, whose middle hinges break: when, by how much, and what is free from then on."""

from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa

STAGE = Path(__file__).parents[2] / "samples" / "scenes" / "breakable_bridge.usda"
BEARS = 600.0
"""What the hinges of the middle plank bear [N]."""


@pytest.fixture(scope="module")
def run():
    """Two seconds of it, and its hinges that have broken."""
    simulation = wa.Simulation(wa.read_stage(str(STAGE)), settings=wa.SolverSettings(precision="float64"))
    return simulation.record(480, forces=True), simulation.broken_loops()


def test_both_middle_hinges_break_as_the_rope_gets_taut(run):
    """In the first step in which they transmit more than they bear, and not before the weight has fallen so far."""
    recording, broken = run
    loads = np.linalg.norm(recording.loop_force[:, 0, :, :3], axis=-1)
    assert [one.joint for one in broken] == ["/World/hinge_3", "/World/hinge_4"]
    taut = int(np.argmax(recording.distance_length[:, 0, 0] > 0.65))
    for one, load in zip(broken, loads.T):
        assert (load[: one.step] <= BEARS).all() and load[one.step] > BEARS
        assert one.force == pytest.approx(load[one.step], rel=1e-6)
        assert taut < one.step < taut + 40
        assert (load[one.step + 1 :] == 0.0).all()


def test_what_is_free_falls(run):
    """The plank and the weight together fall with g, and each half keeps its energy as a pendulum of three planks."""
    recording, broken = run
    first = max(one.step for one in broken) + 1
    names = [path.rpartition("/")[2] for path in recording.link_names]
    plank, weight = names.index("plank_3"), names.index("weight")
    v = recording.link_velocity[first:, 0, :, 2]
    together = (4.0 * v[:, plank] + 12.0 * v[:, weight]) / 16.0
    np.testing.assert_allclose(np.diff(together) * 240.0, -9.81, atol=1e-6)
    pose, velocity = recording.link_pose[first:, 0], recording.link_velocity[first:, 0]
    energies = []
    for k in range(3):
        z, w = pose[:, names.index(f"plank_{k}"), 3:6], pose[:, names.index(f"plank_{k}"), 6]
        height = pose[:, names.index(f"plank_{k}"), 2] + 0.2 * 2.0 * (z[:, 0] * z[:, 2] - w * z[:, 1])
        move = velocity[:, names.index(f"plank_{k}")]
        kinetic = 2.0 * (move[:, :3] ** 2).sum(axis=1) + 0.5 * 0.0537 * move[:, 4] ** 2
        energies.append(kinetic + 4.0 * 9.81 * height)
    total = np.sum(energies, axis=0)
    assert np.ptp(total) < 0.02 * 3.0 * 4.0 * 9.81
