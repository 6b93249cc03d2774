"""What limits of loop joints do counts in the load of their joint, in reports and where it breaks: statics."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.loop_pairs import H, pair, simulate
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector

RX, RY, RZ, TX, TY, TZ = Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z, Axis.TRANS_X, Axis.TRANS_Y, Axis.TRANS_Z
BALL = (RX, RY, RZ)
G = 9.81
SOLVERS = {
    "direct": {"solver": "direct"},
    "pgs": {"solver": "pgs", "position_iterations": 400},
    "tgs": {"solver": "tgs", "position_iterations": 4, "velocity_iterations": 400},
}
RESTING = {"hinge": ((RY,), (0.3,)), "slide": ((TZ,), (0.1,)), "cylinder": ((TX, RX), (0.1, 0.2))}
"""Free axes, and where the body rests on a limit of each of them."""


def resting(case, is_soft=False):
    """A body on a loop joint to the world, of which each free axis is at the end that weight pushes it to."""
    axes, positions = RESTING[case]
    loose, _ = pair(axes, positions, [0.0] * len(axes))
    simulation = simulate(loose)
    simulation.step(1)
    spring = {"stiffness": 4000.0, "damping": 200.0} if is_soft else {}
    limits = []
    for axis, q, v in zip(axes, positions, simulation.state.joint_velocity.numpy()[:, 0]):
        ends = {"lower": q - 0.5, "upper": q} if v > 0.0 else {"lower": q, "upper": q + 0.5}
        limits.append((axis, Limit(**ends, **spring)))
    return pair(axes, positions, [0.0] * len(axes), limits)[1]


def rope(length=0.7):
    """A body that hangs on a distance limit of a joint that holds nothing."""
    body = Link(path="/t/body", mass=1.5, inertia=(0.02, 0, 0, 0.03, 0, 0.025), pose=Pose((0.0, 0.0, -length)))
    joint = LoopJoint(name="/t/joint", link0=WORLD, link1=0, free=tuple(Axis), distance_limit=Limit(upper=length))
    return Articulation(path="/t", links=(body,), joints=(), constraints=(joint,))


def droop(angle=0.4):
    """A body whose centre of mass is on the twist axis of a ball joint, and hangs down from level as far as a cone."""
    turn = quaternion_from_rotation_vector((0.0, angle, 0.0))
    body = Link(
        path="/t/body",
        mass=1.5,
        inertia=(0.02, 0, 0, 0.03, 0, 0.03),
        center_of_mass=(0.3, 0, 0),
        pose=Pose((0, 0, 0), turn),
    )
    cone = ConeLimit(angle_1=angle, angle_2=2.0 * angle)
    joint = LoopJoint(name="/t/joint", link0=WORLD, link1=0, free=BALL, cone_limit=cone)
    return Articulation(path="/t", links=(body,), joints=(), constraints=(joint,))


MAKERS = {**{case: lambda case=case: resting(case) for case in RESTING}, "rope": rope, "droop": droop}


def reaction(tree, pose):
    """Force and torque by the joint on a body at rest, in the second joint frame about its origin; of the world's."""
    (link,), (loop,) = tree.links, tree.constraints
    placed = Pose(tuple(pose[:3]), tuple(pose[3:]))
    force = np.array([0.0, 0.0, link.mass * G])
    ends = {0: loop.frame0, 1: loop.frame1}
    poses = {side: (placed @ ends[side]) if (loop.link0, loop.link1)[side] == 0 else ends[side] for side in (0, 1)}
    arm = np.asarray(placed.apply(link.center_of_mass)) - np.asarray(poses[1].position)
    sign = 1.0 if loop.link1 == 0 else -1.0
    R_1 = poses[1].rotation
    return sign * np.concatenate([R_1.T @ force, R_1.T @ np.cross(arm, force)])


def swapped(tree):
    """The same joint from the body to the world."""
    (loop,) = tree.constraints
    ends = {"link0": loop.link1, "link1": loop.link0, "frame0": loop.frame1, "frame1": loop.frame0}
    limits = tuple((axis, Limit(lower=-limit.upper, upper=-limit.lower)) for axis, limit in loop.limits)
    return replace(tree, constraints=(replace(loop, limits=limits, **ends),))


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", MAKERS)
def test_a_body_that_rests_on_limits(case, solver, integrator):
    """The joint holds its whole weight, and the moment of that, by held axes and limits; step after step the same."""
    tree = MAKERS[case]()
    recording = simulate(tree, integrator=integrator, **SOLVERS[solver]).record(12, forces=True)
    wanted = reaction(tree, recording.link_pose[0, 0, 0].astype(float))
    tolerance = 1e-9 if solver == "direct" else 1e-6
    np.testing.assert_allclose(recording.link_pose[-1], recording.link_pose[0], atol=1e-9)
    np.testing.assert_allclose(recording.loop_force[4:, 0, 0], np.broadcast_to(wanted, (9, 6)), atol=tolerance * 15.0)


@pytest.mark.parametrize("case", ["rope", "slide"])
def test_the_load_is_that_of_the_second_body(case):
    """From the body to the world: what the world is pushed by."""
    tree = swapped(rope()) if case == "rope" else swapped(trees.replace(falling(), links=at_the_end()))
    recording = simulate(tree).record(12, forces=True)
    wanted = reaction(tree, recording.link_pose[0, 0, 0].astype(float))
    np.testing.assert_allclose(recording.loop_force[-1, 0, 0], wanted, atol=1e-8)


