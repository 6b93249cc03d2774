"""Joints of a model in no articulation hold what they hold in Newton: origins, axes, or frames."""

import newton
import numpy as np
import pytest
import warp as wp
from warp_artic.extensions.newton import SolverWarpArtic

import warp_artic as wa
from tests.extensions.newton.models import DT, link, run, start
from warp_artic.description.pose import Pose

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.4, 0.5
ANGLE = 0.6
"""Of the crank at the start [rad]."""


def angles():
    """Of the coupler and of the rocker against the ground, by the law of cosines."""
    A = CRANK * np.array([np.cos(ANGLE), np.sin(ANGLE)])
    across = np.array([GROUND, 0.0]) - A
    L = np.hypot(*across)
    coupler = np.arctan2(across[1], across[0]) + np.arccos((L * L + COUPLER**2 - ROCKER**2) / (2 * L * COUPLER))
    B = A + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    return coupler, np.arctan2(B[1], B[0] - GROUND)


def linkage(close, axis=(0.0, 0.0, 1.0)):
    """A four-bar linkage in a plane, of which `close(builder, parent, child, **frames)` adds the last joint."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y)
    bars = [link(builder, name) for name in ("crank", "coupler", "rocker")]
    places = ((-1, 0.0), (bars[0], CRANK), (-1, GROUND))
    joints = [
        builder.add_joint_revolute(parent, bar, axis=axis, parent_xform=wp.transform((x, 0, 0), wp.quat_identity()))
        for bar, (parent, x) in zip(bars, places)
    ]
    builder.add_articulation(joints, label="linkage")
    coupler, rocker = angles()
    builder.joint_q[:] = [ANGLE, coupler - ANGLE, rocker]
    frames = {
        "parent_xform": wp.transform((COUPLER, 0, 0), wp.quat_identity()),
        "child_xform": wp.transform((ROCKER, 0, 0), wp.quat_identity()),
    }
    close(builder, bars[1], bars[2], label="close", **frames)
    builder.joint_articulation[-1] = -1
    return builder.finalize()


def hinge(builder, parent, child, **frames):
    return builder.add_joint_revolute(parent, child, axis=(0.0, 0.0, 1.0), **frames)


def skew(builder, parent, child, parent_xform, child_xform, **options):
    """A hinge about an axis at an angle to those of its frames, which are turned so that it is that of the plane."""
    axis = np.array([0.6, 0.0, 0.8])
    turn = wp.quat_between_vectors(wp.vec3(*axis), wp.vec3(0.0, 0.0, 1.0))
    frames = {
        "parent_xform": parent_xform * wp.transform((0, 0, 0), turn),
        "child_xform": child_xform * wp.transform((0, 0, 0), turn),
    }
    return builder.add_joint_revolute(parent, child, axis=tuple(axis), **frames, **options)


def ball(builder, parent, child, **frames):
    return builder.add_joint_ball(parent, child, **frames)


def d6(builder, parent, child, **frames):
    """A D6 joint with one free rotation."""
    free = newton.ModelBuilder.JointDofConfig.create_unlimited
    return builder.add_joint_d6(parent, child, angular_axes=[free((0, 0, 1))], **frames)


def gap(model, state):
    """Between the origins of the frames of the last joint [m]."""
    ends = []
    for body, frame in (
        (model.joint_parent.numpy()[-1], model.joint_X_p.numpy()[-1]),
        (model.joint_child.numpy()[-1], model.joint_X_c.numpy()[-1]),
    ):
        pose = state.body_q.numpy()[body]
        ends.append(Pose(tuple(map(float, pose[:3])), tuple(map(float, pose[3:]))).apply(frame[:3]))
    return float(np.linalg.norm(np.subtract(*ends)))


@pytest.mark.parametrize("close", [hinge, skew, ball, d6])
def test_a_linkage_stays_together(close):
    """And moves alike whatever closes it in its plane."""
    model = linkage(close)
    assert gap(model, start(model)) < 1e-6
    end = run(SolverWarpArtic(model, dt=DT), 120)
    assert gap(model, end) < 3e-6
    found = end.joint_q.numpy()[:3]
    reference = linkage(hinge)
    wanted = run(SolverWarpArtic(reference, dt=DT), 120).joint_q.numpy()[:3]
    assert abs(wanted[0] - ANGLE) > 0.3
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_what_acts_on_a_loop_joint_is_told():
    """Its limits, springs and drives."""

    def sprung(builder, parent, child, **frames):
        return builder.add_joint_revolute(parent, child, axis=(0.0, 0.0, 1.0), target_ke=5.0, **frames)

    with pytest.warns(UserWarning, match="joint close: closes a loop; what acts along its free axes is not simulated"):
        SolverWarpArtic(linkage(sprung), dt=DT)


def test_a_free_joint_in_no_articulation_is_refused():
    """It holds nothing."""
    builder = newton.ModelBuilder()
    body = builder.add_body(mass=1.0, inertia=wp.mat33(np.eye(3)), label="body")
    builder.joint_articulation[-1] = -1
    assert body == 0
    with pytest.raises(wa.HostError, match="is a FREE joint in no articulation"):
        SolverWarpArtic(builder.finalize(), dt=DT)
