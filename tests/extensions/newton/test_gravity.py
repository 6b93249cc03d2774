"""Gravity compensation of MuJoCo, which models of Newton have by body."""

import newton
import numpy as np
import pytest
import warp as wp
from warp_artic.extensions.newton import SolverWarpArtic

import warp_artic as wa
from tests.extensions.newton.models import DT, STAGES, link, run, start
from tests.extensions.newton.test_worlds import many

SHARES = [0.5, 1.25]
GEOM = 'type="box" contype="0" conaffinity="0"'
MJCF = f"""<mujoco><option integrator="RK4" timestep="0.001"/><worldbody>
<body gravcomp="{SHARES[0]}"><freejoint/><geom {GEOM} size=".1 .2 .3" mass="2"/>
<body pos=".3 0 0" gravcomp="{SHARES[1]}"><joint axis="0 1 0"/><joint axis="1 0 0"/>
<geom {GEOM} pos=".2 0 0" size=".2 .05 .05" mass="1"/></body></body></worldbody></mujoco>"""


def compensated(*shares) -> newton.ModelBuilder:
    """Links that hang in a row on a universal joint and a hinge, with shares of their weights taken away."""
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    axis = newton.ModelBuilder.JointDofConfig.create_unlimited
    first, second = (link(builder, f"link{k}", com=(0.1, 0.0, -0.25)) for k in range(2))
    below = wp.transform((0.0, 0.0, -0.5), wp.quat_identity())
    joints = [
        builder.add_joint_d6(-1, first, angular_axes=[axis((1, 0, 0)), axis((0, 1, 0))]),
        builder.add_joint_revolute(first, second, axis=(0, 1, 0), parent_xform=below),
    ]
    builder.add_articulation(joints)
    builder.custom_attributes["mujoco:gravcomp"].values = dict(enumerate(shares))
    builder.joint_q[:] = [0.6, 0.2, -0.3]
    return builder


def test_bodies_fall_as_in_mujoco():
    """A floating body that falls at half the rate, and one on it that rises."""
    mujoco = pytest.importorskip("mujoco")
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.add_mjcf(MJCF)
    model = builder.finalize()
    now, oracle = start(model), mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(oracle)
    data.qvel[6:] = 1.0, -0.5
    now.joint_qd.assign(data.qvel.astype(np.float32))
    q = run(SolverWarpArtic(model, dt=1e-3), 500, now, dt=1e-3).joint_q.numpy()
    for _ in range(500):
        mujoco.mj_step(oracle, data)
    np.testing.assert_allclose(q, data.qpos[[0, 1, 2, 4, 5, 6, 3, 7, 8]], atol=2e-6)


@pytest.mark.parametrize("shares", [SHARES, (1.0, 1.0)])
def test_less_weight_is_a_force_upwards(shares):
    """At the centre of mass; in worlds of which the first has none, and where it is given later."""
    model = many(compensated(), compensated(*shares)).finalize()
    solver = SolverWarpArtic(model, dt=DT)
    assert solver.simulation.environments == 2
    q = run(solver, 60).joint_q.numpy().reshape(2, 3)
    plain = compensated().finalize()
    later, lifted = SolverWarpArtic(plain, dt=DT), start(plain)
    assert q[0] == pytest.approx(run(later, 60, lifted).joint_q.numpy(), abs=1e-6)
    later.reset(lifted)
    lifted.body_f.assign(np.outer(shares, [0.0, 0.0, 9.81, 0.0, 0.0, 0.0]).astype(np.float32))
    now, after = plain.state(), plain.state()
    now.assign(lifted)
    for _ in range(60):
        now.body_f.assign(lifted.body_f)
        later.step(now, after, None, None, DT)
        now, after = after, now
    assert q[1] == pytest.approx(now.joint_q.numpy(), abs=1e-5)
    plain.mujoco.gravcomp.assign(np.float32(shares))
    later.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)
    later.reset(lifted)
    lifted.clear_forces()
    assert q[1] == pytest.approx(run(later, 60, lifted).joint_q.numpy(), abs=1e-6)
    links = later.simulation.scene.articulations[0].links
    assert {one.gravity_scale for one in links} == {1.0 - share for share in shares}


def test_the_scene_says_what_the_model_misreads(tmp_path):
    """Newton does not read `physxRigidBody:disableGravity`; what is changed of the model counts."""
    text = (STAGES / "pendulum_double.usda").read_text(encoding="utf-8")
    text = text.replace("float physics:mass", "bool physxRigidBody:disableGravity = 1\nfloat physics:mass", 1)
    path = tmp_path / "light.usda"
    path.write_text(text, encoding="utf-8")
    builder, scene = newton.ModelBuilder(), wa.read_stage(path)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.add_usd(str(path))
    model = builder.finalize()
    solver = SolverWarpArtic(model, scene=scene, dt=DT)
    shares = [one.gravity_scale for one in scene.articulations[0].links]
    assert sorted(shares) == [0.0, 1.0, 1.0]
    assert solver.simulation.parameters.link_gravity_scale.numpy().ravel().tolist() == shares
    model.mujoco.gravcomp.assign(np.full(3, 0.25, np.float32))
    solver.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)
    assert solver.simulation.parameters.link_gravity_scale.numpy().ravel().tolist() == [0.75, 0.75, 0.75]


def test_compensation_by_actuators():
    """MuJoCo bounds it by the limits of their efforts, which is said."""
    builder = compensated(*SHARES)
    builder.custom_attributes["mujoco:jnt_actgravcomp"].values = {0: True}
    with pytest.warns(UserWarning, match="1 effort limits of actuators that compensate gravity of MuJoCo are not"):
        SolverWarpArtic(builder.finalize(), dt=DT)
