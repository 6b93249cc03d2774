"""Limits of position and velocity."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from tests.simulations import simulate
from warp_artic.description.joint import Axis
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.pose import Pose, matrix_from_quaternion

H = 1.0 / 240.0


@pytest.mark.parametrize("kind", ["revolute_y", "prismatic_x"])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_hard_stop_is_inelastic_and_is_not_passed(kind, side):
    """At 6 rad/s or m/s: penetration below 1e-5, no rebound, no gain of energy, rest without jitter."""
    tree = trees.with_dofs(trees.chain(1, kind), limit=Limit(lower=-0.5, upper=0.5))
    simulation = simulate(tree, gravity=(0, 0, 0))
    simulation.set_state(joint_velocity=[6.0 * side])
    recording = simulation.record(240)
    q, v = recording.joint_position[:, 0, 0] * side, recording.joint_velocity[:, 0, 0] * side
    assert q.max() <= 0.5 + 1e-5
    assert v.min() >= -1e-5
    assert np.diff(recording.energy[:, 0, 0]).max() <= 1e-6
    np.testing.assert_array_equal(q[60:], q[60])


def test_a_one_sided_limit_leaves_the_other_side_free():
    """Only the lower side stops."""
    tree = trees.with_dofs(trees.chain(1, "prismatic_x"), limit=Limit(lower=-0.1))
    simulation = simulate(tree, gravity=(0, 0, 0))
    simulation.set_state(joint_velocity=[2.0])
    simulation.step(240)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), [[2.0]], rtol=1e-5)


def test_a_fast_chain_does_not_pass_its_limits():
    """Joints that slow down towards a limit and are thrown onto it by others stay inside by 1e-5."""
    for count in (2, 4):
        tree = trees.with_dofs(trees.chain(count), limit=Limit(lower=-0.4, upper=0.4))
        simulation = simulate(tree)
        simulation.set_state(joint_velocity=[5.0] + [0.0] * (count - 1))
        assert np.abs(simulation.record(1200).joint_position).max() <= 0.4 + 1e-5


def test_impulses_of_limits_push_and_only_where_a_limit_is_met():
    """On random trees M (v+ - free v+) has entries only on stopped dofs, each away from its limit."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        tree = trees.random_articulation(rng, 12, floating=bool(seed % 2), kinds=("revolute_x", "prismatic_y"))
        state = trees.random_state(rng, tree, speed=3.0)
        edge = [
            Limit(lower=float(q) - 1e-3, upper=float(q) + 1e-3) if k % 2 else None
            for k, q in enumerate(state.joint_position)
        ]
        results = []
        for limits in ([None] * len(tree.dofs), edge):
            simulation = simulate(
                trees.with_dofs(tree, limit=limits),
                precision="float64",
                position_iterations=400,
                integrator="semi_implicit",
            )
            root = (
                {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
            )
            simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
            simulation.step()
            joint = simulation.state.joint_velocity.numpy()[:, 0]
            base = simulation.state.root_velocity.numpy().reshape(-1)
            results.append(np.concatenate([base, joint]))
        motion = rigid.motion(tree, state)
        impulse = (rigid.mass_matrix(motion) @ (results[1] - results[0]))[-len(tree.dofs) :]
        moved = H * results[1][-len(tree.dofs) :]
        limited = np.array([limit is not None for limit in edge])
        assert np.abs(moved[limited]).max() <= 1e-3 + 1e-9
        at_lower, at_upper = limited & (moved < -1e-3 + 1e-9), limited & (moved > 1e-3 - 1e-9)
        assert (at_lower | at_upper).sum() >= 2
        assert (impulse[at_lower] > -1e-9).all() and (impulse[at_upper] < 1e-9).all()
        np.testing.assert_allclose(impulse[~(at_lower | at_upper)], 0.0, atol=1e-8)


def test_velocity_limits_hold_exactly():
    """A falling chain turns no faster than its velocity limits."""
    tree = trees.with_dofs(trees.chain(3), velocity_limit=1.5)
    recording = simulate(tree, gravity=(9.81, 0, 0), position_iterations=200).record(480)
    assert np.abs(recording.joint_velocity).max() <= 1.5 * (1 + 1e-4)
    assert np.abs(recording.joint_velocity).max() > 1.49


def ball(reverse=False, cone_axis=Axis.ROT_X, **joint):
    """A stout rod on a ball joint; its frames are turned so that nothing is aligned by accident."""
    tree = trees.chain(1, "spherical")
    rod = tree.links[0].inertia[0]
    tree = trees.replace(tree, links=(trees.replace(tree.links[0], inertia=(rod, 0, 0, rod, 0, 0.5 * rod)),))
    frames = {
        "parent_frame": Pose((0, 0, 0), (0.5, 0.1, -0.3, 0.65**0.5)),
        "child_frame": Pose((0.1, 0, 0), (0, 0.6, 0, 0.8)),
    }
    changed = trees.replace(tree.joints[0], reversed=reverse, cone_axis=cone_axis, **frames, **joint)
    return trees.replace(tree, joints=(changed,))


def relative_rotation(tree, recording):
    """R of the displacement body0 -> body1 at each record, from the link poses."""
    joint = tree.joints[0]
    R_WF = joint.parent_frame.rotation
    found = []
    for pose in recording.link_pose[:, 0, 0]:
        R_WM = matrix_from_quaternion(pose[3:].astype(float)) @ joint.child_frame.rotation
        R_FM = R_WF.T @ R_WM
        found.append(R_FM.T if joint.reversed else R_FM)
    return np.array(found)


def twist_and_swing(R, axis):
    """Twist angle about an axis, and the rotation vector of the swing, R = swing twist."""
    from scipy.spatial.transform import Rotation

    q = Rotation.from_matrix(R).as_quat()
    twist = np.zeros(4)
    twist[[axis, 3]] = q[[axis, 3]]
    twist = Rotation.from_quat(twist)
    angle = twist.as_rotvec()[axis]
    return angle, (Rotation.from_quat(q) * twist.inv()).as_rotvec()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z])
