"""The nearest start in which a mechanism is together."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tests import closed_mechanisms, trees
from tests.constraints.test_loop_joint import FREE, angles_of, four_bar
from warp_artic.description.assemble import Closure, all_closed, assemble, closed
from warp_artic.description.distance import Distance
from warp_artic.description.gaps import OPEN_BY
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.limit import Limit
from warp_artic.description.loop_joint import LoopJoint, start_gap
from warp_artic.description.mechanism import joined
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose
from warp_artic.description.start_pose import start_poses

BALL = FREE["spherical"]


def largest_gap(mechanism):
    """By how much loop joints and distances are open at the start [m or rad]."""
    frame = Closure(mechanism)
    gaps = frame.gaps(frame.start)
    return max((gap.largest for gap in gaps[: len(frame.links)]), default=0.0)


def at(tree, positions):
    """A tree that starts at other positions."""
    left = iter(positions)
    joints = tuple(
        replace(joint, dofs=tuple(replace(dof, position=float(next(left))) for dof in joint.dofs))
        for joint in tree.joints
    )
    return replace(tree, joints=joints)


def positions_of(tree):
    """[m or rad]"""
    return np.array([dof.position for dof in tree.dofs])


def limited(tree, dof, lower, upper):
    """A tree with a limit on a dof."""
    changed = [
        replace(joint, dofs=tuple(replace(one, limit=Limit(lower=lower, upper=upper)) if one is tree.dofs[dof] else one
                                  for one in joint.dofs))
        for joint in tree.joints
    ]  # fmt: skip
    return replace(tree, joints=tuple(changed))


def closed_at(crank):
    """The positions of a four-bar linkage in which it is together, by the law of cosines."""
    coupler, rocker = angles_of(crank)
    return np.array([crank, coupler - crank, rocker])


START = (0.5, 0.9, 2.3)


@pytest.mark.parametrize("free", [(Axis.ROT_Z,), (Axis.TRANS_Z, *BALL)])
def test_the_nearest_start_of_a_linkage(free):
    """As near as any point of its path, also where rows are redundant; to rounding."""
    tree = at(four_bar(free), START)
    assert largest_gap(tree) > 0.01
    found = assemble(tree)
    assert found.closes
    assert found.gaps_before[0].distance == pytest.approx(start_gap(tree, tree.constraints[0])[0])
    assert max(gap.largest for gap in found.gaps) < 1e-12
    best = minimize_scalar(lambda crank: np.sum((closed_at(crank) - START) ** 2), bounds=(-0.5, 1.5), method="bounded",
                           options={"xatol": 1e-12})  # fmt: skip
    np.testing.assert_allclose(positions_of(found.articulations[0]), closed_at(best.x), atol=1e-7)


def test_limits_are_respected():
    """The nearest start within them: at the bound that the other one is beyond."""
    tree = limited(at(four_bar(), START), 0, 0.8, 2.0)
    (made,) = assemble(tree).articulations
    np.testing.assert_allclose(positions_of(made), closed_at(0.8), atol=1e-9)


def test_what_is_together_stays_as_it_is():
    """To the last bit."""
    tree = closed(four_bar())
    assert closed(tree) is tree
    np.testing.assert_allclose(positions_of(assemble(tree).articulations[0]), positions_of(tree), atol=1e-12)


def test_what_is_open_by_next_to_nothing_is_closed():
    """The shortest way, whatever else there is: joints outside of their limits, and mimic joints, stay as they are."""
    tree = four_bar()
    away = at(tree, positions_of(tree) + (1e-5, -2e-5, 1e-5))
    assert 1e-7 < largest_gap(away) < OPEN_BY
    mimic = Mimic(name="/m", dofs=(0, 1), gears=(1.0, 3.0), offset=1.0)
    away = limited(replace(away, mimics=(mimic,)), 2, -1.0, 1.0)
    made = closed(away)
    assert largest_gap(made) < 1e-13
    assert np.abs(positions_of(made) - positions_of(away)).max() < 1e-4


@pytest.mark.parametrize("off", [1e-8, 1e-6, 1e-5])
@pytest.mark.parametrize("count", [3, 5])
def test_redundant_loops_do_not_lead_away(count, off):
    """What numbers are rounded by cannot be closed everywhere along a path; a start is not moved along it for that."""
    tree = closed_mechanisms.coupled_cranks(count, off=off)
    made = closed(tree)
    assert np.abs(positions_of(made) - positions_of(tree)).max() < 10.0 * off
    assert largest_gap(made) < min(4.0 * off, 1.01 * largest_gap(tree))
    away = at(tree, positions_of(tree) + 0.01 * (np.arange(count + 1) == 0))
    found = assemble(away)
    assert found.closes
    assert np.abs(positions_of(found.articulations[0]) - positions_of(tree)).max() < 0.02


def test_copies_take_over_what_one_has_found():
    """As if each were closed by itself; a loop to the world is closed where it is."""
    tree = at(four_bar(), positions_of(four_bar()) + (1e-5, -2e-5, 1e-5))
    moved = [
        replace(joint, parent_frame=Pose((5.0, 0.0, 0.0)) @ joint.parent_frame) if joint.parent == WORLD else joint
        for joint in tree.joints
    ]
    copies = [tree, tree, replace(tree, path="/copy", joints=tuple(moved))]
    made = all_closed(copies)
    for one, alone in zip(made, map(closed, copies)):
        np.testing.assert_allclose(positions_of(one), positions_of(alone), atol=1e-15)
        assert largest_gap(one) < 1e-13
    assert made[2].path == "/copy"


def pin(link0, link1, frame0, frame1=(0.0, 0.0, 0.0), name="pin", free=BALL):
    """A loop joint between two points."""
    return LoopJoint(name=name, link0=link0, link1=link1, frame0=Pose(frame0), frame1=Pose(frame1), free=free)


def test_a_mechanism_that_cannot_be_together():
    """A rod of half a metre whose end is wanted at 0.8 m: it points there, 0.3 m too short."""
    tree = trees.chain(1, "revolute_y", length=0.5)
    end = np.array(start_poses(tree)[0].apply(np.multiply(2.0, tree.links[0].center_of_mass)))
    origin = np.array(start_poses(tree)[0].position)
    turned = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]) @ (end - origin)
    wanted = origin + 1.6 * turned
    tree = replace(
        tree, constraints=(pin(WORLD, 0, tuple(wanted), tuple(np.multiply(2.0, tree.links[0].center_of_mass))),)
    )
    found = assemble(tree)
    assert not found.closes
    assert found.gaps[0].distance == pytest.approx(0.6 * np.linalg.norm(end - origin))


@pytest.mark.parametrize("seed", range(6))
def test_random_mechanisms_are_put_together(seed):
    """Trees of every kind of joint with two loops, taken apart by tenths of radians."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 8, floating=bool(seed % 2), branching=0.5)
    tree = replace(tree, fixed_tendons=(), spatial_tendons=(), mimics=())
    poses = (*start_poses(tree), Pose())
    loops = []
    for number, (link0, link1) in enumerate(((WORLD, 5), (2, 7))):
        meet = Pose(tuple(rng.normal(size=3)), Pose.of((0, 0, 0), np.eye(3)).quaternion)
        frame0, frame1 = poses[link0].inverse() @ meet, poses[link1].inverse() @ meet
        free = BALL if number else (Axis.ROT_X,)
        loops.append(LoopJoint(name=f"/l{number}", link0=link0, link1=link1, frame0=frame0, frame1=frame1, free=free))
    tree = replace(tree, constraints=tuple(loops))
    assert largest_gap(tree) < 1e-9
    away = at(tree, positions_of(tree) + rng.uniform(-0.2, 0.2, len(tree.dofs)))
    assert largest_gap(away) > 0.01
    found = assemble(away)
    assert found.closes
    (made,) = found.articulations
    assert max(sum(start_gap(made, loop)) for loop in loops) < 1e-8


