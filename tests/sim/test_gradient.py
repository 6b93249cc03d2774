"""Gradients of losses, and steps near a state, against tangents, differences and closed forms."""

from pathlib import Path

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from tests.forests import renamed
from tests.sim.test_tangent import FAMILIES, MOTIONS, far_above_a_ground, moving, random_seeds
from warp_artic import Drive, Friction, Simulation, SolverSettings, Track, read_stage, rollout
from warp_artic.errors import SettingsError
from warp_artic.sim.derivatives.taped_twin import Tape
from warp_artic.sim.derivatives.taped_walk import TapedWalk

SETTINGS = SolverSettings(precision="float64")
SCENES = Path(__file__).parents[2] / "samples" / "scenes"
FOUR_BAR = SCENES / "four_bar.usda"


def driven() -> Simulation:
    """A chain of hinges with drives, in two environments."""
    tree = trees.with_dofs(trees.chain(3), velocity=[1.0, 0.7, -0.4], **FAMILIES["drive"])
    simulation = Simulation(trees.scene(tree), environments=2, settings=SETTINGS)
    simulation.set_state(joint_velocity=[[1.0, 0.7, -0.4], [-0.5, 0.3, 0.8]])
    simulation.step(2)
    return simulation


def weighted(weights):
    """A loss that is linear in the motion, with derivatives that are given."""

    def loss(motion):
        return sum(float((getattr(motion, name) * table).sum()) for name, table in weights.items()), weights

    return loss


def along(directions, gradient):
    """Directions (K, ...), of all environments, times a gradient (E, ...)."""
    return directions.reshape(len(directions), -1) @ gradient.sum(axis=0).ravel()


def summed(derivatives, weights):
    """The derivatives (T, K, E, ...) of a sum with weights (T, E, ...), by direction."""
    return np.moveaxis(derivatives, 1, 0).reshape(derivatives.shape[1], -1) @ weights.ravel()


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_backward_and_forward_are_one_number(integrator):
    """The gradient times a direction is the derivative along it, over 240 steps, by start, gains, masses, targets."""
    tree = trees.with_dofs(trees.chain(3), velocity=[1.0, 0.7, -0.4], **FAMILIES["drive"])
    settings = SolverSettings(precision="float64", integrator=integrator)
    simulation = Simulation(trees.scene(tree), environments=2, settings=settings)
    simulation.step(2)
    names = ("joint_position", "joint_velocity", "drive_stiffness", "link_mass", "drive_position_target", "gravity")
    seeds = random_seeds(simulation, names)
    rng = np.random.default_rng(4)
    weights = {name: rng.normal(size=(241, 2, 3)) for name in ("joint_position", "joint_velocity")}
    value, gradients = simulation.gradient(weighted(weights), 240, names)
    backward = sum(along(seeds[name], gradients[name]) for name in names)
    tangent = simulation.tangent(seeds, 240, every=1)
    forward = sum(summed(getattr(tangent.derivatives, name), weights[name]) for name in weights)
    np.testing.assert_allclose(backward, forward, rtol=0, atol=1e-12 * np.abs(forward).max())
    assert value == pytest.approx(sum((getattr(tangent.values, name) * weights[name]).sum() for name in weights))


def test_floating_trees_with_every_joint_type():
    """The same of poses of roots and of joints with several rotations."""
    simulation = Simulation(trees.scene(moving(True)), settings=SETTINGS)
    seeds = random_seeds(simulation, MOTIONS)
    shapes = {name: (7, 1, *values.shape[1:]) for name, values in seeds.items()}
    rng = np.random.default_rng(4)
    weights = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    _, gradients = simulation.gradient(lambda motion: (0.0, weights), 6, MOTIONS)
    backward = sum(along(seeds[name], gradients[name]) for name in MOTIONS)
    tangent = simulation.tangent(seeds, 6, every=1).derivatives
    forward = sum(summed(getattr(tangent, name), weights[name]) for name in MOTIONS)
    np.testing.assert_allclose(backward, forward, rtol=0, atol=1e-12 * np.abs(forward).max())


