"""Momentum, energy and order of convergence of the time step, of the integrators and of the solvers."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests import trees
from tests.oracles import reference_problems, rigid, step
from tests.oracles.simulated_state import put, state_of
from tests.oracles.state import State
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.mimic import Mimic

FACTOR = {"midpoint": 4.0, "semi_implicit": 2.0}
"""What the error falls by when the step halves."""

integrators = pytest.mark.parametrize("integrator", FACTOR)


def run(tree, state, seconds, dt, gravity=rigid.GRAVITY, precision="float64", **settings):
    """The recording of a run from a state."""
    options = SolverSettings(dt=dt, precision=precision, **settings)
    simulation = Simulation(trees.scene(tree, gravity=gravity), settings=options)
    put(simulation, state)
    return simulation.record(round(seconds / dt))


def final_velocity(tree, state, seconds, dt, **settings):
    """The generalized velocity at the end of a run from a state."""
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(dt=dt, precision="float64", **settings))
    put(simulation, state)
    simulation.step(round(seconds / dt))
    return rigid.velocity(tree, state_of(simulation))


def momentum_of_links(tree, recording):
    """Of the last record, from velocities of links: those of joints are others where these swing far."""
    total = np.zeros(6)
    for link, pose, V in zip(tree.links, recording.link_pose[-1, 0], recording.link_velocity[-1, 0]):
        X_WL = trees.Pose(tuple(pose[:3]), tuple(pose[3:]))
        linear, R = link.mass * V[:3], X_WL.rotation
        angular = R @ rigid.inertia_matrix(link.inertia) @ R.T @ V[3:]
        total += [*linear, *(angular + np.cross(X_WL.apply(link.center_of_mass), linear))]
    return total


def assert_order(errors, factor, tolerance=0.25):
    """Each error is smaller than the one before by a factor."""
    for coarse, fine in zip(errors, errors[1:]):
        assert coarse / fine == pytest.approx(factor, rel=tolerance), errors


# ---------------------------------------------------------------------------------------------------------------------
# What is kept
# ---------------------------------------------------------------------------------------------------------------------


@integrators
def test_momentum_of_a_floating_tree_without_gravity(integrator):
    """The error of linear and angular momentum falls with the step."""
    rng = np.random.default_rng(3)
    tree = trees.random_articulation(rng, 5, floating=True, armature=False)
    state = trees.random_state(rng, tree, speed=0.3)
    expected = rigid.momentum(rigid.motion(tree, state))
    errors = []
    for dt in (1 / 480, 1 / 960, 1 / 1920):
        recording = run(tree, state, 0.5, dt, gravity=(0, 0, 0), integrator=integrator)
        found = momentum_of_links(tree, recording)
        errors.append(np.abs(found - expected).max() / np.abs(expected).max())
    assert errors[2] < 2e-2
    assert_order(errors, FACTOR[integrator])


@integrators
def test_a_free_body_keeps_its_linear_momentum(integrator):
    """A body without forces moves in a straight line with its centre of mass, in float32 too."""
    tree = trees.free_body()
    state = State(
        joint_position=np.zeros(0),
        joint_velocity=np.zeros(0),
        root_pose=np.array([0, 0, 0, 0, 0, 0, 1.0]),
        root_velocity=np.array([0.3, -0.2, 0.1, 2.0, 1.0, -3.0]),
    )
    recording = run(tree, state, 2.0, 1 / 240, gravity=(0, 0, 0), precision="float32", integrator=integrator)
    np.testing.assert_array_equal(recording.link_velocity[:, 0, 0, :3], np.float32([[0.3, -0.2, 0.1]]).repeat(481, 0))


@integrators
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_energy_error_falls_with_the_step(precision, integrator):
    """A free double pendulum: max |E - E0|, in float32 over steps at which rounding does not show.

    The midpoint is of fourth order where nothing holds the joints.
    """
    tree = trees.chain(2)
    state = State(joint_position=np.array([1.0, 0.5]), joint_velocity=np.zeros(2))
    errors = []
    for dt in (1 / 120, 1 / 240, 1 / 480)[: 2 if precision == "float32" else 3]:
        energy = run(tree, state, 2.0, dt, precision=precision, integrator=integrator).energy[:, 0].sum(axis=1)
        errors.append(np.abs(energy - energy[0]).max())
    assert_order(errors, 20.0 if integrator == "midpoint" else 2.0)


# ---------------------------------------------------------------------------------------------------------------------
# Against exact trajectories
# ---------------------------------------------------------------------------------------------------------------------


def quarter_of_a_second(tree, state):
    """The state after it, by an ODE solver with tight tolerances."""
    return step.trajectory(tree, state, np.array([0.0, 0.25])).states[-1]


@cache
def free_motion(seed):
    """A tree of all joint types, fixed or floating, a state, and the exact one after a quarter of a second."""
    rng = np.random.default_rng(70 + seed)
    tree = trees.random_articulation(rng, 5, floating=bool(seed % 2))
    state = trees.random_state(rng, tree, speed=0.5)
    return tree, state, quarter_of_a_second(tree, state)


@integrators
@pytest.mark.parametrize("seed", range(4))
def test_free_motion_of_random_trees_converges(seed, integrator):
    """All joint types, fixed and floating bases, against an ODE solver with tight tolerances."""
    tree, state, later = free_motion(seed)
    exact = rigid.velocity(tree, later)
    steps = (1 / 960, 1 / 1920, 1 / 3840)
    errors = [np.abs(final_velocity(tree, state, 0.25, dt, integrator=integrator) - exact).max() for dt in steps]
    assert_order(errors, FACTOR[integrator], 0.35)


@cache
def driven_motion(seed):
    """A tree of all joint types with drives on the joints of one dof, a state, and the exact one after 0.25 s."""
    rng = np.random.default_rng(40 + seed)
    tree = trees.random_articulation(rng, 5, floating=bool(seed % 2))
    drives = [Drive(stiffness=float(k), damping=0.2 * float(k)) for k in rng.uniform(5, 50, len(tree.dofs))]
    single = {dof.name for joint in tree.joints if len(joint.dofs) == 1 for dof in joint.dofs}
    drives = [drive if dof.name in single else None for drive, dof in zip(drives, tree.dofs)]
    tree, state = trees.with_dofs(tree, drive=drives), trees.random_state(rng, tree, speed=0.5)
    return tree, state, quarter_of_a_second(tree, state)


@integrators
@pytest.mark.parametrize("seed", range(8))
def test_driven_trees_converge(seed, integrator):
    """Random trees with drives against an ODE solver: with a middle, driven motion is of second order too."""
    tree, state, later = driven_motion(seed)
    exact = rigid.velocity(tree, later)
    steps = (1 / 960, 1 / 1920, 1 / 3840)
    errors = [np.abs(final_velocity(tree, state, 0.25, dt, integrator=integrator) - exact).max() for dt in steps]
    assert_order(errors, FACTOR[integrator], 0.35)


def relations(tree, state):
    """Two hard mimics of joints in different branches, a state that satisfies them, and their J."""
    base = rigid.base_count(tree)
    mimics = (Mimic(name="a", dofs=(0, 2), gears=(1.0, -0.7)), Mimic(name="b", dofs=(1, 3), gears=(1.0, 1.3)))
    q, v = state.joint_position.copy(), state.joint_velocity.copy()
    J = np.zeros((2, base + len(q)))
    for row, mimic in enumerate(mimics):
        (follower, leader), gear = mimic.dofs, mimic.gears[1]
        q[follower], v[follower] = -gear * q[leader], -gear * v[leader]
        J[row, [base + follower, base + leader]] = 1.0, gear
    return mimics, trees.replace(state, joint_position=q, joint_velocity=v), J


def velocity_with_relations(tree, state, J, seconds):
    """The exact generalized velocity after a time under J v = 0, by a Runge-Kutta method of eighth order."""
    start = rigid.coordinates(tree, state)
    split = len(start)

    def rate(_, y):
        motion = rigid.motion_at(tree, y[:split], y[split:])
        system = np.block([[rigid.mass_matrix(motion), J.T], [J, np.zeros((len(J), len(J)))]])
        load = -rigid.coriolis_effort(motion) - rigid.gravity_effort(motion)
        vdot = np.linalg.solve(system, np.concatenate([load, np.zeros(len(J))]))[: len(load)]
        return np.concatenate([rigid.coordinates_rate(tree, y[:split], y[split:]), vdot])

    y = np.concatenate([start, rigid.velocity(tree, state)])
    return solve_ivp(rate, (0.0, seconds), y, "DOP853", rtol=1e-11, atol=1e-11).y[split:, -1]


@cache
def motion_with_relations(seed):
    """A tree with two hard mimics, a state, and its exact velocity later."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 6, floating=bool(seed % 2), kinds=("revolute_x", "revolute_z", "prismatic_y"))
    mimics, state, J = relations(tree, trees.random_state(rng, tree, speed=0.5))
    return trees.replace(tree, mimics=mimics), state, velocity_with_relations(tree, state, J, 0.25)


