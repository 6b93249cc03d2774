"""How a batch gets on: a bar on a terminal, elsewhere a line a minute through `logging`."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich import progress
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from warp_artic.batch.engine import Progress, Report
from warp_artic.batch.store import Shard

EVERY = 60.0
"""Time between two lines [s]."""
LOG = logging.getLogger("warp_artic")


def rate(report: Report) -> str:
    """Runs a second, in words."""
    return f"{report.done / report.seconds:,.1f} runs/s" if report.done and report.seconds > 0 else "no runs"


def faults(report: Report) -> str:
    """Runs that failed, in words."""
    bad = report.counts["failed"] + report.counts["error"]
    return f", {bad:,} failed" if bad else ""


class Lines(Progress):
    """Says now and then how far a batch is."""

    def begin(self, report: Report) -> None:
        """Say what is to be done."""
        left = report.runs - report.done_before
        LOG.info(
            "%s runs to step in %s shards, %s complete",
            f"{left:,}",
            f"{report.shards:,}",
            f"{report.done_before:,}",
        )
        self._told, self._shards = time.monotonic(), 0

    def shard(self, report: Report, shard: Shard) -> None:
        """Say how far it is, once a minute."""
        self._shards += 1
        now = time.monotonic()
        if now - self._told >= EVERY:
            self._told = now
            left = (report.runs - report.done_before - report.done) * report.seconds / max(report.done, 1)
            LOG.info(
                "%s of %s shards, %s runs, %s%s, about %.0f s left",
                f"{self._shards:,}", f"{report.shards:,}", f"{report.done:,}", rate(report), faults(report), left,
            )  # fmt: skip


class Bar(Progress):
    """A bar on a terminal, of environment-steps, with runs a second, shards and failures."""

    def __init__(self, bar):
        self._bar = bar

    def begin(self, report: Report) -> None:
        """Show an empty bar."""
        total = (report.runs - report.done_before) * max(report.steps, 1)
        self._task = self._bar.add_task("", total=total, done=f"0 of {report.shards:,} shards")
        self._shards = 0

    def steps(self, count: int) -> None:
        """Move the bar."""
        self._bar.advance(self._task, count)

    def shard(self, report: Report, shard: Shard) -> None:
        """Count shards and runs."""
        self._shards += 1
        text = f"{self._shards:,} of {report.shards:,} shards, {rate(report)}{faults(report)}"
        self._bar.update(self._task, done=text)


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """What is told how a batch gets on."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[done]}"), TimeRemainingColumn())
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Bar(bar)
