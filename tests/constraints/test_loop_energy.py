"""Mechanisms with loop joints over a minute: energy, gaps, dead centres."""

from dataclasses import replace

import numpy as np
import pytest

from tests import closed_mechanisms as mechanisms
from tests import trees
from tests.constraints.test_loop_joint import bricard, four_bar
from tests.oracles import closures, rigid
from tests.oracles.simulated_state import put
from tests.oracles.state import State
from warp_artic import Simulation, SolverSettings
from warp_artic.description.friction import Friction
from warp_artic.description.limit import Limit
from warp_artic.description.mimic import Mimic
from warp_artic.description.scene import Scene


def simulate(tree, hertz=240, gravity=mechanisms.DOWN, **settings):
    """A simulation that starts with velocities that keep the loops closed."""
    options = SolverSettings(**{"dt": 1.0 / hertz, "precision": "float64", "variant": "scalar"} | settings)
    simulation = Simulation(Scene(articulations=(tree,), gravity=gravity), settings=options)
    put(simulation, closures.tangent(tree, trees.authored_state(tree), tree.constraints))
    return simulation


def recorded(simulation, seconds, hertz=240):
    """Energies (T, 2) [J] and the largest gap [m or rad] of a run."""
    recording = simulation.record(int(seconds * hertz), every=max(hertz // 60, 1))
    (tree,) = simulation.scene.articulations
    gap = 0.0
    for position, velocity in zip(recording.joint_position[::20, 0], recording.joint_velocity[::20, 0]):
        state = State(joint_position=position.astype(float), joint_velocity=velocity.astype(float))
        motion = rigid.motion(tree, state)
        gap = max(gap, *(np.abs(closures.held(motion, loop)[0]).max() for loop in tree.constraints))
    assert not simulation.failures()
    return recording.energy[:, 0].astype(float), gap


MINUTES = {
    "four_bar": (four_bar, 240, 1e-12),
    "bricard": (bricard, 240, 1e-8),
    "slider_crank": (lambda: mechanisms.slider_crank(speed=12.0), 240, 1e-12),
    "balls": (mechanisms.spatial_four_bar, 240, 1e-5),
    "balls_at_960_hertz": (mechanisms.spatial_four_bar, 960, 1e-8),
    "universal": (lambda: mechanisms.spatial_four_bar("universal"), 240, 1e-5),
    "parallelogram": (lambda: mechanisms.parallelogram(speed=6.0), 240, 1e-7),
}
"""Mechanisms, the rate of steps, and what the extremes of the energy differ by in a minute.

Where a mechanism comes to rest a step may be off by more than a tenth of the kinetic energy, which is not all taken.
"""


@pytest.mark.parametrize("name", MINUTES)
def test_energy_and_gaps_over_a_minute(name):
    """Undriven, in double precision; parallelograms pass their flat poses, where they could change branch."""
    make, hertz, most = MINUTES[name]
    energy, gap = recorded(simulate(make(), hertz), 60, hertz)
    assert gap < 1e-12
    assert np.ptp(energy.sum(axis=1)) < most * energy[:, 0].max()


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "universal", "parallelogram"])
def test_gaps_in_single_precision(name):
    """They stay for a minute what rounding of a step leaves."""
    energy, gap = recorded(simulate(MINUTES[name][0](), precision="float32"), 60)
    assert gap < 2e-6
    assert np.isfinite(energy).all()


@pytest.mark.parametrize("turns", [False, True])
def test_a_stop_in_a_loop_throws_back_without_a_gain(turns):
    """Full restitution at a crank, 240 Hz, some 70 impacts under weight alone, or at up to 19 rad/s.

    Impacts were timed with the acceleration without the loop: 15 % of the energy was lost, or it rose seventyfold.
    """
    stops = [Limit(lower=-0.3, upper=0.3, restitution=1.0), None, None]
    parts, _ = recorded(simulate(trees.with_dofs(four_bar(velocity=turns), limit=stops)), 4)
    energy, most = parts.sum(axis=1), parts[:, 0].max()
    assert energy.max() < energy[0] + 2e-3 * most
    assert energy.min() > energy[0] - (0.1 if turns else 0.005) * most