def test_controls_over_time_have_gradients_of_each_step():
    """By central differences of one target, and their sum is the gradient by a target that stays."""
    simulation = driven()
    targets = np.random.default_rng(0).normal(size=(12, 3))

    def loss(motion):
        return float((motion.joint_position[-1] ** 2).sum()), {"joint_position": last(2.0 * motion.joint_position)}

    def last(values):
        return np.concatenate([np.zeros_like(values[:-1]), values[-1:]])

    _, found = simulation.gradient(loss, 12, ["drive_position_target"], {"drive_position_target": targets})
    assert found["drive_position_target"].shape == (12, 2, 3)
    changed = [targets.copy(), targets.copy()]
    for side, step in zip(changed, (1e-5, -1e-5)):
        side[4, 1] += step
    ends = [simulation.gradient(loss, 12, [], {"drive_position_target": side})[0] for side in changed]
    assert found["drive_position_target"][4, :, 1].sum() == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


def test_a_linearized_step_is_the_tangents_of_a_step():
    """Of every number of the state, inputs and parameters, with their names."""
    simulation = driven()
    found = simulation.linearize(["drive_position_target"], ["drive_stiffness", "gravity"], environments=[1])
    assert [one.shape for one in (found.A, found.B, found.P)] == [(1, 6, 6), (1, 6, 3), (1, 6, 6)]
    joint = simulation.joint_names[1]
    assert found.state_names[1] == f"joint_position:{joint}" and found.state_names[4] == f"joint_velocity:{joint}"
    assert found.input_names[1] == f"drive_position_target:{joint}"
    assert found.parameter_names[:1] == (f"drive_stiffness:{simulation.joint_names[0]}",)
    assert found.parameter_names[3:] == tuple(f"gravity:/World/chain:{axis}" for axis in "xyz")
    seeds = {
        "joint_position": np.eye(3),
        "joint_velocity": np.zeros((3, 3)),
    }
    tangent = simulation.tangent(seeds, 1).derivatives
    columns = np.concatenate([tangent.joint_position[-1][:, 1], tangent.joint_velocity[-1][:, 1]], axis=1).T
    np.testing.assert_array_equal(found.A.numpy()[0, :, :3], columns)


def test_environments_with_other_centres_of_mass_have_matrices_as_alone():
    """Of floating roots in two equal mechanisms: poses are of the link frame, and motions of the centre of mass."""
    pair = [renamed(trees.chain(2, floating=True), name) for name in ("one", "two")]
    centers = 0.2 * np.random.default_rng(5).normal(size=(2, 2, 2, 3))  # environments, mechanisms, links
    both = Simulation(trees.scene(*pair), environments=2, settings=SETTINGS)
    both.set_mass_properties(center_of_mass=centers.reshape(2, 4, 3))
    found = both.linearize()
    for mechanism, tree in enumerate(pair):
        own = [place for place, name in enumerate(found.state_names) if tree.path in name]
        for environment in range(2):
            alone = Simulation(trees.scene(tree), settings=SETTINGS)
            alone.set_mass_properties(center_of_mass=centers[environment, mechanism])
            A = found.A.numpy()[environment][np.ix_(own, own)]
            np.testing.assert_array_equal(A, alone.linearize().A.numpy()[0])


def test_a_slider_on_a_drive_has_the_matrix_of_its_law():
    """One step of "semi_implicit" on m a = k (u - x) - d v - m g, as differences of the law have it in x, v and u."""
    tree = trees.with_dofs(trees.chain(1, "prismatic_x"), drive=Drive(stiffness=20.0, damping=1.0))
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64", integrator="semi_implicit"))
    found = simulation.linearize(["drive_position_target", "joint_effort"])
    A, B, h = found.A.numpy()[0], found.B.numpy()[0], simulation.dt
    assert A[1, 0] == pytest.approx(-B[1, 0], rel=1e-12)  # only their difference counts
    assert B[1, 0] == pytest.approx(20.0 * B[1, 1], rel=1e-12)
    assert B[1, 1] == pytest.approx(h / tree.links[0].mass, rel=0.01)
    assert A[0] == pytest.approx([1.0, h], rel=0.01, abs=1e-2 * h)


