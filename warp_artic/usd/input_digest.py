"""Whether a run layer is of the inputs that are there: a digest of layers, of further files and of settings.

A run layer has the digest, and the layers that it is of, in its metadata. As long as none of these has changed, the
composed stage has not either, so a run need not be made again: to find that out takes no stage, and reads each file
once. Files are read through the asset resolver, and named relative to the run layer, so that a folder may be moved.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pxr import Ar, Sdf

from warp_artic.errors import StageError

LAYERS, DIGEST = "inputLayers", "inputDigest"
"""Keys of the metadata of a run layer, below "warpArtic"."""


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
    return digest_of(names, output, settings, files) == found.get(DIGEST)


def digest_of(names: Iterable[str], output: str, settings: Mapping, files: Iterable[str]) -> str:
    """Of names, of bytes or that there are none, and of settings."""
    found = hashlib.blake2b(json.dumps(settings, sort_keys=True, default=str).encode(), digest_size=16)
    folder = Path(output).resolve().parent
    for name in names:
        is_file = not Ar.IsPackageRelativePath(name) and (folder / name).is_file()
        content = read_asset(str(folder / name) if is_file else name)
        found.update(f"{name}\0{'missing' if content is None else len(content)}\0".encode())
        found.update(content or b"")
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
