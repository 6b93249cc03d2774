"""Arrays in an .npz file, written complete or not at all."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from warp_artic.errors import SettingsError

DAMAGED = (
    OSError,
    ValueError,
    AttributeError,
    TypeError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
    OverflowError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy and zipfile raise at files that are not, or no longer, what was written."""


def write_npz(path: str | os.PathLike, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays under their names.

    Raises:
        SettingsError: The file cannot be written.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open(partial, "wb") as file:
            np.savez(file, **arrays)
        os.replace(partial, path)
    except OSError as error:
        raise SettingsError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def read_npz(path: str | os.PathLike, kind: str) -> dict[str, np.ndarray]:
    """Read all arrays by name.

    Args:
        path: The file.
        kind: What it should be, as in "a recording".

    Raises:
        SettingsError: There is no such file, or it is damaged or of another kind.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError as error:
        raise SettingsError(f"{path}: there is no such file") from error
    except DAMAGED as error:
        raise SettingsError(f"{path}: is not {kind} (.npz): {error}") from error