def test_names_may_be_given_in_any_way():
    """Alone, or by what lists them once; a name that is given twice counts once."""
    simulation = driven()
    effort = simulation.linearize(["joint_effort"])
    for names in ("joint_effort", iter(["joint_effort"])):
        found = simulation.linearize(names, "link_mass")
        np.testing.assert_array_equal(found.B.numpy(), effort.B.numpy())
        assert found.input_names == effort.input_names
    targets = simulation.linearize(iter(["drive_position_target"]))
    np.testing.assert_array_equal(targets.B.numpy(), simulation.linearize(["drive_position_target"]).B.numpy())
    weights = {"joint_velocity": np.ones((3, 2, len(simulation.joint_names)))}
    for names in ("gravity", iter(["gravity"]), ["gravity", "gravity"]):
        _, found = simulation.gradient(lambda motion: (0.0, weights), 2, names)
        _, wanted = simulation.gradient(lambda motion: (0.0, weights), 2, ["gravity"])
        np.testing.assert_array_equal(found["gravity"], wanted["gravity"])


def test_arguments_of_a_wrong_kind_are_refused():
    """By name."""
    simulation = driven()
    ones = {"gravity": np.ones((1, 1, 3))}
    for call, sentence in {
        lambda: simulation.linearize(None): "inputs: None is no list of names",
        lambda: simulation.linearize(parameters=5): "parameters: 5 is no list of names",
        lambda: simulation.gradient(lambda motion: (0.0, {}), 2, None): "wrt: None is no list of names",
        lambda: simulation.tangent(["gravity"]): "seeds: a list is no mapping of names to arrays",
        lambda: simulation.tangent(ones, controls=[1.0]): "controls: a list is no mapping of names to arrays",
        lambda: simulation.kinks(controls=[1.0]): "controls: a list is no mapping of names to arrays",
        lambda: simulation.tangent({"gravity": 1j * np.ones((1, 3))}): "gravity: .* is not an array of real numbers",
        lambda: simulation.tangent({"gravity": [[1, 2, 3], [1]]}): "gravity: .* is not an array of real numbers",
        lambda: simulation.tangent(ones, controls={"joint_effort": "x"}): "joint_effort: 'x' is not an array of real",
    }.items():
        with pytest.raises(SettingsError, match=sentence):
            call()


def test_shapes_of_derivatives_are_checked():
    """And names, and counts."""
    simulation = driven()
    with pytest.raises(SettingsError, match=r"loss: derivatives by joint_position of shape \(3,\) are not of shape"):
        simulation.gradient(lambda motion: (0.0, {"joint_position": np.zeros(3)}), 2, ["gravity"])
    for wrong in (None, 1.0, (1.0, None), (1.0, {}, {})):
        with pytest.raises(SettingsError, match="loss: must return its value and a dictionary of its derivatives"):
            simulation.gradient(lambda motion, wrong=wrong: wrong, 2, ["gravity"])
    with pytest.raises(SettingsError, match="loss: derivatives by joint_position: 'much' is not an array"):
        simulation.gradient(lambda motion: (0.0, {"joint_position": "much"}), 2, ["gravity"])
    with pytest.raises(SettingsError, match="loss: a NoneType is no function of the motion"):
        simulation.gradient(None, 2, ["gravity"])
    with pytest.raises(SettingsError, match="steps: 0 is not an integer of at least 1"):
        simulation.gradient(lambda motion: (0.0, {}), 0, ["gravity"])
    with pytest.raises(SettingsError, match="'joint_effort' is not one of"):
        simulation.linearize(parameters=["joint_effort"])


CASES = {
    **{f"{family}, {solver}": (family, {"solver": solver}) for family in FAMILIES for solver in ("direct", "tgs")},
    "drive, semi_implicit": ("drive", {"integrator": "semi_implicit"}),
    "drive, rk4": ("drive", {"integrator": "rk4"}),
}


