"""Motion that steps do not resolve keeps its energy: long chains, long steps, bodies that spin fast."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests import trees
from tests.oracles import rigid
from tests.oracles.state import State
from warp_artic import Simulation, SolverSettings
from warp_artic.description.limit import Limit

HORIZONTAL = 0.5 * np.pi
NONE = (0.0, 0.0, 0.0)


def started(tree, position=None, velocity=None, root_velocity=None, gravity=rigid.GRAVITY, environments=1, **settings):
    """A simulation of a tree at a state."""
    settings = SolverSettings(**{"dt": 1 / 240, "precision": "float64", **settings})
    simulation = Simulation(trees.scene(tree, gravity=gravity), environments=environments, settings=settings)
    simulation.set_state(joint_position=position, joint_velocity=velocity, root_velocity=root_velocity)
    return simulation


def record(tree, *start, seconds=10.0, **options):
    """The recording of a run, in which nothing fails."""
    simulation = started(tree, *start, **options)
    recording = simulation.record(round(seconds / simulation.settings.dt))
    assert not simulation.failures()
    return recording


def of_links(tree, recording):
    """Mass, place of the centre of mass, inertia in world axes and velocities of each link at each record."""
    for k, link in enumerate(tree.links):
        pose, twist = (values[:, 0, k].astype(float) for values in (recording.link_pose, recording.link_velocity))
        R = Rotation.from_quat(pose[:, 3:]).as_matrix()
        inertia = R @ rigid.inertia_matrix(link.inertia) @ np.swapaxes(R, 1, 2)
        yield link.mass, pose[:, :3] + R @ link.center_of_mass, inertia, twist[:, :3], twist[:, 3:]


def drift(tree, recording, gravity=rigid.GRAVITY):
    """max |E - E0| by the largest kinetic energy, from poses and velocities of the links."""
    kinetic = total = 0.0
    for mass, place, inertia, v, w in of_links(tree, recording):
        own = 0.5 * mass * (v**2).sum(axis=1) + 0.5 * np.einsum("ri,rij,rj->r", w, inertia, w)
        kinetic, total = kinetic + own, total + own - mass * place @ np.asarray(gravity, float)
    return np.abs(total - total[0]).max() / kinetic.max()


def momenta(tree, recording):
    """Linear momentum, and angular momentum about the centre of mass, at each record, shapes (R, 3)."""
    links = list(of_links(tree, recording))
    mass = sum(link[0] for link in links)
    center = sum(link[0] * link[1] for link in links) / mass
    linear = sum(link[0] * link[3] for link in links)
    angular = sum(m * np.cross(x - center, v) + np.einsum("rij,rj->ri", I, w) for m, x, I, v, w in links)
    return linear, angular


def horizontal(links):
    """Joint positions of a chain that is let go to one side."""
    return [HORIZONTAL] + [0.0] * (links - 1)


def tilted(links):
    """The same, less far."""
    return [0.5] + [0.0] * (links - 1)


def crumpled(links):
    """Bent to all sides."""
    return np.random.default_rng(0).normal(size=links) * 0.4


STARTS = [horizontal, tilted, crumpled]


# ---------------------------------------------------------------------------------------------------------------------
# Chains
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "precision"), [(horizontal, "float32"), (tilted, "float64"), (crumpled, "float32")])
@pytest.mark.parametrize(("links", "length", "mass"), [(200, 0.5, 1.0), (200, 0.1, 0.1), (500, 0.5, 1.0)])
def test_long_chains_keep_their_energy(links, length, mass, start, precision):
    """Passive chains, whose waves are faster than the step, for 10 s at 1/240: within a hundredth of what moves."""
    tree = trees.chain(links, length=length, mass=mass)
    assert drift(tree, record(tree, start(links), precision=precision)) < 0.01


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("dt", [1 / 30, 1 / 60])
def test_four_links_at_long_steps(dt, start):
    """A passive chain that whips through a radian a step, for a minute."""
    tree = trees.chain(4)
    recording = record(tree, start(4), seconds=60.0, dt=dt)
    assert drift(tree, recording) < 0.15
    assert np.abs(recording.joint_velocity).max() < 300.0


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_whip_of_four_links_at_a_thirtieth(precision):
    """It went from 13 to 119 rad/s in 88 steps; now it has the energy it began with, and says so of a minute."""
    tree = trees.chain(4)
    simulation = started(tree, horizontal(4), dt=1 / 30, precision=precision)
    recording = simulation.record(1800)
    assert drift(tree, recording) < 1e-4
    assert np.abs(recording.joint_velocity).max() < 70.0
    assert simulation.unresolved_steps().item() > 1700


@pytest.mark.parametrize("dt", [1 / 30, 1 / 60, 1 / 240])
@pytest.mark.parametrize("seed", range(4))
def test_random_trees_at_long_steps(seed, dt):
    """Hinges in all directions, fixed and floating, for a minute."""
    kinds = ("revolute_x", "revolute_y", "revolute_z")
    tree = trees.random_articulation(seed, 8, kinds=kinds, floating=bool(seed % 2), armature=False)
    gravity = NONE if tree.is_floating else rigid.GRAVITY
    velocity = 4.0 * np.random.default_rng(seed).normal(size=len(tree.dofs))
    recording = record(tree, None, velocity, seconds=60.0, dt=dt, gravity=gravity)
    assert drift(tree, recording, gravity) < (0.1 if dt > 1 / 50 else 0.02)


# ---------------------------------------------------------------------------------------------------------------------
# Finite rotations
# ---------------------------------------------------------------------------------------------------------------------


def spun(tree, speed, rng):
    """Velocities of joints and of a floating root of a largest size."""
    velocity, root = rng.uniform(-speed, speed, len(tree.dofs)), None
    if tree.is_floating:
        root = np.array([*rng.normal(size=3), *rng.uniform(-speed, speed, 3)])
    return velocity, root


SPINNING = [
    (1, ("spherical",), False),
    (1, ("spherical",), True),
    (3, ("spherical", "revolute_x"), False),
    (3, ("spherical",), True),
]


@pytest.mark.parametrize(
    ("integrator", "dt"), [("midpoint", 1 / 60), ("midpoint", 1 / 240), ("semi_implicit", 1 / 480)]
)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("links", "kinds", "floating"), SPINNING)
def test_bodies_that_spin_keep_their_energy(links, kinds, floating, seed, dt, integrator):
    """Ball pendulums, free bodies and chains of balls at up to 20 rad/s, any inertia, for a minute."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, links, kinds=kinds, floating=floating, armature=False)
    gravity = NONE if floating else rigid.GRAVITY
    recording = record(tree, None, *spun(tree, 20.0, rng), seconds=60.0, dt=dt, gravity=gravity, integrator=integrator)
    assert drift(tree, recording, gravity) < (0.2 if integrator == "midpoint" else 0.5)


