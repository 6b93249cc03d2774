"""Performance envelopes of drives: their lines, their corners, and what they leave of a drive."""

from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests import simulations, trees
from tests.oracles import rigid
from warp_artic.description.drive import Drive

H = 1.0 / 240.0
MASS = 2.0
MOTORS = {
    "speed": {"max_force": 10.0, "max_velocity": 3.0, "velocity_gradient": 0.1},
    "rigid speed": {"max_force": 10.0, "max_velocity": 3.0},
    "effort": {"max_force": 10.0, "velocity_resistance": 2.0},
    "both": {"max_force": 10.0, "max_velocity": 3.0, "velocity_gradient": 0.1, "velocity_resistance": 2.0},
    "no bound at rest": {"max_velocity": 3.0, "velocity_gradient": 0.1},
}

simulate = partial(simulations.simulate, gravity=(0.0, 0.0, 0.0))


def motor(side=1.0, **changes):
    """A mass of 2 kg on a slide, with a drive that wants to go much faster than it can."""
    drive = Drive(damping=1e6, velocity_target=100.0 * side, **changes)
    return trees.with_dofs(trees.chain(1, "prismatic_x", mass=MASS), drive=drive)


def most(v: float, max_force=np.inf, max_velocity=np.inf, velocity_gradient=0.0, velocity_resistance=0.0) -> float:
    """The largest force with a motion of speed v."""
    by_speed = np.inf if v < max_velocity else 0.0
    if velocity_gradient:
        by_speed = max(max_velocity - v, 0.0) / velocity_gradient
    return min(max_force, by_speed, max(max_force - velocity_resistance * v, 0.0))


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("solver", ["direct", "pgs"])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("name", MOTORS)
def test_a_motor_is_on_its_envelope_at_the_end_of_each_step(name, side, solver, integrator):
    """m (v+ - v) / h is the largest force that the envelope has at v+, through its corners, to the last step."""
    simulation = simulate(motor(side, **MOTORS[name]), solver=solver, integrator=integrator, precision="float64")
    v = simulation.record(240).joint_velocity[:, 0, 0] * side
    force = MASS * np.diff(v) / H
    expected = np.array([most(after, **MOTORS[name]) for after in v[1:]])
    held = np.isclose(v[1:], MOTORS[name].get("max_velocity", np.inf), rtol=1e-12, atol=0.0)
    assert v[-1] > 1.0
    np.testing.assert_allclose(force[~held], expected[~held], rtol=1e-6, atol=1e-6)
    assert held.any() == (name == "rigid speed") and (force[held] >= -1e-9).all() and (force[held] <= 10.0 + 1e-9).all()


def test_a_motor_follows_its_envelope_with_first_order():
    """Against an integration of the exact law, viscous load included."""
    errors = []
    for dt in (H, H / 4):
        simulation = simulate(motor(**MOTORS["both"]), dt=dt, precision="float64")
        simulation.control.joint_effort.fill_(-1.5)
        recording = simulation.record(round(1.0 / dt))
        truth = solve_ivp(
            lambda t, v: [(most(v[0], **MOTORS["both"]) - 1.5) / MASS], (0, 1), [0.0], t_eval=recording.time, rtol=1e-9
        )
        errors.append(np.abs(recording.joint_velocity[:, 0, 0] - truth.y[0]).max())
    assert errors[0] <= 5e-3 and errors[1] <= errors[0] / 3


@pytest.mark.parametrize("load", [2.0, 5.0, 9.9])
def test_a_loaded_motor_settles_at_its_speed_less_gradient_times_load(load):
    """As PhysX does: 3 m/s less 0.1 m/s for each newton."""
    simulation = simulate(motor(**MOTORS["speed"]))
    simulation.set_state(joint_velocity=[2.5])
    simulation.control.joint_effort.fill_(-load)
    simulation.step(2400)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), [[3.0 - 0.1 * load]], rtol=1e-4)


