"""Signs of progress: moving ones on a terminal, elsewhere a line a minute through `logging`."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

EVERY = 60.0
"""Time between two lines [s]."""
LOG = logging.getLogger("warp_artic")


def is_shown() -> bool:
    """Whether there is a terminal for signs that move."""
    return sys.stderr.isatty() and find_spec("rich") is not None  # of the extra `cli`


class _Lines:
    """Says now and then how far a run is."""

    def __init__(self, title: str, total: int):
        self.title, self.total, self.done = title, total, 0
        self.begin = self.told = time.monotonic()

    def advance(self, steps: int) -> None:
        self.done += steps
        now = time.monotonic()
        if now - self.told >= EVERY and self.done < self.total:
            self.told = now
            left = (now - self.begin) * (self.total - self.done) / self.done
            LOG.info("%s: %s of %s steps, about %.0f s left", self.title, f"{self.done:,}", f"{self.total:,}", left)


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """Show that something of unknown length is under way."""
    if not is_shown():
        yield
        return
    console = import_module("rich.console")
    with console.Console(stderr=True).status(title):
        yield


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of steps done since its last call."""
    if not is_shown():
        yield _Lines(title, total).advance
        return
    rich, console = import_module("rich.progress"), import_module("rich.console").Console(stderr=True)
    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TaskProgressColumn())
    with rich.Progress(*columns, rich.TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.advance(task, done)
