"""Accelerations of a step: of dofs from the change of velocities, of links as the law has them."""

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import busy_tree
from tests.oracles import rigid
from tests.step_taken import StepTaken, disturb
from warp_artic import SettingsError, Simulation, SolveError, SolverSettings
from warp_artic.description.drive import Drive


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_they_are_those_of_the_velocities(solver, integrator):
    """In a tree with every joint type and family: (v+ - v) / h, and J a + dJ/dt v where the step places the links."""
    rng = np.random.default_rng(4)
    # In substeps of a midpoint step the axes of ball joints at stops turn each time.
    tree = busy_tree(rng, balls=(solver, integrator) != ("tgs", "midpoint"))
    settings = SolverSettings(dt=1 / 240, solver=solver, integrator=integrator, precision="float64", variant="scalar")
    simulation = Simulation(trees.scene(tree, gravity=rigid.GRAVITY), settings=settings)
    disturb(rng, simulation)
    for k in range(4):
        taken = StepTaken(simulation)
        if solver == "tgs" and k == 0 and integrator == "midpoint":
            continue
        wanted = taken.acceleration
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(taken.recording.joint_acceleration[-1, 0], wanted[6:], rtol=0, atol=1e-9 * scale)
        found = simulation.state.root_acceleration.numpy()[0, :, 0]
        np.testing.assert_allclose(found, wanted[:6], rtol=0, atol=1e-9 * scale)
        of_links = taken.placed.J @ wanted + taken.placed.A_bias
        found = taken.recording.link_acceleration[-1, 0]
        np.testing.assert_allclose(found, of_links, rtol=0, atol=1e-9 * np.abs(of_links).max())
    assert not taken.recording.joint_acceleration[0].any() and not taken.recording.link_acceleration[0].any()


def test_a_free_body_falls_with_gravity_in_every_substep():
    """Of the centre of mass, also where it is not the origin of the link; a body that turns has no more."""
    body = trees.free_body(inertia=(0.2, 0.2, 0.2))
    body = trees.replace(body, links=(trees.replace(body.links[0], center_of_mass=(0.3, 0.0, 0.1)),))
    simulation = Simulation(
        trees.scene(body, gravity=(0.0, 0.0, -9.81)),
        environments=3,
        settings=SolverSettings(solver="tgs", precision="float64", variant="scalar"),
    )
    simulation.set_state(root_velocity=[1.0, 2.0, 3.0, 0.0, 5.0, 0.0])
    simulation.step(7, forces=True)
    for name in ("root_acceleration", "link_acceleration"):
        found = getattr(simulation.state, name).numpy()
        np.testing.assert_allclose(found, np.broadcast_to([[[0], [0], [-9.81], [0], [0], [0]]], (1, 6, 3)), atol=1e-10)


def test_what_a_step_has_not_reported_is_refused():
    """After a plain step, and after a state is set, there are none; the message says how to have them."""
    tree = trees.with_dofs(trees.chain(2), drive=Drive(stiffness=10.0, position_target=1.0))
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64", variant="scalar"))
    with pytest.raises(SolveError, match=r"link_acceleration: .*step\(forces=True\)"):
        simulation.state.link_acceleration  # noqa: B018
    simulation.step(forces=True)
    before = simulation.state.joint_velocity.numpy()[:, 0].copy()
    simulation.step(forces=True)
    rate = (simulation.state.joint_velocity.numpy()[:, 0] - before) / simulation.settings.dt
    np.testing.assert_allclose(simulation.state.joint_acceleration.numpy()[:, 0], rate, rtol=1e-10)
    assert simulation.state.joint_drive_force.numpy().all()
    simulation.step()
    with pytest.raises(SolveError, match="joint_acceleration"):
        simulation.state.joint_acceleration  # noqa: B018
    simulation.step(forces=True)
    simulation.set_state(joint_position=[0.0, 0.0])
    with pytest.raises(SolveError, match="joint_acceleration"):
        simulation.articulations[0].state.joint_acceleration  # noqa: B018
    with pytest.raises(SettingsError, match="rk4"):
        Simulation(trees.scene(trees.chain(1)), settings=SolverSettings(integrator="rk4")).step(forces=True)


def test_the_correction_of_smooth_motion_is_not_in_them():
    """In a chain that swings freely: they are the changes of velocities but for that, which is of second order."""
    changes = []
    for dt in (1 / 240, 1 / 480):
        simulation = Simulation(trees.scene(trees.chain(2)), settings=SolverSettings(dt=dt, precision="float64"))
        simulation.set_state(joint_position=[0.4, -0.8], joint_velocity=[1.0, 2.0])
        simulation.step(round(0.1 / dt))
        before = simulation.state.joint_velocity.numpy()[:, 0].copy()
        simulation.step(forces=True)
        rate = (simulation.state.joint_velocity.numpy()[:, 0] - before) / dt
        found = simulation.state.joint_acceleration.numpy()[:, 0]
        changes.append(np.abs(found - rate).max() / np.abs(rate).max())
    assert 0.0 < changes[1] < 0.3 * changes[0] and changes[0] < 1e-2
