"""Drives of loop joints: joints of a tree in their place, closed forms of single steps, energy, and parameters."""

import numpy as np
import pytest

from tests import loop_pairs, trees
from tests.loop_pairs import H, pair, pose_after, simulate
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose, rotation_vector_from_matrix
from warp_artic.description.validate import findings

X, Y, Z, RX, RY, RZ = Axis
ORIGIN = (0.0, 0.0, 0.0)
MASS, INERTIA = 2.0, (0.1, 0.2, 0.25)


def drive(stiffness, damping, target=0.0, speed=0.0, **options):
    return Drive(stiffness=stiffness, damping=damping, position_target=target, velocity_target=speed, **options)


DRIVEN = {
    "slide": ((X, RX, RY, RZ), (0.05, 0.1, 0.2, 0.1), (1.0, 0.3, -0.5, 0.8), ((X, drive(80.0, 2.0, 0.1, 0.2)),)),
    "bounded": (
        (X, RX, RY, RZ),
        (0.05, 0.1, 0.2, 0.1),
        (1.0, 0.3, -0.5, 0.8),
        ((X, drive(80.0, 2.0, 0.1, 0.2, max_force=6.0)),),
    ),
    "hinge": ((RX,), (0.1,), (2.0,), ((RX, drive(3.0, 0.05, 1.2)),)),
    "ball": (
        (RX, RY, RZ),
        (0.1, 0.1, 0.2),
        (2.0, 1.0, -0.5),
        ((RX, drive(3.0, 0.05, 0.5)), (RY, drive(4.0, 0.05, 0.8)), (RZ, drive(2.0, 0.1, -0.3))),
    ),
    "dampers": (
        (RX, RY, RZ),
        (0.1, 0.1, 0.2),
        (2.0, 1.0, -0.5),
        ((RX, drive(0.0, 0.5, 0.5, 2.0)), (RY, drive(0.0, 0.5, 0.8, 1.0))),
    ),
    "universal": ((RX, RZ), (0.1, 0.2), (2.0, 1.5), ((RX, drive(3.0, 0.05, 0.5)), (RZ, drive(3.0, 0.05, -0.5)))),
    "zero twist": ((RY, RZ), (0.1, 0.2), (2.0, 1.5), ((RY, drive(3.0, 0.05, 0.5)), (RZ, drive(2.0, 0.05, -0.5)))),
    "one of a ball": ((RX, RY, RZ), (0.8, -0.7, 0.5), (2.0, 1.0, -0.5), ((RZ, drive(4.0, 0.1, 0.8)),)),
    "two of a ball": (
        (RX, RY, RZ),
        (0.8, -0.7, 0.5),
        (2.0, 1.0, -0.5),
        ((RX, drive(3.0, 0.05, 0.5)), (RZ, drive(4.0, 0.1, 0.8))),
    ),
    "one bounded": ((RX, RY, RZ), (0.8, -0.7, 0.5), (2.0, 1.0, -0.5), ((RZ, drive(1.0, 0.05, 0.8, max_force=0.25)),)),
    "one swing": ((RY, RZ), (0.7, 0.9), (2.0, -1.5), ((RY, drive(5.0, 0.0, 0.7)),)),
}
"""Free axes, start, speeds and drives."""


@pytest.mark.parametrize("case", DRIVEN)
def test_a_driven_loop_joint_moves_as_the_joint_of_a_tree(case):
    """Twist, swings and translations; both are of second order, so that errors are extrapolated."""
    axes, positions, velocities, drives = DRIVEN[case]
    tree, looped = pair(axes, positions, velocities, drives=drives)
    exact = pose_after(tree, 8000, 0.5)
    coarse, fine = (pose_after(looped, steps, 0.5) for steps in (480, 960))
    assert np.abs(fine - exact).max() < 1e-5
    assert np.abs(fine + (fine - coarse) / 3.0 - exact).max() < 1e-6


@pytest.mark.parametrize("case", ["slide", "ball", "zero twist"])
@pytest.mark.parametrize("settings", [{"solver": "pgs"}, {"solver": "tgs"}, {"integrator": "semi_implicit"}], ids=str)
def test_other_solvers_come_near(case, settings):
    axes, positions, velocities, drives = DRIVEN[case]
    tree, looped = pair(axes, positions, velocities, drives=drives)
    exact = pose_after(tree, 8000, 0.5)
    errors = [np.abs(pose_after(looped, steps, 0.5, **settings) - exact).max() for steps in (240, 960)]
    assert errors[1] < 0.03
    assert errors[1] < errors[0] / 2.0


