"""Two families at once on joints with several rotations, against dense matrices, and for energy over a minute."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.constraints import test_fixed_tendon
from tests.constraints.test_soft_rotation_limits import limit_springs, passing_limits
from tests.oracles import dense_step, rigid, simulated_state
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.limit import Limit
from warp_artic.description.tendon import FixedTendon
from warp_artic.model.force_parts import PART_NAMES

H = 1.0 / 240.0
KINDS = ("spherical", "zero_twist", "universal_xy", "revolute_x")

simulate = partial(simulations.simulate, precision="float64")


def with_drives(rng, tree, **bound):
    """Drives on all dofs, towards random targets, and their gains and targets."""
    k, d = rng.uniform(1.0, 10.0, len(tree.dofs)), rng.uniform(0.1, 0.5, len(tree.dofs))
    target = rng.uniform(-0.8, 0.8, len(tree.dofs))
    drives = [
        Drive(stiffness=float(a), damping=float(b), position_target=float(c), **bound) for a, b, c in zip(k, d, target)
    ]
    return trees.with_dofs(tree, drive=drives), k, d, target


@pytest.mark.parametrize(
    "integrator, solver", [("midpoint", "direct"), ("semi_implicit", "direct"), ("midpoint", "pgs")]
)
@pytest.mark.parametrize("seed", range(6))
def test_soft_limits_beside_drives_and_a_tendon_follow_the_law(seed, integrator, solver):
    """Springs of limits that are passed, drives of several rotations and a tendon over the dofs of these joints."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 6, floating=seed % 2 == 1, kinds=KINDS)
    state = trees.random_state(rng, tree, speed=0.3)
    tree = passing_limits(rng, tree, state)
    tree, k, d, target = with_drives(rng, tree)
    tendon = test_fixed_tendon.random_tendon(rng, tree, stiffness=10.0, damping=0.3)
    tree = replace(tree, fixed_tendons=(tendon,))

    def elements(state, placed, share):
        passed = limit_springs(tree, state, H if integrator == "midpoint" else 0.0)
        return passed + list(test_fixed_tendon.springs(tree, tendon, state, share, integrator))

    settings = {"position_iterations": 400} if solver == "pgs" else {}
    simulation = simulate(tree, integrator=integrator, solver=solver, **settings)
    simulated_state.put(simulation, state)
    law = dense_step.DenseStep(
        tree, H, integrator, stiffness=k, damping=d, bias=k * target, target=target, elements=elements
    )
    dense_step.assert_steps(simulation, law, tolerance=1e-7)


FREER = ("spherical", "zero_twist", "universal_xz", "slide_ball", "slide_universal")


def crowded_joints(seed):
    """Trees of joints with several rotations; on all dofs weak drives, dry friction and largest velocities."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 5, floating=seed % 2 == 1, kinds=FREER)
    tree, *_ = with_drives(rng, tree, max_force=0.4)
    friction = Friction(static_effort=0.3, dynamic_effort=0.2, viscous=0.05)
    tree = trees.with_dofs(tree, friction=friction, velocity_limit=1.5)
    return rng, tree


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize(("precision", "environments"), [("float64", 1), ("float32", 16)])
@pytest.mark.parametrize("seed", range(3))
def test_each_law_holds_beside_the_others(seed, precision, environments, solver):
    """Bounds of drives and friction, largest velocities, friction that never drives, and Newton's law of the sum."""
    rng, tree = crowded_joints(seed)
    sweeps = (
        {} if solver == "direct" else {"position_iterations": 100 if solver == "pgs" else 4, "velocity_iterations": 4}
    )
    options = SolverSettings(dt=H, precision=precision, solver=solver, **sweeps)
    simulation = Simulation(trees.scene(tree, gravity=rigid.GRAVITY), environments=environments, settings=options)
    simulated_state.put(simulation, trees.random_state(rng, tree, speed=0.5))
    recording = simulation.record(120, forces=True)
    assert not simulation.failures()
    rounding = 1e-9 if precision == "float64" else 1e-6
    missed = 1e-8 if solver != "tgs" else 5e-4  # what sweeps of a substep leave
    drive, friction = recording.joint_drive_force[1:, 0], recording.joint_friction_force[1:, 0]
    v = recording.joint_velocity[1:, 0].astype(float)
    assert np.abs(drive).max() <= 0.4 * (1.0 + rounding) and (np.abs(drive) > 0.399).mean() > 0.1
    assert np.abs(v).max() <= 1.5 * (1.0 + missed) and (np.abs(v) > 1.499).mean() > 0.02
    assert np.abs(friction).max() <= 0.3 + 0.05 * 1.5 + rounding
    if solver != "tgs":  # whose friction is the mean of that of substeps
        slides = np.abs(v) > 1e-3
        assert (friction * v)[slides].max() < 0.0
    parts = [getattr(recording, f"joint_{name}_force")[1:, 0].astype(float) for name in PART_NAMES]
    most = max(np.abs(part).max() for part in parts)
    assert np.abs(sum(parts)).max() < (1e-11 if precision == "float64" else 2e-4) * most