@pytest.mark.parametrize("speed", [1.0, 5.0, 15.0])
def test_a_semi_implicit_ball_pendulum_does_not_gain(speed):
    """What failed after 17 s at 1/240 swings on after a minute with the energy it had."""
    tree = trees.random_articulation(3, 1, kinds=("spherical",), floating=False, armature=False)
    velocity = speed * np.array([0.4, -0.6, 1.0])
    recording = record(tree, [0.5, 0.3, 0.0], velocity, seconds=60.0, integrator="semi_implicit")
    assert drift(tree, recording) < 0.05


@pytest.mark.parametrize("dt", [1 / 30, 1 / 60])
def test_unresolved_floating_trees_keep_their_momentum(dt):
    """Linear momentum, and angular momentum about the centre of mass, of a tree that whips through a radian a step."""
    tree = trees.random_articulation(1, 4, kinds=("spherical", "revolute_x"), floating=True, armature=False)
    simulation = started(tree, None, *spun(tree, 20.0, np.random.default_rng(2)), gravity=NONE, dt=dt)
    simulation.step(4)  # the first steps are of no known motion
    before = simulation.unresolved_steps().item()
    recording = simulation.record(300)
    assert simulation.unresolved_steps().item() - before == 300
    for momentum in momenta(tree, recording):
        np.testing.assert_allclose(momentum, momentum[[0]].repeat(301, 0), atol=1e-9 * np.abs(momentum).max())


def test_an_unresolved_tree_falls_as_one():
    """Weights give a floating tree the linear momentum that they have in the time."""
    tree = trees.random_articulation(1, 4, kinds=("revolute_x", "revolute_y"), floating=True, armature=False)
    simulation = started(tree, None, *spun(tree, 25.0, np.random.default_rng(2)), dt=1 / 30)
    simulation.step(4)
    recording = simulation.record(60)
    assert simulation.unresolved_steps().item() >= 60
    linear, _ = momenta(tree, recording)
    rate = sum(link.mass for link in tree.links) * np.array(rigid.GRAVITY)
    np.testing.assert_allclose(linear[-1] - linear[0], 2.0 * rate, rtol=1e-9, atol=1e-9 * np.abs(linear).max())


