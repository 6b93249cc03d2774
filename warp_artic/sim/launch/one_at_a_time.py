"""Processes that share a cache of kernels compile one after the other: the next one finds what the last has made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import warp as wp

from warp_artic.sim.launch.device import device_of

try:
    import fcntl
except ImportError:  # not a POSIX system: nobody waits
    fcntl = None  # type: ignore[assignment]


@contextmanager
def one_at_a_time(device: str) -> Iterator[None]:
    """Wait until no other process with the same cache is here; a process that is killed lets the next one in."""
    device_of(device)
    folder = wp.config.kernel_cache_dir
    handle = None
    if fcntl is not None and folder:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            handle = os.open(Path(folder, "warp_artic.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:  # a cache that nobody may write to, or a file system without locks
            pass
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)
