"""Steps that are captured once and launched again, beside steps that are not."""

import numpy as np
import pytest
import warp as wp

from tests import trees
from tests.sim.test_simulation import two_trees
from warp_artic import IncomingForces, SettingsError, Simulation, SolveError
from warp_artic.description.drive import Drive
from warp_artic.description.track import Track


def driven(environments=3, **drive):
    """Two hinges with drives."""
    tree = trees.with_dofs(trees.chain(2), drive=Drive(stiffness=100.0, damping=10.0, **drive))
    return Simulation(trees.scene(tree), environments=environments)


def same(one, other):
    """Both stand where they are, bitwise."""
    assert one.steps_done == other.steps_done
    np.testing.assert_array_equal(one.state.joint_position.numpy(), other.state.joint_position.numpy())
    np.testing.assert_array_equal(one.state.link_pose.numpy(), other.state.link_pose.numpy())


@pytest.mark.parametrize("environments", [3, 20])
def test_launches_see_what_is_written_between_them(environments):
    """Targets, state, gains, masses and inertias, bitwise as in steps."""
    plain, captured = driven(environments), driven(environments)
    graph = captured.capture(4)
    rng = np.random.default_rng(3)

    def advance():
        plain.step(4)
        graph.launch()
        same(plain, captured)

    advance()
    advance()
    before = plain.state.joint_position.numpy().copy()
    targets, gains = rng.normal(size=(2, environments)), rng.uniform(50.0, 200.0, (2, environments))
    for simulation in (plain, captured):
        simulation.control.drive_position_target.assign(targets.astype(np.float32))
    advance()
    for simulation in (plain, captured):
        simulation.parameters.drive_stiffness.assign(gains.astype(np.float32))
    advance()
    for simulation in (plain, captured):
        simulation.parameters.drive_stiffness.numpy()[:, 1] *= 2.0
        simulation.parameters.link_mass.numpy()[1] += 0.5
    advance()
    for simulation in (plain, captured):
        simulation.set_mass_properties(center_of_mass=np.full((2, 3), 0.1), environments=[2])
        simulation.set_state(joint_velocity=[1.0, -1.0], environments=[0])
    advance()
    after = plain.state.joint_position.numpy()
    assert len({tuple(after[:, k]) for k in range(3)}) == 3 and (after != before).all()


def test_forces_of_the_last_step():
    """As `step` reports them; steps without them leave none."""
    plain, captured = driven(), driven()
    graph, without = captured.capture(3, forces=True), captured.capture(2)
    for _ in range(2):
        plain.step(3, forces=True)
        graph.launch()
        np.testing.assert_array_equal(plain.state.joint_drive_force.numpy(), captured.state.joint_drive_force.numpy())
    plain.step(2)
    without.launch()
    same(plain, captured)
    with pytest.raises(SolveError, match="joint_drive_force"):
        _ = captured.state.joint_drive_force


def test_a_graph_reports_forces_as_it_was_told():
    """Also after steps that have reported them in another way."""
    in_world = IncomingForces(axes="world")
    plain, captured = driven(), driven()
    for simulation in (plain, captured):
        simulation.set_state(joint_position=[0.5, 0.3])
    graph = captured.capture(1, forces=in_world)
    for other in (True, False):
        for simulation in (plain, captured):
            simulation.step(forces=other)
        plain.step(forces=in_world)
        graph.launch()
        found = captured.state.link_incoming_joint_force.numpy()
        np.testing.assert_array_equal(found, plain.state.link_incoming_joint_force.numpy())


def test_several_articulations():
    """All groups are in one graph."""
    plain, captured = Simulation(two_trees(), environments=2), Simulation(two_trees(), environments=2)
    graph = captured.capture(5)
    for _ in range(2):
        plain.step(5)
        graph.launch()
    for one, other in zip(plain.articulations, captured.articulations):
        np.testing.assert_array_equal(one.state.joint_position.numpy(), other.state.joint_position.numpy())


def test_steps_in_a_capture_of_ones_own():
    """Kernels of the user beside them; a parameter that is asked for too late is refused, not ignored."""
    plain, captured = driven(), driven()
    gains = captured.parameters.drive_stiffness
    pose = captured.state.link_pose
    with wp.ScopedCapture(device=captured.device) as capture:
        captured.step(2)
    for factor in (1.0, 3.0):
        plain.parameters.drive_stiffness.assign(np.full((2, 3), 100.0 * factor, np.float32))
        gains.assign(np.full((2, 3), 100.0 * factor, np.float32))
        plain.step(2)
        wp.capture_launch(capture.graph)
        captured.report()
        np.testing.assert_array_equal(pose.numpy(), plain.state.link_pose.numpy())
    with pytest.raises(SolveError, match="link_mass: a step is captured"):
        _ = captured.parameters.link_mass
    with pytest.raises(SolveError, match="inertia: a step is captured"):
        captured.set_mass_properties(inertia=np.tile([1.0, 0.0, 0.0, 1.0, 0.0, 1.0], (2, 1)))


def test_what_cannot_be_captured():
    """Targets that follow values over time, and counts that are none."""
    track = Track(times=(0.0, 1.0), values=(0.0, 1.0))
    simulation = driven(position_track=track)
    tracks = dict(simulation.target_tracks)
    with pytest.raises(SettingsError, match="2 drive targets follow values over time"):
        simulation.capture()
    with pytest.raises(SettingsError, match="2 drive targets"), wp.ScopedCapture(device=simulation.device):
        simulation.step()
    with pytest.raises(SettingsError, match="record: reads states"), wp.ScopedCapture(device=simulation.device):
        simulation.record(1)
    simulation.target_tracks.clear()
    graph = simulation.capture()
    graph.launch()
    assert simulation.steps_done == 1
    simulation.target_tracks.update(tracks)
    with pytest.raises(SettingsError, match="2 drive targets follow values over time"):
        graph.launch()
    with pytest.raises(SettingsError, match="count: 0 is not an integer from 1 to 2147483647"):
        simulation.capture(0)
