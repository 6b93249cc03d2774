"""Limits of loop joints: joints of a tree in their place, closed forms, energy, and what is refused."""

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_loop_drive import MASS, body_at, loop_of
from tests.constraints.test_loop_joint import COUPLER, GROUND, ROCKER, angles_of, four_bar
from tests.loop_pairs import BODY, FRAMES, H, pair, pose_after, released, simulate
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector, rotation_vector_from_matrix
from warp_artic.description.validate import findings

X, Y, Z, RX, RY, RZ = Axis
BALL = (RX, RY, RZ)
STOPS = {
    "translation": (
        (X, *BALL),
        (0.05, 0.1, 0.2, 0.1),
        (1.0, 0.3, -0.5, 0.8),
        dict(limits=((X, Limit(lower=-0.1, upper=0.1)),)),
    ),
    "twist": (BALL, (0.1, 0.1, 0.2), (2.0, 1.0, -0.5), dict(limits=((RX, Limit(lower=-0.3, upper=0.3)),))),
    "pyramid": (
        BALL,
        (0.1, 0.1, 0.2),
        (0.5, 2.0, -1.5),
        dict(limits=((RY, Limit(lower=-0.4, upper=0.4)), (RZ, Limit(lower=-0.3, upper=0.35)))),
    ),
    "cone": (BALL, (0.1, 0.1, 0.2), (0.5, 2.0, -1.5), dict(cone_limit=ConeLimit(angle_1=0.5, angle_2=0.7))),
}
"""Free axes, start, speeds and limits that they hit, and along which they go on."""
SPRINGS = {
    "translation": (
        *STOPS["translation"][:3],
        dict(limits=((X, Limit(lower=-0.1, upper=0.1, stiffness=800.0, damping=3.0)),)),
    ),
    "twist": (*STOPS["twist"][:3], dict(limits=((RX, Limit(lower=-0.3, upper=0.3, stiffness=50.0)),))),
    "pyramid": (
        *STOPS["pyramid"][:3],
        dict(limits=((RY, Limit(lower=-0.4, upper=0.4, stiffness=100.0)), (RZ, Limit(upper=0.35, damping=0.4)))),
    ),
    "cone": (*STOPS["cone"][:3], dict(cone_limit=ConeLimit(angle_1=0.5, angle_2=0.7, stiffness=100.0, damping=0.2))),
}
ENDS = {
    "hinge": ((RX,), (0.1,), (2.0,), dict(limits=((RX, Limit(lower=-0.3, upper=0.3)),))),
    "turned hinge": ((RX,), (2.9,), (2.0,), dict(limits=((RX, Limit(lower=2.8, upper=3.7)),))),
    "slide": ((Z,), (0.0,), (1.0,), dict(limits=((Z, Limit(lower=-0.1, upper=0.15)),))),
    "universal": (
        (RX, RZ),
        (0.1, 0.2),
        (2.0, 1.5),
        dict(limits=((RX, Limit(lower=-0.3, upper=0.3)), (RZ, Limit(lower=-0.4, upper=0.35)))),
    ),
    "zero twist": (
        (RY, RZ),
        (0.1, 0.2),
        (2.0, 1.5),
        dict(limits=((RY, Limit(lower=-0.3, upper=0.3)), (RZ, Limit(lower=-0.4, upper=0.35)))),
    ),
}
"""Those that come to rest at ends."""


@pytest.mark.parametrize("case", ENDS)
def test_a_joint_comes_to_rest_at_its_ends_as_in_a_tree(case):
    axes, positions, velocities, limits = ENDS[case]
    tree, looped = pair(axes, positions, velocities, **limits)
    np.testing.assert_allclose(pose_after(looped, 480, 2.0), pose_after(tree, 480, 2.0), atol=1e-9)


@pytest.mark.parametrize("case", STOPS)
def test_a_joint_hits_and_follows_its_limit_as_in_a_tree(case):
    """In the tree errors are of first order and differ with where in a step an impact is: it has very short steps."""
    axes, positions, velocities, limits = STOPS[case]
    tree, looped = pair(axes, positions, velocities, **limits)
    exact = pose_after(tree, 2000000, 0.5)
    assert np.abs(pose_after(looped, 120, 0.5) - exact).max() < 3e-3
    assert np.abs(pose_after(looped, 256000, 0.5) - exact).max() < 1e-6