def body_at(position=ORIGIN, velocity=ORIGIN, turn=ORIGIN, spin=ORIGIN, free=tuple(Axis), **loop):
    """A free body, on the world by a loop joint at its centre of mass."""
    link = Link(
        path="/t/body",
        mass=MASS,
        inertia=(INERTIA[0], 0, 0, INERTIA[1], 0, INERTIA[2]),
        pose=Pose(tuple(position), loop_pairs.quaternion_from_rotation_vector(turn)),
        linear_velocity=tuple(velocity),
        angular_velocity=tuple(spin),
    )
    joint = LoopJoint(name="/t/joint", link0=WORLD, link1=0, free=free, **loop)
    return Articulation(path="/t", links=(link,), joints=(), constraints=(joint,))


def slerp(k, d, target=(0.0, 0.0, 0.0), **options):
    """Drives of three rotations as one."""
    axes = zip((RX, RY, RZ), target)
    return {"slerp": True, "drives": tuple((axis, drive(k, d, angle, **options)) for axis, angle in axes)}


def spring_steps(y, v, k, d, target, speed, inertia, steps=3, bound=np.inf):
    """Position and velocity of a mass on a spring and damper, step by step: the first backward Euler, the others by the
    theta of `phases.implicit`, in closed form."""
    for step in range(steps):
        least = 1.0 if step == 0 else 0.5
        x = min(H * (d + H * k) / inertia, 1e4)
        theta = least + (1.0 - least) * x * x / (1.0 + x * x)
        slope = theta * (d + theta * H * k)
        drag = (1.0 - theta) * d + theta * (1.0 - least) * H * k
        known = -k * (y - target) - drag * v + d * speed
        force = (known - slope * v) / (1.0 + H * slope / inertia)
        v_next = v + H / inertia * np.clip(force, -bound, bound)
        y += H * ((1.0 - least) * v + least * v_next)
        v = v_next
    return y, v


def moved(tree, steps, **settings):
    """Position and rotation vector, and velocity, of the body after steps without gravity, each of shape (6)."""
    simulation = simulate(tree, gravity=(0.0, 0.0, 0.0), **settings)
    simulation.step(steps)
    pose = simulation.state.link_pose.numpy()[..., 0].ravel().astype(float)
    turn = rotation_vector_from_matrix(Pose(tuple(pose[:3]), tuple(pose[3:])).rotation)
    return np.array([*pose[:3], *turn]), simulation.state.link_velocity.numpy()[..., 0].ravel().astype(float)


@pytest.mark.parametrize("index", range(6), ids=[axis.value for axis in Axis])
@pytest.mark.parametrize("kind", list(DriveKind), ids=lambda kind: kind.value)
@pytest.mark.parametrize("bound", [np.inf, 1.0], ids=["free", "bounded"])
def test_a_drive_of_one_axis_in_closed_form(index, kind, bound):
    """A translation, a hinge, and the twist and the swing of a universal joint, with both targets."""
    axis = list(Axis)[index]
    k, d, target, speed, start, rate = 30.0, 0.7, 0.12, 0.4, -0.05, 0.3
    inertia = ((MASS,) * 3 + INERTIA)[index]
    place, way = np.zeros(6), np.zeros(6)
    place[index], way[index] = start, rate
    drives = ((axis, drive(k, d, target, speed, kind=kind, max_force=bound)),)
    free = (X, Y, Z, axis) if index == 3 else tuple(dict.fromkeys((X, Y, Z, RX, axis)))
    tree = body_at(place[:3], way[:3], place[3:], way[3:], free=free, drives=drives)
    scale = inertia if kind is DriveKind.ACCELERATION else 1.0
    y, v = spring_steps(start, rate, scale * k, scale * d, target, speed, inertia, bound=bound)
    found, velocity = moved(tree, 3)
    np.testing.assert_allclose(found, np.where(np.arange(6) == index, y, 0.0), atol=1e-10)
    np.testing.assert_allclose(velocity, np.where(np.arange(6) == index, v, 0.0), atol=1e-10)


@pytest.mark.parametrize("kind", list(DriveKind), ids=lambda kind: kind.value)
@pytest.mark.parametrize("angle", [0.2, 1.5, 3.1])
def test_a_slerp_drive_in_closed_form(angle, kind):
    """About any axis it is k times the angle of the shortest arc: a ball with a moment of inertia has that motion."""
    k, d, speed, rate, moment = 3.0, 0.2, 0.4, 0.3, 0.2
    n = np.array([2.0, -1.0, 2.0]) / 3.0
    turn = 0.3 * n
    tree = body_at(turn=turn, spin=rate * n, **slerp(k, d, (0.3 + angle) * n, kind=kind))
    drives = tuple(
        (axis, trees.replace(own, velocity_target=speed * n[axis.index])) for axis, own in loop_of(tree).drives
    )
    tree = trees.replace(tree, constraints=(trees.replace(loop_of(tree), drives=drives),))
    tree = trees.replace(tree, links=(trees.replace(tree.links[0], inertia=(moment, 0, 0, moment, 0, moment)),))
    scale = moment if kind is DriveKind.ACCELERATION else 1.0
    y, v = spring_steps(0.3, rate, scale * k, scale * d, 0.3 + angle, speed, moment)
    found, velocity = moved(tree, 3)
    np.testing.assert_allclose(found[3:], y * n, atol=1e-10)
    np.testing.assert_allclose(velocity[3:], v * n, atol=1e-10)


