"""Mechanisms with closed loops, and generic joints, among the samples: each does what its text says."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa
from warp_artic.description.pose import Pose

SCENES = Path(__file__).parents[2] / "samples" / "scenes"


@cache
def recorded(name, seconds):
    """A sample in double precision."""
    settings = wa.SolverSettings(precision="float64", variant="scalar")
    simulation = wa.Simulation(wa.read_stage(str(SCENES / f"{name}.usda")), settings=settings)
    return simulation.record(int(240 * seconds))


def short(paths):
    """The last names of prims."""
    return [path.rpartition("/")[2] for path in paths]


def poses(recording, link):
    """World poses of a link, shape (R, 7)."""
    return recording.link_pose[:, 0, short(recording.link_names).index(link)]


def angles(recording, link):
    """The angle of the x axis of a link in the x-z plane, from x towards z [rad]."""
    x, y, z, w = poses(recording, link)[:, 3:].T
    return np.arctan2(2.0 * (x * z - w * y), 1.0 - 2.0 * (y * y + z * z))


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "scissor_lift", "stewart_platform"])
def test_loops_stay_closed(name):
    """To rounding of double precision."""
    assert recorded(name, 3.0).loop_error.max() < 1e-12


def test_slider_crank():
    """The piston is where the law of cosines has it, through dead centres, and the crank turns about once a second."""
    recording = recorded("slider_crank", 3.0)
    crank = np.unwrap(angles(recording, "crank"))
    x = 0.15 * np.cos(crank) + np.sqrt(0.5**2 - (0.15 * np.sin(crank)) ** 2)
    np.testing.assert_allclose(poses(recording, "piston")[:, 0], x, atol=1e-9)
    np.testing.assert_allclose(poses(recording, "piston")[:, 1:3], [[0.0, 0.5]] * len(x), atol=1e-12)
    assert 0.95 * 4.0 * np.pi < crank[-1] - crank[240] < 1.05 * 4.0 * np.pi


def test_four_bar():
    """The rocker is where the law of cosines has it while the crank goes round."""
    recording = recorded("four_bar", 3.0)
    crank, rocker = (np.unwrap(angles(recording, link)) for link in ("crank", "rocker"))
    A = 0.2 * np.exp(1j * crank)
    to_ground = 0.5 - A
    inner = np.arccos((0.5**2 + np.abs(to_ground) ** 2 - 0.4**2) / (2.0 * 0.5 * np.abs(to_ground)))
    B = A + 0.5 * np.exp(1j * (np.angle(to_ground) + inner))
    np.testing.assert_allclose(np.exp(1j * rocker), (B - 0.5) / 0.4, atol=1e-7)
    assert crank[-1] - crank[0] > 5.0 * np.pi and np.ptp(rocker) > 0.9


def test_scissor_lift():
    """The platform rises level, to three times what the angle of the bars makes of one."""
    recording = recorded("scissor_lift", 3.0)
    width = poses(recording, "foot")[:, 0]
    platform = poses(recording, "platform")
    np.testing.assert_allclose(platform[:, 2], 0.1 + 3.0 * np.sqrt(0.6**2 - width**2), atol=1e-6)
    np.testing.assert_allclose(platform[:, 3:6], 0.0, atol=1e-7)
    assert width[-1] == pytest.approx(0.6 * np.cos(np.radians(50.0)), abs=2e-3)
    assert platform[0, 2] < 0.72 and platform[-1, 2] > 1.47


def test_stewart_platform():
    """Legs are as long as the pose of the platform says, always; in the end it is the one that they were made for."""
    recording = recorded("stewart_platform", 3.0)
    platform = poses(recording, "platform")
    names = short(recording.joint_names)
    for leg in range(6):
        turn = np.radians(120 * (leg // 2) + (leg % 2 * 2 - 1) * np.array([12.0, 48.0]))
        base, top = (r * np.array([np.cos(a), np.sin(a), 0.0]) for r, a in zip((0.5, 0.32), turn))
        ends = np.array([Pose(tuple(p[:3]), tuple(p[3:])).apply(top) for p in platform])
        length = np.linalg.norm(ends - base - (0.0, 0.0, 0.1), axis=1)
        extended = recording.joint_position[:, 0, names.index(f"leg_{leg}")]
        np.testing.assert_allclose(length - length[0], extended - extended[0], atol=1e-6)
    np.testing.assert_allclose(platform[-1, :3], (0.05, 0.03, 0.75), atol=1e-3)
    half = np.radians(6.0)
    np.testing.assert_allclose(platform[-1, 3:], (0.0, np.sin(half), 0.0, np.cos(half)), atol=2e-3)


def test_generic_joints():
    """Distances in a disc and a ball, a bounce, springs along three axes, scaled masses, slerp, swing and twist."""
    recording = recorded("d6_zoo", 4.0)
    time = recording.time
    disc = np.linalg.norm(poses(recording, "puck")[:, :2], axis=1)
    cage = np.linalg.norm(poses(recording, "marble")[:, :3] - (1.2, 0.0, 0.5), axis=1)
    assert 0.4 - 1e-6 < disc.max() < 0.4 + 1e-7 and 0.3 - 1e-6 < cage.max() < 0.3 + 1e-6
    bolt = recording.link_velocity[:, 0, short(recording.link_names).index("bolt"), 0]
    assert np.unique(np.round(np.abs(bolt), 9)).tolist() == [0.125, 0.25, 0.5, 1.0]
    seat = poses(recording, "seat")
    np.testing.assert_allclose(seat[:, 1], 0.05 * np.cos(10.0 * time), atol=3e-3)
    assert seat[-1, 2] == pytest.approx(0.5 - 2.0 * 9.81 / 400.0, abs=1e-4)
    # Springs that take 2 kg for 2 / 2.25, while gravity pulls at all of it.
    light = poses(recording, "light_seat")
    np.testing.assert_allclose(light[:, 1], 1.0 + 0.05 * np.cos(15.0 * time), atol=3e-3)
    assert light[-1, 2] == pytest.approx(0.5 - 2.0 * 9.81 / 400.0 / 2.25, abs=1e-4)
    scene = wa.read_stage(str(SCENES / "d6_zoo.usda"))
    compass = next(one for tree in scene.articulations for one in tree.constraints if one.name == "/World/compass")
    target = np.array([drive.position_target for _axis, drive in compass.drives])
    x, w = poses(recording, "needle")[-1, 3:6], poses(recording, "needle")[-1, 6]
    angle = 2.0 * np.arctan2(np.linalg.norm(x), w)
    np.testing.assert_allclose(angle * x / np.linalg.norm(x), target, atol=1e-6)
    x, y, z, w = poses(recording, "flag")[:, 3:].T
    assert np.abs(2.0 * np.arctan2(x, w)).max() < np.radians(25.0)
    swing = 2.0 * np.arccos(np.hypot(x, w))
    assert np.radians(39.9) < swing.max() < np.radians(40.0 * np.sqrt(2.0))
