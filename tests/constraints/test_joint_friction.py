"""Joint friction: exact stick, constant slide, dead stop."""

import numpy as np

from tests import trees
from warp_artic import Simulation, SolverSettings
from warp_artic.description.friction import Friction

H = 1.0 / 240.0


def slider(friction):
    tree = trees.with_dofs(trees.chain(1, "prismatic_x", mass=2.0), friction=friction)
    return Simulation(trees.scene(tree, gravity=(0, 0, 0)), settings=SolverSettings(dt=H))


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


def test_viscous_friction_decays_as_backward_euler():
    """v+ = v / (1 + h b / m) in each step."""
    simulation = slider(Friction(viscous=4.0))
    simulation.set_state(joint_velocity=[1.0])
    simulation.step(240)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[0, 0], (1 + H * 2.0) ** -240, rtol=1e-4)


def test_friction_holds_a_hanging_tree():
    """A floating-free arm whose friction exceeds its weight does not creep, joint by joint."""
    tree = trees.with_dofs(trees.chain(5), friction=Friction(static_effort=300.0, dynamic_effort=300.0))
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(dt=H, position_iterations=60))
    simulation.step(480)
    assert np.abs(simulation.state.joint_position.numpy()).max() < 1e-5
