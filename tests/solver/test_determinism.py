"""The same environment is bitwise the same in any batch and slot."""

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests import trees
from tests.busy_tree import coupled, distances
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.constraints import table
from warp_artic.constraints.table import IN_STEPS
from warp_artic.description.distance import Distance
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.friction import Friction
from warp_artic.description.joint import Axis
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.mechanisms.tree import tree_of
from warp_artic.model.dofs import DofLayout
from warp_artic.model.force_parts import ForcePart
from warp_artic.usd.read_stage import read_stage

RAGDOLL = Path(__file__).parents[2] / "samples" / "scenes" / "ragdoll.usda"


OF_A_TREE = {family for family in IN_STEPS if family.part is not ForcePart.CONTACT}


def limits_of(joint, place):
    """Bounds of a joint by its dofs and its place: hard, soft and bouncing stops, twist and swing limits, a cone."""
    if len(joint.dofs) == 1:
        kinds = (
            Limit(lower=-0.2, upper=0.1),
            Limit(lower=-0.4, upper=0.3, stiffness=300.0, damping=2.0),
            Limit(lower=-0.1, upper=0.2, restitution=0.5, bounce_threshold=0.1),
            None,
        )
        return [kinds[place % 4]], None
    if len(joint.dofs) == 2:
        soft = Limit(lower=-0.2, upper=0.3, stiffness=50.0, damping=0.5)
        return [Limit(lower=-0.3, upper=0.2), soft if place % 2 else Limit(lower=-0.3, upper=0.2)], None
    twist = Limit(lower=-0.4, upper=0.5)
    kinds = (
        ([twist, Limit(lower=-0.5, upper=0.5), Limit(lower=-0.6, upper=0.4)], None),
        ([twist, None, None], ConeLimit(angle_1=0.8, angle_2=0.6)),
        (
            [Limit(lower=-0.05, upper=0.05, stiffness=20.0, damping=0.5), None, None],
            ConeLimit(angle_1=0.4, angle_2=0.6, stiffness=40.0),
        ),
        ([twist, Limit(lower=-0.3, upper=0.4, stiffness=40.0, damping=0.2), None], None),
    )
    return kinds[place % 4]


def with_limits(tree):
    """Limits of every family, counted among the joints with as many dofs."""
    joints, places = [], {1: 0, 2: 0, 3: 0}
    for joint in tree.joints:
        if joint.dofs:
            limits, cone = limits_of(joint, places[len(joint.dofs)])
            places[len(joint.dofs)] += 1
            dofs = tuple(trees.replace(dof, limit=limit) for dof, limit in zip(joint.dofs, limits))
            joint = trees.replace(joint, dofs=dofs, cone_limit=cone)
        joints.append(joint)
    return trees.replace(tree, joints=tuple(joints))


def busy_tree(links=18):
    """A floating tree with every joint type and every constraint family at work."""
    rng = np.random.default_rng(11)
    tree = trees.random_articulation(rng, links, floating=True, kinds=(*trees.JOINT_KINDS, "spherical"))
    count = len(tree.dofs)
    drives = [
        Drive(
            kind=DriveKind.ACCELERATION if k % 5 == 0 else DriveKind.FORCE,
            stiffness=float(rng.uniform(5, 100)),
            damping=float(rng.uniform(0.5, 5)),
            position_target=float(rng.normal()),
            max_force=3.0 if k % 3 == 0 else np.inf,
        )
        if k % 4
        else None
        for k in range(count)
    ]
    tree = trees.with_dofs(
        tree,
        drive=drives,
        friction=[Friction(static_effort=0.3, dynamic_effort=0.2) if k % 4 == 0 else None for k in range(count)],
        velocity_limit=[2.0 if k % 7 == 0 else np.inf for k in range(count)],
    )
    bounded = tuple(
        trees.replace(
            link, max_linear_velocity=1.0 if k == 5 else np.inf, max_angular_velocity=2.0 if k == 9 else np.inf
        )
        for k, link in enumerate(tree.links)
    )
    tree = trees.replace(tree, links=bounded, max_linear_velocity=0.3, max_angular_velocity=0.4)
    tree = coupled(rng, with_limits(tree))
    everywhere = tuple(trees.replace(tendon, all_segments=True) for tendon in tree.spatial_tendons)
    return trees.replace(tree, spatial_tendons=everywhere, constraints=(*distances(tree), loop_joint(tree)))


