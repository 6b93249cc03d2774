"""A batch in several processes of this machine: each steps and writes shards, one GPU or some cores for each.

A process ends with the end of its pipe, so that none outlives a driver that was killed. Where a process is killed, its
shard is stepped by another one.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait

from warp_artic.batch.losses import Waiting
from warp_artic.batch.plan import Plan
from warp_artic.batch.shards import Worker, counts_of
from warp_artic.batch.stepping import Ended
from warp_artic.batch.store import Shard, Store
from warp_artic.errors import ArticError, SolveError
from warp_artic.sim.launch.device import core_count, gpu_names

PATIENCE = 0.2
"""Time between two looks at whether the batch is to end [s]."""


@dataclass(eq=False)
class Helper:
    """A process with its pipe."""

    process: multiprocessing.Process
    pipe: Connection
    shard: Shard | None = None
    """What it is at."""
    steps: int = field(default=0)


def in_processes(
    options, worker: Worker, store: Store, shards: list[Shard], progress, stop: threading.Event
) -> Iterator:
    """The shards as they are written, each with how its runs ended.

    Raises:
        SolveError: A shard cannot be written, as where the disk is full.
    """
    waiting, context = Waiting(deque(shards)), multiprocessing.get_context("spawn")
    devices = devices_of(options.device, options.workers)
    threads = options.threads or max(1, core_count() // options.workers)
    places = list(range(min(options.workers, len(shards))))

    def started(place: int) -> Helper:
        mine, its = context.Pipe()
        given = (its, worker.plan, store, devices[place], threads)
        process = context.Process(target=serve, args=given, daemon=True)
        process.start()
        its.close()
        return Helper(process, mine)

    helpers = {place: started(place) for place in places}
    try:
        while (waiting or any(one.shard for one in helpers.values())) and not stop.is_set():
            for one in helpers.values():
                if one.shard is None and waiting:
                    one.shard = waiting.next()
                    one.pipe.send(one.shard)
            ready = wait([one.pipe for one in helpers.values()], PATIENCE)
            for place, one in list(helpers.items()):
                if one.pipe not in ready or one.shard is None:
                    continue
                try:
                    kind, told = one.pipe.recv()
                except (EOFError, OSError):
                    one.process.join()
                    reason = f"its process ended with {one.process.exitcode}, each of several times"
                    shard, helpers[place] = one.shard, started(place)
                    if waiting.take_back(shard):
                        yield shard, write_error(worker, store, shard, reason)
                    continue
                if kind == "steps":
                    progress.steps(told)
                elif kind == "error":
                    raise SolveError(told)
                else:
                    shard, one.shard = one.shard, None
                    yield shard, told
    finally:
        for one in helpers.values():
            one.pipe.close()
        for one in helpers.values():
            one.process.join(10.0)
            if one.process.is_alive():
                one.process.kill()


def serve(pipe: Connection, plan: Plan, store: Store, device: str, threads: int) -> None:
    """Step and write the shards that come through a pipe, until it ends."""
    worker = Worker(plan, device, threads)
    gone = threading.Event()

    def tell(shard: Shard):
        def told(steps: int) -> None:
            try:
                pipe.send(("steps", steps * (shard.last - shard.first)))
            except OSError:
                gone.set()
                raise Ended from None

        return told

    while not gone.is_set():
        try:
            shard = pipe.recv()
            runs, motion = worker.step(shard, tell(shard))
            store.commit(shard, runs, motion)
            pipe.send(("done", counts_of(runs)))
        except (EOFError, OSError, Ended, KeyboardInterrupt):
            return
        except ArticError as error:
            pipe.send(("error", str(error)))
            return


def write_error(worker: Worker, store: Store, shard: Shard, reason: str) -> dict[str, int]:
    """Write the row of a run that ends its workers."""
    runs, motion = worker.tables_of_error(shard, reason)
    store.commit(shard, runs, motion)
    return counts_of(runs)


def devices_of(device: str, workers: int) -> list[str]:
    """The device of each worker: GPUs in turn where it is "cuda"."""
    if device != "cuda":
        return [device] * workers
    names = gpu_names() or ["cuda:0"]
    return [names[place % len(names)] for place in range(workers)]