@pytest.mark.parametrize("solver", ["direct", "tgs"])
@pytest.mark.parametrize("restitution", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("stopped", [(0,), (1,), (2,), (0, 2)])
@pytest.mark.parametrize("hertz", [60, 240])
def test_stops_in_a_loop_at_large_steps(hertz, stopped, restitution, solver):
    """A crank that turns by 0.3 rad a step at 60 Hz: energy never grows, limits and loops hold, elastic bounces last.

    What loops tie to a joint that bounces moved with the new velocity all the step: gaps were up to 0.5 m, joints
    10 rad beyond their limits, and the energy rose by half.
    """
    tree = four_bar()
    q = np.array([dof.position for dof in tree.dofs])
    stops = [
        Limit(lower=x - 0.3, upper=x + 0.25, restitution=restitution) if k in stopped else None for k, x in enumerate(q)
    ]
    simulation = simulate(trees.with_dofs(tree, limit=stops), hertz, solver=solver)
    velocity = simulation.state.joint_velocity.numpy()[:, 0]
    simulation.set_state(joint_velocity=velocity * 18.0 / abs(velocity[0]))
    start = simulation.state.energy.numpy().sum()
    recording = simulation.record(10 * hertz)
    energy = recording.energy[:, 0].sum(axis=1)
    assert energy.max() < start + 1e-9
    assert (np.diff(energy) < 0.04).all()
    assert np.abs(recording.loop_error).max() < 2e-5
    turned = recording.joint_position[:, 0] - q
    assert all(-0.3 - 1e-9 < turned[:, k].min() and turned[:, k].max() < 0.25 + 1e-9 for k in stopped)
    if restitution == 1.0 and hertz == 240:
        assert energy.min() > start - (1e-4 if solver == "direct" else 0.1)


@pytest.mark.parametrize("restitution", [1.0, 0.0])
@pytest.mark.parametrize("variant", ["scalar", "lanes"])
def test_a_stop_with_one_end_in_a_loop(variant, restitution):
    """A crank without a lower limit: nothing but the upper one holds it."""
    tree = four_bar()
    q = tree.dofs[0].position
    stops = [Limit(lower=-np.inf, upper=q + 0.25, restitution=restitution), None, None]
    simulation = simulate(trees.with_dofs(tree, limit=stops), variant=variant)
    start = simulation.state.energy.numpy().sum()
    recording = simulation.record(480)
    assert not simulation.failures()
    assert np.abs(recording.loop_error).max() < 2e-5
    assert recording.energy[:, 0].sum(axis=1).max() < start + 1e-9
    assert recording.joint_position[:, 0, 0].max() < q + 0.25 + 1e-9


@pytest.mark.parametrize("solver", ["direct", "tgs"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("stop", [None, Limit(lower=-0.5, upper=1.2, restitution=1.0)])
def test_mimic_joints_in_a_loop_that_says_the_same(stop, precision, solver):
    """A parallelogram whose cranks a gear ties, too, through flat poses, where rows of the loop say next to nothing.

    These came first, and the gear was held against what rounding had left of it: the energy rose to 1e3 J, with
    stops beyond all numbers.
    """
    tree = trees.with_dofs(mechanisms.parallelogram(speed=3.0), limit=[stop, None, None])
    tree = replace(tree, mimics=(Mimic(name="/p/gear", dofs=(0, 2), gears=(1.0, -1.0)),))
    options = SolverSettings(dt=1.0 / 240.0, precision=precision, variant="scalar", solver=solver)
    simulation = Simulation(Scene(articulations=(tree,), gravity=mechanisms.DOWN), settings=options)
    recording = simulation.record(2400)
    energy = recording.energy[:, 0].astype(float).sum(axis=1)
    assert np.abs(energy - energy[0]).max() < 5e-3 * energy[0]
    assert np.abs(recording.loop_error).max() < (1e-12 if precision == "float64" else 2e-6)


@pytest.mark.parametrize("solver", ["direct", "tgs"])
@pytest.mark.parametrize("ratio", [None, 0.5, 2.0])
def test_what_a_mimic_joint_ties_in_a_loop_keeps_its_energy(ratio, solver):
    """Elastic stops at 60 Hz: a parallelogram with a gear that says the same, and five bars with a ratio of the cranks.

    Each impact misses a little, which nothing took back: 5 % in 10 s.
    """
    if ratio is None:
        tree, gears, stop = mechanisms.parallelogram(speed=3.0), (1.0, -1.0), Limit(lower=-0.5, upper=1.2)
        mimic = Mimic(name="/p/gear", dofs=(0, 2), gears=gears)
    else:
        tree, gears, stop = mechanisms.five_bar(), (1.0, -ratio), Limit(lower=1.7, upper=2.5)
        offset = -float(np.dot(gears, [tree.dofs[k].position for k in (0, 3)]))
        mimic = Mimic(name="/f/gear", dofs=(0, 3), gears=gears, offset=offset)
    stops = [replace(stop, restitution=1.0), *[None] * (len(tree.dofs) - 1)]
    tree = replace(trees.with_dofs(tree, limit=stops), mimics=(mimic,))
    options = SolverSettings(dt=1.0 / 60.0, precision="float64", variant="scalar", solver=solver)
    recording = Simulation(Scene(articulations=(tree,), gravity=mechanisms.DOWN), settings=options).record(600)
    energy = recording.energy[1:, 0].astype(float)
    total = energy.sum(axis=1)
    v = recording.joint_velocity[:, 0, 0]
    assert (v[1:] * v[:-1] < 0.0).sum() > 10
    assert np.abs(total - total[0]).max() < 2e-3 * energy[:, 0].max()
    assert np.abs(recording.loop_error).max() < 1e-6 and np.abs(recording.mimic_error).max() < 1e-12


def test_drag_that_is_next_to_nothing_changes_nothing():
    """Drives and viscous friction are no reason to expect other velocities of a closed loop than efforts are."""
    pushed, dragged = simulate(four_bar()), simulate(trees.with_dofs(four_bar(), friction=Friction(viscous=1e-12)))
    pushed.control.joint_effort.assign(np.full((3, 1), 1e-12))
    energies = [recorded(simulation, 10)[0].sum(axis=1) for simulation in (pushed, dragged)]
    np.testing.assert_allclose(energies[1], energies[0], atol=1e-6)


@pytest.mark.parametrize("hertz", [120, 240, 960])
@pytest.mark.parametrize("rod", [0.3, 0.301, 0.4])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_slider_cranks_pass_their_dead_centres(precision, rod, hertz):
    """A crank of 0.3 m that turns or swings: with a rod as long, whose rows are singular, and longer ones."""
    tree = mechanisms.slider_crank(crank=0.3, rod=rod, speed=8.0)
    energy, gap = recorded(simulate(tree, hertz, precision=precision), 10, hertz)
    total = energy.sum(axis=1)
    assert gap < (1e-12 if precision == "float64" else 2e-6) if rod != 0.301 else gap < 1e-3
    assert total.max() - total[0] < 0.02 * energy[:, 0].max()


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_what_is_at_rest_stays_at_rest(precision):
    """There is no kinetic energy to be scaled: without gravity, and hanging with it, as far as forces are rounded."""
    hanging = mechanisms.parallelogram(angle=-0.5 * np.pi, speed=0.0)
    for gravity, most in (((0.0, 0.0, 0.0), 0.0), (mechanisms.DOWN, 1e-12 if precision == "float64" else 1e-4)):
        recording = simulate(hanging, gravity=gravity, precision=precision).record(480)
        assert np.abs(recording.joint_velocity).max() <= most


def test_a_kick_by_which_loops_are_opened_is_lost():
    """Velocities that do not keep loops closed: what is taken of them in the first step is not given back."""
    tree = four_bar()
    simulation = simulate(tree)
    kicked = simulation.state.joint_velocity.numpy()[:, 0] + np.array([0.0, 20.0, 0.0])
    simulation.set_state(joint_velocity=kicked)
    before = simulation.state.energy.numpy().sum()
    simulation.step()
    after = simulation.state.energy.numpy().sum()
    assert after < 0.9 * before
    simulation.step(240)
    np.testing.assert_allclose(simulation.state.energy.numpy().sum(), after, rtol=1e-12)


def test_a_flat_parallelogram_swings_through():
    """Without gravity, from flat: the cranks turn evenly, and stay parallel."""
    tree = mechanisms.parallelogram(angle=0.0, speed=3.0)
    simulation = simulate(tree, gravity=(0.0, 0.0, 0.0))
    recording = simulation.record(2400)
    q = recording.joint_position[:, 0]
    np.testing.assert_allclose(np.cos(q[:, 0] - q[:, 2]), 1.0, atol=1e-9)
    np.testing.assert_allclose(recording.joint_velocity[:, 0, 0], 3.0, atol=1e-6)


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize(("off", "precision", "most"), [(1e-8, "float64", 1e-7), (0.0, "float32", 1e-4)])
def test_coupled_cranks_swing_through_their_flat_poses(count, off, precision, most):
    """Of which all but one are redundant, as their places are rounded on a stage: as the pendulum that they are."""
    for angle in (0.903, 0.909, 0.921, 0.924):
        simulation = simulate(mechanisms.coupled_cranks(count, angle, off), precision=precision)
        recording = simulation.record(720)
        energy = recording.energy[:, 0].astype(float)
        assert np.ptp(energy.sum(axis=1)) < most * energy[:, 0].max()
        assert np.abs(np.diff(np.unwrap(recording.joint_position[:, 0, 0]))).max() < 0.05
        assert recording.joint_position[:, 0, 0].min() < -3.5


@pytest.mark.parametrize("angle", [0.9, 0.909, 0.915, 0.921])
@pytest.mark.parametrize("count", [3, 5])
def test_coupled_cranks_that_are_caught_gain_no_energy(count, angle):
    """Places that are wrong by a micrometre may stop them where they are flat, and make no energy there."""
    recording = simulate(mechanisms.coupled_cranks(count, angle, 1e-6)).record(720)
    energy = recording.energy[:, 0].astype(float)
    total = energy.sum(axis=1)
    assert total.max() - total[0] < 1e-5 * energy[:, 0].max()


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("ratio", [1e3, 1e4, 1e5])
def test_a_heavy_rocker_drives_a_light_crank_through_its_dead_centres(ratio, precision):
    """They turn its speed round within a step, which may cost energy, and makes none."""
    tree = four_bar()
    masses = (20.0 / ratio, 0.5, 20.0)
    links = tuple(
        mechanisms.bar(link.path, mass, 2.0 * link.center_of_mass[0]) for link, mass in zip(tree.links, masses)
    )
    energy, gap = recorded(simulate(trees.replace(tree, links=links), precision=precision), 20)
    total = energy.sum(axis=1)
    assert total.max() - total[0] < 0.02 * energy[:, 0].max()
    assert gap < 1e-4
