"""Snapshots: what is taken, what comes back, and for whom."""

import importlib

import numpy as np
import pytest
import warp as wp

from tests import trees
from tests.busy_mechanisms import busy_tree
from tests.sim.test_simulation import two_trees
from warp_artic import SettingsError, Simulation, SolverSettings
from warp_artic.mechanisms.public_rows import MEMORY
from warp_artic.sim.arrays.views import CONTROL, MOTION
from warp_artic.sim.change.snapshot import APPLIED, EVERYTHING, PARTS


@pytest.fixture(scope="module")
def scene():
    return trees.scene(busy_tree(np.random.default_rng(5)))


def running(scene, environments=5, seed=1, steps=10):
    """A simulation on its way, each environment from a state of its own."""
    simulation = Simulation(scene, environments=environments, settings=SolverSettings(variant="lanes", solver="pgs"))
    rng = np.random.default_rng(seed)
    simulation.set_state(joint_velocity=rng.normal(size=(environments, len(simulation.joint_names))))
    simulation.step(steps)
    return simulation


def memory(simulation, names=None):
    """The state, or arrays by name, of all environments; the last axis is the environment."""
    if names:
        return {name: getattr(simulation.state, name).numpy().copy() for name in names}
    (group,) = simulation.run.groups
    return {name: field.view(0, group.columns.count).numpy().copy() for name, field in group.state.items()}


def assert_equal(found, wanted, environments=slice(None)):
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name][..., environments], values[..., environments], err_msg=name)


def test_a_run_goes_on_bitwise_from_a_snapshot(scene):
    """With every family at work: state, history, control and time are those of the run that was not interrupted."""
    simulation = running(scene)
    snapshot = simulation.snapshot()
    assert snapshot.parts == EVERYTHING
    simulation.step(20)
    wanted, time = memory(simulation), simulation.time
    simulation.control.joint_effort.fill_(3.0)
    simulation.step(5)
    assert (memory(simulation)["joint_position"] != wanted["joint_position"]).any()
    simulation.apply(snapshot)
    simulation.step(20)
    assert_equal(memory(simulation), wanted)
    assert simulation.time == time
    other = Simulation(scene, environments=5, settings=SolverSettings(variant="lanes", solver="pgs"))
    other.apply(snapshot)
    other.step(20)
    assert_equal(memory(other), wanted)


def test_every_part_comes_back_and_only_it(scene):
    """A part that is changed and applied is as it was; other parts keep their changes."""
    simulation = running(scene)
    public = [part for part in APPLIED if part != "history"]
    views = {part: simulation.control if part in CONTROL else simulation.state for part in (*MOTION, *CONTROL, *MEMORY)}
    before = simulation.snapshot(parts=public)
    for part in public:
        view = getattr(views.get(part, simulation.parameters), part)
        np.testing.assert_array_equal(getattr(before, part).numpy(), view.numpy(), err_msg=part)
        changed = simulation.snapshot(parts=public)
        getattr(changed, part).fill_(0.5)
        simulation.apply(changed, parts=part)
        after = simulation.snapshot(parts=public)
        for name in public:
            expected = np.full(view.shape, 0.5) if name == part else getattr(before, name).numpy()
            np.testing.assert_array_equal(getattr(after, name).numpy(), expected, err_msg=f"{part}: {name}")
        simulation.apply(before, parts=[part])


def test_outputs_are_taken(scene):
    """Accelerations, incoming forces and link velocities are parts too; they follow from others and are not applied."""
    simulation = running(scene)
    simulation.step(forces=True)
    names = [part for part in PARTS if part not in APPLIED]
    assert {"joint_acceleration", "root_acceleration", "link_acceleration", "link_velocity"} < set(names)
    snapshot = simulation.snapshot(parts=names, environments=[3])
    for name in names:
        values = getattr(simulation.state, name).numpy()
        np.testing.assert_array_equal(getattr(snapshot, name).numpy(), values[..., [3]], err_msg=name)
    assert snapshot.link_acceleration.numpy().any()
    with pytest.raises(SettingsError, match="link_velocity follows from others"):
        simulation.apply(snapshot, parts="link_velocity")


def far(module):
    """How indices and masks of another package are made."""
    package = pytest.importorskip(module)
    return importlib.import_module("jax.numpy").asarray if module == "jax" else package.as_tensor


GIVEN = {
    "list": list,
    "numpy": np.asarray,
    "int32": lambda values: wp.array(np.asarray(values, np.int32), dtype=wp.int32),
    "int64": lambda values: wp.array(np.asarray(values, np.int64), dtype=wp.int64),
    "mask": lambda values: np.isin(np.arange(5), values),
    "mask on the device": lambda values: wp.array(np.isin(np.arange(5), values), dtype=wp.bool),
    "torch": lambda values: far("torch")(np.asarray(values)),
    "torch mask": lambda values: far("torch")(np.isin(np.arange(5), values)),
    "jax": lambda values: far("jax")(np.asarray(values)),
    "jax mask": lambda values: far("jax")(np.isin(np.arange(5), values)),
}


@pytest.mark.parametrize("form", GIVEN)
def test_chosen_environments_go_back_and_the_others_go_on(scene, form):
    """By indices or a mask, on the host or the device, taken or applied."""
    chosen, others = GIVEN[form]([1, 3]), [0, 2, 4]
    simulation = running(scene)
    then, whole = memory(simulation), simulation.snapshot()
    few = simulation.snapshot(environments=chosen)
    assert few.joint_position.shape == (len(simulation.joint_names), 2) and list(few.environments.numpy()) == [1, 3]
    simulation.step(10)
    now = memory(simulation)
    simulation.apply(few)
    assert_equal(memory(simulation), then, [1, 3])
    assert_equal(memory(simulation), now, others)
    assert simulation.steps_done == 20
    if "mask" in form:
        simulation.apply(few, environments=[2, 0])
        assert_equal(
            {name: values[:, [2, 0]] for name, values in memory(simulation).items()},
            {name: values[:, [1, 3]] for name, values in then.items()},
        )
        simulation.apply(whole, environments=chosen)
    else:
        simulation.apply(few, environments=chosen)
    assert_equal(memory(simulation), then, [1, 3])
    assert_equal(memory(simulation), now, [4])


