"""Loop joints that break: when, by what, and what is left of them."""

import math

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_loop_joint import FREE, bodies, four_bar, in_plane
from tests.simulations import simulate_exactly as simulate
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import Limit
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector
from warp_artic.description.validate import findings

SOLVERS = pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])


def pendulum(**breaks) -> Articulation:
    """A mass of 2 kg on a rod of 0.8 m, which a loop joint of a kind holds to the world from 60 degrees on."""
    place = Pose(
        (0.8 * np.sin(np.pi / 3.0), 0.0, -0.8 * np.cos(np.pi / 3.0)),
        quaternion_from_rotation_vector((0.0, -np.pi / 3.0, 0.0)),
    )
    bob = Link(path="/t/bob", mass=2.0, inertia=(1e-4, 0, 0, 1e-4, 0, 1e-4), pose=place)
    frame = Pose((0.0, 0.0, 0.8))
    loop = LoopJoint(name="/t/loop", link0=WORLD, link1=0, frame1=frame, free=FREE["spherical"], **breaks)
    return Articulation(path="/t", links=(bob,), joints=(), constraints=(loop,))


def cantilever(**breaks) -> Articulation:
    """A beam of 3 kg and 1 m whose end is fixed to the world: 29.43 N and 14.715 N m."""
    beam = Link(path="/t/beam", mass=3.0, inertia=(0.01, 0, 0, 0.3, 0, 0.3), center_of_mass=(0.5, 0.0, 0.0))
    loop = LoopJoint(name="/t/loop", link0=WORLD, link1=0, **breaks)
    return Articulation(path="/t", links=(beam,), joints=(), constraints=(loop,))


@pytest.mark.parametrize("angle", [40.0, 20.0])
def test_a_pendulum_breaks_at_its_tension(angle):
    """m g (3 cos angle - 2 cos 60): it breaks where the angle has been reached, to a step."""
    wanted = math.radians(angle)
    limit = 2.0 * 9.81 * (3.0 * math.cos(wanted) - 2.0 * 0.5)
    simulation = simulate(trees.scene(pendulum(break_force=limit)))
    recording = simulation.record(240, forces=True)
    broken = recording.loop_broken[:, 0, 0]
    first = int(np.argmax(broken))
    assert broken[first:].all() and not broken[:first].any() and first > 10
    p = recording.link_pose[:, 0, 0, :3].astype(float)
    angles = np.arctan2(p[:, 0], -p[:, 2])
    assert angles[first] < wanted + 1e-3 < angles[first - 2] + 1e-3
    force = np.linalg.norm(recording.loop_force[:, 0, 0, :3], axis=1)
    assert force[first] > limit >= force[first - 1]
    assert not recording.loop_force[first + 1 :].any()
    # From then on it flies.
    v = (p[first + 2 :] - p[first + 1 : -1]) * 240.0
    fall = np.diff(v, axis=0) * 240.0
    np.testing.assert_allclose(fall, np.broadcast_to([0.0, 0.0, -9.81], fall.shape), atol=1e-5)
    (event,) = simulation.broken_loops()
    assert (event.environment, event.joint, event.step) == (0, "/t/loop", first)
    assert event.force == pytest.approx(force[first], rel=1e-12)
    assert event.torque < 1e-6
    assert str(event).startswith(f"/t/loop: broke in environment 0 at step {first}, by ")


@SOLVERS
@pytest.mark.parametrize("quantity", ["force", "torque"])
def test_it_breaks_by_what_is_reported(solver, quantity):
    """At the end of the first step that reports more, whatever solver has found it, and then it transmits nothing."""
    _, tree = bodies("fixed")
    (loop,) = tree.constraints
    part = slice(0, 3) if quantity == "force" else slice(3, 6)
    whole = simulate(trees.scene(tree), solver=solver).record(120, forces=True)
    load = np.linalg.norm(whole.loop_force[:, 0, 0, part], axis=1)
    limit = 0.9 * float(load.max())
    wanted = int(np.argmax(load > limit))
    assert wanted > 1
    tree = trees.replace(tree, constraints=(trees.replace(loop, **{f"break_{quantity}": limit}),))
    simulation = simulate(trees.scene(tree), solver=solver)
    recording = simulation.record(120, forces=True)
    np.testing.assert_array_equal(recording.loop_broken[:, 0, 0], np.arange(121) >= wanted)
    np.testing.assert_array_equal(recording.loop_force[: wanted + 1], whole.loop_force[: wanted + 1])
    assert not recording.loop_force[wanted + 1 :].any()
    (event,) = simulation.broken_loops()
    assert event.step == wanted and getattr(event, quantity) == pytest.approx(load[wanted], rel=1e-12)
    quiet = simulate(trees.scene(tree), solver=solver)
    quiet.step(120)
    assert quiet.broken_loops() == [event]
    np.testing.assert_array_equal(quiet.state.link_pose.numpy(), simulation.state.link_pose.numpy())


