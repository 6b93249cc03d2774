"""Samples of joints keep what they promise."""

import numpy as np
import pytest

from tests.cli.sample_runs import G, inertia, positions, recorded, short, weight_torque


def test_pendulum_has_the_period_of_its_swing():
    """T = 2 pi / (omega agm(1, cos(75 deg / 2))), and it comes back to where it began."""
    scene, recording = recorded("pendulum", 5.0)
    (rod,) = scene.articulations[0].links
    omega = np.sqrt(rod.mass * G * 0.5 / inertia(scene, "rod", "Y"))
    a, b = 1.0, np.cos(np.radians(75) / 2)
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    q = positions(recording, "hinge")
    before = np.nonzero((q[:-1] > 0) & (q[1:] <= 0))[0]
    crossings = recording.time[before] + q[before] / (q[before] - q[before + 1]) * recording.time[1]
    np.testing.assert_allclose(np.diff(crossings), 2 * np.pi / (omega * a), rtol=1e-3)
    np.testing.assert_allclose(q.max(), np.radians(75), rtol=1e-3)


def test_cart_and_pole_keep_their_momentum_along_the_slide():
    """Nothing pushes along it, until the cart meets its stop."""
    scene, recording = recorded("cart_pole", 3.0)
    x = positions(recording, "slide")
    hit = int(np.argmax(np.abs(x) > 0.6 - 1e-3)) or len(x)
    mass = {link.path: link.mass for link in scene.articulations[0].links}
    weights = np.array([mass[path] for path in recording.link_names])
    momentum = recording.link_velocity[:hit, 0, :, 0] @ weights
    assert np.abs(momentum).max() < 2e-3 * np.abs(recording.link_velocity[:hit, 0, :, 0] * weights).max()
    assert np.abs(x).max() < 0.6 + 1e-4


def test_arm_hangs_on_its_drives():
    """At rest each drive holds the weight beyond it by its stiffness."""
    scene, recording = recorded("arm", 6.0)
    for joint in (joint for joint in scene.articulations[0].joints if joint.dofs):
        name = short(joint.path)
        drive = joint.dofs[0].drive
        spring = drive.stiffness * (drive.position_target - positions(recording, name)[-1])
        np.testing.assert_allclose(spring, -weight_torque(scene, recording, name), rtol=0.01, atol=0.01)


def test_petals_open_as_one():
    """Fifty instances of one asset move alike, but for the rounding of fifty directions."""
    _, recording = recorded("fifty_petals", 1.0)
    q = recording.joint_position[:, 0].reshape(len(recording.time), 50, 2)
    np.testing.assert_allclose(q, np.broadcast_to(q[:, :1], q.shape), rtol=0.0, atol=1e-5)
    assert np.ptp(q[:, 0, 0]) > 0.5


def test_double_pendulum_keeps_its_energy():
    """Without friction the energy stays, with the steps that its scene asks for."""
    _, recording = recorded("double_pendulum", 5.0)
    made = recording.metadata
    assert (made["dt"], made["integrator"], made["precision"]) == (1 / 1000, "rk4", "float64")
    total = recording.energy.sum(axis=-1)
    assert np.ptp(total) < 1e-6 * recording.energy[..., 0].max()


def test_linkage_draws_a_straight_line():
    """Three loops of hinges, with redundant rows: the pen stays at its height to a micrometre, and energy stays."""
    _, recording = recorded("peaucellier", 5.0)
    pose = recording.link_pose[:, 0, [short(path) for path in recording.link_names].index("outer_a")]
    x, y, z, w = pose[:, 3:].T
    pen = pose[:, :3] + 0.3 * np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=-1)
    np.testing.assert_allclose(pen[:, 2], 0.4, atol=1e-6)
    assert pen[:, 0].min() < -0.373 and pen[:, 0].max() > 0.373
    assert np.ptp(recording.energy.sum(axis=-1)) < 2e-4 * recording.energy[..., 0].max()


def test_chain_stays_in_its_sockets_and_cones():
    """The scene asks for substeps; no ball leaves its socket, and no link swings further than 50 degrees."""
    _, recording = recorded("spherical_chain", 2.0)
    made = recording.metadata
    assert (made["solver"], made["position_iterations"], made["velocity_iterations"]) == ("tgs", 8, 1)
    x, y, z, w = np.moveaxis(recording.link_pose[:, 0, :, 3:], -1, 0)
    along = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=-1)
    p = recording.link_pose[:, 0, :, :3]
    np.testing.assert_allclose(p[:, 1:], (p + 0.4 * along)[:, :-1], atol=1e-5)
    swing = np.degrees(np.arccos((along[:, 1:] * along[:, :-1]).sum(axis=-1).clip(-1, 1)))
    assert 49.99 < swing.max() < 50.01


def test_blocks_slide_by_their_friction():
    """Each block moves as textbooks have it, on a slope of 25 degrees."""
    _, recording = recorded("incline", 1.0)
    pull, press = G * np.sin(np.radians(25)), G * np.cos(np.radians(25))
    t = recording.time
    rate = 8 / 2
    expected = {
        "free": pull * t**2 / 2,
        "static": 0.0 * t,
        "dynamic": (pull - 5 / 2) * t**2 / 2,
        "viscous": pull / rate * (t - (1 - np.exp(-rate * t)) / rate),
        "load": (pull - 0.25 * press) * t**2 / 2,
    }
    names = [path.split("/")[-2] for path in recording.joint_names]
    for name, x in expected.items():
        np.testing.assert_allclose(recording.joint_position[:, 0, names.index(name)], x, atol=3e-3)


