"""Distances: rods, strings and springs in closed form, the dense law, energy, and what people see of them."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from tests.oracles.dense_step import DenseStep, Relation, assert_steps
from tests.oracles.simulated_state import put
from tests.simulations import simulate_exactly as simulate
from warp_artic import Simulation, SolverSettings
from warp_artic.description.distance import Distance
from warp_artic.description.joint import Axis, Dof, Joint
from warp_artic.description.limit import Limit
from warp_artic.description.validate import findings
from warp_artic.errors import SettingsError

H = 1.0 / 240.0
G = 9.81
AXES = (Axis.TRANS_X, Axis.TRANS_Y, Axis.TRANS_Z)


def bob_on(start=(1.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), **distance):
    """A body that translates freely, at a distance from another one that stands still."""
    body = trees.free_body().links[0]
    links = tuple(trees.replace(body, path=f"/World/{name}") for name in ("base", "bob"))
    dofs = tuple(
        Dof(name=f"/World/free:{axis.value}", axis=axis, position=q, velocity=v)
        for axis, q, v in zip(AXES, start, velocity)
    )
    joints = (
        trees.plain_joint("/World/fix", -1, 0, "fixed"),
        Joint(path="/World/free", parent=0, child=1, dofs=dofs),
    )
    constraint = Distance(name="/World/distance", link0=0, link1=1, **distance)
    return trees.replace(trees.free_body(), links=links, joints=joints, constraints=(constraint,))


def pendulum(time, length=1.0):
    """Where a bob on a rod is that starts at rest beside its pivot, shape (3): by Runge-Kutta of its angle."""
    steps = 4000
    h, state = time / steps, np.zeros(2)

    def rate(s):
        return np.array([s[1], G / length * np.cos(s[0])])

    for _ in range(steps):
        a = rate(state)
        b = rate(state + 0.5 * h * a)
        c = rate(state + 0.5 * h * b)
        state = state + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(state + h * c))
    return length * np.array([np.cos(state[0]), 0.0, -np.sin(state[0])])


@pytest.mark.parametrize("lower", [0.0, 1.0], ids=["string", "rod"])
@pytest.mark.parametrize("solver", ["direct", "pgs"])
def test_a_bob_on_a_string_is_a_pendulum(solver, lower):
    """The length stays, tension pulls, energy stays for a minute, and the motion is that of the angle."""
    simulation = simulate(bob_on(lower=lower, upper=1.0), solver=solver)
    recording = simulation.record(steps=240 * 60, every=8, forces=True)
    assert np.abs(recording.distance_length - 1.0).max() < 1e-5
    np.testing.assert_allclose(recording.joint_position[90, 0], pendulum(3.0), atol=2e-3)
    energy = recording.energy[:, 0].sum(axis=1)
    assert np.abs(energy - energy[0]).max() < 0.002 * recording.energy[:, 0, 0].max()
    tension = -recording.distance_force[1:, 0, 0]
    depth = -recording.joint_position[1:, 0, 2]
    np.testing.assert_allclose(tension, 3.0 * 2.0 * G * depth, atol=0.04 * 6.0 * G)


def test_substeps_keep_a_rod():
    """With tgs the length holds to a fraction of a millimetre, and energy for a minute."""
    simulation = simulate(bob_on(lower=1.0, upper=1.0), solver="tgs")
    recording = simulation.record(steps=240 * 60, every=16)
    assert np.abs(recording.distance_length - 1.0).max() < 1e-4
    energy = recording.energy[:, 0].sum(axis=1)
    assert np.abs(energy - energy[0]).max() < 0.02 * recording.energy[:, 0, 0].max()


def test_a_slack_string_does_nothing_and_a_taut_one_takes_what_pulls_it():
    """Free fall until the string is taut; then the speed along it is gone, and it is never longer by much."""
    simulation = simulate(bob_on(start=(0.3, 0.0, 0.0), upper=0.5))
    recording = simulation.record(steps=240, forces=True)
    length = recording.distance_length[:, 0, 0]
    fall = 0.5 * G * (H * np.arange(241)) ** 2
    slack = np.hypot(0.3, fall) < 0.5 - 0.02
    np.testing.assert_allclose(recording.joint_position[slack, 0, 2], -fall[slack], atol=1e-12)
    assert not recording.distance_force[slack].any()
    assert length.max() < 0.5 + 0.5 * H * recording.distance_speed.max() + 1e-6
    kinetic = recording.energy[:, 0, 0]
    assert (recording.energy[1:, 0].sum(axis=1) <= recording.energy[0, 0].sum() + 1e-3 * kinetic.max()).all()


def test_a_spring_is_one():
    """A body on a spring without gravity along it swings at sqrt(k / m), and damped as it should be."""
    k, d, mass = 200.0, 1.0, 2.0
    tree = bob_on(start=(1.1, 0.0, 0.0), lower=1.0, upper=1.0, is_soft=True, stiffness=k, damping=d)
    simulation = Simulation(
        trees.scene(tree, gravity=(0.0, 0.0, 0.0)), settings=SolverSettings(precision="float64", dt=H)
    )
    recording = simulation.record(steps=480)
    rate, decay = np.sqrt(k / mass - (d / (2 * mass)) ** 2), d / (2 * mass)
    time = recording.time
    swing = np.exp(-decay * time) * (np.cos(rate * time) + decay / rate * np.sin(rate * time))
    np.testing.assert_allclose(recording.joint_position[:, 0, 0], 1.0 + 0.1 * swing, atol=2e-3)


def test_a_stiff_spring_keeps_energy_for_a_minute():
    """Of a bob on an elastic string that stays taut."""
    k = 2000.0
    tree = bob_on(start=(1.0, 0.0, 0.0), upper=1.0, is_soft=True, stiffness=k)
    recording = simulate(tree).record(steps=240 * 60, every=8)
    beyond = np.maximum(recording.distance_length[:, 0, 0] - 1.0, 0.0)
    energy = recording.energy[:, 0].sum(axis=1) + 0.5 * k * beyond**2
    assert np.abs(energy - energy[0]).max() < 0.02 * recording.energy[:, 0, 0].max()


def rod_of(tree, one, h, integrator):
    """The law of a rod in a step, from the motion where forces are evaluated."""

    def point(placed, link, position):
        x = placed.p_WL[link] + placed.R_WL[link] @ position
        r = x - placed.p_WC[link]
        J = placed.J[link, :3] - rigid.cross_matrix(r) @ placed.J[link, 3:]
        w = placed.V[link, 3:]
        a = placed.A_bias[link, :3] + np.cross(placed.A_bias[link, 3:], r) + np.cross(w, np.cross(w, r))
        return x, J, a

    def elements(state, placed, share):
        x0, J0, a0 = point(placed, one.link0, one.position0)
        x1, J1, a1 = point(placed, one.link1, one.position1)
        length = np.linalg.norm(x1 - x0)
        u = (x1 - x0) / length
        v_r = (J1 - J0) @ placed.velocity
        c = u @ (a1 - a0) + (v_r @ v_r - (u @ v_r) ** 2) / length
        J = u @ (J1 - J0)
        J[np.abs(J) < 1e-13] = 0.0  # of dofs that move both ends alike
        tau = -0.5 * h if integrator == "midpoint" else 0.0
        start = length + tau * (J @ rigid.velocity(tree, state)) + 0.5 * c * tau**2
        return [Relation(J, -c * (tau + 0.5 * h / share) + (one.upper - start) / h)]

    return elements


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("seed", range(3))
def test_steps_of_random_trees_have_the_dense_law(seed, integrator):
    """A rod between two links anywhere in a tree, in double precision."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 7, floating=bool(seed % 2), kinds=("revolute_x", "prismatic_y"))
    state = trees.random_state(rng, tree, speed=0.3)
    link0, link1 = (int(link) for link in rng.choice(7, 2, replace=False))
    points = {f"position{k}": tuple(rng.normal(size=3) * 0.2) for k in range(2)}
    placed = rigid.motion(tree, state)
    x = [placed.p_WL[link] + placed.R_WL[link] @ point for link, point in zip((link0, link1), points.values())]
    length = float(np.linalg.norm(x[1] - x[0]))
    rod = Distance(name="/World/rod", link0=link0, link1=link1, lower=length, upper=length, **points)
    tree = trees.replace(tree, constraints=(rod,))
    simulation = simulate(tree, integrator=integrator)
    put(simulation, state)
    law = DenseStep(tree, H, integrator, elements=rod_of(tree, rod, H, integrator))
    assert_steps(simulation, law, steps=3, tolerance=1e-7)


