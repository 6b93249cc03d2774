"""Coordinates, velocities, efforts and forces mean to the solver what they mean to Newton, for every kind of joint."""

import newton
import numpy as np
import pytest
import warp as wp
from warp_artic.extensions.newton import SolverWarpArtic

import warp_artic as wa
from tests.extensions.newton.models import DT, asset, chain, link, run, start, zoo

SHORT = 1e-3
"""A time step [s] over which accelerations are as good as constant."""


def off(state: newton.State, other: newton.State) -> float:
    """The largest difference in poses of bodies; the quaternions of a rotation are two."""
    ours, theirs = state.body_q.numpy(), other.body_q.numpy()
    flip = np.where((ours[:, 3:] * theirs[:, 3:]).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    return np.abs(ours - np.hstack([theirs[:, :3], flip * theirs[:, 3:]])).max()


def test_bodies_are_where_newton_puts_them():
    """Poses and velocities of bodies are those that Newton finds for the coordinates that are given out."""
    model = zoo().finalize()
    solver = SolverWarpArtic(model, dt=DT)
    state, expected = run(solver, 20), model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, expected)
    assert off(state, expected) < 3e-6
    assert np.abs(state.body_qd.numpy() - expected.body_qd.numpy()).max() < 3e-5


@pytest.mark.parametrize("force", ["none", "joint_f", "body_f"])
def test_accelerations_are_those_of_featherstone(force):
    """Over a short step both solvers change velocities by as much, under gravity, efforts and forces on bodies."""
    model = zoo().finalize()
    rng = np.random.default_rng(4)
    state, control = start(model), model.control()
    if force == "joint_f":
        control.joint_f.assign(rng.normal(size=model.joint_dof_count).astype(np.float32))
    if force == "body_f":
        state.body_f.assign(rng.normal(size=(model.body_count, 6)).astype(np.float32))
    changes = []
    for solver in (SolverWarpArtic(model, dt=SHORT), newton.solvers.SolverFeatherstone(model)):
        after = model.state()
        solver.step(state, after, control, None, SHORT)
        changes.append((after.joint_qd.numpy() - state.joint_qd.numpy()) / SHORT)
    ours, theirs = changes
    assert np.abs(ours - theirs).max() < 0.01 * np.abs(theirs).max()


def test_what_is_not_changed_goes_on():
    """Steps of a state that is handed back are those of our own simulation, which remembers what a state cannot say."""
    model = zoo().finalize()
    solver = SolverWarpArtic(model, dt=DT)
    state = run(solver, 1)
    alone = wa.Simulation(solver.simulation.scene, settings=solver.simulation.settings)
    alone.apply(solver.simulation.snapshot())
    run(solver, 30, state)
    alone.step(30)
    assert np.array_equal(alone.state.joint_position.numpy(), solver.simulation.state.joint_position.numpy())
    assert np.array_equal(alone.state.root_pose.numpy(), solver.simulation.state.root_pose.numpy())


def test_what_is_changed_starts_anew():
    """A state from elsewhere is stepped as by a solver that has just been made."""
    model = zoo().finalize()
    used = SolverWarpArtic(model, dt=DT)
    elsewhere = run(used, 30)
    first = run(used, 10)
    assert np.array_equal(first.joint_q.numpy(), run(SolverWarpArtic(model, dt=DT), 10).joint_q.numpy())
    assert not np.array_equal(first.joint_q.numpy(), elsewhere.joint_q.numpy())


def test_turns_are_counted():
    """The position of a wheel goes on beyond two turns, and its drive follows a target there."""
    builder = newton.ModelBuilder()
    wheel = link(builder, "wheel")
    joint = builder.add_joint_revolute(-1, wheel, axis=(1, 0, 0), target_ke=400.0, target_kd=10.0, label="axle")
    builder.add_articulation([joint])
    builder.joint_q[:] = [40.0]
    builder.joint_target_q[:] = [41.5]
    state = run(SolverWarpArtic(builder.finalize(), dt=DT), 480)
    assert state.joint_q.numpy()[0] == pytest.approx(41.5, abs=1e-3)


@pytest.mark.parametrize(
    "mode, reached",
    [("POSITION", 0.0), ("VELOCITY", 2.0), ("POSITION_VELOCITY", 2.0), ("NONE", 0.0), ("EFFORT", 0.0)],
)
def test_modes(mode, reached):
    """Targets count as the mode of the dof says; a target that follows its velocity target is reached at its speed."""
    builder = newton.ModelBuilder()
    wheel = link(builder, "wheel")
    stiffness = 0.0 if mode == "VELOCITY" else 1e-4
    joint = builder.add_joint_revolute(
        -1, wheel, axis=(1, 0, 0), target_ke=stiffness, target_kd=10.0, target_qd=2.0,
        actuator_mode=newton.JointTargetMode[mode],
    )  # fmt: skip
    builder.add_articulation([joint])
    state = run(SolverWarpArtic(builder.finalize(), dt=DT), 240)
    assert state.joint_qd.numpy()[0] == pytest.approx(reached, abs=1e-2)


