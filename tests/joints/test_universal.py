"""Joints with twist and one swing: R_01 = R_u(b) R_x(a), whose positions are the two angles.

A body on such a joint at its centre of mass, with principal moments along the axes of the joint, has the kinetic energy
    T = (I_a adot^2 + I_b(a) bdot^2) / 2,   I_b(a) = I_u cos^2 a + I_w sin^2 a,
of the swing about u, where w is the locked axis. It does not depend on a where I_u = I_w: then the two angles move on
their own. Where the joint is reversed the body has the first frame, and the two angles change parts.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.oracles import rigid, step
from tests.oracles.state import State
from warp_artic.constraints import table
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.limit import Limit
from warp_artic.description.massless_links import with_massless_links
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose
from warp_artic.description.tendon import FixedTendon
from warp_artic.mechanisms.tree import tree_of
from warp_artic.model.kinds import JointKind

KINDS = ("universal_xy", "universal_xz")
OWN, ACROSS = 0.06, 0.25
"""Moments of a symmetric body about its own axis and across it [kg m^2]."""
both_ways = pytest.mark.parametrize("is_reversed", [False, True])
both_swings = pytest.mark.parametrize("kind", KINDS)


def symmetric(kind, is_reversed, **fields):
    """A body whose axis of symmetry is the x axis of the joint, or where that is reversed its swing axis; its moments.

    `fields` are those of the two dofs.
    """
    swing = "xyz".index(kind[-1])
    moments = [ACROSS] * 3
    moments[swing if is_reversed else 0] = OWN
    (link,) = trees.free_body(inertia=tuple(moments)).links
    link = replace(link, path="/World/body", center_of_mass=(0.0, 0.0, 0.0))
    joint = replace(trees.plain_joint("/World/joint", WORLD, 0, kind), reversed=is_reversed)
    tree = trees.with_dofs(Articulation(path="/World", links=(link,), joints=(joint,)), **fields)
    return tree, np.array([ACROSS, OWN] if is_reversed else [OWN, ACROSS])


simulate = partial(simulations.simulate, gravity=(0.0, 0.0, 0.0), precision="float64")


def off_axis(tree, poses):
    """The component of the x axis of frame 1 along the swing axis of frame 0, of poses of links (..., L, 7)."""
    joint = tree.joints[0]
    swing = next(dof.axis.index for dof in joint.dofs if dof.axis is not Axis.ROT_X)
    found = []
    for pose in poses.reshape(-1, len(tree.links), 7).astype(float):
        X = [Pose(tuple(one[:3]), tuple(one[3:])) for one in pose]
        F = (Pose() if joint.parent == WORLD else X[joint.parent]) @ joint.parent_frame
        M = X[joint.child] @ joint.child_frame
        first, second = (M, F) if joint.reversed else (F, M)
        found.append(second.rotation[:, 0] @ first.rotation[:, swing])
    return np.array(found)


@both_ways
@both_swings
def test_it_is_two_revolute_joints(kind, is_reversed):
    """Also for what acts on it: each limit is that of one dof."""
    limits = [Limit(lower=-1.0, upper=1.0), Limit(lower=-1.0, upper=1.0, stiffness=2.0)]
    tree = tree_of(with_massless_links(symmetric(kind, is_reversed, limit=limits)[0]))
    assert tree.kind == (JointKind.REVOLUTE,) * 2
    assert [(row.family, len(row.dofs)) for row in tree.rows] == [(table.SOFT_LIMIT, 1), (table.JOINT_LIMIT, 1)]


@both_ways
@both_swings
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_twist_axis_stays_orthogonal_to_the_swing_axis(kind, is_reversed, precision):
    """Through several full turns of both angles, between two bodies that tumble, in frames that are anywhere."""
    rng = np.random.default_rng(3)
    tree = trees.random_articulation(rng, 2, floating=True, kinds=(kind,), reverse=False, armature=False)
    tree = replace(tree, joints=(replace(tree.joints[0], reversed=is_reversed),))
    drives = [Drive(damping=100.0, velocity_target=rate) for rate in (7.0, -5.0)]
    simulation = simulate(trees.with_dofs(tree, drive=drives), precision=precision)
    recording = simulation.record(960)
    turns = np.abs(recording.joint_velocity[1:, 0].astype(float).mean(axis=0)) * 4.0 / (2.0 * np.pi)
    assert turns.min() > 2.5
    assert np.abs(off_axis(tree, recording.link_pose)).max() < 1e-6


@both_ways
@both_swings
def test_a_symmetric_body_turns_evenly_about_both_axes(kind, is_reversed):
    """Without forces the two rates stay; angles without limits are kept within two turns, those with limits count."""
    tree, _ = symmetric(kind, is_reversed)
    rates = np.array([9.0, -6.0])
    for limit, wraps in ((None, True), (Limit(lower=-100.0, upper=100.0), False)):
        simulation = simulate(trees.with_dofs(tree, limit=limit))
        simulation.set_state(joint_velocity=rates)
        recording = simulation.record(480)
        np.testing.assert_allclose(recording.joint_velocity[:, 0], np.tile(rates, (481, 1)), rtol=1e-9)
        turns = (recording.joint_position[:, 0] - recording.time[:, None] * rates) / (2.0 * np.pi)
        np.testing.assert_allclose(turns, np.round(turns) if wraps else 0.0 * turns, atol=1e-8)
        assert (np.abs(recording.joint_position).max() < 2.0 * np.pi) == wraps
        assert np.abs(off_axis(tree, recording.link_pose)).max() < 1e-14


@both_ways
@both_swings
def test_mass_matrix_and_free_motion_of_a_body_with_three_moments(kind, is_reversed):
    """The moment about the swing axis follows the twist; momentum about it and energy stay for a minute."""
    moments = (0.1, 0.2, 0.25)
    tree, _ = symmetric(kind, False)
    tree = replace(
        tree,
        links=(replace(tree.links[0], inertia=(moments[0], 0.0, 0.0, moments[1], 0.0, moments[2])),),
        joints=(replace(tree.joints[0], reversed=is_reversed),),
    )
    swing = "xyz".index(kind[-1])
    inner, outer, locked = (swing, 0, 3 - swing) if is_reversed else (0, swing, 3 - swing)
    order = [1, 0] if is_reversed else [0, 1]  # where the inner and the outer angle are

    def matrix(angles):
        a = angles[order[0]]
        found = np.zeros((2, 2))
        found[order[0], order[0]] = moments[inner]
        found[order[1], order[1]] = moments[outer] * math.cos(a) ** 2 + moments[locked] * math.sin(a) ** 2
        return found

    simulation = simulate(tree, integrator="rk4")
    start = np.array([0.4, -0.9])
    simulation.set_state(joint_position=start, joint_velocity=[3.0, 2.0])
    np.testing.assert_allclose(simulation.mass_matrix().numpy()[0], matrix(start), atol=1e-14)
    recording = simulation.record(14400, every=10)
    momentum, energy = [], []
    for q, v in zip(recording.joint_position[:, 0], recording.joint_velocity[:, 0]):
        M = matrix(q)
        momentum.append((M @ v)[order[1]])
        energy.append(0.5 * v @ M @ v)
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-7)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)
    np.testing.assert_allclose(recording.energy[:, 0, 0], energy, rtol=1e-12)


@both_ways
@pytest.mark.parametrize(
    ("speed", "settings", "share"),
    [(1.0, {}, 1e-2), (1.0, {"precision": "float32"}, 1e-2), (3.0, {"integrator": "rk4", "dt": 1 / 480}, 1e-3)],
    ids=["default", "default in float32", "fast"],
)
def test_a_chain_keeps_its_energy_for_a_minute(speed, settings, share, is_reversed):
    """Three stout rods that swing and twist through full turns; the fast ones turn at up to 90 rad/s."""
    tree = trees.chain(3)
    kinds = ("universal_xz", "universal_xy", "universal_xz")
    joints = (
        replace(trees.plain_joint(one.path, one.parent, one.child, kind, one.parent_frame), reversed=is_reversed)
        for one, kind in zip(tree.joints, kinds)
    )
    links = (replace(link, inertia=(0.02, 0.0, 0.0, 0.03, 0.0, 0.015)) for link in tree.links)
    simulation = simulate(replace(tree, links=tuple(links), joints=tuple(joints)), gravity=rigid.GRAVITY, **settings)
    position, velocity = [0.5, 1.0, 0.4, -0.3, 0.2, 0.6], [1.0, -2.0, 0.5, 1.5, -1.0, 0.7]
    simulation.set_state(joint_position=position, joint_velocity=speed * np.array(velocity))
    recording = simulation.record(round(60.0 / simulation.settings.dt), every=5)
    total = recording.energy[:, 0].astype(float).sum(axis=1)
    assert np.abs(total - total[0]).max() < share * recording.energy[:, 0, 0].max()
    turned = np.unwrap(recording.joint_position[:, 0].astype(float), axis=0, period=4.0 * np.pi)
    assert (np.ptp(turned, axis=0) > 2.0 * np.pi).sum() >= 2


@pytest.mark.parametrize("seed", range(4))
def test_free_motion_of_random_trees(seed):
    """Against an integration of high order of the dense equations, in which the joint is one displacement."""
    rng = np.random.default_rng(40 + seed)
    tree = trees.random_articulation(rng, 6, floating=bool(seed % 2), kinds=(*KINDS, "slide_universal"))
    start = trees.random_state(rng, tree, speed=2.0)
    angles = np.array(["rot" in dof.axis.value for dof in tree.dofs])
    position = np.where(angles, rng.uniform(-np.pi, np.pi, len(tree.dofs)), start.joint_position)
    start = replace(start, joint_position=position)
    exact = step.trajectory(tree, start, np.array([0.0, 0.3]), tolerance=1e-13)
    simulation = simulate(tree, gravity=rigid.GRAVITY, dt=1 / 1920, integrator="rk4")
    root = {} if start.root_pose is None else {"root_pose": start.root_pose, "root_velocity": start.root_velocity}
    simulation.set_state(joint_position=start.joint_position, joint_velocity=start.joint_velocity, **root)
    recording = simulation.record(576, every=576)
    pose, truth = recording.link_pose[-1, 0], exact.link_pose[-1]
    pose[:, 3:] *= np.sign(np.sum(pose[:, 3:] * truth[:, 3:], axis=1, keepdims=True))
    np.testing.assert_allclose(pose, truth, atol=1e-8)
    np.testing.assert_allclose(recording.joint_velocity[-1, 0], exact.joint_velocity[-1], atol=1e-7)
    np.testing.assert_allclose(recording.link_velocity[-1, 0], exact.link_velocity[-1], atol=1e-7)


# ---------------------------------------------------------------------------------------------------------------------
# What acts on each angle, on a symmetric body, while the other turns
# ---------------------------------------------------------------------------------------------------------------------


@both_ways
@both_swings
@pytest.mark.parametrize("drive_kind", list(DriveKind))
def test_drives_of_both_angles(kind, is_reversed, drive_kind):
    """Two damped oscillators, each of its own frequency and moment, that start far from their targets."""
    frequency, ratio, target = np.array([12.0, 7.0]), np.array([0.1, 0.3]), np.array([2.5, -2.0])
    tree, moments = symmetric(kind, is_reversed)
    scale = moments if drive_kind is DriveKind.FORCE else np.ones(2)
    drives = [
        Drive(kind=drive_kind, stiffness=float(k), damping=float(d), position_target=float(q))
        for k, d, q in zip(scale * frequency**2, 2.0 * scale * ratio * frequency, target)
    ]
    recording = simulate(trees.with_dofs(tree, drive=drives), dt=1 / 1920).record(1920, every=32)
    time, damped = recording.time[:, None], frequency * np.sqrt(1.0 - ratio**2)
    swing = np.cos(damped * time) + ratio / np.sqrt(1.0 - ratio**2) * np.sin(damped * time)
    wanted = target * (1.0 - np.exp(-ratio * frequency * time) * swing)
    np.testing.assert_allclose(recording.joint_position[:, 0], wanted, atol=2e-4)


@both_ways
@both_swings
@pytest.mark.parametrize("limited", [0, 1])
def test_stops_of_one_angle(kind, is_reversed, limited):
    """Hard: it stops there. Bouncing: it comes back at half the rate. Soft: by the load over the stiffness beyond."""
    tree, _ = symmetric(kind, is_reversed)
    rates = np.array([3.0, 3.0])
    for limit, rate in (
        (Limit(lower=-2.0, upper=2.0), 0.0),
        (Limit(lower=-2.0, upper=2.0, restitution=0.5), -0.5 * rates[limited]),
    ):
        limits = [None, None]
        limits[limited] = limit
        simulation = simulate(trees.with_dofs(tree, limit=limits), precision="float32")
        simulation.set_state(joint_velocity=rates)
        recording = simulation.record(240)
        assert recording.joint_velocity[-1, 0, limited] == pytest.approx(rate, abs=1e-4)
        assert recording.joint_velocity[-1, 0, 1 - limited] == pytest.approx(3.0, rel=1e-4)
        assert 2.0 - 0.02 < recording.joint_position[:, 0, limited].max() < 2.0 + 1e-5
    limits[limited] = Limit(lower=-2.0, upper=2.0, stiffness=50.0, damping=5.0)
    simulation = simulate(trees.with_dofs(tree, limit=limits), precision="float32")
    effort = np.zeros((2, 1))
    effort[limited] = 4.0
    simulation.set_state(joint_position=[1.9, 1.9])
    simulation.control.joint_effort.assign(effort)
    simulation.step(1200)
    assert simulation.state.joint_position.numpy()[limited, 0] == pytest.approx(2.0 + 4.0 / 50.0, abs=1e-4)


@both_ways
@both_swings
def test_friction_velocity_limit_and_armature_of_each_angle(kind, is_reversed):
    """Dry friction slows one evenly; the other speeds up by its moment and armature until its largest rate."""
    tree, moments = symmetric(kind, is_reversed)
    for slowed, driven in ((0, 1), (1, 0)):
        fields = {
            "friction": [Friction(static_effort=0.05, dynamic_effort=0.05) if k == slowed else None for k in (0, 1)],
            "velocity_limit": [np.inf if k == slowed else 4.0 for k in (0, 1)],
            "armature": [0.0 if k == slowed else 0.1 for k in (0, 1)],
        }
        simulation = simulate(trees.with_dofs(tree, **fields))
        rates, effort = np.zeros(2), np.zeros((2, 1))
        rates[slowed], effort[driven] = 5.0, 1.0
        simulation.set_state(joint_velocity=rates)
        simulation.control.joint_effort.assign(effort)
        recording = simulation.record(600)
        v, time = recording.joint_velocity[:, 0], recording.time
        np.testing.assert_allclose(v[:, slowed], np.maximum(5.0 - 0.05 / moments[slowed] * time, 0.0), atol=1e-9)
        np.testing.assert_allclose(v[:, driven], np.minimum(time / (moments[driven] + 0.1), 4.0), atol=1e-9)


@both_ways
@both_swings
def test_couplings_of_the_two_angles(kind, is_reversed):
    """A mimic joint makes one of the two moments; a fixed tendon is a spring on their sum."""
    tree, (I_a, I_b) = symmetric(kind, is_reversed)
    ratio, effort = 2.0, 1.5
    geared = replace(tree, mimics=(Mimic(name="/World/joint:rotX", dofs=(0, 1), gears=(1.0, -ratio)),))
    simulation = simulate(geared)
    simulation.control.joint_effort.assign(np.array([[0.0], [effort]]))
    recording = simulation.record(480)
    rate = effort / (ratio**2 * I_a + I_b) * recording.time
    np.testing.assert_allclose(recording.joint_velocity[:, 0], np.outer(rate, [ratio, 1.0]), atol=1e-8)
    stiffness = 3.0
    tendon = FixedTendon(
        name="/World/tendon", dofs=(0, 1), coefficients=(1.0, 1.0), force_coefficients=(1.0, 1.0), stiffness=stiffness
    )
    simulation = simulate(replace(tree, fixed_tendons=(tendon,)), dt=1 / 1920)
    simulation.set_state(joint_position=[2.0, 1.0])
    recording = simulation.record(3840, every=64)
    length = 3.0 * np.cos(math.sqrt(stiffness * (1.0 / I_a + 1.0 / I_b)) * recording.time)
    np.testing.assert_allclose(recording.joint_position[:, 0].sum(axis=1), length, atol=1e-4)
    moved = recording.joint_position[:, 0] - [2.0, 1.0]
    np.testing.assert_allclose(moved[:, 0] * I_a, moved[:, 1] * I_b, atol=1e-9)


@both_ways
def test_a_steered_wheel_pulls_at_its_fork(is_reversed):
    """A wheel that spins about x while it is steered about z: the joint gives I_x times both rates about the third."""
    tree, moments = symmetric("universal_xz", is_reversed)
    spin, steer = 40.0, 3.0
    simulation = simulate(tree, dt=1e-5)
    simulation.set_state(joint_position=[0.3, 0.7], joint_velocity=[spin, steer])
    load = simulation.record(1, forces=True).link_incoming_joint_force[1, 0, 0]
    assert np.abs(load[:3]).max() < 1e-9
    torque = OWN * spin * steer
    a = 0.3 + 1e-5 * spin / 2
    if is_reversed:  # the body has the axis of the second rate, and the world that of the first
        assert np.linalg.norm(load[3:]) == pytest.approx(torque, rel=1e-6)
        assert abs(load[5]) < 1e-6
    else:  # steering about z turns the spin about x to y; in axes of the body that is twisted by a
        np.testing.assert_allclose(load[3:], [0.0, torque * math.cos(a), -torque * math.sin(a)], atol=1e-4 * torque)


@both_ways
@both_swings
def test_identities_of_dynamics(kind, is_reversed):
    """Those that `check --dynamics` reports, of bodies in a row, with a translation too."""
    rng = np.random.default_rng(5)
    tree = trees.random_articulation(rng, 4, floating=False, kinds=(kind, "slide_universal"), reverse=False)
    tree = replace(tree, joints=tuple(replace(joint, reversed=is_reversed) for joint in tree.joints))
    start = State(joint_position=np.zeros(len(tree.dofs)), joint_velocity=np.zeros(len(tree.dofs)))
    simulation = simulate(trees.authored_at(tree, start), gravity=rigid.GRAVITY)
    residuals = simulation.verify()
    assert residuals and all(one.holds for one in residuals), [one for one in residuals if not one.holds]