def swinging():
    """A string that gets taut, and limits beside it."""
    tree = bob_on(start=(0.4, 0.1, 0.0), velocity=(0.5, -0.3, 0.0), upper=0.5)
    return trees.with_dofs(tree, limit=[Limit(lower=-0.2, upper=1.0), None, None])


def test_lanes_and_precisions_agree():
    """Lanes with scalars to rounding, environments with each other bitwise, float32 with float64."""
    found = {}
    for precision, variant, environments in (
        ("float64", "scalar", 1),
        ("float64", "lanes", 17),
        ("float32", "lanes", 17),
    ):
        recording = simulate(swinging(), environments, precision=precision, variant=variant).record(steps=120)
        found[precision, variant] = recording.joint_position
        assert (recording.joint_position == recording.joint_position[:, :1]).all()
    np.testing.assert_allclose(found["float64", "lanes"], found["float64", "scalar"][:, [0] * 17], atol=1e-9)
    np.testing.assert_allclose(found["float32", "lanes"], found["float64", "lanes"], atol=1e-3)


def test_parameters_are_those_of_each_environment():
    """A switched-off distance does nothing; another length acts; nonsense stops the environment that has it."""
    simulation = simulate(bob_on(upper=1.0), environments=4, variant="lanes")
    parameters = simulation.parameters
    parameters.distance_enabled = np.array([[1.0, 0.0, 1.0, 1.0]])
    parameters.distance_upper = np.array([[1.0, 1.0, 1.2, -np.inf]])
    recording = simulation.record(steps=100)
    fall = -0.5 * G * (100 * H) ** 2
    assert recording.joint_position[-1, 1, 2] == pytest.approx(fall, rel=1e-12)
    assert recording.distance_length[-1, 0, 0] == pytest.approx(1.0, abs=1e-5)
    assert recording.distance_length[-1, 2, 0] > 1.15
    (failure,) = simulation.failures()
    assert "distance_upper" in str(failure)