def test_passive_springs_act_beside_drives():
    """Both pull; a bounded drive leaves the spring as it is."""
    builder = newton.ModelBuilder()
    wheel = link(builder, "wheel")
    joint = builder.add_joint_revolute(
        -1, wheel, axis=(1, 0, 0), target_ke=100.0, target_kd=10.0, target_q=1.0, effort_limit=5.0,
        stiffness=10.0, rest_q=-0.25, damping=1.0,
    )  # fmt: skip
    builder.add_articulation([joint])
    state = run(SolverWarpArtic(builder.finalize(), dt=DT), 1200)
    assert state.joint_q.numpy()[0] == pytest.approx(-0.25 + 5.0 / 10.0, abs=1e-4)


def test_limits_are_springs_or_stops():
    """Of finite stiffness as the model says; as hard as can be where a stage says infinite."""
    rest = []
    for stiffness, damping in ((50.0, 5.0), (1e8, 0.0)):
        builder = newton.ModelBuilder()
        arm = link(builder, "arm", com=(0.5, 0.0, 0.0))
        joint = builder.add_joint_revolute(
            -1, arm, axis=(0, 1, 0), limit_lower=-0.1, limit_upper=0.1, limit_ke=stiffness, limit_kd=damping
        )
        builder.add_articulation([joint])
        rest.append(run(SolverWarpArtic(builder.finalize(), dt=DT), 1200).joint_q.numpy()[0])
    sagging = rest[0] - 0.1
    assert 50.0 * sagging == pytest.approx(9.81 * 0.5 * np.cos(rest[0]), rel=1e-3)
    assert rest[1] == pytest.approx(0.1, abs=1e-5)


def test_mimic_joints():
    """A follower keeps to its leader, offset and multiple."""
    builder = chain()
    builder.set_joint_mimic(1, 0, coeffs=(0.2, -1.5))
    builder.joint_q[1] = 0.2 - 1.5 * builder.joint_q[0]
    q = run(SolverWarpArtic(builder.finalize(), dt=DT), 240).joint_q.numpy()
    assert abs(q[0] - 0.6) > 0.1
    assert q[1] == pytest.approx(0.2 - 1.5 * q[0], abs=1e-5)


def test_a_long_step_is_several_of_ours():
    """A step of a multiple of ours is as many of them; another one is refused."""
    model = chain().finalize()
    fine = run(SolverWarpArtic(model, dt=DT), 20)
    coarse = run(SolverWarpArtic(model, settings=wa.SolverSettings(dt=DT)), 5, dt=4 * DT)
    assert np.array_equal(fine.joint_q.numpy(), coarse.joint_q.numpy())
    solver = SolverWarpArtic(model)
    run(solver, 1, dt=0.01)
    assert solver.simulation.settings.dt == 0.01
    with pytest.raises(wa.HostError, match="dt: 0.015 s is no whole number of steps of 0.01 s"):
        run(solver, 1, dt=0.015)


def test_bodies_without_mass():
    """A frame that is fixed to a link follows it; a link without mass that carries another is no hindrance."""
    builder = newton.ModelBuilder()
    base, arm, tip = (
        builder.add_link(label="base"),
        link(builder, "arm", com=(0.2, 0, 0)),
        builder.add_link(label="tip"),
    )
    shift = wp.transform((0.4, 0.0, 0.0), wp.quat_identity())
    joints = [
        builder.add_joint_fixed(-1, base, parent_xform=shift),
        builder.add_joint_revolute(base, arm, axis=(0, 1, 0)),
        builder.add_joint_fixed(arm, tip, parent_xform=shift),
    ]
    builder.add_articulation(joints)
    model = builder.finalize()
    state = run(SolverWarpArtic(model, dt=DT), 30)
    expected = model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, expected)
    assert state.joint_q.numpy()[0] > 0.05
    assert np.array_equal(state.body_q.numpy(), expected.body_q.numpy())
    assert np.hypot(*(state.body_q.numpy()[2, [0, 2]] - [0.4, 0.0])) == pytest.approx(0.4, abs=1e-6)


def test_hinges_of_one_base_may_follow_each_other():
    """Fingers that are hinged on the world are one articulation, as Newton has them."""
    builder = newton.ModelBuilder()
    fingers = [link(builder, f"finger{k}", com=(0.0, 0.0, -0.1)) for k in range(2)]
    joints = [builder.add_joint_revolute(-1, finger, axis=(0, 1, 0), label=f"j{finger}") for finger in fingers]
    builder.add_articulation(joints)
    builder.set_joint_mimic(1, 0, coeffs=(0.0, -1.0))
    builder.joint_q[:] = [0.5, -0.5]
    q = run(SolverWarpArtic(builder.finalize(), dt=DT), 100).joint_q.numpy()
    assert q[1] == pytest.approx(-q[0], abs=1e-6)


@pytest.mark.filterwarnings("ignore:contacts are not simulated", "ignore:.* of MuJoCo are not simulated")
@pytest.mark.parametrize("name", ["nv_ant.xml", "quadruped.urdf"])
def test_what_other_files_become(name):
    """Models that come from files of other kinds are stepped too, with bodies where Newton puts them."""
    model = asset(name).finalize()
    state, expected = run(SolverWarpArtic(model, dt=DT), 50), model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, expected)
    assert off(state, expected) < 1e-5
