"""Files that are written whole or not at all: the one way in which this package writes what it is asked for.

    .run.usdc.5a0c...e7.partial/    a folder of a random name beside the output, made for nobody else, locked meanwhile
        run.usdc                    what is written, under its own name: OpenUSD and Matplotlib go by its ending

When everything is written it is brought to the disk, takes the place of the output in one move, and the folder goes. A
process that is killed leaves its folder, but not the lock on it: who writes the same output next removes it. What is no
file, as a device or a pipe, cannot be replaced: it is written to when all is done.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warp_artic.errors import SettingsError, SolveError

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing is locked, and nothing that was left is removed
    fcntl = None  # type: ignore[assignment]

FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
TOKEN = 16
"""Random bytes in the name of a folder."""


def path_of(path: object) -> Path:
    """A path of this system, or a SettingsError."""
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str) or "\0" in os.fspath(path):
        raise SettingsError(f"{path!r} is not a path")
    return Path(path)


def check_place(output: str | os.PathLike, what: str = "") -> None:
    """Refuse a path that cannot be written to; cheap, to be called before what takes long. `what` begins the reason."""
    output = path_of(output)
    if not output.absolute().parent.is_dir():
        raise SettingsError(f"{output}: {what}there is no folder {output.parent}")
    if output.is_dir():
        raise SettingsError(f"{output}: {what}is a folder")


@contextmanager
def written_whole(output: str | os.PathLike) -> Iterator[Path]:
    """An empty file to be written, which becomes `output` if all goes well.

    Raises:
        SettingsError: There is no such folder, or the output is one.
        SolveError: It cannot be written, as where the disk is full; what was there before is there still.
    """
    output = path_of(output)
    check_place(output, "cannot be written: ")
    try:
        remove_left(output.parent, output.name)
        is_file = output.is_file() or not output.exists()
        with _folder_beside(output) if is_file else tempfile.TemporaryDirectory() as folder:
            partial = Path(folder, output.name)
            os.close(os.open(partial, NEW_FILE, 0o666))
            yield partial
            if is_file:
                _bring_to_disk(partial)
                os.replace(partial, output)
                _bring_to_disk(output.parent)
            else:
                with open(partial, "rb") as source, open(output, "wb") as sink:
                    shutil.copyfileobj(source, sink)
    except OSError as error:
        raise SolveError(f"{output}: cannot be written: {error.strerror or error}") from error


def remove_left(folder: Path, name: str | None = None) -> None:
    """Remove what writers of an output in a folder, or of any there, have left behind that are no more."""
    of_whom = ".+" if name is None else re.escape(name)
    pattern = re.compile(rf"\.{of_whom}\.[0-9a-f]{{{2 * TOKEN}}}\.partial")
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # it can be written to, but not be read
        names = []
    left = [os.path.join(folder, name) for name in names if pattern.fullmatch(name)]
    for path in left:
        handle = _locked(path)
        if handle is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(handle)


@contextmanager
def _folder_beside(output: Path) -> Iterator[Path]:
    """A new folder beside an output, locked while it is there."""
    handle = None
    while handle is None:
        folder = output.with_name(f".{output.name}.{secrets.token_hex(TOKEN)}.partial")
        os.mkdir(folder, 0o700)
        if fcntl is None:
            break
        # Between the two lines somebody may have taken it for one that was left.
        handle = _locked(folder, or_unlocked=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _locked(folder: str | os.PathLike, or_unlocked: bool = False) -> int | None:
    """A handle of a folder that holds its lock; None where another one has it, or there is no such folder.

    Some file systems have no locks: there nothing is removed, and `or_unlocked` gives a handle all the same.
    """
    if fcntl is None:
        return None
    try:
        handle = os.open(folder, FOLDER)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError:
        if or_unlocked:
            return handle
        os.close(handle)
        return None
    if _is_at(handle, folder):
        return handle
    os.close(handle)
    return None


def _is_at(handle: int, folder: str | os.PathLike) -> bool:
    """Whether an open folder still is the one of a path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(folder, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _bring_to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; not every system does the latter."""
    is_folder = path.is_dir()
    try:
        handle = os.open(path, FOLDER if is_folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        if not is_folder:
            raise