def test_a_cone_limit_stops_the_swing_and_not_the_twist(axis, reverse):
    """A spinning, falling rod stays in its 30 degree cone to a hundredth of a degree, and goes on twisting."""
    limit = np.radians(30.0)
    tree = ball(reverse, axis, cone_limit=ConeLimit(angle_1=limit, angle_2=limit))
    simulation = simulate(tree)
    velocity = np.array([0.5, 0.7, -0.4])
    velocity[axis.index] = 5.0
    simulation.set_state(joint_velocity=velocity)
    recording = simulation.record(480)
    pairs = [twist_and_swing(R, axis.index) for R in relative_rotation(tree, recording)]
    swing = np.array([np.linalg.norm(s) for _, s in pairs])
    assert swing.max() <= limit + np.radians(0.01)
    assert swing.max() > limit - np.radians(1.0)
    assert np.ptp([t for t, _ in pairs]) > 0.5
    assert np.isfinite(recording.energy).all()


@pytest.mark.parametrize("reverse", [False, True])
def test_an_elliptic_cone_bounds_each_swing(reverse):
    """Swings stay inside the ellipse of 40 and 20 degrees."""
    a, b = np.radians(40.0), np.radians(20.0)
    tree = ball(reverse, cone_limit=ConeLimit(angle_1=a, angle_2=b))
    simulation = simulate(tree)
    simulation.set_state(joint_velocity=[0.3, 1.0, -2.0])
    swings = np.array([twist_and_swing(R, 0)[1] for R in relative_rotation(tree, simulation.record(480))])
    inside = (swings[:, 1] / a) ** 2 + (swings[:, 2] / b) ** 2
    assert inside.max() <= 1.0001
    assert inside.max() > 0.98


@pytest.mark.parametrize("reverse", [False, True])
def test_twist_and_swing_limits_of_a_ball_joint(reverse):
    """Limits on rotX, rotY and rotZ of three free rotations bound twist and swing."""
    tree = ball(reverse)
    limits = [Limit(lower=-0.3, upper=0.2), Limit(lower=-0.25, upper=0.4), Limit(lower=-0.35, upper=0.15)]
    simulation = simulate(trees.with_dofs(tree, limit=limits))
    simulation.set_state(joint_velocity=[2.0, -1.0, 1.5])
    pairs = [twist_and_swing(R, 0) for R in relative_rotation(tree, simulation.record(480))]
    values = np.array([[twist, swing[1], swing[2]] for twist, swing in pairs])
    for k, limit in enumerate(limits):
        assert limit.lower - 2e-5 <= values[:, k].min() and values[:, k].max() <= limit.upper + 2e-5
    met = [
        np.isclose(values[:, k], bound, atol=2e-3).any()
        for k in range(3)
        for bound in (limits[k].lower, limits[k].upper)
    ]
    assert sum(met) >= 2


