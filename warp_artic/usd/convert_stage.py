"""A copy of a stage, with what other schemas say of scenes, joints, couplings and links written in ours."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pxr import Sdf, Usd, UsdUtils

from warp_artic.errors import StageError
from warp_artic.sim.files.whole_file import path_of
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.conversion import FOREIGN, Conversion
from warp_artic.usd.convert_couplings import convert_couplings
from warp_artic.usd.convert_fields import convert_fields
from warp_artic.usd.convert_mjc import convert_mjc
from warp_artic.usd.dialects import complete_order
from warp_artic.usd.inventory import take_inventory, traverse
from warp_artic.usd.layer_file import check_output, relative_path, write_layer
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_stage import read_stage, start_time
from warp_artic.usd.report import Report
from warp_artic.usd.stage_units import stage_units


def convert_stage(
    source: str | os.PathLike | Usd.Stage, output: str | os.PathLike, *, dialects: Sequence[str] = ()
) -> Conversion:
    """Write `output` (.usd, .usda or .usdc), a copy of the root layer of a stage that is simulated as it is.

    What the stage refers to stays in its files, and is overridden where it is rewritten. Values are those at the start
    of the stage, and those that `read_stage` takes with the same `dialects`.

    Raises:
        SettingsError: A dialect is not known, or the output cannot be written.
        StageError: The stage cannot be opened or simulated, or is not what its files say; a stage with errors is not
            converted.
    """
    stage = open_stage(source)
    output = path_of(output)
    check_output(stage, output, "converted stage")
    session = stage.GetSessionLayer()
    if session and not session.empty:
        raise StageError("the session layer has opinions, which would be lost in the copy: move them to another layer")
    scene = read_stage(stage, dialects=dialects)
    attributes = Attributes(start_time(stage), stage_units(stage), Report(), complete_order(dialects))
    inventory = take_inventory(traverse(stage), attributes)
    root = stage.GetRootLayer()
    # In memory, but where the output will be: what it refers to is found from there.
    place = output.absolute().with_name(f"{uuid.uuid4().hex}{output.suffix}")
    layer = Sdf.Layer.New(Sdf.FileFormat.FindByExtension(output.suffix), os.fspath(place))
    layer.TransferContent(root)
    UsdUtils.ModifyAssetPaths(layer, lambda path: _moved(path, root, output))
    # Bodies of point instances are no prims that could be rewritten: their prototypes stay as they are.
    trees = [tree for tree in scene.articulations if inventory.bodies.keys() >= set(tree.bodies)]
    scene = replace(scene, articulations=tuple(trees), link_names=(), dof_names=())
    conversion = Conversion(scene, Usd.Stage.Open(layer), inventory, attributes, Placements(attributes))
    convert_couplings(conversion)
    convert_mjc(conversion)
    convert_fields(conversion)
    _list_left(conversion)
    write_layer(layer, output)
    return conversion


def _moved(path: str, root: Sdf.Layer, output: Path) -> str:
    """How a layer in the folder of the output refers to what the root layer refers to by a relative path."""
    if not path or os.path.isabs(path) or not root.realPath:
        return path
    absolute = root.ComputeAbsolutePath(path)
    return relative_path(absolute, output) if os.path.exists(absolute.partition("[")[0]) else path


NO_WORD = "has no counterpart in our schemas, or no effect that could be rewritten"


def _list_left(conversion: Conversion) -> None:
    """Add the attributes of other schemas that are still there."""
    for prim in Usd.PrimRange.Stage(conversion.stage, Usd.TraverseInstanceProxies()):
        attributes = (one for one in prim.GetAuthoredAttributes() if one.HasAuthoredValue())
        conversion.leave((str(one.GetPath()) for one in attributes if one.GetName().startswith(FOREIGN)), NO_WORD)
