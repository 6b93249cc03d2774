"""Matrices of a step against Pinocchio's derivatives of accelerations, and against laws of steps in closed form."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from tests import trees
from tests.oracles import pinocchio_model
from warp_artic import Drive, FixedTendon, Mimic, Simulation, SolverSettings

SETTINGS = SolverSettings(precision="float64", integrator="semi_implicit")
H = 1 / 240
KINDS = ("revolute_x", "revolute_y", "revolute_z", "prismatic_x", "prismatic_y", "prismatic_z", "fixed")
"""Joints of which a step is v+ = v + h a(q, v, effort) for any velocity; balls that turn keep their energy besides."""
EXACT = {"rtol": 1e-11, "atol": 1e-13}


@pytest.mark.parametrize(("count", "seed"), [(4, 0), (9, 1), (16, 2)])
def test_accelerations_have_the_derivatives_of_pinocchio(count, seed):
    """By motions, velocities and efforts: a step of "semi_implicit" has v+ = v + h a(q, v, effort)."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, count, floating=False, kinds=KINDS)
    state, effort = trees.random_state(rng, tree), 5.0 * rng.normal(size=len(tree.dofs))
    simulation = Simulation(trees.scene(trees.authored_at(tree, state)), settings=SETTINGS)
    order = [simulation.joint_names.index(dof.name) for dof in tree.dofs]
    simulation.control.joint_effort.numpy()[order, 0] = effort
    found = simulation.linearize(["joint_effort"])
    size = len(order)
    A, B = found.A.numpy()[0][size:], found.B.numpy()[0][size:]
    ours = [part[np.ix_(order, order)] / H for part in (A[:, :size], A[:, size:] - np.eye(size), B)]

    model = pinocchio_model.build(tree)
    T = pinocchio_model.velocity_map(model, state)
    q, back = pinocchio_model.configuration(model, state), np.linalg.inv(T)
    data = model.model.createData()
    pin.computeABADerivatives(model.model, data, q, T @ state.joint_velocity, back.T @ effort)
    inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    wanted = back @ data.ddq_dq @ T, back @ data.ddq_dv @ T, back @ inverse @ back.T
    for one, other in zip(ours, wanted):
        assert np.abs(one - other).max() < 1e-10 * max(1.0, np.abs(other).max())


def test_a_pendulum():
    """v+ = v - h (g / l) sin q,  q+ = q + h v+."""
    length, angle, speed = 0.7, 0.6, 1.3
    tree = trees.with_dofs(trees.point_pendulums((2.0,), (length,)), position=angle, velocity=speed)
    gravity = 9.81
    simulation = Simulation(trees.scene(tree, gravity=(0.0, 0.0, -gravity)), settings=SETTINGS)
    slope = -H * gravity / length * np.cos(angle)
    wanted = [[1.0 + H * slope, H], [slope, 1.0]]
    np.testing.assert_allclose(simulation.linearize().A.numpy()[0], wanted, **EXACT)


def slider(**changes):
    """A mass on one slider across the weight, away from rest, and that mass."""
    tree = trees.with_dofs(trees.chain(1, "prismatic_x"), position=0.2, velocity=0.7, **changes)
    return tree, tree.links[0].mass


def spring_matrices(mass, stiffness, damping, difference, speed):
    """A, and derivatives by the wanted place, stiffness and damping, of a spring at the end of the step:

    (m + h d + h^2 k) v+ = m v + h k (u - x),  x+ = x + h v+.
    """
    D = mass + H * damping + H * H * stiffness
    after = (mass * speed + H * stiffness * difference) / D
    by_v = np.array([-H * stiffness / D, mass / D, H * stiffness / D, H * (difference - H * after) / D, -H * after / D])
    rows = np.array([H * by_v + [1.0, 0.0, 0.0, 0.0, 0.0], by_v])
    return rows[:, :2], rows[:, 2:]


def test_a_step_of_a_drive():
    """By position, velocity, target, stiffness and damping."""
    stiffness, damping, target = 120.0, 3.0, 0.5
    tree, mass = slider(drive=Drive(stiffness=stiffness, damping=damping, position_target=target))
    simulation = Simulation(trees.scene(tree, gravity=(0.0, 0.0, -9.81)), settings=SETTINGS)
    found = simulation.linearize(["drive_position_target"], ["drive_stiffness", "drive_damping"])
    A, by = spring_matrices(mass, stiffness, damping, target - 0.2, 0.7)
    np.testing.assert_allclose(found.A.numpy()[0], A, **EXACT)
    np.testing.assert_allclose(np.hstack([found.B.numpy()[0], found.P.numpy()[0]]), by, **EXACT)


def test_a_step_of_a_tendon():
    """By position, velocity, rest length, stiffness and damping of a fixed tendon along a slider."""
    stiffness, damping, rest = 120.0, 3.0, 0.5
    tendon = {"name": "/World/tendon", "dofs": (0,), "coefficients": (1.0,), "force_coefficients": (1.0,)}
    tendon = FixedTendon(**tendon, stiffness=stiffness, damping=damping, rest_length=rest)
    tree, mass = slider()
    simulation = Simulation(trees.scene(replace(tree, fixed_tendons=(tendon,))), settings=SETTINGS)
    found = simulation.linearize(parameters=["tendon_rest_length", "tendon_stiffness", "tendon_damping"])
    A, by = spring_matrices(mass, stiffness, damping, rest - 0.2, 0.7)
    np.testing.assert_allclose(found.A.numpy()[0], A, **EXACT)
    np.testing.assert_allclose(found.P.numpy()[0], by, **EXACT)


def test_a_step_of_a_tendon_at_rest():
    """Derivatives are those of the spring where it makes no force, too."""
    stiffness, damping = 120.0, 3.0
    tendon = {"name": "/World/tendon", "dofs": (0,), "coefficients": (1.0,), "force_coefficients": (1.0,)}
    tendon = FixedTendon(**tendon, stiffness=stiffness, damping=damping, rest_length=0.25)
    tree = trees.with_dofs(trees.chain(1, "prismatic_x"), position=0.25, velocity=0.0)
    scene = trees.scene(replace(tree, fixed_tendons=(tendon,)), gravity=(0.0, 0.0, -9.81))
    found = Simulation(scene, settings=SETTINGS).linearize(parameters=["tendon_rest_length"])
    A, by = spring_matrices(tree.links[0].mass, stiffness, damping, 0.0, 0.0)
    np.testing.assert_allclose(found.A.numpy()[0], A, **EXACT)
    np.testing.assert_allclose(found.P.numpy()[0], by[:, :1], **EXACT)


@pytest.mark.parametrize("effort", [0.3, 0.0])
def test_a_step_of_a_mimic_joint(effort):
    """By efforts, of two sliders in a row with  q_1 + G q_0 = 0:  v+ moves by  h N (N^T M N)^-1 N^T,  N = (1, -G).

    So it does where the constraint transmits nothing.
    """
    gear = 2.0
    tree = trees.chain(2, "prismatic_x")
    tree = replace(tree, mimics=(Mimic(name=tree.dofs[1].name, dofs=(1, 0), gears=(1.0, gear)),))
    simulation = Simulation(trees.scene(tree), settings=SETTINGS)
    simulation.control.joint_effort.numpy()[:] = effort
    B = simulation.linearize(["joint_effort"]).B.numpy()[0]
    first, second = (link.mass for link in tree.links)
    N = np.array([[1.0], [-gear]])
    M = np.array([[first + second, second], [second, second]])
    wanted = H * N @ np.linalg.inv(N.T @ M @ N) @ N.T
    np.testing.assert_allclose(B[2:], wanted, **EXACT)