@pytest.mark.parametrize("kind", ["universal_xy", "zero_twist", "universal_xz"])
def test_limits_of_two_free_rotations(kind):
    """Both angles, or components of the rotation vector, stay in their limits."""
    tree = trees.with_dofs(trees.chain(2, kind), limit=Limit(lower=-0.3, upper=0.25))
    simulation = simulate(tree)
    simulation.set_state(joint_velocity=np.linspace(-3, 3, 4))
    q = simulation.record(480).joint_position
    assert q.min() >= -0.3 - 2e-5 and q.max() <= 0.25 + 2e-5
    assert q.max() > 0.249 or q.min() < -0.299


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("rate", [60, 240, 960])
def test_a_limit_violated_at_the_start_is_recovered_without_a_shot(rate, restitution):
    """A joint that starts 0.3 rad outside comes back, and has no velocity from that, whatever the time step."""
    tree = trees.with_dofs(trees.chain(1), limit=Limit(lower=-0.5, upper=0.5, restitution=restitution))
    simulation = simulate(tree, gravity=(0, 0, 0), dt=1.0 / rate)
    simulation.set_state(joint_position=[0.8])
    recording = simulation.record(60)
    assert np.abs(recording.joint_velocity).max() < 5e-7 * rate
    assert (np.diff(recording.joint_position[:, 0, 0]) <= 0.0).all()
    assert recording.joint_position[-1, 0, 0] == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_a_violated_limit_is_recovered_at_the_velocity_limit_whatever_the_solver(solver):
    """In a step a slow joint comes back by its largest velocity times the step, however many substeps that has."""
    fastest = 0.4
    tree = trees.with_dofs(trees.chain(1), limit=Limit(lower=-0.5, upper=0.5), velocity_limit=fastest)
    simulation = simulate(tree, gravity=(0, 0, 0), solver=solver)
    simulation.set_state(joint_position=[0.8])
    recording = simulation.record(60)
    np.testing.assert_allclose(recording.joint_position[:, 0, 0], 0.8 - fastest * recording.time, rtol=0, atol=1e-4)


@pytest.mark.parametrize("reverse", [False, True])
def test_limits_of_a_ball_joint_violated_at_the_start_leave_no_velocity(reverse):
    """Twist and swing that start outside come back without a velocity that lasts."""
    tree = trees.with_dofs(ball(reverse), limit=Limit(lower=-0.1, upper=0.1))
    simulation = simulate(tree, gravity=(0, 0, 0))
    simulation.set_state(joint_position=[0.5, 0.4, -0.3])
    recording = simulation.record(120)
    assert np.abs(recording.joint_velocity).max() < 5e-4
    pairs = [twist_and_swing(R, 0) for R in relative_rotation(tree, recording)]
    assert np.abs([[twist, *swing[1:]] for twist, swing in pairs[-1:]]).max() <= 0.1 + 2e-5


@pytest.mark.parametrize("reverse", [False, True])
def test_limits_of_a_ball_joint_are_recovered_no_faster_than_its_velocity_limits(reverse):
    """Twist and swing that start outside come back, with one slow dof or three, of which each limit asks its own."""
    fastest = 0.4
    for limits, most in (([fastest, np.inf, np.inf], [fastest, 0.2 * 0.4 / H, 0.2 * 0.4 / H]), (fastest, 3 * fastest)):
        tree = trees.with_dofs(ball(reverse), limit=Limit(lower=-0.1, upper=0.1), velocity_limit=limits)
        simulation = simulate(tree, gravity=(0, 0, 0), integrator="semi_implicit")
        simulation.set_state(joint_position=[0.5, 0.4, -0.3])
        recording = simulation.record(480)
        assert (np.abs(recording.joint_velocity) <= np.array(most) * (1 + 1e-5)).all()
        pairs = [twist_and_swing(R, 0) for R in relative_rotation(tree, recording)]
        assert np.abs([[twist, *swing[1:]] for twist, swing in pairs[-60:]]).max() <= 0.1 + 1e-4
