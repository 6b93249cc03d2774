"""Copies of chosen arrays of a simulation on its device, taken and applied by name.

A snapshot of EVERYTHING, applied later, resumes bitwise: "history" has what steps remember beside the motion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError, UnknownNameError
from warp_artic.mechanisms.public_rows import MEMORY
from warp_artic.sim.arrays.row_table import Held, as_numpy, as_warp, empty
from warp_artic.sim.arrays.rows import Rows, private_rows, shaped
from warp_artic.sim.arrays.views import CONTROL, MOTION, PARAMETERS, ROW_COUNTS
from warp_artic.sim.change.chosen import chosen_articulations, chosen_environments, on_device
from warp_artic.sim.change.motion import forget_history
from warp_artic.sim.change.sleep import count_rest
from warp_artic.sim.run.access import prepare, rows_of
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import follow_links, go_to

HISTORY = "history"
"""The part that has all fields of the state but the motion: clocks, failures, accelerations; and elastic bodies."""
EVERYTHING = (*MOTION, *CONTROL, HISTORY)
"""The parts that a run goes on from."""
APPLIED = (*EVERYTHING, *MEMORY, *PARAMETERS)
"""Parts that can be applied; the others follow from a state or a step."""
PARTS = (*ROW_COUNTS, HISTORY)
"""All parts that there are."""


@dataclass(frozen=True)
class Piece:
    """One array of a snapshot; the history has several."""

    part: str
    name: str
    rows: Rows
    values: wp.array
    """Shape (rows, columns)."""


@dataclass(frozen=True)
class Snapshot:
    """Arrays of a simulation as they were, by their names as attributes: `snapshot.joint_position`.

    Each has the shape of the array of that name, with a column for each chosen environment; it lies on the device
    without gaps, and may be written before it is applied.
    """

    parts: tuple[str, ...]
    articulations: tuple[int, ...]
    """Indices in the scene; arrays have the rows of these, in the order of the scene."""
    columns: Held
    """Indices of the environments of the columns, in the memory of the device."""
    of_environments: int
    """How many the simulation has."""
    has_all_environments: bool
    """Whether column k is environment k, and none is left out."""
    steps_done: int
    model_hash: str
    values: Held
    """All of its rows, shape (rows, columns), in the memory of the device."""
    layout: tuple[tuple[str, str, Rows, slice], ...]
    """Part, name and rows of each array, and where it is in the table."""
    device: str
    bodies: dict[str, np.ndarray]
    """Arrays of elastic bodies, and of contacts that are found in each step, environments first, where the history is
    among the parts."""

    def __repr__(self) -> str:
        return (
            f"<Snapshot of {', '.join(self.parts)}: {self.columns.shape[0]} of {self.of_environments} "
            f"environment{'s' * (self.of_environments != 1)}, after {self.steps_done} steps>"
        )

    @cached_property
    def environments(self) -> wp.array:
        """Indices of the columns, on the device."""
        return as_warp(self.columns)

    @cached_property
    def table(self) -> wp.array:
        """All of its rows, shape (rows, columns), on the device."""
        return as_warp(self.values)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Its arrays; the history has several."""
        return tuple(Piece(part, name, rows, _rows(self.table, span)) for part, name, rows, span in self.layout)

    def __getattr__(self, name: str) -> wp.array:
        for part, _, _, span in self.__dict__.get("layout", ()):
            if part == name and name in ROW_COUNTS:
                return shaped(_rows(self.table, span), ROW_COUNTS[name][1])
        raise UnknownNameError(f"no array {name!r} in a snapshot of {', '.join(self.__dict__.get('parts', ()))}")


def take_snapshot(run: Run, parts, environments, articulations) -> Snapshot:
    """See `Simulation.snapshot`."""
    run.idle.end(run.steps_done)
    parts = EVERYTHING if parts is None else _parts(parts, PARTS)
    chosen = _indices(run, environments)
    indices = chosen_articulations(run, articulations)
    for part in parts:
        if part not in EVERYTHING:
            prepare(run, part)
    groups = run.groups
    if groups:
        found = run.tables.find(("take", parts, indices), lambda: _entries(run, parts, indices))
        layout, values = found.layout, found.take(chosen)
    else:
        layout, values = (), empty((0, chosen.shape[0]), wp.float32, run.device)
    return Snapshot(
        parts=parts,
        articulations=indices,
        columns=chosen,
        of_environments=run.environments,
        has_all_environments=environments is None,
        steps_done=run.steps_done,
        model_hash=run.model_hash,
        values=values,
        layout=layout,
        device=run.device,
        bodies=_take_beside(run, as_numpy(chosen), indices) if HISTORY in parts else {},
    )


def _take_beside(run: Run, environments: np.ndarray, articulations: Sequence[int]) -> dict[str, np.ndarray]:
    """What a run goes on from beside the fields of groups."""
    names = run.elastic.names_of(articulations)
    found = {name: values for name, values in run.elastic.take(environments).items() if name in names}
    return found | (run.islands.take(environments) if run.islands else {})


