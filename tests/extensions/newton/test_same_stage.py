"""A stage that is stepped through Newton moves as the same stage does by itself."""

import json
import warnings

import newton
import numpy as np
import pytest
from warp_artic.extensions.newton import SolverWarpArtic

import warp_artic as wa
from tests.extensions.newton.models import DT, STAGES, run, stage_model, start
from warp_artic.description.pose import Pose

STEPS = 240
FRAMES = (
    "pendulum_single",
    "pendulum_double",
    "arm6_drives",
    "drive_force_saturated",
    "prismatic_spring_drive",
    "floating3_zero_g",
    "limit_hard_revolute",
    "spherical3_pendulum",
    "tree_humanoid",
)
"""Stages of which a model of Newton has everything."""
MORE = (
    "drive_acceleration",
    "fixed_tendon_offset_rest",
    "fixed_tendon_two_joints",
    "joint_armature",
    "joint_friction",
    "link_damping",
    "mimic_compliant",
    "mimic_hard_gear",
    "spatial_tendon_single",
    "spatial_tendon_two_leaves",
)
"""Stages that have what a model of Newton has not, or has otherwise."""


def both(name: str, with_scene: bool, **settings):
    """Our simulation and the state of Newton after the steps, of one stage, and the solver."""
    scene = wa.read_stage(STAGES / f"{name}.usda")
    alone = wa.Simulation(scene, settings=wa.SolverSettings(dt=DT, **settings))
    model = stage_model(name)
    solver = SolverWarpArtic(model, scene=scene if with_scene else None, settings=wa.SolverSettings(dt=DT, **settings))
    now, later = start(model), model.state()
    inputs = STAGES / f"{name}.inputs.json"
    if inputs.exists():
        begin = json.loads(inputs.read_text())
        alone.set_state(joint_position=begin["q0"], joint_velocity=begin["qd0"])
        solver.simulation.set_state(joint_position=begin["q0"], joint_velocity=begin["qd0"])
        solver._coordinates.write(now.joint_q, now.joint_qd)
    if alone.root_names:
        # Newton turns the authored velocity of a body with the body; see README.
        velocity = now.joint_qd.numpy()
        velocity[:6] = alone.state.root_velocity.numpy()[0, :, 0]
        now.joint_qd.assign(velocity)
    alone.step(STEPS)
    for _ in range(STEPS):
        solver.step(now, later, None, None, DT)
        now, later = later, now
    return alone, now, solver


def differences(alone, state, solver) -> tuple[float, float]:
    """Of joint positions and of places of bodies; both as Newton has them."""
    model, names = solver.model, alone.joint_names
    first = dict(zip(model.joint_label, model.joint_q_start.numpy()))
    own = [k for k, name in enumerate(names) if name in first]
    theirs = state.joint_q.numpy()[[first[names[k]] for k in own]]
    of_joints = np.abs(alone.state.joint_position.numpy()[own, 0] - theirs).max(initial=0.0)
    bodies = [model.body_label.index(name) for name in alone.link_names]
    return of_joints, np.abs(alone.state.link_pose.numpy()[..., 0] - state.body_q.numpy()[bodies]).max()


def written(tmp_path, name: str, *changes: tuple[str, str]) -> str:
    """A stage with words in other words' places."""
    text = (STAGES / f"{name}.usda").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / f"{name}.usda"
    path.write_text(text, encoding="utf-8")
    return str(path)


Y_UP = ('upAxis = "Z"', 'upAxis = "Y"')


@pytest.mark.parametrize("name", ["spherical3_pendulum", "floating3_zero_g"])
def test_a_stage_with_y_up(name, tmp_path):
    """Newton turns it to have Z up; with the scene it moves as the stage does, turned."""
    gravity = ("gravityDirection = (0, 0, -1)", "gravityDirection = (0, -1, 0)")
    strength = ("gravityMagnitude = 0.0", "gravityMagnitude = 9.81") if "zero_g" in name else Y_UP
    path = written(tmp_path, name, *dict.fromkeys((Y_UP, gravity, strength)))
    scene = wa.read_stage(path)
    alone = wa.Simulation(scene, settings=wa.SolverSettings(dt=DT))
    builder = newton.ModelBuilder()
    builder.add_usd(path)
    solver = SolverWarpArtic(builder.finalize(), scene=scene, dt=DT)
    alone.step(60)
    state = run(solver, 60, solver.start_state())
    ours = alone.state.joint_position.numpy()
    assert np.abs(ours - solver.simulation.state.joint_position.numpy()).max() < 1e-6
    x, y, z = alone.state.link_pose.numpy()[:, :3, 0].T
    assert np.abs(state.body_q.numpy()[:, :3] - np.column_stack([x, -z, y])).max() < 1e-5
    state.body_f.assign(np.tile(np.float32([0.0, 0.0, 40.0, 0.0, 0.0, 0.0]), (len(x), 1)))
    lifted = run(solver, 1, state).body_qd.numpy()[:, 2]
    state.clear_forces()
    assert (lifted - run(solver, 1, state).body_qd.numpy()[:, 2]).max() > 0.01
    solver.model.gravity.assign(-solver.model.gravity.numpy())
    solver.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
    assert solver.simulation.parameters.gravity.numpy()[0, :, 0] == pytest.approx(-np.array(scene.gravity), abs=1e-5)


