"""Warp and its devices, for callers that do not know Warp."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError, SolveError
from warp_artic.kernels.threads import usable_threads


def start_quietly(device: str) -> None:
    """Initialise Warp without its own lines; on the CPU also without the warning that there is no GPU driver."""
    wp.config.log_level = wp.LOG_ERROR
    if not device.startswith("cpu"):
        wp.init()
        return
    # The warning is written by native code, past Python's stderr.
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        wp.init()
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


@contextmanager
def room_for(what: str) -> Iterator[None]:
    """Make a SolveError of memory, of the host or a device, that there is not."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        raise SolveError(f"{what} do not fit into the memory: {error}") from error


def device_of(name: str) -> str:
    """The full name of a device."""
    try:
        return str(wp.get_device(name))
    except Exception as error:  # Warp raises several types for one reason
        known = ", ".join(str(device) for device in wp.get_devices())
        raise SettingsError(f"device: {name!r} is not one of {known}") from error


def wait_for(device: str) -> None:
    """Return when the device has done what it was given."""
    wp.synchronize_device(device)


def array_of(array, kind: str):
    """An array (rows, ..., environments) as one of "numpy", "torch" or "jax" of shape (environments, rows, ...).

    It is in the same memory, but for JAX, and NumPy on a GPU, which get copies; so does everybody of an array over
    several articulations.
    """
    own = array if isinstance(array, wp.array) else array.array()
    if kind == "torch":
        return wp.to_torch(own).movedim(-1, 0)
    values = np.moveaxis(own.numpy(), -1, 0)
    return values if kind == "numpy" else import_module("jax.numpy").asarray(values)


def core_count() -> int:
    """The cores that the process may use."""
    return usable_threads()


def gpu_names() -> list[str]:
    """The GPUs that there are, as "cuda:0" and so on."""
    return [str(device) for device in wp.get_cuda_devices()]


def device_name(device: str) -> str:
    """What a device calls itself."""
    return wp.get_device(device).name
