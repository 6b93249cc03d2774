"""The figures of one model and quantity: rows of a table, and entries of a file."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from warp_artic.cli.bench_timing import Run, take_turns
from warp_artic.cli.table import Column, Table, width

LONGEST = 0.15
"""A case of a peer is left out where one step of all environments would take longer [s]."""


@dataclass(frozen=True)
class Contestant:
    """What a row is measured of."""

    label: str
    start: Callable[[int], Sequence[Run]]
    """For a number of environments: what is timed, and, if there is a second run, what is taken off."""
    facts: Callable[[int, float], dict] = lambda environments, least: {}
    """For a number of environments and microseconds: further entries of the file."""
    below: tuple[str, Callable[[dict], str]] | None = None
    """A row below its own: the label, and the cell of an entry."""
    longest: float = LONGEST


class Sheet:
    """Collects rows, notes and results."""

    def __init__(self, title: str, environments: list[int], **case):
        self.title = title
        self.environments = environments
        self.heads = "environments", *map(str, environments)
        self.rows: list[tuple[str, ...]] = []
        self.notes: list[str] = []
        self.results: list[dict] = []
        self._case = case

    def measure(self, contestants: Sequence[Contestant], repeats: int, seconds: float) -> None:
        """Add a row for each; they take turns."""
        found: dict[str, list[dict]] = {each.label: [] for each in contestants}
        for count in self.environments:
            lengths = {each.label: _foreseen(found[each.label], count) for each in contestants}
            short = [each for each in contestants if lengths[each.label] <= each.longest]
            times = take_turns([partial(each.start, count) for each in short], repeats, seconds)
            measured = dict(zip((each.label for each in short), times))
            for each in contestants:
                label = each.label
                result = measured.get(label, f"a step would take {lengths[label]:.2g} s")
                if isinstance(result, str):
                    content = {"not_measured": result}
                    note = f"{label}: {result}"
                    self.notes += [note] * (label in measured and note not in self.notes)
                else:
                    content = _figures(result, count)
                    content |= each.facts(count, content["least"])
                found[label].append({"environments": count, **content})
        for each in contestants:
            self.add(each.label, found[each.label])
            if each.below is not None:
                label, cell = each.below
                cells = (cell(entry) if "least" in entry else "–" for entry in found[each.label])
                self.rows.append((f"  {label}", *cells))

    def add(self, label: str, entries: Sequence[dict]) -> None:
        """Add a row: an entry for each number of environments."""
        self.rows.append((label, *map(_cell, entries)))
        for entry in entries:
            self.results.append(rounded({**self._case, "name": label, **entry}))

    def skip(self, label: str, reason: str) -> None:
        """Add a row without figures."""
        self.add(label, [{"environments": count, "not_measured": reason} for count in self.environments])
        self.notes.append(f"{label}: {reason}")

    def compare(self, label: str, upper: str, lower: str) -> None:
        """Add a row of ratios of two contestants."""
        least = {(entry["name"], entry["environments"]): entry.get("least") for entry in self.results}
        pairs = [(least.get((upper, count)), least.get((lower, count))) for count in self.environments]
        self.rows.append((label, *(f"{above / below:.2f}" if above and below else "–" for above, below in pairs)))

    def tables(self) -> list[str | Table]:
        """The table, and the notes below it."""
        columns = tuple(Column(head, is_text=not number) for number, head in enumerate(self.heads))
        lines = (textwrap.wrap(note, width(), initial_indent="  ", subsequent_indent="    ") for note in self.notes)
        notes = "\n".join(line for note in lines for line in note)
        return [Table(self.title, columns, tuple(self.rows)), *([notes] if notes else [])]


def _foreseen(entries: list[dict], count: int) -> float:
    """Seconds that a step of so many environments would take, by what the last ones took."""
    return next((1e-6 * entry["least"] * count for entry in reversed(entries) if "least" in entry), 0.0)


def _figures(times: list[list[float]], environments: int) -> dict:
    """What is written of seconds: microseconds for one environment, without what is taken off."""
    own, off = times[0], min(times[1]) if len(times) > 1 else 0.0
    left = [1e6 * (time - off) / environments for time in own]
    figures = {"least": min(left), "median": statistics.median(left), "runs": len(left)}
    return figures if len(times) == 1 else {**figures, "taken_off": off / min(own)}


def _cell(entry: dict) -> str:
    """Least and median, or the only value; and the share of what is taken off."""
    if "least" not in entry:
        return "–"
    text = figure(entry["least"]) + (f"/{figure(entry['median'])}" if "median" in entry else "")
    return f"{text} ({100 * entry['taken_off']:.0f}%)" if "taken_off" in entry else text


def rounded(value):
    """Numbers with the digits that a measurement has."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def figure(value: float) -> str:
    """A number with three digits."""
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(digits, 0)}f}"
