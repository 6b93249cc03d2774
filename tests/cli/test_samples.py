"""Every sample simulates, keeps what it promises, and can be drawn."""

import re
import runpy
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf

import warp_artic as wa
from tests.usd_schemas.source import SOURCE
from warp_artic.cli.arguments import command_line
from warp_artic.cli.main import main
from warp_artic.description.mimic import Mimic
from warp_artic.sim.record.recording import SHAPES

SAMPLES = Path(__file__).parents[2] / "samples"
NAMES = sorted(path.stem for path in (SAMPLES / "scenes").glob("*.usda"))
DIALECTS = tuple(f"four_dialects/{name}" for name in ("warp_artic", "physx", "newton", "mujoco"))
G = 9.81
NO_SAMPLE = {
    "enabled",
    "warpArtic:enabled",
    "warpArtic:jointIndices",
    "warpArtic:axes",
    "warpArtic:lowerLimit",
    "warpArtic:elastic:restPoints",
    "warpArtic:elastic:linkIndices",
    "warpArtic:elastic:linkPositions",
    "warpArtic:linkIndices",
    "warpArtic:minTension",
}
"""Switches, what a sample has under a like name (the terms of a mimic joint, an upper limit, points on links, a largest
tension), and the points of a body that starts strained."""


def recorded(name, seconds, **settings):
    scene = wa.read_stage(str(SAMPLES / "scenes" / f"{name}.usda"))
    simulation = wa.Simulation(scene, settings=wa.SolverSettings(**settings))
    return scene, simulation.record(round(seconds / simulation.settings.dt))


def short(path):
    """The last name of a path."""
    return path.rpartition("/")[2]


def positions(recording, joint):
    """[m or rad], shape (R)."""
    return recording.joint_position[:, 0, [short(path) for path in recording.joint_names].index(joint)]


def pose(recording, link):
    """Origin (3) and axes (3, 3; columns) of a link in the last record."""
    *p, x, y, z, w = recording.link_pose[-1, 0, [short(path) for path in recording.link_names].index(link)]
    turn = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.array(p), np.eye(3) + 2 * w * turn + 2 * turn @ turn


def named(items, name, attribute="path"):
    """The item whose path ends with a name."""
    return next(item for item in items if short(getattr(item, attribute)) == name)


def hinge(scene, recording, name):
    """Origin and axis of a hinge in the last record; its child link is placed at it."""
    tree = scene.articulations[0]
    joint = named(tree.joints, name)
    origin, axes = pose(recording, short(tree.links[joint.child].path))
    return origin, axes[:, joint.dofs[0].axis.index]


def weight_torque(scene, recording, name):
    """Torque of gravity on a hinge in the last record: sum of (x_C - x) x m g along its axis."""
    tree = scene.articulations[0]
    origin, axis = hinge(scene, recording, name)
    outboard, torque = {named(tree.joints, name).child}, 0.0
    while grown := {joint.child for joint in tree.joints if joint.parent in outboard} - outboard:
        outboard |= grown
    for link in (tree.links[index] for index in outboard):
        p, axes = pose(recording, short(link.path))
        arm = p + axes @ link.center_of_mass - origin
        torque += axis @ np.cross(arm, link.mass * np.array(scene.gravity))
    return torque


def inertia(scene, link, axis):
    """Moment of inertia of a link about an axis through its origin, which its centre of mass may be off."""
    link = named(scene.articulations[0].links, link)
    own = link.inertia[{"X": 0, "Y": 3, "Z": 5}[axis]]
    off = np.delete(link.center_of_mass, "XYZ".index(axis))
    return own + link.mass * off @ off


@pytest.mark.parametrize("name", [*NAMES, *DIALECTS])
def test_sample_has_nothing_to_report(name):
    """No sample has an error or a warning."""
    diagnostics = wa.check_stage(str(SAMPLES / "scenes" / f"{name}.usda"))
    assert [str(item) for item in diagnostics if item.severity.value != "note"] == []


