"""Copies of chosen arrays of a simulation on its device, taken and applied by name.

A snapshot of EVERYTHING, applied later, resumes bitwise: "history" has what steps remember beside the motion.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError
from warp_artic.kernels.columns import indices_of_longs, indices_of_mask
from warp_artic.sim.arrays.row_table import CPU, Held, as_numpy, as_warp, empty
from warp_artic.sim.arrays.rows import Rows, private_rows, shaped
from warp_artic.sim.arrays.views import CONTROL, MOTION, PARAMETERS, ROW_COUNTS

HISTORY = "history"
"""The part that has all fields of the state but the motion: clocks, failures, accelerations; and elastic bodies."""
EVERYTHING = (*MOTION, *CONTROL, HISTORY)
"""The parts that a run goes on from."""
APPLIED = (*EVERYTHING, *PARAMETERS)
"""Parts that can be applied; the others follow from a state or a step."""
PARTS = (*ROW_COUNTS, HISTORY)
"""All parts that there are."""
ON_HOST = 1
"""DLPack's number of the CPU."""


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
    """Arrays of elastic bodies, environments first, where the history is among the parts."""

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
        raise AttributeError(f"no array {name!r} in a snapshot of {', '.join(self.__dict__.get('parts', ()))}")


def take_snapshot(simulation, parts, environments, articulations) -> Snapshot:
    """See `Simulation.snapshot`."""
    parts = EVERYTHING if parts is None else _parts(parts, PARTS)
    chosen = _indices(simulation, environments)
    indices = chosen_articulations(simulation, articulations)
    for part in parts:
        if part not in EVERYTHING:
            simulation._prepare(part)
    groups = simulation._groups
    if groups:
        found = simulation._row_tables.find(("take", parts, indices), lambda: _entries(simulation, parts, indices))
        layout, values = found.layout, found.take(chosen)
    else:
        layout, values = (), empty((0, chosen.shape[0]), wp.float32, simulation.device)
    return Snapshot(
        parts=parts,
        articulations=indices,
        columns=chosen,
        of_environments=simulation.environments,
        has_all_environments=environments is None,
        steps_done=simulation.steps_done,
        model_hash=simulation.model_hash,
        values=values,
        layout=layout,
        device=simulation.device,
        bodies=simulation._elastic.take(as_numpy(chosen)) if HISTORY in parts and simulation.elastic_bodies else {},
    )


def apply_snapshot(simulation, snapshot: Snapshot, parts, environments, articulations) -> None:
    """See `Simulation.apply`."""
    if snapshot.model_hash != simulation.model_hash or snapshot.device != simulation.device:
        raise SettingsError("apply: the snapshot is of another model, of other settings or on another device")
    allowed = tuple(part for part in snapshot.parts if part in APPLIED)
    parts = allowed if parts is None else _parts(parts, allowed)
    indices = snapshot.articulations if articulations is None else chosen_articulations(simulation, articulations)
    if missing := sorted(set(indices) - set(snapshot.articulations)):
        raise SettingsError(f"apply: {simulation.articulations[missing[0]].path} is not in the snapshot")
    chosen, has_own_columns = _targets(simulation, snapshot, environments)
    if HISTORY not in parts and not set(parts).isdisjoint(MOTION):
        simulation._forget_history(indices, chosen)
    groups = simulation._groups
    simulation._parameter_watch.look()
    for part in parts:
        if part in PARAMETERS or part in CONTROL:
            simulation._prepare(part)
    if groups:
        meant = frozenset(parts)
        key = "put", snapshot.parts, snapshot.articulations, meant, indices
        found = simulation._row_tables.find(
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
            own = own[(own >= 0) & (own < simulation.environments)]
            bodies = {name: values[own] for name, values in bodies.items()}
        simulation._elastic.put(bodies, own)
    if not set(parts).issuperset(EVERYTHING):
        simulation._count_rest(indices, chosen, 0)
    is_whole = snapshot.has_all_environments and len(indices) == len(simulation.articulations)
    if HISTORY in parts and is_whole and environments is None:
        simulation._go_to(snapshot.steps_done)
    simulation._parameter_watch.accept()
    simulation._reported = False
    if not set(parts).isdisjoint((*MOTION, HISTORY)):
        simulation._set_anew()
        simulation._follow_links()


def _entries(simulation, parts: tuple[str, ...], indices: tuple[int, ...]) -> list[tuple[str, str, Rows, bool]]:
    """Part, name and rows of all arrays of parts."""
    groups = simulation._groups
    entries = [(part, part, simulation._rows(part, indices), True) for part in parts if part != HISTORY]
    names = [name for name in groups[0].state if name not in MOTION] if HISTORY in parts else ()
    return entries + [(HISTORY, name, private_rows(groups, name), True) for name in names]


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


def chosen_articulations(simulation, articulations) -> tuple[int, ...]:
    """Indices in the scene, from indices, a mask, or prim paths."""
    paths = [views.path for views in simulation.articulations]
    if articulations is None:
        return tuple(range(len(paths)))
    given = articulations.numpy() if isinstance(articulations, wp.array) else np.atleast_1d(articulations)
    if given.dtype == bool and given.shape == (len(paths),):
        given = np.flatnonzero(given)
    if given.dtype.kind == "U":
        if unknown := [path for path in given if path not in paths]:
            raise SettingsError(f"articulations: there is no {unknown[0]}; there are {', '.join(paths)}")
        given = np.array([paths.index(path) for path in given])
    if given.ndim != 1 or (
        given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= len(paths))
    ):
        raise SettingsError(
            f"articulations: {articulations!r} is no list of prim paths, of indices in 0 ... {len(paths) - 1}, "
            "and no mask of all"
        )
    return tuple(sorted({int(index) for index in given}))


