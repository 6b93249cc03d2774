"""The two references against each other, and each against what is known without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from tests import trees
from tests.oracles import joint_motion, pinocchio_model, rigid
from tests.oracles.state import State
from warp_artic.description.joint import Joint

LINK_COUNTS = (1, 2, 3, 5, 8, 16, 32, 64)
ALL_KINDS = tuple(trees.JOINT_KINDS)
FREER_KINDS = (*ALL_KINDS, *trees.FREER_KINDS)
NO_ZERO_TWIST = tuple(kind for kind in ALL_KINDS if kind != "zero_twist")
VECTORS = ("zero_twist", "spherical")
"""Kinds whose positions are components of a rotation vector."""
GRAVITY = (1.0, -2.0, -9.0)


@pytest.fixture(params=[(count, seed) for count in LINK_COUNTS for seed in range(8)], ids=str)
def case(request):
    """A random articulation, a state, efforts, wrenches and the Pinocchio model."""
    count, seed = request.param
    rng = np.random.default_rng(request.param)
    kinds = ALL_KINDS if seed < 4 else NO_ZERO_TWIST
    tree = trees.random_articulation(rng, count, floating=seed % 2 == 0, kinds=kinds)
    state = trees.random_state(rng, tree)
    motion = rigid.motion(tree, state)
    effort, wrench = rng.normal(size=len(motion.velocity)), rng.normal(size=(count, 6))
    return tree, state, motion, effort, wrench, pinocchio_model.build(tree, GRAVITY)


def assert_near(found, expected, tolerance: float) -> None:
    """Largest difference, relative to the largest value."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    if expected.size:
        assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


def test_kinematics_agree(case):
    """Link poses and velocities are Pinocchio's."""
    _, state, motion, _, _, reference = case
    R_WL, p_WL, V = pinocchio_model.link_motion(reference, state)
    assert_near(motion.R_WL, R_WL, 1e-13)
    assert_near(motion.p_WL, p_WL, 1e-13)
    assert_near(motion.V, V, 1e-13)


def test_mass_matrices_agree(case):
    """The mass matrix, armature included, is Pinocchio's."""
    _, state, motion, _, _, reference = case
    assert_near(rigid.mass_matrix(motion), pinocchio_model.mass_matrix(reference, state), 1e-13)


def test_nonlinear_efforts_agree(case):
    """Coriolis and gravity efforts together are Pinocchio's."""
    _, state, motion, _, _, reference = case
    total = rigid.coriolis_effort(motion) + rigid.gravity_effort(motion, GRAVITY)
    assert_near(total, pinocchio_model.nonlinear_effort(reference, state), 1e-11)


def test_accelerations_agree(case):
    """Accelerations under efforts and link wrenches are Pinocchio's."""
    _, state, motion, effort, wrench, reference = case
    vdot = rigid.forward_dynamics(motion, effort, wrench, GRAVITY)
    assert_near(vdot, pinocchio_model.acceleration(reference, state, effort, wrench), 1e-11)


def test_incoming_joint_forces_agree(case):
    """The wrench of each joint on its child is Pinocchio's."""
    _, state, motion, effort, wrench, reference = case
    vdot = rigid.forward_dynamics(motion, effort, wrench, GRAVITY)
    found = rigid.incoming_joint_force(motion, vdot, wrench, GRAVITY)
    expected = pinocchio_model.incoming_joint_force(reference, state, vdot, wrench)
    links = sorted(expected)
    assert_near(found[links], np.array([expected[link] for link in links]).reshape(-1, 6), 1e-11)


def test_inverse_dynamics_undoes_forward_dynamics(case):
    """Efforts found from accelerations are those that gave them."""
    _, _, motion, effort, wrench, _ = case
    vdot = rigid.forward_dynamics(motion, effort, wrench, GRAVITY)
    found = rigid.inverse_dynamics(motion, vdot, wrench, GRAVITY)
    scale = np.abs(rigid.mass_matrix(motion) @ vdot).max(initial=1.0)
    assert np.abs(found - effort).max(initial=0.0) < 1e-12 * scale


