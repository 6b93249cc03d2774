"""Drives: the implicit law, its bound, and acceleration drives."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.oracles import rigid
from tests.oracles.dense_step import DenseStep, assert_steps, single_shares
from tests.oracles.simulated_state import put, state_of
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive, DriveKind

H = 1.0 / 240.0


def slider(mass=2.0, **dof):
    """One link on a prismatic joint along x."""
    return trees.with_dofs(trees.chain(1, "prismatic_x", mass=mass), **dof)


simulate = partial(simulations.simulate, gravity=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("damping", [10.0, 1e3])
def test_a_stiff_drive_takes_a_step_of_its_law(damping):
    """One step of kp = 1e6 equals the law by hand, and 10 s of it stay put."""
    mass, stiffness, q, v, target = 2.0, 1e6, 0.3, -1.0, 0.5
    drive = Drive(stiffness=stiffness, damping=damping, position_target=target)
    simulation = simulate(slider(mass, drive=drive))
    simulation.set_state(joint_position=[q], joint_velocity=[v])
    simulation.step()
    theta, reach = single_shares(stiffness, damping, mass, H)
    resistance = damping + reach * H * stiffness
    momentum = (mass - H * (1.0 - theta) * resistance) * v + H * stiffness * (target - q)
    expected = momentum / (mass + H * theta * resistance)
    moved = H * ((1.0 - theta) * v + theta * expected)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), [[expected]], rtol=1e-5)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), [[q + moved]], rtol=1e-5)
    simulation.step(2400)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), [[target]], atol=1e-5)


@pytest.mark.parametrize("damping", [10.0, 1e3])
def test_stiff_drives_hold_a_falling_chain(damping):
    """kp = 1e6 on every joint of a six-link chain is stable at 1/240 and sags as statics say."""
    chain = trees.with_dofs(trees.chain(6), drive=Drive(stiffness=1e6, damping=damping))
    simulation = simulate(chain, gravity=(0, 0, -9.81))
    simulation.step(2400)
    state = trees.authored_state(chain)
    effort = rigid.gravity_effort(rigid.motion(chain, state))
    np.testing.assert_allclose(simulation.state.joint_position.numpy()[:, 0], effort / 1e6, rtol=2e-2, atol=1e-7)


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("seed", range(6))
def test_random_trees_step_as_the_dense_law_says(seed, integrator):
    """The first steps of trees with all joint types and drives on two dofs of three, velocities and positions."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 9, floating=bool(seed % 2))
    k, d = rng.uniform(0, 300, (2, len(tree.dofs)))
    k[::3] = d[::3] = 0.0
    target, rate = rng.normal(size=(2, len(tree.dofs)))
    drives = [
        Drive(
            stiffness=float(k[i]), damping=float(d[i]), position_target=float(target[i]), velocity_target=float(rate[i])
        )
        for i in range(len(k))
    ]
    tree = trees.with_dofs(tree, drive=drives)
    simulation = simulate(tree, gravity=rigid.GRAVITY, precision="float64", integrator=integrator)
    put(simulation, trees.random_state(rng, tree))
    law = DenseStep(tree, H, integrator, stiffness=k, damping=d, bias=k * target + d * rate, target=target)
    assert_steps(simulation, law, tolerance=1e-9)


@pytest.mark.parametrize("stiffness", [1e2, 1e5, 1e8])
def test_max_force_bounds_the_whole_reaction(stiffness):
    """A drive far from its target accelerates its dof by the maximum force, however stiff it is."""
    drive = Drive(stiffness=stiffness, damping=stiffness * 0.01, position_target=100.0, max_force=3.0)
    simulation = simulate(slider(2.0, drive=drive))
    simulation.step(24)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), [[3.0 / 2.0 * 0.1]], rtol=2e-5)