@pytest.mark.parametrize("name", [*NAMES, *DIALECTS])
def test_sample_moves_and_stays_finite(name):
    """A second of each sample has motion and finite numbers, or two of one that stands at first."""
    _, recording = recorded(name, 2.0 if name == "standing" else 1.0)
    assert np.isfinite(recording.link_pose).all() and np.isfinite(recording.mesh_points).all()
    turned = np.ptp(recording.link_pose, axis=0).max(initial=0.0)
    assert turned > 0.1 or np.ptp(recording.mesh_points, axis=0).max() > 0.02


def test_every_attribute_of_our_schemas_has_a_sample():
    """What can be authored is authored in some sample; there is no attribute that a reader cannot see at work."""
    used = set()
    for file in (SAMPLES / "scenes").rglob("*.usda"):
        layer = Sdf.Layer.FindOrOpen(str(file))
        layer.Traverse(Sdf.Path.absoluteRootPath, lambda path: used.add(path.name) if path.IsPropertyPath() else None)
    missing = []
    for schema in (prim for prim in SOURCE.rootPrims if prim.name != "GLOBAL"):
        prefix = schema.customData.get("propertyNamespacePrefix", "")
        for spec in schema.properties:
            pattern = re.escape(spec.name) if not prefix else rf"{prefix}:\w+:{re.escape(spec.name)}"
            if not spec.documentation.startswith("Output") and not any(re.fullmatch(pattern, name) for name in used):
                missing.append(spec.name)
    assert set(missing) == NO_SAMPLE


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
    """v = g (1 - exp(-d t)) / d and omega = omega_0 exp(-d t) with damping; bounds hold what they bound."""
    _, recording = recorded("falling", 1.0)
    speed, spin = recording.link_velocity[-1, 0, :, 2], recording.link_velocity[-1, 0, :, 4]
    order = [short(path) for path in recording.link_names]
    expected = {
        "free": (-G, 2 * np.pi),
        "damped": (-G / 3 * (1 - np.exp(-3)), 2 * np.pi * np.exp(-2)),
        "bounded": (-2.0, np.pi / 2),
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


def test_tackle_halves_the_load():
    """a = g (m - M / 2) / (m + M / 4), the load goes half as far, and energy stays but for the rope's stretch."""
    _, recording = recorded("tackle", 1.0)
    down, up = -positions(recording, "counterweight_guide"), positions(recording, "load_guide")
    np.testing.assert_allclose(down[-1], G * (12 - 20 / 2) / (12 + 20 / 4) / 2, rtol=2e-3)
    np.testing.assert_allclose(down, 2 * up, atol=1e-3)
    assert np.ptp(recording.energy.sum(axis=-1)) < 0.02 * recording.energy[..., 0].max()


def test_parts_of_the_string_pull_by_themselves():
    """The arms rise before the legs, both sides alike, and each part pulls where it is taut, none ever pushes."""
    scene, recording = recorded("jumping_jack", 1.5)
    (string,) = scene.articulations[0].spatial_tendons
    order = [short(path) for path in recording.tendon_names]
    uppers = {short(string.attachments[leaf.attachment].name): leaf.upper for leaf in string.leaves}
    for name in order:
        length, force = (
            values[:, 0, order.index(name)] for values in (recording.tendon_length, recording.tendon_force)
        )
        assert (force <= 0.0).all() and not force[length < uppers[name]].any()
        assert force[-1] < 0.0
    limbs = {path.split("/")[-2]: recording.joint_position[:, 0, i] for i, path in enumerate(recording.joint_names)}
    for limb, angle in (("arm", 95), ("leg", 45)):
        np.testing.assert_allclose(limbs[f"left_{limb}"], -limbs[f"right_{limb}"], atol=1e-3)
        assert limbs[f"left_{limb}"][-1] > np.radians(angle)


def test_four_dialects_move_as_one():
    """In every bit; but the finger on a cord is loose in the dialect that has no tendons."""
    runs = {name.rpartition("/")[2]: recorded(name, 1.0)[1] for name in DIALECTS}
    ours = runs["warp_artic"]
    assert np.ptp(ours.joint_position, axis=0).min() > 0.4
    assert np.abs(ours.tendon_length).max() < 1e-4 and np.abs(ours.mimic_error).max() < 1e-6
    for name, other in runs.items():
        same = [path.startswith("/World/geared/") or name != "newton" for path in ours.joint_names]
        assert other.joint_names == ours.joint_names
        for quantity in ("joint_position", "joint_velocity"):
            one, two = (getattr(recording, quantity)[..., same] for recording in (ours, other))
            np.testing.assert_array_equal(one, two, f"{name} {quantity}")
    loose = ours.joint_names.index("/World/corded/tip")
    assert np.abs(runs["newton"].joint_position - ours.joint_position)[-1, 0, loose] > 1.0


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


def test_tips_of_the_hand_follow_their_tendons():
    """The undriven tips bend two thirds as far as the joints before them, while the hand closes and opens again."""
    scene = wa.read_stage(str(SAMPLES / "scenes" / "coupled_hand.usda"))
    simulation = wa.Simulation(scene)
    assert len(simulation.joint_names) == 24
    opened = simulation.state.joint_position.numpy().copy()
    closing = simulation.record(720)
    simulation.control.drive_position_target.assign(opened)
    opening = simulation.record(720)
    for finger in ("index", "middle", "ring", "little"):
        tips = []
        for recording in (closing, opening):
            q_middle, q_tip = (positions(recording, f"{finger}_{joint}_joint") for joint in ("middle", "tip"))
            lag = np.abs(q_tip - 2 / 3 * q_middle)
            assert lag.max() < 0.02
            assert lag[24:].max() < 1e-3
            tips += [q_tip[0], q_tip[-1]]
        assert tips[1] - tips[0] > 0.7
        assert abs(tips[3] - tips[0]) < 0.02


def test_tendons_of_the_hand_carry_the_weight_of_the_tips():
    """At rest the force of a tendon on its pulley of 9 mm holds the torque of gravity on the tip."""
    scene, recording = recorded("coupled_hand", 5.0)
    assert len(recording.tendon_names) == 4
    for name, force in zip(recording.tendon_names, recording.tendon_force[-1, 0]):
        finger = short(name).split("_")[0]
        weight = weight_torque(scene, recording, f"{finger}_tip_joint")
        assert abs(weight) > 2e-5
        np.testing.assert_allclose(0.009 * force, weight, rtol=0.02)


def test_branches_share_one_cable():
    """Slack, the cable moves no joint; taut, it bends both fingers, and the right one goes on alone."""
    scene, recording = recorded("branching_tendon", 5.0)
    (cable,) = scene.articulations[0].fixed_tendons
    q = {
        joint: positions(recording, joint)
        for joint in ("lift", "left_knuckle", "left_hinge", "right_knuckle", "right_hinge")
    }
    length, force = recording.tendon_length[:, 0, 0], recording.tendon_force[:, 0, 0]
    bent = sum(q[joint] for joint in q if joint != "lift")
    np.testing.assert_allclose(length, q["lift"] - 0.022 * bent - 0.04, atol=1e-6)
    slack = length < 0.0
    assert q["lift"][slack].max() > 0.03
    assert not force[slack].any()
    assert np.abs(bent[slack]).max() < 1e-4
    assert (force <= 0.0).all()
    for joint, stop in (("left_knuckle", 24), ("left_hinge", 18)):
        assert abs(q[joint][-1] - np.radians(stop)) < 1e-4
    assert q["right_knuckle"][-1] > q["left_knuckle"][-1] + 0.2
    assert q["right_hinge"][-1] > q["left_hinge"][-1] + 0.2
    np.testing.assert_allclose(force[-1], -cable.limit_stiffness * length[-1], rtol=1e-3)
    for joint in ("right_knuckle", "right_hinge"):
        drive = named(scene.articulations[0].dofs, joint, "name").drive
        spring = drive.stiffness * (drive.position_target - q[joint][-1])
        np.testing.assert_allclose(0.022 * force[-1], spring + weight_torque(scene, recording, joint), rtol=5e-3)
    drive = named(scene.articulations[0].dofs, "lift", "name").drive
    weight = G * sum(link.mass for link in scene.articulations[0].links if not link.path.endswith("/base"))
    np.testing.assert_allclose(drive.stiffness * (drive.position_target - q["lift"][-1]), weight, rtol=0.02)


def test_cylinders_stretch_as_damped_springs():
    """Lengths go to the rest lengths at the rate k / d, but for the load; at rest the forces hold the arm."""
    scene, recording = recorded("hydraulic_arm", 6.0)
    length, force = recording.tendon_length[:, 0], recording.tendon_force[:, 0]
    tendons = scene.articulations[0].spatial_tendons
    rest = np.array([tendon.leaves[0].rest_length for tendon in tendons])
    k, d = tendons[0].stiffness, tendons[0].damping
    assert np.abs(length[0] - rest).min() > 0.2
    expected = rest + (length[0] - rest) * np.exp(-k / d * recording.time)[:, None]
    assert np.abs(length - expected).max() < np.abs(force[20:]).max() / k + 1e-3
    for tendon, joint, f in zip(tendons, ("boom_hinge", "stick_hinge"), force[-1]):
        ends = []
        for attachment in tendon.attachments:
            p, axes = pose(recording, short(scene.articulations[0].links[attachment.link].path))
            ends.append(p + axes @ attachment.position)
        root, leaf = ends
        origin, axis = hinge(scene, recording, joint)
        push = f * (leaf - root) / np.linalg.norm(leaf - root)
        np.testing.assert_allclose(
            axis @ np.cross(leaf - origin, push), -weight_torque(scene, recording, joint), rtol=0.01
        )


def test_string_pulls_only_when_taut():
    """While the string is slack the weight falls freely; taut, the string stretches by no more than its energy."""
    scene, recording = recorded("string", 4.0)
    (string,) = scene.articulations[0].spatial_tendons
    k_lim, upper = string.limit_stiffness, string.leaves[0].upper
    length, force = recording.tendon_length[:, 0, 0], recording.tendon_force[:, 0, 0]
    slack = length < upper
    assert np.count_nonzero(np.diff(slack)) >= 4
    assert not force[slack].any()
    np.testing.assert_allclose(force[~slack], -k_lim * (length - upper)[~slack], rtol=1e-3, atol=0.05)
    stretch = np.maximum(length - upper, 0.0)
    given = recording.energy[0, 0, 0] + np.ptp(recording.energy[:, 0, 1])
    assert 0.01 < stretch.max() < np.sqrt(2 * given / k_lim)
    v = recording.joint_velocity[:, 0, 1]
    falls = slack[1:] & slack[:-1]
    drag = named(scene.articulations[0].dofs, "down", "name").friction.viscous
    np.testing.assert_allclose((np.diff(v) * 240 + drag * v[1:])[falls], -9.81, atol=0.02)


def test_fingers_of_the_gripper_follow_the_leader():
    """Five joints keep to their relations, so the pads stay upright and each inner bar meets its pad."""
    _, recording = recorded("gripper", 2.0)
    leader = positions(recording, "left_knuckle")
    assert np.ptp(leader) > 0.8
    gears = {
        "left_inner_joint": 1,
        "left_tip_joint": -1,
        "right_knuckle": -1,
        "right_inner_joint": -1,
        "right_tip_joint": 1,
    }
    assert {short(path) for path in recording.mimic_names} == set(gears)
    for joint, gear in gears.items():
        assert np.abs(positions(recording, joint) - gear * leader).max() < 1e-4
    for side, sign in (("left", -1), ("right", 1)):
        p_tip, R_tip = pose(recording, f"{side}_tip")
        p_bar, R_bar = pose(recording, f"{side}_inner")
        np.testing.assert_allclose(R_tip, np.eye(3), atol=1e-4)
        np.testing.assert_allclose(p_tip + [-0.03 * sign, 0, 0.02], p_bar + R_bar @ [0, 0, 0.085], atol=1e-5)


def test_rack_rolls_on_the_pinion():
    """x = r theta, and the energy of the falling weight drives the inertia of both: I omega^2 / 2 = m g h."""
    scene, recording = recorded("rack_and_pinion", 6.0)
    theta, x = positions(recording, "pivot"), positions(recording, "slide")
    assert np.ptp(theta) > 3.0
    assert np.abs(x - 0.12 * theta).max() < 1e-5
    pinion, rack = (named(scene.articulations[0].links, name) for name in ("pinion", "rack"))
    height = -pinion.center_of_mass[2] * (1 - np.cos(theta[0]))
    combined = inertia(scene, "pinion", "Y") + rack.mass * 0.12**2
    fastest = np.sqrt(2 * pinion.mass * 9.81 * height / combined)
    np.testing.assert_allclose(np.abs(recording.joint_velocity[:, 0, 0]).max(), fastest, rtol=0.01)


def test_differential_shares_the_torque():
    """The wheels turn twice as far as the carrier together, and apart by I: the carrier gives both the same torque.

    With p = the angle of the left wheel to the carrier c, no torque acts along p, so (I_l + I_r + 2 I_s 1.5^2) p'' +
    (I_l - I_r) c'' = 0, I_s being that of a spider, which turns 1.5 times as far.
    """
    scene, recording = recorded("differential", 4.0, precision="float64")
    spin = {short(path): recording.link_velocity[:, 0, i, 4] for i, path in enumerate(recording.link_names)}
    both = spin["left_wheel"] + spin["right_wheel"]
    assert both.max() > 2.0
    np.testing.assert_allclose(both, 2 * spin["carrier"], atol=1e-4)
    left, right = inertia(scene, "left_wheel", "Y"), inertia(scene, "right_wheel", "Y")
    spiders = 2 * inertia(scene, "front_spider", "X") * 1.5**2
    ratio = -(left - right) / (left + right + spiders)
    carrier = positions(recording, "drive_shaft")
    np.testing.assert_allclose(positions(recording, "left_axle") - carrier, ratio * carrier, atol=1e-3)


def test_differential_moves_as_relations_of_two():
    """Wheels that the carrier bears and that mimic one spider, as in the gear itself, move as those of the sample."""
    scene, recording = recorded("differential", 2.0)
    (tree,) = scene.articulations
    shaft = named(tree.joints, "drive_shaft")
    at_carrier = replace(shaft.parent_frame, position=(0.0, 0.0, 0.0))
    joints = tuple(
        replace(joint, parent=shaft.child, parent_frame=at_carrier) if joint.path.endswith("_axle") else joint
        for joint in tree.joints
    )
    order = {short(dof.name): index for index, dof in enumerate(tree.dofs)}
    spider, left, right = (order[name] for name in ("front_spider_joint", "left_axle", "right_axle"))
    mimics = (
        named(tree.mimics, "rear_spider_joint", "name"),
        Mimic(name="left", dofs=(left, spider), gears=(1.0, 2 / 3)),
        Mimic(name="right", dofs=(right, spider), gears=(1.0, -2 / 3)),
    )
    geared = replace(scene, articulations=(replace(tree, joints=joints, mimics=mimics),))
    simulation = wa.Simulation(geared)
    other = simulation.record(round(2.0 / simulation.settings.dt))
    assert np.abs(recording.mimic_error).max() < 1e-4
    np.testing.assert_allclose(positions(other, "drive_shaft"), positions(recording, "drive_shaft"), atol=1e-3)
    np.testing.assert_allclose(other.link_velocity, recording.link_velocity, atol=1e-3)


def test_beam_bends_into_an_arc():
    """Its axis turns in proportion to the way along it, by T e / (E I), e being 1 cm."""
    scene, recording = recorded("bent_beam", 3.0)
    (beam,) = scene.elastic_bodies
    axis = np.flatnonzero((beam.points[:, 1] == 0) & (np.arange(len(beam.points)) < 205))
    steps = np.diff(recording.mesh_points[-1, 0, axis][:, [0, 2]], axis=0)
    way = np.linalg.norm(steps, axis=1)
    way = (np.cumsum(way) - way / 2)[4:-4]
    heading = np.unwrap(np.arctan2(steps[:, 1], steps[:, 0]))[4:-4]
    curvature, start = np.polyfit(way, heading, 1)
    assert np.ptp(heading) > 1.3
    assert np.abs(heading - curvature * way - start).max() < 0.005
    bending = beam.material.young_modulus * beam.thickness * np.ptp(beam.points[:, 1]) ** 3 / 12
    assert recording.mesh_tendon_tension[-1, 0, 0] == 24
    np.testing.assert_allclose(-curvature, 24 * 0.01 / bending, rtol=0.03)


def test_fingers_of_the_soft_gripper_close_alike():
    """Turned by 120 degrees, each is the one before; their tips meet around the middle, and cables pull the same."""
    scene, recording = recorded("soft_gripper", 1.5)
    fingers = recording.mesh_points[:, 0].reshape(len(recording.time), 3, -1, 3)
    cosine, sine = -0.5, np.sqrt(0.75)
    turn = np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])
    for number in (1, 2):
        np.testing.assert_allclose(fingers[:, number - 1] @ turn, fingers[:, number], atol=1e-6)
    assert np.ptp(recording.mesh_tendon_tension, axis=-1).max() < 1e-3
    tips = np.linalg.norm(fingers[:, 0, -9:, :2].mean(axis=1), axis=1)
    assert tips[0] == pytest.approx(0.045, abs=1e-6) and tips[-1] < 0.02
    assert (recording.mesh_tendon_length[-1] < recording.mesh_tendon_length[0] - 0.01).all()


