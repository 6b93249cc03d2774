"""Runs of a batch as one stage: under a variant set `run`, or side by side; each run is a layer of its own."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

from pxr import Gf, Sdf, Usd, UsdGeom

from warp_artic.errors import StageError
from warp_artic.usd.layer_file import relative_path, write_layer
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.write_results import NOT_INHERITED

VARIANT_SET = "run"
GAP = 1.25
"""Distance of neighbours on a grid, by the size of the largest run."""


def write_choice(runs: Sequence[tuple[int, Path]], output: str | os.PathLike) -> None:
    """Write a stage that shows one of several runs, which its variant set `run` chooses.

    Args:
        runs: The number of each, and the layer that shows it.
        output: The stage.

    Raises:
        SolveError: It cannot be written.
    """
    first = open_stage(runs[0][1])
    layer = _over(first, Path(output))
    for root in first.GetPseudoRoot().GetChildren():
        spec = Sdf.CreatePrimInLayer(layer, root.GetPath())
        spec.specifier, spec.typeName = Sdf.SpecifierDef, root.GetTypeName()
        spec.variantSetNameList.prependedItems = [VARIANT_SET]
        spec.variantSelections[VARIANT_SET] = str(runs[0][0])
        choices = Sdf.VariantSetSpec(spec, VARIANT_SET)
        for number, path in runs:
            own = Sdf.VariantSpec(choices, str(number)).primSpec
            own.referenceList.prependedItems = [Sdf.Reference(relative_path(str(path), Path(output)), root.GetPath())]
    write_layer(layer, output)


def write_side_by_side(runs: Sequence[tuple[int, Path]], columns: int, output: str | os.PathLike) -> None:
    """Write a stage that shows several runs beside each other, so many in a line.

    Raises:
        StageError: The stage of the runs has no default prim.
        SolveError: It cannot be written.
    """
    first = open_stage(runs[0][1])
    default = first.GetDefaultPrim()
    if not default:
        raise StageError(f"{runs[0][1]}: has no default prim, which runs side by side refer to")
    layer = _over(first, Path(output))
    layer.defaultPrim = "Runs"
    spacing = GAP * max(_size(open_stage(path)) for _, path in runs)
    stage = Usd.Stage.Open(layer)
    UsdGeom.Xform.Define(stage, "/Runs")
    is_up_y = UsdGeom.GetStageUpAxis(first) == UsdGeom.Tokens.y
    for place, (number, path) in enumerate(runs):
        row, column = divmod(place, columns)
        holder = UsdGeom.Xform.Define(stage, f"/Runs/run_{number}")
        offset = (
            Gf.Vec3d(column * spacing, 0, row * spacing) if is_up_y else Gf.Vec3d(column * spacing, row * spacing, 0)
        )
        holder.AddTranslateOp().Set(offset)
        shown = stage.DefinePrim(holder.GetPath().AppendChild(default.GetName()))
        shown.GetReferences().AddReference(relative_path(str(path), Path(output)))
    write_layer(layer, output)


def _over(first: Usd.Stage, output: Path) -> Sdf.Layer:
    """A layer with what stages take from their root layer, as the first run has it."""
    layer, root = Sdf.Layer.CreateAnonymous(".usda"), first.GetRootLayer()
    for key in root.pseudoRoot.ListInfoKeys():
        if key not in NOT_INHERITED:
            layer.pseudoRoot.SetInfo(key, root.pseudoRoot.GetInfo(key))
    layer.comment = f"Runs of a batch, in {output.stem}.runs."
    return layer


def _size(stage: Usd.Stage) -> float:
    """The largest side of the box around what is drawn at the start, or a unit where nothing is."""
    time = Usd.TimeCode(stage.GetStartTimeCode())
    cache = UsdGeom.BBoxCache(time, [UsdGeom.Tokens.default_, UsdGeom.Tokens.render])
    size = max(cache.ComputeWorldBound(stage.GetPseudoRoot()).ComputeAlignedRange().GetSize())
    return size if 0.0 < size < math.inf else 1.0
