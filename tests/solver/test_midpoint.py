"""Moreau's midpoint: second order where motion is smooth, and every constraint as with the semi-implicit step."""

import numpy as np
import pytest

from tests import oracle_stages, trees
from tests.oracles import reference_problems, rigid, step
from tests.oracles.state import State
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.limit import ConeLimit, Limit


def simulate(tree, dt, gravity=rigid.GRAVITY, precision="float64", integrator="midpoint", environments=1):
    settings = SolverSettings(dt=dt, precision=precision, integrator=integrator)
    return Simulation(trees.scene(tree, gravity=gravity), settings=settings, environments=environments)


@pytest.mark.parametrize("seed", range(4))
def test_free_motion_of_random_trees_is_of_second_order(seed):
    """All joint types, fixed and floating bases: errors fall by four when the step halves."""
    rng = np.random.default_rng(70 + seed)
    tree = trees.random_articulation(rng, 5, floating=bool(seed % 2))
    state = trees.random_state(rng, tree, speed=0.5)
    exact = step.trajectory(tree, state, np.array([0.0, 0.25])).joint_velocity[-1]
    root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
    errors = []
    for dt in (1 / 960, 1 / 1920, 1 / 3840):
        simulation = simulate(tree, dt)
        simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
        simulation.step(round(0.25 / dt))
        errors.append(np.abs(simulation.state.joint_velocity.numpy()[:, 0] - exact).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.35)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.35)


def test_the_heavy_top_is_of_second_order():
    """Its orientation at 0.1 s, ten times closer at ten times the step than the semi-implicit one."""
    start, expected = reference_problems.heavy_top_start(), np.asarray(reference_problems.HEAVY_TOP_QUATERNION[0.1])
    errors = []
    for dt in (5e-4, 2.5e-4):
        simulation = simulate(reference_problems.heavy_top(), dt, gravity=reference_problems.HEAVY_TOP_GRAVITY)
        simulation.set_state(joint_position=start.joint_position, joint_velocity=start.joint_velocity)
        found = simulation.record(round(0.1 / dt)).link_pose[-1, 0, 0, 3:]
        errors.append(min(np.abs(found - expected).max(), np.abs(found + expected).max()))
    assert errors[1] < 5e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)


@pytest.mark.parametrize("stage", ["pendulum_single", "pendulum_double", "joint_armature", "drive_force_saturated"])
def test_undriven_stages_are_far_closer_to_the_truth(stage):
    """At 240 Hz at least ten times closer than the semi-implicit step."""
    exact = oracle_stages.truth(stage)
    errors = {
        integrator: oracle_stages.worst(oracle_stages.trajectory(stage, 240, integrator=integrator), exact)
        for integrator in ("midpoint", "semi_implicit")
    }
    assert errors["midpoint"] < 0.1 * errors["semi_implicit"]


def test_energy_of_a_chain_in_float32():
    """Six links swing for 10 s within a hundredth of the energy they move."""
    tree = trees.chain(6)
    simulation = simulate(tree, 1 / 240, precision="float32")
    simulation.set_state(joint_position=[0.6, 0.3, 0.2, 0.2, 0.1, 0.1])
    energy = simulation.record(2400).energy[:, 0]
    total = energy.sum(axis=1)
    assert np.abs(total - total[0]).max() < 1e-2 * energy[:, 0].max()


@pytest.mark.parametrize("damping", [10.0, 1e3])
def test_stiff_drives_are_stable(damping):
    """kp = 1e6 at 1/240 holds its target."""
    drive = Drive(stiffness=1e6, damping=damping, position_target=0.5)
    simulation = simulate(trees.with_dofs(trees.chain(3), drive=drive), 1 / 240, precision="float32")
    simulation.step(2400)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), 0.5, atol=1e-4)