def test_a_force_against_the_motion_is_bounded_by_the_speed_at_the_start():
    """A motor at 2.9 of 3 m/s has a tenth of its brakes, one at 4 m/s none, unless its speed line has no slope."""
    for name, speed, force in (
        ("speed", 2.9, 1.0),
        ("speed", 4.0, 0.0),
        ("rigid speed", 4.0, 10.0),
        ("effort", 4.0, 2.0),
    ):
        simulation = simulate(motor(-1.0, **MOTORS[name]), precision="float64")
        simulation.set_state(joint_velocity=[speed])
        simulation.step()
        after = simulation.state.joint_velocity.numpy()
        np.testing.assert_allclose(after, [[speed - H * force / MASS]], rtol=1e-9)


def test_a_drive_within_its_envelope_is_what_it_is_without():
    """A weak drive far from its bounds moves as one without bounds, to rounding."""
    paths = []
    for bounds in ({}, MOTORS["both"]):
        drive = Drive(stiffness=8.0, damping=3.0, position_target=0.2, **bounds)
        tree = trees.with_dofs(trees.chain(1, "prismatic_x", mass=MASS), drive=drive)
        paths.append(simulate(tree, precision="float64").record(480).joint_position[:, 0, 0])
    np.testing.assert_allclose(paths[1], paths[0], atol=1e-12)


@pytest.mark.parametrize("solver", ["direct", "pgs"])
def test_motors_of_a_tree_are_on_their_envelopes(solver):
    """A dense step of random trees: each drive gives what its law wants, or what its envelope has at v+."""
    bounded = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        tree = trees.random_articulation(rng, 8, floating=bool(seed % 2), kinds=("revolute_x", "prismatic_y"))
        motors = [
            {
                "max_force": float(rng.uniform(2, 8)),
                "max_velocity": float(rng.uniform(0.5, 2.0)),
                "velocity_gradient": float(rng.uniform(0.05, 0.2)),
                "velocity_resistance": float(rng.uniform(0.5, 2.0)),
            }
            for _ in tree.dofs
        ]
        drives = [
            Drive(damping=float(rng.uniform(1, 100)), velocity_target=float(5 * rng.normal()), **bounds)
            for bounds in motors
        ]
        state = trees.random_state(rng, tree, speed=0.3)
        simulation = simulate(
            trees.with_dofs(tree, drive=drives),
            gravity=rigid.GRAVITY,
            solver=solver,
            precision="float64",
            integrator="semi_implicit",
            position_iterations=2000,
        )
        root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
        simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
        simulation.step()
        v = simulation.state.joint_velocity.numpy()[:, 0]
        after = np.concatenate([simulation.state.root_velocity.numpy().reshape(-1), v])
        motion = rigid.motion(tree, state)
        passive = rigid.coriolis_effort(motion) + rigid.gravity_effort(motion)
        force = (rigid.mass_matrix(motion) @ (after - motion.velocity) / H + passive)[-len(drives) :]
        for k, (drive, bounds) in enumerate(zip(drives, motors)):
            wanted = drive.damping * (drive.velocity_target - v[k])
            side = np.sign(wanted)
            room = most(side * v[k], **bounds) if side * v[k] > 0 else bounds["max_force"]
            if side * state.joint_velocity[k] < 0:
                room = min(room, most(abs(state.joint_velocity[k]), **bounds))
            bounded += abs(wanted) > room
            np.testing.assert_allclose(force[k], side * min(abs(wanted), room), rtol=1e-5, atol=1e-5)
    assert bounded >= 20


def test_environments_have_motors_alike_in_every_batch():
    """Bitwise the same alone in its lane block, among others and in another order."""
    drive = Drive(damping=50.0, velocity_target=4.0, **MOTORS["both"])
    tree = trees.with_dofs(trees.chain(3), drive=drive)
    velocity = np.random.default_rng(2).normal(size=(20, 3)) * 4.0

    def run(order):
        simulation = simulate(tree, gravity=(0, 0, -9.81), environments=len(order), variant="lanes")
        simulation.set_state(joint_velocity=velocity[order])
        simulation.step(120)
        return simulation.state.joint_position.numpy().T

    whole = run(np.arange(20))
    order = np.random.default_rng(3).permutation(20)[:9]
    np.testing.assert_array_equal(run(order), whole[order])
    np.testing.assert_array_equal(run(np.array([4])), whole[[4]])
