"""Limits with restitution: the bounce of a dof in closed form, its threshold, its rest and its energy."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.closed_mechanisms import bar, hinge
from warp_artic.description.articulation import Articulation
from warp_artic.description.distance import Distance
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.limit import Limit
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon

H = 1.0 / 240.0
G = 9.81

simulate = partial(simulations.simulate, gravity=(0.0, 0.0, 0.0))


def ball(restitution, threshold=0.0, kind="prismatic_z", lower=0.0, upper=50.0):
    """One link over a floor, under a ceiling."""
    limit = Limit(lower=lower, upper=upper, restitution=restitution, bounce_threshold=threshold)
    return trees.with_dofs(trees.chain(1, kind), limit=limit)


def fall(height: float, speed: float, restitution: float, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Height and velocity of a ball that starts downwards, in closed form, until its bounces are too many."""
    found, t_0 = [], 0.0
    v_0, q_0 = -speed, height
    for t in time:
        while True:
            landing = (v_0 + math.sqrt(v_0 * v_0 + 2 * G * q_0)) / G
            if t - t_0 < landing or landing < 1e-4:
                break
            t_0, q_0, v_0 = t_0 + landing, 0.0, restitution * (G * landing - v_0)
        s = t - t_0
        found.append((q_0 + v_0 * s - G * s * s / 2, v_0 - G * s))
    return np.array(found).T


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("kind, side", [("revolute_y", 1.0), ("prismatic_x", -1.0)])
def test_an_impact_comes_back_with_its_share_of_the_speed(kind, side, solver, integrator):
    """At 6 rad/s or m/s: 0.5 returns 0.5, and the limit is not passed by 1e-5."""
    simulation = simulate(ball(0.5, kind=kind, lower=-0.41, upper=0.41), solver=solver, integrator=integrator)
    simulation.set_state(joint_velocity=[6.0 * side])
    recording = simulation.record(48)
    q, v = recording.joint_position[:, 0, 0] * side, recording.joint_velocity[:, 0, 0] * side
    assert q.max() <= 0.41 + 1e-5
    np.testing.assert_allclose(v[-1], -3.0, rtol=1e-5)


def test_a_falling_ball_bounces_as_in_closed_form():
    """Position and velocity of five bounces under gravity, at the true times of impact."""
    for restitution in (0.5, 0.9, 1.0):
        simulation = simulate(ball(restitution), gravity=(0, 0, -G), precision="float64")
        simulation.set_state(joint_position=[0.3], joint_velocity=[-6.0])
        recording = simulation.record(240)
        q, v = fall(0.3, 6.0, restitution, recording.time)
        np.testing.assert_allclose(recording.joint_position[:, 0, 0], q, atol=1e-9)
        np.testing.assert_allclose(recording.joint_velocity[:, 0, 0], v, atol=1e-7)


@pytest.mark.parametrize("dt, tolerance", [(1.0 / 60.0, 1e-2), (1.0 / 240.0, 1e-3)])
@pytest.mark.parametrize("height", [0.1, 0.13, 0.17])
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_what_a_mimic_joint_ties_bounces_as_in_closed_form(solver, at, height, dt, tolerance):
    """A weight falls with 0.4 g, as it lifts another; either joint has the stop, of restitution 1/2.

    The impact was timed with the acceleration without the mimic joint, and what the other joint moved otherwise came
    back as a velocity. Sweeps shared the impact out in a few rounds, and heights were half of these and less.
    """
    stop = (Limit(lower=-height, restitution=0.5), Limit(upper=1.5 * height, restitution=0.5))[at]
    tree = trees.with_dofs(trees.chain(2, "prismatic_z"), limit=[stop, None] if at == 0 else [None, stop])
    tree = replace(tree, mimics=(Mimic(name="mimic", dofs=(1, 0), gears=(1.0, 1.5)),))
    simulation = simulate(tree, gravity=(0, 0, -G), precision="float64", dt=dt, solver=solver)
    recording = simulation.record(round(1.8 * math.sqrt(height / (0.2 * G)) / dt))
    q, v = recording.joint_position[:, 0, 0], recording.joint_velocity[:, 0, 0]
    back = q[int(np.argmax(v > 0.0)) :].max() + height
    assert back == pytest.approx(height / 4, rel=tolerance)
    assert np.abs(recording.joint_position[:, 0, 1] + 1.5 * q).max() < (1e-12 if solver == "direct" else 1e-4)


