"""Trees at rest fall asleep, stay bitwise as they are, and wake as they were."""

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from tests.oracles import rigid
from tests.oracles.simulated_state import state_of
from tests.solver.sleeping_arms import (
    MOTION,
    STEPS,
    arm,
    asleep,
    clocks,
    effort,
    elsewhere,
    memory,
    motion,
    place,
    simulate,
    target,
    write,
)
from warp_artic import SettingsError, Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.scene import Scene


@pytest.mark.parametrize("seed", range(4))
def test_energy(seed):
    """A step is one at rest where (v.v + w.I w / m) / 2 of every link is below the threshold."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 9, floating=seed % 2 == 0)
    states, energy = [], 1.0
    for factor in (0.0, 1.0 - 1e-3, 1.0 + 1e-3):
        tree = trees.replace(tree, sleep_threshold=factor * energy)
        simulation = simulate(tree, dt=1e-5, precision="float64", variant="scalar")
        start = trees.random_state(np.random.default_rng(seed), tree)
        names = (*MOTION, "root_pose", "root_velocity") if tree.is_floating else MOTION
        simulation.set_state(**{name: getattr(start, name) for name in names})
        simulation.step()
        state = state_of(simulation)
        states.append(state)
        moves = rigid.motion(tree, state)
        weighed = moves.V * (rigid.spatial_inertias(moves) @ moves.V[:, :, None])[..., 0]
        energy = 0.5 * (weighed.sum(axis=1) / [link.mass for link in tree.links]).max()
        assert simulation.state.steps_at_rest.numpy()[0, 0] == (factor > 1.0)
    np.testing.assert_array_equal(states[0].joint_velocity, states[2].joint_velocity)


@pytest.mark.parametrize("variant", ["scalar", "lanes"])
def test_falls_asleep_after_the_time_at_rest(variant):
    """Not a step sooner; then it has no velocity, and nothing that it remembers but where it is."""
    simulation = simulate(arm(), variant=variant)
    rest, last = [], None
    while not simulation.asleep().all():
        last = motion(simulation)
        simulation.step()
        rest.append(int(simulation.state.steps_at_rest.numpy()[0, 0]))
        assert len(rest) < 960
    assert rest[-STEPS:] == list(range(1, STEPS + 1)) and rest[-STEPS - 1] == 0
    half = len(last) // 2
    assert last[half:].any() and not motion(simulation)[half:].any()
    np.testing.assert_allclose(motion(simulation)[:half], last[:half], atol=2e-4)
    (group,) = simulation.run.groups
    for name in ("smooth_acceleration", "acceleration_change", "smoothness", "started"):
        assert not group.state[name].view(0, 1).numpy().any()


def test_nothing_changes_in_sleep():
    """In 10,000 steps, bitwise; only the time goes on."""
    simulation = asleep(environments=5)
    before, steps = memory(simulation), simulation.steps_done
    for count in (1, 999, 9000):
        simulation.step(count)
    assert memory(simulation) == before and simulation.steps_done == steps + 10000
    assert (clocks(simulation) == simulation.steps_done).all()


def test_off_by_default():
    """A tree without the setting moves on, however slowly; up to the first nap both runs are bitwise the same."""
    with_sleep, without = simulate(arm()), simulate(arm(), sleep_after=None)
    slept = False
    for _ in range(50):
        with_sleep.step(16)
        without.step(16)
        slept = slept or with_sleep.asleep().any()
        assert slept or (motion(with_sleep) == motion(without)).all()
    assert slept and motion(without)[3:].any() and not without.asleep().any()


def push(simulation):
    write(simulation.control.link_external_force, (2, 0), 1e-3)


def speed(simulation):
    write(simulation.control.drive_velocity_target, 0, 1e-3)


def throw(simulation):
    write(simulation.state.joint_velocity, 0, 0.1)


WRITES = (target, effort, push, speed, place, throw)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("environments", [1, 5])
def test_wakes_by_a_change(write, environments):
    """Whatever is written into a view, in the next step; from the state as it is, as one that was put there."""
    simulation = asleep(environments)
    simulation.step()
    write(simulation)
    state = motion(simulation)
    fresh = simulate(arm(), environments=environments)
    fresh.set_state(joint_position=state[:3], joint_velocity=state[3:])
    for name in ("drive_position_target", "drive_velocity_target", "joint_effort", "link_external_force"):
        getattr(fresh.control, name).assign(getattr(simulation.control, name).numpy())
    for one in (simulation, fresh):
        one.step(20)
    assert not simulation.asleep().any()
    for environment in range(environments):
        assert (motion(simulation, environment) == motion(fresh)).all() and (motion(simulation) != state).any()


def test_what_stays_does_not_wake():
    """To write what is there already changes nothing, nor does a load that it came to rest under."""
    simulation = simulate(arm())
    simulation.control.joint_effort.fill_(0.5)
    simulation.control.link_external_force.fill_(0.25)
    simulation.step(960)
    assert simulation.asleep().all()
    before = memory(simulation)
    simulation.control.joint_effort.fill_(0.5)
    simulation.state.joint_position.assign(simulation.state.joint_position.numpy())
    simulation.step(10)
    assert memory(simulation) == before
    simulation.control.joint_effort.fill_(0.0)
    simulation.step()
    assert not simulation.asleep().any()


def test_no_number_wakes():
    """And is named, as when awake."""
    simulation = asleep()
    simulation.control.joint_effort.fill_(np.nan)
    simulation.step()
    assert len(simulation.failures()) == 1


def test_a_change_while_falling_asleep():
    """The last step before it falls asleep is not the first one under another load."""
    simulation = simulate(arm())
    while simulation.state.steps_at_rest.numpy()[0, 0] < STEPS - 1:
        simulation.step()
    simulation.control.joint_effort.fill_(1e-3)
    simulation.step()
    assert simulation.state.steps_at_rest.numpy()[0, 0] == 1 and not simulation.asleep().any()


def test_wake():
    """By the user; of chosen environments; nothing but the count of steps at rest changes."""
    simulation = asleep(environments=5)
    before = memory(simulation)
    simulation.wake([1, 3])
    assert simulation.asleep()[:, 0].tolist() == [True, False, True, False, True]
    after = memory(simulation)
    assert [name for name in before if before[name] != after[name]] == ["0 steps_at_rest"]
    simulation.step(3)
    moved = [(motion(simulation, environment) != motion(simulation, 0)).any() for environment in range(5)]
    assert moved == [False, True, False, True, False]
    simulation.wake(articulations="/World/chain")
    assert not simulation.asleep().any()
    with pytest.raises(SettingsError, match="there is no /World/cat"):
        simulation.wake(articulations="/World/cat")


def test_set_state_reset_and_snapshots_wake():
    """All that the host writes."""
    simulation = asleep(environments=2)
    snapshot = simulation.snapshot()
    for change in (
        lambda: simulation.set_state(joint_position=motion(simulation)[:3]),
        simulation.reset,
        lambda: simulation.apply(snapshot, parts="joint_effort"),
        lambda: simulation.apply(snapshot, parts="history"),
        lambda: simulation.set_mass_properties(center_of_mass=np.zeros((3, 3)) - [0.0, 0.0, 0.2]),
    ):
        simulation.apply(snapshot)
        assert simulation.asleep().all()
        change()
        assert not simulation.asleep().any()


def test_all_links_together():
    """A light tip that swings keeps the whole tree awake; another tree sleeps meanwhile."""
    swinging = trees.chain(4)
    drives = [Drive(stiffness=4e3, damping=400.0)] * 3 + [None]
    positions = [0.0, 0.0, 0.0, 0.2]
    links = (*swinging.links[:3], trees.replace(swinging.links[3], mass=1e-4, inertia=(1e-6, 0, 0, 1e-6, 0, 1e-6)))
    swinging = trees.replace(trees.with_dofs(swinging, drive=drives, position=positions), links=links)
    simulation = simulate(swinging, elsewhere(arm(), "/World/arm"))
    simulation.step(960)
    assert simulation.asleep().tolist() == [[False, True]]
    velocity = simulation.state.joint_velocity.numpy()[:, 0]
    assert np.abs(velocity[:3]).max() < 1e-3 < 0.1 < np.abs(velocity[3])
    assert not velocity[4:].any()


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_neighbours_do_not_matter(precision):
    """An environment that sleeps among waking ones, and one that wakes among sleeping ones, are as in other slots."""
    loads = np.array([0.0, 2.0, 0.0, -1.0, 0.5])

    def run(slots):
        simulation = simulate(arm(), environments=len(slots), precision=precision, variant="lanes")
        ends = []
        for steps, change in ((700, 0.0), (30, 1.0), (5, 1.0), (400, 0.0), (3, 2.0)):
            simulation.control.joint_effort.numpy()[:] = change * loads[slots]
            simulation.step(steps)
            ends.append([np.append(motion(simulation, k), simulation.asleep()[k, 0]) for k in range(len(slots))])
        return np.array(ends)

    together = run(range(5))
    assert together[1, :, -1].tolist() == [1, 0, 1, 0, 0] and together[0, :, -1].all()
    alone = np.concatenate([run([slot]) for slot in range(5)], axis=1)
    many = run([4, 0, 2, 1, 3] * 8)
    assert (alone == together).all() and (many[:, [1, 3, 2, 4, 0]] == together).all()


def test_steps_can_be_split():
    """Launches of many steps and of one are bitwise the same."""
    one, many = simulate(arm()), simulate(arm())
    many.step(700)
    for _ in range(700):
        one.step()
    assert one.asleep().all() and memory(one) == memory(many)


def test_forces_of_a_sleeping_tree():
    """Nothing accelerates; joints carry what is at rest, and to record forces changes no state.

    Drives do what they would, and that holds the tree but for the little that still moved it when it fell asleep.
    """
    simulation = simulate(arm(sleep_threshold=1e-12), precision="float64")
    simulation.step(1600)
    assert simulation.asleep().all()
    before = memory(simulation)
    recording = simulation.record(2, forces=True)
    assert memory(simulation) == before
    assert not recording.joint_acceleration[1:].any() and not recording.link_velocity.any()
    tree = simulation.scene.articulations[0]
    placed = rigid.motion(tree, state_of(simulation))
    held = rigid.incoming_joint_force(placed, np.zeros(3))
    np.testing.assert_allclose(recording.link_incoming_joint_force[-1, 0], held, rtol=0, atol=1e-9)
    np.testing.assert_allclose(recording.joint_drive_force[-1, 0], rigid.gravity_effort(placed), rtol=1e-4)


def test_rk4():
    """It sleeps with every integrator."""
    damped = tuple(trees.replace(link, angular_damping=20.0) for link in trees.chain(2).links)
    tree = trees.with_dofs(trees.replace(trees.chain(2), links=damped), drive=Drive(stiffness=20.0, damping=10.0))
    simulation = simulate(trees.with_dofs(tree, position=0.1), integrator="rk4", precision="float64")
    simulation.step(960)
    assert simulation.asleep().all()
    before = memory(simulation)
    simulation.step(100)
    assert memory(simulation) == before
    simulation.control.joint_effort.fill_(0.1)
    simulation.step()
    assert not simulation.asleep().any()


@pytest.mark.parametrize("solver", ["direct", "tgs"])
def test_every_family_sleeps(solver):
    """A floating tree with every joint type and every family: put to rest by its dampers, it stays."""
    tree = tree_of_every_family(links=13)
    links = tuple(trees.replace(link, linear_damping=8.0, angular_damping=8.0) for link in tree.links)
    tree = trees.replace(tree, links=links, sleep_threshold=1e-3)
    simulation = simulate(tree, gravity=(0.0, 0.0, 0.0), precision="float64", variant="scalar", solver=solver)
    simulation.step(4800)
    assert simulation.asleep().all()
    before = memory(simulation)
    simulation.step(1000)
    assert memory(simulation) == before


def test_the_threshold():
    """Zero keeps a tree awake; it is a parameter of each environment."""
    assert not slept_with(arm(sleep_threshold=0.0))
    assert slept_with(arm())
    simulation = simulate(arm(), environments=2)
    simulation.parameters.sleep_threshold.numpy()[0, 1] = 0.0
    simulation.step(960)
    assert simulation.asleep()[:, 0].tolist() == [True, False]


def slept_with(tree):
    simulation = simulate(tree)
    simulation.step(960)
    return simulation.asleep().all()


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"sleep_after": -1.0}, "sleep_after: -1.0 is not a time of at least 0"),
        ({"sleep_after": float("nan")}, "sleep_after: nan is not a time of at least 0"),
        ({"sleep_after": 1.0, "dt": 1e-9}, "sleep_after: 1 s is 1e.09 steps of 1e-09 s"),
    ],
)
def test_settings(settings, sentence):
    """A time that cannot be counted is refused."""
    with pytest.raises(SettingsError, match=sentence):
        Simulation(Scene(articulations=(arm(),)), settings=SolverSettings(**settings))


def test_parameters_wake():
    """Those that a user has a view of, in the environments that change; a checkpoint brings them back without."""
    simulation = asleep(environments=5)
    masses = simulation.parameters.link_mass
    simulation.step(2)
    assert simulation.asleep().all()
    before = memory(simulation)
    masses.numpy()[1, 2] *= 1.5
    simulation.step()
    assert simulation.asleep()[:, 0].tolist() == [True, True, False, True, True]
    simulation.step(1500)
    assert simulation.asleep().all() and memory(simulation) != before


def test_a_checkpoint_with_parameters_wakes_nobody(tmp_path):
    """They are those that it sleeps with."""
    simulation, other = asleep(environments=2), asleep(environments=2)
    for one in (simulation, other):
        one.parameters.gravity.numpy()[...] *= 0.9 if one is simulation else 1.0
        one.step(1500)
        assert one.asleep().all()
    simulation.save(tmp_path / "run")
    other.load(tmp_path / "run")
    other.step(10)
    assert memory(other) == memory(simulation)


def test_put_to_sleep():
    """Where a tree is, without velocity; what changes afterwards wakes it, also before the first step."""
    simulation = simulate(arm(), environments=5)
    simulation.step(7)
    position = simulation.state.joint_position.numpy().copy()
    simulation.put_to_sleep([0, 2, 3])
    simulation.control.joint_effort.numpy()[1, 2] = 1.0
    simulation.step(20)
    assert simulation.asleep()[:, 0].tolist() == [True, False, False, True, False]
    moved = (simulation.state.joint_position.numpy() != position).any(axis=0)
    assert moved.tolist() == [False, True, True, False, True]
    assert not simulation.state.joint_velocity.numpy()[:, [0, 3]].any()
    with pytest.raises(SettingsError, match="nothing sleeps while sleep_after is infinite"):
        simulate(arm(), sleep_after=None).put_to_sleep()


def test_starts_asleep():
    """A tree that is authored so, and again after a reset; where nothing sleeps, it moves."""
    tree = arm(starts_asleep=True)
    simulation = simulate(tree, elsewhere(arm(), "/World/arm"), environments=2)
    for _ in range(2):
        assert simulation.asleep().tolist() == [[True, False]] * 2
        simulation.step(30)
        assert simulation.asleep().tolist() == [[True, False]] * 2
        assert not simulation.state.joint_position.numpy()[:3].any()
        simulation.control.drive_position_target.assign(0.2)
        simulation.step(2)
        assert not simulation.asleep().any() and simulation.state.joint_position.numpy()[:3].all()
        simulation.control.drive_position_target.assign(0.3)
        simulation.reset()
    awake = simulate(tree, sleep_after=None)
    awake.step(2)
    assert awake.state.joint_position.numpy().all()
