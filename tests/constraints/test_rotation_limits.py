"""Limits of finite rotations where they are hard to hold: fast thin rods, chains, and swings near half a turn."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests import trees
from warp_artic import Simulation, SolverSettings
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.pose import Pose

NARROW, WIDE = np.radians(20.0), np.radians(40.0)
HELD = np.radians(0.001)


def rods(count, thickness, kind="spherical", length=0.5):
    """A chain of rods whose inertia about their own axis is a share of that about the others."""
    tree = trees.chain(count, kind, length=length)
    rod = tree.links[0].inertia[0]
    links = (trees.replace(link, inertia=(rod, 0, 0, rod, 0, thickness * rod)) for link in tree.links)
    return trees.replace(tree, links=tuple(links))


def ball(thickness, limits, reverse=False):
    """A rod that twists about its own axis in a tilted ball joint."""
    along = Rotation.from_matrix(np.roll(np.eye(3), 2, axis=0)).as_quat()
    tilted = Rotation.from_euler("xyz", [0.2, 0.1, 0.4]) * Rotation.from_quat(along)
    frames = {"parent_frame": Pose((0, 0, 0), tuple(tilted.as_quat())), "child_frame": Pose((0, 0, 0), tuple(along))}
    tree = rods(1, thickness)
    tree = trees.replace(tree, joints=(trees.replace(tree.joints[0], reversed=reverse, **frames),))
    return limited(tree, limits)


def hanging(thickness, limits):
    """A limb that hangs from a ball joint, whose twist axis is down."""
    tree = ball(thickness, limits)
    frames = {
        "parent_frame": Pose((0, 0, 0), tuple(Rotation.from_euler("y", 90, degrees=True).as_quat())),
        "child_frame": tree.joints[0].child_frame,
    }
    return trees.replace(tree, joints=(trees.replace(tree.joints[0], **frames),))


def limited(tree, limits):
    """A tree with limits of one kind on all its ball joints."""
    if limits in ("cone", "ellipse"):
        cone = ConeLimit(angle_1=NARROW if limits == "cone" else WIDE, angle_2=NARROW)
        return trees.replace(tree, joints=tuple(trees.replace(joint, cone_limit=cone) for joint in tree.joints))
    widths = {"pyramid": (None, WIDE, NARROW), "twist": (NARROW, None, None)}[limits]
    own = [None if width is None else Limit(lower=-width, upper=width) for width in widths]
    return trees.with_dofs(tree, limit=own * len(tree.joints))


def passed(limits, positions):
    """How far limits of a kind are passed at public rotation vectors, shape (..., 3); negative inside."""
    x, y, z, w = np.moveaxis(Rotation.from_rotvec(positions.reshape(-1, 3).astype(float)).as_quat(), -1, 0)
    if limits == "twist":
        return np.abs(2.0 * np.arctan(x / w)) - NARROW
    s = np.stack([w * y - x * z, w * z + x * y])
    size = np.maximum(np.hypot(*s), 1e-12)
    theta = 2.0 * np.arctan2(size, np.hypot(w, x) ** 2)
    if limits == "pyramid":
        return np.maximum(*(np.abs(theta * s / size) - np.array([[WIDE], [NARROW]])))
    widths = np.array([[NARROW if limits == "cone" else WIDE], [NARROW]])
    return theta - size / np.maximum(np.hypot(*(s / widths)), 1e-12)


def record(tree, velocities, *, position=None, dt=1 / 240, seconds=2.0, gravity=(0, 0, -9.81), **settings):
    """A recording of one environment for each velocity."""
    options = SolverSettings(dt=dt, **{"precision": "float64", **settings})
    simulation = Simulation(trees.scene(tree, gravity=gravity), settings=options, environments=len(velocities))
    simulation.set_state(joint_velocity=velocities, **({} if position is None else {"joint_position": position}))
    recording = simulation.record(round(seconds / dt))
    assert not simulation.failures()
    return recording


def gains(recording):
    """What each environment gains at most, of its largest kinetic energy."""
    total = recording.energy.astype(float).sum(axis=2)
    return (total.max(axis=0) - total[0]) / recording.energy[:, :, 0].max(axis=0)


def fast_twists(limits, count=6):
    """Twist rates up to 30 rad/s with some swing; of a twist limit, more of the swing."""
    rng = np.random.default_rng(0)
    velocities = 2.0 * rng.normal(size=(count, 3))
    velocities[:, 0] = np.linspace(-30.0, 30.0, count) if limits != "twist" else 12.0 * rng.normal(size=count)
    return velocities


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("limits", ["cone", "ellipse", "pyramid", "twist"])
def test_a_fast_thin_rod_does_not_pass_its_limits(limits, integrator, solver, reverse):
    """By a thousandth of a degree, at any twist rate up to 30 rad/s, with an inertia of 1 : 1 : 0.01."""
    tree = ball(0.01, limits, reverse)
    for precision in ("float32", "float64"):
        recording = record(tree, fast_twists(limits), solver=solver, integrator=integrator, precision=precision)
        beyond = passed(limits, recording.joint_position)
        assert -HELD < beyond.max() < HELD


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("limits", ["cone", "ellipse", "pyramid", "twist"])
def test_limits_hold_in_long_steps(limits, reverse):
    """At 60 Hz, where the rod twists by half a radian in a step."""
    recording = record(ball(0.01, limits, reverse), fast_twists(limits), dt=1 / 60)
    assert -HELD < passed(limits, recording.joint_position).max() < HELD


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("thickness", [0.01, 0.5])
@pytest.mark.parametrize("limits", ["cone", "ellipse", "pyramid", "twist"])
def test_limits_of_a_spinning_rod_give_no_energy(limits, thickness, reverse):
    """Rods that slide along their limits for two seconds gain less than a hundredth."""
    assert gains(record(ball(thickness, limits, reverse), fast_twists(limits))).max() < 1e-2


def test_chains_in_elliptic_cones_hold_and_do_not_gain():
    """Four rods that are thrown about: no cone is passed, and half of them gain less than a hundredth."""
    tree = limited(rods(4, 0.3, length=0.3), "ellipse")
    velocities = 3.0 * np.random.default_rng(0).normal(size=(16, 12))
    for solver in ("direct", "tgs"):
        recording = record(tree, velocities, solver=solver)
        assert -HELD < passed("ellipse", recording.joint_position).max() < HELD
        assert np.median(gains(recording)) < 1e-2


@pytest.mark.parametrize("variant", ["lanes", "scalar"])
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_a_chain_in_cones_does_not_notice_its_neighbours(integrator, variant):
    """Bitwise: limits are met, bent and passed in different steps in each environment."""
    tree = limited(rods(3, 0.3, length=0.3), "ellipse")
    velocities = 4.0 * np.random.default_rng(2).normal(size=(20, 9))
    settings = {"integrator": integrator, "variant": variant, "seconds": 0.5}
    together = record(tree, velocities, **settings).joint_position
    for k in (0, 7, 19):
        alone = record(tree, velocities[[k]], **settings).joint_position
        np.testing.assert_array_equal(alone[:, 0], together[:, k])


@pytest.mark.parametrize("gravity", [0.0, 9.81])
@pytest.mark.parametrize("thickness", [0.003, 0.03, 1.0])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_a_limb_goes_round_its_cone_at_constant_speed(solver, thickness, gravity):
    """Closed form: swing velocity w across a cone of angle a gives the rate w / sin(a) about its axis, and no twist.

    Gravity is along the axis of the cone.
    """
    swing_rate, seconds = 6.0, 2.0
    for precision, variant in (("float64", "scalar"), ("float32", "lanes")):
        for rate in (120, 240, 960):
            recording = record(
                hanging(thickness, "cone"),
                [[0.0, -swing_rate, 0.0]],
                position=[0.0, 0.0, NARROW],
                dt=1 / rate,
                seconds=seconds,
                gravity=(0, 0, -gravity),
                solver=solver,
                precision=precision,
                variant=variant,
            )
            total = recording.energy[:, 0].astype(float).sum(axis=1)
            assert np.abs(total - total[0]).max() < 1e-3 * recording.energy[0, 0, 0]
            assert np.abs(recording.joint_velocity[:, 0, 0]).max() < (1e-9 if precision == "float64" else 2e-3)
            along = Rotation.from_rotvec(recording.joint_position[:, 0].astype(float)).as_matrix()[:, :, 0]
            angle = np.unwrap(np.arctan2(along[:, 2], along[:, 1]))
            expected = swing_rate * seconds / np.sin(NARROW)
            assert angle[-1] - angle[0] == pytest.approx(expected, rel=10.0 * (swing_rate / rate) ** 2)


@pytest.mark.parametrize("limits", ["cone", "ellipse", "pyramid"])
def test_limits_of_the_swing_do_not_twist_a_limb(limits):
    """Their torques are across the limb, about which its inertia is a thirtieth; it is thrown about for two seconds."""
    velocities = 6.0 * np.random.default_rng(3).normal(size=(8, 3))
    velocities[:, 0] = 0.0
    for rate in (120, 480):
        twist = record(hanging(0.03, limits), velocities, dt=1 / rate).joint_velocity[:, :, 0]
        assert np.abs(twist).max() < 1e-9


@pytest.mark.parametrize("count", [4, 5, 6])
def test_a_free_chain_of_ball_joints_keeps_its_energy(count):
    """Thin rods of a quarter of a metre, released horizontally, and not quite alike, for five seconds at 240 Hz."""
    velocities = 1e-3 * np.random.default_rng(1).normal(size=(16, 3 * count))
    position = np.zeros(3 * count)
    position[1] = np.pi / 2
    energy = record(rods(count, 0.01, length=0.25), velocities, position=position, seconds=5.0).energy
    total = energy.sum(axis=2)
    assert np.abs(total - total[0]).max() < 0.2 * energy[:, :, 0].max()


@pytest.mark.parametrize("degrees", [150.0, 170.0, 179.0])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_wide_cones_stop_a_swing_near_half_a_turn(degrees, precision):
    """Rods that are flung at the far end of their joint stop there, and without a limit swing through."""
    velocities = np.zeros((16, 3))
    velocities[:, 1] = 16.0
    velocities[:, [0, 2]] = np.random.default_rng(0).normal(size=(16, 2)) * np.logspace(-6, 0, 16)[:, None]
    tree = rods(1, 0.5)
    free = record(tree, velocities, precision=precision, seconds=4.0)
    total = free.energy.astype(float).sum(axis=2)
    assert np.abs(total - total[0]).max() < 2e-4 * free.energy[:, :, 0].max()
    widest = np.radians(degrees)
    cone = ConeLimit(angle_1=widest, angle_2=widest)
    tree = trees.replace(tree, joints=(trees.replace(tree.joints[0], cone_limit=cone),))
    stopped = record(tree, velocities, precision=precision, seconds=4.0)
    x = Rotation.from_rotvec(stopped.joint_position.reshape(-1, 3).astype(float)).as_matrix()[:, 0, 0]
    assert abs(np.arccos(np.clip(x, -1.0, 1.0)).max() - widest) < np.radians(0.01)
    assert gains(stopped).max() < 1e-4


@pytest.mark.parametrize("kind", ["universal_xy", "zero_twist", "universal_xz"])
def test_limits_of_two_free_rotations_hold(kind):
    """Both angles, or components of the rotation vector, of two stout rods that are flung about."""
    limit = Limit(lower=-0.3, upper=0.25)
    tree = trees.with_dofs(rods(2, 0.5, kind), limit=limit)
    q = record(tree, 5.0 * np.random.default_rng(0).normal(size=(8, 4))).joint_position
    assert -HELD < (q - limit.upper).max() < HELD and -HELD < (limit.lower - q).max() < HELD


@pytest.mark.parametrize("kind", ["universal_xy", "zero_twist", "spherical"])
def test_finite_rotations_are_of_second_order(kind):
    """Two stout rods: a quarter of the error at half the step."""
    tree = rods(2, 0.5, kind)
    dofs = len(tree.dofs)
    rng = np.random.default_rng(1)
    position, velocity = rng.uniform(-0.6, 0.6, dofs), rng.normal(size=(1, dofs))
    ends = [
        record(tree, velocity, position=position, dt=1 / rate, seconds=0.5).joint_position[-1, 0]
        for rate in (480, 960, 1920, 15360)
    ]
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    for coarse, fine in zip(errors, errors[1:]):
        assert coarse / fine == pytest.approx(4.0, rel=0.1), errors
