"""`warp-artic simulate`: step a stage, bake the motion, say how it went."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from warp_artic.cli.if_changed import files_of, settings_of
from warp_artic.cli.inputs import Inputs, read_inputs
from warp_artic.cli.interrupt import INTERRUPTED, interruptible
from warp_artic.cli.progress import progress, waiting
from warp_artic.cli.recorded import recorded
from warp_artic.cli.room import Wanted, check_room
from warp_artic.cli.simulate_clips import Clips
from warp_artic.cli.summary import SHOWN, as_json, summary
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.sim.files.whole_file import check_place
from warp_artic.sim.launch.device import start_quietly
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.input_record import input_record
from warp_artic.usd.layer_file import check_output
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.origin import with_origin
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.time_samples import frame_rate
from warp_artic.usd.write_results import write_results

DEFAULT_DURATION = 5.0
"""[s], of a stage without a time range."""


@dataclass(frozen=True)
class Run:
    """A simulation that has run."""

    simulation: Simulation
    steps: int
    recording: Recording | None
    """None where it went to clips."""
    seconds: float
    """Time it took to step [s]."""
    is_interrupted: bool = False
    """Whether it was ended before all steps were done."""
    is_driven: bool = False
    """Whether inputs gave targets or efforts."""


def run(arguments) -> int:
    """Simulate as the arguments say."""
    start_quietly(arguments.device)
    settings = _settings(arguments)
    stage = open_stage(arguments.stage)
    _check_outputs(stage, arguments)
    made_of = None
    if arguments.output:
        made_of = input_record(stage, arguments.output, settings_of(arguments), files_of(arguments))
    scene = read_stage(stage, dialects=arguments.dialects)
    guides = scene if arguments.guides else None
    steps = _step_count(arguments, stage, settings.resolved(scene).dt)
    stretch = steps if arguments.clips is None else _stretch(arguments, settings.resolved(scene).dt)
    quantities = recorded(bool(arguments.output), bool(arguments.record), arguments.forces)
    _check_room(scene, stage, arguments, settings.resolved(scene), min(steps, stretch), quantities)
    with waiting("preparing; the first run on a machine compiles the kernels"):
        simulation = Simulation(
            scene,
            environments=arguments.environments,
            device=arguments.device,
            settings=settings,
            threads=arguments.threads,
        )
        simulation.step(0)
        simulation.record(0, forces=arguments.forces, quantities=quantities)
    inputs = Inputs({}, {})
    if arguments.inputs:
        driven = {dof.name for tree in scene.articulations for dof in tree.dofs if dof.drive is not None}
        inputs = read_inputs(arguments.inputs, simulation.joint_names, driven, simulation.environments, steps)
    for sentence in inputs.ignored:
        print(f"warp-artic: warning: {sentence}", file=sys.stderr)
    clips = None if arguments.clips is None else Clips(stage, simulation, arguments, stretch, guides)
    # What has been simulated is written, wherever Ctrl-C comes.
    with interruptible() as stop:
        done = _simulate(simulation, steps, inputs, arguments.forces, quantities, clips, stop)
        failures, wrote = _write(done, stage, arguments, made_of, guides, clips)
    if arguments.json:
        print(json.dumps(as_json(arguments.stage, done, wrote), indent=1))
    else:
        print(summary(arguments.stage, done, wrote))
    return INTERRUPTED if stop.is_set() else int(bool(failures))


def _write(done: Run, stage, arguments, made_of, guides: Scene | None, clips: Clips | None) -> tuple[list, list[str]]:
    """Write what the run gave, and say what has failed; failures, and what was written."""
    failures = done.simulation.failures()
    for failure in failures[:SHOWN]:
        print(f"warp-artic: error: {failure}", file=sys.stderr)
    wrote = []
    if arguments.record:
        with_origin(done.recording, stage, arguments.record, arguments.inputs).save(arguments.record)
        wrote.append(arguments.record)
    if clips is not None:
        clips.writer.finish()
        if clips.count:
            wrote.append(f"{arguments.output}, with {clips.count} clips in {clips.writer.folder}")
    elif arguments.output:
        made_of = None if done.is_interrupted or failures else made_of
        rate = arguments.frames_per_second
        write_results(stage, done.recording, arguments.output, frames_per_second=rate, inputs=made_of, guides=guides)
        wrote.append(arguments.output)
    return failures, wrote


def _settings(arguments) -> SolverSettings:
    """The settings that are given; the stage decides on the others."""
    return replace(
        SolverSettings(),
        dt=arguments.dt,
        solver=arguments.solver,
        position_iterations=arguments.position_iterations,
        velocity_iterations=arguments.velocity_iterations,
        integrator=arguments.integrator,
        precision=arguments.precision,
        sleep_after=arguments.sleep_after,
    )


def _check_outputs(stage, arguments) -> None:
    """Find out before the run what would stop its results from being written."""
    if arguments.output:
        check_output(stage, arguments.output)
    if arguments.record and Path(arguments.record).suffix != ".npz":
        raise SettingsError(f"{arguments.record}: a recording is written to a file whose name ends in .npz")
    if arguments.record:
        check_place(arguments.record)
    if arguments.resume and arguments.clips is None:
        raise SettingsError("resume: needs --clips, the length of the clips of the run to continue")
    if arguments.clips is not None and (not arguments.output or arguments.record):
        raise SettingsError("clips: are written with --output alone; --record would keep the whole run in memory")
    if arguments.guides and not arguments.output:
        raise SettingsError("guides: are part of the run layer; they need --output")
    rate = arguments.frames_per_second
    if rate is not None and rate <= 0:
        raise SettingsError(f"frames per second: {rate:g} is not a finite number above 0")


def _stretch(arguments, dt: float) -> int:
    """Time steps of a clip."""
    steps = arguments.clips / dt
    if not 0.5 <= steps < math.inf:
        raise SettingsError(f"clips: {arguments.clips:g} s is not at least one step of {dt:g} s")
    return round(steps)


def _step_count(arguments, stage, dt: float) -> int:
    """Time steps of the run."""
    if arguments.steps is not None:
        return arguments.steps
    duration = arguments.duration
    if duration is None:
        duration = DEFAULT_DURATION
        if stage.HasAuthoredTimeCodeRange() and stage.GetEndTimeCode() > stage.GetStartTimeCode():
            duration = (stage.GetEndTimeCode() - stage.GetStartTimeCode()) / stage.GetTimeCodesPerSecond()
    if duration < 0:
        raise SettingsError(f"duration: {duration:g} s is not a time of at least 0")
    steps = duration / dt
    if math.isinf(steps):
        raise SettingsError(f"duration: {duration:g} s has too many steps of {dt:g} s")
    return round(steps)


def _check_room(scene: Scene, stage, arguments, settings: SolverSettings, steps: int, quantities) -> None:
    """Refuse a run that this machine cannot hold."""
    frames = 0
    if arguments.output:
        rate = frame_rate(stage, arguments.frames_per_second)
        frames = math.ceil(min(steps, steps * settings.dt * rate)) + 1
    is_double, is_joined = settings.precision == "float64", bool(arguments.inputs)
    is_guided = bool(arguments.guides)
    check_room(scene, Wanted(arguments.environments, steps + 1, frames, quantities, is_double, is_joined, is_guided))


def _simulate(
    simulation: Simulation,
    steps: int,
    inputs: Inputs,
    forces: bool,
    quantities: tuple[str, ...],
    clips: Clips | None,
    stop: threading.Event,
) -> Run:
    """Step under the inputs, recording each step, with or without the forces of the joint constraints."""
    _set_start(simulation, inputs)
    _leave_tracks(simulation, inputs)
    authored = {name: getattr(simulation.control, name).numpy().T for name in inputs.control}
    begun = 0 if clips is None else clips.take_up(steps)
    ends = set() if clips is None else {*range(begun, steps, clips.stretch), steps}
    changes = sorted(step for step in {*inputs.changes(steps), *ends} if step >= begun)
    parts = []
    begin = time.perf_counter()
    with progress("simulating", steps - begun) as advance:

        def count(done: int) -> bool:
            advance(done)
            return stop.is_set()

        for first, last in zip(changes, changes[1:] or changes):
            _set_control(simulation, inputs, authored, first)
            every = 1 if clips is None else clips.steps_per_record(first, last)
            parts.append(simulation.record(last - first, every, count, forces, quantities))
            if simulation.steps_done < last:
                break
            if last in ends and last > first:
                clips.write(Recording.joined(parts))
                parts.clear()
        if clips is not None and begun == steps:
            clips.end_here(parts[0])
    seconds = time.perf_counter() - begin
    recording = Recording.joined(parts) if clips is None else None
    done = simulation.steps_done - begun
    is_interrupted, is_driven = done < steps - begun, bool(inputs.control)
    return Run(simulation, max(done, 0), recording, seconds, is_interrupted, is_driven)


def _set_start(simulation: Simulation, inputs: Inputs) -> None:
    """Put the start state of the inputs over the authored one."""
    for name, values in inputs.start.items():
        authored = getattr(simulation.state, name).numpy().T
        simulation.set_state(**{name: np.where(np.isnan(values), authored, values)})


def _leave_tracks(simulation: Simulation, inputs: Inputs) -> None:
    """Let the targets of the inputs go before those that the stage gives over time."""
    for name, values in inputs.control.items():
        for dof in np.flatnonzero(~np.isnan(values).all(axis=(0, 1))):
            simulation.target_tracks.pop((name, simulation.joint_names[dof]), None)


def _set_control(simulation: Simulation, inputs: Inputs, authored: dict[str, np.ndarray], step: int) -> None:
    """Write the control values of one step; authored ones where nothing is given."""
    for name, values in inputs.control.items():
        now = values[min(step, len(values) - 1)]
        now = np.where(np.isnan(now), authored[name], now)
        array = getattr(simulation.control, name)
        array.assign(np.ascontiguousarray(now.T.astype(array.numpy().dtype)))