def test_starfish_makes_the_wanted_forces_as_it_moves():
    """On the tips of arms that swing by centimetres: to an eighth of the largest, in the mean to a twentieth."""
    pytest.importorskip("matplotlib")
    program = runpy.run_path(str(SAMPLES / "forces.py"))
    scene, recording = recorded("starfish", 4.0)
    assert len(scene.mesh_tendons) == 12
    time, nodes, wanted = program["wanted_forces"]()
    made = program["forces_of"](scene, recording)[np.searchsorted(recording.time, time - 1e-9)][:, nodes]
    largest = np.linalg.norm(wanted, axis=2).max()
    assert largest > 1.5 and np.ptp(recording.mesh_points[:, 0, nodes], axis=0).max() > 0.05
    error = np.linalg.norm(made - wanted, axis=2)
    assert error.max() < largest / 8
    assert np.sqrt(np.mean(error**2)) < largest / 20


def test_arm_carries_the_fingertip():
    """Attached nodes stay on the forearm, the tip curls, and in the end the elbow holds the weight of both."""
    scene = wa.read_stage(str(SAMPLES / "scenes" / "soft_fingertip.usda"))
    simulation = wa.Simulation(scene)
    recording = simulation.record(600, forces=True)
    (tip,) = scene.elastic_bodies
    forearm, points = named(scene.articulations[0].links, "forearm"), recording.mesh_points[:, 0]
    for record in (0, 120, 360, 600):
        origin, axes = pose(replace(recording, **_until(recording, record)), "forearm")
        held = origin + [axes @ one.position for one in tip.attachments]
        np.testing.assert_allclose(points[record, [one.node for one in tip.attachments]], held, atol=2e-6)
    edge = points[:, 76] - points[:, 67]
    turned = [np.degrees(np.arctan2(-one[2], one[0])) for one in (edge[240], edge[-1])]
    assert turned[1] - turned[0] > 40
    mass = simulation.elastic_bodies[0].node_mass
    origin, axes = pose(recording, "forearm")
    weight = forearm.mass * (axes @ forearm.center_of_mass)[0] + mass @ (points[-1, :, 0] - origin[0])
    assert mass.sum() > 0.1
    np.testing.assert_allclose(-recording.joint_drive_force[-1, 0, 1], 9.81 * weight, rtol=0.03)


