"""Ctrl-C as a request to end a run in good order; a second one ends it at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""The exit code, as shells have it for a process that SIGINT ended."""


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets; where a program has a handler of its own, or in another thread, it stays unset."""
    stop = threading.Event()
    is_ours = threading.current_thread() is threading.main_thread()
    is_ours = is_ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_ours:
        yield stop
        return

    def ask(_signal, _frame) -> None:
        stop.set()
        # Not through Python's own buffers, in the midst of which it may be.
        os.write(2, b"warp-artic: interrupted; what there is will be written, unless Ctrl-C ends this at once\n")
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
