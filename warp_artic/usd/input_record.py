"""What a run layer was made of, for its metadata: the names of all layers that a stage is composed of, and a digest.

A layer that is missing or cannot be read is named as well, and so are value clips, which a stage opens when their
values are asked for: when one of them comes or changes, the composed stage is another one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pxr import Ar, Sdf, Tf, Usd

from warp_artic.usd.input_digest import DIGEST, LAYERS, digest_of


def input_record(stage: Usd.Stage, output: str, settings: Mapping, files: Iterable[str] = ()) -> dict[str, str] | None:
    """What goes into the metadata of a run layer, so that `is_current` finds it again.

    None for a stage whose layers cannot all be named: their paths are expressions, or the value clips are a template.

    Args:
        stage: What is simulated.
        output: The run layer to be.
        settings: All that decides on the run beside files, as JSON has it.
        files: Further files that are read.
    """
    layers = [layer for layer in stage.GetUsedLayers() if not layer.anonymous]
    asked = [(layer, path) for layer in layers for path in layer.GetCompositionAssetDependencies() if path]
    clips = list(_clips(stage))
    if any(path.startswith("`") for _, path in asked) or any(path is None for _, path in clips):
        return None
    places = {place for layer, path in asked for place in _places(layer, path) if not _opens(place)}
    places |= {place for layer, path in clips for place in _places(layer, path)}
    named = {_name(layer.identifier, layer.realPath, output) for layer in layers}
    named |= {_name(place, str(Ar.GetResolver().Resolve(place)) or place, output) for place in places}
    names = sorted(named)
    return {LAYERS: json.dumps(names), DIGEST: digest_of(names, output, settings, files)}


def _places(layer: Sdf.Layer, path: str) -> tuple[str, str]:
    """Where a path in a layer leads to: as the resolver has it, and beside the layer, where is looked first."""
    return Sdf.ComputeAssetPathRelativeToLayer(layer, path), os.path.join(os.path.dirname(layer.realPath), path)


def _opens(path: str) -> bool:
    """Whether a layer can be read, so that the stage has it where it is asked for."""
    try:
        return bool(Ar.GetResolver().Resolve(path)) and Sdf.Layer.FindOrOpen(path) is not None
    except Tf.ErrorException:
        return False


def _clips(stage: Usd.Stage) -> Iterator[tuple[Sdf.Layer, str | None]]:
    """The value clips of all prims, and the layer that names each; None for those of a template."""
    for root in (stage.GetPseudoRoot(), *stage.GetPrototypes()):
        for prim in Usd.PrimRange.AllPrims(root):
            if not prim.HasAuthoredMetadata("clips"):
                continue
            for spec in prim.GetPrimStack():
                for clips in (spec.GetInfo("clips") or {}).values():
                    if "templateAssetPath" in clips:
                        yield spec.layer, None
                    manifest = clips.get("manifestAssetPath")
                    assets = [*clips.get("assetPaths", ()), *([manifest] if manifest else ())]
                    yield from ((spec.layer, asset.path) for asset in assets if asset.path)


def _name(identifier: str, real_path: str, output: str) -> str:
    """A layer by its path from the folder of the run layer, or by what the resolver knows it as."""
    path, _ = Sdf.Layer.SplitIdentifier(identifier)
    if not os.path.isabs(real_path) or Ar.IsPackageRelativePath(path):
        return path
    try:
        folder = os.path.realpath(Path(output).parent)
        return Path(os.path.relpath(os.path.realpath(real_path), folder)).as_posix()
    except ValueError:  # on another drive
        return real_path