def efforts(tree, before, after, acceleration, integrator, h, change=0.0):
    """What acts on the dofs in a step of h beside gravity and velocities."""
    v = rigid.velocity(tree, before)
    most = 0.5 * np.abs(acceleration)
    ahead = v + h * (0.5 * acceleration + 0.375 * np.clip(change, -most, most)) if integrator == "midpoint" else v
    placed = DenseStep(tree, h, integrator).place(before, ahead)
    passive = rigid.coriolis_effort(placed) + rigid.gravity_effort(placed)
    return (rigid.mass_matrix(placed) @ (rigid.velocity(tree, after) - v) / h + passive)[rigid.base_count(tree) :]


@pytest.mark.parametrize("solver", ["direct", "pgs"])
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_a_saturated_drive_in_a_tree_applies_its_maximum_force(integrator, solver):
    """The first step of a tree has clamp(law, max); no later one has more than max.

    In longer steps it turns so far that its momenta are restored, which these efforts know nothing of.
    """
    h = H / 8.0
    rng = np.random.default_rng(5)
    tree = trees.random_articulation(rng, 8, floating=True, kinds=("revolute_x", "revolute_y", "prismatic_z"))
    target = rng.normal(size=len(tree.dofs))
    drives = [Drive(stiffness=1e4, damping=10.0, position_target=float(q), max_force=5.0) for q in target]
    tree = trees.with_dofs(tree, drive=drives)
    options = SolverSettings(dt=h, precision="float64", integrator=integrator, solver=solver, position_iterations=200)
    simulation = Simulation(trees.scene(tree), settings=options)
    put(simulation, trees.random_state(rng, tree, speed=0.1))
    path = [state_of(simulation)]
    for _ in range(20):
        simulation.step()
        path.append(state_of(simulation))
    found = efforts(tree, path[0], path[1], 0.0, integrator, h)
    stiffness, damping = (np.where(np.abs(found) > 5.0 - 1e-6, 0.0, value) for value in (1e4, 10.0))
    law = DenseStep(tree, h, integrator, stiffness=stiffness, damping=damping)
    M = rigid.mass_matrix(law.place(path[0], rigid.velocity(tree, path[0])))
    theta, reach = (share[rigid.base_count(tree) :] for share in law.pivot_shares(M, h)[:2])
    w = (1.0 - theta) * path[0].joint_velocity + theta * path[1].joint_velocity
    wanted = 1e4 * (target - path[0].joint_position - reach * h * w) - 10.0 * w
    assert (np.abs(wanted) > 5.0).sum() >= 3
    np.testing.assert_allclose(found, np.clip(wanted, -5.0, 5.0), atol=1e-6)
    speeds = [rigid.velocity(tree, state) for state in path]
    rates = np.diff(speeds, axis=0) / h
    for k in range(3, 20):
        found = efforts(tree, path[k], path[k + 1], rates[k - 1], integrator, h, rates[k - 1] - rates[k - 2])
        assert np.abs(found).max() == pytest.approx(5.0, abs=1e-6)