@pytest.mark.parametrize("case", SPRINGS)
def test_a_soft_limit_is_that_of_a_tree(case):
    """Of second order."""
    axes, positions, velocities, limits = SPRINGS[case]
    tree, looped = pair(axes, positions, velocities, **limits)
    errors = [np.abs(pose_after(looped, steps, 0.5) - pose_after(tree, steps, 0.5)).max() for steps in (480, 16000)]
    assert errors[0] < 1e-4
    assert errors[1] < 1e-6


def hinge(name, parent, child, rate, parent_frame=Pose(), child_frame=Pose()):
    dof = Dof(name=name, axis=RX, velocity=rate)
    return Joint(path=name, parent=parent, child=child, parent_frame=parent_frame, child_frame=child_frame, dofs=(dof,))


def pressed(case):
    """A tree whose body moves as one that is pressed against a limit all the time, that one, and the gravity.

    Of a translation, or of the twist, a frame of the joint holds it at its end. A circular cone is two hinges, of which
    the second leans to the first by the angle of the cone.
    """
    frame0, frame1 = FRAMES
    down = 9.81 * frame0.rotation[:, 0]
    if case == "translation":
        end = Pose((0.1, 0.0, 0.0))
        tree, _ = pair(BALL, (0.1, 0.2, 0.1), (1.0, -2.0, 0.5), frames=(frame0 @ end, frame1))
        loop = dict(free=(X, *BALL), limits=((X, Limit(lower=-0.1, upper=0.1)),))
    elif case == "twist":
        end = Pose((0.0, 0.0, 0.0), quaternion_from_rotation_vector((0.3, 0.0, 0.0)))
        body = trees.replace(BODY, center_of_mass=(0.1, 0.3, 0.02))
        tree, _ = pair((RY, RZ), (0.2, 0.1), (-1.0, 0.8), body=body, frames=(Pose(), end))
        frame0, frame1, down = Pose(), Pose(), np.array([0.0, 0.0, -9.81])
        loop = dict(free=BALL, limits=((RX, Limit(lower=-0.3, upper=0.5)),))
    else:
        frame0 = Pose((0.3, -0.2, 0.5), quaternion_from_rotation_vector((0.0, -0.5 * np.pi, 0.0)))
        lean = Pose((0.0, 0.0, 0.0), quaternion_from_rotation_vector((0.0, 0.6, 0.0)))
        frame1, down = Pose((-0.3, 0.02, 0.01)), np.array([0.0, 0.0, -9.81])
        massless_link = Link(path="/t/first", mass=0.0, inertia=(0.0,) * 6)
        joints = (
            hinge("/t/first", WORLD, 1, 2.0, frame0),
            hinge("/t/second", 1, 0, 5.0, lean, frame1),
        )
        tree = Articulation(path="/t", links=(BODY, massless_link), joints=joints)
        loop = dict(free=BALL, cone_limit=ConeLimit(angle_1=0.6, angle_2=0.6))
    closing = LoopJoint(name="/t/joint", link0=WORLD, link1=0, frame0=frame0, frame1=frame1, **loop)
    return tree, released(tree, closing), tuple(down)


@pytest.mark.parametrize("case", ["translation", "twist", "cone"])
def test_what_is_pressed_against_a_limit_follows_it_as_if_it_were_held(case):
    """To second order: errors are extrapolated. The limit holds at the end of each step."""
    tree, looped, gravity = pressed(case)
    exact = pose_after(tree, 2000, 0.3, gravity=gravity, integrator="rk4")
    coarse, fine = (pose_after(looped, steps, 0.3, gravity=gravity) for steps in (600, 1200))
    assert np.abs(fine - exact).max() < 1e-5
    assert np.abs(fine + (fine - coarse) / 3.0 - exact).max() < 1e-6