def test_soft_blocks_touch_what_stays():
    """None enters it; the rough one holds on the ramp, the soapy one slides as a rigid one would, one falls off."""
    scene = wa.read_stage(str(SAMPLES / "scenes" / "soft_blocks.usda"))
    assert not [one for one in scene.diagnostics if one.severity is wa.Severity.WARNING]
    simulation = wa.Simulation(scene)
    recording = simulation.record(300)
    bodies = {short(body.path): body for body in simulation.elastic_bodies}
    assert all(body.unconverged.max() == 0 for body in bodies.values())
    nodes = np.array([short(path) for path in recording.mesh_nodes])
    points = {name: recording.mesh_points[:, 0, nodes == name] for name in bodies}
    falling = points["falling"]
    assert falling[..., 2].min() > -1e-6
    assert np.linalg.norm(falling - (0.1, -0.5, 0.1), axis=2).min() > 0.1 - 1e-6
    assert falling[-1, :, 2].max() < 0.2 < falling[0, :, 2].max()
    slope = np.radians(20)
    along, across = np.array([np.cos(slope), 0.0, -np.sin(slope)]), np.array([np.sin(slope), 0.0, np.cos(slope)])
    for name in ("stays", "slides"):
        assert ((points[name] - (0.0, 0.0, 0.36)) @ across).min() > 0.02 - 1e-6
    places = {name: (points[name] @ along) @ bodies[name].node_mass / bodies[name].node_mass.sum() for name in points}
    bottom = np.ptp(points["stays"][240:, :, :] @ along, axis=0)[bodies["stays"].contact_force.numpy()[0].any(axis=1)]
    assert bottom.max() < 2e-3
    speeds = np.diff(places["slides"]) * 240
    wanted = G * (np.sin(slope) - 0.2 * np.cos(slope))
    assert (speeds[250:290].mean() - speeds[140:180].mean()) * 240 / 110 == pytest.approx(wanted, rel=0.01)


