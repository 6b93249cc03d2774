"""Tables that a person can read: with `rich` on a terminal, elsewhere as aligned plain text."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

try:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text
except ImportError:  # the extra `cli` is not installed
    Console = None

WIDEST = 120
"""Columns of a line where no terminal shows it."""
NARROWEST = 24
"""Columns that a wrapped text has at least."""
GAP = "  "


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    unit: str = ""
    is_text: bool = False
    """Whether it begins at the left, as words do, and not at the right, as numbers do."""


@dataclass(frozen=True)
class Table:
    """A title, columns, and rows of cells; wide ones are split into several with the same first columns."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 1
    """How many columns name a row."""
    wraps: bool = False
    """Whether the last column is long text, which is broken into lines."""


def width() -> int:
    """How wide a line may be."""
    return shutil.get_terminal_size((WIDEST, 24)).columns if sys.stdout.isatty() else WIDEST


def show(blocks: Iterable[str | Table]) -> None:
    """Print paragraphs and tables, with an empty line between them."""
    is_rich = Console is not None and sys.stdout.isatty()
    for number, block in enumerate(blocks):
        if number:
            print()
        if isinstance(block, str):
            print(block)
        elif is_rich:
            _show_rich(block)
        else:
            print("\n".join(plain(block, width())))


def plain(table: Table, widest: int) -> Iterator[str]:
    """The lines of a table as aligned text."""
    title = table.title
    for part in _parts(table, widest):
        yield title
        cells = [[(column.name, column.unit)[line] for column in part.columns] for line in (0, 1)]
        heads = cells if any(cells[1]) else cells[:1]
        sizes = [max(map(len, column)) for column in zip(*heads, *part.rows)]
        for row in (*heads, *part.rows):
            own = [
                f"{cell:<{size}}" if column.is_text else f"{cell:>{size}}"
                for cell, size, column in zip(row, sizes, part.columns)
            ]
            if not part.wraps:
                yield (GAP + GAP.join(own)).rstrip()
                continue
            head = GAP + GAP.join(own[:-1]) + GAP
            for line in textwrap.wrap(row[-1], max(widest - len(head), NARROWEST), break_long_words=False) or [""]:
                yield f"{head}{line}".rstrip()
                head = " " * len(head)
        title = f"{table.title}, continued"


def _parts(table: Table, widest: int) -> Iterator[Table]:
    """The table in parts that are as wide as a line may be, where that is possible."""
    if table.wraps:
        yield table
        return
    sizes = [
        max(map(len, (column.name, column.unit, *(row[place] for row in table.rows)))) + len(GAP)
        for place, column in enumerate(table.columns)
    ]
    keys = list(range(table.keys))
    waiting = list(range(table.keys, len(table.columns)))
    while True:
        chosen, room = list(keys), widest - sum(sizes[key] for key in keys)
        while waiting and (len(chosen) == len(keys) or sizes[waiting[0]] <= room):
            room -= sizes[waiting[0]]
            chosen.append(waiting.pop(0))
        rows = tuple(tuple(row[place] for place in chosen) for row in table.rows)
        yield Table(table.title, tuple(table.columns[place] for place in chosen), rows, table.keys)
        if not waiting:
            return


def _show_rich(table: Table) -> None:
    """Print a table with colours."""
    console = Console(highlight=False)
    title = table.title
    for part in _parts(table, console.width - len(GAP)):
        shown = RichTable(box=None, padding=(0, len(GAP), 0, 0), header_style="bold cyan")
        has_units = any(column.unit for column in part.columns)
        for place, column in enumerate(part.columns):
            is_wrapped = part.wraps and place == len(part.columns) - 1
            head = f"{column.name}\n{column.unit}" if has_units else column.name
            shown.add_column(
                Text(head),
                justify="left" if column.is_text else "right",
                no_wrap=not is_wrapped,
                overflow="fold",
                style="bold" if place == 0 else "",
            )
        for row in part.rows:
            shown.add_row(*(Text(cell) for cell in row))
        console.print(Text(title, style="bold"))
        console.print(shown)
        title = f"{table.title}, continued"
