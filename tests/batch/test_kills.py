"""Processes that are killed in the midst of a batch: what is there stays, and the end is the same, byte by byte.

WARP_ARTIC_KILLS=300 kills so many in place of a few.
"""

import multiprocessing
import os
import random
import signal
import threading
import time

import pytest

from tests.batch.plans import PENDULUM, files, plan
from warp_artic.batch.engine import Progress, run_plan
from warp_artic.batch.losses import TRIALS, Waiting
from warp_artic.batch.results import open_batch
from warp_artic.batch.store import Shard

COUNT = int(os.environ.get("WARP_ARTIC_KILLS", 12))
LONGEST = 0.3
"""From the start of a driver, or its next shard, to its kill [s]."""
GIVEN = {"record": {"quantities": ["joint_position"], "every": 2}, "shard": 2, "runs": 120}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The files of a batch that nobody has disturbed."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    run_plan(plan(PENDULUM, **GIVEN), folder)
    return files(folder)


def names_of(folder):
    """The tables of runs that are there."""
    path = folder / "runs"
    return {one.name: one.stat().st_mtime_ns for one in path.iterdir() if one.is_file()} if path.is_dir() else {}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is forked")
def test_killed_drivers_lose_nothing(whole, tmp_path):
    """No file is half, no shard that was written is written again, nothing is left behind."""
    rng, killed, number = random.Random(0), 0, 0
    while killed < COUNT:
        folder, number = tmp_path / str(number), number + 1
        is_complete = False
        while not is_complete:
            child = os.fork()
            if child == 0:
                try:
                    run_plan(plan(PENDULUM, **GIVEN), folder)
                finally:
                    os._exit(0)
            before = names_of(folder)
            has_ended, is_early = False, rng.random() < 0.3
            while not is_early and not has_ended and len(names_of(folder)) == len(before):
                has_ended = os.waitpid(child, os.WNOHANG) != (0, 0)
                time.sleep(0.001)
            if not has_ended:
                time.sleep(rng.uniform(0.0, LONGEST))
                os.kill(child, signal.SIGKILL)
                killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            after = names_of(folder)
            assert before.items() <= after.items()
            for name in after:
                assert (folder / "runs" / name).read_bytes() == whole[f"runs/{name}"]
            is_complete = len(after) == 60 or killed >= COUNT
        run_plan(plan(PENDULUM, **GIVEN), folder)
        assert files(folder) == whole


class KillsAfter(Progress):
    """Kills one of the workers after some shards."""

    def __init__(self, shards):
        self.left = shards

    def shard(self, report, shard):
        self.left -= 1
        if self.left == 0:
            os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)


def test_killed_workers_lose_nothing(whole, tmp_path):
    """Another one takes the place of a worker that was killed."""
    report = run_plan(plan(PENDULUM, **GIVEN), tmp_path / "out", engine="processes", workers=1, progress=KillsAfter(20))
    assert report.counts["ok"] == 120
    assert files(tmp_path / "out") == whole


def test_a_run_that_ends_its_workers_is_found():
    """By halves; each set of runs is tried some times at most."""
    waiting, tried, found = Waiting(__import__("collections").deque([Shard(0, 64), Shard(64, 128)])), [], None
    while waiting:
        shard = waiting.next()
        tried.append(shard)
        if shard.first <= 41 < shard.last and waiting.take_back(shard):
            found = shard
    assert found == Shard(41, 42)
    assert max(map(tried.count, tried)) <= TRIALS
    done = [run for shard in set(tried) if not shard.first <= 41 < shard.last for run in range(shard.first, shard.last)]
    assert sorted([*done, 41]) == list(range(128))


def test_ends_in_good_order_where_it_is_asked_to(whole, tmp_path):
    """In the midst of a shard too."""
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    run_plan(plan(PENDULUM, **GIVEN), tmp_path / "out", stop=stop)
    timer.join()
    assert run_plan(plan(PENDULUM, **GIVEN), tmp_path / "out").is_complete
    assert files(tmp_path / "out") == whole
    assert open_batch(tmp_path / "out").statistics().statuses["ok"] == 120
