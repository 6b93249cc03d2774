"""Signs of progress: moving ones on a terminal, elsewhere a line a minute through `logging`."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

EVERY = 60.0
"""Time between two lines [s]."""
LOG = logging.getLogger("warp_artic")


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
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(title):
        yield


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of steps done since its last call."""
    if not sys.stderr.isatty():
        yield _Lines(title, total).advance
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.advance(task, done)