def test_acceleration_drives_do_not_depend_on_mass():
    """The same acceleration drive moves light and heavy links alike, with armature and in a tree."""
    drive = Drive(kind=DriveKind.ACCELERATION, stiffness=100.0, damping=4.0, position_target=1.0)
    paths = []
    for mass in (0.01, 1.0, 500.0):
        simulation = simulate(slider(mass, drive=drive))
        paths.append(simulation.record(120).joint_position[:, 0, 0])
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-5)
    np.testing.assert_allclose(paths[2], paths[1], atol=1e-5)
    theta, reach = single_shares(100.0, 4.0, 1.0, H)
    v = (100.0 * H) / (1.0 + H * theta * (4.0 + reach * H * 100.0))
    np.testing.assert_allclose(paths[1][1], theta * H * v, rtol=1e-5)


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_acceleration_drives_use_the_effective_inertia_of_their_dof(integrator):
    """In a tree the gains are multiplied by 1 / (M^-1)_ii, M with armature, where forces are evaluated."""
    rng = np.random.default_rng(8)
    tree = trees.random_articulation(rng, 6, floating=False, kinds=("revolute_x", "revolute_y"))
    drives = [Drive(kind=DriveKind.ACCELERATION, stiffness=50.0, damping=2.0, position_target=0.3)]
    tree = trees.with_dofs(tree, drive=[*drives, *[None] * (len(tree.dofs) - 1)])
    simulation = simulate(tree, gravity=rigid.GRAVITY, precision="float64", integrator=integrator)
    put(simulation, trees.random_state(rng, tree))
    law = DenseStep(tree, H, integrator)
    for _ in range(3):
        state = state_of(simulation)
        inertia = 1.0 / np.linalg.inv(rigid.mass_matrix(law.place(state, state.joint_velocity)))[0, 0]
        law.k[0], law.d[0], law.bias[0] = inertia * 50.0, inertia * 2.0, inertia * 50.0 * 0.3
        assert_steps(simulation, law, steps=1, tolerance=1e-9)


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_max_impulse_bounds_what_a_drive_gives_in_a_step(solver):
    """A drive far from its target changes the momentum by its largest impulse in each step, whatever the step is."""
    for dt in (H, H / 3):
        drive = Drive(stiffness=1e6, damping=1e4, position_target=100.0, max_impulse=0.02)
        scene = trees.scene(slider(2.0, drive=drive), gravity=(0, 0, 0))
        simulation = Simulation(scene, settings=SolverSettings(dt=dt, solver=solver))
        velocity = simulation.record(10).joint_velocity[:, 0, 0]
        np.testing.assert_allclose(np.diff(velocity), 0.02 / 2.0, rtol=1e-4)
        assert simulation.scene.articulations[0].dofs[0].drive.max_impulse == 0.02


@pytest.mark.parametrize("precision, environments, rate", [("float32", 9, 60), ("float64", 1, 240), ("float64", 9, 30)])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("links", [1, 3])
def test_a_new_target_lifts_what_hangs_at_rest(links, solver, precision, environments, rate):
    """A chain of rods goes to where springs and weights balance, and has never more energy than at first.

    Its first step turns it by more than 0.2 rad. What it took to lift it was taken for more than there was, though the
    drives give it: it stayed where it was for ever.
    """
    stiffness, target = 500.0, 2.0
    chain = trees.chain(links, length=0.3, mass=0.4)
    chain = trees.with_dofs(chain, drive=Drive(stiffness=stiffness, damping=5.0))
    settings = {"solver": solver, "precision": precision, "dt": 1 / rate}
    simulation = simulate(chain, environments, gravity=(0.0, 0.0, -9.81), **settings)
    simulation.step(5)
    simulation.control.drive_position_target.fill_(target)
    recording = simulation.record(2 * rate)
    away = target - recording.joint_position[:, 0].astype(float)
    energy = recording.energy[:, 0].astype(float).sum(axis=1) + 0.5 * stiffness * (away**2).sum(axis=1)
    assert np.diff(energy).max() < 1e-6 * energy[0]
    end = replace(trees.authored_state(chain), joint_position=target - away[-1])
    effort = rigid.gravity_effort(rigid.motion(chain, end))
    np.testing.assert_allclose(stiffness * away[-1], effort, atol=1e-3 if precision == "float32" else 1e-9)


@pytest.mark.parametrize("damping", [0.0, 2.0, 10.0])
@pytest.mark.parametrize("stiffness", [50.0, 1e4])
def test_drives_that_steps_do_not_resolve_give_no_energy(stiffness, damping):
    """Chains of two and three that these throw about at 60 Hz: they arrive, or go on moving."""
    for links in (2, 3):
        chain = trees.with_dofs(
            trees.chain(links, length=0.3, mass=0.4), drive=Drive(stiffness=stiffness, damping=damping)
        )
        simulation = simulate(chain, gravity=(0.0, 0.0, -9.81), precision="float64", dt=1 / 60)
        simulation.step(5)
        simulation.control.drive_position_target.fill_(3.0)
        recording = simulation.record(120)
        away = 3.0 - recording.joint_position[:, 0]
        energy = recording.energy[:, 0].sum(axis=1) + 0.5 * stiffness * (away**2).sum(axis=1)
        assert energy.max() < 1.1 * energy[0]
        assert (np.abs(away[-1]) < 1e-2).all() or np.ptp(recording.joint_position[-5:, 0], axis=0).max() > 1e-3