@pytest.mark.parametrize("case", RESTING)
def test_a_body_that_rests_on_soft_limits(case):
    """When it has come to rest."""
    tree = resting(case, is_soft=True)
    recording = simulate(tree).record(1200, forces=True)
    wanted = reaction(tree, recording.link_pose[-1, 0, 0].astype(float))
    np.testing.assert_allclose(recording.loop_force[-1, 0, 0], wanted, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("case", RESTING)
def test_drives_and_friction_are_not_in_it(case):
    """What they hold along the free axes is missing from the load, as it is without them."""
    axes, positions = RESTING[case]
    servos = [Drive(stiffness=1e6, damping=1e3, position_target=q) for q in positions]
    brake = Friction(static_effort=1e3, dynamic_effort=1e3)
    for acts in ({"drives": tuple(zip(axes, servos))}, {"frictions": tuple((axis, brake) for axis in axes)}):
        _, tree = pair(axes, positions, np.zeros(len(axes)))
        tree = replace(tree, constraints=(replace(tree.constraints[0], **acts),))
        recording = simulate(tree).record(960, forces=True)
        load = recording.loop_force[-1, 0, 0].astype(float)
        wanted = reaction(tree, recording.link_pose[-1, 0, 0].astype(float))
        for axis in axes:
            held = axis.index + (0 if axis.is_linear else 3)
            # Frames are turned against each other about the free axis only, so that it is that of both.
            assert abs(wanted[held]) > 0.1 and abs(load[held]) < 1e-6
        others = [k for k in range(6) if k not in {axis.index + (0 if axis.is_linear else 3) for axis in axes}]
        np.testing.assert_allclose(load[others], wanted[others], atol=1e-4 * np.abs(wanted).max())


# ---------------------------------------------------------------------------------------------------------------------
# Breaking
# ---------------------------------------------------------------------------------------------------------------------


def falling(**loop):
    """A body of 2 kg on a vertical slide, at rest 0.2 m above its end."""
    body = Link(path="/t/body", mass=2.0, inertia=(0.1, 0, 0, 0.1, 0, 0.1))
    limits = ((TZ, Limit(lower=-0.2, upper=1.0)),)
    joint = LoopJoint(name="/t/joint", link0=WORLD, link1=0, free=(TZ,), limits=limits, **loop)
    return Articulation(path="/t", links=(body,), joints=(), constraints=(joint,))


@pytest.mark.parametrize("solver", SOLVERS)
def test_it_breaks_where_it_arrives_at_its_limit(solver):
    """By the impact in one step, and then it falls on; one that may carry more stays there."""
    arrives = int(np.ceil(np.sqrt(2.0 * 0.2 / G) / H))
    speed = G * H * arrives
    for share, is_broken in ((0.8, True), (1.3, False)):
        simulation = simulate(falling(break_force=share * 2.0 * speed / H), **SOLVERS[solver])
        recording = simulation.record(80)
        events = simulation.broken_loops()
        if is_broken:
            (event,) = events
            assert event.step == arrives
            assert event.force == pytest.approx(2.0 * speed / H, rel=0.02)
            assert recording.link_pose[-1, 0, 0, 2] < -0.25
        else:
            assert not events
            assert recording.link_pose[-1, 0, 0, 2] == pytest.approx(-0.2, abs=1e-5)


def loaded(tree, precision="float64", variant="scalar", environments=1, **settings):
    """A body that is pulled down by a newton more in each step, for forty steps; the steps in which joints broke."""
    simulation = simulate(tree, environments, precision=precision, variant=variant, **settings)
    simulation.step(5)
    for step in range(1, 41):
        pull = np.zeros((1, 6, environments))
        pull[0, 2] = -float(step)
        simulation.control.link_external_force.assign(pull.astype(simulation.control.link_external_force.numpy().dtype))
        simulation.step(1)
    return [(event.environment, event.step) for event in simulation.broken_loops()]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("make", [rope, lambda: trees.replace(falling(), links=at_the_end())], ids=["rope", "slide"])
def test_it_breaks_in_the_step_of_its_load(make, solver):
    """Weight and pull exceed what a joint carries from a step on that is known."""
    tree = make()
    weight = tree.links[0].mass * G
    (loop,) = tree.constraints
    tree = replace(tree, constraints=(replace(loop, break_force=weight + 17.5),))
    assert loaded(tree, **SOLVERS[solver]) == [(0, 5 + 18)]


def at_the_end():
    """The body of `falling` where it rests on the limit."""
    return (replace(falling().links[0], pose=Pose((0.0, 0.0, -0.2))),)


def test_environments_break_at_their_limits():
    """In lanes of float32, each at its own load."""
    tree = replace(rope(), constraints=(replace(rope().constraints[0], break_force=1e6),))
    simulation = simulate(tree, 17, precision="float32", variant="lanes")
    carried = 1.5 * G + 3.5 + np.arange(17.0)
    simulation.set_values("loop_break_force", carried[:, None].astype(np.float32))
    simulation.step(5)
    for step in range(1, 41):
        pull = np.zeros((1, 6, 17), np.float32)
        pull[0, 2] = -float(step)
        simulation.control.link_external_force.assign(pull)
        simulation.step(1)
    events = simulation.broken_loops()
    assert [(one.environment, one.step) for one in events] == [(k, 5 + 4 + k) for k in range(17)]


def test_a_torque_limit_counts_stops():
    """A lever that rests on the end of its hinge breaks by the moment of its weight about that."""
    tree = resting("hinge")
    pose = simulate(tree).state.link_pose.numpy()[0, :, 0].astype(float)
    moment = float(np.linalg.norm(reaction(tree, pose)[3:]))
    about_axes = float(np.linalg.norm(reaction(tree, pose)[[3, 5]]))
    assert about_axes < 0.99 * moment
    for share, is_broken in ((0.993, True), (1.007, False)):
        (loop,) = tree.constraints
        one = simulate(replace(tree, constraints=(replace(loop, break_torque=share * moment),)))
        one.step(20)
        assert bool(one.broken_loops()) == is_broken