@pytest.mark.parametrize("restitution", [0.5, 0.9])
def test_dry_friction_slows_a_ball_down_before_and_after_it_bounces(restitution):
    """Of 0.4 of its weight: it falls with 0.6 g and rises against 1.4 g, at 240 Hz to 2.5 %, where it was 4 %."""
    tree = trees.with_dofs(ball(restitution), friction=Friction(static_effort=0.4 * G, dynamic_effort=0.4 * G))
    simulation = simulate(tree, gravity=(0, 0, -G), precision="float64")
    simulation.set_state(joint_position=[0.15])
    recording = simulation.record(200)
    q, v = recording.joint_position[:, 0, 0], recording.joint_velocity[:, 0, 0]
    back = q[int(np.argmax(v > 0.0)) :].max()
    assert back == pytest.approx(0.15 * restitution**2 * 0.6 / 1.4, rel=2.5e-2)


@pytest.mark.parametrize("precision, tolerance", [("float32", 1e-5), ("float64", 1e-12)])
def test_full_restitution_keeps_the_energy_of_a_ball(precision, tolerance):
    """Between floor and ceiling, for 40 s; kinetic energies are 18 J and more."""
    simulation = simulate(ball(1.0, upper=0.8), gravity=(0, 0, -G), precision=precision)
    simulation.set_state(joint_position=[0.3], joint_velocity=[-6.0])
    recording = simulation.record(9600)
    energy = recording.energy[:, 0].sum(-1)
    assert np.abs(energy - energy[0]).max() <= tolerance * 240
    assert recording.joint_position.min() >= -1e-5 and recording.joint_position.max() <= 0.8 + 1e-5


def test_without_a_middle_full_restitution_runs_the_motion_backwards():
    """Each apex of the semi-implicit step is that before the impact."""
    simulation = simulate(ball(1.0), gravity=(0, 0, -G), precision="float64", integrator="semi_implicit")
    simulation.set_state(joint_position=[1.0])
    q = simulation.record(2400).joint_position[:, 0, 0]
    apexes = [q[k] for k in range(1, 2400) if q[k] >= q[k - 1] and q[k] > q[k + 1]]
    assert len(apexes) >= 9
    np.testing.assert_allclose(apexes, apexes[0], atol=1e-9)


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_a_bouncing_ball_comes_to_rest_without_jitter(integrator):
    """With 0.5 and no threshold the bounces end, on the limit and for good."""
    simulation = simulate(ball(0.5), gravity=(0, 0, -G), integrator=integrator)
    simulation.set_state(joint_position=[0.3], joint_velocity=[-6.0])
    recording = simulation.record(720)
    energy = recording.energy[:, 0].sum(-1)
    assert energy.max() <= energy[0] + 1e-5
    assert np.abs(recording.joint_position[600:]).max() <= 1e-5
    assert np.ptp(recording.joint_position[600:]) <= 1e-30
    assert np.abs(recording.joint_velocity[600:]).max() <= 1e-30


def test_an_impact_below_the_threshold_does_not_come_back():
    """A threshold of 2 m/s stops an impact at 1.9 m/s and returns one at 2.1 m/s."""
    for speed, expected in ((1.9, 0.0), (2.1, 0.5 * 2.1)):
        simulation = simulate(ball(0.5, threshold=2.0))
        simulation.set_state(joint_position=[0.1], joint_velocity=[-speed])
        simulation.step(48)
        np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), [[expected]], rtol=1e-5, atol=1e-7)


