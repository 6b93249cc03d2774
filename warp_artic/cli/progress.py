"""Signs of progress on a terminal, and nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

try:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
except ImportError:  # the extra `cli` is not installed
    Progress = None


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """Show that something of unknown length is under way."""
    if Progress is None or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(title):
        yield


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of steps done since its last call."""
    if Progress is None or not sys.stderr.isatty():
        yield lambda done: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.advance(task, done)