@pytest.mark.parametrize("free", [(X, Z), (X, Y, Z)], ids=["disc", "ball"])
@pytest.mark.parametrize("where", ["within", "at"])
def test_a_body_in_a_disc_or_a_ball_is_a_pendulum(free, where):
    """On a string as long as the radius, that gets taut at once or later; from then on energy and radius stay."""
    own = tuple(axis for axis in Axis if axis in free or not axis.is_linear)
    start, way = ((0.0, 0.0, 0.0), (0.4, 0.0, 0.0)) if where == "within" else ((0.5, 0.0, 0.0), (0.0, 0.0, 0.0))
    simulation = simulate(body_at(start, way, free=own, distance_limit=Limit(upper=0.5)))
    places, energies = [], []
    for _ in range(2400):
        simulation.step(1)
        places.append(simulation.state.link_pose.numpy().ravel()[:3].astype(float))
        energies.append(simulation.state.energy.numpy().astype(float).sum())
    radius = np.linalg.norm(places, axis=1)
    assert radius.max() < 0.5 + 1e-9
    taut = np.argmax(radius > 0.499)
    time = H * np.arange(1, taut)
    fall = np.stack([way[0] * time, 0.0 * time, -0.5 * 9.81 * time**2], axis=1)
    np.testing.assert_allclose(np.array(places)[: len(fall)], fall, atol=1e-12)
    assert np.ptp(energies[taut + 3 :]) < 0.01 * MASS * 9.81
    if where == "at":
        assert np.abs(places[-1][[0, 2]] - pendulum_at(10.0)).max() < 5e-3


def pendulum_at(time, length=0.5, steps=40000):
    """Where a pendulum is that starts at rest beside its pivot, by Runge-Kutta of its angle."""
    h, state = time / steps, np.zeros(2)

    def rate(s):
        return np.array([s[1], 9.81 / length * np.cos(s[0])])

    for _ in range(steps):
        a = rate(state)
        b = rate(state + 0.5 * h * a)
        c = rate(state + 0.5 * h * b)
        state = state + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(state + h * c))
    return length * np.array([np.cos(state[0]), -np.sin(state[0])])


def test_a_smallest_distance_is_a_dome():
    """A body that falls onto it stays outside, slides down, and leaves it at two thirds of its height."""
    tree = body_at((0.05, 0.0, np.sqrt(0.25 - 0.0025)), distance_limit=Limit(lower=0.5))
    recording = simulate(tree, dt=H / 4.0).record(steps=4 * 240)
    x = np.asarray(recording.link_pose[:, 0, 0, :3], float)
    radius = np.linalg.norm(x, axis=1)
    assert radius.min() > 0.5 - 1e-9
    leaves = np.argmax(radius > 0.5 + 1e-6)
    assert x[leaves, 2] == pytest.approx(2.0 / 3.0 * x[0, 2], abs=1e-2)


def bars(limit, is_loop):
    """A four-bar linkage whose rocker has a limit on the ground: in the tree, or where it closes the loop."""
    crank, coupler, rocker = four_bar().joints
    lengths = (Pose((COUPLER, 0.0, 0.0)), Pose((ROCKER, 0.0, 0.0)))
    if not is_loop:
        rocker = trees.replace(rocker, dofs=(trees.replace(rocker.dofs[0], limit=limit),))
        return trees.replace(four_bar(), joints=(crank, coupler, rocker))
    q, v = ([getattr(joint.dofs[0], name) for joint in (crank, coupler, rocker)] for name in ("position", "velocity"))
    own = Dof(name="/bar/d", axis=RZ, position=q[2] - q[1] - q[0], velocity=v[2] - v[1] - v[0])
    joint = Joint(path="/bar/d", parent=1, child=2, parent_frame=lengths[0], child_frame=lengths[1], dofs=(own,))
    loop = LoopJoint(
        name="/bar/c", link0=WORLD, link1=2, frame0=Pose((GROUND, 0.0, 0.0)), free=(RZ,), limits=((RZ, limit),)
    )
    return trees.replace(four_bar(), joints=(crank, coupler, joint), constraints=(loop,))


@pytest.mark.parametrize("stiffness", [0.0, 400.0], ids=["hard", "soft"])
def test_where_a_loop_is_closed_does_not_matter_for_its_limits(stiffness):
    """The rocker turns back and forth, and rests at its limit in the end, pressed there by the weights."""
    limit = Limit(lower=1.5, upper=2.0, stiffness=stiffness, damping=stiffness / 80.0)
    assert limit.lower < angles_of(0.0)[1] < limit.upper
    ends = []
    for is_loop in (False, True):
        simulation = simulate(bars(limit, is_loop), gravity=(0.0, -9.81, 0.0), dt=1.0 / 960.0)
        simulation.step(4 * 960)
        pose = simulation.state.link_pose.numpy().reshape(3, 7).astype(float)
        ends.append(pose[2, :3])
        gap = Pose(tuple(pose[1, :3]), tuple(pose[1, 3:])).apply((COUPLER, 0, 0))
        gap = gap - Pose(tuple(pose[2, :3]), tuple(pose[2, 3:])).apply((ROCKER, 0, 0))
        assert np.abs(gap).max() < 1e-9
    assert pose[2, 6] != 0.0
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)