def test_one_environment_goes_to_all_that_are_meant(scene):
    """A start that one simulation has found is where those of a batch begin that are done."""
    start = running(scene, environments=1).snapshot()
    batch = running(scene, seed=3)
    before = memory(batch)
    batch.apply(start, environments=np.array([True, False, False, True, True]))
    after = memory(batch)
    assert_equal(after, before, [1, 2])
    first = memory(running(scene, environments=1))
    for k in (0, 3, 4):
        assert_equal({name: values[..., [k]] for name, values in after.items()}, first)


def test_a_stopped_environment_goes_on_from_a_snapshot(scene):
    """A failure is a part of the history: it is taken back with it."""
    simulation = running(scene)
    snapshot = simulation.snapshot()
    effort = np.zeros(simulation.control.joint_effort.shape)
    effort[2, 4] = np.nan
    simulation.control.joint_effort.assign(effort)
    simulation.step(3)
    assert [failure.environment for failure in simulation.failures()] == [4]
    simulation.apply(snapshot)
    simulation.step(3)
    assert not simulation.failures()
    wanted = running(scene, steps=13)
    assert_equal(memory(simulation), memory(wanted))


def test_motion_without_history_begins_anew(scene):
    """As a state that is set does."""
    simulation = running(scene)
    snapshot = simulation.snapshot(parts=MOTION)
    fresh = Simulation(scene, environments=5, settings=SolverSettings(variant="lanes", solver="pgs"))
    fresh.set_state(
        joint_position=snapshot.joint_position.numpy().T,
        joint_velocity=snapshot.joint_velocity.numpy().T,
        root_pose=snapshot.root_pose.numpy().transpose(2, 0, 1),
        root_velocity=snapshot.root_velocity.numpy().transpose(2, 0, 1),
    )
    # A quaternion that is set is made a unit one.
    np.testing.assert_allclose(fresh.state.root_pose.numpy(), snapshot.root_pose.numpy(), atol=1e-6)
    snapshot.root_pose.assign(fresh.state.root_pose)
    simulation.step(4)
    simulation.apply(snapshot)
    fresh.step(10)
    simulation.step(10)
    assert_equal(memory(simulation, MOTION), memory(fresh, MOTION))


def test_chosen_articulations():
    """Rows are those of the chosen ones, in the order of the scene; the others go on."""
    simulation = Simulation(two_trees(), environments=2)
    simulation.set_state(joint_position=[0.1, 0.2, 0.3, 0.4], joint_velocity=[[1, 2, 3, 4], [5, 6, 7, 8]])
    for chosen in ("/World/second", [2], [False, False, True], wp.array([2], dtype=int)):
        snapshot = simulation.snapshot(articulations=chosen)
        assert snapshot.articulations == (2,) and snapshot.root_pose.shape == (0, 7, 2)
        np.testing.assert_array_equal(snapshot.joint_velocity.numpy(), [[3, 7], [4, 8]])
    both = simulation.snapshot(articulations=[2, 0])
    np.testing.assert_array_equal(both.joint_velocity.numpy(), [[1, 5], [2, 6], [3, 7], [4, 8]])
    before = simulation.state.joint_position.numpy()
    simulation.step(20)
    after, root = simulation.state.joint_position.numpy(), simulation.state.root_pose.numpy()
    assert (after != before).all()
    simulation.apply(both, articulations="/World/second")
    found = simulation.state.joint_position.numpy()
    np.testing.assert_array_equal(found, [*after[:2], *before[2:]])
    np.testing.assert_array_equal(simulation.state.root_pose.numpy(), root)
    with pytest.raises(SettingsError, match="/World/free is not in the snapshot|is not in the snapshot"):
        simulation.apply(both, articulations=[1])


def test_errors_say_what_is_allowed(scene):
    """What was found, and what there is."""
    simulation = running(scene, steps=0)
    some = simulation.snapshot(environments=[1, 2])
    cases = (
        (lambda: simulation.snapshot(parts="joint_speed"), "'joint_speed' is not one of joint_position"),
        (lambda: simulation.snapshot(environments=[5]), r"not all in 0 \.\.\. 4"),
        (lambda: simulation.snapshot(environments=[0.5]), "no list of indices"),
        (lambda: simulation.snapshot(environments=[True, False]), "no mask of 5"),
        (lambda: simulation.snapshot(articulations="/World/none"), "there is no /World/none; there are"),
        (lambda: simulation.snapshot(articulations=[1]), r"0 \.\.\. 0"),
        (
            lambda: simulation.apply(some, parts="link_mass"),
            "link_mass is not in the snapshot; allowed here: joint_pos",
        ),
        (lambda: simulation.apply(some, environments=[0, 1, 2]), "of 2 environments; one, or 3"),
        (lambda: simulation.apply(some, environments=np.ones(5, bool)), "one, or all environments"),
        (lambda: running(scene, 4, steps=0).apply(some), "of a simulation of 5 environments, and this one has 4"),
        (lambda: Simulation(two_trees()).apply(some), "another model"),
    )
    for call, words in cases:
        with pytest.raises(SettingsError, match=words):
            call()
    with pytest.raises(AttributeError, match="no array 'link_mass' in a snapshot of joint_position"):
        some.link_mass  # noqa: B018
