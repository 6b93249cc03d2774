"""Moreau's midpoint beside the semi-implicit step: closer where motion is smooth, and stops as before."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests import oracle_stages, simulations, trees
from tests.oracles import reference_problems
from tests.oracles.simulated_state import put, state_of
from tests.oracles.state import State
from tests.solver.test_integration import driven_motion, heavy_top_error
from warp_artic import Simulation, SolverSettings, read_stage
from warp_artic.description.drive import Drive
from warp_artic.description.limit import ConeLimit, Limit

PEERS = Path(__file__).parents[1] / "data" / "peers"

simulate = partial(simulations.simulate, precision="float64", integrator="midpoint")


# ---------------------------------------------------------------------------------------------------------------------
# Accuracy
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    ("model", "seconds", "most"), [("chain2", 10, 1e-4), ("chain2", 100, 4e-4), ("chain6", 10, 4e-3)]
)
def test_energy_of_the_free_chains(model, seconds, most, precision):
    """max |E - E0| at 1/240, by the largest kinetic energy."""
    settings = SolverSettings(dt=1 / 240, precision=precision)
    energy = Simulation(read_stage(PEERS / f"{model}.usda"), settings=settings).record(240 * seconds).energy[:, 0]
    total = energy.astype(float).sum(axis=1)
    assert np.abs(total - total[0]).max() <= most * energy[:, 0].max()


def test_the_energy_error_of_a_free_chain_is_of_fourth_order():
    """Over 10 s, and two thousand times less than that of the semi-implicit step."""
    scene = read_stage(PEERS / "chain2.usda")
    drifts = []
    for integrator, rate in (("midpoint", 240), ("midpoint", 480), ("semi_implicit", 240)):
        settings = SolverSettings(dt=1 / rate, precision="float64", integrator=integrator)
        total = Simulation(scene, settings=settings).record(10 * rate).energy[:, 0].sum(axis=1)
        drifts.append(np.abs(total - total[0]).max())
    assert drifts[0] / drifts[1] > 14.0
    assert drifts[0] < 0.0005 * drifts[2]


def test_a_fast_pendulum_keeps_its_swing():
    """At a tenth of a radian of its phase a step, over 38 swings, from where the steps before are known."""
    tree = trees.chain(1)
    simulation = simulate(tree, gravity=(0, 0, -9.81 * 24.0**2 / frequency_squared(tree)))
    simulation.set_state(joint_position=[0.02])
    energy = simulation.record(2400).energy[:, 0]
    total = energy.sum(axis=1)[5:]
    assert np.abs(total - total[0]).max() < 5e-5 * energy[:, 0].max()


def frequency_squared(tree):
    """Of a small swing of one hanging link about -Z [rad^2 / s^2]."""
    simulation = simulate(tree)
    simulation.set_state(joint_position=[1e-3])
    simulation.step(1)
    return -240.0 * simulation.state.joint_velocity.numpy()[0, 0] / 1e-3


def test_a_change_of_load_does_not_leak_into_the_steps_after_it():
    """An effort for ten steps gives its impulse, and nothing later."""
    simulation = simulate(trees.chain(1, "prismatic_x", mass=1.0), gravity=(0, 0, 0))
    for effort, steps in ((0.0, 5), (2.0, 10), (0.0, 10)):
        simulation.control.joint_effort.assign([[effort]])
        simulation.step(steps)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), 2.0 * 10 / 240, rtol=1e-12)


def test_energy_of_a_chain_in_float32():
    """Six links swing for 10 s within a hundredth of the energy they move."""
    tree = trees.chain(6)
    simulation = simulate(tree, precision="float32")
    simulation.set_state(joint_position=[0.6, 0.3, 0.2, 0.2, 0.1, 0.1])
    energy = simulation.record(2400).energy[:, 0]
    total = energy.sum(axis=1)
    assert np.abs(total - total[0]).max() < 1e-2 * energy[:, 0].max()


@pytest.mark.parametrize("stage", ["pendulum_single", "pendulum_double", "joint_armature", "drive_force_saturated"])
def test_undriven_stages_are_far_closer_to_the_truth(stage):
    """At 240 Hz at least ten times closer than the semi-implicit step."""
    exact = oracle_stages.truth(stage)
    errors = {
        integrator: oracle_stages.worst(oracle_stages.trajectory(stage, 240, integrator=integrator), exact)
        for integrator in ("midpoint", "semi_implicit")
    }
    assert errors["midpoint"] < 0.1 * errors["semi_implicit"]


def test_the_heavy_top_is_far_closer_to_its_published_orientation():
    """Thirty times at the same step; and closer with ten times the step."""
    assert heavy_top_error("midpoint", 2.5e-4) < heavy_top_error("semi_implicit", 2.5e-4) / 30.0
    assert heavy_top_error("midpoint", 5e-4) < heavy_top_error("semi_implicit", 5e-5)


@pytest.mark.parametrize("stage", oracle_stages.WITH_TRUTH)
def test_no_stage_is_worse_than_with_the_semi_implicit_step(stage):
    """Driven or not, at 240 Hz."""
    exact = oracle_stages.truth(stage)
    midpoint, semi_implicit = (
        oracle_stages.worst(oracle_stages.trajectory(stage, 240, integrator=integrator), exact)
        for integrator in ("midpoint", "semi_implicit")
    )
    assert midpoint <= semi_implicit


@pytest.mark.parametrize("seed", range(8))
def test_no_driven_tree_is_worse_than_with_the_semi_implicit_step(seed):
    """Positions and velocities after a quarter of a second at 240 Hz."""
    tree, state, exact = driven_motion(seed)
    errors = []
    for integrator in ("midpoint", "semi_implicit"):
        simulation = simulate(tree, integrator=integrator)
        put(simulation, state)
        simulation.step(60)
        found = state_of(simulation)
        errors.append(
            [
                np.abs(found.joint_position - exact.joint_position).max(),
                np.abs(found.joint_velocity - exact.joint_velocity).max(),
            ]
        )
    assert errors[0][0] < errors[1][0] and errors[0][1] < errors[1][1]


@pytest.mark.parametrize("ratio", [0.01, 0.1, 0.5, 0.99, 2.0, 10.0, 100.0])
@pytest.mark.parametrize("start", [(1.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("stiffness", [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7])
def test_driven_oscillators(stiffness, start, ratio):
    """Never worse than the semi-implicit step where that resolves the drive; else off by no more than the start is."""
    damping = 2.0 * ratio * np.sqrt(stiffness)
    tree = trees.chain(1, "prismatic_x", mass=1.0)
    tree = trees.with_dofs(tree, drive=Drive(stiffness=stiffness, damping=damping))
    errors = []
    for integrator in ("midpoint", "semi_implicit"):
        simulation = simulate(tree, gravity=(0, 0, 0), integrator=integrator)
        simulation.set_state(joint_position=[start[0]], joint_velocity=[start[1]])
        recording = simulation.record(240)
        q, v = reference_problems.oscillator(recording.time, *start, 1.0, stiffness, damping)
        errors.append(
            [np.abs(recording.joint_position[:, 0, 0] - q).max(), np.abs(recording.joint_velocity[:, 0, 0] - v).max()]
        )
    if damping / 240 + stiffness / 240**2 <= 1.0:
        assert errors[0][0] <= errors[1][0] * (1 + 1e-9) and errors[0][1] <= errors[1][1] * (1 + 1e-9)
    assert errors[0][0] <= 1.1 * (start[0] + start[1] / 240)


# ---------------------------------------------------------------------------------------------------------------------
# Stiffness and stops
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", [10.0, 1e3])
def test_stiff_drives_are_stable(damping):
    """kp = 1e6 at 1/240 holds its target."""
    drive = Drive(stiffness=1e6, damping=damping, position_target=0.5)
    simulation = simulate(trees.with_dofs(trees.chain(3), drive=drive), precision="float32")
    simulation.step(2400)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), 0.5, atol=1e-4)


@pytest.mark.parametrize("kind", ["revolute_y", "prismatic_x"])
def test_a_hard_stop_is_not_passed_and_gives_no_energy(kind):
    """Penetration below 1e-5 at speed 6, rest without jitter."""
    tree = trees.with_dofs(trees.chain(1, kind), limit=Limit(lower=-0.5, upper=0.5))
    simulation = simulate(tree, gravity=(0, 0, 0), precision="float32")
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
    simulation = simulate(trees.replace(tree, links=(link,), joints=(joint,)), precision="float32")
    simulation.set_state(joint_velocity=[0.5, 2.0, -1.0])
    recording = simulation.record(480)
    x = [trees.Pose((0, 0, 0), tuple(q)).rotation[0, 0] for q in recording.link_pose[:, 0, 0, 3:].astype(float)]
    swing = np.arccos(np.clip(x, -1, 1))
    assert limit - np.radians(1.0) < swing.max() <= limit + np.radians(0.01)


def test_an_impact_does_not_leak_into_the_next_step():
    """The step after a stop has the forces of free motion: a falling arm rests on its stop at once."""
    tree = trees.with_dofs(trees.chain(1), limit=Limit(lower=-0.5, upper=0.5))
    simulation = simulate(tree, gravity=(9.81, 0, 0))
    simulation.set_state(joint_velocity=[-6.0])
    recording = simulation.record(480)
    q, v = recording.joint_position[:, 0, 0], recording.joint_velocity[:, 0, 0]
    hit = int(np.argmax(q <= -0.5 + 1e-9))
    assert 0 < hit < 240
    assert np.abs(v[hit + 1 :]).max() <= 1e-9
    np.testing.assert_allclose(q[hit + 1 :], -0.5, atol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# States
# ---------------------------------------------------------------------------------------------------------------------


def test_a_failed_environment_keeps_the_state_before_the_step():
    """Positions too go back to where the failing step began."""
    simulation = simulate(trees.chain(2), environments=3)
    simulation.set_state(joint_position=[0.5, 0.2], joint_velocity=[1.0, 0.0])
    simulation.step(5)
    before = simulation.state.joint_position.numpy()[:, 1].copy()
    effort = np.zeros((2, 3))
    effort[0, 1] = np.inf
    simulation.control.joint_effort.assign(effort)
    simulation.step(3)
    np.testing.assert_array_equal(simulation.state.joint_position.numpy()[:, 1], before)
    assert [failure.environment for failure in simulation.failures()] == [1]


def test_a_state_set_by_hand_forgets_the_motion_before_it():
    """Steps from it are bitwise those of a fresh simulation."""
    tree = trees.chain(2)
    fresh, used = simulate(tree), simulate(tree)
    used.step(50)
    state = State(joint_position=np.array([0.4, -0.1]), joint_velocity=np.array([1.0, 2.0]))
    for simulation in (fresh, used):
        put(simulation, state)
        simulation.step(10)
    np.testing.assert_array_equal(fresh.state.joint_position.numpy(), used.state.joint_position.numpy())
