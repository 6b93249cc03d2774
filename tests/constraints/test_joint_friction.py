"""Joint friction: exact stick, constant slide, dead stop."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests import trees
from warp_artic import Simulation, SolverSettings
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis, Dof, Joint

H = 1.0 / 240.0


def slider(friction, **settings):
    tree = trees.with_dofs(trees.chain(1, "prismatic_x", mass=2.0), friction=friction)
    return Simulation(trees.scene(tree, gravity=(0, 0, 0)), settings=SolverSettings(dt=H, **settings))


def test_a_joint_below_its_static_effort_does_not_move():
    """Ten seconds under 0.99 of the static effort leave position and velocity exactly zero."""
    simulation = slider(Friction(static_effort=5.0, dynamic_effort=3.0))
    simulation.control.joint_effort.fill_(4.95)
    simulation.step(2400)
    assert simulation.state.joint_position.numpy()[0, 0] == 0.0
    assert simulation.state.joint_velocity.numpy()[0, 0] == 0.0


def test_a_joint_above_its_static_effort_slides_against_the_dynamic_one():
    """Acceleration (F - dynamic) / m once it has broken away."""
    simulation = slider(Friction(static_effort=5.0, dynamic_effort=3.0))
    simulation.control.joint_effort.fill_(6.0)
    simulation.step(240)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[0, 0], (6.0 - 3.0) / 2.0, rtol=1e-4)


def test_a_sliding_joint_stops_dead():
    """It loses dynamic / m each second, then rests without jitter."""
    simulation = slider(Friction(static_effort=5.0, dynamic_effort=3.0))
    simulation.set_state(joint_velocity=[1.0])
    simulation.step(80)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[0, 0], 1.0 - 1.5 / 3.0, rtol=1e-4)
    simulation.step(240)
    resting = simulation.state.joint_position.numpy().copy()
    assert simulation.state.joint_velocity.numpy()[0, 0] == 0.0
    simulation.step(240)
    np.testing.assert_array_equal(simulation.state.joint_position.numpy(), resting)


def test_viscous_friction_decays_as_backward_euler_without_a_middle():
    """v+ = v / (1 + h b / m) in each step."""
    simulation = slider(Friction(viscous=4.0), integrator="semi_implicit")
    simulation.set_state(joint_velocity=[1.0])
    simulation.step(240)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[0, 0], (1 + H * 2.0) ** -240, rtol=1e-4)


def test_viscous_friction_decays_as_exp_to_third_order():
    """Each step by what is left of x = h b / m, the first one too; e^-2 after one second of b / m = 2 to 1e-7."""
    simulation = slider(Friction(viscous=4.0), precision="float64")
    simulation.set_state(joint_velocity=[1.0])
    v = simulation.record(240).joint_velocity[:, 0, 0]
    x = H * 2.0
    np.testing.assert_allclose(v[1:] / v[:-1], 1.0 / (1.0 + x + x**2 / 2.0 + x**3 / 6.0), rtol=1e-12)
    np.testing.assert_allclose(v[-1], np.exp(-2.0), rtol=1e-7)


def test_friction_holds_a_hanging_tree():
    """A floating-free arm whose friction exceeds its weight does not creep, joint by joint."""
    tree = trees.with_dofs(trees.chain(5), friction=Friction(static_effort=300.0, dynamic_effort=300.0))
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(dt=H, position_iterations=60))
    simulation.step(480)
    assert np.abs(simulation.state.joint_position.numpy()).max() < 1e-5


MU = 0.2


def test_a_pressed_slider_decelerates_by_mu_n_over_m():
    """The load of a slide is the force that presses it, weight or other, and what acts along it does not count."""
    for gravity, press in (((0.0, 0.0, -9.81), 0.0), ((0.0, 0.0, 0.0), 30.0), ((0.0, 9.81, 0.0), 0.0)):
        tree = trees.with_dofs(trees.chain(1, "prismatic_x", mass=2.0), friction=Friction(coefficient=MU))
        on_the_slide = trees.replace(tree.links[0], center_of_mass=(0.0, 0.0, 0.0))
        scene = trees.scene(trees.replace(tree, links=(on_the_slide,)), gravity=gravity)
        simulation = Simulation(scene, settings=SolverSettings(dt=H))
        wrench = np.zeros(simulation.control.link_external_force.shape)
        wrench[0, 2] = -press
        wrench[0, 0] = 1.0
        simulation.control.link_external_force.assign(wrench)
        simulation.set_state(joint_velocity=[3.0])
        simulation.step(120)
        normal = press + 2.0 * np.linalg.norm(gravity)
        expected = 3.0 + 0.5 * (1.0 - MU * normal) / 2.0
        np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), [[expected]], rtol=1e-4)


def test_a_pressed_wheel_loses_mu_f_over_i():
    """The load of a hinge is the force across it and the torque that would tilt it, not that about its axis."""
    link = trees.replace(trees.chain(1).links[0], center_of_mass=(0.0, 0.0, 0.0), inertia=(0.3, 0, 0, 0.5, 0, 0.3))
    tree = trees.replace(trees.chain(1), links=(link,))
    simulation = Simulation(
        trees.scene(trees.with_dofs(tree, friction=Friction(coefficient=MU)), gravity=(0, 0, 0)),
        settings=SolverSettings(dt=H),
    )
    wrench = np.zeros(simulation.control.link_external_force.shape)
    wrench[0, :, 0] = (3.0, 0.0, 4.0, 1.5, 0.25, 2.0)
    simulation.control.link_external_force.assign(wrench)
    simulation.set_state(joint_velocity=[6.0])
    simulation.step(120)
    expected = 6.0 + 0.5 * (0.25 - MU * (5.0 + 2.5)) / 0.5
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), [[expected]], rtol=1e-4)


@pytest.mark.parametrize("is_reversed", [False, True], ids=["", "reversed"])
@pytest.mark.parametrize("kind", [*trees.FREER_KINDS, "universal_xy", "universal_xz", "zero_twist", "spherical"])
def test_the_load_of_a_joint_is_what_its_locked_directions_take(kind, is_reversed):
    """Whatever its free axes: neither what pushes along a slide nor what turns a rotation presses any of its axes."""
    axes = {**trees.JOINT_KINDS, **trees.FREER_KINDS}[kind]
    link = trees.replace(trees.chain(1).links[0], center_of_mass=(0, 0, 0), mass=2.0, inertia=(0.4, 0, 0, 0.4, 0, 0.4))
    dofs = tuple(Dof(name=f"/j:{axis.value}", axis=axis, friction=Friction(coefficient=0.1)) for axis in axes)
    joint = Joint(path="/j", parent=WORLD, child=0, dofs=dofs, reversed=is_reversed)
    tree = trees.replace(trees.chain(1), links=(link,), joints=(joint,))
    simulation = Simulation(trees.scene(tree, gravity=(0, 0, 0)), settings=SolverSettings(dt=H, precision="float64"))
    wrench = np.zeros(simulation.control.link_external_force.shape)
    wrench[0, :, 0] = (3.0, 2.0, 4.0, 1.5, 2.5, 2.0)
    simulation.control.link_external_force.assign(wrench)
    # Drives of the world push and turn the other way, so that the joint passes on something along its free axes.
    sign = -1.0 if is_reversed else 1.0
    places = {axis: 3 * (not axis.is_linear) + axis.index for axis in Axis}
    effort = np.array([-2.0 * wrench[0, places[axis], 0] for axis in axes])
    simulation.control.joint_effort.assign(sign * effort[:, None])
    simulation.step(2)
    locked = [places[axis] for axis in Axis if axis not in axes]
    force, torque = ([wrench[0, place, 0] for place in locked if place // 3 == part] for part in (0, 1))
    load = np.linalg.norm(force) + np.linalg.norm(torque)
    given = np.array([wrench[0, places[axis], 0] for axis in axes]) + effort
    mass = np.array([2.0 if axis.is_linear else 0.4 for axis in axes])
    expected = 2.0 * H * np.sign(given) * np.maximum(np.abs(given) - 0.1 * load, 0.0) / mass
    np.testing.assert_allclose(sign * simulation.state.joint_velocity.numpy()[:, 0], expected, rtol=2e-3, atol=1e-9)


def test_a_hinge_sticks_under_the_weight_that_it_carries():
    """Two level rods of 9.81 N stay where they are while coefficient * weight exceeds the torque, from the start."""
    for margin, sticks in ((1.01, True), (0.99, False)):
        frictions = [Friction(coefficient=margin * 0.5), Friction(coefficient=margin * 0.25)]
        tree = trees.with_dofs(trees.chain(2), friction=frictions)
        simulation = Simulation(trees.scene(tree), settings=SolverSettings(dt=H))
        simulation.set_state(joint_position=[np.pi / 2, 0.0])
        q = simulation.record(240).joint_position[:, 0]
        moved = np.abs(q - q[0]).max(axis=0)
        assert (moved < 1e-6).all() if sticks else (moved > 0.01).all()


def test_load_friction_of_a_swinging_rod_follows_its_motion():
    """The hinge feels coefficient * |F| with F from the motion, as an integration of the exact law; first order."""
    coefficient, mass, half, inertia, g = 0.02, 1.0, 0.25, 0.5**2 / 3.0, 9.81

    def rates(time, state):
        q, v = state
        a = 0.0
        for _ in range(40):
            force = mass * np.hypot(half * v * v + g * np.cos(q), half * a + g * np.sin(q))
            a = -(mass * g * half * np.sin(q) + coefficient * np.sign(v) * force) / inertia
        return [v, a]

    errors = []
    for dt in (H, H / 4):
        tree = trees.with_dofs(trees.chain(1), friction=Friction(coefficient=coefficient))
        simulation = Simulation(trees.scene(tree), settings=SolverSettings(dt=dt, precision="float64"))
        simulation.set_state(joint_position=[-1.0], joint_velocity=[6.0])
        recording = simulation.record(round(0.3 / dt))
        truth = solve_ivp(rates, (0.0, 0.3), [-1.0, 6.0], rtol=1e-10, atol=1e-12).y[:, -1]
        errors.append(abs(recording.joint_position[-1, 0, 0] - truth[0]))
    assert errors[0] <= 5e-4 and errors[1] <= errors[0] / 3


def test_load_friction_is_bitwise_alike_in_every_batch():
    """The same alone in its lane block, among others and in another order."""
    tree = trees.with_dofs(
        trees.random_articulation(4, 8, floating=True), friction=Friction(static_effort=0.02, coefficient=0.03)
    )
    velocity = np.random.default_rng(2).normal(size=(20, len(tree.dofs)))

    def run(order):
        settings = SolverSettings(dt=H, variant="lanes")
        simulation = Simulation(trees.scene(tree), environments=len(order), settings=settings)
        simulation.set_state(joint_velocity=velocity[order])
        simulation.step(60)
        return simulation.state.joint_position.numpy().T

    whole = run(np.arange(20))
    order = np.random.default_rng(3).permutation(20)[:9]
    np.testing.assert_array_equal(run(order), whole[order])
    np.testing.assert_array_equal(run(np.array([4])), whole[[4]])
