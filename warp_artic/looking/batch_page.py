"""A page on a batch of runs, which needs no network: what became of them, and how each column is distributed."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from warp_artic.sim.files.whole_file import written_whole

WIDTH, HEIGHT = 220, 36
"""Of a histogram [pixels]."""


@dataclass(frozen=True)
class Distribution:
    """A column over all runs."""

    name: str
    unit: str
    least: float
    least_run: int
    mean: float
    largest: float
    largest_run: int
    counts: np.ndarray
    """Runs in equal intervals from the least to the largest value."""


def write_batch_page(
    output: str | os.PathLike,
    title: str,
    statuses: Mapping[str, int],
    columns: Sequence[Distribution],
    failures: Sequence[tuple[int, str]],
) -> None:
    """Write the page.

    Args:
        output: The file, .html.
        title: Of the batch.
        statuses: How many runs there are of each status.
        columns: Values and results.
        failures: Runs that failed, and why.

    Raises:
        SettingsError: There is no such folder.
        SolveError: The file cannot be written.
    """
    style = (files("warp_artic.looking") / "page" / "report.css").read_text(encoding="utf-8")
    failed = statuses.get("failed", 0) + statuses.get("error", 0)
    badge = (
        f'<span class="badge {"bad" if failed else "good"}">{f"{failed:,} failed" if failed else "none failed"}</span>'
    )
    counts = ", ".join(f"{count:,} {name}" for name, count in statuses.items() if count)
    head = "<tr><th>column</th><th>unit</th><th>least (run)</th><th>mean</th><th>largest (run)</th><th>runs</th></tr>"
    sections = _section("Values and results", f"<table>{head}{''.join(map(_row, columns))}</table>") if columns else ""
    if failures:
        rows = "".join(f"<tr><td>{run}</td><td>{html.escape(text)}</td></tr>" for run, text in failures)
        sections += _section("Failures", f"<table><tr><th>run</th><th>what failed</th></tr>{rows}</table>")
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        f"<style>{style}main {{ display: block; }} rect {{ fill: #1f6fb2; }}</style></head>\n"
        f"<body><header><h1>{html.escape(title)}{badge}</h1><p>{sum(statuses.values()):,} runs: {counts or 'none'}</p>"
        f"</header>\n<main>{sections}</main></body></html>\n"
    )
    with written_whole(output) as partial:
        partial.write_text(page, encoding="utf-8")


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>\n"


def _row(one: Distribution) -> str:
    ends = (f"{one.least:.6g} ({one.least_run})", f"{one.mean:.6g}", f"{one.largest:.6g} ({one.largest_run})")
    cells = "".join(f'<td class="number">{text}</td>' for text in ends)
    names = f"<td>{html.escape(one.name)}</td><td>{html.escape(one.unit)}</td>"
    return f"<tr>{names}{cells}<td>{_histogram(one.counts)}</td></tr>\n"


def _histogram(counts: np.ndarray) -> str:
    """Bars, the highest of full height, each with its count as its title."""
    wide, most = WIDTH / len(counts), max(int(counts.max()), 1)
    bars = "".join(
        f'<rect x="{place * wide:.2f}" y="{HEIGHT * (1 - count / most):.2f}" width="{0.9 * wide:.2f}" '
        f'height="{HEIGHT * count / most:.2f}"><title>{count}</title></rect>'
        for place, count in enumerate(counts.tolist())
        if count
    )
    return f'<svg width="{WIDTH}" height="{HEIGHT}" role="img">{bars}</svg>'
