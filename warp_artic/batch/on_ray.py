"""A batch on a cluster of Ray: actors that keep a built simulation, and write the shards that they have stepped.

What is written travels by the file system that all nodes share; what comes back is how runs ended. An actor, or a node,
that is lost costs the shard that it was at, which another one does.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from warp_artic.batch.losses import Waiting
from warp_artic.batch.plan import Plan
from warp_artic.batch.processes import write_error
from warp_artic.batch.shards import Worker, counts_of
from warp_artic.batch.store import Shard, Store
from warp_artic.errors import ArticError, SettingsError, SolveError

PATIENCE = 0.5
"""Time between two looks at whether the batch is to end [s]."""


@dataclass(eq=False)
class Stepper:
    """What an actor does."""

    plan: Plan
    store: Store
    device: str
    threads: int | None

    def __post_init__(self):
        self._worker: Worker | None = None

    def begin(self) -> tuple[dict[str, int], int, str]:
        """Say that it is there."""
        return {}, 0, ""

    def do(self, first: int, last: int) -> tuple[dict[str, int], int, str]:
        """Step and write a shard; how its runs ended, the steps that it has, and what kept it from being written."""
        if self._worker is None:
            self._worker = Worker(self.plan, self.device, self.threads)
        shard, steps = Shard(first, last), []
        try:
            runs, motion = self._worker.step(shard, steps.append)
            self.store.commit(shard, runs, motion)
        except ArticError as error:
            return {}, 0, str(error)
        return counts_of(runs), sum(steps) * (last - first), ""


def on_ray(options, worker: Worker, store: Store, shards: list[Shard], progress, stop: threading.Event) -> Iterator:
    """The shards as they are written, each with how its runs ended.

    Raises:
        SettingsError: Ray is not installed.
        SolveError: A shard cannot be written, as where the disk is full.
    """
    if find_spec("ray") is None:
        raise SettingsError('engine: ray needs Ray: pip install "warp-artic[ray]"')
    ray = import_module("ray")
    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(address=options.address, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        yield from _done(ray, options, worker, store, shards, progress, stop)
    finally:
        if is_ours:
            ray.shutdown()


def _done(ray, options, worker: Worker, store: Store, shards: list[Shard], progress, stop) -> Iterator:
    is_gpu = options.device.startswith("cuda")
    # Each actor sees the GPUs that Ray gives it as if there were no others.
    device = "cuda:0" if is_gpu else options.device
    absolute = Store(store.folder.absolute(), store.format, store.identity)
    plan = worker.plan.moved()
    made = ray.remote(num_cpus=options.threads or 1, num_gpus=int(is_gpu), max_restarts=0)(Stepper)
    waiting = Waiting(deque(shards))
    actors: dict[int, object] = {}
    coming: dict[object, int] = {}
    """Actors that have not begun yet: where a cluster has lost nodes, some never do."""
    at: dict[object, tuple[int, Shard]] = {}

    def start(place: int) -> None:
        actors[place] = made.remote(plan, absolute, device, options.threads)
        coming[actors[place].begin.remote()] = place

    def give(place: int) -> None:
        if waiting:
            shard = waiting.next()
            at[actors[place].do.remote(shard.first, shard.last)] = place, shard
        else:
            idle.append(place)

    idle: list[int] = []
    for place in range(min(options.workers, len(shards))):
        start(place)
    while (waiting or at) and not stop.is_set():
        while idle and waiting:
            give(idle.pop())
        ready, _ = ray.wait([*at, *coming], num_returns=1, timeout=PATIENCE)
        for one in ready:
            place, shard = at.pop(one) if one in at else (coming.pop(one), None)
            try:
                counts, steps, wrong = ray.get(one)
            except ray.exceptions.RayError as error:
                start(place)
                if shard is not None and waiting.take_back(shard):
                    yield shard, write_error(worker, store, shard, f"its actor was lost: {type(error).__name__}")
                continue
            give(place)
            if wrong:
                raise SolveError(wrong)
            if shard is not None:
                progress.steps(steps)
                yield shard, counts
