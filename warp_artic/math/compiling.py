"""Compiles kernels, and says so through `logging`: it takes some ten seconds where it has not been done yet."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import warp as wp

from warp_artic.garbage import collection_paused

LOG = logging.getLogger("warp_artic")
SILENT = 1.0
"""Time without a word: kernels that are in the cache are there sooner [s]."""
EVERY = 60.0
"""Time between two words while it goes on [s]."""

_lock = threading.Lock()
_under_way = 0
_loaded: set[tuple[wp.Module, str, int | None]] = set()


def load(kernel: wp.Kernel, device: wp.Device | str, block_dim: int | None = None) -> None:
    """Compile a kernel for launches on a device, unless that is done; to be called before it is launched first."""
    key = kernel.module, str(device), block_dim
    if key not in _loaded:
        # Warp makes a million objects: collections would take a fifth of its own part of a compilation.
        with tell_compiling(), collection_paused():
            wp.force_load(device, [kernel.module], block_dim=block_dim)
        _loaded.add(key)


@contextmanager
def tell_compiling() -> Iterator[None]:
    """Print a line if the enclosed compilation takes long; of several at once, only one prints it."""
    global _under_way
    with _lock:
        is_first = _under_way == 0
        _under_way += 1
    done = threading.Event()
    begin = time.perf_counter()
    teller = threading.Thread(target=_tell, args=(done, begin), daemon=True)
    if is_first:
        teller.start()
    try:
        yield
    finally:
        with _lock:
            _under_way -= 1
        done.set()
        if is_first:
            teller.join()


def _tell(done: threading.Event, begin: float) -> None:
    if done.wait(SILENT):
        return
    LOG.info("compiling kernels; it is done once on a machine, and takes some ten seconds")
    while not done.wait(EVERY):
        LOG.info("compiling kernels for %.0f s by now", time.perf_counter() - begin)
    LOG.info("compiled kernels in %.0f s", time.perf_counter() - begin)