def test_the_suite_knows_it():
    """Its name is in the coefficient matrix, whose column is the gradient; impulses satisfy the law."""
    simulation = simulate(bob_on(start=(0.6, 0.0, -0.8), upper=1.0))
    K = simulation.coefficient_matrix().numpy()
    np.testing.assert_allclose(K[0, :, 0], [0.6, 0.0, -0.8], atol=1e-12)
    solved = simulation.constraint_impulses(np.zeros((1, 3)))
    assert solved.converged.all()
    np.testing.assert_allclose(solved.impulse.numpy()[0, 0], -2.0 * G * 0.8 * H, rtol=1e-6)
    assert all(one.holds for one in simulation.verify())


def test_points_that_coincide_leave_the_row_out():
    """A spring of no length has no direction; it acts again once it is open."""
    tree = bob_on(start=(0.0, 0.0, 0.0), upper=0.1, is_soft=True, stiffness=100.0)
    recording = simulate(tree).record(steps=120)
    assert np.isfinite(recording.joint_position).all()
    assert recording.distance_length[-1, 0, 0] > 0.01


def test_it_is_refused_where_it_makes_no_sense():
    """With its name, what was found and what is allowed; free motion only is refused by its name too."""
    wrong = bob_on(lower=2.0, upper=1.0)
    (finding,) = findings(trees.scene(wrong))
    assert finding.path == "/World/distance"
    assert "the largest distance is 1 m, must be positive, and not below the smallest one, 2 m" in finding.message
    with pytest.raises(SettingsError, match="has 1 distance;"):
        simulate(bob_on(), integrator="rk4")