def test_lids_meet_their_stops():
    """One stops dead, one keeps 0.6 of its speed, one sinks in as its seal gives way, one is never too fast.

    All sleep in the end.
    """
    scene, recording = recorded("lids", 4.0)
    names = [path.split("/")[-2] for path in recording.joint_names]
    q, v = (
        {name: values[:, 0, names.index(name)] for name in names}
        for values in (recording.joint_position, recording.joint_velocity)
    )
    impact = int(np.argmax(q["hard"] < 1e-6))
    assert np.abs(q["hard"][impact:]).max() < 1e-5
    bounce = int(np.argmax(v["bouncing"] > 0.0))
    np.testing.assert_allclose(v["bouncing"][bounce], -0.6 * v["bouncing"][bounce - 1], rtol=0.03)
    (soft,) = (dof.limit for tree in scene.articulations for dof in tree.dofs if "/soft/" in dof.name)
    arm = 0.2 * np.cos(q["soft"][-1]) + 0.01 * np.sin(q["soft"][-1])
    np.testing.assert_allclose(-soft.stiffness * q["soft"][-1], 0.8 * G * arm, rtol=0.01)
    np.testing.assert_allclose(np.abs(v["slow"]).max(), np.radians(60), rtol=1e-4)
    moved = np.abs(recording.joint_velocity[:, 0]) > 0.0
    assert moved[1:240].all(axis=1).any() and not moved[-1].any()
    assert (np.diff(recording.joint_position[:, 0], axis=0)[-1] == 0.0).all()


def test_bars_fall_as_damping_and_bounds_let_them():
    """v = g (1 - exp(-d t)) / d and omega = omega_0 exp(-d t) with damping; bounds hold what they bound; v = s g t."""
    _, recording = recorded("falling", 1.0)
    speed, spin = recording.link_velocity[-1, 0, :, 2], recording.link_velocity[-1, 0, :, 4]
    order = [short(path) for path in recording.link_names]
    expected = {
        "free": (-G, 2 * np.pi),
        "damped": (-G / 3 * (1 - np.exp(-3)), 2 * np.pi * np.exp(-2)),
        "bounded": (-2.0, np.pi / 2),
        "light": (-0.2 * G, 2 * np.pi),
    }
    for name, (v, omega) in expected.items():
        np.testing.assert_allclose((speed[order.index(name)], spin[order.index(name)]), (v, omega), rtol=0.01)


def test_lifts_run_on_the_line_of_their_motor():
    """Speed is 1.2 m/s less 4 mm/s for each newton of the weight; by impulses the acceleration is even."""
    _, recording = recorded("lifts", 0.6)
    names = [path.split("/")[-2] for path in recording.joint_names]
    v = {name: recording.joint_velocity[:, 0, names.index(name)] for name in names}
    for name, mass in (("light", 5), ("middle", 10), ("heavy", 20)):
        np.testing.assert_allclose(v[name][-1], 1.2 - 0.004 * mass * G, rtol=1e-3)
    np.testing.assert_allclose(v["even"], (0.5 * 240 / 10 - G) * recording.time, atol=2e-3)


def test_a_crane_that_is_animated_well_leaves_no_swing():
    """Two seconds each to speed up and to slow down, the time of a swing; the hasty one does both in one."""
    _, recording = recorded("cranes", 7.0)
    names = [path.split("/")[2:] for path in recording.joint_names]
    rest = recording.time > 5.0
    swing = {
        crane: np.degrees(np.abs(recording.joint_position[rest, 0, names.index([crane, "hook"])]).max())
        for crane in ("hasty", "gentle")
    }
    assert swing["gentle"] < 0.1 and swing["hasty"] > 20.0
    for crane in swing:
        assert recording.joint_position[-1, 0, names.index([crane, "rail"])] == pytest.approx(3.0, abs=1e-3)


def test_needles_overshoot_by_their_damping():
    """exp(-pi zeta / sqrt(1 - zeta^2)) of the way, and not at all at 1."""
    _, recording = recorded("needles", 2.0)
    names = [path.split("/")[-2] for path in recording.mimic_names]
    for name, zeta in (("lively", 0.1), ("calm", 0.4), ("critical", 1.0)):
        error = recording.mimic_error[:, 0, names.index(name)]
        overshoot = np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2)) if zeta < 1 else 0.0
        np.testing.assert_allclose(error.max() / -error[0], overshoot, atol=0.02)


def test_elevons_mix_the_axes_of_the_stick():
    """Both follow the pull of the stick, each in its sense the push aside, from a trim of 4 degrees."""
    _, recording = recorded("elevons", 2.0)
    roll, pitch = (positions(recording, f"stick_joint:{axis}") for axis in ("rotX", "rotY"))
    assert roll[-1] > 0.4 and pitch[-1] < -0.05
    names = [path.split("/")[-2] for path in recording.joint_names]
    for name, sense in (("left", -1), ("right", 1)):
        expected = np.radians(4) + sense * 0.5 * roll - 0.6 * pitch
        np.testing.assert_allclose(recording.joint_position[:, 0, names.index(name)], expected, atol=1e-5)


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
