"""What reading broken files gives: `python -m tests.fuzz_files --count 10000 --simulate 2000` reads many.

They are read in processes of their own with little memory: OpenUSD itself aborts on some, and these are counted apart.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pxr import Usd

from tests.broken_files import KINDS, broken_file

MEMORY = 6 << 30
"""That a process may have [bytes]."""
SLOW = 5.0
"""Seconds that our part of reading may take."""
HANGS = {"opened": 20.0, "stepped": 600.0}
"""Seconds after which a process is given up, by what it does; steps may have to be compiled."""


@dataclass(frozen=True)
class Outcome:
    """What came of a broken file."""

    seed: int
    kind: str
    """How it was broken."""
    found: str
    """One of read, errors, refused, stepped, stopped, refused to step; else what must not be."""
    is_wrong: bool = False


STEPS = 4
FINITE = ("joint_position", "joint_velocity", "link_pose", "link_velocity", "energy")


def outcome_of(seed: int, folder: Path, is_stepped: bool, note: Callable = lambda phase: None) -> Outcome:
    """Break a file, read it, and step what it says; `note` is told what begins, in case that it never ends."""
    from warp_artic import ArticError
    from warp_artic.usd.read_stage import inspect_stage

    kind = KINDS[seed % len(KINDS)].__name__
    note("broken")
    path = broken_file(seed, folder)
    note("opened")
    try:
        stage = Usd.Stage.Open(str(path))
        for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
            for attribute in prim.GetAttributes():
                attribute.Get()
    except Exception:  # whatever OpenUSD has to say of it; ours comes next
        stage = None
    note("read")
    start = time.process_time()  # other programs may have the processor
    try:
        found = inspect_stage(path)
    except ArticError as error:
        str(error).encode()
        found = None
    except Exception as error:
        return Outcome(seed, kind, _of_traceback(error), True)
    if time.process_time() - start > SLOW:
        return Outcome(seed, kind, f"slow: {time.process_time() - start:.1f} s", True)
    if found is None:
        return Outcome(seed, kind, "refused")
    if found.scene is None:
        return Outcome(seed, kind, "errors")
    note("stepped")
    return _stepped(seed, kind, found.scene) if is_stepped else Outcome(seed, kind, "read")


def _stepped(seed: int, kind: str, scene) -> Outcome:
    """A few steps, which are finite or end with a name."""
    from warp_artic import ArticError, Simulation

    is_large = sum(len(tree.dofs) for tree in scene.articulations) > 400
    if is_large or any(len(body.points) > 300 for body in scene.elastic_bodies):
        return Outcome(seed, kind, "read")
    try:
        with np.errstate(all="ignore"):
            simulation = Simulation(scene, device="cpu")
            recording = simulation.record(STEPS)
    except ArticError as error:
        return Outcome(seed, kind, "refused to step" if str(error) else "a refusal without a sentence", not str(error))
    except Exception as error:
        return Outcome(seed, kind, _of_traceback(error), True)
    for name in FINITE:
        if not np.isfinite(getattr(recording, name)).all():
            return Outcome(seed, kind, f"{name} is not finite, failures: {simulation.failures()}"[:200], True)
    return Outcome(seed, kind, "stopped" if simulation.failures() else "stepped")


def _of_traceback(error: Exception) -> str:
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "warp_artic" in one.filename]
    where = f"{frames[-1].filename.split('warp_artic/')[-1]}:{frames[-1].lineno}" if frames else "elsewhere"
    return f"{type(error).__name__} at {where}"


def _work(seeds: range, stepped: frozenset[int], pipe) -> None:
    """In a process of its own: one seed after the other, and what came of each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(tempfile.mkdtemp())
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        for seed in seeds:
            own = folder / str(seed)
            own.mkdir()
            outcome = outcome_of(seed, own, seed in stepped, lambda phase, seed=seed: pipe.send((seed, phase)))
            pipe.send((seed, outcome))
            shutil.rmtree(own)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def outcomes(seeds: range, stepped: frozenset[int], workers: int = 1, chunk: int = 500) -> Iterator[Outcome]:
    """What came of each seed, in processes with little memory; one that dies takes only its own file with it."""
    # From a server of its own: who asks may have threads, and much memory of libraries already.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["warp_artic"])
    waiting = [seeds[k : k + chunk] for k in range(0, len(seeds), chunk)]
    running: list = []
    while waiting or running:
        while waiting and len(running) < workers:
            here, there = context.Pipe(duplex=False)
            part = waiting.pop(0)
            process = context.Process(target=_work, args=(part, stepped, there), daemon=True)
            process.start()
            there.close()
            running.append([process, here, part, (part[0], "started"), time.perf_counter()])
        for one in list(running):
            process, here, part, last, since = one
            ended = None
            try:
                while here.poll(0.05):
                    seed, what = here.recv()
                    one[3], one[4] = (seed, what), time.perf_counter()
                    if isinstance(what, Outcome):
                        yield what
                        one[3] = (seed, "done")
                if time.perf_counter() - one[4] > HANGS.get(one[3][1], 120.0):
                    process.kill()
                    ended = "hangs"
            except EOFError:
                process.join()
                ended = "aborts" if process.exitcode else "done"
            if ended is None:
                continue
            running.remove(one)
            seed, phase = one[3]
            if ended != "done" or phase != "done":
                if phase != "done":
                    is_ours = phase not in ("broken", "opened", "started")
                    found = f"{ended} while it is {phase}" + ("" if is_ours else ", in OpenUSD")
                    yield Outcome(seed, KINDS[seed % len(KINDS)].__name__, found, is_ours)
                rest = range(seed + 1, part[-1] + 1)
                if len(rest):
                    waiting.insert(0, rest)


def main() -> int:
    """Read many, and say what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--simulate", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.count)
    every = max(1, arguments.count // max(1, arguments.simulate)) if arguments.simulate else 0
    # Those of each kind in turn, whatever the number of kinds.
    stepped = frozenset(seed for seed in seeds if every and (seed // len(KINDS)) % every == 0)
    found: Counter = Counter()
    wrong = 0
    for outcome in outcomes(seeds, stepped, arguments.workers):
        found[outcome.kind, outcome.found] += 1
        if outcome.is_wrong:
            wrong += 1
            print(f"seed {outcome.seed}, {outcome.kind}: {outcome.found}", flush=True)
    for (kind, what), count in sorted(found.items()):
        print(f"{count:6} {kind:10} {what}")
    print(f"{len(seeds)} files, {len(stepped)} of them stepped where they read: {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
