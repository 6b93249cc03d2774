"""A model that is changed between steps is stepped as it then is."""

import newton
import numpy as np
import pytest
from warp_artic.extensions.newton import SolverWarpArtic

from tests.extensions.newton.models import DT, chain, run, start
from tests.extensions.newton.test_worlds import many

FLAGS = newton.ModelFlags


def assign(name, value):
    """A change of an array of a model."""

    def change(model):
        array = getattr(model, name)
        array.assign(np.broadcast_to(np.asarray(value, np.float32), array.numpy().shape))

    return change


CHANGES = {
    "gains": (FLAGS.JOINT_DOF_FORCE_PROPERTIES, assign("joint_target_ke", 20.0)),
    "damping": (FLAGS.JOINT_DOF_PROPERTIES, assign("joint_damping", 0.3)),
    "armature": (FLAGS.JOINT_DOF_INERTIAL_PROPERTIES, assign("joint_armature", 0.2)),
    "friction that was there": (FLAGS.JOINT_DOF_FORCE_PROPERTIES, assign("joint_friction", 0.4)),
    "effort limit where there was none": (FLAGS.JOINT_DOF_FORCE_PROPERTIES, assign("joint_effort_limit", 1.0)),
    "velocity limit where there was none": (FLAGS.JOINT_DOF_PROPERTIES, assign("joint_velocity_limit", 0.7)),
    "limit where there was none": (FLAGS.JOINT_DOF_FORCE_PROPERTIES, assign("joint_limit_ke", 300.0)),
    "mode": (FLAGS.JOINT_DOF_FORCE_PROPERTIES, lambda model: model.joint_target_mode.fill_(0)),
    "mass": (FLAGS.BODY_INERTIAL_PROPERTIES, assign("body_mass", 2.5)),
    "centre of mass": (FLAGS.BODY_INERTIAL_PROPERTIES, assign("body_com", (0.1, 0.0, -0.3))),
    "inertia": (FLAGS.BODY_INERTIAL_PROPERTIES, assign("body_inertia", np.diag([0.3, 0.4, 0.2]))),
    "gravity": (FLAGS.MODEL_PROPERTIES, assign("gravity", (0.0, 0.0, -1.6))),
    "mimic joint": (FLAGS.CONSTRAINT_PROPERTIES, assign("joint_mimic_coeffs", (0.0, 0.5))),
    "frames": (FLAGS.JOINT_PROPERTIES, assign("joint_X_c", (0.0, 0.1, 0.1, 0.0, 0.0, 0.0, 1.0))),
}


def model_of(worlds: int, **settings) -> newton.Model:
    """Double pendulums that have drives, friction and a limit that does nothing yet."""
    builder = chain(target_ke=5.0, target_kd=0.5, friction=0.1, limit_lower=-0.2, limit_upper=0.2, **settings)
    builder.set_joint_mimic(1, 0, coeffs=(0.0, -0.5))
    builder.joint_q[:] = [0.6, -0.3]
    return (many(*[builder] * worlds) if worlds > 1 else builder).finalize()


@pytest.mark.parametrize("worlds", [1, 5])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_as_if_made_before(name, worlds):
    """A solver that is told of a change steps as one that was made for the changed model."""
    flag, change = CHANGES[name]
    model = model_of(worlds)
    solver = SolverWarpArtic(model, dt=DT)
    unchanged = run(solver, 30).joint_q.numpy()
    change(model)
    solver.notify_model_changed(flag)
    solver.reset(run(solver, 3))
    changed = run(solver, 30).joint_q.numpy()
    assert changed == pytest.approx(run(SolverWarpArtic(model, dt=DT), 30).joint_q.numpy(), abs=2e-6)
    assert np.abs(changed - unchanged).max() > 1e-3


def test_numbers_need_no_new_simulation():
    """Only what makes another structure does; motion goes on in both cases."""
    model = model_of(1)
    solver = SolverWarpArtic(model, dt=DT)
    state, simulation = run(solver, 10), solver.simulation
    CHANGES["gains"][1](model)
    solver.notify_model_changed(FLAGS.JOINT_DOF_FORCE_PROPERTIES)
    solver.notify_model_changed(FLAGS.SHAPE_PROPERTIES)
    assert solver.simulation is simulation
    CHANGES["velocity limit where there was none"][1](model)
    solver.notify_model_changed(FLAGS.JOINT_DOF_PROPERTIES)
    assert solver.simulation is not simulation
    after = run(solver, 1, state)
    assert np.abs(after.joint_q.numpy() - state.joint_q.numpy()).max() < 0.7 * DT + 1e-6


def test_worlds_that_become_unlike():
    """A stop in one world and a spring in another are of two structures."""
    model = model_of(2)
    solver = SolverWarpArtic(model, dt=DT)
    assert solver.simulation.environments == 2
    model.joint_limit_ke.assign(np.array([1e8, 1e8, 50.0, 50.0], np.float32))
    solver.notify_model_changed(FLAGS.JOINT_DOF_FORCE_PROPERTIES)
    assert solver.simulation.environments == 1
    q = run(solver, 240).joint_q.numpy().reshape(2, 2)
    assert q[0, 0] == pytest.approx(0.2, abs=1e-3) or abs(q[0, 0]) < 0.2
    assert np.abs(q[0] - q[1]).max() > 1e-4


def test_targets_are_followed_from_the_next_step_on():
    """A control that is changed between steps acts in the next one, and only where it was changed."""
    model = chain(target_ke=50.0, target_kd=5.0).finalize()
    solver, control = SolverWarpArtic(model, dt=DT), model.control()
    state = run(solver, 30, control=control)
    same = run(SolverWarpArtic(model, dt=DT), 1, state)
    control.joint_target_q.assign(np.array([0.0, 1.0], np.float32))
    moved = run(solver, 1, state, control)
    assert np.abs(moved.joint_qd.numpy() - same.joint_qd.numpy()).max() > 0.1
    at_rest = run(solver, 480, moved, control).joint_q.numpy()
    assert at_rest[1] > 0.8


def test_forces_on_bodies_act_while_they_are_there():
    """Torques on bodies are efforts on the hinges that carry them; afterwards nothing is left of them."""
    model = chain().finalize()
    solver, control = SolverWarpArtic(model, dt=DT), model.control()
    state = start(model)
    state.body_f.assign(np.tile(np.float32([0.0, 0.0, 0.0, 0.0, 5.0, 0.0]), (2, 1)))
    pushed = run(solver, 5, state).joint_q.numpy()
    control.joint_f.assign(np.float32([10.0, 5.0]))
    state.clear_forces()
    solver.reset(state)
    assert run(solver, 1, state).joint_q.numpy() != pytest.approx(pushed, abs=1e-5)
    solver.reset(state)
    driven = run(SolverWarpArtic(model, dt=DT), 1, state, control).joint_q.numpy()
    state.body_f.assign(np.tile(np.float32([0.0, 0.0, 0.0, 0.0, 5.0, 0.0]), (2, 1)))
    assert run(solver, 1, state).joint_q.numpy() == pytest.approx(driven, abs=1e-7)
