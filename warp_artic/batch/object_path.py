"""Files of an object store, by the part of `pathlib` that a batch needs: s3://bucket/out, gs://bucket/out and others.

Stores are reached through pyarrow: S3 (and what speaks its protocol, with `?endpoint_override=...`), Google Cloud
Storage, Azure and Hadoop by pyarrow itself, other schemes by fsspec where it is installed. Credentials are found as the
client of a store finds them: from the environment, a profile or the role of a machine.

A store need have no folders, no moves and no locks. What is written is made on this machine first and then sent as one
object, which is there when it is complete. So a batch keeps its promise: the table of runs of a shard comes last.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from warp_artic.errors import SettingsError, SolveError
from warp_artic.sim.files.whole_file import path_of, written_whole

SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
OF_PYARROW = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
"""Schemes that pyarrow knows itself."""
PIECE = 1 << 22
"""Bytes that are sent at a time."""


class Size(NamedTuple):
    """What a store says of an object."""

    st_size: int
    """Bytes."""


@dataclass(frozen=True)
class ObjectPath:
    """An object, or all objects whose keys begin so."""

    place: str
    """Scheme, bucket and key, as in s3://bucket/out."""
    query: str = ""
    """Options of the store, as a URI has them behind its question mark."""

    @classmethod
    def of(cls, uri: str) -> ObjectPath:
        """Of a URI.

        Raises:
            SettingsError: pyarrow is not installed, or does not know such a store or option.
            SolveError: The store cannot be reached.
        """
        place, _, query = uri.partition("?")
        found = cls(place.rstrip("/"), query)
        found._filesystem()
        return found

    def __str__(self) -> str:
        return without_secrets(self.place)

    def __repr__(self) -> str:
        return f"ObjectPath({self})"

    def __truediv__(self, name: str) -> ObjectPath:
        return ObjectPath(f"{self.place}/{name}", self.query)

    @property
    def name(self) -> str:
        """What comes behind the last slash."""
        return self.place.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The ending of the name, as `.parquet`."""
        return Path(self.name).suffix

    def absolute(self) -> ObjectPath:
        """Itself: a URI is the same everywhere."""
        return self

    def exists(self) -> bool:
        """Whether there is such an object, or any below."""
        return self._info().type.name != "NotFound"

    def is_dir(self) -> bool:
        """Whether there are objects below."""
        return self._info().type.name == "Directory"

    def is_file(self) -> bool:
        """Whether there is such an object."""
        return self._info().is_file

    def stat(self) -> Size:
        """The size of the object.

        Raises:
            FileNotFoundError: There is none.
        """
        found = self._info()
        if not found.is_file:
            raise FileNotFoundError(str(self))
        return Size(found.size)

    def iterdir(self) -> Iterator[ObjectPath]:
        """The objects and folders right below."""
        selector = import_module("pyarrow.fs").FileSelector
        filesystem, key = self._filesystem()
        with self._told():
            found = filesystem.get_file_info(selector(key, allow_not_found=True))
        return (self / one.base_name for one in found)

    def open(self, mode: str = "rb") -> io.BytesIO:
        """All of the object, as a file to be read: what is wrong with it then is not the fault of a connection.

        Raises:
            FileNotFoundError: There is none.
            SolveError: The store cannot be reached.
        """
        with self._told(), self.in_parts() as file:
            return io.BytesIO(file.read())

    def in_parts(self):
        """The object as a file of pyarrow, of which parts can be read alone.

        Raises:
            OSError: It is not there, or the store cannot be reached.
        """
        filesystem, key = self._filesystem()
        return filesystem.open_input_file(key)

    def read_text(self, encoding: str = "utf-8") -> str:
        """All of the object as text."""
        with self.open() as file:
            return file.read().decode(encoding)

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Have a folder, where the store has folders."""
        filesystem, key = self._filesystem()
        with self._told():
            filesystem.create_dir(key, recursive=True)

    def unlink(self, missing_ok: bool = False) -> None:
        """Take the object away."""
        if missing_ok and not self.is_file():
            return
        filesystem, key = self._filesystem()
        with self._told():
            filesystem.delete_file(key)

    @contextmanager
    def written_whole(self) -> Iterator[Path]:
        """An empty file on this machine to be written, which becomes the object if all goes well.

        Raises:
            SolveError: It cannot be written or sent.
        """
        filesystem, key = self._filesystem()
        try:
            with tempfile.TemporaryDirectory() as folder:
                partial = Path(folder, self.name)
                partial.touch()
                yield partial
                with open(partial, "rb") as source, filesystem.open_output_stream(key) as sink:
                    shutil.copyfileobj(source, sink, PIECE)
        except OSError as error:
            raise SolveError(f"{self}: cannot be written: {error}") from error

    def _info(self):
        filesystem, key = self._filesystem()
        with self._told():
            return filesystem.get_file_info(key)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise SolveError(f"{self}: the store cannot be reached: {error}") from None

    def _filesystem(self):
        """The store, and the key of this object in it."""
        scheme, _, key = self.place.partition("://")
        bucket, _, rest = key.partition("/")
        filesystem, root = _store(scheme, bucket, self.query)
        return filesystem, f"{root}/{rest}" if rest else root


Place = Path | ObjectPath
"""A file or folder of this machine, or of an object store."""


def place_of(place: str | os.PathLike | ObjectPath) -> Place:
    """The folder or file that a path or a URI names."""
    if isinstance(place, ObjectPath):
        return place
    return ObjectPath.of(place) if isinstance(place, str) and SCHEME.match(place) else path_of(place)


def written(place: Place) -> AbstractContextManager[Path]:
    """An empty file to be written, which takes its place whole or not at all; see `written_whole`."""
    return place.written_whole() if isinstance(place, ObjectPath) else written_whole(place)


def without_secrets(uri: str) -> str:
    """A URI without the keys that may stand before its bucket."""
    return re.sub(r"(?<=://)[^/]*@", "", uri)


@cache
def _store(scheme: str, bucket: str, query: str):
    """A store, opened once a process, and what keys in a bucket begin with."""
    uri = f"{scheme}://{bucket}" + (f"?{query}" if query else "")
    told = without_secrets(f"{scheme}://{bucket}")
    if not find_spec("pyarrow"):
        raise SettingsError(f'{told}: object stores need pyarrow: pip install "warp-artic[batch]"')
    stores = import_module("pyarrow.fs")
    try:
        return stores.FileSystem.from_uri(uri)
    except ValueError as error:  # it does not know the scheme, or an option
        if scheme.lower() in OF_PYARROW:
            raise SettingsError(f"{told}: {error}") from None
        if not find_spec("fsspec"):
            raise SettingsError(f"{told}: is no object store of pyarrow; other schemes need fsspec") from None
    except OSError as error:
        raise SolveError(f"{told}: the store cannot be reached: {error}") from None
    try:
        found = import_module("fsspec").filesystem(scheme)
    except (ValueError, ImportError) as error:
        raise SettingsError(f"{told}: is no object store: {error}") from None
    return stores.PyFileSystem(stores.FSSpecHandler(found)), bucket