INERTIA = 0.2
SOFT = dict(stiffness=300.0, damping=4.0)
ONE_AXIS = {
    "translation": (0, dict(limits=((X, Limit(lower=-0.1, upper=0.1, **SOFT)),))),
    "disc": (0, dict(distance_limit=Limit(upper=0.1, **SOFT))),
    "hinge": (3, dict(free=(RX,), limits=((RX, Limit(lower=-0.1, upper=0.1, **SOFT)),))),
    "twist": (3, dict(limits=((RX, Limit(lower=-0.1, upper=0.1, **SOFT)),))),
    "swing": (4, dict(limits=((RY, Limit(lower=-0.1, upper=0.1, **SOFT)),))),
    "cone": (5, dict(cone_limit=ConeLimit(angle_1=0.3, angle_2=0.1, **SOFT))),
}


@pytest.mark.parametrize("case", ONE_AXIS)
@pytest.mark.parametrize("rate", [0.3, -0.2])
def test_a_soft_limit_in_closed_form(case, rate):
    """Three steps of one axis that is beyond its end, as the law of `constraints.spring` has it."""
    index, acting = ONE_AXIS[case]
    start, way = np.zeros(6), np.zeros(6)
    start[index], way[index] = 0.13, rate
    tree = body_at(start[:3], way[:3], start[3:], way[3:], **acting)
    tree = trees.replace(tree, links=(trees.replace(tree.links[0], inertia=(INERTIA, 0, 0, INERTIA, 0, INERTIA)),))
    mass = MASS if index < 3 else INERTIA
    y, v, k, d = 0.03, rate, SOFT["stiffness"], SOFT["damping"]
    for step in range(3):
        least = 1.0 if step == 0 else 0.5
        x = H * (d + H * k) / mass
        theta = least + (1.0 - least) * x * x / (1.0 + x * x)
        known = (1.0 - theta) * max(k * y + d * v, 0.0)
        moved = k * (y + H * (1.0 - least) * v)
        then = max(
            (theta * moved + theta * (d + theta * H * k) * (v - H / mass * known))
            / (1.0 + H / mass * theta * (d + theta * H * k)),
            0.0,
        )
        v_next = v - H / mass * (known + then)
        y += H * ((1.0 - least) * v + least * v_next)
        v = v_next
    simulation = simulate(tree, gravity=(0.0, 0.0, 0.0))
    simulation.step(3)
    pose = simulation.state.link_pose.numpy().ravel().astype(float)
    turn = rotation_vector_from_matrix(Pose(tuple(pose[:3]), tuple(pose[3:])).rotation)
    assert [*pose[:3], *turn][index] == pytest.approx(0.1 + y, abs=1e-10)
    assert simulation.state.link_velocity.numpy().ravel()[index] == pytest.approx(v, abs=1e-10)


BOUNCING = {
    "box": dict(limits=tuple((axis, Limit(lower=-0.1, upper=0.1, stiffness=2000.0)) for axis in (X, Y, Z))),
    "ball": dict(distance_limit=Limit(upper=0.1, stiffness=1000.0)),
    "twist": dict(limits=((RX, Limit(lower=-0.5, upper=0.5, stiffness=30.0)),)),
    "cone": dict(cone_limit=ConeLimit(angle_1=0.5, angle_2=0.7, stiffness=60.0)),
}