@pytest.mark.parametrize("case", CASES)
def test_families_backward_and_forward(case):
    """On a chain that swings into each, in three environments: the gradient along a direction is the derivative.

    By sweeps with a ball far above a ground, as `test_contact_derivatives.py` has compiled kernels with contacts.
    """
    family, options = CASES[case]
    tree = trees.with_dofs(trees.chain(3), position=0.04, velocity=[1.0, 0.7, -0.4], **FAMILIES[family])
    if options.get("solver") == "tgs":
        tree = trees.replace(tree, constraints=(far_above_a_ground(len(tree.links) - 1),))
    assert missed(trees.scene(tree), **options) < 1e-11


def missed(
    scene, names=("joint_position", "joint_velocity", "link_mass"), steps=40, environments=3, **options
) -> float:
    """How far gradients along directions are from derivatives along them, as a share of the largest."""
    simulation = Simulation(scene, environments=environments, settings=SolverSettings(precision="float64", **options))
    rng = np.random.default_rng(3)
    velocity = simulation.state.joint_velocity.numpy().T.copy()
    simulation.set_state(joint_velocity=velocity + 0.1 * rng.normal(size=velocity.shape))
    simulation.step(3)
    seeds = random_seeds(simulation, names)
    tangent = simulation.tangent(seeds, steps, every=1).derivatives
    shapes = {name: getattr(tangent, name)[:, 0].shape for name in MOTIONS}
    weights = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    _, gradients = simulation.gradient(lambda motion: (0.0, weights), steps, tuple(seeds))
    backward = sum(along(seeds[name], gradients[name]) for name in seeds)
    forward = sum(summed(getattr(tangent, name), weights[name]) for name in MOTIONS if shapes[name][-1])
    return float(np.abs(backward - forward).max() / np.abs(forward).max())


@pytest.mark.parametrize("solver", ["direct", "tgs"])
def test_closed_loops_backward_and_forward(solver):
    """Through rows that hold the gaps of a loop at their ends, of a four-bar linkage."""
    assert missed(read_stage(FOUR_BAR), steps=20, environments=2, solver=solver) < 1e-11


@pytest.mark.parametrize("is_full", [False, True])
@pytest.mark.parametrize(("speed", "dt"), [(60.0, 1 / 240), (30.0, 1 / 60)])
def test_trees_that_move_violently(monkeypatch, speed, dt, is_full):
    """What steps have given them of energy, by their errors, is known to those after; on a tape, and without."""
    monkeypatch.setattr(Tape, "was_full", lambda tape: is_full)
    tree = trees.with_dofs(trees.chain(3), velocity=speed * np.array([1.0, 0.7, -0.4]), **FAMILIES["drive"])
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64", dt=dt))
    simulation.step(8)
    assert simulation.run.groups[0].field("energy_gain").scalars.numpy()[0, 0] > 1.0
    assert missed(trees.scene(tree), steps=12, environments=2, dt=dt) < 1e-12


def test_articulations_with_one_gravity_have_equal_parts_of_its_derivatives():
    """Forward, backward while joints break, and in matrices, so that those of all rows are that by the gravity."""
    scene = read_stage(SCENES / "breakable_bridge.usda")
    assert missed(scene, (*MOTIONS, "gravity", "link_mass"), steps=90, environments=2) < 1e-11
    simulation = Simulation(scene, settings=SETTINGS)
    simulation.step(3)
    P = simulation.linearize(parameters=["gravity"]).P.numpy()[0].reshape(-1, len(scene.articulations), 3)
    assert len(scene.articulations) > 1
    roots, sides = P.shape[0] // 2, Simulation(scene, environments=2, settings=SETTINGS)
    sides.step(3)
    sides.parameters.gravity = sides.parameters.gravity.numpy() + np.array([0.0, 0.0, 1.0])[:, None] * [1e-4, -1e-4]
    sides.step()
    joints = sides.state.joint_velocity.numpy() @ [0.5e4, -0.5e4]
    bodies = sides.state.root_velocity.numpy().reshape(-1, 2) @ [0.5e4, -0.5e4]
    wanted = np.concatenate([bodies, joints])
    np.testing.assert_allclose(P.sum(axis=1)[roots:, 2], wanted, rtol=0, atol=1e-7 * np.abs(wanted).max())
    np.testing.assert_array_equal(P[:, 0], P[:, -1])


