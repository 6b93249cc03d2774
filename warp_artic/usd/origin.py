"""Which stage a recording is of: kept in its metadata, and found again."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from pxr import Usd

from warp_artic.errors import SettingsError
from warp_artic.sim.record.recording import Recording

KEY = "stage"
"""In the metadata of a recording: an object with `path`, `relative` and `digest`."""


def stage_digest(stage: Usd.Stage) -> str:
    """SHA-256 of the content of all layers that a stage uses, but for its session layer, as hexadecimal digits."""
    session = set(stage.GetLayerStack(True)) - set(stage.GetLayerStack(False))
    texts = [layer.ExportToString() for layer in stage.GetUsedLayers() if layer not in session]
    root = stage.GetRootLayer().ExportToString()
    content = hashlib.sha256(root.encode("utf-8", "surrogateescape"))
    for text in sorted(texts):
        content.update(text.encode("utf-8", "surrogateescape"))
    return content.hexdigest()


def with_origin(recording: Recording, stage: Usd.Stage, output: str | os.PathLike, inputs: str | None) -> Recording:
    """The recording, with where its stage is, from anywhere and from the folder of `output`, and its digest."""
    path = stage.GetRootLayer().realPath
    origin = {
        "path": path,
        "relative": os.path.relpath(path, Path(output).absolute().parent),
        "digest": stage_digest(stage),
    }
    given = {"inputs": os.path.abspath(inputs)} if inputs else {}
    return replace(recording, metadata={**recording.metadata, KEY: origin, **given})


def origin_path(recording: Recording, file: str | os.PathLike) -> Path:
    """The file of the stage that a recording in a file is of.

    Raises:
        SettingsError: The recording does not say, or the file is not there.
    """
    origin = recording.metadata.get(KEY)
    if not isinstance(origin, dict) or not isinstance(origin.get("path"), str):
        raise SettingsError(f"{file}: does not say which stage it is of; name it with --stage")
    places = [Path(file).absolute().parent / str(origin.get("relative", "")), Path(origin["path"])]
    for place in places:
        if place.is_file():
            return place
    raise SettingsError(f"{file}: is of the stage {origin['path']}, which is not there; name it with --stage")


def is_origin(recording: Recording, stage: Usd.Stage) -> bool:
    """Whether a stage has the content of the one that a recording is of, as far as the recording says."""
    origin = recording.metadata.get(KEY)
    return not isinstance(origin, dict) or origin.get("digest") in (None, stage_digest(stage))
