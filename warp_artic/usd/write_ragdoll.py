"""A layer over a stage with a ragdoll for one of its skeletons."""

from __future__ import annotations

import os
from pathlib import Path

from pxr import Sdf, Usd

from warp_artic.errors import StageError
from warp_artic.usd.author_ragdoll import Ragdoll, ragdoll
from warp_artic.usd.layer_file import check_output, write_layer
from warp_artic.usd.open_stage import open_stage, reading
from warp_artic.usd.read_track import start_code
from warp_artic.usd.write_results import describe_layer
from warp_artic.usd.write_target_lengths import set_range


def write_ragdoll(
    stage: str | os.PathLike, output: str | os.PathLike, skeleton: str | None = None, **options
) -> Ragdoll:
    """Write `output` (.usd, .usda or .usdc), a layer over a stage with a ragdoll; the file is whole or not there.

    Args:
        stage: The file of a stage, which is never edited.
        output: The layer.
        skeleton: Path of a Skeleton; may be left out where the stage has one.
        options: Those of `author.ragdoll`.

    Raises:
        SettingsError: An argument has a value that is not allowed.
        StageError: The stage cannot be opened, or a ragdoll not be made of the skeleton.
        SolveError: The layer cannot be written.
    """
    opened = open_stage(os.fspath(stage))
    check_output(opened, output, "ragdoll layer")
    session = opened.GetSessionLayer()
    if session is None:
        raise StageError(f"{stage}: has no session layer to author on")
    with reading(opened), Usd.EditContext(opened, Usd.EditTarget(session)):
        made = ragdoll(opened, skeleton, **options)
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(session)
    codes = [start_code(opened)]
    describe_layer(layer, opened, codes, Path(output), "A ragdoll authored by warp_artic")
    set_range(layer, opened, codes)
    write_layer(layer, output)
    return made