def _until(recording, record):
    """What `pose` looks at, ending with a record."""
    return {name: getattr(recording, name)[: record + 1] for name in ("time", *SHAPES)}


def test_meshes_are_those_of_the_program(tmp_path):
    """The program that writes the meshes of the samples writes these."""
    runpy.run_path(str(SAMPLES / "meshes.py"))["main"](tmp_path)
    written = sorted(tmp_path.iterdir())
    assert len(written) == 5
    for file in written:
        assert file.read_text() == (SAMPLES / "scenes" / "assets" / file.name).read_text()


def test_pictures_can_be_drawn(tmp_path):
    """The commands that draw the gallery are right, and one of them works."""
    pytest.importorskip("PIL")
    lines = re.findall(r"^draw (.*)$", (SAMPLES / "pictures.sh").read_text(), re.M)
    drawn = [command_line().parse_args(["render", *shlex.split(line)]) for line in lines]
    assert all(Path(one.source).exists() for one in drawn)
    (words,) = [shlex.split(line) for line in lines if line.startswith("samples/scenes/pendulum.usda")]
    words[words.index("-o") + 1] = str(tmp_path / "pendulum.webp")
    assert main(["render", *words, "--size", "160x110"]) == 0
    assert (tmp_path / "pendulum.webp").stat().st_size > 1000
