"""Mimic joints against closed forms."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.linalg import expm

from tests import oracle_stages, simulations, trees
from tests.oracles import couplings, rigid
from tests.oracles.dense_step import DenseStep, Relation, Spring, assert_steps
from tests.oracles.simulated_state import put, state_of
from warp_artic.description.drive import Drive
from warp_artic.description.limit import Limit
from warp_artic.description.mimic import Mimic

H = 1.0 / 240.0
GEAR, OFFSET = 1.63, 0.5
SOLVERS = ("direct", "pgs", "tgs")
INTEGRATORS = ("midpoint", "semi_implicit")


def coupled(tree, *mimics):
    return trees.replace(tree, mimics=mimics)


def two_sliders(**mimic):
    """Two links of 1 kg on prismatic joints in a chain: r_AA = 1, r_AB = -1, r_BB = 2."""
    tree = trees.chain(2, "prismatic_x", mass=1.0)
    return coupled(tree, Mimic(name="mimic", dofs=(0, 1), gears=(1.0, GEAR), offset=OFFSET, **mimic))


simulate = partial(simulations.simulate, gravity=(0.0, 0.0, 0.0))


# ---------------------------------------------------------------------------------------------------------------------
# The law
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-4), ("float64", 1e-10)])
@pytest.mark.parametrize(
    ("options", "v", "q"),
    [
        (
            {"natural_frequency": 1000.0, "damping_ratio": 1.5},
            (66.87182386704788, -111.10527291988606),
            (1.6687182386704789, -1.1110527291988606),
        ),
        ({}, (71.15672932084615, -126.47652105573383), (1.7115672932084616, -1.2647652105573384)),
    ],
    ids=["soft", "hard"],
)
def test_one_step_has_its_closed_form(options, v, q, precision, tolerance, solver, integrator):
    """Soft and hard values of a published one-step problem, with one iteration."""
    settings = {"precision": precision, "solver": solver, "integrator": integrator, "position_iterations": 1}
    simulation = simulate(two_sliders(**options), dt=0.01, **settings)
    simulation.set_state(joint_position=[1.0, 0.0], joint_velocity=[35.9, 0.0])
    simulation.step()
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[:, 0], v, rtol=tolerance)
    np.testing.assert_allclose(simulation.state.joint_position.numpy()[:, 0], q, rtol=tolerance)


def gears_of(tree, mimic):
    """G by dof."""
    found = np.zeros(len(tree.dofs))
    found[list(mimic.dofs)] = mimic.gears
    return found


def elements(tree, mimic, state, placed, share, integrator):
    """A compliant mimic as a spring, a hard one as the relation that takes nine tenths of C back.

    Of components of rotation vectors no more than pi rad/s of each. What the gradient of C in the middle has turned by
    until then, the relation turns it by once more.
    """
    before, later = couplings.times(H, share, integrator == "midpoint")
    gears = gears_of(tree, mimic)
    G = couplings.gradient(tree, state, gears, before, later)
    C = mimic.offset + couplings.value_in_step(tree, state, gears, before)
    frequency, ratio = mimic.natural_frequency, mimic.damping_ratio
    if frequency > 0.0:
        r = G @ np.linalg.solve(rigid.mass_matrix(placed), G)
        return Spring(frequency**2 / r, 2.0 * frequency * ratio / r, C, G, G, G, ties=True)
    v = rigid.velocity(tree, state)
    rate = couplings.gradient(tree, state, gears) @ v
    C_M = mimic.offset + gears @ state.joint_position + (1.0 - share) * H * rate
    turning = [joint.has_vector and not dof.axis.is_linear for joint in tree.joints for dof in joint.dofs]
    largest = math.pi * np.abs(gears[turning]).sum() if gears[turning].any() else math.inf
    return Relation(G, -np.clip(0.9 * C_M / H, -largest, largest) - (G @ v - rate))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("holds", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_steps_of_random_trees_have_the_dense_law(seed, holds, integrator):
    """A hard and a compliant mimic of three dofs each, of joints of every kind in any branch."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(
        rng, 9, floating=bool(seed % 2), kinds=("revolute_x", "prismatic_y", "spherical", "zero_twist")
    )
    mimics = tuple(
        Mimic(
            name=f"m{k}",
            dofs=tuple(int(dof) for dof in rng.choice(len(tree.dofs), 3, replace=False)),
            gears=(1.0, *(float(G) for G in rng.uniform(0.5, 2.0, 2) * rng.choice([-1, 1], 2))),
            offset=float(rng.normal()),
            natural_frequency=40.0 * k,
            damping_ratio=0.3 * k,
        )
        for k in range(2)
    )
    state = trees.random_state(rng, tree)
    if holds:
        errors = [mimic.error(state.joint_position) for mimic in mimics]
        mimics = tuple(trees.replace(mimic, offset=mimic.offset - C + 1e-3) for mimic, C in zip(mimics, errors))
    law = DenseStep(
        tree,
        H,
        integrator,
        elements=lambda state, placed, share: [
            elements(tree, mimic, state, placed, share, integrator) for mimic in mimics
        ],
    )
    settings = {"precision": "float64", "integrator": integrator}
    simulation = simulate(coupled(tree, *mimics), gravity=rigid.GRAVITY, **settings)
    put(simulation, state)
    assert_steps(simulation, law, tolerance=1e-8)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_impulses_of_a_mimic_on_a_floating_base_are_internal(integrator):
    """M (v+ - free v+) has no part on the root, and is along the gears on the dofs."""
    rng = np.random.default_rng(1)
    tree = trees.random_articulation(rng, 6, floating=True, kinds=("revolute_x", "revolute_z"))
    state = trees.random_state(rng, tree)
    gears = (1.0, -2.0, 0.7)
    velocities = []
    relation = Mimic(name="m", dofs=(0, 3, 4), gears=gears)
    relation = trees.replace(relation, offset=0.01 - relation.error(state.joint_position))
    for mimics in ((), (relation,)):
        simulation = simulate(coupled(tree, *mimics), precision="float64", integrator=integrator)
        put(simulation, state)
        simulation.step()
        velocities.append(rigid.velocity(tree, state_of(simulation)))
    placed = DenseStep(tree, H, integrator).place(state, velocities[0])
    impulse = rigid.mass_matrix(placed) @ (velocities[1] - velocities[0])
    J = np.zeros(len(impulse))
    J[[6, 9, 10]] = gears
    np.testing.assert_allclose(impulse, J * impulse[6], atol=1e-9 * np.abs(impulse).max())


