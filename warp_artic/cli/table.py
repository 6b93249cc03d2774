"""Tables for people, by rich: in colours on a terminal, elsewhere plain text of a fixed width."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

WIDEST = 120
"""Columns of a line where no terminal shows it."""
NARROWEST = 24
"""Columns that a wrapped text has at least."""
GAP = 2
"""Spaces between columns, and before a table."""


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
    return Console().width if sys.stdout.isatty() else WIDEST


def show(blocks: Iterable[str | Table]) -> None:
    """Print paragraphs and tables, with an empty line between them."""
    for number, block in enumerate(blocks):
        if number:
            print()
        if isinstance(block, str):
            print(block)
        elif sys.stdout.isatty():
            console = Console(highlight=False)
            for part in _parts(block, console.width):
                console.print(Text(part.title, style="bold"), _laid_out(part), sep="\n")
        else:
            print("\n".join(plain(block, width())))


def plain(table: Table, widest: int) -> Iterator[str]:
    """The lines of a table as aligned text."""
    for part in _parts(table, widest):
        room = max(widest, sum(_sizes(part)))
        console = Console(file=StringIO(), width=room, color_system=None, highlight=False)
        with console.capture() as capture:
            console.print(_laid_out(part))
        yield part.title
        yield from (line.rstrip() for line in capture.get().splitlines())


def _laid_out(table: Table) -> RichTable:
    """A table as rich prints it; cells are text, in which brackets mean nothing."""
    laid = RichTable(box=None, padding=(0, 0, 0, GAP), header_style="bold cyan", pad_edge=True)
    has_units = any(column.unit for column in table.columns)
    for place, column in enumerate(table.columns):
        laid.add_column(
            Text(f"{column.name}\n{column.unit}" if has_units else column.name),
            justify="left" if column.is_text else "right",
            no_wrap=not _is_wrapped(table, place),
            min_width=_size(table, place),
            style="bold" if place == 0 else "",
        )
    for row in table.rows:
        laid.add_row(*map(Text, row))
    return laid


def _is_wrapped(table: Table, place: int) -> bool:
    """Whether the cells of a column are broken into lines."""
    return table.wraps and place == len(table.columns) - 1


def _size(table: Table, place: int) -> int:
    """How wide a column is: its longest cell, or its longest word where it is broken into lines."""
    column = table.columns[place]
    cells = [column.name, column.unit, *(row[place] for row in table.rows)]
    if _is_wrapped(table, place):
        return max(NARROWEST, *(len(word) for cell in cells for word in cell.split()))
    return max(map(len, cells))


def _sizes(table: Table) -> list[int]:
    """How wide each column is, with the gap before it."""
    return [_size(table, place) + GAP for place in range(len(table.columns))]


def _parts(table: Table, widest: int) -> Iterator[Table]:
    """The table in parts that are as wide as a line may be, where that is possible."""
    if table.wraps:
        yield table
        return
    sizes, title = _sizes(table), table.title
    keys = list(range(table.keys))
    waiting = list(range(table.keys, len(table.columns)))
    while True:
        chosen, room = list(keys), widest - sum(sizes[key] for key in keys)
        while waiting and (len(chosen) == len(keys) or sizes[waiting[0]] <= room):
            room -= sizes[waiting[0]]
            chosen.append(waiting.pop(0))
        rows = tuple(tuple(row[place] for place in chosen) for row in table.rows)
        yield Table(title, tuple(table.columns[place] for place in chosen), rows, table.keys)
        title = f"{table.title}, continued"
        if not waiting:
            return
