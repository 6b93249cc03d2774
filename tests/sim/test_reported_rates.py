"""Velocities that are reported are the rates of positions that are, and accelerations those of velocities."""

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import busy_joints
from tests.oracles.movement import rotation
from tests.oracles.simulated_state import put
from warp_artic import Simulation, SolverSettings
from warp_artic.description.tendon import FixedTendon

H = 1 / 240
SOLVED = {"direct": {}, "pgs": {"position_iterations": 16}}
"""Settings with which stops are exact: what fewer sweeps leave of them is moved back, at no velocity."""
ONE_AXIS = tuple(kind for kind, axes in trees.JOINT_KINDS.items() if len(axes) == 1)


def simulate(tree, seed=0, **settings):
    """A tree in a random state within its limits: positions beyond them are moved back, at no velocity."""
    options = {"dt": H, "precision": "float64", "variant": "scalar", **settings}
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(**options))
    state = trees.random_state(seed, tree)
    q = 0.2 * state.joint_position
    limited = [(item, dof.limit) for item, dof in enumerate(tree.dofs) if dof.limit is not None]
    for item, limit in limited:
        q[item] = np.clip(q[item], limit.lower, limit.upper)
    put(simulation, trees.replace(state, joint_position=q))
    return simulation


def paths(run):
    """How far dofs have moved in each step, and h times their velocities before and after it, (T, D)."""
    q, v = run.joint_position[:, 0].astype(float), run.joint_velocity[:, 0].astype(float)
    h = run.metadata["dt"]
    return q[1:] - q[:-1], h * v[:-1], h * v[1:]


@pytest.mark.parametrize("solver", SOLVED)
def test_semi_implicit_steps_move_with_the_velocity_at_their_end(solver):
    """Exactly, whatever acts: drives, friction, stops, tendons, mimic joints."""
    moved, _before, after = paths(
        simulate(busy_joints(0.4), solver=solver, integrator="semi_implicit", **SOLVED[solver]).record(240)
    )
    np.testing.assert_allclose(moved, after, rtol=0, atol=1e-13)
    assert np.abs(after).max() > 1e-3


@pytest.mark.parametrize("solver", SOLVED)
def test_midpoint_steps_move_with_the_mean_velocity(solver):
    """Exactly, after the first step; joints that meet a stop, or have springs and dampers, have other weights."""
    tree = busy_joints()
    run = simulate(tree, solver=solver, **SOLVED[solver]).record(240, forces=True)
    moved, before, after = (each[1:] for each in paths(run))
    has_stop = np.array([dof.limit is not None for dof in tree.dofs])
    evenly = ~has_stop & ~has_resistance(tree)
    assert evenly.any()
    np.testing.assert_allclose(moved[:, evenly], 0.5 * (before + after)[:, evenly], rtol=0, atol=1e-13)
    assert_between(moved, before, after)
    stopped = run.joint_limit_force[2:, 0] != 0.0
    assert stopped[:, has_stop].any()


def has_resistance(tree):
    """Whether each dof has a drive or viscous friction, or is tied to one that has by a mimic joint."""
    found = np.array([dof.drive is not None or dof.friction is not None for dof in tree.dofs])
    for mimic in tree.mimics:
        found[list(mimic.dofs)] |= found[list(mimic.dofs)].any()
    return found


def assert_between(moved, before, after):
    """Each path is one of h v and h v+, or between the two."""
    assert (moved >= np.minimum(before, after) - 1e-13).all() and (moved <= np.maximum(before, after) + 1e-13).all()


def test_a_bounce_divides_a_midpoint_step():
    """The other joints have v until a stop throws one back, and v+ afterwards."""
    tree = busy_joints(0.4)
    moved, before, after = (each[1:] for each in paths(simulate(tree).record(240)))
    bounces = np.array([dof.limit is not None and dof.limit.restitution > 0.0 for dof in tree.dofs])
    assert_between(*(each[:, ~bounces] for each in (moved, before, after)))
    moves = np.flatnonzero([dof.limit is None for dof in tree.dofs] & ~has_resistance(tree))
    moved, before, after = (each[:, moves] for each in (moved, before, after))
    share = ((moved - before) / (after - before))[:, :1]
    assert 2 < (np.abs(share - 0.5) > 1e-6).sum() < 40
    np.testing.assert_allclose(moved, before + share * (after - before), rtol=0, atol=1e-12)


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_substeps_move_with_the_velocities_of_each(integrator):
    """Under accelerations that stay for the step: in n substeps by h v + (n + 1) / 2n h^2 a, or half of h^2 a."""
    tree = trees.random_articulation(3, 8, floating=True, kinds=ONE_AXIS)
    moved, before, after = paths(simulate(tree, solver="tgs", integrator=integrator).record(20))
    weight = 0.5 if integrator == "midpoint" else 5.0 / 8.0
    np.testing.assert_allclose(moved, before + weight * (after - before), rtol=0, atol=1e-13)


