"""Arrays in an .npz file: written whole, and read as far as a table says what each may be.

A file that is read may be anybody's. Of each array the header comes first: the kind of its numbers, its shape and its
size are compared with the table, and with what the archive says, before anything is decompressed or allotted; what a
file unpacks to is bounded too. Then the values: their range, and whether they are finite. Objects are never unpickled.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from warp_artic.errors import ArticError, SettingsError
from warp_artic.sim.files.whole_file import written_whole

HEADER = 2**14
"""Bytes that the header of an array is looked for in."""
UNPACKED, RATIO = 2**28, 20
"""Bytes that any file may unpack to, and how many times its own size a larger one may."""
LARGEST = 3.4e38
"""Largest magnitude of a number that is read: where single precision ends."""
LONGEST = 2**16
"""Characters of a text that is read."""
CHUNK = 2**20
"""Bytes that are read at once."""
SHORTEST = 1e-6
"""Length of a quaternion from which it says how something is turned."""
KINDS = {
    "f": "numbers in single or double precision",
    "iu": "integers",
    "iuf": "integers, or numbers in single or double precision",
    "U": "text",
}


@dataclass(frozen=True)
class Entry:
    """What an array of a file may be."""

    kinds: str = "f"
    """A key of KINDS: the kinds of NumPy's types that are allowed."""
    shapes: tuple[tuple[int | str, ...], ...] | None = None
    """Shapes that are allowed, the first that fits counts; a word stands for a size that is the same wherever it is.
    None: any."""
    most: float = math.inf
    """Largest number of entries."""
    low: float = -LARGEST
    high: float = LARGEST
    is_unbounded: bool = False
    """Whether numbers may be infinite as well, for a bound that there is not."""
    is_any: bool = False
    """Whether numbers may be anything, and no numbers too."""
    is_whole: bool = False
    """Whether numbers have to be integers."""
    is_optional: bool = False

    def accepts(self, values: np.ndarray) -> np.ndarray:
        """Which values are in the range."""
        if self.is_any:
            return np.ones(values.shape, bool)
        fits = (values >= self.low) & (values <= self.high)
        if self.is_whole:
            fits &= values == np.floor(values)
        return fits | np.isinf(values) if self.is_unbounded else fits

    def accepts_all(self, values: np.ndarray) -> bool:
        """Whether all values are in the range; soon, where it has no more than two ends."""
        if values.size == 0 or self.is_any:
            return True
        if self.is_unbounded or self.is_whole:
            return bool(self.accepts(values).all())
        return bool(self.low <= values.min() and values.max() <= self.high)

    def range(self) -> str:
        """The range, as a sentence has it."""
        kind = "an integer" if self.is_whole or self.kinds == "iu" else "a finite number"
        return f"{kind} from {self.low:g} to {self.high:g}{', or infinity,' * self.is_unbounded} is needed"


