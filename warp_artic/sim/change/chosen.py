"""Which environments and which articulations are meant, as a user says it."""

from __future__ import annotations

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError
from warp_artic.kernels.columns import indices_of_longs, indices_of_mask
from warp_artic.sim.arrays.row_table import CPU, Held
from warp_artic.sim.arrays.views import indices_given
from warp_artic.sim.run.state import Run

ON_HOST = 1
"""DLPack's number of the CPU."""


def chosen_environments(run: Run, environments) -> tuple[Held, bool]:
    """Indices on the device, with -1 where a mask chooses none, and whether it was a mask."""
    count, device = run.environments, run.device
    if environments is None:
        return on_device(np.arange(count), device), False
    given = environments
    if not isinstance(given, wp.array):
        is_far = hasattr(given, "__dlpack_device__") and given.__dlpack_device__()[0] != ON_HOST
        if not is_far:
            values = indices_given(given)
            if values is None:
                raise SettingsError(f"environments: {environments!r} is no list of indices")
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


def chosen_articulations(run: Run, articulations) -> tuple[int, ...]:
    """Indices in the scene, from indices, a mask, or prim paths."""
    paths = [tree.path for tree in run.scene.articulations]
    if articulations is None:
        return tuple(range(len(paths)))
    given = articulations.numpy() if isinstance(articulations, wp.array) else indices_given(articulations)
    if given is None:
        raise SettingsError(f"articulations: {articulations!r} is no list of prim paths or indices")
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