@SOLVERS
@pytest.mark.parametrize(
    ("breaks", "is_broken"),
    [
        ({"break_force": 27.4}, True),
        ({"break_force": 31.5}, False),
        ({"break_torque": 13.7}, True),
        ({"break_torque": 15.7}, False),
        ({"break_force": 31.5, "break_torque": 13.7}, True),
    ],
    ids=str,
)
def test_a_beam_breaks_by_force_or_torque(solver, breaks, is_broken):
    """Of a load that is known, below and above."""
    simulation = simulate(trees.scene(cantilever(**breaks)), solver=solver, position_iterations=64)
    simulation.step(20)
    assert bool(simulation.broken_loops()) == is_broken
    assert simulation.state.loop_broken.numpy().shape == (1, 1)
    fallen = -simulation.state.link_pose.numpy()[0, 2, 0]
    assert (fallen > 0.01) == is_broken


def test_what_is_broken_does_nothing():
    """From the same state a mechanism goes on as one that has no such joint."""
    whole = four_bar(velocity=False)
    tip = whole.constraints[0].frame0
    (x, y, _) = Pose((0.2, 0.0, 0.0), quaternion_from_rotation_vector((0.0, 0.0, whole.dofs[1].position))).apply(
        tip.position
    )
    loop = trees.replace(whole.constraints[0], link0=WORLD, link1=1, frame0=Pose((x, y, 0.0)), frame1=tip)
    tree = trees.replace(whole, links=whole.links[:2], joints=whole.joints[:2], constraints=(loop,))
    one = simulate(in_plane(tree))
    other = simulate(in_plane(trees.replace(tree, constraints=())))
    one.set_state(loop_broken=[1.0])
    assert one.broken_loops()[0].step == 0
    one.step(120, forces=True)
    other.step(120, forces=True)
    np.testing.assert_allclose(one.state.joint_position.numpy(), other.state.joint_position.numpy(), atol=2e-3)
    assert not one.state.loop_force.numpy().any() and not one.state.joint_loop_force.numpy().any()
    assert one.state.loop_error.numpy()[0, 0, 0] > 0.1


@pytest.mark.parametrize("variant", ["lanes", "scalar"])
@SOLVERS
def test_environments_break_alone(solver, variant):
    """Each bitwise as without the others, whichever has broken; the same again after a reset."""
    _, tree = bodies("revolute")
    scene = trees.scene(tree)
    force = np.linalg.norm(
        simulate(scene, solver=solver, precision="float32").record(80, forces=True).loop_force[:, 0, 0, :3], axis=1
    )
    limits = np.quantile(force, [0.3, 0.6, 0.9, 1.0]) * np.array([1.0, 1.0, 1.0, 2.0])
    limits = np.array([*limits, np.inf])

    def run(chosen):
        simulation = simulate(scene, len(chosen), solver=solver, variant=variant, precision="float32")
        simulation.set_values("loop_break_force", limits[chosen][:, None])
        return simulation, simulation.record(80)

    simulation, together = run(np.arange(5))
    np.testing.assert_array_equal(together.loop_broken[-1, :, 0], [1, 1, 1, 0, 0])
    assert len({one.step for one in simulation.broken_loops()}) > 1
    for k in (0, 2, 3):
        _, alone = run(np.array([k]))
        np.testing.assert_array_equal(alone.link_pose[:, 0], together.link_pose[:, k])
        np.testing.assert_array_equal(alone.loop_broken[:, 0], together.loop_broken[:, k])
    simulation.reset([0, 3])
    np.testing.assert_array_equal(simulation.state.loop_broken.numpy()[0], [0, 1, 1, 0, 0])
    simulation.step(80)
    pose = simulation.state.link_pose.numpy().reshape(2, 7, 5)
    np.testing.assert_array_equal(pose[..., 0], together.link_pose[-1, 0])


def test_it_is_part_of_the_state(tmp_path):
    """Snapshots and checkpoints bring it back, and a run goes on bitwise; velocities may be set without mending it."""
    tree = pendulum(break_force=30.0)
    simulation = simulate(trees.scene(tree), 2)
    simulation.step(10)
    whole = simulation.snapshot()
    simulation.step(90)
    assert len(simulation.broken_loops()) == 2
    event = simulation.broken_loops()[0]
    simulation.save(tmp_path / "run.npz")
    broken = simulation.snapshot()
    flags = simulation.snapshot(parts=["loop_broken"])
    simulation.step(20)
    end = simulation.state.link_pose.numpy().copy()
    other = simulate(trees.scene(tree), 2)
    other.load(tmp_path / "run.npz")
    assert other.broken_loops()[0] == event
    other.step(20)
    np.testing.assert_array_equal(other.state.link_pose.numpy(), end)
    simulation.apply(broken)
    simulation.step(20)
    np.testing.assert_array_equal(simulation.state.link_pose.numpy(), end)
    simulation.apply(whole)
    assert not simulation.broken_loops()
    simulation.apply(flags)
    np.testing.assert_array_equal(simulation.state.loop_broken.numpy(), 1.0)
    simulation.set_state(root_velocity=np.zeros((1, 6)))
    np.testing.assert_array_equal(simulation.state.loop_broken.numpy(), 1.0)
    simulation.set_state(loop_broken=[[0.0]], environments=[1])
    np.testing.assert_array_equal(simulation.state.loop_broken.numpy(), [[1.0, 0.0]])
    simulation.reset()
    assert not simulation.broken_loops()


