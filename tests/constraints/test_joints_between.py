"""Loop joints and distances between articulations, and to the world: the same mechanism, cut in other places."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_loop_joint import (
    COUPLER,
    CRANK,
    FREE,
    GROUND,
    ROCKER,
    SPEED,
    angles_of,
    bodies,
    four_bar,
    places,
    simulate,
)
from warp_artic import DescriptionError, SettingsError, Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.distance import Distance
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mechanism import mechanisms_of
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.description.start_pose import start_poses
from warp_artic.description.validate import validate

HINGE = (Axis.ROT_Z,)


def scene_of(*articulations: Articulation) -> Scene:
    """In a plane with gravity along -y."""
    return trees.scene(*articulations, gravity=(0.0, -9.81, 0.0))


def cut_four_bar() -> list[Articulation]:
    """A four-bar linkage as two articulations: crank and coupler, and the rocker."""
    whole = four_bar()
    (loop,) = whole.constraints
    first = replace(
        whole,
        path="/first",
        links=whole.links[:2],
        joints=whole.joints[:2],
        constraints=(replace(loop, link1=0, articulation1="/second"),),
    )
    rocker = replace(whole.joints[2], child=0)
    return [first, replace(whole, path="/second", links=whole.links[2:], joints=(rocker,), constraints=())]


def free_four_bar() -> list[Articulation]:
    """The same of three free bodies: all four hinges are rows."""
    whole = four_bar()
    rates = (angles_of(1e-5) - angles_of(-1e-5)) / 2e-5
    turns = SPEED * np.array([1.0, *rates])
    starts = [np.zeros(3), np.array([0.0, SPEED * CRANK, 0.0]), np.zeros(3)]
    made = []
    for link, pose, turn, start in zip(whole.links, start_poses(whole), turns, starts):
        w = np.array([0.0, 0.0, turn])
        velocity = start + np.cross(w, pose.rotation @ np.array(link.center_of_mass))
        body = replace(link, pose=pose, linear_velocity=tuple(velocity), angular_velocity=tuple(w))
        made.append(Articulation(path=link.path, links=(body,), joints=()))

    def hinge(name, link0, x0, x1, other=""):
        frames = {"frame0": Pose((x0, 0.0, 0.0)), "frame1": Pose((x1, 0.0, 0.0))}
        return LoopJoint(name=name, link0=link0, link1=0, free=HINGE, articulation1=other, **frames)

    crank = hinge("/bar/a", WORLD, 0.0, 0.0), hinge("/bar/b", 0, CRANK, 0.0, made[1].path)
    coupler = (hinge("/bar/d", 0, COUPLER, ROCKER, made[2].path),)
    rocker = (hinge("/bar/c", WORLD, GROUND, 0.0),)
    return [replace(one, constraints=own) for one, own in zip(made, (crank, coupler, rocker))]


@pytest.mark.parametrize("settings", [{"variant": "scalar"}, {"variant": "lanes"}, {"solver": "pgs"}], ids=str)
def test_a_mechanism_cut_in_two_articulations_moves_the_same(settings):
    """Bitwise in the order of the whole; with dofs in another order, in which sums are taken, to rounding."""
    whole = simulate(scene_of(four_bar()), **settings).record(240, every=8)
    names = list(whole.joint_names)
    for order, known_to in ((slice(None), 0.0), (slice(None, None, -1), 1e-12)):
        cut = simulate(scene_of(*cut_four_bar()[order]), **settings).record(240, every=8)
        rows = [cut.joint_names.index(name) for name in names]
        np.testing.assert_allclose(cut.joint_position[:, :, rows], whole.joint_position, rtol=0.0, atol=known_to)


@pytest.mark.parametrize("precision, gap", [("float64", 1e-12), ("float32", 4e-6)])
def test_all_joints_as_rows_between_free_bodies(precision, gap):
    """Energy and gaps of a four-bar linkage through ten seconds at 12.6 rad/s."""
    simulation = simulate(scene_of(*free_four_bar()), precision=precision, dt=1.0 / 960.0)
    recording = simulation.record(9600, every=32)
    energy = recording.energy[:, 0].astype(float)
    assert np.ptp(energy.sum(axis=1)) < (1e-12 if precision == "float64" else 1e-3) * energy[:, 0].max()
    crank, coupler, rocker = (recording.link_pose[:, 0, k].astype(float) for k in range(3))

    def along(pose, length):
        z, w = pose[:, 5], pose[:, 6]
        return pose[:, :2] + length * np.column_stack([w * w - z * z, 2.0 * z * w])

    ends = {
        "world": crank[:, :2],
        "crank": along(crank, CRANK) - coupler[:, :2],
        "coupler": along(coupler, COUPLER) - along(rocker, ROCKER),
        "rocker": rocker[:, :2] - (GROUND, 0.0),
    }
    assert {name: float(np.abs(gaps).max()) for name, gaps in ends.items() if np.abs(gaps).max() > gap} == {}


def test_all_joints_as_rows_converge_to_the_tree():
    """Differences of a quarter of a second fall with the square of the step."""
    found = []
    for hertz in (3840, 7680, 15360):
        options = {"dt": 1.0 / hertz, "variant": "scalar"}
        runs = [simulate(scene_of(*made), **options) for made in ([four_bar()], free_four_bar())]
        for run in runs:
            run.step(hertz // 4)
        poses = [run.state.link_pose.numpy().reshape(3, 7)[:, :3] for run in runs]
        found.append(float(np.abs(poses[0] - poses[1]).max()))
    assert found[0] < 1e-5
    assert found[1] < found[0] / 3.3 and found[2] < found[1] / 3.3


@pytest.mark.parametrize("kind", FREE)
def test_a_joint_between_articulations_moves_as_the_joint_of_a_tree(kind):
    """The body at the end of a ball pendulum is an articulation of its own, that floats."""
    tree, looped = bodies(kind)
    (loop,) = looped.constraints
    at_start = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64")).state
    velocity = at_start.link_velocity.numpy().reshape(2, 6)[1]
    swinging = replace(
        looped.links[1],
        pose=start_poses(tree)[1],
        linear_velocity=tuple(velocity[:3]),
        angular_velocity=tuple(velocity[3:]),
    )
    ball = replace(looped.joints[1], child=0)
    first = Articulation(path="/t/a", links=looped.links[:1], joints=(ball,))
    second = Articulation(path="/t/b", links=(swinging,), joints=())
    joined = replace(first, constraints=(replace(loop, link1=0, articulation1="/t/b"),)), second

    def ends(steps):
        simulation = simulate(trees.scene(*joined), dt=0.5 / steps)
        simulation.step(steps)
        pose = simulation.state.link_pose.numpy().reshape(2, 7).astype(float)
        pose[:, 3:] *= np.sign(pose[:, 6:])
        return pose

    coarse, fine = ends(1000), ends(2000)
    exact = places(tree, 4000)
    assert np.abs(coarse - exact).max() < 1e-3
    assert np.abs(fine + (fine - coarse) / 3.0 - exact).max() < 2e-5


def body(mass: float = 2.0) -> Link:
    """A body with its centre of mass at its origin."""
    return Link(path="/body", mass=mass, inertia=(0.1, 0.0, 0.0, 0.2, 0.0, 0.25))


def two_bodies(**joint) -> list[Articulation]:
    """Two free bodies with a ball joint between them, in motion."""
    made = []
    for name, x, v, w in (("a", 0.0, (0.3, 0.1, -0.2), (1.0, 2.0, -1.0)), ("b", 1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))):
        link = replace(body(), path=f"/{name}", pose=Pose((x, 0.0, 0.0)), linear_velocity=v, angular_velocity=w)
        made.append(Articulation(path=f"/{name}", links=(link,), joints=()))
    ball = LoopJoint(
        name="/ball",
        link0=0,
        link1=0,
        frame0=Pose((0.5, 0.0, 0.0)),
        frame1=Pose((-0.5, 0.0, 0.0)),
        free=FREE["spherical"],
        articulation1="/b",
    )
    made[0] = replace(made[0], constraints=(replace(ball, **joint),))
    return made


@pytest.mark.parametrize("precision, known, turned", [("float64", 1e-9, 1e-5), ("float32", 2e-4, 2e-4)])
def test_momentum_of_free_bodies_with_a_joint_between_them(precision, known, turned):
    """Without gravity both stay for ten seconds; what brings the frames together keeps spin to second order."""
    scene = trees.scene(*two_bodies(), gravity=(0.0, 0.0, 0.0))
    recording = simulate(scene, precision=precision).record(2400, every=40)
    pose, velocity = (values[1:, 0].astype(float) for values in (recording.link_pose, recording.link_velocity))
    R = np.array([[Pose(tuple(p[:3]), tuple(p[3:] / np.linalg.norm(p[3:]))).rotation for p in row] for row in pose])
    I = R @ np.diag([0.1, 0.2, 0.25]) @ R.transpose(0, 1, 3, 2)  # noqa: E741 (moment of inertia)
    momentum = 2.0 * velocity[..., :3]
    spin = np.cross(pose[..., :3], momentum) + (I @ velocity[..., 3:, None])[..., 0]
    assert np.abs(momentum.sum(axis=1) - momentum[0].sum(axis=0)).max() < known
    assert np.abs(spin.sum(axis=1) - spin[0].sum(axis=0)).max() < turned


def test_environments_do_not_notice_each_other():
    """Bodies with other velocities in each environment: one alone is bitwise the same."""
    scene = trees.scene(*two_bodies())

    def ends(speeds):
        simulation = simulate(scene, len(speeds), precision="float32", variant="lanes")
        velocity = np.zeros((len(speeds), 2, 6))
        velocity[:, 0, :3] = np.asarray(speeds)[:, None] * [0.3, 0.1, -0.2]
        simulation.set_state(root_velocity=velocity)
        simulation.step(60)
        return simulation.state.link_pose.numpy()

    speeds = np.linspace(-2.0, 2.0, 17)
    together = ends(speeds)
    for k in (0, 8, 16):
        np.testing.assert_array_equal(ends(speeds[k : k + 1])[..., 0], together[..., k])


def test_snapshots_and_arrays_of_joined_articulations():
    """Each has arrays of its own, and a run goes on bitwise from a snapshot."""
    simulation = simulate(scene_of(*cut_four_bar()), environments=2)
    assert [views.state.joint_position.numpy().shape for views in simulation.articulations] == [(2, 2), (1, 2)]
    simulation.step(30)
    snapshot = simulation.snapshot()
    simulation.step(30)
    end = simulation.state.joint_position.numpy().copy()
    simulation.apply(snapshot)
    simulation.step(30)
    np.testing.assert_array_equal(simulation.state.joint_position.numpy(), end)


def on_a_rod(other: str) -> list[Articulation]:
    """A body on a rod of 1 m to the origin: of the world, or of an articulation that stands there."""
    post = replace(body(), path="/post")
    held = trees.plain_joint("/held", WORLD, 0, "fixed")
    bob = replace(body(), path="/bob", pose=Pose((1.0, 0.0, 0.0)))
    end = {"world": {"link1": WORLD}, "post": {"link1": 0, "articulation1": "/post"}}[other]
    rod = Distance(name="/rod", link0=0, lower=1.0, upper=1.0, **end)
    made = [Articulation(path="/bob", links=(bob,), joints=(), constraints=(rod,))]
    return made + [Articulation(path="/post", links=(post,), joints=(held,))] * (other == "post")


@pytest.mark.parametrize("other", ["world", "post"])
def test_a_rod_to_another_articulation_or_to_the_world(other):
    """The bob swings at its distance, with tension 3 m g sin of its depth; the post carries it and its own weight."""
    recording = simulate(trees.scene(*on_a_rod(other))).record(480, every=4, forces=True)
    assert np.abs(recording.distance_length - 1.0).max() < 1e-5
    place = recording.link_pose[:, 0, list(recording.link_names).index("/bob"), :3]
    assert np.abs(np.linalg.norm(place, axis=1) - 1.0).max() < 1e-5
    mass = on_a_rod(other)[0].links[0].mass
    force = recording.distance_force[1:, 0, 0]
    np.testing.assert_allclose(-force, -3.0 * mass * 9.81 * place[1:, 2], atol=0.04 * 3.0 * mass * 9.81)
    if other == "post":
        middle = 0.5 * (place[1:] + place[:-1])
        carried = recording.link_incoming_joint_force[1:, 0, list(recording.link_names).index("/post"), :3]
        own = mass * 9.81 * np.array([0.0, 0.0, 1.0])
        assert np.abs(carried - (own + force[:, None] * middle)).max() < 0.1 * mass * 9.81


def test_what_cannot_be_joined_is_told():
    """An articulation that is not there, or the same one; a link that it has not; rk4 names both articulations."""
    for changes, expected in (
        ({"articulation1": "/nowhere"}, "/ball: loop joint: there is no articulation /nowhere; there are /a, /b"),
        ({"articulation1": "/a"}, "/ball: loop joint: names its own articulation /a as the other one"),
        ({"link1": 3}, "/ball: loop joint: link1 is link 3 of 1 of /b, counted from 0"),
        ({"link0": 3}, "/ball: loop joint: link0 is link 3 of 1, counted from 0; -1 is the world"),
    ):
        with pytest.raises(DescriptionError, match=expected):
            validate(trees.scene(*two_bodies(**changes)))
    scene = trees.scene(*two_bodies())
    assert mechanisms_of(scene) == ((0, 1),)
    with pytest.raises(SettingsError, match="/a, /b have 1 loop joint"):
        Simulation(scene, settings=SolverSettings(integrator="rk4"))