def test_several_mechanisms_share_directions():
    """Unequal ones, with drives, without, floating, and with what looks at accelerations."""
    driven = trees.with_dofs(trees.chain(3), velocity=1.0, **FAMILIES["drive"])
    loaded = trees.with_dofs(trees.chain(2), velocity=1.0, friction=Friction(coefficient=0.02))
    balls = renamed(trees.chain(2, "spherical", floating=True), "balls")
    parts = (renamed(driven, "one"), renamed(driven, "two"), renamed(loaded, "loaded"), balls)
    names = (*MOTIONS, "link_mass", "gravity", "drive_stiffness")
    assert missed(trees.scene(*parts), names, steps=12, environments=2) < 1e-11
    assert missed(trees.scene(*parts), names, steps=12, environments=20, integrator="semi_implicit") < 1e-11


def test_all_families_backward_and_forward():
    """In one tree with every joint type, tendons, mimic joints, friction and limits."""
    assert (
        missed(trees.scene(tree_of_every_family()), (*MOTIONS, "link_mass", "joint_effort"), steps=4, environments=1)
        < 1e-10
    )


def test_without_room_on_a_tape_gradients_are_by_dual_numbers(monkeypatch):
    """They are the same to rounding, and the run stays where it was."""
    simulation = driven()
    names = (*MOTIONS, "link_mass", "gravity", "drive_stiffness", "drive_position_target")
    targets = {"drive_position_target": np.random.default_rng(0).normal(size=(7, 3))}
    weights = {"joint_velocity": np.random.default_rng(1).normal(size=(8, 2, 3))}
    before = simulation.snapshot()
    _, taped = simulation.gradient(weighted(weights), 7, names, targets)
    monkeypatch.setattr(Tape, "was_full", lambda tape: True)
    _, dual = simulation.gradient(weighted(weights), 7, names, targets)
    for name in names:
        np.testing.assert_allclose(taped[name], dual[name], rtol=0, atol=1e-12 * np.abs(dual[name]).max(initial=0.0))
    after = simulation.snapshot()
    assert after.steps_done == before.steps_done
    np.testing.assert_array_equal(after.values, before.values)


def test_memory_grows_with_the_root_of_the_number_of_steps():
    """Beside the motion and the slopes by it: sixteen times the steps take four times as much."""
    simulation = driven()
    taken = []
    for steps in (64, 1024):
        walk = TapedWalk(simulation.run, [], {}, steps)
        walk.forward()
        taken.append(walk.memory)
    assert taken[1] < 4.5 * taken[0]


def test_single_precision_has_the_same_gradients():
    """To 1e-4, of a chain of balls."""
    found = []
    for precision in ("float32", "float64"):
        simulation = Simulation(trees.scene(moving(True)), settings=SolverSettings(precision=precision))
        weights = {"joint_position": np.ones((11, 1, len(simulation.joint_names)))}
        found.append(simulation.gradient(weighted(weights), 10, MOTIONS)[1])
    for name in MOTIONS:
        scale = np.abs(found[1][name]).max()
        np.testing.assert_allclose(found[0][name], found[1][name], rtol=0, atol=1e-4 * scale)


def test_what_follows_time():
    """Targets and gains over time act in each step as they do in runs, but for what controls replace."""
    target, gain = Track(times=(0.0, 0.05), values=(0.0, 0.8)), Track(times=(0.0, 0.05), values=(5.0, 60.0))
    drive = Drive(stiffness=20.0, damping=1.0, position_track=target, stiffness_track=gain)
    tree = trees.with_dofs(trees.chain(2), velocity=1.0, drive=drive)
    assert missed(trees.scene(tree), steps=9) < 1e-11
    targets = np.random.default_rng(0).normal(size=(9, 2))
    simulation = Simulation(trees.scene(tree), settings=SETTINGS)
    ends = []

    def end(motion):
        ends.append(motion.joint_position[-1])
        return 0.0, {}

    simulation.gradient(end, 9, ["link_mass"], {"drive_position_target": targets})
    np.testing.assert_array_equal(ends[0], rollout(simulation, {"drive_position_target": targets}).joint_position[-1])
