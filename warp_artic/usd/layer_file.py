"""Files of layers: where one can be written, how it is, and how it refers to others."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from pxr import Sdf, Usd

from warp_artic.errors import SettingsError, StageError
from warp_artic.sim.files.whole_file import check_place, path_of, written_whole

SUFFIXES = (".usd", ".usda", ".usdc")


def check_output(stage: Usd.Stage, output: str | os.PathLike, what: str = "run layer") -> None:
    """Refuse a path that cannot take a layer made from the stage; cheap, to be called before what takes long."""
    output = path_of(output)
    if stage.GetRootLayer().anonymous:
        raise StageError(f"the stage has no file: save it, so that a {what} can refer to it")
    if output.suffix not in SUFFIXES:
        raise SettingsError(f"{output}: the name of a {what} ends in one of {', '.join(SUFFIXES)}")
    check_place(output)
    for layer in stage.GetUsedLayers():
        if layer.realPath and os.path.realpath(layer.realPath) == os.path.realpath(output):
            raise SettingsError(f"{output}: is a layer of the stage itself; choose another name")


def relative_path(path: str, output: Path) -> str:
    """A path to a file, relative to the folder of a layer that refers to it."""
    try:
        relative = os.path.relpath(os.path.abspath(path), os.path.abspath(output.parent))
    except ValueError:  # on another drive
        return path
    relative = Path(relative).as_posix()
    return relative if relative.startswith("../") else f"./{relative}"


def write_layer(layer: Sdf.Layer, output: str | os.PathLike) -> None:
    """Write a layer to a file, which is whole or not there; who has that file open sees what is new.

    Raises:
        SettingsError: There is no such folder, or the output is one.
        SolveError: It cannot be written, as where the disk is full.
    """
    # The name is one that was never there: USD gives a layer that somebody still holds for any file of its name.
    with written_whole(output) as partial:
        try:
            done = layer.Export(os.fspath(partial))
        except Exception as error:  # what pxr raises differs between releases
            raise _cause(str(error)) from error
        if not done:
            raise _cause("")
    if opened := Sdf.Layer.Find(os.fspath(output)):
        opened.Reload(force=True)


CAUSES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS)
"""What may keep a file from being written."""


def _cause(words: str) -> OSError:
    """Why USD has not written a file, by what it says."""
    for number in CAUSES:
        if os.strerror(number) in words:
            return OSError(number, os.strerror(number))
    return OSError(errno.EIO, "USD cannot export it")