@pytest.mark.parametrize("kind", FREE)
@pytest.mark.parametrize("floating", [False, True])
def test_rates_of_errors(kind, floating):
    """By differences, for all kinds of joints in the tree and beside it, distances and mimic joints."""
    rng = np.random.default_rng(3)
    tree = trees.random_articulation(rng, 7, floating=floating, branching=0.5)
    single = [number for number, dof in enumerate(tree.dofs)][:2]
    loops = [
        LoopJoint(name="/a", link0=1, link1=5, free=FREE[kind], frame0=trees.random_pose(rng, 0.3)),
        LoopJoint(name="/b", link0=WORLD, link1=6, free=FREE[kind], frame1=trees.random_pose(rng, 0.3)),
    ]
    rod = Distance(name="/c", link0=2, link1=6, position0=(0.1, 0.2, 0.3), lower=5.0, upper=6.0)
    string = Distance(name="/d", link0=3, link1=4, upper=1e-3)
    mimic = Mimic(name="/e", dofs=tuple(single), gears=(1.0, -2.0))
    tree = replace(tree, constraints=(*loops, rod, string), mimics=(mimic,), fixed_tendons=(), spatial_tendons=())
    frame = Closure(tree)
    x = frame.start + rng.uniform(-0.2, 0.2, frame.count)
    differences = []
    for column in range(frame.count):
        nudge = 1e-6 * np.eye(frame.count)[column]
        differences.append((frame.errors(x + nudge) - frame.errors(x - nudge)) / 2e-6)
    np.testing.assert_allclose(frame.jacobian(x), np.transpose(differences), atol=3e-8 * max(frame.size, 1.0))