class NpzFile:
    """An open file; see `open_npz`."""

    def __init__(self, path: str | os.PathLike, kind: str, archive: zipfile.ZipFile, misfit: type[ArticError]):
        self._path = path
        self._kind = kind
        self._archive = archive
        self._misfit = misfit
        self._sizes: dict[str, int] = {}
        self.members = self._members()
        """The entry in the archive of each array, by name."""

    def read(self, table: Mapping[str, Entry]) -> dict[str, np.ndarray]:
        """The arrays of a table: first all headers are compared with it, then the values are read."""
        found = {name: self._header(name, entry) for name, entry in table.items() if self._has(name, entry)}
        return {name: self._values(name, table[name], *header) for name, header in found.items()}

    def refuse_others(self, known: Mapping[str, object]) -> None:
        """Raise an error where there are arrays of other names."""
        for name in self.members:
            if name not in known:
                raise self._misfit(f"{self._path}: has {_shown(name)}, which {self._kind} has not")

    def json_object(self, name: str, text: np.ndarray) -> dict:
        """A text as an object of JSON."""
        try:
            content = json.loads(str(text))
            json.dumps(content, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise self._misfit(f"{self._path}: {name}: is no text in JSON: {error}") from error
        if not isinstance(content, dict):
            raise self._misfit(f"{self._path}: {name}: is a {type(content).__name__} in JSON; an object is needed")
        return content

    def _damaged(self, why: object) -> SettingsError:
        return SettingsError(f"{self._path}: is not {self._kind} (.npz): {why}")

    def _members(self) -> dict[str, zipfile.ZipInfo]:
        """Members by the names of their arrays, whose sizes together are not too large."""
        members: dict[str, zipfile.ZipInfo] = {}
        for info in self._archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name == info.filename or name in members:
                raise self._damaged(f"{_shown(info.filename)} is no array, or is there twice")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self._damaged(f"{_shown(name)} is packed by method {info.compress_type}, not stored or deflated")
            members[name] = info
        size, packed = sum(info.file_size for info in members.values()), os.stat(self._path).st_size
        allowed = max(UNPACKED, RATIO * packed)
        if size > allowed:
            raise SettingsError(
                f"{self._path}: unpacks to {size:.3g} bytes from {packed:.3g}; at most {allowed:.3g} are read"
            )
        return members

    def _has(self, name: str, entry: Entry) -> bool:
        if name in self.members or entry.is_optional:
            return name in self.members
        raise self._misfit(f"{self._path}: is not {self._kind} of this version of warp_artic: {name} is missing")

    def _header(self, name: str, entry: Entry) -> tuple[tuple[int, ...], bool, np.dtype, int]:
        """Shape, whether the first index is fastest, type and place of the values of an array that fits."""
        info = self.members[name]
        with self._reading(name), self._archive.open(info) as stream:
            start = io.BytesIO(stream.read(HEADER))
            version = npy.read_magic(start)
            if version not in ((1, 0), (2, 0)):
                raise ValueError(f"an array of version {version}")
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, is_fortran, dtype = read(start)
        if dtype.kind not in entry.kinds or (dtype.kind == "f" and dtype.itemsize not in (4, 8)):
            raise self._misfit(f"{self._path}: {name} is {dtype} of shape {shape}; allowed: {KINDS[entry.kinds]}")
        allowed = (shape,) if entry.shapes is None else entry.shapes
        if not any(self._fits(shape, one) for one in allowed) or math.prod(shape) > entry.most:
            wanted = f"at most {entry.most:g} entries"
            if entry.shapes is not None:
                wanted = " or ".join(f"({', '.join(str(self._sizes.get(n, n)) for n in one)})" for one in allowed)
            raise self._misfit(
                f"{self._path}: {name} is {dtype} of shape {shape}; allowed: {KINDS[entry.kinds]} of shape {wanted}"
            )
        if dtype.kind == "U" and dtype.itemsize > 4 * LONGEST:
            raise self._misfit(f"{self._path}: {name}: has {dtype.itemsize // 4} characters; {LONGEST} are read")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != info.file_size - start.tell():
            raise self._damaged(f"{name} of shape {shape} has {info.file_size - start.tell()} bytes")
        return shape, is_fortran, dtype, start.tell()

    def _fits(self, shape: tuple[int, ...], allowed: tuple[int | str, ...]) -> bool:
        """Whether a shape is one that is allowed; sizes that are met the first time are remembered then."""
        sizes = [self._sizes.get(wanted, wanted) for wanted in allowed]
        if len(shape) != len(sizes):
            return False
        if any(isinstance(wanted, int) and wanted != found for wanted, found in zip(sizes, shape)):
            return False
        self._sizes |= {wanted: found for wanted, found in zip(sizes, shape) if isinstance(wanted, str)}
        return True

    def _values(self, name: str, entry: Entry, shape, is_fortran: bool, dtype: np.dtype, place: int) -> np.ndarray:
        """The values of an array, whose header fits, in the byte order of this machine."""
        with self._reading(name), self._archive.open(self.members[name]) as stream:
            stream.read(place)
            values = np.empty(shape, dtype, order="F" if is_fortran else "C")
            memory = memoryview(values.reshape(-1, order="A").view(np.uint8)) if values.size else memoryview(b"")
            for first in range(0, len(memory), CHUNK):
                part = memory[first : first + CHUNK]
                part[:] = stream.read(len(part))
            stream.read(1)  # the end, where the sum is compared
            values = values.astype(dtype.newbyteorder("="), order="C", copy=False)
        if dtype.kind == "U":
            self._check_text(name, values)
            return values
        if not entry.accepts_all(values):
            wrong = np.argwhere(~entry.accepts(values))
            index = tuple(map(int, wrong[0]))
            where = f"the value at {index} is" if index else "is"
            raise self._misfit(f"{self._path}: {name}: {where} {values[index]!s}; {entry.range()}")
        return values

    def _check_text(self, name: str, values: np.ndarray) -> None:
        codes = np.ascontiguousarray(values).reshape(-1).view(np.uint32)
        if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any():
            raise self._misfit(f"{self._path}: {name}: has what is no character; Unicode is needed")

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # NumPy, zipfile and zlib raise nearly everything at damaged files
            raise self._damaged(f"{_shown(name)}: {_line(error)}") from error


@contextmanager
def open_npz(path: str | os.PathLike, kind: str, misfit: type[ArticError] = SettingsError) -> Iterator[NpzFile]:
    """Open a file to read it.

    Args:
        path: The file.
        kind: What it should be, as in "a recording".
        misfit: The error for arrays that are not as a table has them.

    Raises:
        SettingsError: There is no such file, or it is damaged or of another kind, or unpacks to far too much.
    """
    try:
        if not Path(path).is_file() and Path(path).exists():
            raise SettingsError(f"{path}: is not {kind} (.npz), but no file at all")
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise SettingsError(f"{path}: there is no such file") from error
    except ArticError:
        raise
    except Exception as error:  # as above
        raise SettingsError(f"{path}: is not {kind} (.npz): {_line(error)}") from error
    with archive:
        yield NpzFile(path, kind, archive, misfit)


def read_npz(path: str | os.PathLike, kind: str, entry: Entry) -> dict[str, np.ndarray]:
    """Read all arrays by name, each of which may be the same."""
    with open_npz(path, kind) as file:
        return file.read(dict.fromkeys(file.members, entry))


def write_npz(path: str | os.PathLike, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays under their names.

    Raises:
        SettingsError: There is no such folder, or the path is one.
        SolveError: The file cannot be written.
    """
    with written_whole(path) as partial, open(partial, "wb") as file:
        np.savez(file, **arrays)


def _line(error: Exception) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _shown(name: str) -> str:
    """A name out of a file, which may be anything."""
    return ascii(name[:80])


def short_quaternion(quaternions: np.ndarray, axis: int) -> str:
    """What is wrong with quaternions along an axis: a sentence where one has no direction, else nothing."""
    lengths = np.linalg.norm(quaternions.astype(float), axis=axis)
    if (lengths < SHORTEST).any():
        return f"a quaternion has the length {lengths.min():g}; at least {SHORTEST:g} is needed"
    return ""
