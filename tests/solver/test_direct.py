"""The direct solver: the answer that Gauss-Seidel converges to, and problems that it does not converge on."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from tests.oracles.least_distance import stepped
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.limit import Limit
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon

ALONG_X = (9.81, 0.0, 0.0)
STOPS = Limit(lower=-0.1, upper=0.1)
MASSES = {
    "light to heavy": np.geomspace(1.0, 1000.0, 12),
    "heavy to light": np.geomspace(1000.0, 1.0, 12),
    "heavy tip": np.array([1.0] * 11 + [1000.0]),
    "in turns": np.array([1.0, 1000.0] * 6),
}
"""Masses of the links of chains, from the root on [kg]."""


def simulate(tree, solver="direct", environments=1, gravity=rigid.GRAVITY, **settings):
    options = SolverSettings(**{"dt": 1 / 240, "solver": solver, **settings})
    return Simulation(trees.scene(tree, gravity=gravity), environments=environments, settings=options)


def chain(masses, **dofs):
    """Rods of 0.1 m and the given masses; fields of all dofs."""
    tree = trees.chain(len(masses), length=0.1)
    links = [
        trees.replace(link, mass=float(mass), inertia=tuple(mass * entry for entry in link.inertia))
        for link, mass in zip(tree.links, masses)
    ]
    return trees.with_dofs(trees.replace(tree, links=tuple(links)), **dofs)


def with_mimics(tree, gear=-1.0, every=1):
    """q_k + gear q_(k+1) = 0 along a chain."""
    pairs = range(0, len(tree.dofs) - 1, every)
    return trees.replace(tree, mimics=tuple(Mimic(name=f"m{k}", dofs=(k, k + 1), gears=(1.0, gear)) for k in pairs))


def with_tendons(tree, stiffness, every=1):
    """Springs on q_k - q_(k+1) along a chain."""
    tendons = (
        FixedTendon(
            name=f"t{k}",
            dofs=(k, k + 1),
            coefficients=(1.0, -1.0),
            force_coefficients=(1.0, -1.0),
            stiffness=stiffness,
        )
        for k in range(0, len(tree.dofs) - 1, every)
    )
    return trees.replace(tree, fixed_tendons=tuple(tendons))


def assert_follows_reference(tree, steps=120, tolerance=0.01):
    """In single precision within a share of the motion of a reference in double precision; returns our positions."""
    q, v, path = np.zeros(len(tree.dofs)), np.zeros(len(tree.dofs)), []
    for _ in range(steps):
        q, v = stepped(tree, q, v, 1 / 60, ALONG_X)
        path.append(q)
    simulation = simulate(tree, gravity=ALONG_X, dt=1 / 60, integrator="semi_implicit")
    found = simulation.record(steps).joint_position[1:, 0]
    np.testing.assert_allclose(found, path, rtol=0.0, atol=tolerance * np.abs(path).max())
    return found


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


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("masses", MASSES.values(), ids=MASSES)
def test_stops_hold_at_a_mass_ratio_of_a_thousand(masses, integrator):
    """A chain of twelve links falls into its stops and rests: none is passed, in single precision."""
    simulation = simulate(chain(masses, limit=STOPS), gravity=ALONG_X, dt=1 / 60, integrator=integrator)
    recording = simulation.record(240)
    assert np.abs(recording.joint_position).max() <= 0.1 + 1e-6
    assert np.abs(recording.joint_velocity[-1]).max() <= 1e-4


@pytest.mark.parametrize("masses", MASSES.values(), ids=MASSES)
def test_chains_of_heavy_and_light_links_follow_a_reference_in_double_precision(masses):
    """With stops, with hard mimic joints, and with both: within one percent at 60 Hz, over two seconds."""
    assert_follows_reference(chain(masses, limit=STOPS))
    assert_follows_reference(with_mimics(chain(masses)))
    found = assert_follows_reference(with_mimics(chain(masses, limit=STOPS)))
    assert np.abs(found).max() <= 0.1 + 1e-6


@pytest.mark.parametrize("stiffness", [1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("masses", MASSES.values(), ids=MASSES)
def test_stiff_tendons_and_drives_follow_a_reference_in_double_precision(masses, stiffness):
    """Tendons of any stiffness on driven chains, and the stiff ones also without drives and with stops, at 60 Hz."""
    assert_follows_reference(with_tendons(chain(masses, drive=Drive(stiffness=1e6)), stiffness))
    if stiffness >= 1e6:
        assert_follows_reference(with_tendons(chain(masses), stiffness), steps=60)
        assert_follows_reference(with_tendons(chain(masses, limit=STOPS), stiffness), steps=60)


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-3), ("float64", 1e-7)])
@pytest.mark.parametrize("masses", MASSES.values(), ids=MASSES)
def test_which_stops_act_is_found(masses, precision, tolerance):
    """From any state the velocity after a step is that of the least distance problem, beside mimics and tendons too."""
    bare = chain(masses, limit=STOPS)
    rng = np.random.default_rng(7)
    for tree in (bare, with_mimics(bare, gear=-0.7, every=3), with_tendons(bare, 1e6, every=2)):
        q = rng.uniform(-0.1, 0.1, size=(24, 12)).astype(np.float32).astype(float)
        v = (3.0 * rng.normal(size=(24, 12))).astype(np.float32).astype(float)
        simulation = simulate(tree, "direct", 24, ALONG_X, dt=1 / 60, precision=precision, integrator="semi_implicit")
        simulation.set_state(joint_position=q, joint_velocity=v)
        simulation.step()
        for found, start, speed in zip(simulation.state.joint_velocity.numpy().T, q, v):
            expected = stepped(tree, start, speed, 1 / 60, ALONG_X)[1]
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * np.abs(expected).max())


def test_what_sticks_does_not_creep():
    """Static friction holds a chain with a heavy tip, in single precision."""
    tree = chain(MASSES["heavy tip"], friction=Friction(static_effort=1e9, dynamic_effort=1e9))
    recording = simulate(tree, gravity=ALONG_X, dt=1 / 60).record(240)
    assert np.abs(recording.joint_position).max() <= 1e-7


@pytest.mark.parametrize("masses", MASSES.values(), ids=MASSES)
def test_stops_hold_where_mimic_joints_say_the_same_or_the_opposite(masses):
    """Each mimic joint twice changes nothing; where stops and mimic joints contradict each other, the stops hold."""
    tree = with_mimics(chain(masses, limit=STOPS))
    twins = tuple(trees.replace(mimic, name=f"twin of {mimic.name}") for mimic in tree.mimics)
    apart = tuple(trees.replace(mimic, offset=0.5) for mimic in tree.mimics[::3])
    paths = []
    for mimics in (tree.mimics, tree.mimics + twins, apart):
        simulation = simulate(trees.replace(tree, mimics=mimics), gravity=ALONG_X, dt=1 / 60)
        paths.append(simulation.record(120).joint_position)
        assert np.abs(paths[-1]).max() <= 0.1 + 1e-5
    np.testing.assert_allclose(paths[1], paths[0], rtol=0.0, atol=1e-5)


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