def _indices(simulation, environments) -> Held:
    """Indices of environments on the device, from indices or a mask; how many a mask chooses is read by the host."""
    found, is_mask = chosen_environments(simulation, environments)
    if is_mask:
        found = as_numpy(found)
        return on_device(found[found >= 0], simulation.device)
    if isinstance(found, np.ndarray):
        return found.copy()  # who gave it may write to it
    return wp.clone(found) if isinstance(environments, wp.array) else found


def _targets(simulation, snapshot: Snapshot, environments) -> tuple[Held, bool]:
    """Environments that get something, or -1, and whether each gets the column of its own, and not the next one."""
    columns, count = snapshot.columns.shape[0], simulation.environments
    if environments is None:
        if snapshot.of_environments != count:
            raise SettingsError(
                f"apply: the snapshot is of a simulation of {snapshot.of_environments} environments, and this one has "
                f"{count}; environments= says which are meant"
            )
        return snapshot.columns, False
    found, is_mask = chosen_environments(simulation, environments)
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


def chosen_environments(simulation, environments) -> tuple[Held, bool]:
    """Indices on the device, with -1 where a mask chooses none, and whether it was a mask."""
    count, device = simulation.environments, simulation.device
    if environments is None:
        return on_device(np.arange(count), device), False
    given = environments
    if not isinstance(given, wp.array):
        is_far = hasattr(given, "__dlpack_device__") and given.__dlpack_device__()[0] != ON_HOST
        if not is_far:
            values = np.atleast_1d(given)
            if values.dtype == bool and values.shape == (count,):
                return on_device(np.where(values, np.arange(count), -1), device), True
            if values.ndim == 1 and values.size and values.dtype.kind in "iu":
                _check_indices(values, count)
                return on_device(values, device), False
        given = wp.from_dlpack(given) if is_far else _uploaded(values, device)
    known = given is not None and given.ndim == 1 and given.dtype in (wp.bool, wp.int32, wp.int64)
    is_mask = known and given.dtype is wp.bool
    if not known or str(given.device) != device or (is_mask and given.shape[0] != count):
        raise SettingsError(
            f"environments: {environments!r} is no list of indices, and no mask of {count}, on {device}"
        )
    if given.device.is_cpu:
        values = given.numpy()
        if is_mask:
            return on_device(np.where(values, np.arange(count), -1), device), True
        if values.size:
            _check_indices(values, count)
        return on_device(values, device), False
    if given.dtype is wp.int32:
        return given.contiguous(), False
    chosen = wp.zeros(given.shape[0], dtype=wp.int32, device=device)
    wp.launch(indices_of_mask if is_mask else indices_of_longs, dim=chosen.shape, inputs=[given, chosen], device=device)
    return chosen, is_mask


def on_device(values: np.ndarray, device: str) -> Held:
    """Whole numbers of the host in the memory of a device; on a CPU they may be the same ones."""
    own = np.ascontiguousarray(values, np.int32)
    return own if device == CPU else wp.array(own, dtype=wp.int32, device=device)


def _check_indices(values: np.ndarray, count: int) -> None:
    if values.min() < 0 or values.max() >= count:
        raise SettingsError(f"environments: indices {values} are not all in 0 ... {count - 1}")


def _uploaded(values: np.ndarray, device: str) -> wp.array | None:
    """A mask or indices on the device; None where it is neither."""
    if values.dtype == bool:
        return wp.array(values, dtype=wp.bool, device=device)
    if values.dtype.kind in "iu" or values.size == 0:
        return wp.array(values, dtype=wp.int64, device=device)
    return None
