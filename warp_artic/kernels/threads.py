"""Launches on a CPU, spread over threads: each has a share of the columns, and takes of others' when it is done.

A column is computed with no regard to the others, in work space of the launch that computes it, so that results are
bitwise the same however columns are cut and whoever takes them. Native code runs without the lock of the interpreter;
what a launch costs in Python does not, so pieces are of some length.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import wait

import warp as wp

from warp_artic.math.packed import PackedLaunch
from warp_artic.math.pool import pool

LEAST_PIECE = 256
"""Dofs times columns times steps of a piece, at least: some 70 us, of which a launch takes 2."""

PIECES_EACH = 32
"""Pieces of the share of a thread: one that is held up leaves the rest to the others."""


class ColumnLaunch:
    """A kernel of one group, to launch for all of its columns, or for any part of them.

    Args:
        launches: Recorded launches for all columns, each with work space of its own; as many as may run at once.
        columns: Columns of the group.
        dofs: Dofs of a column: what work is measured by.
    """

    def __init__(self, launches: Sequence[wp.Launch], columns: int, dofs: int):
        self.columns = columns
        self.size = columns * max(dofs, 1) / LEAST_PIECE
        """How many pieces of the least length a step is worth."""
        self._whole = PackedLaunch(launches[0])
        self._parts = tuple(map(PackedLaunch, launches))
        self._idle = dict(enumerate(self._parts))
        self.run_whole = self._whole.run
        """Launches it for all columns, while no part of them is running."""
        self.record = self._whole.record
        """The same, as Warp does it, which a capture takes in."""

    def set(self, name: str, value) -> None:
        """Set an argument of the kernel."""
        for launch in (self._whole, *self._parts):
            launch.set(name, value)

    def pieces(self, threads: int, steps: int) -> list[tuple[int, int]]:
        """The columns in pieces, first and end, for some threads."""
        most = min(self.columns, PIECES_EACH * threads) if len(self._parts) > 1 else 1
        count = max(1, min(most, int(self.size * steps)))
        edges = [self.columns * piece // count for piece in range(count + 1)]
        return list(zip(edges, edges[1:]))

    def run(self, first: int, end: int, thread: int = 0) -> None:
        """Launch it for some columns, with work space that no other thread is using, of its own where it can be."""
        launch = self._idle.pop(thread, None)
        if launch is None:
            thread, launch = self._idle.popitem()
        try:
            launch.set("first", first)
            launch.set("end", end)
            launch.run()
        finally:
            self._idle[thread] = launch


def usable_threads() -> int:
    """Cores that this process may use: those it is bound to, and no more than OMP_NUM_THREADS where that is set."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(there, int(told)) if told.isdigit() and int(told) > 0 else there


def threads_that_pay(launches: Sequence[ColumnLaunch], threads: int, steps: int) -> int:
    """How many of some threads have enough to do."""
    if threads == 1:
        return 1
    size = 0.0
    for launch in launches:
        size += launch.size
    return max(1, min(threads, int(size * steps)))


def run_all(launches: Sequence[ColumnLaunch], threads: int, steps: int = 1) -> None:
    """Run every launch for all of its columns, on this thread and on others where that pays.

    Returns, or raises what a thread has raised, when no thread is at work any more.
    """
    busy = threads_that_pay(launches, threads, steps)
    if busy == 1:
        for launch in launches:
            launch.run_whole()
        return
    pieces = [(launch, *piece) for launch in launches for piece in launch.pieces(busy, steps)]
    busy = min(busy, len(pieces))
    edges = [len(pieces) * thread // busy for thread in range(busy + 1)]
    # The same thread for the same columns in every step: they are in its caches.
    shares = [deque(pieces[first:end]) for first, end in zip(edges, edges[1:])]

    def take(thread: int) -> None:
        for share in (*shares[thread:], *shares[:thread]):
            while share:
                try:
                    launch, first, end = share.popleft()
                except IndexError:  # another thread was faster
                    break
                launch.run(first, end, thread)

    helpers = [pool(threads - 1).submit(take, thread) for thread in range(1, busy)]
    try:
        take(0)
    finally:
        for share in shares:
            share.clear()
        running = [helper for helper in helpers if not helper.cancel()]
        wait(running)
    for helper in running:
        helper.result()