def test_ball_joints_turn_with_their_velocities():
    """Half a step with each, in the axes of the child: R exp(h v / 2) exp(h v+ / 2), as a tendon pulls at them."""
    c = (1.0, -0.5)
    tendon = FixedTendon(name="/World/t", dofs=(0, 4), coefficients=c, force_coefficients=c, stiffness=3.0)
    tree = trees.replace(trees.chain(3, "spherical"), fixed_tendons=(tendon,))
    run = simulate(tree).record(60)
    q, v = run.joint_position[1:, 0].reshape(-1, 3, 3), run.joint_velocity[1:, 0].reshape(-1, 3, 3)
    for k in range(len(q) - 1):
        for joint in range(3):
            turned = rotation(q[k, joint]) @ rotation(0.5 * H * v[k, joint]) @ rotation(0.5 * H * v[k + 1, joint])
            np.testing.assert_allclose(rotation(q[k + 1, joint]), turned, rtol=0, atol=1e-13)


def swinging(dt, integrator):
    """A chain that swings freely, after a tenth of a second."""
    simulation = Simulation(
        trees.scene(trees.chain(3)),
        settings=SolverSettings(dt=dt, integrator=integrator, precision="float64", variant="scalar"),
    )
    simulation.set_state(joint_position=[0.4, -0.8, 0.3], joint_velocity=[1.0, 2.0, -1.0])
    simulation.step(round(0.1 / dt))
    return simulation


@pytest.mark.parametrize("integrator", ["midpoint", "rk4"])
def test_free_motion_has_the_path_of_a_smooth_velocity(integrator):
    """h (v + v+) / 2 + h^2 (a - a+) / 12, as a polynomial through both ends has, with errors of fifth order."""
    errors = []
    for dt in (1 / 120, 1 / 240):
        simulation = swinging(dt, integrator)
        q, v = (getattr(simulation.state, f"joint_{name}").numpy()[:, 0].copy() for name in ("position", "velocity"))
        a = simulation.joint_acceleration().numpy()[0]
        simulation.step()
        later = simulation.joint_acceleration().numpy()[0]
        mean = 0.5 * dt * (v + simulation.state.joint_velocity.numpy()[:, 0])
        path = simulation.state.joint_position.numpy()[:, 0] - q
        errors.append(np.abs(path - mean - dt**2 * (a - later) / 12.0).max())
    assert errors[1] < errors[0] / 16.0 and errors[1] < 0.05 * np.abs(path - mean).max()


@pytest.mark.parametrize(("integrator", "gain", "largest"), [("midpoint", 3.5, 0.01), ("semi_implicit", 1.6, 0.1)])
def test_accelerations_of_links_are_the_changes_of_their_velocities(integrator, gain, largest):
    """Classical ones of centres of mass; over a step they differ by the order of the integrator."""
    errors = []
    for dt in (1 / 120, 1 / 240):
        run = swinging(dt, integrator).record(1, forces=True)
        change = (run.link_velocity[1, 0] - run.link_velocity[0, 0]) / dt
        errors.append(np.abs(run.link_acceleration[1, 0] - change).max())
    assert errors[1] < errors[0] / gain and errors[1] < largest * np.abs(change).max()


def test_a_point_that_circles_accelerates_inward():
    """w^2 r: a spatial acceleration would be zero."""
    simulation = Simulation(
        trees.scene(trees.chain(1), gravity=(0, 0, 0)), settings=SolverSettings(precision="float64", variant="scalar")
    )
    simulation.set_state(joint_velocity=[3.0])
    found = simulation.record(2, forces=True)
    center = found.link_acceleration[2, 0, 0, :3]
    assert np.linalg.norm(center) == pytest.approx(9.0 * 0.25, rel=1e-12) and abs(center[1]) < 1e-12
