"""What is written to elastic bodies and is not allowed stops its environment, by name, and what is attached to them."""

import math

import numpy as np
import pytest

from tests.meshes.test_equilibrium import clamped, pulled
from tests.sim.bodies_on_links import DOWN, block, on_block, simulate
from warp_artic.description.mesh_tendon import TensionLaw
from warp_artic.description.scene import Scene

VALUES = (math.nan, math.inf, -math.inf, -1.0)
OF_TENDONS = ("target_length", "stiffness", "tension")
BY_NODE = ("node_force", "points", "velocities")
NODE = 7


def start(environments=1, is_attached=True):
    """A bar with a tendon, on a block that falls and turns or on pins, a few steps into its motion."""
    tree = block(1.0, angular_velocity=(0.0, 0.0, 2.0))
    body = on_block(tree, (2, 1, 1)) if is_attached else clamped((2, 1, 1), (0.4, 0.2, 0.2))
    row = np.flatnonzero((body.points[:, 1:] == 0.2).all(axis=1))
    tendon = pulled(body, row, law=TensionLaw.CABLE, target_length=0.3, stiffness=50.0, smoothing=1e-3)
    trees = (tree,) if is_attached else ()
    scene = Scene(articulations=trees, elastic_bodies=(body,), mesh_tendons=(tendon,), gravity=DOWN)
    simulation = simulate(scene, environments=environments)
    simulation.step(2)
    return simulation


def poison(simulation, environment, name, value):
    """Write one value through a view of the memory."""
    table = getattr(simulation.elastic_bodies[0], name).numpy()
    table[(environment, NODE, 1) if name in BY_NODE else (0, environment)] = value


def motion(simulation):
    """What moves, environments first."""
    body = simulation.elastic_bodies[0]
    found = {name: getattr(body, name).numpy().copy() for name in ("points", "velocities")}
    if simulation.articulations:
        found |= {name: np.moveaxis(getattr(simulation.state, name).numpy().copy(), -1, 0)
                  for name in ("root_pose", "root_velocity")}  # fmt: skip
    return found


@pytest.mark.parametrize("is_attached", (True, False))
def test_each_array_that_a_user_writes_to(is_attached):
    """Of each environment with a wrong number in one array: named, frozen, and alone in that, with its links."""
    cases = [(name, value) for name in (*OF_TENDONS, "gravity", *BY_NODE) for value in VALUES]
    count = 2 * len(cases) + 1
    dirty, clean = (start(count, is_attached) for _ in range(2))
    for place, (name, value) in enumerate(cases):
        poison(dirty, 2 * place + 1, name, value)
    before = motion(dirty)
    for simulation in (dirty, clean):
        simulation.step(2)
        simulation.step()
    after, wanted = motion(dirty), motion(clean)
    body = dirty.elastic_bodies[0]
    failures = {failure.environment: failure for failure in dirty.failures() if failure.articulation == body.path}
    on_links = {failure.environment for failure in dirty.failures() if failure.articulation != body.path}
    assert on_links == (set(failures) if is_attached else set())
    for place, (name, value) in enumerate(cases):
        environment = 2 * place + 1
        if value == -1.0 and name not in OF_TENDONS:
            assert environment not in failures, name
            continue
        assert (failures[environment].array, failures[environment].step) == (name, 3), (name, value)
        for what, values in after.items():
            np.testing.assert_array_equal(values[environment], before[what][environment], str((name, value, what)))
    for what, values in after.items():
        np.testing.assert_array_equal(values[::2], wanted[what][::2], what)
    assert not body.unconverged[[*failures]].any()
    recording = dirty.record(2)
    for name in ("mesh_tendon_length", "mesh_tendon_tension", "energy"):
        assert np.isfinite(getattr(recording, name)).all(), name


