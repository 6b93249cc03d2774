"""Threads that are kept for the next work; those of all simulations."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

Found = TypeVar("Found")


@cache
def pool(helpers: int) -> ThreadPoolExecutor:
    """A pool of this many threads beside the calling one."""
    return ThreadPoolExecutor(helpers, thread_name_prefix="warp_artic")


if hasattr(os, "register_at_fork"):
    # A forked process has none of the threads of its parent: it makes its own.
    os.register_at_fork(after_in_child=pool.cache_clear)


def run_at_once(works: Sequence[Callable[[], Found]]) -> list[Found]:
    """What some works give, each on a thread of its own, the first one on this one.

    Returns, or raises what the first of those that failed has raised, when no thread is at work any more.
    """
    if len(works) == 1:
        return [works[0]()]
    helpers = [pool(len(works) - 1).submit(work) for work in works[1:]]
    try:
        first = works[0]()
    finally:
        wait(helpers)
    return [first, *(helper.result() for helper in helpers)]