def test_incoming_force_along_an_axis_is_the_effort():
    """What the joint gives along its axes is the effort less what the armature takes."""
    rng = np.random.default_rng(3)
    tree = trees.random_articulation(rng, 20, floating=False)
    state = trees.random_state(rng, tree)
    motion = rigid.motion(tree, state)
    effort = rng.normal(size=len(tree.dofs))
    vdot = rigid.forward_dynamics(motion, effort)
    forces = rigid.incoming_joint_force(motion, vdot)
    coordinates = rigid.coordinates(tree, state)
    parts, dofs = rigid.coordinate_slices(tree), rigid.dof_slices(tree)
    for joint, part, dof in zip(tree.joints, parts, dofs):
        along = joint_motion.subspace(joint, coordinates[part]).T @ forces[joint.child]
        np.testing.assert_allclose(along, (effort - rigid.armatures(tree) * vdot)[dof], atol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# Derivatives
# ---------------------------------------------------------------------------------------------------------------------


def moved(tree, state: State, vdot: np.ndarray, time: float) -> State:
    """A state `time` later, to third order in time, by four small Runge-Kutta steps at constant vdot."""
    y, v0 = rigid.coordinates(tree, state), rigid.velocity(tree, state)
    h = time / 4
    for count in range(4):

        def rate(y, t):
            return rigid.coordinates_rate(tree, y, v0 + t * vdot)

        t = count * h
        k1 = rate(y, t)
        k2 = rate(y + 0.5 * h * k1, t + 0.5 * h)
        k3 = rate(y + 0.5 * h * k2, t + 0.5 * h)
        k4 = rate(y + h * k3, t + h)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return rigid.public_state(tree, y, v0 + time * vdot)


@pytest.mark.parametrize("kinds", [ALL_KINDS, FREER_KINDS], ids=["all", "freer"])
@pytest.mark.parametrize("seed", range(6))
def test_velocities_and_accelerations_are_time_derivatives(seed, kinds):
    """Differences of poses in time give J v, and differences of J v give J vdot + Jdot v."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, len(kinds) + 3, floating=seed % 2 == 0, kinds=kinds)
    state = trees.random_state(rng, tree)
    motion = rigid.motion(tree, state)
    vdot = rng.normal(size=len(motion.velocity))
    h = 1e-3
    near = {n: rigid.motion(tree, moved(tree, state, vdot, n * h)) for n in (-2, -1, 1, 2)}

    def derivative(value):
        return (8 * (value(near[1]) - value(near[-1])) - (value(near[2]) - value(near[-2]))) / (12 * h)

    assert_near(derivative(lambda m: m.p_WC), motion.V[:, :3], 1e-7)
    turning = derivative(lambda m: m.R_WL) @ np.swapaxes(motion.R_WL, 1, 2)
    assert_near(turning[:, [2, 0, 1], [1, 2, 0]], motion.V[:, 3:], 1e-7)
    assert_near(derivative(lambda m: m.V), motion.J @ vdot + motion.A_bias, 1e-7)


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("kind", VECTORS)
def test_rotation_vector_moves_as_the_velocity_says(kind, is_reversed):
    """Differences of log(R_FM) give the velocity by the inverse left Jacobian, and a locked component stays zero."""
    rng = np.random.default_rng(len(kind))
    joint = replace(trees.plain_joint("/joint", -1, 0, kind), reversed=is_reversed)
    q = trees.random_position(rng, joint)
    v = rng.normal(size=len(q))
    coordinates = joint_motion.coordinates_of(joint, q)
    omega = (joint_motion.subspace(joint, coordinates) @ v)[3:]
    R_FM = joint_motion.displacement(joint, coordinates)[0]
    h = 1e-5
    rate = (pin.log3(R_FM @ pin.exp3(h * omega)) - pin.log3(R_FM @ pin.exp3(-h * omega))) / (2 * h)
    free = joint_motion.free_axes(joint)
    locked = sorted({0, 1, 2} - set(free))
    sign = -1.0 if is_reversed else 1.0
    np.testing.assert_allclose(omega[free], sign * v)
    np.testing.assert_allclose(pin.log3(R_FM)[free], sign * q, atol=1e-12)
    np.testing.assert_allclose(rate[locked], 0.0, atol=1e-9)
    np.testing.assert_allclose(pin.exp3(sign * full(joint, q)), R_FM, atol=1e-12)


def test_locked_component_follows_the_tangent_law():
    """For phi = (0, a, b):  omega_1 = tan(theta / 2) / theta (b omega_2 - a omega_3)."""
    joint = trees.plain_joint("/joint", -1, 0, "zero_twist")
    a, b, omega_1, omega_2 = 0.7, -1.1, 0.4, 0.9
    theta = np.hypot(a, b)
    H = joint_motion.subspace(joint, joint_motion.coordinates_of(joint, np.array([a, b])))
    expected = np.tan(0.5 * theta) / theta * (b * omega_1 - a * omega_2)
    assert H[3] @ [omega_1, omega_2] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("swing", [1, 2])
def test_a_universal_joint_is_a_swing_and_then_a_twist(swing, is_reversed):
    """R_01 = exp(b u) exp(a x), with rates of the angles; the x axis of frame 1 is orthogonal to u of frame 0."""
    kind = ("universal_xy", "universal_xz")[swing - 1]
    joint = replace(trees.plain_joint("/joint", -1, 0, kind), reversed=is_reversed)
    angles, rates, h = np.array([2.0, -2.7]), np.array([0.8, -1.3]), 1e-5
    x, u = np.eye(3)[0], np.eye(3)[swing]

    def displaced(a, b):
        R_01 = pin.exp3(b * u) @ pin.exp3(a * x)
        return R_01.T if is_reversed else R_01

    coordinates = joint_motion.coordinates_of(joint, angles)
    R_FM = joint_motion.displacement(joint, coordinates)[0]
    np.testing.assert_allclose(R_FM, displaced(*angles), atol=1e-14)
    R_01 = R_FM.T if is_reversed else R_FM
    assert abs(u @ R_01 @ x) < 1e-15
    omega = pin.log3(displaced(*(angles - h * rates)).T @ displaced(*(angles + h * rates))) / (2 * h)
    np.testing.assert_allclose((joint_motion.subspace(joint, coordinates) @ rates)[3:], omega, atol=1e-9)
    np.testing.assert_array_equal(joint_motion.position_of(joint, coordinates), angles)


def full(joint: Joint, q: np.ndarray) -> np.ndarray:
    """The rotation vector (3) with zeros where there is no dof."""
    vector = np.zeros(3)
    vector[joint_motion.free_axes(joint)] = q
    return vector


# ---------------------------------------------------------------------------------------------------------------------
# The trees themselves
# ---------------------------------------------------------------------------------------------------------------------


def test_coordinates_return_to_the_public_state():
    """Public positions survive the way to quaternions and back."""
    rng = np.random.default_rng(5)
    tree = trees.random_articulation(rng, 40, floating=True, kinds=FREER_KINDS)
    state = trees.random_state(rng, tree)
    back = rigid.public_state(tree, rigid.coordinates(tree, state), rigid.velocity(tree, state))
    np.testing.assert_allclose(back.joint_position, state.joint_position, atol=1e-13)
    np.testing.assert_array_equal(back.joint_velocity, state.joint_velocity)
    np.testing.assert_array_equal(back.root_pose, state.root_pose)


def test_random_trees_contain_every_kind():
    """A tree with joints enough has each kind, both ways round, and links that do not come parents first."""
    tree = trees.random_articulation(0, 64, floating=False)
    kinds = {tuple(dof.axis for dof in joint.dofs) for joint in tree.joints}
    assert kinds == set(trees.JOINT_KINDS.values())
    assert {joint.reversed for joint in tree.joints} == {True, False}
    assert any(joint.parent > joint.child for joint in tree.joints)


def test_random_trees_repeat():
    """The same seed gives the same tree."""
    assert trees.random_articulation(7, 20) == trees.random_articulation(7, 20)


def test_random_inertias_are_physical():
    """Principal moments are positive and obey the triangle inequality."""
    for link in trees.random_articulation(1, 64).links:
        moments = np.linalg.eigvalsh(rigid.inertia_matrix(link.inertia))
        assert moments[0] > 0 and moments[0] + moments[1] > moments[2]


def test_authored_state_is_the_state_authored():
    """A description authored at a state starts from it."""
    rng = np.random.default_rng(8)
    tree = trees.random_articulation(rng, 12, floating=True)
    state = trees.random_state(rng, tree)
    found = trees.authored_state(trees.authored_at(tree, state))
    same_side = np.sign(found.root_pose[3:] @ state.root_pose[3:])
    np.testing.assert_allclose(found.root_pose[:3], state.root_pose[:3], atol=1e-14)
    np.testing.assert_allclose(same_side * found.root_pose[3:], state.root_pose[3:], atol=1e-14)
    np.testing.assert_allclose(found.root_velocity, state.root_velocity, atol=1e-14)
    np.testing.assert_array_equal(found.joint_position, state.joint_position)
