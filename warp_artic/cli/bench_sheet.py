"""The figures of one model and quantity: rows of a table, and entries of a file."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Callable

from warp_artic.cli.table import Column, Table, width

LONGEST = 0.15
"""A case is left out where one step of all environments would take longer [s]."""

Times = Callable[[int], list[float] | str]
"""For a number of environments: microseconds for one of them in each repeat, or why there are none."""


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

    def measure(self, label: str, times: Times, facts: Callable[[int, float], dict] = lambda count, least: {}) -> None:
        """Add a row; `facts` of a case are further entries of the file."""
        cells, last = [], 0.0
        for count in self.environments:
            expected = 1e-6 * last * count
            found = f"a step would take {expected:.2g} s" if expected > LONGEST else times(count)
            entry = {**self._case, "name": label, "environments": count}
            if isinstance(found, str):
                self.results.append({**entry, "not_measured": found})
                cells.append("–")
                note = f"{label}: {found}"
                if expected <= LONGEST and note not in self.notes:
                    self.notes.append(note)
                continue
            last = min(found)
            figures = {"least": last, "median": statistics.median(found), "runs": len(found)}
            entry |= {**figures, **facts(count, last)}
            self.results.append({name: rounded(value) for name, value in entry.items()})
            cells.append(f"{figure(last)}/{figure(figures['median'])}")
        self.rows.append((label, *cells))

    def skip(self, label: str, reason: str) -> None:
        """Add a row without figures."""
        self.measure(label, lambda count: reason)

    def share(self, label: str, name: str) -> None:
        """Add a row with a fact of the row before, as a percentage."""
        last = self.results[-len(self.environments) :]
        cells = (f"{100 * entry[name]:.0f} %" if name in entry else "–" for entry in last)
        self.rows.append((label, *cells))

    def tables(self) -> list[str | Table]:
        """The table, and the notes below it."""
        columns = tuple(Column(head, is_text=not number) for number, head in enumerate(self.heads))
        lines = (textwrap.wrap(note, width(), initial_indent="  ", subsequent_indent="    ") for note in self.notes)
        notes = "\n".join(line for note in lines for line in note)
        return [Table(self.title, columns, tuple(self.rows)), *([notes] if notes else [])]


def rounded(value):
    """A number with the digits that a measurement has."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def figure(value: float) -> str:
    """A number with three digits."""
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(digits, 0)}f}"