def test_a_floating_tree_comes_to_the_world():
    """By its root, whose pose is of the start too; joints take their part."""
    tree = trees.chain(2, "revolute_y", floating=True)
    far = replace(tree, constraints=(pin(WORLD, 1, (0.3, 1.0, 2.0)),))
    (made,) = assemble(far).articulations
    assert largest_gap(made) < 1e-10
    assert made.links[0].pose != tree.links[0].pose


def test_each_tree_of_a_mechanism():
    """Two linkages as one, of which only one is open."""
    tree, away = four_bar(), at(four_bar(), START)
    joints = tuple(replace(joint, path="/other" + joint.path) for joint in away.joints)
    other = replace(away, path="/other", joints=joints)
    found = assemble(joined([tree, other]))
    assert found.closes and len(found.articulations) == 2
    np.testing.assert_allclose(positions_of(found.articulations[0]), positions_of(tree), atol=1e-9)
    alone = assemble(at(tree, START)).articulations[0]
    np.testing.assert_allclose(positions_of(found.articulations[1]), positions_of(alone), atol=1e-6)


def test_a_joint_between_two_trees():
    """Both take their part, and each keeps what it has."""
    first, away = trees.chain(2, "revolute_y"), trees.chain(2, "revolute_y")
    joints = tuple(replace(joint, path="/other" + joint.path) for joint in away.joints)
    second = replace(away, path="/other", joints=joints)
    tip = tuple(np.multiply(2.0, first.links[1].center_of_mass))
    loop = replace(pin(1, 1, tip, (0.0, 0.0, 0.0)), articulation1="/other")
    mechanism = joined([replace(first, constraints=(loop,)), second])
    assert largest_gap(mechanism) > 0.1
    found = assemble(mechanism)
    assert found.closes
    assert found.articulations[0].constraints == (loop,)
    assert largest_gap(joined(found.articulations)) < 1e-10
    changes = [np.abs(positions_of(made) - positions_of(one)).max()
               for made, one in zip(found.articulations, (first, second))]  # fmt: skip
    assert min(changes) > 0.01


def test_a_start_far_off_finds_another_way():
    """From where a step leads nowhere: an arm that points straight away from what it is to reach."""
    tree = trees.chain(2, "revolute_y", length=0.5)
    poses = start_poses(tree)
    root = np.array(poses[0].position)
    tip = poses[1].apply(np.multiply(2.0, tree.links[1].center_of_mass))
    wanted = tuple(root - 0.8 * (tip - root))
    loop = pin(WORLD, 1, wanted, tuple(np.multiply(2.0, tree.links[1].center_of_mass)))
    found = assemble(replace(tree, constraints=(loop,)))
    assert found.closes
    assert found.gaps_before[0].distance > 100 * OPEN_BY