@pytest.mark.parametrize("dt", [1 / 30, 1 / 120])
def test_inputs_give_violent_motion_no_more_than_their_work(dt):
    """A torque on the first joint of a chain that whips: it may lose energy, and gains no more than the torque does."""
    simulation = started(trees.chain(4), horizontal(4), dt=dt)
    simulation.control.joint_effort.numpy()[0] = 2.0
    recording = simulation.record(round(2.0 / dt))
    q = np.unwrap(recording.joint_position[:, 0, 0].astype(float))
    energy = recording.energy[:, 0].astype(float)
    gained = energy.sum(axis=1) - energy[0].sum() - 2.0 * (q - q[0])
    assert simulation.unresolved_steps().item() > 20
    assert gained.max() < 1e-3 * energy[:, 0].max() and gained.min() > -0.5 * energy[:, 0].max()


# ---------------------------------------------------------------------------------------------------------------------
# Counts, neighbours, histories
# ---------------------------------------------------------------------------------------------------------------------


def test_motion_that_is_resolved_is_left_alone():
    """A double pendulum is counted in no step, a chain that whips in most, and none in "rk4"."""
    counts = []
    for links, dt, integrator in ((2, 1 / 240, "midpoint"), (4, 1 / 30, "midpoint"), (4, 1 / 30, "rk4")):
        start = tilted(links) if links == 2 else horizontal(links)
        simulation = started(trees.chain(links), start, dt=dt, integrator=integrator)
        simulation.step(480)
        counts.append(simulation.unresolved_steps().item())
    assert counts[0] == counts[2] == 0 and counts[1] > 240


def test_counts_are_of_the_run():
    """A snapshot has them, a new state keeps them, and a reset begins anew."""
    simulation = started(trees.chain(4), horizontal(4), dt=1 / 30, environments=2)
    simulation.step(60)
    start, counts = simulation.snapshot(), simulation.unresolved_steps()
    assert counts.shape == (2, 1) and counts.min() > 30
    simulation.step(60)
    assert (simulation.unresolved_steps() > counts).all()
    simulation.apply(start)
    np.testing.assert_array_equal(simulation.unresolved_steps(), counts)
    simulation.set_state(joint_velocity=np.zeros(4))
    np.testing.assert_array_equal(simulation.unresolved_steps(), counts)
    simulation.reset(environments=[1])
    np.testing.assert_array_equal(simulation.unresolved_steps(), [counts[0], [0]])


def stopped(tree):
    """The tree with limits on all joints."""
    return trees.with_dofs(tree, limit=Limit(lower=-1.5, upper=1.5))


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("acted", [trees.chain(4), stopped(trees.chain(4))], ids=["passive", "stopped"])
def test_neighbours_of_violent_motion_do_not_notice(acted, solver):
    """A chain beside others that whip moves bitwise as it does alone, calm or not."""
    options = {"dt": 1 / 60, "precision": "float32", "variant": "lanes", "solver": solver}
    alone, beside = (started(acted, environments=n, **options) for n in (1, 17))
    position = np.random.default_rng(0).normal(size=(17, 4))
    position[5] = 0.01
    for environment in (5, 6):
        alone.set_state(joint_position=position[environment], joint_velocity=np.zeros(4))
        beside.set_state(joint_position=position, joint_velocity=np.zeros((17, 4)))
        for simulation in (alone, beside):
            simulation.step(300)
        found = [simulation.state.joint_position.numpy() for simulation in (alone, beside)]
        np.testing.assert_array_equal(found[0][:, 0], found[1][:, environment])


@pytest.mark.parametrize("solver", ["direct", "tgs"])
@pytest.mark.parametrize("dt", [1 / 30, 1 / 120])
def test_limits_do_not_feed_violent_motion(dt, solver):
    """Chains and trees that hit their stops at long steps end with no more energy than they had."""
    tree = trees.with_dofs(trees.chain(6), limit=Limit(lower=-1.0, upper=1.0))
    recording = record(tree, tilted(6), 8.0 * crumpled(6), seconds=20.0, dt=dt, solver=solver)
    total = recording.energy[:, 0].sum(axis=1)
    assert (total - total[0]).max() < 0.01 * recording.energy[:, 0, 0].max()


def test_an_unresolved_step_keeps_the_energy_of_the_dense_matrices():
    """A step that does not resolve the motion gives T(q+, v+) + V(q+) = T(q, v) + V(q) to rounding, here each one."""
    tree = trees.chain(4)
    simulation = started(tree, horizontal(4), dt=1 / 30)
    simulation.step(30)
    before = simulation.unresolved_steps().item()
    recording = simulation.record(40)
    assert simulation.unresolved_steps().item() - before == 40
    energy = []
    for q, v in zip(recording.joint_position[:, 0], recording.joint_velocity[:, 0]):
        motion = rigid.motion(tree, State(joint_position=q, joint_velocity=v))
        energy.append(rigid.kinetic_energy(motion) + rigid.potential_energy(motion))
    np.testing.assert_allclose(energy, energy[0], atol=1e-10 * np.abs(energy).max())
