"""Tables in files: Parquet where pyarrow is installed (the extra `batch`), else .npz; each column says what it is of.

In Parquet numbers are split by bytes and packed by zstd, and pages have checksums. The bytes of a file depend on what
is in it alone: a table that is written again is the same file.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from warp_artic.batch.object_path import PIECE, ObjectPath, Place, written
from warp_artic.errors import SettingsError, did_you_mean

METADATA = "warp_artic"
"""The key of what a file says of itself."""
ROWS_OF_GROUP = 1 << 17
"""Rows that Parquet packs together."""
FORMATS = {"parquet": ".parquet", "npz": ".npz"}


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, what each is of, and what is said of all of them."""

    columns: dict[str, np.ndarray]
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Of columns: unit, prim and quantity."""
    metadata: Mapping = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise SettingsError(f"there is no column {name!r}{did_you_mean(name, self.columns)}")
        return self.columns[name]


def has_parquet() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def parquet(what: str):
    """The module of pyarrow, or a sentence that says what needs it."""
    if not has_parquet():
        raise SettingsError(f'{what}: Parquet needs pyarrow: pip install "warp-artic[batch]"')
    return import_module("pyarrow.parquet")


def write_table(path: Place, table: Table) -> None:
    """Write a file whole; its name says the format.

    Raises:
        SolveError: It cannot be written.
    """
    with written(path) as partial:
        if path.suffix == ".npz":
            with open(partial, "wb") as file:
                about = {"metadata": dict(table.metadata), "fields": {k: dict(v) for k, v in table.fields.items()}}
                columns = {
                    name: values.astype(str) if values.dtype == object else values
                    for name, values in table.columns.items()
                }
                np.savez(file, **{METADATA: np.array(json.dumps(about))}, **columns)
            return
        arrow, writer = import_module("pyarrow"), parquet(str(path))
        fields = [
            arrow.field(name, _arrow_type(arrow, values), nullable=False, metadata=dict(table.fields.get(name, {})))
            for name, values in table.columns.items()
        ]
        schema = arrow.schema(fields, metadata={METADATA: json.dumps(dict(table.metadata))})
        arrays = [arrow.array(values, type=one.type) for values, one in zip(table.columns.values(), fields)]
        words = [one.name for one in fields if not arrow.types.is_floating(one.type)]
        split = [one.name for one in fields if arrow.types.is_floating(one.type) and one.name != "time"]
        writer.write_table(
            arrow.Table.from_arrays(arrays, schema=schema),
            partial,
            row_group_size=ROWS_OF_GROUP,
            compression="zstd",
            compression_level=-1,
            use_dictionary=[*words, "time"],
            use_byte_stream_split=split or False,
            write_statistics=words,
            write_page_checksum=True,
        )


def read_table(path: Place, columns: Iterable[str] | None = None, run: int | None = None) -> Table:
    """What `write_table` wrote, or some columns of it, or the rows of one run.

    Raises:
        SettingsError: The file is damaged, or no such table.
    """
    try:
        if path.suffix == ".npz":
            with path.open("rb") as source, np.load(source, allow_pickle=False) as file:
                about = json.loads(str(file[METADATA]))
                names = [name for name in file.files if name != METADATA]
                found = {name: file[name] for name in names if columns is None or name in (*columns, "run")}
            if run is not None:
                found = {name: values[found["run"] == run] for name, values in found.items()}
            return Table(found, about["fields"], about["metadata"])
        reader = parquet(str(path))
        chosen = None if columns is None else list(columns)
        filters = None if run is None else [("run", "==", run)]
        with _source(path, in_parts=run is not None) as source:
            table = reader.read_table(source, columns=chosen, filters=filters, page_checksum_verification=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise SettingsError(f"{path}: is damaged, or no table of a batch: {error}") from None
    about = json.loads((table.schema.metadata or {}).get(METADATA.encode(), b"{}"))
    fields = {
        one.name: {
            key.decode(): value.decode()
            for key, value in (one.metadata or {}).items()
            if not key.startswith(b"PARQUET")
        }
        for one in table.schema
    }
    return Table({name: _column(table[name]) for name in table.column_names}, fields, about)


def read_metadata(path: Place) -> dict:
    """What a file says of itself, without its columns.

    Raises:
        SettingsError: The file is damaged, or no such table.
    """
    try:
        if path.suffix == ".npz":
            with path.open("rb") as source, np.load(source, allow_pickle=False) as file:
                return json.loads(str(file[METADATA]))["metadata"]
        with _source(path) as source:
            schema = parquet(str(path)).read_schema(source)
        return json.loads(schema.metadata[METADATA.encode()])
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise SettingsError(f"{path}: is damaged, or no table of a batch: {error}") from None


def digest_of(path: Place) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def joined(tables: list[Table]) -> Table:
    """One table of several; a column that one of them lacks has no numbers there."""
    names = list(dict.fromkeys(name for table in tables for name in table.columns))
    fields = {name: about for table in tables for name, about in table.fields.items()}
    columns = {
        name: np.concatenate([table.columns.get(name, np.full(len(table), np.nan)) for table in tables])
        for name in names
    }
    return Table(columns, fields, tables[0].metadata if tables else {})


def _source(path: Place, in_parts: bool = False) -> AbstractContextManager:
    """What pyarrow reads a file from: by its path, or of an object store all of it or in parts."""
    if isinstance(path, ObjectPath):
        return path.in_parts() if in_parts else path.open()
    return nullcontext(path)


def _column(column) -> np.ndarray:
    values = column.to_numpy()
    return values.astype(str) if values.dtype == object else values


def _arrow_type(arrow, values: np.ndarray):
    if values.dtype.kind in "UO":
        return arrow.string()
    return arrow.from_numpy_dtype(values.dtype)