def loop_of(tree):
    (loop,) = tree.constraints
    return loop


def test_a_slerp_drive_goes_the_short_way():
    """From 3 rad beyond half a turn it goes on, not back."""
    tree = body_at(turn=(2.0, 0.0, 0.0), **slerp(5.0, 0.0, (-2.0, 0.0, 0.0)))
    _, velocity = moved(tree, 1)
    assert velocity[3] == pytest.approx(5.0 * (2.0 * np.pi - 4.0) * H / (INERTIA[0] + 5.0 * H * H), rel=1e-10)


@pytest.mark.parametrize("index", range(3, 6))
def test_a_drive_of_three_rotations_in_closed_form(index):
    """One step: torque 2 k sin(a / 2) at an error a, which gives way by k cos^2(a / 4)."""
    k, d, speed, angle = 30.0, 0.7, 0.4, 0.9
    moment = INERTIA[index - 3]
    tree = body_at(drives=((list(Axis)[index], drive(k, d, angle, speed)),))
    torque, spring = 2.0 * k * np.sin(angle / 2.0), k * np.cos(angle / 4.0) ** 2
    _, velocity = moved(tree, 1)
    v = H * (torque + d * speed) / (moment + H * d + H * H * spring)
    np.testing.assert_allclose(velocity, np.where(np.arange(6) == index, v, 0.0), atol=1e-10)


ROTATIONS = (RX, RY, RZ)
SPRINGS = {
    "linear": dict(drives=((X, drive(200.0, 0.0)), (Z, drive(300.0, 0.0, 0.1)))),
    "three rotations": dict(drives=((RX, drive(4.0, 0.0)), (RY, drive(3.0, 0.0)), (RZ, drive(5.0, 0.0, 0.4)))),
    "one of three rotations": dict(drives=((RZ, drive(5.0, 0.0, 1.0)),)),
    "slerp": slerp(4.0, 0.0, (0.1, 0.5, 0.2)),
}


def stored(name, tree, pose):
    """Energy of the springs [J]."""
    drives = dict(loop_of(tree).drives)
    if name == "linear":
        return sum(0.5 * own.stiffness * (pose[axis.index] - own.position_target) ** 2 for axis, own in drives.items())
    R = Pose(tuple(pose[:3]), tuple(pose[3:])).rotation
    own = [drives.get(axis, drive(0.0, 0.0)) for axis in ROTATIONS]
    target = loop_pairs.quaternion_from_rotation_vector([one.position_target for one in own])
    error = rotation_vector_from_matrix(R.T @ Pose((0.0, 0.0, 0.0), target).rotation)
    angle = np.linalg.norm(error)
    e = error if name == "slerp" else 4.0 * np.sin(angle / 4.0) * error / angle
    return 0.5 * sum(one.stiffness * e[axis.index] ** 2 for one, axis in zip(own, ROTATIONS))


@pytest.mark.parametrize("name", SPRINGS)
def test_springs_keep_energy_for_a_minute(name):
    """Of undamped drives, which turn a body without symmetry by a radian and more."""
    tree = body_at((0.2, 0.1, -0.1), (0.3, 0.0, 0.2), (0.8, -0.4, 0.3), (1.0, -2.0, 1.5), **SPRINGS[name])
    simulation = simulate(tree, gravity=(0.0, 0.0, 0.0))
    found = []
    for _ in range(600):
        simulation.step(24)
        energy = simulation.state.energy.numpy()[..., 0].astype(float).ravel()
        found.append(energy.sum() + stored(name, tree, simulation.state.link_pose.numpy().ravel().astype(float)))
    assert np.ptp(found) < 0.02 * max(found)


@pytest.mark.parametrize("axis", ROTATIONS)
def test_an_acceleration_drive_of_one_of_three_rotations_has_its_inertia(axis):
    """About a principal axis of a body it is the drive of forces with k I and d I, about all axes."""
    I = INERTIA[axis.index - 3]
    own = {
        DriveKind.ACCELERATION: drive(20.0, 0.5, 1.2, 0.4, kind=DriveKind.ACCELERATION),
        DriveKind.FORCE: drive(20.0 * I, 0.5 * I, 1.2, 0.4),
    }
    start = dict(turn=(0.8, -0.4, 0.3), spin=(1.0, -2.0, 1.5))
    found = [np.concatenate(moved(body_at(**start, drives=((axis, one),)), 240)) for one in own.values()]
    np.testing.assert_allclose(*found, atol=1e-9)


