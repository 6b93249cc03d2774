"""The inputs file of a run: start state, drive targets and joint efforts, constant or per step."""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.arrays.views import FASTEST
from warp_artic.sim.files.npz import LARGEST, Entry, read_npz
from warp_artic.sim.files.text import read_text
from warp_artic.sim.run.targets import TARGETS

START = ("joint_position", "joint_velocity")
CONTROL = (*TARGETS, "joint_effort")
SHOWN = 6
"""How many dofs a message names."""
UNREADABLE = (OSError, ValueError, RecursionError)
"""What readers of text raise on content that is not theirs."""


@dataclass(frozen=True)
class Inputs:
    """What an inputs file gives, laid out for a run of T steps, E environments and D dofs; SI and radians."""

    start: dict[str, np.ndarray]
    """Quantities of START; shape (E, D), NaN where nothing is given."""
    control: dict[str, np.ndarray]
    """Quantities of CONTROL; shape (T, E, D), or (1, E, D) where constant; NaN where nothing is given."""
    ignored: tuple[str, ...] = ()
    """What is given and has no effect, each in a sentence."""

    def changes(self, steps: int) -> list[int]:
        """The steps before which some control has to be written, the first of them 0, and `steps` at the end."""
        changed = {0, steps}
        for values in self.control.values():
            differs = ~((values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1])))
            changed |= set((1 + np.flatnonzero(differs.any(axis=(1, 2)))).tolist())
        return sorted(step for step in changed if step <= steps)


def read_inputs(path: str, dof_names: tuple[str, ...], driven: Container[str], environments: int, steps: int) -> Inputs:
    """Read and lay out an inputs file; `driven` are the dofs that have a drive."""
    given = _read(path, max(steps, 1) * environments * len(dof_names))
    start, control, ignored = {}, {}, []
    for key, value in given.items():
        name, _, dof = key.partition(":")
        if name not in (*START, *CONTROL):
            known = (*START, *CONTROL)
            meant = did_you_mean(name, known)
            raise SettingsError(f"{path}: {name!r} is not an input; inputs are {', '.join(known)}{meant}")
        where = f"{path}: {key}"
        values = _numbers(where, value, FASTEST if name in START else LARGEST)
        column = _column(where, dof, dof_names) if dof else None
        if name in TARGETS and dof and dof not in driven:
            raise SettingsError(f"{where}: this dof has no drive, so it takes no target")
        if name in START:
            table = start.setdefault(name, np.full((environments, len(dof_names)), np.nan))
            _fill_start(where, table, values, column)
        else:
            expanded = _control(where, values, column, (steps, environments, len(dof_names)))
            control[name] = _over(control.get(name), expanded)
            if name in TARGETS and not dof:
                ignored += _without_drive(where, expanded, dof_names, driven)
    return Inputs(start, control, tuple(ignored))


def _read(path: str, most: int) -> dict:
    """The content of a file, keys by dof flattened to `name:dof`, whole arrays first; arrays have so many entries."""
    if Path(path).suffix == ".npz":
        content = read_npz(path, "an inputs file", Entry("iuf", most=most))
    else:
        try:
            content = json.loads(read_text(path))
        except FileNotFoundError as error:
            raise SettingsError(f"{path}: there is no such file") from error
        except UNREADABLE as error:
            raise SettingsError(f"{path}: is not an inputs file (.json or .npz): {error}") from error
    if not isinstance(content, dict):
        raise SettingsError(f"{path}: is not an object with the names of inputs as keys")
    flat = {}
    for key, value in content.items():
        if isinstance(value, dict):
            flat |= {f"{key}:{dof}": number for dof, number in value.items()}
        else:
            flat[key] = value
    return dict(sorted(flat.items(), key=lambda item: ":" in item[0]))


def _numbers(where: str, value, largest: float) -> np.ndarray:
    """Finite numbers as an array, none of a larger magnitude."""
    try:
        values = np.asarray(value)
        if values.dtype.kind not in "iufO":
            raise TypeError(values.dtype)
        values = values.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        raise SettingsError(f"{where}: is not a number or an array of numbers") from error
    is_bad = ~(np.abs(values) <= largest)
    if is_bad.any():
        index = tuple(map(int, np.argwhere(is_bad)[0]))
        found = f"the value at {index} is {values[index]}" if index else f"is {values[index]}"
        raise SettingsError(f"{where}: {found}; a finite number, at most {largest:g}, is needed")
    return values


def _column(where: str, dof: str, dof_names: tuple[str, ...]) -> int:
    """Where a dof is in the order of the names."""
    if dof not in dof_names:
        known = _listed(dof_names) or "none"
        raise SettingsError(f"{where}: there is no dof {dof}; the dofs are {known}{did_you_mean(dof, dof_names)}")
    return dof_names.index(dof)


def _fill_start(where: str, table: np.ndarray, values: np.ndarray, column: int | None) -> None:
    """Put values into a table (E, D), or into one of its columns."""
    target = table if column is None else table[:, column]
    allowed = [table.shape[1:], table.shape] if column is None else [(), table.shape[:1]]
    if values.shape not in allowed:
        raise SettingsError(f"{where}: has shape {values.shape}; {allowed[0]} or {allowed[1]} is needed")
    target[...] = values


def _control(where: str, values: np.ndarray, column: int | None, shape: tuple[int, int, int]) -> np.ndarray:
    """Values as (T or 1, E, D), NaN in the columns that are not meant."""
    steps, environments, dofs = shape
    allowed = {(dofs,): (None, None), (steps, dofs): (slice(None), None), shape: (slice(None), slice(None))}
    if column is not None:
        allowed = {
            (): (None, None),
            (steps,): (slice(None), None),
            (steps, environments): (slice(None), slice(None)),
        }
    if values.shape not in allowed:
        sentence = " or ".join(map(str, allowed))
        raise SettingsError(f"{where}: has shape {values.shape}; {sentence} is needed ({steps} steps)")
    values = values[allowed[values.shape]]
    table = np.full((values.shape[0], environments, dofs), np.nan)
    target = table if column is None else table[:, :, column]
    target[...] = values
    return table


def _without_drive(where: str, values: np.ndarray, dof_names: tuple[str, ...], driven: Container[str]) -> list[str]:
    """A sentence on the dofs without a drive that are given a target other than zero."""
    aimed = values.any(axis=(0, 1))
    found = [name for name, is_aimed in zip(dof_names, aimed) if is_aimed and name not in driven]
    if not found:
        return []
    return [f"{where}: has targets for dofs that have no drive, which ignore them: {_listed(found)}"]


def _listed(names: Sequence[str]) -> str:
    """The first names."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def _over(below: np.ndarray | None, above: np.ndarray) -> np.ndarray:
    """`above` where it has a value, else `below`."""
    return above if below is None else np.where(np.isnan(above), below, above)
