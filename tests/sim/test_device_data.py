"""Arrays of a simulation in Warp, NumPy, torch and JAX: the same memory, read and written in place."""

import numpy as np
import pytest
import warp as wp

from tests import trees
from tests.sim.test_simulation import two_trees
from warp_artic import SettingsError, Simulation
from warp_artic.description.drive import Drive

ENVIRONMENTS = pytest.mark.parametrize("environments", [3, 20], ids=["without gaps", "with gaps"])
"""Scalars, whose rows follow each other in memory, and lanes, whose rows are padded."""


def driven(environments):
    """Two hinges with drives."""
    tree = trees.with_dofs(trees.chain(2), drive=Drive(stiffness=100.0, damping=10.0))
    return Simulation(trees.scene(tree), environments=environments)


def some_arrays(simulation):
    """One of each kind."""
    return (
        simulation.state.joint_velocity,
        simulation.state.link_velocity,
        simulation.control.drive_position_target,
        simulation.parameters.drive_stiffness,
    )


@ENVIRONMENTS
def test_chosen_rows_and_environments_are_read_and_written_in_place(environments):
    """By indices on the device."""
    few = [0, environments - 1]
    indices = wp.array(few, dtype=wp.int32)
    for array in some_arrays(driven(environments)):
        expected = array.numpy().copy()
        part = array[:, indices] if array.ndim == 2 else array[:, :, indices]
        values = np.random.default_rng(1).normal(size=part.shape).astype(np.float32)
        wp.copy(part, wp.array(values))
        expected[..., few] = values
        np.testing.assert_array_equal(array.numpy(), expected)
        np.testing.assert_array_equal(part.numpy(), values)
        array[wp.array([1], dtype=wp.int32)].fill_(7.0)
        expected[1] = 7.0
        np.testing.assert_array_equal(array.numpy(), expected)


@ENVIRONMENTS
def test_numpy_has_the_memory(environments):
    """By `numpy()`, to write too, and by DLPack, to read."""
    simulation = driven(environments)
    if simulation.device != "cpu":
        pytest.skip("NumPy has no memory of a GPU")
    for array in some_arrays(simulation):
        array.numpy()[...] = 3.0
        shared = np.from_dlpack(array)
        assert shared.shape == array.shape and shared.ctypes.data == array.ptr and (shared == 3.0).all()


@ENVIRONMENTS
def test_torch_has_the_memory(environments):
    """What is written to chosen environments of a tensor acts in the next step."""
    torch = pytest.importorskip("torch")
    simulation, plain = driven(environments), driven(environments)
    for array in some_arrays(simulation):
        tensor = torch.from_dlpack(array)
        assert tensor.shape == array.shape and tensor.data_ptr() == array.ptr
    targets = torch.from_dlpack(simulation.control.drive_position_target)
    targets[:, torch.tensor([0, 2])] = 0.5
    simulation.step(10)
    plain.step(10)
    moved = simulation.state.joint_position.numpy() != plain.state.joint_position.numpy()
    assert moved[:, [0, 2]].all() and not moved[:, 1].any() and not moved[:, 3:].any()


@ENVIRONMENTS
def test_jax_reads_and_gives_arrays(environments):
    """JAX shares arrays without gaps, as those of a snapshot always are; what it gives is copied on the device."""
    pytest.importorskip("jax")
    from jax import numpy as jnp

    simulation = driven(environments)
    simulation.set_state(joint_velocity=np.random.default_rng(2).normal(size=(environments, 2)))
    snapshot = simulation.snapshot(parts=["joint_velocity", "link_velocity"])
    velocity = jnp.from_dlpack(snapshot.joint_velocity)
    np.testing.assert_array_equal(velocity, simulation.state.joint_velocity.numpy())
    assert jnp.from_dlpack(snapshot.link_velocity).shape == (2, 6, environments)
    if environments == 3:
        np.testing.assert_array_equal(jnp.from_dlpack(simulation.state.joint_velocity), velocity)
    wp.copy(simulation.control.joint_effort, wp.from_dlpack(-2.0 * velocity))
    np.testing.assert_array_equal(simulation.control.joint_effort.numpy(), -2.0 * np.asarray(velocity))


def test_outputs_follow_a_state_that_is_written_in_place():
    """At any time after the view was given out."""
    simulation = driven(3)
    positions = simulation.state.joint_position
    before = simulation.state.link_pose.numpy().copy()
    positions.fill_(0.3)
    written = simulation.state.link_pose.numpy().copy()
    simulation.set_state(joint_position=[0.3, 0.3])
    np.testing.assert_array_equal(written, simulation.state.link_pose.numpy())
    assert (written != before).any()


def test_arrays_over_several_articulations_are_gathered_and_scattered_on_the_device():
    """In the order of the scene; another shape, type or device is refused."""
    simulation = Simulation(two_trees(), environments=2)
    efforts = simulation.control.joint_effort
    values = wp.array(np.arange(8.0).reshape(4, 2), dtype=wp.float32)
    efforts.assign(values)
    np.testing.assert_array_equal(efforts.array().numpy(), values.numpy())
    np.testing.assert_array_equal(simulation.articulations[2].control.joint_effort.numpy(), [[4, 5], [6, 7]])
    masses = simulation.parameters.link_mass
    masses.assign([[1.0], [2.0], [3.0], [4.0], [5.0]])
    np.testing.assert_array_equal(masses.array().numpy()[:, 1], [1, 2, 3, 4, 5])
    with pytest.raises(SettingsError, match=r"joint_effort: .*float64 of shape \(4, 2\) .* not one of float32"):
        efforts.assign(wp.zeros((4, 2), dtype=wp.float64))
