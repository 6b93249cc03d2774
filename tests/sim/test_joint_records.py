"""Records of joint states that the steps keep themselves."""

import numpy as np
import pytest

from tests import trees
from tests.sim.test_simulation import two_trees
from warp_artic import Simulation, SolverSettings, rollout
from warp_artic.description.drive import Drive
from warp_artic.sim.record import joint_records

JOINTS = ["joint_position", "joint_velocity"]


def simulation(scene, environments=1, **options):
    """Other velocities in each environment."""
    found = Simulation(scene, environments=environments, **options)
    rng = np.random.default_rng(2)
    found.set_state(joint_velocity=rng.normal(size=(environments, len(found.joint_names))))
    return found


def by_steps(one, steps, every):
    """What calls of `step` leave in the state."""
    records = [(one.time, one.state.joint_position.numpy().T.copy(), one.state.joint_velocity.numpy().T.copy())]
    for _ in range(steps // every):
        one.step(every)
        records.append((one.time, one.state.joint_position.numpy().T.copy(), one.state.joint_velocity.numpy().T.copy()))
    one.step(steps % every)
    return [np.array(values) for values in zip(*records)]


@pytest.mark.parametrize(
    ("environments", "options"),
    [
        (1, {}),
        (19, {"threads": 3}),
        (5, {"settings": SolverSettings(precision="float64", variant="scalar")}),
        (3, {"settings": SolverSettings(integrator="rk4")}),
    ],
)
@pytest.mark.parametrize("every", [1, 3])
def test_as_steps_leave_them(monkeypatch, environments, options, every):
    """Bitwise, and the run goes on as after steps; with launches of one record, and of several."""
    tree = trees.chain(3)
    if "settings" not in options:
        tree = trees.with_dofs(tree, drive=Drive(stiffness=20.0, damping=1.0))
    one, other = (simulation(trees.scene(tree), environments, **options) for _ in range(2))
    time, position, velocity = by_steps(one, 20, every)
    for most in (1, 7, 1000):
        monkeypatch.setattr(joint_records, "MOST_STEPS", most)
        again = simulation(trees.scene(tree), environments, **options)
        found = again.record(20, every=every, quantities=JOINTS)
        np.testing.assert_array_equal(found.time, time)
        np.testing.assert_array_equal(found.joint_position, position)
        np.testing.assert_array_equal(found.joint_velocity, velocity)
    only = other.record(20, every=every, quantities=["joint_velocity"])
    np.testing.assert_array_equal(only.joint_velocity, velocity)
    assert only.joint_position.shape == (20 // every + 1, environments, 0)
    for name in ("joint_position", "link_pose"):
        np.testing.assert_array_equal(getattr(other.state, name).numpy(), getattr(one.state, name).numpy())
    assert other.steps_done == one.steps_done == 20


@pytest.mark.parametrize("environments", [1, 6])
def test_of_several_articulations(environments):
    """Each dof in its place, of articulations in a group and in groups of their own."""
    one, other = simulation(two_trees(), environments), simulation(two_trees(), environments)
    every_state = one.record(30, every=2)
    joints = other.record(30, every=2, quantities=JOINTS)
    for name in ("time", *JOINTS):
        np.testing.assert_array_equal(getattr(joints, name), getattr(every_state, name))
    assert np.ptp(joints.joint_position, axis=0).min() > 0.0


def test_steps_that_follow_keep_nothing():
    """A recording stays as it is, and a later one has a place of its own."""
    one = simulation(trees.scene(trees.chain(2)), 4)
    first = one.record(10, quantities=JOINTS)
    before = first.joint_position.copy()
    one.step(20)
    second = one.record(5, quantities=JOINTS)
    np.testing.assert_array_equal(first.joint_position, before)
    np.testing.assert_array_equal(second.joint_position[0], np.array(one_step_back(second)))
    assert second.time[0] == 30 * one.dt


def one_step_back(recording):
    """The first record, from a run of its own."""
    again = simulation(trees.scene(trees.chain(2)), 4)
    again.step(30)
    assert recording.time[0] == again.time
    return again.state.joint_position.numpy().T


def test_a_record_of_the_start_alone():
    """No step, or fewer than there are from one record to the next."""
    for steps in (0, 3):
        one = simulation(trees.scene(trees.chain(2)))
        found = one.record(steps, every=4, quantities=JOINTS)
        assert found.time.tolist() == [0.0] and one.steps_done == steps
        assert found.joint_velocity.shape == (1, 1, 2) and found.joint_velocity.all()


def test_those_of_a_rollout():
    """Under controls that change with each step, every second of them recorded."""
    tree = trees.with_dofs(trees.chain(2), drive=Drive(stiffness=20.0, damping=1.0))
    efforts = np.random.default_rng(0).normal(size=(12, 3, 2))
    found = rollout(Simulation(trees.scene(tree), environments=3), {"joint_effort": efforts}, every=2)
    one = Simulation(trees.scene(tree), environments=3)
    for step, effort in enumerate(efforts):
        one.control.joint_effort = effort.T
        one.step()
        if step % 2:
            np.testing.assert_array_equal(found.joint_position[(step + 1) // 2], one.state.joint_position.numpy().T)