def test_targets_are_written_at_run_time():
    """An array for all axes on which something acts; each environment has its own."""
    tree = body_at(drives=((X, drive(50.0, 20.0)), (RX, drive(5.0, 2.0))))
    simulation = simulate(tree, 17, gravity=(0.0, 0.0, 0.0), variant="lanes")
    targets = np.linspace(-0.4, 0.4, 17)
    simulation.parameters.loop_drive_position_target = np.array([targets, 2.0 * targets, 0.0 * targets, 0.0 * targets])
    simulation.parameters.loop_drive_max_force = np.where(np.arange(17) == 3, -1.0, np.inf) * np.ones((4, 1))
    simulation.step(2400)
    pose = simulation.state.link_pose.numpy().reshape(7, 17)
    moves = np.arange(17) != 3
    np.testing.assert_allclose(pose[0, moves], targets[moves], atol=1e-6)
    np.testing.assert_allclose(2.0 * np.arcsin(pose[3, moves]), 2.0 * targets[moves], atol=1e-6)
    (failure,) = simulation.failures()
    assert "loop_drive_max_force of /t/joint:transX must be" in str(failure)


@pytest.mark.parametrize("case", ["bounded", "ball", "zero twist"])
def test_lanes_and_precisions_agree(case):
    """Lanes with scalars to rounding, environments with each other bitwise, float32 with float64."""
    axes, positions, velocities, drives = DRIVEN[case]
    _, looped = pair(axes, positions, velocities, drives=drives)
    found = {}
    for precision, variant, count in (("float64", "scalar", 1), ("float64", "lanes", 17), ("float32", "lanes", 17)):
        simulation = simulate(looped, count, precision=precision, variant=variant)
        simulation.step(120)
        pose = simulation.state.link_pose.numpy().reshape(7, count).astype(float)
        assert (pose == pose[:, :1]).all()
        found[precision, variant] = pose[:, 0]
    np.testing.assert_allclose(found["float64", "lanes"], found["float64", "scalar"], atol=1e-9)
    np.testing.assert_allclose(found["float32", "lanes"], found["float64", "lanes"], atol=1e-4)


def test_forces_add_up_and_other_joints_do_not_feel_them():
    """A drive between a pendulum and the world holds it: its hinge bears what is left of the weight."""
    tree, _ = pair((RX,), (0.0,), (0.0,), frames=(Pose(), Pose()))
    loop = LoopJoint(name="/t/prop", link0=WORLD, link1=0, free=tuple(Axis), drives=((Z, drive(1e6, 1e4)),))
    tree = trees.replace(tree, constraints=(loop,))
    tree = trees.replace(
        tree, constraints=(trees.replace(loop, frame0=Pose((0.0, -0.07, 0.05)), frame1=Pose((0.0, -0.07, 0.05))),)
    )
    simulation = simulate(tree)
    recording = simulation.record(steps=240, forces=True)
    force = recording.link_incoming_joint_force[-1, 0, 0]
    np.testing.assert_allclose(force[:3], 0.0, atol=1e-3)
    parts = [name for name in vars(recording) if name.startswith("joint_") and name.endswith("_force")]
    total = sum(getattr(recording, name)[1:] for name in parts if name != "joint_force")
    np.testing.assert_allclose(total, 0.0, atol=1e-9)


@pytest.mark.parametrize(
    "changes, says",
    [
        (
            dict(drives=((X, drive(1.0, 0.0)),), free=(RX, RY, RZ)),
            "has a drive of transX; each must be of one of its free",
        ),
        (dict(drives=((X, drive(-1.0, 0.0)),)), "drive stiffness -1 must be finite and not negative"),
        (dict(drives=((X, drive(1.0, 0.0, np.nan)),)), "drive position target nan must be finite"),
        (
            dict(slerp=True, drives=((RX, drive(1.0, 0.0)),)),
            "has a slerp drive; all three rotations must be free and driven",
        ),
        (dict(drives=((X, drive(1.0, 0.0, max_velocity=3.0)),)), "performance envelope"),
        (dict(), "leaves all six axes free; it must hold one of them, or have limits or drives"),
    ],
)
def test_it_is_refused_where_it_makes_no_sense(changes, says):
    """With its name, what was found and what is allowed."""
    (finding,) = findings(trees.scene(body_at(**changes)))
    assert finding.path.startswith("/t/joint")
    assert says in finding.message
