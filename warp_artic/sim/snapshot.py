"""Copies of chosen arrays of a simulation on its device, taken and applied by name.

A snapshot of EVERYTHING, applied later, resumes bitwise: "history" has what steps remember beside the motion.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError
from warp_artic.kernels.columns import indices_of_longs, indices_of_mask
from warp_artic.sim.rows import Rows, private_rows, shaped
from warp_artic.sim.views import CONTROL, MOTION, PARAMETERS, ROW_COUNTS

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
    environments: wp.array
    """Indices of the columns, on the device."""
    of_environments: int
    """How many the simulation has."""
    has_all_environments: bool
    """Whether column k is environment k, and none is left out."""
    steps_done: int
    model_hash: str
    pieces: tuple[Piece, ...]
    bodies: dict[str, np.ndarray]
    """Arrays of elastic bodies, environments first, where the history is among the parts."""

    def __getattr__(self, name: str) -> wp.array:
        for piece in self.__dict__.get("pieces", ()):
            if piece.part == name and name in ROW_COUNTS:
                return shaped(piece.values, ROW_COUNTS[name][1])
        raise AttributeError(f"no array {name!r} in a snapshot of {', '.join(self.__dict__.get('parts', ()))}")


def take_snapshot(simulation, parts, environments, articulations) -> Snapshot:
    """See `Simulation.snapshot`."""
    parts = EVERYTHING if parts is None else _parts(parts, PARTS)
    chosen = _indices(simulation, environments)
    indices = chosen_articulations(simulation, articulations)
    for part in parts:
        if part != HISTORY:
            simulation._prepare(part)
    groups = simulation._groups
    of_groups = [part for part in parts if part != HISTORY] if groups else ()
    rows = {part: (part, part, simulation._rows(part, indices)) for part in of_groups}
    if HISTORY in parts:
        names = [name for name in groups[0].state if name not in MOTION] if groups else ()
        rows |= {f"{HISTORY} {name}": (HISTORY, name, private_rows(groups, name)) for name in names}
    return Snapshot(
        parts=parts,
        articulations=indices,
        environments=chosen,
        of_environments=simulation.environments,
        has_all_environments=environments is None,
        steps_done=simulation.steps_done,
        model_hash=simulation.model_hash,
        pieces=tuple(Piece(part, name, own, own.take(groups, name, chosen)) for part, name, own in rows.values()),
        bodies=simulation._elastic.take(chosen.numpy()) if HISTORY in parts else {},
    )


def apply_snapshot(simulation, snapshot: Snapshot, parts, environments, articulations) -> None:
    """See `Simulation.apply`."""
    if snapshot.model_hash != simulation.model_hash or str(snapshot.environments.device) != simulation.device:
        raise SettingsError("apply: the snapshot is of another model, of other settings or on another device")
    allowed = tuple(part for part in snapshot.parts if part in APPLIED)
    parts = allowed if parts is None else _parts(parts, allowed)
    indices = snapshot.articulations if articulations is None else chosen_articulations(simulation, articulations)
    if missing := sorted(set(indices) - set(snapshot.articulations)):
        raise SettingsError(f"apply: {simulation.articulations[missing[0]].path} is not in the snapshot")
    chosen = _targets(simulation, snapshot, environments)
    if HISTORY not in parts and not set(parts).isdisjoint(MOTION):
        simulation._forget_history(indices, chosen)
    groups = simulation._groups
    simulation._parameter_watch.look()
    for piece in snapshot.pieces:
        if piece.part in parts:
            if piece.part in PARAMETERS:
                simulation._prepare(piece.part)
            piece.rows.only(groups, indices).put(piece.values, groups, piece.name, chosen)
    if HISTORY in parts and snapshot.bodies:
        simulation._elastic.put(snapshot.bodies, chosen.numpy())
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


def _indices(simulation, environments) -> wp.array:
    """Indices of environments on the device, from indices or a mask; how many a mask chooses is read by the host."""
    found, is_mask = chosen_environments(simulation, environments)
    if is_mask:
        found = found.numpy()
        return wp.array(found[found >= 0], dtype=wp.int32, device=simulation.device)
    return wp.clone(found)


def _targets(simulation, snapshot: Snapshot, environments) -> wp.array:
    """The environment that each column of a snapshot goes to, or -1."""
    columns, count = snapshot.environments.shape[0], simulation.environments
    if environments is None:
        if snapshot.of_environments != count:
            raise SettingsError(
                f"apply: the snapshot is of a simulation of {snapshot.of_environments} environments, and this one has "
                f"{count}; environments= says which are meant"
            )
        return snapshot.environments
    found, is_mask = chosen_environments(simulation, environments)
    if not is_mask and snapshot.has_all_environments and columns == count != found.shape[0]:
        # Those of the snapshot that are meant, as a mask would say it.
        own = found.numpy()
        own = own[(own >= 0) & (own < count)]
        targets = np.full(count, -1, np.int32)
        targets[own] = own
        return wp.array(targets, dtype=wp.int32, device=simulation.device)
    if columns != 1 and (columns != found.shape[0] or (is_mask and not snapshot.has_all_environments)):
        wanted = "one, or all environments," if is_mask else f"one, or {found.shape[0]} environments"
        raise SettingsError(f"environments: the snapshot is of {columns} environments; {wanted} is needed for these")
    return found


def chosen_environments(simulation, environments) -> tuple[wp.array, bool]:
    """Indices on the device, with -1 where a mask chooses none, and whether it was a mask."""
    count, device = simulation.environments, simulation.device
    given = np.arange(count) if environments is None else environments
    if not isinstance(given, wp.array):
        is_far = hasattr(given, "__dlpack_device__") and given.__dlpack_device__()[0] != ON_HOST
        given = wp.from_dlpack(given) if is_far else _uploaded(np.atleast_1d(given), device)
    known = given is not None and given.ndim == 1 and given.dtype in (wp.bool, wp.int32, wp.int64)
    is_mask = known and given.dtype is wp.bool
    if not known or str(given.device) != device or (is_mask and given.shape[0] != count):
        raise SettingsError(
            f"environments: {environments!r} is no list of indices, and no mask of {count}, on {device}"
        )
    if given.device.is_cpu and not is_mask and given.shape[0]:
        values = given.numpy()
        if values.min() < 0 or values.max() >= count:
            raise SettingsError(f"environments: indices {values} are not all in 0 ... {count - 1}")
    if given.dtype is wp.int32:
        return given, False
    chosen = wp.zeros(given.shape[0], dtype=wp.int32, device=device)
    wp.launch(indices_of_mask if is_mask else indices_of_longs, dim=chosen.shape, inputs=[given, chosen], device=device)
    return chosen, is_mask


def _uploaded(values: np.ndarray, device: str) -> wp.array | None:
    """A mask or indices on the device; None where it is neither."""
    if values.dtype == bool:
        return wp.array(values, dtype=wp.bool, device=device)
    if values.dtype.kind in "iu" or values.size == 0:
        return wp.array(values, dtype=wp.int64, device=device)
    return None
