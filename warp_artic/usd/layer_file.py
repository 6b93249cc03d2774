"""Files of layers: where one can be written, that it is there complete or not at all, and how it refers to others."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pxr import Sdf, Usd

from warp_artic.errors import SettingsError, SolveError, StageError

SUFFIXES = (".usd", ".usda", ".usdc")


def check_output(stage: Usd.Stage, output: str | os.PathLike, what: str = "run layer") -> None:
    """Refuse a path that cannot take a layer made from the stage; cheap, to be called before what takes long."""
    output = Path(output)
    if stage.GetRootLayer().anonymous:
        raise StageError(f"the stage has no file: save it, so that a {what} can refer to it")
    if output.suffix not in SUFFIXES:
        raise SettingsError(f"{output}: the name of a {what} ends in one of {', '.join(SUFFIXES)}")
    if not output.absolute().parent.is_dir():
        raise SettingsError(f"{output}: there is no folder {output.parent}")
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


def export(layer: Sdf.Layer, path: Path) -> None:
    """Write a layer to a file; an OSError where that fails."""
    try:
        done = layer.Export(os.fspath(path))
    except Exception as error:  # what pxr raises differs between releases
        raise OSError(errno.EIO, "USD cannot export it") from error
    if not done:
        raise OSError(errno.EIO, "USD cannot export it")


@contextmanager
def written_whole(output: Path) -> Iterator[Path]:
    """A temporary name in the same folder, for a layer to be written to; it becomes `output` if all goes well."""
    # Of its own each time: USD gives a layer that is still held by somebody for any file of its name.
    partial = output.with_name(f".{output.stem}.{uuid.uuid4().hex}.partial{output.suffix}")
    try:
        yield partial
        os.replace(partial, output)
    except OSError as error:
        raise SolveError(f"{output}: cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    if opened := Sdf.Layer.Find(os.fspath(output)):
        opened.Reload(force=True)
