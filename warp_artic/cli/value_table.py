"""Tables of values beside which stands where they came from."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warp_artic.cli.table import Column, Table, width

INSTANCE = re.compile(r"(?<=^physxTendon:)[^:]+|(?<=:)(angular|linear|cone|rot[XYZ]|trans[XYZ])(?=:)")
"""What differs in the name of an attribute from axis to axis, or from tendon to tendon."""
FREE = ("lower", "upper", "cone_angle")
"""Values that leave a side free where they are infinite; other infinite values are no bound."""
ABSENT = ("as at start", "free", "none", "as at rest")
"""Words for a rest length that is taken from the start, a free side, no bound, and a target length of a mesh."""


@dataclass(frozen=True)
class Row:
    """What a table of values has in a line."""

    keys: tuple[str, ...]
    values: dict[str, object]
    """By field; in SI, None where infinite."""
    readings: list[dict]
    units: dict[str, str]
    """By field."""


def value_tables(
    title: str,
    heads: tuple[Column, ...],
    rows: list[Row],
    fields: Iterable[str],
    words: dict[str, str] | None = None,
) -> Iterator[str | Table]:
    """A table of the fields that are authored somewhere, one that says where they come from, and the others."""
    if not rows:
        return
    columns, cells, sources, defaults = list(heads), [list(row.keys) for row in rows], [], []
    for field in fields:
        own = [_reading(row, field) for row in rows]
        shown = [number_text(row.values[field], field) if field in row.values else "" for row in rows]
        if not any(shown):
            continue
        name = (words or {}).get(field, words_of(field))
        same = set(filter(None, shown))
        if not any(own) and len(same) == 1:
            (value,) = same
            unit = " or ".join(_units(rows, field)) if value not in ABSENT else ""
            defaults.append(f"{name} {value} {unit}".rstrip())
            continue
        marks = _marks(own)
        columns.append(Column(name, " or ".join(_units(rows, field))))
        for line, text, reading in zip(cells, shown, own):
            line.append(_cell(text, field, reading, marks))
        for key, mark in marks.items():
            count = sum(_key(reading) == key for reading in own if reading)
            units = dict.fromkeys(one["authored_unit"] for one in own if one and _key(one) == key)
            unit = " or ".join(unit for unit in units if unit not in ("", "1"))
            sources.append((name, *key, unit, f"{count}/{sum(map(bool, shown))}", mark))
    yield Table(title, tuple(columns), tuple(map(tuple, cells)), keys=len(heads))
    if sources:
        names = ("value", "attribute", "schemas", "authored in", "on", "mark")
        if not any(source[-1] for source in sources):
            names, sources = names[:-1], [source[:-1] for source in sources]
        heads = tuple(Column(name, is_text=True) for name in names)
        yield Table(f"{title}: where values come from", heads, tuple(sources), keys=len(names))
    if defaults:
        yield textwrap.fill(f"{title}: not authored: {', '.join(defaults)}", width(), subsequent_indent="  ")


def _reading(row: Row, field: str) -> dict | None:
    name = "inertia" if field == "principal_inertia" else field
    return next((one for one in row.readings if one["field"] == name), None) if field in row.values else None


def _units(rows: list[Row], field: str) -> list[str]:
    found = [row.units.get(field, "") for row in rows if field in row.values]
    return [unit for unit in dict.fromkeys(found) if unit not in ("", "1")]


def _key(reading: dict) -> tuple[str, str]:
    """What tells the sources of a column apart."""
    return attribute_name(reading), reading["dialect"]


def _marks(readings: list[dict | None]) -> dict[tuple[str, str], str]:
    """The sources of a column, each with a number where there are several."""
    keys = dict.fromkeys(_key(reading) for reading in readings if reading)
    return {key: f"#{number}" if len(keys) > 1 else "" for number, key in enumerate(keys, 1)}


def attribute_name(reading: dict) -> str:
    """The name of an attribute, or that of what else gives a value."""
    _, dot, name = reading["attribute"].rpartition(".")
    return INSTANCE.sub("*", name) if dot else "colliders"


def _cell(text: str, field: str, reading: dict | None, marks: dict) -> str:
    """A value, beside it the number that is authored, where that is another."""
    if reading is None:
        return f"({text})" if text else ""
    authored = reading["authored"]
    mark = marks[_key(reading)]
    if authored is not None and not isinstance(authored, list):
        number = number_text(authored, field)
        text += "" if number == text else f" [{number}]"
    return f"{text} {mark}".rstrip()


def number_text(value, field: str) -> str:
    """A number, several, or a word for none of a field."""
    if value is None:
        word = {"rest_length": ABSENT[0], "target_length": ABSENT[3]}
        return word.get(field, ABSENT[1] if field in FREE else ABSENT[2])
    if isinstance(value, list):
        return " ".join(f"{one:.4g}" for one in value)
    return f"{value:.5g}"


def words_of(name: str, count: int = 2) -> str:
    """A name of a field in words, for some number of them."""
    words = name.replace("_", " ").replace("mimics", "mimic joints")
    if count == 1 and words.endswith("s"):
        return words[:-3] + "y" if words.endswith("ies") else words[:-1]
    return words
