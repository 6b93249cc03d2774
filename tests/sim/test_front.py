"""The Python front: writing to views, what objects say they are, and what was meant."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
import warp as wp

import warp_artic as wa
from tests.usd.authoring import pendulum
from warp_artic.cli.main import main
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.read_stage import read_stage

CART_POLE = "samples/scenes/cart_pole.usda"


@pytest.fixture
def simulation() -> Simulation:
    return Simulation(read_stage(CART_POLE), environments=3, settings=SolverSettings(precision="float64"))


def test_assignment_writes_into_the_view(simulation):
    """An array, a number that is broadcast, an array of Warp and one of torch; the next step reads it."""
    torch = pytest.importorskip("torch")
    efforts = np.arange(6.0).reshape(2, 3)
    for values in (efforts, wp.array(efforts, dtype=wp.float64), torch.tensor(efforts), efforts.tolist()):
        simulation.control.joint_effort = 0.0
        assert not simulation.control.joint_effort.numpy().any()
        simulation.control.joint_effort = values
        assert np.array_equal(simulation.control.joint_effort.numpy(), efforts)
    before = simulation.state.joint_velocity.numpy().copy()
    simulation.step()
    assert (simulation.state.joint_velocity.numpy() != before).any()
    simulation.articulations[0].parameters.drive_stiffness = 7.0
    assert (simulation.parameters.drive_stiffness.numpy() == 7.0).all()


def test_assignment_to_several_articulations():
    """The array that gathers several articulations takes values as that of one does."""
    scene = read_stage(CART_POLE)
    (tree,) = scene.articulations
    simulation = Simulation(wa.Scene(articulations=(tree, _renamed(tree))), environments=2)
    values = np.arange(8.0).reshape(4, 2)
    simulation.control.joint_effort = values
    assert np.array_equal(simulation.control.joint_effort.numpy(), values)


def test_arrays_keep_their_memory():
    """Also those of several numbers a link, when the simulation that they are of is gone."""
    scene = read_stage(CART_POLE)
    kept = Simulation(scene, environments=64)
    wanted = kept.state.link_pose.numpy().copy()
    poses = [Simulation(scene, environments=64).state.link_pose for _ in range(4)]
    others = [Simulation(scene, environments=64) for _ in range(4)]
    for other in others:
        other.control.link_external_force = 7.0
    for pose in poses:
        assert np.array_equal(pose.numpy(), wanted)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["int32", "int64", "float16", "float32", "float64"])
def test_numbers_of_any_kind_are_written_as_numbers(precision, kind):
    """Not their bits: arrays of Warp and torch whose type is not that of the simulation."""
    torch = pytest.importorskip("torch")
    scene = read_stage(CART_POLE)
    (tree,) = scene.articulations
    for trees in ((tree,), (tree, _renamed(tree))):
        settings = SolverSettings(precision=precision)
        simulation = Simulation(wa.Scene(articulations=trees), environments=3, settings=settings)
        efforts = np.arange(6.0 * len(trees)).reshape(-1, 3).astype(kind)
        for values in (efforts, wp.array(efforts), torch.tensor(efforts)):
            simulation.control.joint_effort = 0.0
            simulation.control.joint_effort = values
            assert np.array_equal(simulation.control.joint_effort.numpy(), efforts)
        simulation.control.joint_effort = torch.tensor(4)
        assert (simulation.control.joint_effort.numpy() == 4.0).all()


@pytest.mark.parametrize("values", [None, "abc", 1j, [[1.0], [1.0, 2.0]], [[None] * 3] * 2, np.zeros(3, "M8[s]")])
def test_what_is_no_numbers_is_refused(simulation, values):
    """With the name of the array, which stays as it is; so are arrays of other programs that cannot be read."""
    simulation.control.joint_effort = 2.0
    with pytest.raises(wa.SettingsError, match="joint_effort: .* is not an array of real numbers"):
        simulation.control.joint_effort = values
    with pytest.raises(wa.SettingsError, match="joint_position: .* is not an array of real numbers"):
        simulation.set_state(joint_position=[values, values])
    torch = pytest.importorskip("torch")
    for tensor in (torch.ones((2, 3), requires_grad=True), torch.ones((2, 3), dtype=torch.complex64)):
        with pytest.raises(wa.SettingsError, match="joint_effort: a Tensor that cannot be read: "):
            simulation.control.joint_effort = tensor
    with pytest.raises(wa.SettingsError, match="joint_position: a Tensor that cannot be read: "):
        simulation.set_state(joint_position=torch.ones((3, 2), requires_grad=True))
    assert (simulation.control.joint_effort.numpy() == 2.0).all()


@pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 4), (1, 2, 3)])
def test_wrong_shapes_are_refused(simulation, shape):
    """What does not broadcast is named with both shapes."""
    if shape == (3,):
        simulation.control.joint_effort = np.ones(shape)
        return
    with pytest.raises(wa.SettingsError, match=r"joint_effort: shape .* is not \(2, 3\)"):
        simulation.control.joint_effort = np.ones(shape)
    with pytest.raises(wa.SettingsError, match="joint_effort: an array of shape"):
        simulation.control.joint_effort = wp.zeros(shape, dtype=wp.float64)


def test_the_views_themselves_are_not_replaced(simulation):
    """Of which steps would know nothing."""
    for name in ("state", "control", "parameters"):
        with pytest.raises(AttributeError, match=f"{name}: has several arrays; write to one of them, such as"):
            setattr(simulation, name, np.ones((2, 3)))


def test_unknown_names_are_refused_with_the_nearest(simulation):
    """To read and to write; results are not written."""
    with pytest.raises(AttributeError, match="no array 'joint_efort'; did you mean joint_effort"):
        simulation.control.joint_efort = 1.0
    with pytest.raises(AttributeError, match="did you mean joint_position"):
        _ = simulation.state.joint_positon
    with pytest.raises(AttributeError, match="link_pose: is what a step or a report gives"):
        simulation.state.link_pose = 0.0
    with pytest.raises(wa.SettingsError, match="did you mean armature"):
        simulation.set_values("armatur", 1.0)


@pytest.mark.parametrize("given, found", [(CART_POLE, "wa.read_stage('samples"), (None, "a NoneType is not a Scene")])
def test_a_path_is_no_scene(given, found):
    """The sentence says how a stage is read."""
    with pytest.raises(wa.SettingsError) as caught:
        wa.Simulation(given)
    assert found in str(caught.value)


def test_what_objects_say_they_are(simulation):
    """Counts, settings and names, in a line."""
    assert repr(simulation.scene).startswith("<Scene of 1 articulation, 2 links, 2 dofs")
    assert "3 environments on cpu, direct, float64, dt 0.00416667 s, at 0 s" in repr(simulation)
    assert "joint_effort" in repr(simulation.control)
    told = repr(simulation.snapshot("joint_position", environments=[0, 2]))
    assert told == "<Snapshot of joint_position: 2 of 3 environments, after 0 steps>"
    told = repr(simulation.articulations[0])
    assert told == ("<ArticulationViews of /World/cart_pole: 2 dofs, 2 links; state, control, parameters, dynamics>")
    told = repr(Simulation(simulation.scene).record(0))
    assert told.startswith("<Recording of 1 record from 0 to 0 s, 1 environment, 2 dofs, 2 links")
    (tree,) = simulation.scene.articulations
    several = Simulation(wa.Scene(articulations=(tree, _renamed(tree)))).control.joint_effort
    assert repr(several) == "<joint_effort of several articulations, shape (4, 1), on cpu>"
    told = repr(simulation.record(2))
    assert told.startswith("<Recording of 3 records from 0 to 0.00833333 s, 3 environments, 2 dofs, 2 links")
    assert "joint_position" in told and "mimic_force" not in told


def test_articulations_that_are_simulated_together_have_one_gravity():
    """Values that differ are refused, where the last one would hold for all; those that do not are taken."""
    simulation = Simulation(read_stage("samples/scenes/breakable_bridge.usda"), environments=2)
    gravity = simulation.parameters.gravity.numpy()
    gravity[:, 2, 1] = -3.0
    simulation.parameters.gravity = gravity
    assert np.array_equal(simulation.parameters.gravity.numpy(), gravity)
    changed = gravity.copy()
    changed[0, 2, 1] = np.nan
    with pytest.raises(wa.SettingsError, match="gravity: rows 0 and 1 are of articulations that are simulated tog"):
        simulation.parameters.gravity = changed
    assert np.array_equal(simulation.parameters.gravity.numpy(), gravity)
    changed[:, 2, 1] = np.nan
    simulation.parameters.gravity = changed
    simulation.step()
    assert {(one.environment, one.array) for one in simulation.failures()} == {(1, "gravity")}


def test_objects_of_another_kind_are_refused(simulation):
    """Where settings, a snapshot or a recording is needed."""
    with pytest.raises(wa.SettingsError, match="settings: a dict is not a SolverSettings"):
        Simulation(simulation.scene, settings={"dt": 0.01})
    with pytest.raises(wa.SettingsError, match="apply: a NoneType is not a Snapshot"):
        simulation.apply(None)
    with pytest.raises(wa.SettingsError, match="recording: a str is not a Recording"):
        wa.write_results(CART_POLE, "run.npz", "out.usda")
    with pytest.raises(wa.SettingsError, match="guides: a bool is not a Scene"):
        wa.write_results(CART_POLE, simulation.record(1), "out.usda", guides=True)


def test_more_steps_than_are_counted_are_refused(simulation):
    """At once, and none is counted; two to the power of 40 would be none in 32 bits."""
    for call in (simulation.step, simulation.capture):
        with pytest.raises(wa.SettingsError, match="count: 1099511627776 is not an integer from . to 2147483647"):
            call(2**40)
    assert simulation.steps_done == 0


@pytest.mark.parametrize("of_device", [False, True])
def test_apply_to_indices_is_apply_to_a_mask(simulation, of_device):
    """Of a snapshot of all environments the chosen ones get what is theirs."""
    start = simulation.snapshot()
    simulation.set_state(joint_velocity=np.arange(6.0).reshape(3, 2))
    simulation.step(5)
    after = simulation.state.joint_position.numpy().copy()
    chosen = wp.array([2, 0], dtype=wp.int32) if of_device else [2, 0]
    simulation.apply(start, environments=chosen)
    position = simulation.state.joint_position.numpy()
    assert np.array_equal(position[:, 1], after[:, 1])
    assert np.array_equal(position[:, [0, 2]], start.joint_position.numpy()[:, [0, 2]])


def test_some_environments_cost_less_than_a_step_of_all():
    """To set, reset, copy and put back a few of 1,024 cart-poles; least times of interleaved turns on one thread."""
    simulation = Simulation(read_stage(CART_POLE), environments=1024, threads=1)
    some, everything = np.array([5, 900, 17]), simulation.snapshot()
    mask, positions = np.isin(np.arange(1024), some), np.zeros((3, 2))
    calls = {
        "step": simulation.step,
        "set_state": lambda: simulation.set_state(joint_position=positions, environments=some),
        "reset": lambda: simulation.reset(some),
        "snapshot": lambda: simulation.snapshot(environments=some),
        "apply": lambda: simulation.apply(everything, environments=some),
        "apply by a mask": lambda: simulation.apply(everything, environments=mask),
    }
    least = dict.fromkeys(calls, np.inf)
    for _ in range(20):
        for name, call in calls.items():
            begin = time.thread_time()
            for _ in range(5):
                call()
            least[name] = min(least[name], time.thread_time() - begin)
    assert all(spent <= least["step"] for spent in least.values()), least


def test_indices_that_are_kept_are_those_that_were_given(simulation):
    """A snapshot is of the environments that were meant when it was taken, whatever is written to their array later."""
    indices = np.array([0, 2], np.int32)
    snapshot = simulation.snapshot(environments=indices)
    indices[:] = 1
    assert snapshot.environments.numpy().tolist() == [0, 2]


def test_what_is_written_beside_the_arrays_is_refused(simulation):
    """On a simulation itself, where no step would see it; the array that is meant is named."""
    for name, meant in (("joint_effort", "control.joint_effort"), ("joint_efort", "control.joint_effort")):
        with pytest.raises(wa.SettingsError, match=f"did you mean {meant}?"):
            setattr(simulation, name, np.ones((2, 3)))
    with pytest.raises(wa.SettingsError, match="did you mean parameters.gravity?"):
        simulation.gravity = 0.0
    for name in ("environments", "device", "dt", "settings", "articulations", "target_tracks", "anything"):
        before = getattr(simulation, name, None)
        with pytest.raises(wa.SettingsError, match=f"{name}: is no part of a simulation that can be set"):
            setattr(simulation, name, 3)
        assert getattr(simulation, name, None) is before


@pytest.mark.parametrize("name", ["joint_efort", "link_pose"])
def test_unknown_names_are_errors_of_ours(simulation, name):
    """And those that Python expects of attributes."""
    for kind in (wa.ArticError, AttributeError):
        for views in (simulation.state, simulation.control):
            with pytest.raises(kind):
                setattr(views, name, 0.0)
        for views in (simulation.state, simulation.control, simulation.snapshot()):
            with pytest.raises(kind):
                _ = views.joint_efort
            assert not hasattr(views, "joint_efort")


@pytest.mark.parametrize("given", [[[0], [1, 2]], [1.5], "0", [None], {0, 1}, [[0, 1]], object(), [2**40], [-1]])
def test_environments_that_are_none_are_refused(simulation, given):
    """By all that takes some of them."""
    before = simulation.state.joint_position.numpy().copy()
    start = simulation.snapshot()
    calls = (
        lambda: simulation.reset(given),
        lambda: simulation.snapshot(environments=given),
        lambda: simulation.apply(start, environments=given),
        lambda: simulation.set_state(joint_position=1.0, environments=given),
        lambda: simulation.set_values("armature", 1.0, environments=given),
        lambda: simulation.wake(environments=given),
    )
    for call in calls:
        with pytest.raises(wa.SettingsError, match="environments: "):
            call()
    with pytest.raises(wa.SettingsError, match="articulations: "):
        simulation.snapshot(articulations=[[0], [0, 0]])
    assert np.array_equal(simulation.state.joint_position.numpy(), before)


@pytest.mark.parametrize("given", [[], (), np.array([], int), np.flatnonzero(np.zeros(3))])
def test_no_environments_are_none(simulation, given):
    """As when nobody has fallen: nothing is changed."""
    simulation.step(3)
    before = simulation.state.joint_position.numpy().copy()
    simulation.reset(given)
    simulation.set_state(joint_position=np.zeros((0, 2)), environments=given)
    simulation.set_values("armature", np.zeros((0, 2)), environments=given)
    simulation.apply(simulation.snapshot(environments=given), environments=given)
    assert np.array_equal(simulation.state.joint_position.numpy(), before)


def test_masked_numbers_are_none(simulation):
    """What is behind a mask is no value."""
    values = np.ma.masked_greater(np.arange(6.0).reshape(2, 3), 3.0)
    with pytest.raises(wa.SettingsError, match="joint_effort: .* is not an array of real numbers"):
        simulation.control.joint_effort = values
    simulation.control.joint_effort = np.ma.masked_greater(values.data, 9.0)
    assert np.array_equal(simulation.control.joint_effort.numpy(), values.data)


def test_arrays_of_several_articulations_refuse_what_is_no_numbers():
    """When they are assigned to as well."""
    (tree,) = read_stage(CART_POLE).articulations
    efforts = Simulation(wa.Scene(articulations=(tree, _renamed(tree))), environments=2).control.joint_effort
    for values in ("abc", np.zeros((3, 3)), [[1.0], [1.0, 2.0]], None):
        with pytest.raises(wa.SettingsError, match="joint_effort: "):
            efforts.assign(values)


def test_what_does_not_fit_into_the_memory_is_said(simulation):
    """Of environments and of records, on any machine."""
    with pytest.raises(wa.SettingsError, match="environments: 1000000000000 are more than 2147483647"):
        Simulation(simulation.scene, environments=10**12)
    for call in (simulation.record, lambda steps: wa.rollout(simulation, steps=steps)):
        with pytest.raises(wa.SolveError, match="records of 1,000,000,000,000,001 steps do not fit into the memory"):
            call(10**15)


@pytest.mark.parametrize("path", [None, 3, b"x.npz", [], "a\0b.npz"])
def test_what_is_no_path_is_refused(simulation, path):
    """Of files that are read and that are written."""
    run = simulation.record(1)
    calls = (
        lambda: simulation.save(path),
        lambda: simulation.load(path),
        lambda: run.save(path),
        lambda: wa.Recording.load(path),
        lambda: wa.write_results(CART_POLE, run, path),
        lambda: wa.read_stage(path),
        lambda: wa.check_stage(path),
        lambda: wa.read_plan(path),
        lambda: wa.open_batch(path),
    )
    for call in calls:
        with pytest.raises(wa.ArticError):
            call()


def _renamed(tree):
    """The same tree elsewhere, with other names."""

    def other(path: str) -> str:
        return path.replace("/World", "/Other", 1)

    links = tuple(replace(link, path=other(link.path)) for link in tree.links)
    joints = tuple(
        replace(joint, path=other(joint.path), dofs=tuple(replace(dof, name=other(dof.name)) for dof in joint.dofs))
        for joint in tree.joints
    )
    return replace(tree, path=other(tree.path), links=links, joints=joints)


def test_record_keeps_what_is_asked_for(simulation):
    """The same values as a whole recording, and nothing else; what there is not is named."""
    start = simulation.snapshot()
    whole = simulation.record(6, every=2)
    simulation.apply(start)
    part = simulation.record(6, every=2, quantities=["joint_position", "energy"])
    assert np.array_equal(part.joint_position, whole.joint_position)
    assert np.array_equal(part.energy, whole.energy)
    assert part.link_pose.shape == (4, 3, 0, 7) and part.joint_velocity.shape == (4, 3, 0)
    with pytest.raises(wa.SettingsError, match="did you mean joint_position"):
        simulation.record(1, quantities=["joint_positon"])
    with pytest.raises(wa.SettingsError, match="joint_drive_force needs steps with forces"):
        simulation.record(1, quantities=["joint_drive_force"])
    with pytest.raises(wa.SettingsError, match="has no link_pose"):
        wa.write_results(CART_POLE, part, "out.usda")


def test_a_recording_of_some_quantities_is_saved(simulation, tmp_path):
    """And loaded."""
    part = simulation.record(3, quantities="energy")
    part.save(tmp_path / "run.npz")
    loaded = wa.Recording.load(tmp_path / "run.npz")
    assert np.array_equal(loaded.energy, part.energy) and loaded.environment_count == 3


@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("shared", [False, True])
def test_rollout_is_steps_under_controls(simulation, every, shared):
    """What a loop over steps does: controls for each, parameters and start states by environment."""
    rng = np.random.default_rng(3)
    efforts = rng.normal(size=(7, 2) if shared else (7, 3, 2))
    start, stiffness = rng.normal(size=(3, 2)), rng.uniform(1, 9, size=(3, 2))
    found = wa.rollout(
        simulation,
        {"joint_effort": efforts},
        start={"joint_position": start},
        parameters={"drive_stiffness": stiffness},
        every=every,
    )
    other = Simulation(simulation.scene, environments=3, settings=SolverSettings(precision="float64"))
    other.parameters.drive_stiffness = stiffness.T
    other.set_state(joint_position=start)
    wanted = [other.state.joint_position.numpy().T.copy()]
    for step in range(7):
        other.control.joint_effort = (np.tile(efforts[step], (3, 1)) if shared else efforts[step]).T
        other.step()
        if (step + 1) % every == 0:
            wanted.append(other.state.joint_position.numpy().T.copy())
    assert np.array_equal(found.joint_position, wanted)
    assert found.link_pose.size == 0


def test_controls_of_a_rollout_go_before_those_of_the_stage():
    """A target that the stage gives over time does not come back between steps."""
    samples = "float drive:angular:physics:targetPosition.timeSamples = { 0: 0, 24: 90 }"
    content = f"{samples}\nfloat drive:angular:physics:stiffness = 10"
    simulation = Simulation(read_stage(pendulum(content, applied=("PhysicsDriveAPI:angular",))))
    assert [key for key in simulation.target_tracks if key[0] == "drive_position_target"]
    wa.rollout(simulation, {"drive_position_target": np.full((3, 1), 0.1)})
    assert np.allclose(simulation.control.drive_position_target.numpy(), 0.1)
    assert not [key for key in simulation.target_tracks if key[0] == "drive_position_target"]


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({}, "steps: is needed"),
        ({"controls": {"joint_efort": np.zeros((2, 2))}}, "did you mean joint_effort"),
        ({"controls": {"joint_effort": np.zeros((2, 5))}}, r"joint_effort: shape \(2, 1, 5\) is not \(2, 3, 2\)"),
        ({"controls": {"joint_effort": [[1.0], [1.0, 2.0]]}}, "joint_effort: .* is not an array of real numbers"),
        ({"controls": {"joint_effort": np.zeros((2, 2))}, "steps": 3}, "joint_effort: has 2 steps, 3 are needed"),
        ({"steps": 2, "every": 0}, "every: 0 is not"),
        ({"steps": 2, "start": {"joint_positions": 0}}, "did you mean joint_position"),
        ({"steps": 2, "start": 3}, "start: a int is no mapping of names to arrays"),
        ({"steps": 2, "parameters": [1.0]}, "parameters: a list is no mapping of names to arrays"),
        ({"controls": np.zeros((2, 2))}, "controls: a ndarray is no mapping of names to arrays"),
        ({"steps": 2, "quantities": 3}, "quantities: 3 is no list of names"),
    ],
)
def test_rollouts_that_cannot_be(simulation, options, sentence):
    """What is wrong is named."""
    with pytest.raises(wa.SettingsError, match=sentence):
        wa.rollout(simulation, **options)


STARFISH = "samples/scenes/starfish.usda"


def test_tendons_are_solved_for_as_by_the_command(tmp_path):
    """Tensions of `solve_tendons` are those of `warp-artic solve-tendons`; what cannot be made is left."""
    scene = read_stage(STARFISH)
    (body,) = {tendon.body for tendon in scene.mesh_tendons}
    (mesh,) = (one for one in scene.elastic_bodies if one.name == body)
    pull = np.full((len(mesh.points), 3), np.nan)
    nodes = {node: [0.3 * node, 1.0, 0.0] for node in (5, 9)}
    for node, force in nodes.items():
        pull[node] = force
    plan = wa.solve_tendons(scene, pull)
    forces, record = tmp_path / "forces.json", tmp_path / "plan.npz"
    forces.write_text(json.dumps({"forces": {str(node): force for node, force in nodes.items()}}))
    assert main(["solve-tendons", STARFISH, "--forces", str(forces), "--record", str(record)]) == 0
    with np.load(record) as found:
        assert np.array_equal(found["tension"], plan.tension)
        assert np.array_equal(found["residual"][:, 0], plan.residual)
    with pytest.raises(wa.SettingsError, match="forces: shape"):
        wa.solve_tendons(scene, pull[:3])
    with pytest.raises(wa.SettingsError, match="did you mean"):
        wa.solve_tendons(scene, pull, body=body + "x")
    wrong = [
        (("starfish.usda", pull), {}, "scene: a str is not a Scene"),
        ((scene, pull.T), {}, "forces: shape"),
        ((scene, np.zeros((0, *pull.shape))), {}, "forces: shape"),
        ((scene, pull + 0j), {}, "forces: .* is not an array of real numbers"),
        ((scene, {5: (0, 1, 0)}), {}, "forces: .* is not an array of real numbers"),
        ((scene, pull), {"time": "now"}, "time: .* is not an array of real numbers"),
        ((scene, pull), {"time": [np.nan]}, "time: "),
        ((scene, pull), {"stiffness": "stiff"}, "stiffness: 'stiff' is not a number"),
        ((scene, pull), {"regularisation": "a"}, "regularisation: 'a' is not a number"),
    ]
    for arguments, options, sentence in wrong:
        with pytest.raises(wa.SettingsError, match=sentence):
            wa.solve_tendons(*arguments, **options)