# ---------------------------------------------------------------------------------------------------------------------
# Compliant mimics
# ---------------------------------------------------------------------------------------------------------------------


def oscillation(time, start, frequency, ratio):
    """C of a damped oscillator that is let go at `start`."""
    damped = frequency * np.sqrt(1 - ratio**2)
    wave = np.cos(damped * time) + ratio * frequency / damped * np.sin(damped * time)
    return start * np.exp(-ratio * frequency * time) * wave


@pytest.mark.parametrize(
    ("solver", "iterations"), [("direct", 1), *((s, n) for s in ("pgs", "tgs") for n in (1, 4, 32))]
)
@pytest.mark.parametrize(
    ("frequency", "ratio"), [(3.0, 0.1), (6.0, 0.15), (12.0, 0.05), (12.0, 0.3), (20.0, 0.1), (30.0, 0.2), (30.0, 0.9)]
)
def test_a_compliant_mimic_is_a_damped_oscillator(frequency, ratio, solver, iterations):
    """C(t) has the authored frequency and damping ratio: within 1 % of its amplitude at 240 Hz over two seconds."""
    tree = two_sliders(natural_frequency=frequency, damping_ratio=ratio)
    simulation = simulate(tree, precision="float64", solver=solver, position_iterations=iterations)
    simulation.set_state(joint_position=[-0.4, 0.0])
    recording = simulation.record(480)
    exact = oscillation(recording.time, 0.1, frequency, ratio)
    assert np.abs(recording.mimic_error[:, 0, 0] - exact).max() <= 1e-3


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_oscillation_converges(integrator):
    """At second order with a middle, at first order without."""
    errors = []
    for rate in (240, 480, 960):
        tree = two_sliders(natural_frequency=6.0, damping_ratio=0.15)
        simulation = simulate(tree, dt=1 / rate, precision="float64", integrator=integrator)
        simulation.set_state(joint_position=[-0.4, 0.0])
        recording = simulation.record(rate)
        exact = oscillation(recording.time, 0.1, 6.0, 0.15)
        errors.append(np.abs(recording.mimic_error[:, 0, 0] - exact).max())
    order = 4.0 if integrator == "midpoint" else 2.0
    assert errors[0] / errors[1] == pytest.approx(order, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(order, rel=0.1)


@pytest.mark.parametrize(("solver", "iterations"), [("direct", 1), ("pgs", 1), ("pgs", 4), ("tgs", 1), ("tgs", 4)])
def test_a_compliant_mimic_of_a_stage_is_a_damped_oscillator(solver, iterations):
    """Frequency 30 rad/s and ratio 0.4 as authored; also with a velocity iteration, under which PhysX has no spring."""
    simulation = oracle_stages.simulate(
        "mimic_compliant", 240, solver=solver, position_iterations=iterations, velocity_iterations=1
    )
    recording = simulation.record(480)
    C = recording.mimic_error[:, 0, 0]
    assert C[0] == pytest.approx(np.radians(15.0))
    np.testing.assert_allclose(C, oscillation(recording.time, C[0], 30.0, 0.4), rtol=0.0, atol=0.01 * C[0])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_compliant_mimic_beside_a_drive_has_the_authored_frequency(integrator):
    """r is that of the mechanism, not of the mechanism with its drives: the motion converges as without drives."""
    k, d, frequency, ratio = 400.0, 40.0, 12.0, 0.2
    mimic = Mimic(name="m", dofs=(1, 0), gears=(1.0, -1.0), natural_frequency=frequency, damping_ratio=ratio)
    tree = coupled(trees.with_dofs(comb(2), drive=[Drive(stiffness=k, damping=d), None]), mimic)
    J = np.array([[-1.0, 1.0]])
    stiffness = np.diag([k, 0.0]) + frequency**2 / 2.0 * J.T @ J
    damping = np.diag([d, 0.0]) + frequency * ratio * J.T @ J
    rate = np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, -damping]])
    start = np.array([0.05, 0.15, 0.0, 0.0])
    errors = []
    for steps in (240, 480, 960):
        simulation = simulate(tree, dt=1 / steps, precision="float64", integrator=integrator)
        simulation.set_state(joint_position=start[:2])
        recording = simulation.record(steps)
        exact = np.array([expm(rate * t) @ start for t in recording.time])[:, :2]
        errors.append(np.abs(recording.joint_position[:, 0] - exact).max())
    order = 4.0 if integrator == "midpoint" else 2.0
    assert errors[0] / errors[1] == pytest.approx(order, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(order, rel=0.15)


# ---------------------------------------------------------------------------------------------------------------------
# Hard mimics
# ---------------------------------------------------------------------------------------------------------------------


def comb(count, kind="prismatic_x"):
    """A welded base with equal links side by side on it."""
    chain = trees.chain(1, kind, mass=1.0)
    links = tuple(trees.replace(chain.links[0], path=f"/World/t/link_{k}") for k in range(count + 1))
    joints = [trees.plain_joint("/World/t/base", -1, 0, "fixed")]
    joints += [trees.plain_joint(f"/World/t/joint_{k}", 0, k, kind) for k in range(1, count + 1)]
    return trees.replace(chain, path="/World/t", links=links, joints=tuple(joints))


@pytest.mark.parametrize(("solver", "iterations", "bound"), [("direct", 1, 1e-6), ("tgs", 4, 1e-4)])
@pytest.mark.parametrize("followers", [1, 5])
def test_a_hard_mimic_under_load_holds(followers, solver, iterations, bound):
    """Links of a driven chain that follow the first one, 0.65 N m on the last: |C| at all times, in float32."""
    tree = trees.chain(followers + 1)
    tree = trees.with_dofs(tree, drive=[Drive(stiffness=50.0, damping=2.0), *[None] * followers])
    mimics = (Mimic(name=f"m{k}", dofs=(k, 0), gears=(1.0, -1.0)) for k in range(1, followers + 1))
    simulation = simulate(coupled(tree, *mimics), gravity=rigid.GRAVITY, solver=solver, position_iterations=iterations)
    effort = np.zeros((followers + 1, 1))
    effort[-1] = 0.65
    simulation.control.joint_effort.assign(effort)
    assert np.abs(simulation.record(480).mimic_error).max() <= bound


@pytest.mark.parametrize(("solver", "iterations"), [("direct", 1), ("pgs", 400), ("tgs", 8)])
def test_seven_followers_follow_one_leader(solver, iterations):
    """All move with it as one mass of 8 kg: x = a/2 (t^2 + h^2 / n), exact but for a first step of n backward Euler."""
    mimics = [Mimic(name=f"/World/t/joint_{k}", dofs=(k, 0), gears=(1.0, -1.0)) for k in range(1, 8)]
    simulation = simulate(coupled(comb(8), *mimics), precision="float64", solver=solver, position_iterations=iterations)
    effort = np.zeros((8, 1))
    effort[0] = 4.0
    simulation.control.joint_effort.assign(effort)
    recording = simulation.record(240)
    substeps = iterations if solver == "tgs" else 1
    expected = 0.5 * 4.0 / 8.0 * (recording.time[1:] ** 2 + H**2 / substeps)
    q = recording.joint_position[1:, 0]
    np.testing.assert_allclose(q, q[:, :1].repeat(8, 1), rtol=0.0, atol=1e-4 if solver == "tgs" else 1e-9)
    np.testing.assert_allclose(q[:, 0], expected, rtol=0.0, atol=1e-3 if solver == "tgs" else 1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("stopped", range(4))
def test_a_chain_of_followers_stops_as_one(stopped, integrator):
    """Four sliders, each at -1.5 times the one before, of which any is stopped 0.1037 m from the start.

    As one mass they stop there within a step, without a rebound, each on its relation.
    """
    ratios = (-1.5) ** np.arange(4)
    stop = math.copysign(0.1037, ratios[stopped])
    limit = Limit(upper=stop) if stop > 0.0 else Limit(lower=stop)
    limits = [limit if k == stopped else None for k in range(4)]
    mimics = [Mimic(name=f"m{k}", dofs=(k, k - 1), gears=(1.0, 1.5)) for k in range(1, 4)]
    tree = trees.with_dofs(coupled(comb(4), *mimics), limit=limits)
    simulation = simulate(tree, precision="float64", integrator=integrator)
    simulation.set_state(joint_velocity=2.0 * ratios)
    recording = simulation.record(48)
    travelled = np.minimum(2.0 * recording.time, stop / ratios[stopped])
    np.testing.assert_allclose(recording.joint_position[:, 0], travelled[:, None] * ratios, rtol=0.0, atol=1e-12)
    assert np.abs(recording.mimic_error).max() <= 1e-12 and np.abs(recording.joint_velocity[-1]).max() <= 1e-12


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_followers_beyond_a_limit_at_the_start_come_back_without_a_shot(solver, integrator):
    """Three sliders, the last of them 0.03 m outside: in each step a fifth of what is left, each on its relation."""
    ratios = np.array([1.0, -1.5, 0.5])
    mimics = [Mimic(name=f"m{k}", dofs=(k, 0), gears=(1.0, -ratios[k])) for k in (1, 2)]
    tree = trees.with_dofs(coupled(comb(3), *mimics), limit=[None, None, Limit(upper=0.1)])
    settings = {"precision": "float64", "solver": solver, "integrator": integrator}
    simulation = simulate(tree, **settings, position_iterations=4 if solver == "tgs" else 400)
    simulation.set_state(joint_position=0.26 * ratios)
    recording = simulation.record(24)
    expected = 0.2 + 0.06 * 0.8 ** np.arange(25)
    np.testing.assert_allclose(recording.joint_position[:, 0], expected[:, None] * ratios, rtol=0.0, atol=2e-4)
    assert np.abs(recording.mimic_error).max() <= (1e-5 if solver == "tgs" else 1e-9)
    assert np.abs(recording.joint_velocity).max() <= 2e-3


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_mimic_can_be_switched_off_and_changed_between_steps(solver):
    """Disabled, the dofs are free; a new offset moves the follower, a new gear changes its speed."""
    simulation = simulate(two_sliders(), solver=solver, precision="float64")
    simulation.parameters.mimic_enabled.fill_(0.0)
    simulation.set_state(joint_position=[0.3, 0.0], joint_velocity=[0.0, 1.0])
    simulation.step(24)
    np.testing.assert_allclose(simulation.state.joint_position.numpy()[:, 0], [0.3, 0.1], atol=1e-9)
    simulation.parameters.mimic_enabled.fill_(1.0)
    simulation.parameters.mimic_offset.fill_(-0.25)
    simulation.step(48)
    q, v = simulation.state.joint_position.numpy()[:, 0], simulation.state.joint_velocity.numpy()[:, 0]
    assert q[0] + GEAR * q[1] - 0.25 == pytest.approx(0.0, abs=1e-9)
    assert v[0] + GEAR * v[1] == pytest.approx(0.0, abs=1e-9) and np.abs(v).max() > 0.01
    simulation.parameters.mimic_gear.assign(np.array([[1.0], [-0.5]]))
    simulation.step(48)
    q, v = simulation.state.joint_position.numpy()[:, 0], simulation.state.joint_velocity.numpy()[:, 0]
    assert q[0] - 0.5 * q[1] - 0.25 == pytest.approx(0.0, abs=1e-9)
    assert v[0] - 0.5 * v[1] == pytest.approx(0.0, abs=1e-9) and np.abs(v).max() > 0.01


def test_gears_turn_on_past_two_turns():
    """Two wheels without limits keep their relation and their speed."""
    tree = comb(2, "revolute_y")
    simulation = simulate(coupled(tree, Mimic(name="m", dofs=(1, 0), gears=(1.0, 2.0))), precision="float64")
    simulation.set_state(joint_velocity=[10.0, -20.0])
    recording = simulation.record(480)
    np.testing.assert_allclose(recording.joint_velocity[:, 0], [[10.0, -20.0]] * 481, rtol=1e-9)
    np.testing.assert_allclose(recording.mimic_error, 0.0, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("precision", "rate"), [("float64", 120), ("float64", 480), ("float32", 240)])
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_a_rotation_vector_that_jumps_does_not_throw(seed, precision, rate, solver):
    """A hinge follows a ball joint that turns on past 5.5 rad, where its vector becomes that of the other way round.

    The relation holds until then, and energy is kept; after it the mimic joint returns to it slowly.
    """
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 4, floating=False, kinds=("spherical", "revolute_x", "revolute_y"))
    ends = np.cumsum([0, *(len(one.dofs) for one in tree.joints)])
    ball = next(first for first, one in zip(ends, tree.joints) if len(one.dofs) == 3)
    hinge = next(dof for dof in range(len(tree.dofs)) if not ball <= dof < ball + 3)
    relation = Mimic(name="m", dofs=(hinge, int(ball)), gears=(1.0, -0.8))
    simulation = simulate(coupled(tree, relation), dt=1.0 / rate, precision=precision, solver=solver)
    v = 3.0 * rng.normal(size=len(tree.dofs))
    v[[ball, hinge]] = 3.0, 2.4
    simulation.set_state(joint_velocity=v)
    recording = simulation.record(4 * rate)
    q, energy = recording.joint_position[:, 0].astype(float), recording.energy[:, 0].sum(axis=-1)
    jumps = np.linalg.norm(np.diff(q[:, ball : ball + 3], axis=0), axis=1) > 3.0
    first = int(np.argmax(jumps))
    assert jumps.any() and np.abs(recording.mimic_error[: first + 1]).max() < 0.01
    assert energy[: first + 1] == pytest.approx(energy[0], rel=0.01)
    assert energy.max() < 3.0 * energy[0]
