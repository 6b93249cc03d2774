"""Derivatives of a run along directions: forward, by steps on dual numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError
from warp_artic.sim.arrays.views import CONTROL, MOTION, checked, real_numbers
from warp_artic.sim.derivatives.quantities import Quantity, mapped, motions, places, quantity, seed, values
from warp_artic.sim.derivatives.twin import Twin, check_differentiable
from warp_artic.sim.run.state import Run


@dataclass(frozen=True)
class Motion:
    """Positions and velocities of T records of E environments, or their derivatives along K directions.

    Derivatives of positions are motions in the axes of velocities: of ball joints and joints with both swings free
    along the axes of the moving frame, and of floating roots six numbers, the displacement of the centre of mass and
    the rotation vector, in world axes.
    """

    joint_position: np.ndarray
    """Shape (T, E, D), or (T, K, E, D) [rad or m]."""
    joint_velocity: np.ndarray
    """The same of velocities [rad/s or m/s]."""
    root_pose: np.ndarray
    """Shape (T, E, R, 7) of R floating roots, position then quaternion xyzw, or (T, K, E, R, 6) [m, rad]."""
    root_velocity: np.ndarray
    """Shape (T, E, R, 6), or (T, K, E, R, 6): of the centre of mass, and angular, world axes [m/s, rad/s]."""


@dataclass(frozen=True)
class Tangent:
    """A run, and its derivatives along K directions."""

    time: np.ndarray
    """Simulated time of each record, shape (T) [s]."""
    values: Motion
    derivatives: Motion
    """By a unit of each direction."""


def tangent(
    run: Run,
    seeds: Mapping[str, np.ndarray],
    steps: int,
    every: int | None,
    controls: Mapping[str, np.ndarray] | None,
) -> Tangent:
    """See `Simulation.tangent`."""
    check_differentiable(run, "tangent")
    steps, every = _counts(steps, every)
    given = {name: quantity(run, name) for name in mapped("seeds", seeds)}
    tables = {name: _directions(run, one, seeds[name]) for name, one in given.items()}
    counts = {name: len(table) for name, table in tables.items()}
    if not counts:
        raise SettingsError("seeds: none are given; there is one for each quantity that directions change")
    directions = max(counts.values())
    if wrong := [name for name, count in counts.items() if count != directions]:
        raise SettingsError(f"{wrong[0]}: has {counts[wrong[0]]} directions, others have {directions}")
    steered = {name: control_table(run, name, table, steps) for name, table in mapped("controls", controls).items()}
    twin = twin_of(run, directions, tables)
    for name, one in given.items():
        seed(run, twin, one, tables[name])
    return _recorded(run, twin, directions, steps, every, steered)


def _recorded(run: Run, twin: Twin, directions: int, steps: int, every: int, steered) -> Tangent:
    """Make the steps of a twin that is seeded, and keep records."""
    records = [_record(run, twin, directions)]
    for done in range(0, steps - every + 1, every):
        advance(run, twin, done, every, steered)
        records.append(_record(run, twin, directions))
    time = (run.steps_done + np.arange(len(records)) * every) * run.settings.dt
    return Tangent(time, *(Motion(*map(np.array, zip(*sides))) for sides in zip(*records)))


def tangent_of_numbers(run: Run, numbers: Mapping[tuple[int, str, int, int], np.ndarray], steps: int, every: int):
    """The `Tangent` of a run along K directions of single numbers of parameters and controls, in every environment.

    Args:
        run: The run, which stays as it is.
        numbers: By group, name of the field, row and mechanism: what each direction changes, shape (K).
        steps: Number of time steps.
        every: Steps from one record to the next.
    """
    check_differentiable(run, "tangent")
    directions = max(map(len, numbers.values()))
    twin = twin_of(run, directions, {name for _, name, _, _ in numbers})
    for (place, name, row, mechanism), along in numbers.items():
        columns = slice(mechanism * run.environments, (mechanism + 1) * run.environments)
        twin.seed(place, name, [row], columns, along[None, None])
    return _recorded(run, twin, directions, steps, every, {})


def twin_of(run: Run, directions: int, own: Iterable[str], seeds: tuple | None = None) -> Twin:
    """The twin of a run with room for some directions, at the state of the run and without derivatives; see `begin`."""
    blocks = -(-directions // Twin.width_of(run))
    if not isinstance(run.twin, Twin) or run.twin.blocks != blocks:
        run.twin = Twin(run, blocks)
    twin = run.twin
    known = {name for group in run.groups for name in group.parameters}
    twin.begin(frozenset(own) & known, seeds)
    return twin


def advance(run: Run, twin: Twin, first: int, count: int, controls: Mapping[str, np.ndarray]) -> None:
    """Make steps of a twin, the first of them `first` steps after the state of the run."""
    if not controls and not run.tracks:
        twin.step(count)
        return
    with _tracks_kept(run):
        for step in range(first, first + count):
            if run.tracks:
                run.tracks.apply((run.steps_done + step + 1) * run.settings.dt)
                twin.copy_values(frozenset(name for name, _ in run.tracks))
            for name, table in controls.items():
                set_control(run, twin, name, table[step])
            twin.step(1)


def set_control(run: Run, twin: Twin, name: str, table: np.ndarray) -> None:
    """Write values (E or 1, numbers) of a control to a twin; derivatives stay."""
    for layout in places(run, twin, name):
        twin.set_values(layout.place, name, layout.own, layout.columns, table.T[layout.rows])


def control_table(run: Run, name: str, given, steps: int) -> np.ndarray:
    """Values of a control over time, (steps, rows) or (steps, E, rows), as (steps, E or 1, numbers)."""
    one = quantity(run, name, CONTROL)
    table = real_numbers(name, given)
    if table.ndim == 1 + len(one.shape):
        table = table[:, None]
    table = checked(name, table, (steps, table.shape[1] if table.ndim > 1 else 1, *one.shape))
    if table.shape[1] not in (1, run.environments):
        raise SettingsError(f"{name}: {table.shape[1]} environments are not {run.environments}")
    return table.reshape(steps, table.shape[1], one.numbers)


def _counts(steps: int, every: int | None) -> tuple[int, int]:
    for name, count, least in (("steps", steps, 0), ("every", every if every is not None else 1, 1)):
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < least:
            raise SettingsError(f"{name}: {count!r} is not an integer of at least {least}")
    return int(steps), int(every) if every is not None else max(int(steps), 1)


def _directions(run: Run, one: Quantity, given) -> np.ndarray:
    """Directions of a quantity as (K, E or 1, numbers)."""
    table = real_numbers(one.name, given)
    if table.ndim == 1 + len(one.shape):
        table = table[:, None]
    environments = table.shape[1] if table.ndim == 2 + len(one.shape) else 0
    if environments not in (1, run.environments) or table.shape[2:] != one.shape or not len(table):
        raise SettingsError(
            f"{one.name}: directions of shape {np.shape(given)} are not (K, {', '.join(map(str, one.shape))}) or "
            f"(K, {run.environments}, {', '.join(map(str, one.shape))})"
        )
    return checked(one.name, table, table.shape).reshape(len(table), environments, one.numbers)


def _record(run: Run, twin: Twin, directions: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    found = []
    for name in MOTION:
        one = quantity(run, name, MOTION)
        rates = motions(run, twin, one)[..., :directions].transpose(2, 1, 0)
        found.append(rates.reshape(*rates.shape[:2], *one.shape))
    return [values(run, twin, name) for name in MOTION], found


@contextmanager
def _tracks_kept(run: Run) -> Iterator[None]:
    """Put what follows values over time back to where it was."""
    fields = [group.field(name).scalars for name in {name for name, _ in run.tracks} for group in run.groups]
    before = [wp.clone(scalars) for scalars in fields]
    try:
        yield
    finally:
        for scalars, old in zip(fields, before):
            scalars.assign(old)