def test_a_pendulum_loses_no_energy_at_an_elastic_stop():
    """The gain over ten seconds of impacts is below a hundredth of the kinetic energy, and falls with the step."""
    gains = []
    for dt in (H, H / 4):
        tree = ball(1.0, kind="revolute_y", lower=-0.4, upper=0.4)
        simulation = simulate(tree, gravity=(0, 0, -G), dt=dt, precision="float64")
        simulation.set_state(joint_velocity=[5.0])
        energy = simulation.record(round(10 / dt)).energy[:, 0]
        total = energy.sum(-1)
        gains.append(np.abs(total - total[0]).max() / energy[:, 0].max())
    assert gains[0] <= 1e-2 and gains[1] <= gains[0] / 4


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("restitution", [0.5, 0.9])
def test_a_tree_of_bouncing_joints_gains_no_energy(restitution, solver):
    """A fast chain that rattles between its limits, several joints in a step, never has more than at the start."""
    tree = trees.chain(4)
    tree = trees.with_dofs(tree, limit=Limit(lower=-0.4, upper=0.4, restitution=restitution))
    simulation = simulate(tree, gravity=(0, 0, -G), solver=solver, position_iterations=40)
    simulation.set_state(joint_velocity=[5.0, 0.0, 0.0, 0.0])
    recording = simulation.record(1200)
    energy = recording.energy[:, 0].sum(-1)
    assert energy.max() <= energy[0] * (1 + 1e-5)
    if solver == "direct":
        assert np.abs(recording.joint_position).max() <= 0.4 + 1e-5


def test_an_impact_that_throws_another_joint_onto_its_limit_gives_no_energy():
    """The third joint hits its limit and throws back the second, which is leaving its own."""
    tree = trees.chain(3)
    tree = trees.with_dofs(tree, limit=Limit(lower=-0.4, upper=0.4, restitution=1.0))
    simulation = simulate(tree, gravity=(0, 0, -G), dt=1.0 / 960.0, precision="float64")
    simulation.set_state(joint_position=[0.30269, 0.39884, 0.4], joint_velocity=[3.63671, -14.29412, 33.63007])
    kinetic = simulation.record(2).energy[:, 0, 0]
    assert np.diff(kinetic).max() <= 1e-2 * kinetic[0]


def test_environments_bounce_alike_in_every_batch():
    """Bitwise the same alone in its lane block, among others and in another order."""
    tree = trees.with_dofs(trees.chain(3), limit=Limit(lower=-0.4, upper=0.3, restitution=0.8, bounce_threshold=0.2))
    velocity = np.random.default_rng(2).normal(size=(20, 3)) * 4.0

    def run(order):
        simulation = simulate(tree, gravity=(0, 0, -G), environments=len(order), variant="lanes")
        simulation.set_state(joint_velocity=velocity[order])
        simulation.step(300)
        return simulation.state.joint_position.numpy().T

    whole = run(np.arange(20))
    order = np.random.default_rng(3).permutation(20)[:9]
    np.testing.assert_array_equal(run(order), whole[order])
    np.testing.assert_array_equal(run(np.array([4])), whole[[4]])


SPRINGS = {
    "tendon": lambda tree, k, place: replace(
        tree,
        fixed_tendons=(
            FixedTendon(
                name="t", dofs=(0,), coefficients=(1.0,), force_coefficients=(1.0,), stiffness=k, rest_length=place
            ),
        ),
    ),
    "distance": lambda tree, k, place: with_constraint(
        tree,
        Distance(
            name="/d", link0=WORLD, link1=0, position0=(place - 3, 0, 0), lower=3, upper=3, is_soft=True, stiffness=k
        ),
    ),
    "loop drive": lambda tree, k, place: with_constraint(
        tree,
        LoopJoint(
            name="/l",
            link0=WORLD,
            link1=0,
            free=tuple(Axis),
            drives=((Axis.TRANS_X, Drive(stiffness=k, position_target=place)),),
        ),
    ),
}
"""Springs between a slide and the world that are rows."""


def with_constraint(tree, constraint):
    return replace(tree, constraints=(constraint,))


