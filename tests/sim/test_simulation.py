"""The public face of a simulation: names, arrays, state, errors."""

import numpy as np
import pytest
import warp as wp

from tests import trees
from tests.oracles import rigid
from warp_artic import DescriptionError, SettingsError, Simulation, SolveError, SolverSettings
from warp_artic.description.drive import Drive


def two_trees():
    """A scene with two equal chains, a free body and another chain, so that there are three groups."""
    first = trees.chain(2)
    second = trees.replace(
        first,
        path="/World/second",
        links=tuple(trees.replace(link, path=link.path.replace("chain", "second")) for link in first.links),
        joints=tuple(
            trees.replace(
                joint,
                path=joint.path.replace("chain", "second"),
                dofs=tuple(trees.replace(dof, name=dof.name.replace("chain", "second")) for dof in joint.dofs),
            )
            for joint in first.joints
        ),
    )
    return trees.scene(first, trees.free_body(), second, gravity=(0, 0, -9.81))


def test_arrays_are_views_on_the_device():
    """What is written to a control array acts in the next step, without copying back."""
    tree = trees.with_dofs(trees.chain(2), drive=Drive(stiffness=1e3, damping=1e2))
    simulation = Simulation(trees.scene(tree, gravity=(0, 0, 0)), environments=3)
    targets = simulation.control.drive_position_target
    assert isinstance(targets, wp.array) and targets.shape == (2, 3)
    targets.assign(np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.4]]))
    simulation.step(2400)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), targets.numpy(), atol=1e-4)
    assert simulation.state.link_pose.shape == (2, 7, 3)


def test_a_scene_of_several_articulations_gathers_and_scatters():
    """Joint arrays over three groups are in the order of joint_names; each articulation has its own views."""
    simulation = Simulation(two_trees(), environments=2)
    assert len(simulation.joint_names) == 4
    simulation.set_state(joint_position=[[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]])
    found = simulation.state.joint_position.numpy()
    np.testing.assert_allclose(found, np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]]).T, rtol=1e-6)
    simulation.control.joint_effort.assign(np.arange(8).reshape(4, 2))
    np.testing.assert_array_equal(simulation.control.joint_effort.numpy(), np.arange(8).reshape(4, 2))
    third = simulation.articulations[2]
    assert third.path == "/World/second"
    np.testing.assert_allclose(third.state.joint_position.numpy(), [[0.3, 0.7], [0.4, 0.8]], rtol=1e-6)
    assert simulation.state.link_pose.numpy().shape == (5, 7, 2)


def test_equal_trees_move_alike_in_a_group_and_alone():
    """An articulation in a scene of several moves as it does alone."""
    scene = two_trees()
    together = Simulation(scene, settings=SolverSettings(variant="lanes"))
    alone = Simulation(trees.scene(scene.articulations[2]), settings=SolverSettings(variant="lanes"))
    together.set_state(joint_position=[0.0, 0.0, 0.5, -0.3], joint_velocity=[0, 0, 1, 0])
    alone.set_state(joint_position=[0.5, -0.3], joint_velocity=[1, 0])
    together.step(200)
    alone.step(200)
    np.testing.assert_array_equal(together.state.joint_position.numpy()[2:], alone.state.joint_position.numpy())


