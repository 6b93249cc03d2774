"""What a run layer was made of: a digest of the layers of its stage, of further files and of settings.

A run layer has the digest, and the layers that it is of, in its metadata. As long as none of these has changed, the
composed stage has not either, so a run need not be made again: to find that out takes no stage, and reads each file
once. Files are read through the asset resolver, and named relative to the run layer, so that a folder may be moved.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pxr import Ar, Sdf

from warp_artic.errors import StageError

if TYPE_CHECKING:
    from pxr import Usd

LAYERS, DIGEST = "inputLayers", "inputDigest"
"""Keys of the metadata of a run layer, below "warpArtic"."""


def input_record(stage: Usd.Stage, output: str, settings: Mapping, files: Iterable[str] = ()) -> dict[str, str]:
    """What goes into the metadata of a run layer, so that `is_current` finds it again.

    Args:
        stage: What is simulated.
        output: The run layer to be.
        settings: All that decides on the run beside files, as JSON has it.
        files: Further files that are read.
    """
    layers = [layer for layer in stage.GetUsedLayers() if not layer.anonymous]
    names = sorted({_name(layer, Path(output)) for layer in layers})
    return {LAYERS: json.dumps(names), DIGEST: _digest(names, output, settings, files) or ""}


def is_current(output: str, settings: Mapping, files: Iterable[str] = ()) -> bool:
    """Whether a run layer is there, whole, and of the same inputs and settings."""
    if not Path(output).is_file():
        return False
    try:
        layer = Sdf.Layer.OpenAsAnonymous(output, True)
    except Exception:  # what pxr raises on a file that it cannot read differs between releases
        return False
    found = layer.customLayerData.get("warpArtic", {}) if layer else {}
    try:
        names = json.loads(found[LAYERS])
    except (KeyError, TypeError, ValueError):
        return False
    digest = _digest(names, output, settings, files)
    return digest is not None and digest == found.get(DIGEST)


def _name(layer: Sdf.Layer, output: Path) -> str:
    """A layer by its path from the folder of the run layer, or by what the resolver knows it as."""
    path, _ = Sdf.Layer.SplitIdentifier(layer.identifier)
    if not layer.realPath or Ar.IsPackageRelativePath(path):
        return path
    try:
        return Path(os.path.relpath(os.path.realpath(layer.realPath), os.path.realpath(output.parent))).as_posix()
    except ValueError:  # on another drive
        return layer.realPath


def _digest(names: Iterable[str], output: str, settings: Mapping, files: Iterable[str]) -> str | None:
    """Of names, bytes and settings; None where a file cannot be read."""
    found = hashlib.blake2b(json.dumps(settings, sort_keys=True, default=str).encode(), digest_size=16)
    folder = Path(output).resolve().parent
    for name in names:
        is_file = not Ar.IsPackageRelativePath(name) and (folder / name).is_file()
        content = read_asset(str(folder / name) if is_file else name)
        if content is None:
            return None
        found.update(f"{name}\0{len(content)}\0".encode())
        found.update(content)
    for path in files:
        try:
            found.update(Path(path).read_bytes())
        except OSError as error:
            raise StageError(f"{path}: cannot be read: {error.strerror or error}") from None
    return found.hexdigest()


def read_asset(path: str) -> bytes | None:
    """The bytes behind an asset path; None where the resolver finds nothing."""
    resolver = Ar.GetResolver()
    resolved = resolver.Resolve(path)
    asset = resolver.OpenAsset(resolved) if resolved else None
    return None if asset is None else bytes(asset.GetBuffer())
