"""Soft limits of joints with two or three free rotations: their law in a dense step, rest, and energy of bounces."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from tests import simulations, trees
from tests.constraints.test_rotation_limits import HELD, NARROW, WIDE, ball, passed, rods
from tests.oracles import dense_step, movement, rigid, simulated_state
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.pose import Pose

H = 1.0 / 240.0


def softened(tree, stiffness, damping=0.0, cones=True, axes=True):
    """The same tree with a spring and a damper beyond its cones, and beyond the limits of its dofs."""
    joints = []
    for joint in tree.joints:
        own = {"stiffness": stiffness, "damping": damping}
        cone = joint.cone_limit and replace(joint.cone_limit, **own if cones else {})
        limits = [dof.limit and replace(dof.limit, **own if axes else {}) for dof in joint.dofs]
        dofs = tuple(replace(dof, limit=limit) for dof, limit in zip(joint.dofs, limits))
        joints.append(replace(joint, cone_limit=cone, dofs=dofs))
    return replace(tree, joints=tuple(joints))


simulate = partial(simulations.simulate, precision="float64")


# ---------------------------------------------------------------------------------------------------------------------
# The law, with y of NumPy and J by differences
# ---------------------------------------------------------------------------------------------------------------------


def values(joint, q):
    """y of each limit of a joint at public positions, with its ends, stiffness and damping."""
    if len(joint.dofs) == 2:
        return [(q[k], *ends(dof.limit)) for k, dof in enumerate(joint.dofs) if dof.limit]
    x, y, z, w = Rotation.from_rotvec(q).as_quat()
    twist = 2.0 * np.arctan2(np.sign(w) * x, abs(w))
    untwisted = Rotation.from_rotvec(q) * Rotation.from_rotvec([-twist, 0.0, 0.0])
    swing = untwisted.as_rotvec()
    found = [(value, *ends(dof.limit)) for value, dof in zip([twist, *swing[1:]], joint.dofs) if dof.limit]
    if joint.cone_limit:
        theta = np.linalg.norm(swing)
        n = swing / theta
        angle = 1.0 / np.hypot(n[1] / joint.cone_limit.angle_1, n[2] / joint.cone_limit.angle_2)
        found.append((theta - angle, -np.inf, 0.0, joint.cone_limit.stiffness, joint.cone_limit.damping))
    return found


def ends(limit):
    return limit.lower, limit.upper, limit.stiffness, limit.damping


def limit_springs(tree, state, h):
    """The springs of the soft limits of several rotations that are passed; a step places links after h / 2."""
    base = rigid.base_count(tree)
    v = rigid.velocity(tree, state)
    springs = []
    for joint, part in zip(tree.joints, rigid.dof_slices(tree)):
        if len(joint.dofs) < 2:
            continue
        q = movement.moved_joint(joint, state.joint_position[part], state.joint_velocity[part], 0.5 * h)
        steps = 1e-5 * np.eye(len(joint.dofs))
        sides = [
            [
                np.array([value[0] for value in values(joint, movement.moved_joint(joint, q, sign * step, 1.0))])
                for step in steps
            ]
            for sign in (1.0, -1.0)
        ]
        slopes = (np.array(sides[0]) - np.array(sides[1])).T / 2e-5
        for (y, lower, upper, k, d), slope in zip(values(joint, q), slopes):
            J = np.zeros(len(v))
            J[base + part.start : base + part.stop] = slope
            e = y - 0.5 * h * J @ v
            beyond = min(e - lower, 0.0) + max(e - upper, 0.0)
            if beyond:
                springs.append(dense_step.Spring(k, d, beyond, J, J, J, is_limit=True, resolves=True))
    return springs


def passing_limits(rng, tree, state):
    """A tree with soft limits that a state passes: cones and twists, pyramids, and components of rotation vectors."""
    joints, counts = [], itertools.count()
    for joint, part in zip(tree.joints, rigid.dof_slices(tree)):
        dofs, cone = joint.dofs, None
        if len(joint.dofs) > 1:
            own = {"stiffness": float(rng.uniform(20.0, 200.0)), "damping": float(rng.uniform(0.0, 0.5))}
            ended = replace(joint, dofs=tuple(replace(dof, limit=Limit()) for dof in joint.dofs))
            ys = [value[0] for value in values(ended, state.joint_position[part])]
            limits = [Limit(**{"lower": y + 0.2} if y < 0 else {"upper": y - 0.2}, **own) for y in ys]
            if len(joint.dofs) == 3 and next(counts) % 2 == 0:
                theta = np.hypot(*ys[1:])
                cone = ConeLimit(angle_1=0.75 * float(theta), angle_2=0.9 * float(theta), **own)
                limits[1:] = [None, None]
            dofs = tuple(replace(dof, limit=limit) for dof, limit in zip(joint.dofs, limits))
        joints.append(replace(joint, dofs=dofs, cone_limit=cone))
    return replace(tree, joints=tuple(joints))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "integrator, solver", [("midpoint", "direct"), ("semi_implicit", "direct"), ("midpoint", "pgs")]
)
def test_steps_follow_the_law(seed, integrator, solver):
    """Steps of random trees are those of dense matrices with the springs of the limits that are passed."""
    rng = np.random.default_rng(seed)
    kinds = ("spherical", "zero_twist", "spherical", "revolute_x", "zero_twist")
    tree = trees.random_articulation(rng, 6, floating=seed % 2 == 1, kinds=kinds)
    state = trees.random_state(rng, tree, speed=0.3)
    tree = passing_limits(rng, tree, state)
    sweeps = {"position_iterations": 200} if solver == "pgs" else {}
    simulation = simulate(tree, gravity=rigid.GRAVITY, integrator=integrator, solver=solver, **sweeps)
    simulated_state.put(simulation, state)

    def elements(state, placed, share):
        return limit_springs(tree, state, H if integrator == "midpoint" else 0.0)

    law = dense_step.DenseStep(tree, H, integrator, elements=elements)
    dense_step.assert_steps(simulation, law, tolerance=1e-7)


# ---------------------------------------------------------------------------------------------------------------------
# Rest
# ---------------------------------------------------------------------------------------------------------------------


def held_out(kind, limits, stiffness, damping):
    """A rod that a limit of a joint holds up: its joint axis is horizontal."""
    if kind == "spherical":
        along = Rotation.from_matrix(np.roll(np.eye(3), 2, axis=0))
        tree = softened(ball(0.5, limits), stiffness, damping)
    else:
        along = Rotation.identity()
        limit = Limit(lower=-NARROW, upper=NARROW, stiffness=stiffness, damping=damping)
        tree = trees.with_dofs(rods(1, 0.5, kind), limit=limit)
    level = Rotation.from_euler("y", -90.0, degrees=True) * along
    joint = replace(tree.joints[0], parent_frame=Pose((0, 0, 0), tuple(level.as_quat())))
    return replace(tree, joints=(joint,))


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("precision, variant", [("float32", "lanes"), ("float64", "lanes"), ("float64", "scalar")])
def test_a_weight_rests_where_the_spring_of_a_cone_carries_it(precision, variant, solver):
    """m g l cos(theta) = k (theta - limit) of a rod of 0.5 m, whose joint axis is horizontal."""
    k = 40.0
    tree = held_out("spherical", "cone", k, 2.0)
    simulation = simulate(tree, precision=precision, variant=variant, solver=solver)
    simulation.step(2400)
    theta = brentq(lambda theta: 9.81 * 0.25 * np.cos(theta) - k * (theta - NARROW), 0.0, 1.5)
    q = simulation.state.joint_position.numpy()[:, 0]
    assert np.linalg.norm(q) == pytest.approx(theta, rel=1e-4)
    assert np.abs(simulation.state.joint_velocity.numpy()).max() < (1e-5 if precision == "float64" else 1e-4)


@pytest.mark.parametrize(
    "kind, limits", [("spherical", "ellipse"), ("spherical", "pyramid"), ("universal_xy", ""), ("zero_twist", "")]
)
def test_other_limits_carry_a_weight_alike(kind, limits):
    """Those of a component too; and the force that is reported is k (theta - limit)."""
    k = 40.0
    simulation = simulate(held_out(kind, limits, k, 2.0))
    simulation.step(2400)
    simulation.step(forces=True)
    q = simulation.state.joint_position.numpy()[:, 0]
    most = np.abs(q).max()
    bound = min((NARROW, WIDE), key=lambda end: abs(9.81 * 0.25 * np.cos(most) - k * (most - end)))
    theta = brentq(lambda theta: 9.81 * 0.25 * np.cos(theta) - k * (theta - bound), 0.0, 1.5)
    assert most == pytest.approx(theta, rel=1e-6)
    force = simulation.state.joint_limit_force.numpy()[:, 0]
    assert np.abs(force).max() == pytest.approx(k * (theta - bound), rel=1e-6)
    weight = simulation.state.joint_gravity_force.numpy()[:, 0]
    np.testing.assert_allclose(force, -weight, atol=1e-6)


# ---------------------------------------------------------------------------------------------------------------------
# Energy
# ---------------------------------------------------------------------------------------------------------------------


def total_energy(limits, recording, stiffness):
    """Energy of a ball joint with that of the springs of its limits, shape (frames, environments)."""
    q = recording.joint_position.astype(float)
    beyond = np.maximum(passed(limits, q), 0.0) if limits != "pyramid" else sides_passed(q)
    spring = 0.5 * stiffness * (beyond**2).reshape(-1, *q.shape[:2]).sum(axis=0)
    return recording.energy.astype(float).sum(axis=2) + spring


def sides_passed(q):
    """How far both components of the swing pass those of the pyramid."""
    joint = softened(ball(0.5, "pyramid"), 1.0).joints[0]
    found = np.array([[value[:3] for value in values(joint, one)] for one in q.reshape(-1, 3)])
    return np.maximum(np.maximum(found[:, :, 1] - found[:, :, 0], found[:, :, 0] - found[:, :, 2]), 0.0).T


SWINGS = np.array([[0, 3, 0], [0, 2.5, 0.5], [0, 4, -1], [0, 1.5, 1.5], [0.3, 2, 2], [2, 3, 0], [1, 3.5, -1]], float)


@pytest.mark.parametrize("thickness, reverse", [(0.01, False), (0.5, False), (0.5, True)])
@pytest.mark.parametrize("limits", ["cone", "ellipse"])
def test_bounces_on_a_soft_cone_keep_energy(limits, thickness, reverse):
    """A ball pendulum that bounces more than 50 times in a minute: 2 % of its kinetic energy.

    A reversed thin rod is left out: its ellipse turns with it, and would spin it faster than steps resolve.
    """
    tree = softened(ball(thickness, limits, reverse), 30.0)
    simulation = simulate(tree, environments=len(SWINGS))
    simulation.set_state(joint_velocity=SWINGS)
    recording = simulation.record(round(60.0 / H))
    total = total_energy(limits, recording, 30.0)
    beyond = passed(limits, recording.joint_position).reshape(total.shape)
    assert np.diff(np.signbit(beyond), axis=0).sum(axis=0).min() > 50
    assert (np.abs(total - total[0]).max(axis=0) / recording.energy[:, :, 0].max(axis=0)).max() < 0.02


@pytest.mark.parametrize("limits", ["pyramid", "twist"])
def test_bounces_on_a_pyramid_and_in_twist_keep_energy(limits):
    """For ten seconds, a hundredth of the kinetic energy."""
    swings = SWINGS * ([3.0, 0.5, 0.5] if limits == "twist" else 1.0)
    simulation = simulate(softened(ball(0.5, limits), 5.0), environments=len(SWINGS))
    simulation.set_state(joint_velocity=swings)
    recording = simulation.record(round(10.0 / H))
    total = total_energy(limits, recording, 5.0)
    assert (np.abs(total - total[0]).max(axis=0) / recording.energy[:, :, 0].max(axis=0)).max() < 0.01


def test_a_bounce_is_of_second_order():
    """Of the work of a spring round a bounce, a quarter is left at half the step, whenever the cone is met."""
    left = []
    for dt in (H, H / 2, H / 4):
        simulation = simulate(softened(ball(0.5, "cone"), 100.0), environments=64, dt=dt)
        simulation.set_state(joint_velocity=np.array([0.5, 3.0, 0.7]) * np.linspace(1.0, 1.1, 64)[:, None])
        recording = simulation.record(round(0.3 / dt))
        total = total_energy("cone", recording, 100.0)
        beyond = passed("cone", recording.joint_position).reshape(total.shape)
        assert beyond.max(axis=0).min() > 0.02 and beyond[-1].max() < 0.0
        left.append(np.sqrt(np.mean((total[-1] - total[0]) ** 2)))
    assert left[0] / left[1] > 3.0 and left[1] / left[2] > 3.0, left


@pytest.mark.parametrize("stiffness, damping", [(1e3, 0.0), (1e6, 10.0), (1e9, 0.0), (0.0, 50.0), (1e9, 1e9)])
@pytest.mark.parametrize("limits", ["ellipse", "pyramid"])
def test_no_stiffness_gives_energy(limits, stiffness, damping):
    """Over 10 s of rebounds the energy stays below its start, but for an error of second order."""
    simulation = simulate(softened(ball(0.5, limits), stiffness, damping), environments=len(SWINGS))
    simulation.set_state(joint_velocity=SWINGS)
    recording = simulation.record(2400)
    assert not simulation.failures()
    total = recording.energy.sum(axis=2)
    assert ((total.max(axis=0) - total[0]) / recording.energy[:, :, 0].max(axis=0)).max() < 5e-3


# ---------------------------------------------------------------------------------------------------------------------
# Beside others
# ---------------------------------------------------------------------------------------------------------------------


def test_soft_and_hard_limits_of_a_joint_act_beside_each_other():
    """A soft twist yields where a hard cone does not, and the other way round."""
    tree = ball(0.3, "cone")
    dofs = tree.joints[0].dofs
    limit = Limit(lower=-NARROW, upper=NARROW)
    tree = replace(tree, joints=(replace(tree.joints[0], dofs=(replace(dofs[0], limit=limit), *dofs[1:])),))
    velocities = np.random.default_rng(0).normal(size=(16, 3)) * [6.0, 3.0, 3.0]
    for is_cone in (True, False):
        simulation = simulate(softened(tree, 20.0, cones=is_cone, axes=not is_cone), environments=16)
        simulation.set_state(joint_velocity=velocities)
        q = simulation.record(480).joint_position
        soft, hard = ("cone", "twist") if is_cone else ("twist", "cone")
        assert passed(hard, q).max() < HELD and np.median(passed(soft, q).reshape(-1, 16).max(axis=0)) > 0.02


def test_there_is_no_force_within_limits():
    """Bitwise the motion without limits, as long as none is near."""
    ends = []
    for tree in (softened(ball(0.5, "ellipse"), 300.0, 3.0), replace(ball(0.5, "twist"), joints=())):
        tree = tree if tree.joints else trees.with_dofs(ball(0.5, "twist"), limit=None)
        simulation = simulate(tree)
        simulation.set_state(joint_velocity=[0.1, 0.3, -0.2])
        simulation.step(120)
        ends.append(simulation.state.joint_position.numpy())
    np.testing.assert_array_equal(*ends)


def test_a_damper_does_not_hold_back():
    """A rod that leaves faster than the spring drives it is not pulled."""
    tree = softened(ball(0.5, "cone"), 1.0, 50.0)
    simulation = simulate(tree, gravity=(0.0, 0.0, 0.0))
    simulation.set_state(joint_position=[0.0, NARROW + 0.3, 0.0], joint_velocity=[0.0, -1.5, 0.0])
    np.testing.assert_allclose(simulation.record(24).joint_velocity[:, 0, 1], -1.5, rtol=1e-12)


@pytest.mark.parametrize("variant", ["lanes", "scalar"])
def test_environments_do_not_notice_their_neighbours(variant):
    """Bitwise: soft limits are met in different steps in each environment."""
    tree = softened(ball(0.3, "ellipse"), 80.0, 0.2)
    velocities = 4.0 * np.random.default_rng(2).normal(size=(20, 3))

    def run(order):
        simulation = simulate(tree, environments=len(order), variant=variant)
        simulation.set_state(joint_velocity=velocities[order])
        return simulation.record(120).joint_position

    together = run(np.arange(20))
    for k in (0, 7, 19):
        np.testing.assert_array_equal(run(np.array([k]))[:, 0], together[:, k])