def test_the_root_of_a_floating_tree_is_set_and_falls():
    """set_state takes world poses; free fall follows."""
    simulation = Simulation(trees.scene(trees.free_body()), environments=2, settings=SolverSettings(dt=1e-3))
    simulation.set_state(root_pose=[1, 2, 3, 0, 0, 0, 2], root_velocity=[[0.5, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
    recording = simulation.record(1000, every=100)
    assert recording.link_pose.shape == (11, 2, 1, 7)
    np.testing.assert_allclose(recording.link_pose[-1, 0, 0], [1.5, 2, 3 - 4.905, 0, 0, 0, 1], atol=6e-3)
    np.testing.assert_allclose(recording.energy[:, 1].sum(axis=1), recording.energy[0, 1].sum(), rtol=2e-3)


def test_reset_goes_back_to_the_authored_start():
    """All environments, or only the chosen ones."""
    simulation = Simulation(trees.scene(trees.chain(2)), environments=3)
    simulation.set_state(joint_position=[0.5, 0.5])
    simulation.step(10)
    simulation.reset(environments=[1])
    found = simulation.state.joint_position.numpy()
    assert (found[:, 1] == 0).all() and (found[:, [0, 2]] != 0).all()
    simulation.reset()
    assert (simulation.state.joint_position.numpy() == 0).all() and simulation.time == 0.0


@pytest.mark.parametrize("environments", [1, 20])
def test_parameters_can_be_changed_between_steps_for_each_environment(environments):
    """Force is proportional to the gain of the environment, on scalars and on lanes, also after the first step."""
    tree = trees.with_dofs(trees.chain(1, "prismatic_x", mass=1.0), drive=Drive(stiffness=1.0, position_target=1.0))
    simulation = Simulation(
        trees.scene(tree, gravity=(0, 0, 0)), environments=environments, settings=SolverSettings(dt=1e-4)
    )
    simulation.step()
    gains = np.arange(1.0, environments + 1.0)[None]
    simulation.parameters.drive_stiffness.assign(gains)
    simulation.reset()
    simulation.step()
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), 1e-4 * gains, rtol=1e-6)


def test_external_forces_act_at_the_centre_of_mass():
    """A wrench on a free body gives force / mass and moment / inertia."""
    body = trees.free_body(mass=2.0, inertia=(0.1, 0.2, 0.25))
    simulation = Simulation(trees.scene(body, gravity=(0, 0, 0)), settings=SolverSettings(precision="float64"))
    simulation.control.link_external_force.assign(np.array([2.0, 0, 0, 0.1, 0, 0]).reshape(1, 6, 1))
    np.testing.assert_allclose(simulation.joint_acceleration().numpy()[0], [1, 0, 0, 1, 0, 0], atol=1e-12)


def test_link_damping_decays_the_velocities_of_a_free_body():
    """v and w of a symmetric body decay as exp(-d t), to first order, and stay stable for any d."""
    body = trees.free_body(inertia=(0.2, 0.2, 0.2))
    for linear, angular in ((0.4, 0.8), (1e4, 1e5)):
        link = trees.replace(body.links[0], linear_damping=linear, angular_damping=angular)
        simulation = Simulation(
            trees.scene(trees.replace(body, links=(link,)), gravity=(0, 0, 0)), settings=SolverSettings(dt=1e-3)
        )
        simulation.set_state(root_velocity=[1.0, 0, 0, 0, 2.0, 0])
        simulation.step(1000)
        velocity = simulation.state.root_velocity.numpy()[0, :, 0]
        np.testing.assert_allclose(velocity[[0, 4]], [np.exp(-linear), 2 * np.exp(-angular)], rtol=1e-3, atol=1e-6)


def test_errors_name_what_is_wrong():
    """Bad arguments give one sentence of our own."""
    scene = trees.scene(trees.chain(2))
    with pytest.raises(SettingsError, match="environments"):
        Simulation(scene, environments=0)
    with pytest.raises(SettingsError, match="device: 'tpu' is not one of"):
        Simulation(scene, device="tpu")
    for bad in ({"dt": 0.0}, {"dt": -1.0}, {"dt": float("nan")}, {"solver": "magic"}, {"position_iterations": 0}):
        with pytest.raises(SettingsError, match=next(iter(bad))):
            SolverSettings(**bad)
    simulation = Simulation(scene, environments=2)
    with pytest.raises(SettingsError, match="joint_position"):
        simulation.set_state(joint_position=[1.0, 2.0, 3.0])
    with pytest.raises(SettingsError, match="not a finite number"):
        simulation.set_state(joint_velocity=[np.nan, 0.0])
    with pytest.raises(SettingsError, match="no floating root"):
        simulation.set_state(root_pose=[0, 0, 0, 0, 0, 0, 1])
    with pytest.raises(SettingsError, match="count"):
        simulation.step(-1)
    with pytest.raises(SettingsError, match="0 ... 1"):
        simulation.reset(environments=[2])
    with pytest.raises(AttributeError, match="joint_position"):
        simulation.state.joint_positions  # noqa: B018
    with pytest.raises(SolveError, match="3 articulations"):
        Simulation(two_trees()).joint_acceleration()
    heavy = trees.chain(1)
    heavy = trees.replace(heavy, links=(trees.replace(heavy.links[0], mass=-1.0),))
    with pytest.raises(DescriptionError, match="/World/chain/link_00"):
        Simulation(trees.scene(heavy))


def test_a_tree_of_fixed_joints_stands_still():
    """No dof at all is a scene too."""
    simulation = Simulation(trees.scene(trees.chain(3, "fixed")), environments=2)
    recording = simulation.record(10)
    assert recording.joint_position.shape == (11, 2, 0)
    np.testing.assert_array_equal(recording.link_pose[0], recording.link_pose[-1])
    assert rigid.GRAVITY[2] < 0
