"""Where a batch runs: in this process, in several processes of this machine, or as one part of n on a farm.

All state is in the folder. Shards depend on the plan and on their place alone, and are written by who has stepped them,
so that nothing but a few counts travels, and whoever is killed costs the shards that it was at.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from warp_artic.batch.on_ray import on_ray
from warp_artic.batch.plan import Plan
from warp_artic.batch.processes import in_processes
from warp_artic.batch.shards import STATUSES, Worker, counts_of, part_of
from warp_artic.batch.stepping import Ended
from warp_artic.batch.store import Shard, Store, create
from warp_artic.errors import SettingsError, did_you_mean

ENGINES = ("local", "processes", "ray")


@dataclass(eq=False)
class Report:
    """How a batch stands."""

    runs: int
    """Of the plan; of this part of it, where there are parts."""
    done_before: int = 0
    """Runs that were there already."""
    steps: int = 0
    """Time steps of a run."""
    shards: int = 0
    """That were to be done."""
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    """Runs that were done now, by how they ended."""
    seconds: float = 0.0
    """What that took, without reading the stage."""

    @property
    def done(self) -> int:
        """Runs that were done now."""
        return sum(self.counts.values())

    @property
    def is_complete(self) -> bool:
        """Whether all runs are there."""
        return self.done_before + self.done >= self.runs


class Progress:
    """Is told how a batch gets on; this one keeps it to itself."""

    def begin(self, report: Report) -> None:
        """What is to be done is known."""

    def steps(self, count: int) -> None:
        """So many more environment-steps, of all runs that are stepped together, are done."""

    def shard(self, report: Report, shard: Shard) -> None:
        """A shard is written."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a batch is run; results do not depend on it, but for the device."""

    engine: str = "local"
    """One of ENGINES."""
    device: str = "cpu"
    """"cpu" or "cuda:N"; with processes and ray, one of them for each worker where it is "cuda"."""
    threads: int | None = None
    """Of each worker, as `Simulation` has them."""
    workers: int = 1
    """Of processes and ray."""
    part: str | None = None
    """Which share of the shards, such as "3/16"."""
    check_files: bool = False
    """Whether all bytes of what is there are read and compared, and not sizes alone."""
    address: str | None = None
    """Of a Ray cluster; by default one of its own on this machine."""

    def __post_init__(self):
        if self.engine not in ENGINES:
            raise SettingsError(
                f"engine: {self.engine!r} is not one of {', '.join(ENGINES)}{did_you_mean(self.engine, ENGINES)}"
            )
        if isinstance(self.workers, bool) or not isinstance(self.workers, int) or self.workers < 1:
            raise SettingsError(f"workers: {self.workers!r} is not an integer of at least 1")
        if self.workers > 1 and self.engine == "local":
            raise SettingsError("workers: more than one needs the engine processes or ray; local has threads")
        if self.part is not None:
            part_of(self.part)


def run_plan(
    plan: Plan,
    output: str | os.PathLike,
    *,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    **options,
) -> Report:
    """Step all runs of a plan that are not in a folder yet, and write what is kept of them there.

    Args:
        plan: What is to be run.
        output: The folder, or a URI of an object store; it is made, or gone on with where it has runs of this plan.
        progress: Is told how it gets on.
        stop: Where it is set, the batch ends in good order; what is not written is done by the next one.
        options: The fields of `Options`.

    Raises:
        SettingsError, StageError, DescriptionError: Something of the plan is wrong; nothing is stepped then.
        SolveError: Something cannot be written, as where the disk is full; what was written stays.
    """
    chosen, progress, stop = Options(**options), progress or Progress(), stop or threading.Event()
    worker = Worker(plan, _first_device(chosen), chosen.threads)
    worker.check()
    store = create(plan, output, worker.digests())
    store.tidy()
    shards = store.pending(plan.run_count, worker.shard_size, chosen.check_files)
    if chosen.part is not None:
        first, parts = part_of(chosen.part)
        shards = [one for one in shards if one.first // worker.shard_size % parts == first - 1]
    runs = sum(one.last - one.first for one in shards)
    report = Report(plan.run_count, plan.run_count - runs, worker.cases.all()[0].steps, len(shards))
    if chosen.part is not None:
        report.runs, report.done_before = runs, 0
    progress.begin(report)
    begin = time.perf_counter()
    try:
        for shard, counts in _stepped(chosen, worker, store, shards, progress, stop):
            for status, count in counts.items():
                report.counts[status] += count
            report.seconds = time.perf_counter() - begin
            progress.shard(report, shard)
    except Ended:
        pass
    report.seconds = time.perf_counter() - begin
    return report


def _first_device(options: Options) -> str:
    return "cuda:0" if options.device == "cuda" else options.device


def _stepped(
    options: Options, worker: Worker, store: Store, shards: list[Shard], progress: Progress, stop: threading.Event
) -> Iterator[tuple[Shard, dict[str, int]]]:
    """The shards as they are written, each with how its runs ended."""
    if not shards:
        return
    if options.engine == "processes":
        yield from in_processes(options, worker, store, shards, progress, stop)
    elif options.engine == "ray":
        yield from on_ray(options, worker, store, shards, progress, stop)
    else:
        yield from in_this_process(worker, store, shards, progress, stop)


def in_this_process(
    worker: Worker, store: Store, shards: list[Shard], progress: Progress, stop: threading.Event
) -> Iterator[tuple[Shard, dict[str, int]]]:
    """Step shard after shard; each is written while the next one is stepped."""
    with ThreadPoolExecutor(1) as writer:
        written: list[tuple[Shard, Future]] = []
        try:
            for shard in shards:
                tables = worker.step(shard, _teller(progress, stop, shard.last - shard.first))
                if written:
                    yield _result(*written.pop())
                written.append((shard, writer.submit(_written, store, shard, *tables)))
        except Ended:
            pass
        if written:
            yield _result(*written.pop())


def _result(shard: Shard, future: Future) -> tuple[Shard, dict[str, int]]:
    return shard, future.result()


def _written(store: Store, shard: Shard, runs, motion) -> dict[str, int]:
    store.commit(shard, runs, motion)
    return counts_of(runs)


def _teller(progress: Progress, stop: threading.Event, runs: int) -> Callable[[int], None]:
    def tell(steps: int) -> None:
        progress.steps(steps * runs)
        if stop.is_set():
            raise Ended

    return tell
