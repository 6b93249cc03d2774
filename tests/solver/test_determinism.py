"""The same environment is bitwise the same in any batch and slot."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from warp_artic import Simulation, SolverSettings
from warp_artic.constraints import table
from warp_artic.constraints.table import IN_STEPS
from warp_artic.description.distance import Distance
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.mechanisms.tree import tree_of
from warp_artic.model.force_parts import ForcePart
from warp_artic.usd.read_stage import read_stage

RAGDOLL = Path(__file__).parents[2] / "samples" / "scenes" / "ragdoll.usda"


OF_A_TREE = {family for family in IN_STEPS if family.part is not ForcePart.CONTACT}


def test_the_busy_tree_has_a_row_of_every_family():
    """None is left out of what follows, whichever there are, but those of contacts, which contacts/ has."""
    assert {row.family for row in tree_of(tree_of_every_family()).rows} == OF_A_TREE


def without(tree, family):
    """The same tree without a family."""
    dofs = {
        table.DRIVE: {"drive": None},
        table.FRICTION: {"friction": None},
        table.VELOCITY_LIMIT: {"velocity_limit": np.inf},
    }
    couplings = {
        table.FIXED_TENDON: {"fixed_tendons": ()},
        table.SPATIAL_TENDON: {"spatial_tendons": ()},
        table.MIMIC: {"mimics": ()},
    }
    links = {
        table.LINK_SPEED: {"max_linear_velocity": np.inf},
        table.LINK_SPIN: {"max_angular_velocity": np.inf},
    }
    whole = {
        table.TREE_SPEED: {"max_linear_velocity": np.inf},
        table.TREE_SPIN: {"max_angular_velocity": np.inf},
    }
    if family in whole:
        return trees.replace(tree, **whole[family])
    if family in dofs:
        return trees.with_dofs(tree, **dofs[family])
    if family in couplings:
        return trees.replace(tree, **couplings[family])
    if family in links:
        return trees.replace(tree, links=tuple(trees.replace(link, **links[family]) for link in tree.links))
    if family in (table.CONE_LIMIT, table.SOFT_CONE_LIMIT):
        joints = [
            trees.replace(joint, cone_limit=None)
            if joint.cone_limit and joint.cone_limit.is_soft == (family is table.SOFT_CONE_LIMIT)
            else joint
            for joint in tree.joints
        ]
        return trees.replace(tree, joints=tuple(joints))
    if family is table.FIXED_TENDON_LIMIT:
        tendons = tuple(trees.replace(tendon, limit_stiffness=0.0) for tendon in tree.fixed_tendons)
        return trees.replace(tree, fixed_tendons=tendons)
    if family is table.SPATIAL_TENDON_LIMIT:
        tendons = tuple(trees.replace(tendon, limit_stiffness=0.0) for tendon in tree.spatial_tendons)
        return trees.replace(tree, spatial_tendons=tendons)
    if family is table.LOOP_JOINT:
        others = tuple(one for one in tree.constraints if not isinstance(one, LoopJoint))
        return trees.replace(tree, constraints=others)
    if family in (table.LOOP_LIMIT, table.SOFT_LOOP_LIMIT, table.LOOP_DRIVE):
        (loop,) = tree.constraints_of(LoopJoint)
        left = tuple(one for one in loop.limits if one[1].is_soft == (family is table.LOOP_LIMIT))
        changes = {"drives": ()} if family is table.LOOP_DRIVE else {"limits": left}
        others = tuple(trees.replace(one, **changes) if one is loop else one for one in tree.constraints)
        return trees.replace(tree, constraints=others)
    if family in (table.LOOP_ARMATURE, table.LOOP_DAMPER, table.LOOP_FRICTION, table.LOOP_VELOCITY_LIMIT):
        (loop,) = tree.constraints_of(LoopJoint)
        left = {"viscous": 0.0} if family is table.LOOP_DAMPER else {"static_effort": 0.0, "dynamic_effort": 0.0}
        changes = {"frictions": tuple((axis, trees.replace(one, **left)) for axis, one in loop.frictions)}
        changes = {table.LOOP_ARMATURE: {"armatures": ()}, table.LOOP_VELOCITY_LIMIT: {"velocity_limits": ()}}.get(
            family, changes
        )
        others = tuple(trees.replace(one, **changes) if one is loop else one for one in tree.constraints)
        return trees.replace(tree, constraints=others)
    if family in (table.DISTANCE, table.SOFT_DISTANCE):
        others = tuple(
            one
            for one in tree.constraints
            if not isinstance(one, Distance) or one.is_soft != (family is table.SOFT_DISTANCE)
        )
        return trees.replace(tree, constraints=others)
    limited = {row.item for row in tree_of(tree).rows if row.family is family}
    limits = [None if k in limited else dof.limit for k, dof in enumerate(tree.dofs)]
    return trees.with_dofs(tree, limit=limits)


def end(tree):
    """The state at the end of a run of a tree that has the dofs of the busy one."""
    state = calm_state(np.random.default_rng(2), tree_of_every_family())
    return final_states(tree, [state], 1, [0], "float32", variant="scalar")[0]


@cache
def end_of_the_busy_tree():
    """With every family."""
    return end(tree_of_every_family())


@pytest.mark.parametrize("family", sorted(OF_A_TREE, key=lambda family: family.order), ids=lambda family: family.name)
def test_every_family_is_at_work(family):
    """The same run without it ends elsewhere."""
    assert np.abs(end(without(tree_of_every_family(), family)) - end_of_the_busy_tree()).max() > 1e-4


def calm_state(rng, tree):
    """A random state near the middle of the joints."""
    state = trees.random_state(rng, tree)
    return trees.replace(state, joint_position=0.2 * state.joint_position)


def final_states(tree, states, environments, slots, precision, steps=60, **settings):
    """Final positions, velocities and root poses of the given states, put into the given slots of a batch."""
    options = SolverSettings(**{"dt": 1 / 240, "variant": "lanes", "precision": precision, **settings})
    simulation = Simulation(trees.scene(tree), environments=environments, settings=options)
    rng = np.random.default_rng(environments)
    others = [calm_state(rng, tree) for _ in range(environments)]
    for slot, state in zip(slots, states):
        others[slot] = state
    simulation.set_state(
        joint_position=np.array([state.joint_position for state in others]),
        joint_velocity=np.array([state.joint_velocity for state in others]),
        root_pose=np.array([state.root_pose for state in others]),
        root_velocity=np.array([state.root_velocity for state in others]),
    )
    simulation.step(steps)
    assert not [failure for failure in simulation.failures() if failure.environment in slots]
    return [
        np.concatenate(
            [
                simulation.state.joint_position.numpy()[:, slot],
                simulation.state.joint_velocity.numpy()[:, slot],
                simulation.state.root_pose.numpy()[0, :, slot],
                simulation.state.root_velocity.numpy()[0, :, slot],
            ]
        )
        for slot in slots
    ]


@pytest.mark.parametrize(
    ("solver", "precision", "integrator"),
    [
        ("direct", "float32", "midpoint"),
        ("direct", "float32", "semi_implicit"),
        ("direct", "float64", "midpoint"),
        ("tgs", "float32", "midpoint"),
    ],
)
def test_results_do_not_depend_on_batch_slot_or_neighbours(solver, precision, integrator):
    """Bitwise equal in batches of 1, 17 and 100, at the front, in the middle and at the end, all families on.

    The tree has loops, for which all solvers have one kernel; tgs takes it in short steps.
    """
    tree = tree_of_every_family()
    rng = np.random.default_rng(2)
    states = [calm_state(rng, tree) for _ in range(3)]
    settings = {"solver": solver, "integrator": integrator, "steps": 8}
    alone = [final_states(tree, [state], 1, [0], precision, **settings)[0] for state in states]
    for environments, slots in ((17, (0, 7, 16)), (100, (99, 15, 52, 3, 0, 16))):
        ends = final_states(tree, 2 * states, environments, slots, precision, **settings)
        for expected, found in zip(2 * alone, ends):
            np.testing.assert_array_equal(found, expected)


def test_results_do_not_depend_on_a_thousand_neighbours():
    """Bitwise equal among a thousand."""
    tree = tree_of_every_family()
    rng = np.random.default_rng(2)
    states = [calm_state(rng, tree) for _ in range(3)]
    alone = [final_states(tree, [state], 1, [0], "float32", steps=2)[0] for state in states]
    for expected, found in zip(alone, final_states(tree, states, 1000, (999, 15, 512), "float32", steps=2)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("friction", [True, False], ids=["friction", "no friction"])
@pytest.mark.parametrize("solver", ["direct", "pgs"])
def test_tumbling_ragdolls_do_not_depend_on_neighbours(solver, friction):
    """Cones and stops that are hit while velocity forces are found again, in fast environments beside slow ones."""
    scene = read_stage(str(RAGDOLL))
    if not friction:
        (tree,) = scene.articulations
        joints = [
            trees.replace(one, dofs=tuple(trees.replace(dof, friction=None) for dof in one.dofs)) for one in tree.joints
        ]
        scene = trees.replace(scene, articulations=(trees.replace(tree, joints=tuple(joints)),))
    rng = np.random.default_rng(5)
    speeds = np.geomspace(0.01, 12.0, 19)[:, None] * rng.normal(size=(19, len(scene.dof_names)))
    ends = []
    for chosen in (range(19), [0], [9], [18]):
        settings = SolverSettings(solver=solver, precision="float32", variant="lanes")
        simulation = Simulation(scene, environments=len(chosen), settings=settings)
        simulation.set_state(joint_velocity=speeds[list(chosen)])
        simulation.step(60)
        assert not simulation.failures()
        state = simulation.state
        ends.append(np.vstack((state.joint_position.numpy(), state.joint_velocity.numpy(), state.root_pose.numpy()[0])))
    for k, alone in zip((0, 9, 18), ends[1:]):
        np.testing.assert_array_equal(alone[:, 0], ends[0][:, k])


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_parameters_of_one_environment_are_its_own(solver):
    """Gears, offsets and switches of couplings changed in one environment leave the others bitwise as they are."""
    tree = tree_of_every_family()
    ends = []
    for changed in (False, True):
        simulation = Simulation(
            trees.scene(tree), environments=18, settings=SolverSettings(solver=solver, variant="lanes")
        )
        for name in ("mimic_gear", "mimic_offset", "mimic_enabled", "tendon_stiffness", "spatial_enabled"):
            values = getattr(simulation.parameters, name).numpy()
            if changed:
                values[:, 4] = 0.3 if name == "mimic_offset" else 0.0
            getattr(simulation.parameters, name).assign(values)
        simulation.step(30)
        ends.append(simulation.state.joint_position.numpy().copy())
    others = [k for k in range(18) if k != 4]
    np.testing.assert_array_equal(ends[0][:, others], ends[1][:, others])
    assert np.abs(ends[0][:, 4] - ends[1][:, 4]).max() > 1e-4


def test_runs_repeat_and_bursts_equal_single_steps():
    """Two runs are bitwise equal, and so are one launch of 60 steps and 60 launches of one."""
    tree = tree_of_every_family()
    paths = []
    for burst in (60, 60, 1):
        simulation = Simulation(trees.scene(tree), environments=5)
        for _ in range(60 // burst):
            simulation.step(burst)
        paths.append(simulation.state.joint_position.numpy().copy())
    np.testing.assert_array_equal(paths[0], paths[1])
    np.testing.assert_array_equal(paths[0], paths[2])


def test_a_checkpoint_resumes_bitwise(tmp_path):
    """Saving and loading in the middle changes nothing; another model is refused."""
    tree = tree_of_every_family()
    whole = Simulation(trees.scene(tree), environments=3)
    whole.step(25)
    whole.save(tmp_path / "half.npz")
    whole.step(25)
    resumed = Simulation(trees.scene(tree), environments=3)
    resumed.load(tmp_path / "half.npz")
    resumed.step(25)
    assert resumed.steps_done == 50
    np.testing.assert_array_equal(resumed.state.joint_position.numpy(), whole.state.joint_position.numpy())
    other = Simulation(trees.scene(trees.chain(2)), environments=3)
    with pytest.raises(Exception, match="another model"):
        other.load(tmp_path / "half.npz")


def test_a_bad_environment_is_frozen_and_named_and_the_others_go_on():
    """A NaN effort stops one environment at its last finite state; its neighbours are bitwise unchanged."""
    tree = tree_of_every_family()
    clean = Simulation(trees.scene(tree), environments=20)
    clean.step(30)
    dirty = Simulation(trees.scene(tree), environments=20)
    dirty.step(10)
    before = dirty.state.joint_position.numpy()[:, 4].copy()
    effort = np.zeros(dirty.control.joint_effort.shape)
    effort[3, 4] = np.nan
    dirty.control.joint_effort.assign(effort)
    dirty.step(20)
    (failure,) = dirty.failures()
    assert (failure.environment, failure.step) == (4, 11)
    assert "environment 4 stopped at step 11" in str(failure)
    others = [k for k in range(20) if k != 4]
    np.testing.assert_array_equal(
        dirty.state.joint_position.numpy()[:, others], clean.state.joint_position.numpy()[:, others]
    )
    np.testing.assert_array_equal(dirty.state.joint_position.numpy()[:, 4], before)
