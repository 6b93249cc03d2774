"""Steps in which everything sleeps are not launched, and checkpoints of what sleeps."""

import json
import subprocess
import sys

import numpy as np
import pytest
import warp as wp

from tests.solver.sleeping_arms import STEPS, H, arm, asleep, clocks, effort, elsewhere, memory, place, simulate, target
from warp_artic import SettingsError, SolveError
from warp_artic.description.track import Track
from warp_artic.sim.launch.launches import Launches


@pytest.fixture
def launched(monkeypatch, request):
    """Steps of each launch, as they are launched."""
    if request.config.getoption("device") != "cpu":
        pytest.skip("on a GPU all steps are launched: whether all sleep is in its memory")
    counts, launch = [], Launches.step

    def counted(self, count, with_forces, is_captured):
        counts.append(count)
        launch(self, count, with_forces, is_captured)

    monkeypatch.setattr(Launches, "step", counted)
    return counts


def test_idle_steps_are_not_launched(launched):
    """Where all sleep and nobody has a view of what steps read; the time goes on, and what is reported stays."""
    simulation = simulate(arm(), elsewhere(arm(), "/World/arm"), environments=2)
    simulation.step(960)
    assert simulation.asleep().all()
    graph, before, steps = simulation.capture(5), simulation.state.link_pose.numpy().copy(), simulation.steps_done
    launched.clear()
    for _ in range(10):
        simulation.step(7)
        graph.launch()
    assert launched == [] and simulation.steps_done == steps + 120 and simulation.time == (steps + 120) * H
    assert (simulation.state.link_pose.numpy() == before).all()
    assert (clocks(simulation) == simulation.steps_done).all()
    simulation.step(3)
    assert launched == [3]
    simulation.step(STEPS)
    simulation.step(3)
    assert launched == [3, STEPS]


def test_views_do_not_end_idle_steps(launched):
    """What is read, and what is written without a change; the first step after a change is launched, and wakes."""
    simulation = simulate(arm(), elsewhere(arm(), "/World/arm"), environments=2)
    arrays = [simulation.control.joint_effort, simulation.parameters.drive_stiffness, simulation.state.joint_position]
    alone = simulation.articulations[1].control.drive_position_target
    graph = simulation.capture(2)
    for write in (
        lambda: arrays[0].assign(np.full((6, 2), 0.01)),
        lambda: arrays[1].assign(arrays[1].numpy() * 1.1),
        lambda: arrays[2].assign(arrays[2].numpy() + 0.01),
        lambda: alone.numpy().__setitem__((1, 1), 0.31),
    ):
        simulation.step(2400)
        assert simulation.asleep().all()
        arrays[2].assign(arrays[2].numpy())
        launched.clear()
        for _ in range(5):
            simulation.step(7)
            graph.launch()
            simulation.state.joint_position.numpy()
            simulation.control.joint_effort.numpy()
        assert launched == []
        write()
        simulation.step()
        assert launched == [1] and not simulation.asleep().all()


ENDS = {
    "set_state": lambda simulation, _: simulation.set_state(joint_velocity=[0.0, 0.1, 0.0]),
    "set_state of one": lambda simulation, _: simulation.set_state(joint_velocity=[0.1, 0.0, 0.0], environments=[1]),
    "reset": lambda simulation, _: simulation.reset(),
    "reset of one": lambda simulation, _: simulation.reset([0]),
    "wake": lambda simulation, _: simulation.wake(),
    "put_to_sleep": lambda simulation, _: simulation.put_to_sleep([0]),
    "mass": lambda simulation, _: simulation.set_mass_properties(center_of_mass=np.zeros((3, 3)) - [0.0, 0.0, 0.2]),
    "apply": lambda simulation, start: simulation.apply(start),
    "apply to one": lambda simulation, start: simulation.apply(start, environments=[True, False]),
    "view of a control": lambda simulation, _: target(simulation),
    "view of the state": lambda simulation, _: place(simulation),
    "view of one articulation": lambda simulation, _: (
        simulation.articulations[0].control.joint_effort.numpy().fill(0.01)
    ),
    "view of a parameter": lambda simulation, _: simulation.parameters.drive_stiffness.numpy().__imul__(0.9),
    "track": lambda simulation, _: simulation.target_tracks.__setitem__(
        ("drive_position_target", simulation.joint_names[0]), Track(times=(0.0, 10.0), values=(0.3, 2.0))
    ),
    "forces": lambda simulation, _: simulation.step(1, forces=True),
    "graph": lambda simulation, _: simulation.capture(3, forces=True).launch(),
}