@integrators
@pytest.mark.parametrize(("solver", "iterations"), [("direct", 1), ("pgs", 50), ("tgs", 8)])
@pytest.mark.parametrize("seed", range(3))
def test_motion_with_hard_mimics_converges(seed, solver, iterations, integrator):
    """Of the same order as free motion, on each solver."""
    coupled, state, exact = motion_with_relations(seed)
    settings = {"integrator": integrator, "solver": solver, "position_iterations": iterations}
    errors = [
        np.abs(final_velocity(coupled, state, 0.25, dt, **settings) - exact).max() for dt in (1 / 240, 1 / 480, 1 / 960)
    ]
    assert_order(errors, FACTOR[integrator])


@pytest.mark.parametrize(("integrator", "dt"), [("midpoint", 2.5e-4), ("semi_implicit", 5e-5)])
def test_the_heavy_top_converges_to_its_published_orientation(integrator, dt):
    """Orientation at 0.1 s of a top that spins at 150 rad/s."""
    errors = [heavy_top_error(integrator, step) for step in (2 * dt, dt, 0.5 * dt)]
    assert errors[2] < 2e-2
    assert_order(errors, FACTOR[integrator])


def heavy_top_error(integrator, dt):
    """Of the orientation at 0.1 s."""
    tree, start = reference_problems.heavy_top(), reference_problems.heavy_top_start()
    recording = run(tree, start, 0.1, dt, gravity=reference_problems.HEAVY_TOP_GRAVITY, integrator=integrator)
    found = recording.link_pose[-1, 0, 0, 3:]
    expected = np.asarray(reference_problems.HEAVY_TOP_QUATERNION[0.1])
    return min(np.abs(found - expected).max(), np.abs(found + expected).max())


