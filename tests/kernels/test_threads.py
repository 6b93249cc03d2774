"""Steps on several threads, beside steps on one."""

import gc
import os
import threading
import tracemalloc

import numpy as np
import pytest
import warp as wp

from tests import trees
from tests.sim.test_simulation import two_trees
from warp_artic import SettingsError, Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.limit import Limit
from warp_artic.description.tendon import FixedTendon
from warp_artic.kernels.threads import PIECES_EACH, run_all, usable_threads


def arm(threads, environments=100, **settings):
    """Six hinges with drives, limits and a tendon, with other velocities in each environment."""
    tree = trees.with_dofs(
        trees.chain(6), drive=Drive(stiffness=100.0, damping=10.0), limit=Limit(lower=-0.2, upper=0.2)
    )
    weights = (1.0, -0.5, 0.7)
    tendon = FixedTendon(
        name="/World/tendon", dofs=(0, 2, 5), coefficients=weights, force_coefficients=weights, stiffness=50.0
    )
    tree = trees.replace(tree, fixed_tendons=(tendon,))
    simulation = Simulation(
        trees.scene(tree), environments=environments, settings=SolverSettings(**settings), threads=threads
    )
    start(simulation)
    return simulation


def start(simulation):
    """Other velocities in each environment."""
    rng = np.random.default_rng(4)
    simulation.reset()
    simulation.set_state(joint_velocity=rng.normal(size=(simulation.environments, len(simulation.joint_names))))


def arrays_of(simulation):
    """What is to be bitwise the same."""
    names = ("joint_position", "joint_velocity", "link_pose", "link_velocity", "energy", "tendon_force")
    return {name: getattr(simulation.state, name).numpy().copy() for name in names}


def columns_of(simulation):
    """100 environments are so many columns: on 16 lanes 7, on 8 lanes 13, on scalars 100."""
    (group,) = simulation.run.groups
    return -(-simulation.environments // group.columns.numbers.lanes)


def same(one, other):
    for name, values in arrays_of(one).items():
        np.testing.assert_array_equal(arrays_of(other)[name], values, err_msg=name)


@pytest.mark.parametrize(("solver", "variant"), [("direct", "lanes"), ("tgs", "lanes"), ("direct", "scalar")])
def test_any_number_of_threads_gives_the_same_results(solver, variant):
    """Bitwise, of steps with and without forces; pieces of one column and of several."""
    one = arm(1, solver=solver, variant=variant)
    one.step(60)
    one.step(20, forces=True)
    for threads in (2, 3, 8):
        many = arm(threads, solver=solver, variant=variant)
        (launch,) = many.run.launches.steps
        assert len(launch.pieces(threads, 60)) == min(columns_of(many), PIECES_EACH * threads)
        many.step(60)
        many.step(20, forces=True)
        same(one, many)
        assert np.ptp(one.state.joint_position.numpy(), axis=1).min() > 0.01
        np.testing.assert_array_equal(one.state.joint_limit_force.numpy(), many.state.joint_limit_force.numpy())


def test_different_robots_are_spread_too():
    """Each group is computed by one thread, with the same results; so is what a graph launches."""
    plain, spread, captured = (Simulation(two_trees(), environments=3, threads=count) for count in (1, 4, 4))
    graph = captured.capture(200)
    plain.step(200)
    spread.step(200)
    graph.launch()
    for one, *others in zip(plain.articulations, spread.articulations, captured.articulations):
        for other in others:
            np.testing.assert_array_equal(one.state.joint_position.numpy(), other.state.joint_position.numpy())
            np.testing.assert_array_equal(one.state.link_pose.numpy(), other.state.link_pose.numpy())


def test_no_column_is_taken_twice_and_an_exception_is_raised(monkeypatch):
    """No thread is at work when it arrives, and the next launch goes on as if nothing had been."""
    simulation = arm(4)
    (launch,) = simulation.run.launches.steps
    pieces = launch.pieces(4, 100)
    taken, run = [], launch.run

    def fail_once(first, end, thread):
        taken.append((first, end))
        run(first, end, thread)
        if (first, end) == pieces[3]:
            raise OSError("a piece failed")

    monkeypatch.setattr(launch, "run", fail_once)
    with pytest.raises(OSError, match="a piece failed"):
        run_all([launch], 4, 100)
    monkeypatch.undo()
    assert len(taken) == len(set(taken))
    assert pieces[3] in taken and set(taken) <= set(pieces)
    assert [column for piece in pieces for column in range(*piece)] == list(range(columns_of(simulation)))
    twin = arm(1)
    for each in (simulation, twin):
        start(each)
        each.step(60)
    same(simulation, twin)


def test_two_simulations_step_on_two_threads_of_the_user():
    """Each as it does alone."""
    alone = arm(2)
    alone.step(60)
    together = [arm(2), arm(2)]
    users = [threading.Thread(target=simulation.step, args=(60,)) for simulation in together]
    for user in users:
        user.start()
    for user in users:
        user.join()
    for simulation in together:
        same(alone, simulation)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore")
def test_a_forked_process_steps_on_threads_of_its_own():
    """After steps on threads of the parent, which it does not have."""
    simulation, twin = arm(3), arm(1)
    simulation.step(20)
    twin.step(40)
    child = os.fork()
    if child == 0:
        simulation.step(20)
        equal = np.array_equal(simulation.state.joint_position.numpy(), twin.state.joint_position.numpy())
        os._exit(0 if equal else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_steps_allocate_nothing(threads):
    """Neither on the device, nor in Python for good, after the first; with forces, and through a graph."""
    simulation = arm(threads)
    views = simulation.state.joint_position, simulation.state.link_pose, simulation.parameters.link_mass
    graph = simulation.capture(3)

    def advance():
        for _ in range(20):
            simulation.step(3)
            simulation.step(3, forces=True)
            simulation.report()
            graph.launch()

    advance()
    reports = []
    with wp.ScopedMemoryTracker("steps", report_func=reports.append) as tracker:
        tracker.clear()
        advance()
        tracker.report()
        wp.zeros(1, device="cpu")
    assert len(views) == 3
    assert ["cpu" in report for report in reports] == [False, True]
    tracemalloc.start()
    advance()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    advance()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 4000


def test_how_many_threads(monkeypatch):
    """The cores that the process may use, and no more than it is told; counts that are none are refused."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if hasattr(os, "sched_getaffinity"):
        assert usable_threads() == len(os.sched_getaffinity(0))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert usable_threads() == Simulation(trees.scene(trees.chain(2))).threads == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert usable_threads() >= 1
    for count in (0, -1, True, 1.5, "2"):
        with pytest.raises(SettingsError, match="threads: .* is not an integer of at least 1"):
            Simulation(trees.scene(trees.chain(2)), threads=count)