@pytest.mark.parametrize(("precision", "variant"), [("float64", "scalar"), ("float32", "lanes")])
@pytest.mark.parametrize("solver", ["direct", "tgs"])
def test_a_tendon_on_limited_universal_joints_keeps_its_energy(solver, precision, variant):
    """An undamped spring over both angles of two universal joints between soft undamped stops, for a minute."""
    tree = trees.chain(2, "universal_xy")
    links = tuple(replace(link, inertia=(0.02, 0.0, 0.0, 0.03, 0.0, 0.03)) for link in tree.links)
    tree = trees.with_dofs(replace(tree, links=links), limit=Limit(lower=-0.6, upper=0.6, stiffness=20.0))
    weights = (1.0, -0.5, 0.7, 1.2)
    tendon = FixedTendon(
        name="t", dofs=(0, 1, 2, 3), coefficients=weights, force_coefficients=weights, stiffness=8.0, rest_length=0.2
    )
    tree = replace(tree, fixed_tendons=(tendon,))
    simulation = simulate(tree, dt=1 / 480, solver=solver, precision=precision, variant=variant)
    simulation.set_state(joint_position=[0.4, -0.2, 0.3, 0.1], joint_velocity=[0.5, 1.0, -1.0, 0.3])
    recording = simulation.record(28800, every=16)
    q = recording.joint_position[:, 0].astype(float)
    beyond = np.maximum(np.abs(q) - 0.6, 0.0)
    springs = 10.0 * (beyond**2).sum(axis=1) + 4.0 * (q @ weights - 0.2) ** 2
    energy = recording.energy[:, 0].astype(float).sum(axis=1) + springs
    assert (beyond > 0.05).mean() > 0.02
    assert np.abs(energy - energy[0]).max() < 0.02 * (recording.energy[:, 0, 0].max() + springs.max())


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_driven_joints_with_several_rotations_fall_asleep_where_they_rest(solver):
    """With drives, friction and largest velocities: asleep they stay bitwise, and a new target wakes them."""
    rng, tree = crowded_joints(2)
    tree = trees.with_dofs(tree, drive=Drive(stiffness=400.0, damping=40.0, position_target=0.2), friction=None)
    simulation = simulate(tree, solver=solver, sleep_after=0.4)
    simulated_state.put(simulation, trees.random_state(rng, tree, speed=0.5))
    simulation.step(4800)
    before = simulation.state.joint_position.numpy().copy()
    assert simulation.asleep().all()
    simulation.step(100)
    np.testing.assert_array_equal(simulation.state.joint_position.numpy(), before)
    simulation.control.drive_position_target.fill_(0.4)
    simulation.step(480)
    assert np.abs(simulation.state.joint_position.numpy() - before).max() > 0.1
