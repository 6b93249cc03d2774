"""Rollouts as functions of arrays, with their derivatives backward: what `wa.torch` and `wa.jax` call on the host.

A rollout is a pure function of the arrays that it is given and of the simulation as it was when it was made: it runs as
that was, and leaves the simulation as it is. Slopes are those of a loss by the numbers of arrays; `gradient` has them
by motions, see `sim.derivatives.slopes`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.arrays.views import MOTION, PARAMETERS, ROW_COUNTS
from warp_artic.sim.change.moment import as_it_was, take_moment
from warp_artic.sim.derivatives.quantities import layouts, values_of_run
from warp_artic.sim.derivatives.slopes import by_motions, by_numbers
from warp_artic.sim.derivatives.twin import check_differentiable
from warp_artic.sim.rollout import Course, check_kinds, course_of, follow, go_to_start
from warp_artic.sim.simulation import Simulation

Key = tuple[str, str]
"""An argument of a rollout and the name of an array in it: ("start", "joint_position")."""
Array = TypeVar("Array")


class RolloutMotion(NamedTuple, Generic[Array]):
    """Positions and velocities of the T records of a rollout, in E environments."""

    joint_position: Array
    """Shape (T, E, D) [rad or m]."""
    joint_velocity: Array
    """The same of velocities [rad/s or m/s]."""
    root_pose: Array
    """Shape (T, E, R, 7) of R floating roots, in the world: position then quaternion xyzw."""
    root_velocity: Array
    """Shape (T, E, R, 6): of the centre of mass, and angular, world axes [m/s, rad/s]."""


class DifferentiableRollout:
    """A rollout of a simulation by arrays of given names and shapes.

    Args:
        simulation: Stays as it is.
        shapes: Of the arrays of controls, start and parameters.
        steps, every: As of `rollout`.

    Raises:
        SettingsError: A name, a shape or a count is not allowed.
        SolveError: There is something in the scene that is not differentiated yet, as of `Simulation.tangent`.
    """

    def __init__(self, simulation: Simulation, shapes: Mapping[Key, tuple[int, ...]], steps: int | None, every: int):
        check_differentiable(simulation.run, "rollout")
        self._simulation = simulation
        nothing = {key: np.broadcast_to(0.0, shape) for key, shape in shapes.items()}
        course = _course(simulation, nothing, steps, every)
        if course.steps == 0:
            raise SettingsError("steps: 0 is not an integer of at least 1")
        self._steps, self._every = course.steps, every
        self._aligned = {key: self._alignment(key, shape) for key, shape in shapes.items()}
        self._moment = take_moment(simulation.run)

    @property
    def precision(self) -> str:
        """The type of all arrays, "float32" or "float64"."""
        return self._simulation.settings.precision

    @property
    def shapes(self) -> RolloutMotion[tuple[int, ...]]:
        """Of what `run` returns."""
        records, E = self._steps // self._every + 1, self._simulation.environments
        dofs, roots = len(self._simulation.joint_names), len(self._simulation.root_names)
        return RolloutMotion((records, E, dofs), (records, E, dofs), (records, E, roots, 7), (records, E, roots, 6))

    def run(self, arrays: Mapping[Key, np.ndarray]) -> RolloutMotion[np.ndarray]:
        """The motion, by ordinary steps."""
        simulation, records = self._simulation, []
        parts = {name: list(layouts(simulation.run, name)) for name in MOTION}
        with as_it_was(simulation.run, self._moment):
            follow(
                simulation,
                self._course(arrays),
                lambda: records.append([values_of_run(simulation.run, name, parts[name]) for name in MOTION]),
            )
        return RolloutMotion(*(np.array(part, self.precision) for part in zip(*records)))

    def pull_back(
        self, arrays: Mapping[Key, np.ndarray], slopes: RolloutMotion[np.ndarray], wanted: Collection[Key]
    ) -> dict[Key, np.ndarray]:
        """Slopes by wanted arrays, each of its shape, of those by the motion."""
        simulation, run = self._simulation, self._simulation.run
        course = self._course(arrays)

        def loss(motion):
            found = {}
            for name, given in zip(MOTION, slopes):
                records = np.asarray(given, float)
                own = by_motions(run, name, getattr(motion, name)[:: self._every], records)
                found[name] = np.zeros((self._steps + 1, *own.shape[1:]))
                found[name][:: self._every] = own
            return 0.0, found

        with as_it_was(run, self._moment):
            go_to_start(simulation, course)
            names = [name for _, name in wanted]
            _, found = simulation.gradient(loss, self._steps, names, course.controls)
            return {key: self._shaped(key, arrays[key], found[key[1]]) for key in wanted}

    def _course(self, arrays: Mapping[Key, np.ndarray]) -> Course:
        return _course(self._simulation, arrays, self._steps, self._every)

    def _full_shape(self, key: Key) -> tuple[int, ...]:
        """Of an array with all steps, of controls, and all environments."""
        kind, name = key
        of, size = ROW_COUNTS[name]
        rows = sum(len(own) for own in self._simulation.run.order[of])
        shape = (self._simulation.environments, rows, size)[: 2 + (size > 1)]
        return (self._steps, *shape) if kind == "controls" else shape

    def _alignment(self, key: Key, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape of as many numbers that broadcasts to the full one."""
        kind, name = key
        if kind == "parameters" and name not in PARAMETERS:
            raise SettingsError(
                f"parameters: {name!r} is not one of {', '.join(PARAMETERS)}{did_you_mean(name, PARAMETERS)}"
            )
        full, aligned = self._full_shape(key), shape
        if kind == "controls" and len(shape) == len(full) - 1:
            aligned = (shape[0], 1, *shape[1:])
        if name in ("root_pose", "root_velocity") and full[1] == 1 and shape == (full[0], full[2]):
            aligned = (full[0], 1, full[2])
        try:
            np.broadcast_to(np.broadcast_to(0.0, aligned), full)
        except ValueError:
            raise SettingsError(f"{name}: shape {shape} is not {full} and does not broadcast to it") from None
        return aligned

    def _shaped(self, key: Key, values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Slopes of the shape of an array: by its numbers, and summed over what it is the same for."""
        kind, name = key
        aligned = self._aligned[key]
        if kind == "start":
            full = np.broadcast_to(np.reshape(np.asarray(values, float), aligned), self._full_shape(key))
            slopes = by_numbers(self._simulation.run, name, full[None], slopes[None])[0]
        aligned = (1,) * (slopes.ndim - len(aligned)) + aligned
        over = tuple(axis for axis, count in enumerate(aligned) if count == 1)
        return slopes.sum(axis=over, keepdims=True).reshape(values.shape).astype(self.precision)


def arrays_given(simulation: Simulation, controls, start, parameters) -> dict[Key, Any]:
    """The arrays of the arguments of a rollout.

    Raises:
        SettingsError: An argument is of a wrong kind.
    """
    check_kinds(simulation, controls, start, parameters)
    given = {"controls": controls, "start": start, "parameters": parameters}
    return {(kind, name): values for kind, arrays in given.items() for name, values in (arrays or {}).items()}


def check_precision(key: Key, found: str, simulation: Simulation) -> None:
    """Refuse an array of another type than the simulation has; nothing is converted unseen.

    Raises:
        SettingsError: It is.
    """
    wanted = simulation.settings.precision
    if found != wanted:
        raise SettingsError(f"{key[0]}: {key[1]}: {found} is not {wanted}, the precision of the simulation")


def _course(simulation: Simulation, arrays: Mapping[Key, np.ndarray], steps: int | None, every: int) -> Course:
    kinds = {kind: {} for kind in ("controls", "start", "parameters")}
    for (kind, name), values in arrays.items():
        kinds[kind][name] = values
    return course_of(simulation, kinds["controls"], steps, kinds["start"], kinds["parameters"], every)
