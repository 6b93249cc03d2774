"""Inputs that change from step to step: what they give to motion that is followed along a smooth curve."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests import simulations, trees
from tests.oracles import rigid
from tests.sim.test_base_motion import motion
from warp_artic import Simulation, SolverSettings

H = 1 / 240
MASS = 2.0

simulate = partial(simulations.simulate, precision="float64", integrator="midpoint")


def slide(**changes):
    return replace(trees.chain(1, "prismatic_x", mass=MASS), **changes)


def motion_of(simulation, steps):
    """Positions and velocities of joints after each of some steps, in the first environment."""
    found = []
    for _ in range(steps):
        simulation.step()
        state = simulation.state
        found.append(np.concatenate([state.joint_position.numpy()[:, 0], state.joint_velocity.numpy()[:, 0]]))
    return np.array(found)


# ---------------------------------------------------------------------------------------------------------------------
# Closed form: one slide
# ---------------------------------------------------------------------------------------------------------------------


def pushed(forces, given, **settings):
    """Positions and velocities of a slide under a force that each step has another value of."""
    simulation = Simulation(
        trees.scene(slide(), gravity=(0, 0, 0)), settings=SolverSettings(dt=H, **{"precision": "float64", **settings})
    )
    found = []
    for force in forces:
        if given == "joint_effort":
            simulation.control.joint_effort.fill_(float(force))
        else:
            wrench = np.zeros(simulation.control.link_external_force.shape)
            wrench.reshape(-1)[0] = force
            simulation.control.link_external_force.assign(wrench)
        found.append(motion_of(simulation, 1)[0])
    return np.array(found).T


def constant_in_each_step(forces):
    """The same by the law of constant acceleration."""
    a = np.asarray(forces) / MASS
    v = np.cumsum(H * a)
    return np.cumsum(H * (v - H * a) + H * H / 2 * a), v


@pytest.mark.parametrize("given", ["joint_effort", "link_external_force"])
@pytest.mark.parametrize("change", [-0.5, -0.3, 0.1, 0.3, 0.4, 0.45, 1.0])
def test_a_jump_gives_its_impulse(given, change):
    """Small enough to lie on a smooth curve, or not, a force that is another one from the 13th step on."""
    forces = 12 * [1.0] + 12 * [1.0 + change]
    q, v = pushed(forces, given)
    exact_q, exact_v = constant_in_each_step(forces)
    np.testing.assert_allclose(v, exact_v, rtol=1e-12)
    np.testing.assert_allclose(q, exact_q, rtol=1e-12)


@pytest.mark.parametrize(("precision", "most"), [("float64", 1e-13), ("float32", 2e-5)])
def test_other_forces_in_each_step(precision, most):
    """Random ones, and such as follow a sine."""
    for forces in (np.random.default_rng(0).normal(size=60), 1.0 + np.sin(0.2 * np.arange(60))):
        found = pushed(forces, "joint_effort", precision=precision)
        np.testing.assert_allclose(found, constant_in_each_step(forces), rtol=0, atol=most)


def test_a_base_whose_acceleration_jumps():
    """What slides on it keeps its velocity in the world, that of the base being the mean of the steps beside."""
    kinks = (0.25, 1.0), (0.5, 0.4), (0.75, -1.3), (1.0, 0.5)

    def place(time):
        return [sum(c * max(time - start, 0.0) ** 2 for start, c in kinks), 0, 0, 0, 0, 0]

    simulation = simulate(slide(base_motion=motion(place, rate=240)), gravity=(0, 0, 0))
    v = motion_of(simulation, 300)[:, 1]
    path = np.array([place(k * H)[0] for k in range(302)])
    np.testing.assert_allclose(v, -(path[2:] - path[:-2]) / (2 * H), rtol=0, atol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# An ODE solver: an arm of two links
# ---------------------------------------------------------------------------------------------------------------------


def held(tree, start, inputs, interval):
    """Positions and velocities after each interval, in which an effort and wrenches are held, by an ODE solver."""
    found = [start]
    for effort, wrench in inputs:

        def rates(_time, y, effort=effort, wrench=wrench):
            q, v = np.split(y, 2)
            return np.concatenate([v, rigid.forward_dynamics(rigid.motion_at(tree, q, v), effort, wrench)])

        found.append(solve_ivp(rates, (0.0, interval), found[-1], method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1])
    return np.array(found[1:])


@pytest.mark.parametrize("given", ["joint_effort", "link_external_force"])
def test_jumps_are_of_second_order(given):
    """An arm under other efforts or wrenches 60 times a second, in steps of half and a quarter of that and less."""
    tree, rng = trees.chain(2), np.random.default_rng(3)
    start = np.array([0.6, -0.9, 0.0, 0.0])
    efforts = np.array([1.5, -0.7]) + 0.2 * rng.normal(size=(30, 2))
    wrenches = 0.2 * rng.normal(size=(30, 2, 6))
    inputs = [(one, None) for one in efforts] if given == "joint_effort" else [(None, one) for one in wrenches]
    exact = held(tree, start, inputs, 1 / 60)
    errors = []
    for steps in (4, 8, 16):
        simulation = simulate(tree, dt=1 / 60 / steps)
        simulation.set_state(joint_position=[start[:2]])
        found = []
        for effort, wrench in inputs:
            if effort is None:
                simulation.control.link_external_force.assign(wrench[..., None])
            else:
                simulation.control.joint_effort.assign(effort[:, None])
            found.append(motion_of(simulation, steps)[-1])
        errors.append(np.abs(found - exact).max())
    assert errors[0] / errors[1] > 3.5 and errors[1] / errors[2] > 3.5
    assert errors[2] < 1e-4


def test_efforts_that_follow_a_sine():
    """Held in each step, they are followed as a smooth motion is."""
    tree, start = trees.chain(2), np.array([0.6, -0.9, 0.0, 0.0])
    errors = []
    for rate in (240, 480):
        times = (np.arange(rate // 2) + 0.5) / rate
        efforts = np.array([2.0 * np.sin(7.0 * times), np.cos(5.0 * times)]).T
        exact = held(tree, start, [(one, None) for one in efforts], 1 / rate)
        simulation = simulate(tree, dt=1 / rate)
        simulation.set_state(joint_position=[start[:2]])
        found = []
        for effort in efforts:
            simulation.control.joint_effort.assign(effort[:, None])
            found.append(motion_of(simulation, 1)[0])
        errors.append(np.abs(found - exact).max())
    assert errors[0] < 1e-3 and errors[0] / errors[1] > 3.5


# ---------------------------------------------------------------------------------------------------------------------
# Derivatives
# ---------------------------------------------------------------------------------------------------------------------


def test_what_a_linearized_step_has_of_inputs():
    """h / I and h^2 / 2 I of a pendulum, in steps at the start as in later ones."""
    tree = trees.chain(1, mass=MASS)
    simulation = simulate(tree)
    simulation.set_state(joint_position=[0.4])
    inertia = rigid.mass_matrix(rigid.motion_at(tree, np.zeros(1), np.zeros(1)))[0, 0]
    for _ in range(8):
        B = simulation.linearize(["joint_effort"], ()).B.numpy()[0, :, 0]
        np.testing.assert_allclose(B, [H * H / 2 / inertia, H / inertia], rtol=1e-3)
        simulation.step()


@pytest.mark.parametrize("given", ["joint_effort", "link_external_force"])
def test_gradients_by_inputs_of_each_step(given):
    """By central differences, of an arm whose inputs are others in each step."""
    rng = np.random.default_rng(1)
    simulation = simulate(trees.chain(2, floating=given == "link_external_force"))
    shape = getattr(simulation.control, given).shape[:-1]
    values = 1.0 + 0.2 * rng.normal(size=(10, *shape))
    weight = rng.normal(size=simulation.state.joint_velocity.shape[0])

    def loss(found):
        slopes = np.zeros_like(found.joint_velocity)
        slopes[-1] = weight
        return float((found.joint_velocity[-1] * weight).sum()), {"joint_velocity": slopes}

    _, gradients = simulation.gradient(loss, 10, [given], {given: values})
    way = rng.normal(size=values.shape)
    ends = [simulation.gradient(loss, 10, [], {given: values + side * way})[0] for side in (1e-5, -1e-5)]
    assert (gradients[given][:, 0] * way).sum() == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)