def beyond(case, pose):
    """Energy of the springs beyond the ends [J]."""
    if case == "box":
        return 1000.0 * np.sum(np.maximum(np.abs(pose[:3]) - 0.1, 0.0) ** 2)
    if case == "ball":
        return 500.0 * max(np.linalg.norm(pose[:3]) - 0.1, 0.0) ** 2
    R = Pose(tuple(pose[:3]), tuple(pose[3:])).rotation
    if case == "twist":
        x, _, _, w = pose[3:]
        return 15.0 * max(abs(2.0 * np.arctan2(x * np.sign(w), abs(w))) - 0.5, 0.0) ** 2
    swing = np.arccos(R[0, 0]) * np.array([-R[2, 0], R[1, 0]]) / np.hypot(R[2, 0], R[1, 0])
    e = np.hypot(swing[0] / 0.5, swing[1] / 0.7)
    return 30.0 * (np.linalg.norm(swing) * max(1.0 - 1.0 / e, 0.0)) ** 2


@pytest.mark.parametrize("case", BOUNCING)
def test_springs_at_ends_keep_energy_for_a_minute(case):
    """Of a body that bounces between them, in all directions."""
    spin = (0.0, 0.0, 0.0) if case in ("box", "ball") else (0.9, -1.1, 0.6)
    tree = body_at((0.01, 0.02, -0.03), (0.5, 0.37, -0.3), spin=spin, **BOUNCING[case])
    simulation = simulate(tree, gravity=(0.0, 0.0, 0.0))
    found = []
    for _ in range(600):
        simulation.step(24)
        energy = simulation.state.energy.numpy().astype(float).sum()
        found.append(energy + beyond(case, simulation.state.link_pose.numpy().ravel().astype(float)))
    assert np.ptp(found) < 0.02 * max(found)


DROP = {
    "floor": dict(limits=((Z, Limit(lower=-1.0, restitution=1.0, bounce_threshold=0.2)),)),
    "bowl": dict(distance_limit=Limit(upper=1.0, restitution=1.0, bounce_threshold=0.2)),
}


@pytest.mark.parametrize("restitution", [0.0, 0.2, 0.5, 0.7, 1.0])
@pytest.mark.parametrize("case", DROP)
def test_a_body_that_falls_onto_an_end_bounces_to_its_height(case, restitution):
    """The apexes are those of e^2, down to the threshold, and the end is never passed; then it rests."""
    limit = DROP[case].get("distance_limit") or DROP[case]["limits"][0][1]
    limit = trees.replace(limit, restitution=restitution)
    acting = dict(distance_limit=limit) if case == "bowl" else dict(limits=((Z, limit),))
    recording = simulate(body_at((0.0, 0.0, -0.5), **acting)).record(steps=1200)
    z = 1.0 + recording.link_pose[:, 0, 0, 2].astype(float)
    assert z.min() > -1e-9
    apexes = z[1:-1][(z[1:-1] >= z[:-2]) & (z[1:-1] > z[2:])]
    exact = 0.5 * restitution ** (2.0 * np.arange(1, 4))
    exact = exact[exact > 0.2**2 / (2.0 * 9.81)]
    np.testing.assert_allclose(apexes[: len(exact)], exact, atol=1e-4)
    if restitution < 0.6:
        np.testing.assert_allclose(z[-100:], 0.0, atol=1e-6)


@pytest.mark.parametrize("settings", [{"solver": "pgs"}, {"solver": "tgs"}, {"integrator": "semi_implicit"}], ids=str)
def test_bounces_with_other_solvers(settings):
    """Their first apex is near that of e^2."""
    limit = Limit(lower=-1.0, restitution=0.7, bounce_threshold=0.2)
    recording = simulate(body_at((0.0, 0.0, -0.5), limits=((Z, limit),)), dt=1.0 / 960.0, **settings).record(steps=960)
    z = 1.0 + recording.link_pose[:, 0, 0, 2].astype(float)
    apexes = z[1:-1][(z[1:-1] >= z[:-2]) & (z[1:-1] > z[2:])]
    assert apexes[0] == pytest.approx(0.245, abs=5e-3)
    assert z.min() > -1e-9


def test_an_end_that_is_reached_as_a_step_ends():
    """After 72 steps of 1/240 s at 1 m/s: it bounces in that step, and is not stopped there."""
    limit = Limit(lower=-0.3, upper=0.3, restitution=0.5)
    slide = body_at((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), limits=((X, limit),))
    simulation = simulate(slide, dt=1.0 / 240.0, gravity=(0.0, 0.0, 0.0))
    speeds = []
    for _ in range(2):
        simulation.step(80)
        speeds.append(float(simulation.state.link_velocity.numpy().ravel()[0]))
    np.testing.assert_allclose(speeds, -0.5, atol=1e-9)