def test_users_write_to_it():
    """Zero makes a joint hold again where it is, and one takes it away."""
    simulation = simulate(trees.scene(cantilever()), 2)
    simulation.state.loop_broken[:, 1:].fill_(1.0)
    simulation.step(24)
    pose = simulation.state.link_pose.numpy()[0, 2]
    assert abs(pose[0]) < 1e-12 and pose[1] < -0.01
    assert [(one.environment, one.step) for one in simulation.broken_loops()] == [(1, 0)]
    simulation.state.loop_broken = 0.0
    simulation.step(1)
    assert not simulation.broken_loops()
    assert simulation.state.loop_error.numpy()[0, 0, 1] < 1e-9


def test_it_wakes_what_sleeps():
    """A beam that sleeps falls where its joint is taken away, or its force is not allowed any more."""
    simulation = simulate(trees.scene(cantilever()), sleep_after=0.1)
    simulation.step(60)
    assert simulation.asleep().all()
    simulation.state.loop_broken = 1.0
    simulation.step(24)
    assert not simulation.asleep().any() and simulation.state.link_pose.numpy()[0, 2, 0] < -0.01
    simulation = simulate(trees.scene(cantilever(break_force=1e3)), sleep_after=0.1)
    simulation.step(60)
    assert simulation.asleep().all()
    simulation.parameters.loop_break_force = 20.0
    simulation.step(24)
    assert not simulation.asleep().any() and simulation.state.link_pose.numpy()[0, 2, 0] < -0.01


def test_a_chain_of_breaks():
    """A beam on three supports: as one breaks, the others carry more, and break in the next steps."""
    beam = Link(path="/t/beam", mass=3.0, inertia=(0.01, 0, 0, 0.3, 0, 0.3), center_of_mass=(0.5, 0.0, 0.0))
    hinge = Joint(path="/t/hinge", parent=WORLD, child=0, dofs=(Dof(name="/t/hinge", axis=Axis.ROT_Y),))
    supports = tuple(
        LoopJoint(
            name=f"/t/{k}",
            link0=WORLD,
            link1=0,
            frame0=Pose((x, 0.0, 0.0)),
            frame1=Pose((x, 0.0, 0.0)),
            free=FREE["spherical"],
            break_force=limit,
        )
        for k, (x, limit) in enumerate([(1.0, 10.0), (0.8, 16.0), (0.5, 40.0)])
    )
    tree = Articulation(path="/t", links=(beam,), joints=(hinge,), constraints=supports[:1])
    simulation = simulate(trees.scene(tree))
    simulation.step(2)
    (event,) = simulation.broken_loops()
    assert event.force == pytest.approx(0.5 * 3.0 * 9.81, rel=1e-3) and event.step == 1
    tree = trees.replace(tree, constraints=supports)
    simulation = simulate(trees.scene(tree))
    simulation.step(6)
    held = [one.joint for one in simulation.broken_loops()]
    assert "/t/2" not in held and simulation.state.joint_position.numpy()[0, 0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_what_is_not_allowed(value):
    """A limit that is not positive is refused; infinity never breaks."""
    for name in ("break_force", "break_torque"):
        (found,) = findings(trees.scene(cantilever(**{name: value})))
        assert f"has the {name} " in found.message and "must be positive" in found.message


def test_a_limit_that_is_not_reached_changes_nothing():
    """Bitwise the same as a joint that never breaks."""
    _, tree = bodies("revolute")
    (loop,) = tree.constraints
    plain = simulate(trees.scene(tree))
    other = simulate(trees.scene(trees.replace(tree, constraints=(trees.replace(loop, break_force=1e9),))))
    plain.step(48)
    other.step(48)
    np.testing.assert_array_equal(plain.state.link_pose.numpy(), other.state.link_pose.numpy())


def test_limits_and_drives_break_with_their_joint():
    """A hinge with a drive and a limit that is broken from the start falls as one without any joint."""
    link = Link(path="/t/beam", mass=3.0, inertia=(0.01, 0, 0, 0.3, 0, 0.3), center_of_mass=(0.5, 0.0, 0.0))
    acts = {
        "limits": ((Axis.ROT_Y, Limit(lower=-0.1, upper=0.1)),),
        "drives": ((Axis.ROT_Y, Drive(stiffness=100.0, damping=10.0)),),
    }
    loop = LoopJoint(name="/t/loop", link0=WORLD, link1=0, free=(Axis.ROT_Y,), **acts)
    tree = Articulation(path="/t", links=(link,), joints=(), constraints=(loop,))
    simulation = simulate(trees.scene(tree), 2)
    simulation.set_state(loop_broken=[[0.0], [1.0]])
    simulation.step(48)
    pose = simulation.state.link_pose.numpy()[0]
    np.testing.assert_allclose(pose[3:, 1], [0.0, 0.0, 0.0, 1.0], atol=1e-9)
    assert pose[2, 1] < -0.15 and np.linalg.norm(pose[:3, 0]) < 1e-6
