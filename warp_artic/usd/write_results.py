"""A run layer over a stage: poses, joint states and forces as time samples; the stage itself is never edited."""

from __future__ import annotations

import os
from pathlib import Path

from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from warp_artic.errors import SettingsError, SolveError, StageError
from warp_artic.sim.recording import Recording
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.time_samples import sample_times
from warp_artic.usd.units import Units
from warp_artic.usd.write_incoming_forces import write_incoming_forces
from warp_artic.usd.write_joints import write_joints
from warp_artic.usd.write_links import write_links
from warp_artic.usd.write_tendons import write_tendons

SUFFIXES = (".usd", ".usda", ".usdc")
NOT_INHERITED = ("subLayers", "subLayerOffsets", "layerRelocates", "comment", "documentation", "customLayerData")
"""Metadata of the stage's root layer that the run layer does not repeat; sublayering keeps or replaces them."""


def write_results(
    stage: str | os.PathLike | Usd.Stage,
    recording: Recording,
    output: str | os.PathLike,
    environment: int = 0,
    frames_per_second: float | None = None,
) -> None:
    """Write the motion of one environment to `output` (.usd, .usda or .usdc), a layer over `stage`.

    Beside poses it has the outputs of our schemas, of the quantities that are recorded: positions, velocities and
    efforts of joints, lengths and forces of tendons, errors of mimic joints, forces by joints on links.

    There is one sample a frame (interpolated between records where a frame falls between two), at the stage's frame
    rate unless `frames_per_second` is given, or one a record where records are further apart; and one for the last
    record. A record at time t [s] is at time code startTimeCode + t * timeCodesPerSecond of the stage. The file is
    complete or not there at all.
    """
    stage = open_stage(stage)
    check_output(stage, output)
    if not 0 <= environment < recording.environment_count:
        raise SettingsError(
            f"environment {environment} is not in the recording, which has {recording.environment_count}"
        )
    times = sample_times(stage, recording, frames_per_second)
    root = stage.GetRootLayer()
    start = root.startTimeCode if root.HasStartTimeCode() else 0.0
    codes = (start + times * root.timeCodesPerSecond).tolist()
    units = Units(UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage))

    layer = Sdf.Layer.CreateAnonymous(".usda")
    _write_stage_metadata(layer, stage, recording, codes, Path(output))
    with Sdf.ChangeBlock():
        write_links(layer, stage, recording, environment, times, codes)
        for write in (write_joints, write_tendons, write_incoming_forces):
            write(layer, stage, recording, environment, times, codes, units)
    _export(layer, Path(output))


def check_output(stage: Usd.Stage, output: str | os.PathLike) -> None:
    """Refuse a path that cannot take a run layer over the stage; cheap, to be called before a long run."""
    output = Path(output)
    if stage.GetRootLayer().anonymous:
        raise StageError("the stage has no file: save it, so that a run layer can refer to it")
    if output.suffix not in SUFFIXES:
        raise SettingsError(f"{output}: the name of a run layer ends in one of {', '.join(SUFFIXES)}")
    if not output.absolute().parent.is_dir():
        raise SettingsError(f"{output}: there is no folder {output.parent}")
    for layer in stage.GetUsedLayers():
        if layer.realPath and os.path.realpath(layer.realPath) == os.path.realpath(output):
            raise SettingsError(f"{output}: is a layer of the stage itself; choose another name")


def _write_stage_metadata(layer: Sdf.Layer, stage: Usd.Stage, recording: Recording, codes: list, output: Path) -> None:
    """What a stage takes from its root layer only, and the reference to the simulated stage."""
    root = stage.GetRootLayer()
    for key in root.pseudoRoot.ListInfoKeys():
        if key not in NOT_INHERITED:
            layer.pseudoRoot.SetInfo(key, root.pseudoRoot.GetInfo(key))
    # A layer without these counts as 24, which would move the samples of a stage with another rate.
    layer.timeCodesPerSecond = root.timeCodesPerSecond
    layer.framesPerSecond = root.framesPerSecond if root.HasFramesPerSecond() else root.timeCodesPerSecond
    # The fallbacks of the two differ from what a host may assume, so they are stated.
    layer.pseudoRoot.SetInfo("metersPerUnit", UsdGeom.GetStageMetersPerUnit(stage))
    layer.pseudoRoot.SetInfo("kilogramsPerUnit", UsdPhysics.GetStageKilogramsPerUnit(stage))
    layer.pseudoRoot.SetInfo("upAxis", UsdGeom.GetStageUpAxis(stage))
    layer.startTimeCode, layer.endTimeCode = codes[0], codes[-1]
    layer.comment = f"Motion simulated by warp_artic, over {root.GetDisplayName()}."
    made = {str(key): str(value) for key, value in recording.metadata.items()}
    layer.customLayerData = {"warpArtic": made}
    layer.subLayerPaths.append(_asset_path(root, output))


def _asset_path(source: Sdf.Layer, output: Path) -> str:
    """How the run layer refers to the stage: relative to its own folder where both are files."""
    if not source.realPath:
        return source.identifier
    try:
        relative = os.path.relpath(os.path.abspath(source.realPath), os.path.abspath(output.parent))
    except ValueError:  # on another drive
        return source.realPath
    relative = Path(relative).as_posix()
    return relative if relative.startswith("../") else f"./{relative}"


def _export(layer: Sdf.Layer, output: Path) -> None:
    """Write a layer to a temporary name in the same folder, then rename it."""
    partial = output.with_name(f".{output.stem}.{os.getpid()}.partial{output.suffix}")
    try:
        if not layer.Export(os.fspath(partial)):
            raise SolveError(f"{output}: cannot be written")
        os.replace(partial, output)
    except OSError as error:
        raise SolveError(f"{output}: cannot be written: {error.strerror or error}") from error
    except Exception as error:
        raise error if isinstance(error, SolveError) else SolveError(f"{output}: cannot be written") from error
    finally:
        partial.unlink(missing_ok=True)
    if opened := Sdf.Layer.Find(os.fspath(output)):
        opened.Reload(force=True)