@pytest.mark.parametrize("kind", ["revolute_y", "prismatic_x"])
def test_a_hard_stop_is_not_passed_and_gives_no_energy(kind):
    """Penetration below 1e-5 at speed 6, rest without jitter."""
    tree = trees.with_dofs(trees.chain(1, kind), limit=Limit(lower=-0.5, upper=0.5))
    simulation = simulate(tree, 1 / 240, gravity=(0, 0, 0), precision="float32")
    simulation.set_state(joint_velocity=[6.0])
    recording = simulation.record(240)
    q = recording.joint_position[:, 0, 0]
    assert q.max() <= 0.5 + 1e-5
    assert np.diff(recording.energy[:, 0, 0]).max() <= 1e-6
    np.testing.assert_array_equal(q[60:], q[60])


def test_a_cone_limit_holds():
    """The swing of a falling ball joint stays in its cone."""
    limit = np.radians(30.0)
    tree = trees.chain(1, "spherical")
    rod = tree.links[0].inertia[0]
    link = trees.replace(tree.links[0], inertia=(rod, 0, 0, rod, 0, 0.5 * rod))
    joint = trees.replace(tree.joints[0], cone_limit=ConeLimit(angle_1=limit, angle_2=limit))
    simulation = simulate(trees.replace(tree, links=(link,), joints=(joint,)), 1 / 240, precision="float32")
    simulation.set_state(joint_velocity=[0.5, 2.0, -1.0])
    recording = simulation.record(480)
    x = [trees.Pose((0, 0, 0), tuple(q)).rotation[0, 0] for q in recording.link_pose[:, 0, 0, 3:].astype(float)]
    swing = np.arccos(np.clip(x, -1, 1))
    assert limit - np.radians(1.0) < swing.max() <= limit + np.radians(0.1)


def test_a_failed_environment_keeps_the_state_before_the_step():
    """Positions too go back to where the failing step began."""
    simulation = simulate(trees.chain(2), 1 / 240, environments=3)
    simulation.set_state(joint_position=[0.5, 0.2], joint_velocity=[1.0, 0.0])
    simulation.step(5)
    before = simulation.state.joint_position.numpy()[:, 1].copy()
    effort = np.zeros((2, 3))
    effort[0, 1] = np.inf
    simulation.control.joint_effort.assign(effort)
    simulation.step(3)
    np.testing.assert_array_equal(simulation.state.joint_position.numpy()[:, 1], before)
    assert [failure.environment for failure in simulation.failures()] == [1]


def test_results_do_not_depend_on_the_batch():
    """Bitwise equal alone and among 33, on lanes."""
    tree = trees.with_dofs(
        trees.random_articulation(5, 9, floating=False),
        drive=Drive(stiffness=100.0, damping=1.0, position_target=1.0, max_force=3.0),
        limit=Limit(lower=-0.4, upper=0.4),
    )
    found = []
    for environments in (1, 33):
        settings = SolverSettings(variant="lanes", integrator="midpoint")
        simulation = Simulation(trees.scene(tree), environments=environments, settings=settings)
        if environments > 1:
            speeds = np.random.default_rng(0).normal(size=(environments, len(tree.dofs)))
            speeds[20] = 0.0
            simulation.set_state(joint_velocity=speeds)
        simulation.step(100)
        found.append(simulation.state.joint_position.numpy()[:, 20 if environments > 1 else 0])
    np.testing.assert_array_equal(found[0], found[1])


def test_free_fall_starts_like_any_other_step():
    """A state set by hand forgets the acceleration of the motion before it."""
    tree = trees.chain(2)
    fresh, used = simulate(tree, 1 / 240), simulate(tree, 1 / 240)
    used.step(50)
    state = State(joint_position=np.array([0.4, -0.1]), joint_velocity=np.array([1.0, 2.0]))
    for simulation in (fresh, used):
        simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity)
        simulation.step(10)
    np.testing.assert_array_equal(fresh.state.joint_position.numpy(), used.state.joint_position.numpy())