def apply_snapshot(run: Run, snapshot: Snapshot, parts, environments, articulations) -> None:
    """See `Simulation.apply`."""
    if not isinstance(snapshot, Snapshot):
        raise SettingsError(f"apply: a {type(snapshot).__name__} is not a Snapshot, as simulation.snapshot() gives it")
    run.idle.end(run.steps_done)
    if snapshot.model_hash != run.model_hash or snapshot.device != run.device:
        raise SettingsError("apply: the snapshot is of another model, of other settings or on another device")
    allowed = tuple(part for part in snapshot.parts if part in APPLIED)
    parts = allowed if parts is None else _parts(parts, allowed)
    indices = snapshot.articulations if articulations is None else chosen_articulations(run, articulations)
    if missing := sorted(set(indices) - set(snapshot.articulations)):
        raise SettingsError(f"apply: {run.scene.articulations[missing[0]].path} is not in the snapshot")
    chosen, has_own_columns = _targets(run, snapshot, environments)
    if HISTORY not in parts and not set(parts).isdisjoint(MOTION):
        forget_history(run, indices, chosen)
    groups = run.groups
    run.parameter_watch.look()
    for part in parts:
        if part in PARAMETERS or part in CONTROL:
            prepare(run, part)
    if groups:
        meant = frozenset(parts)
        key = "put", snapshot.parts, snapshot.articulations, meant, indices
        found = run.tables.find(
            key,
            lambda: [
                (part, name, rows.only(groups, indices), part in meant) for part, name, rows, _ in snapshot.layout
            ],
        )
        found.put(snapshot.values, chosen, has_own_columns)
    if HISTORY in parts and snapshot.bodies:
        own = as_numpy(chosen)
        bodies = snapshot.bodies
        if has_own_columns:
            own = own[(own >= 0) & (own < run.environments)]
            bodies = {name: values[own] for name, values in bodies.items()}
        names = run.elastic.names_of(indices)
        run.elastic.put({name: values for name, values in bodies.items() if name in names}, own)
        if run.islands:
            run.islands.put({name: bodies[name] for name in run.islands.NAMES}, own)
    if not set(parts).issuperset(EVERYTHING):
        count_rest(run, indices, chosen, 0)
    is_whole = snapshot.has_all_environments and len(indices) == len(run.scene.articulations)
    if HISTORY in parts and is_whole and environments is None:
        go_to(run, snapshot.steps_done)
    run.parameter_watch.accept()
    run.is_reported = False
    if not set(parts).isdisjoint((*MOTION, HISTORY)):
        run.set_anew()
        follow_links(run)


def _entries(run: Run, parts: tuple[str, ...], indices: tuple[int, ...]) -> list[tuple[str, str, Rows, bool]]:
    """Part, name and rows of all arrays of parts."""
    groups = run.groups
    entries = [(part, part, rows_of(run, part, indices), True) for part in parts if part != HISTORY]
    names = [name for name in groups[0].state if name not in MOTION] if HISTORY in parts else ()
    entries += [(HISTORY, name, private_rows(groups, name), True) for name in names]
    return entries + [(HISTORY, name, rows, True) for name, rows in run.given_contacts.rows if HISTORY in parts]


def _rows(table: wp.array, span: slice) -> wp.array:
    """Some rows of a table, in the same memory; Warp has no slices of nothing."""
    if span.start == span.stop:
        return wp.empty((0, table.shape[1]), dtype=table.dtype, device=table.device)
    return table[span]


def _parts(parts: Iterable[str] | str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    parts = (parts,) if isinstance(parts, str) else tuple(parts)
    for part in parts:
        if part not in PARTS:
            raise SettingsError(f"parts: {part!r} is not one of {', '.join(PARTS)}")
        if part not in allowed:
            why = "is not in the snapshot" if part in APPLIED else "follows from others and cannot be applied"
            raise SettingsError(f"parts: {part} {why}; allowed here: {', '.join(allowed)}")
    return parts


def _indices(run: Run, environments) -> Held:
    """Indices of environments on the device, from indices or a mask; how many a mask chooses is read by the host."""
    found, is_mask = chosen_environments(run, environments)
    if is_mask:
        found = as_numpy(found)
        return on_device(found[found >= 0], run.device)
    if isinstance(found, np.ndarray):
        return found.copy()  # who gave it may write to it
    return wp.clone(found) if isinstance(environments, wp.array) else found


def _targets(run: Run, snapshot: Snapshot, environments) -> tuple[Held, bool]:
    """Environments that get something, or -1, and whether each gets the column of its own, and not the next one."""
    columns, count = snapshot.columns.shape[0], run.environments
    if environments is None:
        if snapshot.of_environments != count:
            raise SettingsError(
                f"apply: the snapshot is of a simulation of {snapshot.of_environments} environments, and this one has "
                f"{count}; environments= says which are meant"
            )
        return snapshot.columns, False
    found, is_mask = chosen_environments(run, environments)
    is_by_mask = is_mask and columns > 1 and isinstance(found, np.ndarray)
    if snapshot.has_all_environments and columns == count and is_by_mask:
        return found[found >= 0], True
    if not is_mask and snapshot.has_all_environments and columns == count != found.shape[0]:
        return found, True  # those of the snapshot that are meant, as a mask would say it
    if columns != 1 and (columns != found.shape[0] or (is_mask and not snapshot.has_all_environments)):
        count = found.shape[0]
        wanted = "one, or all environments," if is_mask else "one" if count == 1 else f"one, or {count} environments"
        raise SettingsError(f"environments: the snapshot is of {columns} environments; {wanted} is needed for these")
    return found, False