def test_sentences():
    """Whose value it is, and what is allowed."""
    simulation = start(5)
    wrong = {0: ("stiffness", math.nan), 1: ("gravity", math.inf), 2: ("node_force", math.nan),
             3: ("points", math.nan), 4: ("velocities", math.inf)}  # fmt: skip
    for environment, (name, value) in wrong.items():
        poison(simulation, environment, name, value)
    simulation.step()
    body, tendon = simulation.elastic_bodies[0].path, simulation.elastic_bodies[0].tendon_names[0]
    assert [str(failure) for failure in simulation.failures()] == [
        *(f"/World/block: environment {k} stopped at step 3: an elastic body that is attached to it has"
          for k in range(5)),
        f"{body}: environment 0 stopped at step 3: stiffness of {tendon} must be finite and not negative",
        f"{body}: environment 1 stopped at step 3: gravity must be finite",
        f"{body}: environment 2 stopped at step 3: node_force of node {NODE} must be finite",
        f"{body}: environment 3 stopped at step 3: the position of node {NODE} leaves the range of numbers",
        f"{body}: environment 4 stopped at step 3: the velocity of node {NODE} runs away",
    ]  # fmt: skip


def test_waypoints_that_coincide(tmp_path):
    """Places of them that are written are gone on from, beside environments that notice nothing, and from a file."""
    body = clamped((4, 1, 1), (0.4, 0.1, 0.1))
    tendon = pulled(body, (0, len(body.points) - 4), law=TensionLaw.TENSION, tension=20.0)
    scene = Scene(articulations=(), elastic_bodies=(body,), mesh_tendons=(tendon,))
    both, alone = (simulate(scene, environments=count) for count in (2, 1))
    found, points = both.elastic_bodies[0], body.points.copy()
    points[-4] = points[0]
    found.set_state(points=points, environments=[1])
    for simulation in (both, alone):
        simulation.step(3)
    assert not both.failures() and np.isfinite(found.points.numpy()).all()
    assert np.abs(found.points.numpy()[1] - points).max() > 1e-3
    assert (found.points.numpy()[0] == alone.elastic_bodies[0].points.numpy()[0]).all()
    both.save(tmp_path / "run.npz")
    other = simulate(scene, environments=2)
    other.load(tmp_path / "run.npz")
    for simulation in (both, other):
        simulation.step(3)
    assert (found.points.numpy() == other.elastic_bodies[0].points.numpy()).all()


def test_motion_that_leaves_the_range_of_numbers():
    """Is kept as it was, and others go on."""
    simulation, clean = start(3, is_attached=False), start(3, is_attached=False)
    poison(simulation, 1, "velocities", 1e300)
    before = motion(simulation)
    for one in (simulation, clean):
        one.step(3)
    (failure,) = simulation.failures()
    assert (failure.environment, failure.step) == (1, 3)
    for name, values in motion(simulation).items():
        np.testing.assert_array_equal(values[1], before[name][1])
        np.testing.assert_array_equal(values[[0, 2]], motion(clean)[name][[0, 2]])


def test_an_environment_goes_on_once_it_is_mended(tmp_path):
    """From a snapshot or the start, bitwise as if nothing had been; a checkpoint has it stopped, others as they go."""
    simulation, clean = start(3), start(3)
    snapshot = simulation.snapshot()
    target = simulation.elastic_bodies[0].target_length.numpy()
    target[0, 1] = math.nan
    simulation.step()
    simulation.save(tmp_path / "run.npz")
    other = start(3)
    other.load(tmp_path / "run.npz")
    for one in (simulation, other):
        one.step()
        assert {failure.environment for failure in one.failures()} == {1}
    for name, values in motion(other).items():
        np.testing.assert_array_equal(values, motion(simulation)[name])
    target[0, 1] = 0.3
    simulation.apply(snapshot)
    for one in (simulation, clean):
        one.step(3)
    assert not simulation.failures()
    for name, values in motion(simulation).items():
        np.testing.assert_array_equal(values, motion(clean)[name])
    target[0, 1] = math.nan
    simulation.reset()
    assert not simulation.failures()
    simulation.step()
    assert {failure.step for failure in simulation.failures()} == {1}