def test_a_bounce_in_a_joint_is_that_of_a_tree():
    """Of a hinge between its ends."""
    tree, looped = pair((RX,), (0.1,), (2.0,), limits=((RX, Limit(lower=-0.3, upper=0.3, restitution=0.6)),))
    ends = [pose_after(one, 4000, 0.5) for one in (tree, looped)]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-3)


@pytest.mark.parametrize("is_soft", [False, True], ids=["hard", "soft"])
def test_two_free_bodies_are_as_a_floating_tree(is_soft):
    """A joint with limits between two articulations: momentum stays, and both move as links of one tree."""
    soft = dict(stiffness=300.0, damping=1.0) if is_soft else {}
    limits = ((X, Limit(lower=-0.05, upper=0.1, **soft)), (RX, Limit(lower=-0.2, upper=0.3, **soft)))
    base = trees.replace(trees.free_body().links[0], path="/t/base")
    start = zip((X, RX), (0.0, 0.1), (1.0, -2.0), limits)
    dofs = tuple(
        Dof(name=f"/t/joint:{axis.value}", axis=axis, position=q, velocity=v, limit=limit)
        for axis, q, v, (_, limit) in start
    )
    joint = Joint(path="/t/joint", parent=0, child=1, parent_frame=FRAMES[0], child_frame=FRAMES[1], dofs=dofs)
    tree = Articulation(path="/t", links=(base, BODY), joints=(joint,))
    state = simulate(tree).state
    pose, velocity = (getattr(state, f"link_{name}").numpy().astype(float)[..., 0] for name in ("pose", "velocity"))
    first, second = (
        trees.replace(
            link, pose=Pose(tuple(x[:3]), tuple(x[3:])), linear_velocity=tuple(v[:3]), angular_velocity=tuple(v[3:])
        )
        for link, x, v in zip((base, BODY), pose, velocity)
    )
    loop = LoopJoint(
        name="/t/joint",
        link0=0,
        link1=0,
        frame0=FRAMES[0],
        frame1=FRAMES[1],
        free=(X, RX),
        limits=limits,
        articulation1=second.path,
    )
    parts = (
        Articulation(path=first.path, links=(first,), joints=(), constraints=(loop,)),
        Articulation(path=second.path, links=(second,), joints=()),
    )
    scene = trees.scene(*parts, gravity=(0.0, 0.0, 0.0))
    simulation = Simulation(scene, settings=SolverSettings(precision="float64", variant="scalar", dt=1.0 / 8000.0))
    simulation.step(4000)
    found = simulation.state.link_pose.numpy().astype(float).reshape(2, 7)
    exact = simulate(tree, gravity=(0.0, 0.0, 0.0), dt=1.0 / 8000.0)
    exact.step(4000)
    wanted = exact.state.link_pose.numpy().astype(float).reshape(2, 7)
    np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=2e-5 if is_soft else 5e-4)
    v = simulation.state.link_velocity.numpy().astype(float).reshape(2, 6)
    momentum = np.array([2.0, BODY.mass]) @ v[:, :3]
    np.testing.assert_allclose(momentum, np.array([2.0, BODY.mass]) @ velocity[:, :3], atol=1e-9)


def test_a_bad_start_is_taken_back_without_a_shot():
    """A share of it in a step, by positions alone; nothing moves when it is done."""
    tree = body_at((0.3, 0.0, 0.0), turn=(0.0, 0.9, 0.0), limits=((X, Limit(upper=0.1)), (RY, Limit(upper=0.4))))
    simulation = simulate(tree, gravity=(0.0, 0.0, 0.0))
    simulation.step(1)
    assert simulation.state.link_pose.numpy()[0, 0] == pytest.approx(0.1 + 0.8 * 0.2, abs=1e-5)
    simulation.step(100)
    pose = simulation.state.link_pose.numpy().ravel()
    assert pose[0] == pytest.approx(0.1, abs=1e-6)
    assert 2.0 * np.arcsin(pose[4]) == pytest.approx(0.4, abs=1e-6)
    np.testing.assert_allclose(simulation.state.link_velocity.numpy(), 0.0, atol=1e-9)


