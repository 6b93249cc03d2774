"""`warp-artic batch`: run a plan of many runs, bring runs back to a stage, step them again."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from warp_artic.batch.bake import bake, verify
from warp_artic.batch.engine import Options, Report, run_plan
from warp_artic.batch.explain import Explanation, csv_lines, explained
from warp_artic.batch.plan import read_plan
from warp_artic.batch.results import Batch, open_batch
from warp_artic.batch.shards import Worker
from warp_artic.cli.batch_progress import rate, shown_progress
from warp_artic.cli.table import Column, Table, show
from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.looking.batch_page import Distribution, write_batch_page

FAILED, STOPPED = 1, 75
"""Exit codes: some runs failed; stopped, and the same command goes on (EX_TEMPFAIL of sysexits.h)."""
SHOWN_PRIMS = 3
BINS = 40
"""Intervals of a histogram."""


def run(arguments) -> int:
    """Do what the arguments say."""
    first, *rest = arguments.what
    if first in ACTIONS and len(rest) == 1:
        return ACTIONS[first](arguments, open_batch(rest[0]))
    if rest:
        raise SettingsError(
            f"batch: {' '.join(arguments.what)!r} is neither one plan nor bake, verify, report or show of a folder"
            f"{did_you_mean(first, ACTIONS)}"
        )
    if first in ACTIONS:
        raise SettingsError(f"batch: {first} needs the folder of a batch")
    for name in ("runs", "side_by_side", "frames_per_second"):
        if getattr(arguments, name) is not None:
            raise SettingsError(f"batch: --{name.replace('_', '-')} belongs to bake; a plan says which runs there are")
    if arguments.explain and arguments.dry_run:
        raise SettingsError("batch: one of --explain and --dry-run, not both")
    plan = read_plan(first)
    if arguments.explain or arguments.dry_run:
        worker = Worker(plan, "cuda:0" if arguments.device == "cuda" else arguments.device, arguments.threads)
        if arguments.dry_run:
            worker.check()
            sys.stdout.writelines(f"{line}\n" for line in csv_lines(worker))
            return 0
        _tell_explained(first, explained(worker), arguments.json)
        return 0
    options = {name: getattr(arguments, name) for name in vars(Options())}
    output = arguments.output or Path(first).stem
    with _stoppable() as stop, shown_progress() as progress:
        report = run_plan(plan, output, progress=progress, stop=stop, **options)
    return _tell_report(report, output, arguments)


def _tell_report(report: Report, output: str, arguments) -> int:
    failed = report.counts["failed"] + report.counts["error"]
    code = STOPPED if not report.is_complete else FAILED if failed else 0
    if arguments.json:
        about = {"output": str(output), "runs": report.runs, "done_before": report.done_before, **report.counts}
        about |= {"seconds": report.seconds, "is_complete": report.is_complete, "exit_code": code}
        print(json.dumps(about, indent=1))
        return code
    print(f"{output}: {report.done:,} runs of {report.steps:,} steps in {report.seconds:.1f} s, {rate(report)}")
    if report.done_before:
        print(f"{report.done_before:,} were complete before")
    if not report.is_complete:
        print("stopped; the same command continues")
    elif arguments.part is None:
        _show(arguments, open_batch(output))
    return code


def _show(arguments, batch: Batch) -> int:
    """What became of the runs that are there."""
    found = batch.statistics()
    if arguments.json:
        print(json.dumps(asdict(found), indent=1))
        return FAILED if found.statuses["failed"] + found.statuses["error"] else 0
    statuses = ", ".join(f"{count:,} {name}" for name, count in found.statuses.items() if count)
    rows = tuple(
        (
            one.column,
            one.unit,
            f"{one.least:.6g}  ({one.least_run})",
            f"{one.mean:.6g}",
            f"{one.largest:.6g}  ({one.largest_run})",
        )
        for one in found.columns
    )
    heads = (Column("column", is_text=True), Column("unit", is_text=True))
    columns = (*heads, Column("least (run)"), Column("mean"), Column("largest (run)"))
    blocks: list[str | Table] = [f"{found.runs:,} runs: {statuses or 'none'}"]
    blocks += [Table("Values and results", columns, rows)] if rows else []
    blocks += ["\n".join(f"run {run}: {text}" for run, text in found.failures)] if found.failures else []
    show(blocks)
    return FAILED if found.statuses["failed"] + found.statuses["error"] else 0


def _tell_explained(path: str, found: Explanation, is_json: bool) -> None:
    if is_json:
        print(json.dumps(asdict(found), indent=1))
        return
    rows = []
    for one in found.varied:
        more = f" and {len(one.prims) - SHOWN_PRIMS} more" if len(one.prims) > SHOWN_PRIMS else ""
        authored = "none" if one.authored is None else _span(one.authored)
        values = "a variant" if one.values is None else _span(one.values)
        distribution = ", ".join(f"{name} {value}" for name, value in one.distribution.items())
        unit = {"attribute": "as authored", "variant": ""}.get(one.kind, "SI")
        of = ", ".join(one.prims[:SHOWN_PRIMS]) + more
        rows.append((one.name, one.operation, distribution, authored, values, unit, of))
    columns = ("variable", "operation", "distribution", "authored", "values of runs", "unit", "of")
    blocks: list[str | Table] = [
        f"{path}: {found.runs:,} runs of {found.steps:,} steps of {found.dt:g} s, in {found.shards:,} shards of "
        f"{found.shard:,} runs"
    ]
    if rows:
        blocks.append(
            Table("Variables", tuple(Column(name, is_text=True) for name in columns), tuple(rows), wraps=True)
        )
    blocks.append(f"about {_bytes(found.bytes)} of files, and {_time(found.seconds)} on this machine")
    if found.is_read:
        blocks.append("the stage is read for each run, as its numbers are not linear in the values")
    show(blocks)


def _bake(arguments, batch: Batch) -> int:
    if not arguments.runs or not arguments.output:
        raise SettingsError("bake: --runs and -o are needed, such as --runs 17,42 -o chosen.usda")
    found = bake(batch, _chosen(arguments.runs), arguments.output, arguments.side_by_side, arguments.frames_per_second)
    if arguments.json:
        print(json.dumps([{"run": one.run, "layer": str(one.layer), "edits": str(one.edits),
                           "not_authored": one.not_authored} for one in found], indent=1))  # fmt: skip
        return 0
    print(f"{arguments.output}: {len(found)} runs")
    for one in found:
        print(f"  run {one.run}: {one.layer} over {one.edits}")
    if found[0].not_authored:
        names = ", ".join(found[0].not_authored[:SHOWN_PRIMS])
        more = " ..." * (len(found[0].not_authored) > SHOWN_PRIMS)
        print(f"only in the motion, as there is no attribute for them: {names}{more}")
    return 0


def _verify(arguments, batch: Batch) -> int:
    count, found = verify(batch, arguments.sample, arguments.seed)
    if arguments.json:
        print(json.dumps({"stepped_again": count, "differences": [str(one) for one in found]}, indent=1))
    else:
        print(
            f"{count:,} runs stepped again: {'all are bitwise the same' if not found else f'{len(found)} differences'}"
        )
        for one in found[:20]:
            print(f"  {one}")
    return FAILED if found else 0


def _report(arguments, batch: Batch) -> int:
    """Write a page on all runs that are there."""
    output = arguments.output or "report.html"
    if Path(output).suffix not in (".html", ".htm"):
        raise SettingsError(f"{output}: a report is written to a file whose name ends in .html")
    found = batch.statistics()
    counts = batch.histograms(found.columns, BINS)
    columns = [
        Distribution(
            one.column, one.unit, one.least, one.least_run, one.mean, one.largest, one.largest_run, counts[one.column]
        )
        for one in found.columns
    ]
    write_batch_page(output, Path(arguments.what[1]).name, found.statuses, columns, found.failures)
    if arguments.json:
        print(json.dumps({"output": str(output), **asdict(found)}, indent=1))
    else:
        print(f"wrote {output}, {Path(output).stat().st_size / 1e6:.2f} MB")
    return FAILED if found.statuses["failed"] + found.statuses["error"] else 0


ACTIONS = {"bake": _bake, "verify": _verify, "show": _show, "report": _report}


def _chosen(text: str) -> list[int]:
    """Runs by number or range, such as 17,42 or 0:5."""
    found: list[int] = []
    for part in text.split(","):
        first, colon, last = part.strip().partition(":")
        if not first.isdigit() or (colon and not last.isdigit()):
            raise SettingsError(f"runs: {text!r} is not like 17,42 or 0:5")
        found += range(int(first), int(last)) if colon else [int(first)]
    return found


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; a second one of them ends the process at once."""
    stop, before = threading.Event(), {}

    def ask(number, _frame) -> None:
        stop.set()
        signal.signal(number, before[number])

    is_main = threading.current_thread() is threading.main_thread()
    for number in (signal.SIGINT, signal.SIGTERM) if is_main else ():
        before[number] = signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _span(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.6g}" if ends[0] == ends[1] else f"{ends[0]:.6g} to {ends[1]:.6g}"


def _bytes(count: int) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"