@pytest.mark.filterwarnings("ignore:USD stages with non-unit linear units")
def test_a_stage_in_centimetres(tmp_path):
    """Newton keeps its numbers as they are, which are not those of the scene."""
    path = written(tmp_path, "floating3_zero_g", ("metersPerUnit = 1", "metersPerUnit = 0.01"))
    builder = newton.ModelBuilder()
    builder.add_usd(path)
    model = builder.finalize()
    with pytest.raises(
        wa.HostError, match="has 1e.04 times the inertia of the scene in the model, which is not in metres"
    ):
        SolverWarpArtic(model, scene=wa.read_stage(path), dt=DT)
    SolverWarpArtic(model, dt=DT)


def test_the_start_of_a_stage():
    """It is that of the stage, where Newton reads none; it goes on as a run of our own, also after other steps."""
    builder = newton.ModelBuilder()
    builder.add_usd(str(STAGES / "arm6_drives.usda"))
    model = builder.finalize()
    assert not model.joint_q.numpy().any()
    scene = wa.read_stage(STAGES / "arm6_drives.usda")
    solver = SolverWarpArtic(model, scene=scene)
    with pytest.raises(wa.HostError, match="start_state: the time step is not known yet"):
        solver.start_state()
    run(solver, 5)
    alone = wa.Simulation(scene, settings=wa.SolverSettings(dt=DT))
    assert np.array_equal(solver.start_state().joint_q.numpy(), alone.state.joint_position.numpy()[:, 0])
    alone.step(50)
    again = run(solver, 50, solver.start_state()).joint_q.numpy()
    assert np.array_equal(again, alone.state.joint_position.numpy()[:, 0])


@pytest.mark.parametrize("name", FRAMES)
def test_by_the_model(name):
    """The arrays of the model say the same as the stage."""
    of_joints, of_bodies = differences(*both(name, with_scene=False))
    assert of_joints < 1e-6
    assert of_bodies < 1e-6


@pytest.mark.parametrize("name", FRAMES + MORE)
def test_by_the_scene(name):
    """With the scene everything is as in our own simulation, bit by bit: tendons, soft mimic joints, hard limits."""
    of_joints, of_bodies = differences(*both(name, with_scene=True))
    assert of_joints == 0.0
    assert of_bodies < (1e-6 if name == "floating3_zero_g" else 1e-30)


def test_what_is_given_back_is_as_precise_as_before():
    """Steps in double precision go on from what they had, though a state of Newton has single precision."""
    alone, state, solver = both("pendulum_double", with_scene=True, precision="float64")
    ours = alone.state.joint_position.numpy()
    assert np.array_equal(ours, solver.simulation.state.joint_position.numpy())
    assert np.array_equal(ours[:, 0].astype(np.float32), state.joint_q.numpy())


def test_the_scene_says_what_the_model_misreads():
    """Newton takes the offset of 10 degrees of this mimic joint for 10 radians; the scene does not."""
    model = stage_model("mimic_hard_gear")
    assert abs(model.joint_mimic_coeffs.numpy()[:, 0]).max() == 10.0
    alone, _, _ = both("mimic_hard_gear", with_scene=True)
    lead, follow = alone.state.joint_position.numpy()[:, 0]
    assert follow - lead == pytest.approx(np.radians(10.0), abs=1e-5)


def test_a_scene_of_another_stage():
    """It is refused by the name of what is missing."""
    with pytest.raises(wa.HostError, match="/World/Robot/upper: is a link of the scene, and the model has no body"):
        SolverWarpArtic(stage_model("pendulum_single"), scene=wa.read_stage(STAGES / "pendulum_double.usda"))


def test_joints_of_a_scene_that_close_loops():
    """They are held, without a warning, though the model has them in no articulation."""
    scene = wa.read_stage(STAGES / "loop_fourbar.usda")
    model = stage_model("loop_fourbar")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*loop")
        solver = SolverWarpArtic(model, scene=scene, dt=DT)
    end = run(solver, 120).body_q.numpy()
    (loop,) = scene.articulations[0].constraints
    body_at = {label: body for body, label in enumerate(model.body_label)}
    links = [scene.articulations[0].links[link].path for link in (loop.link0, loop.link1)]
    poses = [
        Pose(tuple(map(float, end[body_at[path]][:3])), tuple(map(float, end[body_at[path]][3:]))) for path in links
    ]
    np.testing.assert_allclose(poses[0].apply(loop.frame0.position), poses[1].apply(loop.frame1.position), atol=3e-6)


def test_a_changed_model_beside_a_scene():
    """What is changed in the model after the construction is taken over; the rest stays as the stage has it."""
    scene = wa.read_stage(STAGES / "fixed_tendon_two_joints.usda")
    model = stage_model("fixed_tendon_two_joints")
    solver = SolverWarpArtic(model, scene=scene, dt=DT)
    model.joint_damping.fill_(0.5)
    solver.notify_model_changed(newton.ModelFlags.JOINT_DOF_FORCE_PROPERTIES)
    viscous, stiffness = solver.simulation.parameters.friction_viscous, solver.simulation.parameters.tendon_stiffness
    assert viscous.numpy().ravel().tolist() == [0.5, 0.5]
    model.joint_damping.zero_()
    solver.notify_model_changed(newton.ModelFlags.JOINT_DOF_FORCE_PROPERTIES)
    assert solver.simulation.scene.articulations[0].joints == solver._base.articulations[0].joints
    assert stiffness.numpy()[0, 0] == np.float32(scene.articulations[0].fixed_tendons[0].stiffness)