@pytest.mark.parametrize("case", ["translation", "cone"])
@pytest.mark.parametrize("settings", [{"solver": "tgs"}, {"integrator": "semi_implicit"}], ids=str)
def test_substeps_and_steps_of_first_order_come_near(case, settings):
    axes, positions, velocities, limits = STOPS[case]
    tree, looped = pair(axes, positions, velocities, **limits)
    exact = pose_after(tree, 32000, 0.5)
    errors = [np.abs(pose_after(looped, steps, 0.5, **settings) - exact).max() for steps in (240, 960)]
    assert errors[1] < 0.1
    assert errors[1] < errors[0] / 1.9


@pytest.mark.parametrize("case", STOPS)
@pytest.mark.parametrize("is_soft", [False, True], ids=["hard", "soft"])
def test_lanes_and_precisions_agree(case, is_soft):
    """Lanes with scalars to rounding, environments with each other bitwise, float32 with float64."""
    axes, positions, velocities, limits = (SPRINGS if is_soft else STOPS)[case]
    _, looped = pair(axes, positions, velocities, **limits)
    found = {}
    for precision, variant, count in (("float64", "scalar", 1), ("float64", "lanes", 17), ("float32", "lanes", 17)):
        simulation = simulate(looped, count, precision=precision, variant=variant)
        simulation.step(120)
        pose = simulation.state.link_pose.numpy().reshape(7, count).astype(float)
        assert (pose == pose[:, :1]).all()
        found[precision, variant] = pose[:, 0]
    np.testing.assert_allclose(found["float64", "lanes"], found["float64", "scalar"], atol=1e-8)
    np.testing.assert_allclose(found["float32", "lanes"], found["float64", "lanes"], atol=1e-3)


def test_ends_are_those_of_each_environment():
    """Written at run time; nonsense stops the environment that has it, by name."""
    tree = body_at(velocity=(0.5, 0.0, 0.0), limits=((X, Limit(upper=0.1)),))
    simulation = simulate(tree, 4, gravity=(0.0, 0.0, 0.0), variant="lanes")
    simulation.parameters.loop_limit_upper = np.array([[0.1, 0.15, np.inf, np.nan]])
    simulation.step(120)
    pose = simulation.state.link_pose.numpy().reshape(7, 4)
    np.testing.assert_allclose(pose[0, :3], (0.1, 0.15, 0.25), atol=1e-9)
    (failure,) = simulation.failures()
    assert "loop_limit_upper of /t/joint:transX must be" in str(failure)


@pytest.mark.parametrize(
    "changes, says",
    [
        (
            dict(limits=((X, Limit(upper=1.0)),), free=BALL),
            "has a limit of transX; each must be of one of its free axes",
        ),
        (dict(limits=((X, Limit(lower=1.0, upper=0.5)),)), "lower limit 1 is above upper limit 0.5"),
        (dict(limits=((RX, Limit(upper=1.0)),), free=(RX,)), "both ends must be finite, and at most a turn apart"),
        (dict(distance_limit=Limit(upper=-1.0)), "has a largest distance of -1 m; it must be positive"),
        (dict(distance_limit=Limit(upper=1.0), free=BALL), "bounds a distance, but holds all translations"),
        (dict(cone_limit=ConeLimit(angle_1=1.0), free=(RY, RZ)), "has a cone; all three rotations must be free then"),
        (dict(cone_limit=ConeLimit(angle_1=-1.0)), "cone angle -1 rad must be positive"),
    ],
)
def test_it_is_refused_where_it_makes_no_sense(changes, says):
    """With its name, what was found and what is allowed."""
    (finding,) = findings(trees.scene(body_at(**changes)))
    assert finding.path.startswith("/t/joint")
    assert says in finding.message


def test_the_axes_have_names():
    """Those of the joint, the axis, and what bounds several of them together."""
    tree = body_at(limits=((X, Limit(upper=1.0)),), distance_limit=Limit(upper=2.0), cone_limit=ConeLimit(angle_1=1.0))
    assert [axis.name for axis in loop_of(tree).axes] == ["/t/joint:transX", "/t/joint:distance", "/t/joint:cone"]
    words = {one: word for one, word in loop_of(tree).words.items() if word}
    assert words == {"limits": "transX, distance, cone"}
