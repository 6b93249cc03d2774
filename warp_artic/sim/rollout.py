"""Many runs at once, arrays in and arrays out: controls over time, and parameters and start states by environment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.arrays.views import CONTROL, MOTION, checked, real_numbers
from warp_artic.sim.derivatives.quantities import mapped
from warp_artic.sim.launch.device import room_for
from warp_artic.sim.record.recorder import Recorder
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.simulation import Simulation

MOTIONS = ("joint_position", "joint_velocity")
"""What a rollout keeps by default."""


def rollout(
    simulation: Simulation,
    controls: Mapping[str, np.ndarray] | None = None,
    *,
    steps: int | None = None,
    start: Mapping[str, np.ndarray] | None = None,
    parameters: Mapping[str, np.ndarray] | None = None,
    every: int = 1,
    quantities: Collection[str] | None = MOTIONS,
) -> Recording:
    """Reset all E environments, step them with given controls, and return a recording.

    Args:
        simulation: Is reset first; its parameters stay as they are set here.
        controls: By the names of `Simulation.control`: of shape (T, rows), the same in all environments, or
            (T, E, rows), one value for each of T steps; SI units and radians. Targets that are given here
            replace those that the stage has over time, which leave `target_tracks`.
        steps: Number of time steps; by default the T of the controls.
        start: By the names of arguments of `set_state`, such as joint_position (E, D), over the authored start.
        parameters: By the names of `Simulation.parameters`: shape (rows) or (E, rows).
        every: Steps from one record to the next; controls change in each step.
        quantities: Recorded arrays, as in `Simulation.record`; joint positions and velocities by default.

    Returns:
        Records of shape (T // every + 1, E, ...), the first one of the start.

    Raises:
        SettingsError: A name, a shape or a count is not allowed.
    """
    course = course_of(simulation, controls, steps, start, parameters, every)
    with room_for(f"records of {course.steps // every + 1:,} steps"):
        recorder = Recorder(simulation.run, course.steps // every + 1, None, quantities)
    follow(simulation, course, recorder.take)
    return recorder.recording()


@dataclass(frozen=True)
class Course:
    """What the environments of a rollout are given."""

    controls: dict[str, np.ndarray]
    """By name, (T, E, rows), with the components of each row last where it has several."""
    steps: int
    every: int
    start: Mapping[str, np.ndarray]
    parameters: Mapping[str, np.ndarray]


def course_of(simulation: Simulation, controls, steps, start, parameters, every) -> Course:
    """The course of a rollout of these arguments; see `rollout`."""
    check_kinds(simulation, controls, start, parameters)
    tables = {name: _table(simulation, name, values) for name, values in (controls or {}).items()}
    lengths = {name: len(table) for name, table in tables.items()}
    if steps is None:
        if not lengths:
            raise SettingsError("steps: is needed where there are no controls")
        steps = max(lengths.values())
    if wrong := [name for name, length in lengths.items() if length != steps]:
        raise SettingsError(f"{wrong[0]}: has {lengths[wrong[0]]} steps, {steps} are needed")
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise SettingsError(f"steps: {steps!r} is not an integer of at least 0")
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise SettingsError(f"every: {every!r} is not an integer of at least 1")
    if unknown := [name for name in (start or {}) if name not in MOTION]:
        raise SettingsError(
            f"start: {unknown[0]!r} is not one of {', '.join(MOTION)}{did_you_mean(unknown[0], MOTION)}"
        )
    return Course(tables, int(steps), every, start or {}, parameters or {})


def check_kinds(simulation: Simulation, controls, start, parameters) -> None:
    """Refuse arguments of a rollout that are of a wrong kind.

    Raises:
        SettingsError: One is.
    """
    if not isinstance(simulation, Simulation):
        raise SettingsError(f"simulation: a {type(simulation).__name__} is not a Simulation")
    for kind, given in (("controls", controls), ("start", start), ("parameters", parameters)):
        mapped(kind, given)


def follow(simulation: Simulation, course: Course, take: Callable[[], object]) -> None:
    """Reset all environments and step them along a course; `take` is called at the start and after each `every`."""
    go_to_start(simulation, course)
    tables, steps, every = course.controls, course.steps, course.every
    changes = {step for step in range(steps) if step == 0 or _changes(tables, step)}
    take()
    stops = sorted({*changes, *range(every, steps + 1, every), steps} | {0})
    for first, last in zip(stops, stops[1:]):
        if first in changes:
            for name, table in tables.items():
                setattr(simulation.control, name, np.moveaxis(table[first], 0, -1))
        simulation.step(last - first)
        if last % every == 0:
            take()


def go_to_start(simulation: Simulation, course: Course) -> None:
    """Reset all environments to the start of a course, with its parameters."""
    for name in course.controls:
        for joint in simulation.joint_names:
            simulation.target_tracks.pop((name, joint), None)
    simulation.reset()
    for name, values in course.parameters.items():
        simulation.set_values(name, values)
    if course.start:
        simulation.set_state(**course.start)


def _table(simulation: Simulation, name: str, values) -> np.ndarray:
    """Values of a control as (T, E, rows), with the components of each row last where it has several."""
    if name not in CONTROL:
        raise SettingsError(f"controls: {name!r} is not one of {', '.join(CONTROL)}{did_you_mean(name, CONTROL)}")
    *rows, environments = getattr(simulation.control, name).shape
    values = real_numbers(name, values)
    shape = (len(values) if values.ndim else 0, environments, *rows)
    if values.ndim == len(shape) - 1:
        values = values[:, None]
    return checked(name, values, shape)


def _changes(tables: Mapping[str, np.ndarray], step: int) -> bool:
    return any(not np.array_equal(table[step], table[step - 1]) for table in tables.values())
