"""Samples of tendons and mimic joints keep what they promise."""

from dataclasses import replace

import numpy as np

import warp_artic as wa
from tests.cli.sample_runs import SAMPLES, G, hinge, inertia, named, pose, positions, recorded, short, weight_torque
from warp_artic.description.mimic import Mimic


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