def loop_joint(tree):
    """A point of a link that stays in a plane of another one, where both are at the start, near limits and driven."""
    placed = rigid.motion(tree, trees.authored_state(tree))
    layout = DofLayout(tree)
    pairs = combinations(range(len(tree.bodies)), 2)
    link0, link1 = max(pairs, key=lambda pair: len(set(layout.inward(pair[0])) ^ set(layout.inward(pair[1]))))
    place = placed.R_WL[link0].T @ (placed.p_WL[link1] - placed.p_WL[link0])
    soft = Limit(lower=-0.02, upper=0.02, stiffness=50.0, damping=0.5)
    return LoopJoint(
        name="/World/plane",
        link0=link0,
        link1=link1,
        frame0=Pose(tuple(map(float, place))),
        free=tuple(Axis)[1:],
        limits=((Axis.TRANS_Y, Limit(lower=-0.01, upper=0.01)), (Axis.TRANS_Z, soft)),
        drives=((Axis.TRANS_Z, Drive(stiffness=20.0, damping=1.0, position_target=0.1)),),
        frictions=((Axis.TRANS_Z, Friction(static_effort=0.2, dynamic_effort=0.1, viscous=2.0)),),
        armatures=((Axis.TRANS_Z, 0.5),),
        velocity_limits=((Axis.TRANS_Y, 0.02),),
    )


def test_the_busy_tree_has_a_row_of_every_family():
    """None is left out of what follows, whichever there are, but those of contacts, which contacts/ has."""
    assert {row.family for row in tree_of(busy_tree()).rows} == OF_A_TREE


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
    state = calm_state(np.random.default_rng(2), busy_tree())
    return final_states(tree, [state], 1, [0], "float32")[0]


@cache
def end_of_the_busy_tree():
    """With every family."""
    return end(busy_tree())


@pytest.mark.parametrize("family", sorted(OF_A_TREE, key=lambda family: family.order), ids=lambda family: family.name)
def test_every_family_is_at_work(family):
    """The same run without it ends elsewhere."""
    assert np.abs(end(without(busy_tree(), family)) - end_of_the_busy_tree()).max() > 1e-4


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


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_results_do_not_depend_on_batch_slot_or_neighbours(solver, precision, integrator):
    """Bitwise equal in batches of 1, 17 and 100, at the front, in the middle and at the end, all families on."""
    tree = busy_tree()
    rng = np.random.default_rng(2)
    states = [calm_state(rng, tree) for _ in range(3)]
    settings = {"solver": solver, "integrator": integrator, "steps": 12}
    alone = [final_states(tree, [state], 1, [0], precision, **settings)[0] for state in states]
    for environments, slots in ((17, (0, 7, 16)), (17, (16, 0, 3)), (100, (99, 15, 52))):
        for expected, found in zip(alone, final_states(tree, states, environments, slots, precision, **settings)):
            np.testing.assert_array_equal(found, expected)


def test_results_do_not_depend_on_a_thousand_neighbours():
    """Bitwise equal among a thousand."""
    tree = busy_tree()
    rng = np.random.default_rng(2)
    states = [calm_state(rng, tree) for _ in range(3)]
    alone = [final_states(tree, [state], 1, [0], "float32", steps=3)[0] for state in states]
    for expected, found in zip(alone, final_states(tree, states, 1000, (999, 15, 512), "float32", steps=3)):
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
    tree = busy_tree()
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
    tree = busy_tree()
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
    tree = busy_tree()
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
    tree = busy_tree()
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