@pytest.mark.parametrize("end", ENDS)
def test_what_ends_idle_steps(end, launched):
    """Anything that could change what a step does; all as where every step is launched, bitwise, clocks too."""
    idle, busy = simulate(arm(), environments=2), simulate(arm(), environments=2)
    busy.run.idle.forbid()
    starts = [simulation.snapshot() for simulation in (idle, busy)]
    for simulation in (idle, busy):
        simulation.step(960)
        assert simulation.asleep().all()
    launched.clear()
    idle.step(50)
    assert launched == []
    busy.step(50)
    for simulation, start in zip((idle, busy), starts):
        ENDS[end](simulation, start)
        simulation.step(4)
    assert memory(idle) == memory(busy) and idle.steps_done == busy.steps_done
    assert (clocks(idle) == clocks(busy)).all()


def test_idle_steps_in_a_capture():
    """Steps that are captured are launched, and whoever replays them may change what they read."""
    simulation = asleep()
    simulation.step(10)
    with wp.ScopedCapture(device=simulation.device) as capture:
        simulation.step(2)
    simulation.wake()
    wp.capture_launch(capture.graph)
    simulation.step(STEPS)
    assert simulation.asleep().all() and simulation.run.idle.since is None
    effort(simulation)
    wp.capture_launch(capture.graph)
    assert not simulation.asleep().any()


def test_idle_steps_and_checkpoints(tmp_path, launched):
    """A run that is saved while it idles goes on with the right count of steps."""
    simulation, other = asleep(), simulate(arm())
    simulation.step(33)
    simulation.save(tmp_path / "run.npz")
    other.load(tmp_path / "run.npz")
    launched.clear()
    other.step(10)
    assert launched == [10] and (clocks(other) == simulation.steps_done + 10).all()


@pytest.mark.parametrize("count", [True, -1, 1.5, "2", 2**31])
def test_idle_steps_are_checked(count):
    """A count that is none is refused while idle too."""
    simulation = asleep()
    with pytest.raises(SettingsError, match="is not an integer from 0 to 2147483647"):
        simulation.step(count)
    with pytest.raises(SettingsError, match="forces"):
        simulation.step(1, forces="yes")


def go_on(path):
    """Take up an arm that sleeps in one of its environments, and print how it ends: what the other process does."""
    simulation = simulate(arm(), environments=5)
    simulation.load(path)
    slept = simulation.asleep().tolist()
    simulation.step(200)
    print(json.dumps([slept, {name: content.hex() for name, content in memory(simulation).items()}]))


def test_another_process_goes_on_bitwise(tmp_path):
    """What sleeps sleeps there too, and wakes by the same changes."""
    simulation = asleep(environments=5)
    simulation.wake([1])
    simulation.step(10)
    simulation.save(tmp_path / "run")
    slept = simulation.asleep().tolist()
    simulation.step(200)
    code = f"from tests.solver.test_idle_steps import go_on; go_on({str(tmp_path / 'run')!r})"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert slept == [[True], [False], [True], [True], [True]]
    assert json.loads(printed.splitlines()[-1]) == [
        slept,
        {name: content.hex() for name, content in memory(simulation).items()},
    ]


def test_checkpoints_of_other_settings_are_refused(tmp_path):
    """They name the setting."""
    asleep().save(tmp_path / "run")
    with pytest.raises(SolveError, match="sleep_after is 0.4 in the checkpoint and inf here"):
        simulate(arm(), sleep_after=None).load(tmp_path / "run")
