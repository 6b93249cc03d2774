"""Launches on a CPU, spread over threads: pieces of the columns, taken by whichever thread is free.

A column is computed with no regard to the others, in work space of the launch that computes it, so that results are
bitwise the same however columns are cut and whoever takes them. Warp's native code runs without the lock of the
interpreter; what a launch costs in Python does not, so pieces are of some length.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

import warp as wp

LEAST_PIECE = 256
"""Dofs times columns times steps of a piece, at least: some 70 us, of which a launch takes 10."""

PIECES_EACH = 4
"""Pieces for each thread, so that one which is held up leaves the rest of its share to the others."""


class ColumnLaunch:
    """A kernel of one group, to launch for any part of its columns.

    Args:
        launches: Recorded launches, each with work space of its own; as many as may run at once.
        columns: Columns of the group.
        dofs: Dofs of a column: what work is measured by.
    """

    def __init__(self, launches: Sequence[wp.Launch], columns: int, dofs: int):
        self.columns = columns
        self._all = tuple(launches)
        self._idle = list(reversed(launches))
        self._dofs = max(dofs, 1)
        labels = [argument.label for argument in launches[0].kernel.adj.args]
        self._first, self._end = labels.index("first"), labels.index("end")

    def set(self, name: str, value: int) -> None:
        """Set an argument of the kernel."""
        for launch in self._all:
            launch.set_param_by_name(name, value)

    def work(self, steps: int) -> float:
        """How many pieces of the least length it is worth."""
        return self.columns * self._dofs * steps / LEAST_PIECE

    def pieces(self, threads: int, steps: int) -> list[tuple[int, int]]:
        """The columns in pieces, first and end, for some threads."""
        most = min(self.columns, PIECES_EACH * threads) if len(self._all) > 1 else 1
        count = max(1, min(most, int(self.work(steps))))
        edges = [self.columns * piece // count for piece in range(count + 1)]
        return list(zip(edges, edges[1:]))

    def run(self, first: int, end: int) -> None:
        """Launch it for some columns, with work space that no other thread is using."""
        launch = self._idle.pop()
        try:
            launch.set_param_at_index_from_ctype(self._first, first)
            launch.set_param_at_index_from_ctype(self._end, end)
            launch.launch()
        finally:
            self._idle.append(launch)


def usable_threads() -> int:
    """Cores that this process may use: those it is bound to, and no more than OMP_NUM_THREADS where that is set."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(there, int(told)) if told.isdigit() and int(told) > 0 else there


def threads_that_pay(launches: Sequence[ColumnLaunch], threads: int, steps: int) -> int:
    """How many of some threads have enough to do."""
    return 1 if threads == 1 else max(1, min(threads, int(sum(launch.work(steps) for launch in launches))))


def run_all(launches: Sequence[ColumnLaunch], threads: int, steps: int = 1) -> None:
    """Run every launch for all of its columns, on this thread and on others where that pays.

    Returns, or raises what a thread has raised, when no thread is at work any more.
    """
    busy = threads_that_pay(launches, threads, steps)
    if busy == 1:
        for launch in launches:
            launch.run(0, launch.columns)
        return
    pieces = deque((launch, *piece) for launch in launches for piece in launch.pieces(busy, steps))

    def take() -> None:
        while pieces:
            try:
                launch, first, end = pieces.popleft()
            except IndexError:  # another thread was faster
                return
            launch.run(first, end)

    helpers = [_pool(threads - 1).submit(take) for _ in range(min(busy, len(pieces)) - 1)]
    try:
        take()
    finally:
        pieces.clear()
        running = [helper for helper in helpers if not helper.cancel()]
        wait(running)
    for helper in running:
        helper.result()


@cache
def _pool(helpers: int) -> ThreadPoolExecutor:
    """Threads that are kept for the next launch; those of all simulations."""
    return ThreadPoolExecutor(helpers, thread_name_prefix="warp_artic")


if hasattr(os, "register_at_fork"):
    # A forked process has none of the threads of its parent: it makes its own.
    os.register_at_fork(after_in_child=_pool.cache_clear)