@pytest.mark.parametrize("spring", SPRINGS)
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize(
    ("k", "place", "rate", "most"),
    [(40.0, -0.2, 240, 0.003), (40.0, -0.2, 60, 0.04), (400.0, -0.2, 240, 0.06), (400.0, 0.1, 240, 0.06)],
)
def test_what_a_spring_pulls_keeps_its_energy_at_a_stop(k, place, rate, most, solver, spring):
    """A slide of 1 kg between its spring and an elastic stop, 3 s.

    The pull of springs that are rows was taken for one that turns round with the velocity: from 3 % to 70 % of the
    energy came or went.
    """
    slide = Link(path="/s/slide", mass=1.0, inertia=(0.01, 0.0, 0.0, 0.01, 0.0, 0.01))
    tree = Articulation(path="/s", links=(slide,), joints=(hinge("/s/x", WORLD, 0, position=0.3, axis=Axis.TRANS_X),))
    tree = SPRINGS[spring](trees.with_dofs(tree, limit=Limit(lower=0.0, upper=10.0, restitution=1.0)), k, place)
    recording = simulate(tree, dt=1.0 / rate, solver=solver, precision="float64").record(3 * rate)
    q, v = recording.joint_position[:, 0, 0], recording.joint_velocity[:, 0, 0]
    energy = 0.5 * v**2 + 0.5 * k * (q - place) ** 2
    assert q.min() > -1e-9
    assert (np.diff(v) > 1.0).sum() > 5
    assert abs(energy[-1] / energy[0] - 1.0) < most


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_friction_slows_a_spring_down_at_a_stop(solver):
    """A slide that a tendon pulls onto an elastic stop against dry friction: energy falls in each step."""
    slide = Link(path="/s/slide", mass=1.0, inertia=(0.01, 0.0, 0.0, 0.01, 0.0, 0.01))
    tree = Articulation(path="/s", links=(slide,), joints=(hinge("/s/x", WORLD, 0, position=0.3, axis=Axis.TRANS_X),))
    friction = Friction(static_effort=2.0, dynamic_effort=2.0)
    tree = trees.with_dofs(tree, limit=Limit(lower=0.0, upper=10.0, restitution=1.0), friction=friction)
    tree = SPRINGS["tendon"](tree, 40.0, -0.2)
    recording = simulate(tree, solver=solver, precision="float64").record(240)
    q, v = recording.joint_position[:, 0, 0], recording.joint_velocity[:, 0, 0]
    energy = 0.5 * v**2 + 20.0 * (q + 0.2) ** 2
    lost = 2.0 * np.abs(np.diff(q)).sum()
    assert (np.diff(energy) < 2e-3 * energy[0]).all()
    assert energy[0] - energy[-1] == pytest.approx(lost, rel=0.05)


@pytest.mark.parametrize("rate", [60, 240])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("pressed", [5.0, 20.0, 60.0])
def test_what_a_tendon_presses_onto_its_stop_bounces_as_one_with_its_arm(pressed, solver, rate):
    """Two rods on one tendon that pulls them onto an elastic stop, and one that presses the elbow onto its own stop.

    The impact was timed with the motion of an elbow without a stop: energy rose tenfold, or no impact came back.
    """
    rods = bar("/c/upper", 1.0, 0.4, 0.02), bar("/c/lower", 1.0, 0.4, 0.02)
    joints = hinge("/c/shoulder", WORLD, 0, position=0.3), hinge("/c/elbow", 0, 1, (0.4, 0.0, 0.0))
    tree = trees.with_dofs(
        Articulation(path="/c", links=rods, joints=joints), limit=Limit(lower=0.0, upper=3.0, restitution=1.0)
    )
    one = {"coefficients": (1.0,), "force_coefficients": (1.0,)}
    pulls = FixedTendon(name="t", dofs=(0,), stiffness=4.0, rest_length=-0.5, **one)
    presses = FixedTendon(name="u", dofs=(1,), stiffness=0.01, rest_length=-pressed / 0.01, **one)
    tree = replace(tree, fixed_tendons=(pulls, presses))
    recording = simulate(tree, dt=1.0 / rate, solver=solver, precision="float64").record(3 * rate)
    kinetic, q = recording.energy[:, 0, 0], recording.joint_position[:, 0]
    energy = kinetic + 2.0 * (q[:, 0] + 0.5) ** 2 + pressed * q[:, 1]
    assert np.abs(q[:, 1]).max() < 1e-9
    assert energy.max() < (1.0 + 5e-3) * energy[0]
    assert energy[-1] > (0.99 if solver == "direct" else 0.8) * energy[0]