# ---------------------------------------------------------------------------------------------------------------------
# Coordinates
# ---------------------------------------------------------------------------------------------------------------------


@integrators
def test_a_revolute_joint_without_limits_wraps_inside_two_turns(integrator):
    """Position stays in (-2 pi, 2 pi), and is that of even motion but for whole double turns."""
    tree = trees.chain(1)
    start = State(joint_position=np.zeros(1), joint_velocity=np.array([30.0]))
    recording = run(tree, start, 2.0, 1 / 240, (0, 0, 0), integrator=integrator)
    q = recording.joint_position[:, 0, 0]
    assert np.abs(q).max() < 2 * np.pi
    turns = (q - 30.0 * recording.time) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)


@integrators
def test_a_revolute_joint_may_count_its_turns(integrator):
    """Position goes on with the motion where the description says so."""
    tree = trees.chain(1)
    (joint,) = tree.joints
    counting = replace(joint, dofs=tuple(replace(dof, wraps=False) for dof in joint.dofs))
    start = State(joint_position=np.zeros(1), joint_velocity=np.array([30.0]))
    recording = run(replace(tree, joints=(counting,)), start, 2.0, 1 / 240, (0, 0, 0), integrator=integrator)
    np.testing.assert_allclose(recording.joint_position[:, 0, 0], 30.0 * recording.time, rtol=1e-9)


@integrators
def test_a_locked_rotation_does_not_drift(integrator):
    """After two seconds of wild motion a zero-twist joint has no twist, and the twist axis of a universal joint no
    component along its swing axis."""
    for kind in ("universal_xy", "zero_twist", "universal_xz"):
        tree = trees.chain(1, kind)
        start = State(joint_position=np.array([0.3, -0.2]), joint_velocity=np.array([3.0, 2.0]))
        recording = run(tree, start, 2.0, 1 / 240, precision="float32", integrator=integrator)
        for pose in recording.link_pose[::40, 0, 0]:
            R = trees.Pose((0, 0, 0), tuple(pose[3:].astype(float))).rotation
            off = trees.rotation_vector_from_matrix(R)[0] if kind == "zero_twist" else R["xyz".index(kind[-1]), 0]
            assert abs(off) < 1e-5
