"""The direct solver: the answer that Gauss-Seidel converges to, and problems that it does not converge on."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.limit import Limit
from warp_artic.description.mimic import Mimic


def simulate(tree, solver="direct", environments=1, gravity=rigid.GRAVITY, **settings):
    options = SolverSettings(**{"dt": 1 / 240, "solver": solver, **settings})
    return Simulation(trees.scene(tree, gravity=gravity), environments=environments, settings=options)


@pytest.mark.parametrize("seed", range(8))
def test_a_step_equals_a_converged_gauss_seidel_step(seed):
    """Random trees with limits, friction, velocity limits and saturating drives, all at work."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 9, floating=bool(seed % 2), kinds=("revolute_x", "revolute_z", "prismatic_y"))
    state = trees.random_state(rng, tree, speed=2.0)
    count = len(tree.dofs)
    tree = trees.with_dofs(
        tree,
        limit=[
            Limit(lower=float(q) - 2e-3, upper=float(q) + 2e-3) if k % 3 == 0 else None
            for k, q in enumerate(state.joint_position)
        ],
        friction=[Friction(static_effort=1.0, dynamic_effort=1.0) if k % 3 == 1 else None for k in range(count)],
        velocity_limit=[0.5 if k % 4 == 2 else np.inf for k in range(count)],
        drive=[Drive(stiffness=200.0, damping=2.0, max_force=4.0) if k % 3 == 2 else None for k in range(count)],
    )
    root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
    found = []
    for solver, iterations in (("pgs", 5000), ("direct", 1)):
        simulation = simulate(tree, solver, precision="float64", position_iterations=iterations)
        simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
        simulation.step()
        found.append(simulation.state.joint_velocity.numpy()[:, 0])
    np.testing.assert_allclose(found[1], found[0], atol=1e-7)


def test_a_hard_mimic_under_load_holds():
    """Below 1e-6 rad in float32, with a load of 0.65 N m."""
    tree = trees.replace(trees.chain(2), mimics=(Mimic(name="m", dofs=(1, 0), gears=(1.0, -1.0)),))
    simulation = simulate(tree)
    simulation.control.joint_effort.assign(np.array([[0.0], [0.65]]))
    simulation.step(480)
    q = simulation.state.joint_position.numpy()[:, 0]
    assert abs(q[1] - q[0]) <= 1e-6


def test_redundant_rows_share_their_impulse():
    """The same mimic three times moves as it does once."""
    mimics = tuple(Mimic(name=f"m{k}", dofs=(1, 0), gears=(1.0, -2.0)) for k in range(3))
    paths = []
    for copies in (1, 3):
        tree = trees.replace(trees.chain(3), mimics=mimics[:copies])
        simulation = simulate(tree)
        simulation.set_state(joint_position=[0.3, 0.6, 0.2])
        paths.append(simulation.record(240).joint_position[:, 0])
    assert np.isfinite(paths[1]).all()
    np.testing.assert_allclose(paths[1], paths[0], atol=1e-3)


@pytest.mark.parametrize(
    ("ratio", "precision", "tolerance"), [(1000.0, "float64", 1e-8), (10.0, "float64", 1e-8), (10.0, "float32", 2e-3)]
)
def test_a_heavy_tip_on_a_chain_of_stops(ratio, precision, tolerance):
    """Twelve links on stops, the last one up to a thousand times heavier: every stop holds."""
    tree = trees.with_dofs(trees.chain(12, length=0.1), limit=Limit(lower=-0.1, upper=0.1))
    tip = 1e-3 * ratio
    heavy = trees.replace(tree.links[-1], mass=ratio, inertia=(tip, 0, 0, tip, 0, tip))
    simulation = simulate(
        trees.replace(tree, links=(*tree.links[:-1], heavy)),
        gravity=(9.81, 0, 0),
        dt=1 / 60,
        precision=precision,
        integrator="semi_implicit",
    )
    assert np.abs(simulation.record(240).joint_position).max() <= 0.1 + tolerance


def test_velocity_limits_hold_exactly():
    """A falling chain turns no faster than its velocity limits, to rounding."""
    tree = trees.with_dofs(trees.chain(3), velocity_limit=1.5)
    recording = simulate(tree, gravity=(9.81, 0, 0)).record(480)
    assert np.abs(recording.joint_velocity).max() <= 1.5 * (1 + 1e-5)
    assert np.abs(recording.joint_velocity).max() > 1.49


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_results_do_not_depend_on_the_batch(integrator):
    """Bitwise equal alone and among 33, on lanes, with limits, friction, mimics and saturated drives."""
    tree = trees.with_dofs(
        trees.random_articulation(5, 9, floating=False),
        drive=Drive(stiffness=100.0, damping=1.0, position_target=1.0, max_force=3.0),
        limit=Limit(lower=-0.4, upper=0.4),
        friction=Friction(static_effort=0.3, dynamic_effort=0.1),
    )
    tree = trees.replace(tree, mimics=(Mimic(name="m", dofs=(0, 1), gears=(1.0, 0.5)),))
    found = []
    for environments in (1, 33):
        simulation = simulate(tree, environments=environments, variant="lanes", integrator=integrator)
        if environments > 1:
            speeds = np.random.default_rng(0).normal(size=(environments, len(tree.dofs)))
            speeds[20] = 0.0
            simulation.set_state(joint_velocity=speeds)
        simulation.step(100)
        found.append(simulation.state.joint_position.numpy()[:, 20 if environments > 1 else 0].copy())
    np.testing.assert_array_equal(found[0], found[1])
