"""A run layer over a stage: poses, joint states and forces as time samples; the stage itself is never edited."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pxr import Ar, Sdf, Usd, UsdGeom, UsdPhysics

from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.layer_file import check_output, relative_path, write_layer
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.read_track import start_code
from warp_artic.usd.stage_units import stage_units
from warp_artic.usd.time_samples import sample_times
from warp_artic.usd.write_guides import write_guides
from warp_artic.usd.write_incoming_forces import write_incoming_forces
from warp_artic.usd.write_joints import write_joints
from warp_artic.usd.write_links import write_links
from warp_artic.usd.write_meshes import write_meshes
from warp_artic.usd.write_skeletons import write_skeletons
from warp_artic.usd.write_tendons import write_tendons

NOT_INHERITED = ("subLayers", "subLayerOffsets", "layerRelocates", "comment", "documentation", "customLayerData")
"""Metadata of the stage's root layer that the run layer does not repeat; sublayering keeps or replaces them."""


def write_results(
    stage: str | os.PathLike | Usd.Stage,
    recording: Recording,
    output: str | os.PathLike,
    environment: int = 0,
    frames_per_second: float | None = None,
    inputs: Mapping[str, str] | None = None,
    guides: Scene | None = None,
) -> None:
    """Write the motion of one environment to `output` (.usd, .usda or .usdc), a layer over `stage`.

    Beside poses it has the outputs of our schemas, of the quantities that are recorded: positions, velocities and
    efforts of joints, lengths and forces of tendons, errors of mimic joints, forces by joints on links; points of
    elastic bodies, and a curve for each tendon on one; animations of skeletons whose joints move with links.

    There is one sample a frame (interpolated between records where a frame falls between two), at the stage's frame
    rate unless `frames_per_second` is given, or one a record where records are further apart; and one for the last
    record. A record at time t [s] is at time code startTimeCode + t * timeCodesPerSecond of the stage. The file is
    written completely or not at all. `inputs` says what the run was made of, for its metadata (`usd.input_record`).

    With `guides`, the scene that was simulated (`read_stage`), frames and limits of all its joints are there as prims
    of purpose "guide" (`usd.write_guides`).

    Raises:
        SettingsError: The environment is not in the recording, or poses of links or positions of joints are not; or
            the output cannot be written.
        StageError: The recording or the scene is of another stage: a prim that it names is not there.
        SolveError: A value that was recorded is not finite.
    """
    if not isinstance(recording, Recording):
        raise SettingsError(
            f"recording: a {type(recording).__name__} is not a Recording, as simulation.record() gives it"
        )
    if guides is not None and not isinstance(guides, Scene):
        raise SettingsError(f"guides: a {type(guides).__name__} is not a Scene, as read_stage gives it")
    stage = open_stage(stage)
    check_output(stage, output)
    if not 0 <= environment < recording.environment_count:
        raise SettingsError(
            f"environment {environment} is not in the recording, which has {recording.environment_count}"
        )
    for name, names in (("link_pose", recording.link_names), ("joint_position", recording.joint_names)):
        if names and not getattr(recording, name).shape[2]:
            raise SettingsError(f"recording: has no {name}, which a run layer shows; record it too")
    times = sample_times(stage, recording, frames_per_second)
    codes = (start_code(stage) + times * stage.GetTimeCodesPerSecond()).tolist()
    layer = Sdf.Layer.CreateAnonymous(".usda")
    describe_run(layer, stage, recording, codes, Path(output), inputs)
    write_motion(layer, stage, recording, environment, times, codes, guides)
    write_layer(layer, output)


def write_motion(
    layer: Sdf.Layer,
    stage: Usd.Stage,
    recording: Recording,
    environment: int,
    times: np.ndarray,
    codes: list,
    guides: Scene | None = None,
) -> None:
    """Write the samples of a recording at some times [s], which are time codes of the stage."""
    units = stage_units(stage)
    with Sdf.ChangeBlock():
        frames = write_links(layer, stage, recording, environment, times, codes)
        write_skeletons(layer, stage, frames, codes, start_code(stage))
        for write in (write_joints, write_tendons, write_incoming_forces, write_meshes):
            write(layer, stage, recording, environment, times, codes, units)
        if guides is not None:
            write_guides(layer, stage, guides, recording, environment, times, frames)


def describe_run(
    layer: Sdf.Layer,
    stage: Usd.Stage,
    recording: Recording,
    codes: list,
    output: Path,
    inputs: Mapping[str, str] | None = None,
) -> None:
    """How the run was made, beside what describes every layer over a stage."""
    describe_layer(layer, stage, codes, output, "Motion simulated by warp_artic")
    told = {**recording.metadata, **(inputs or {})}
    layer.customLayerData = {"warpArtic": {str(key): str(value) for key, value in told.items()}}


def describe_layer(layer: Sdf.Layer, stage: Usd.Stage, codes: list, output: Path, what: str) -> None:
    """What a stage takes from its root layer only, and the reference to it; `what` begins the comment."""
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
    layer.comment = f"{what}, over {root.GetDisplayName()}."
    layer.subLayerPaths.append(_asset_path(root, output))


def _asset_path(source: Sdf.Layer, output: Path) -> str:
    """How the run layer refers to the stage: relative to its own folder where both are files.

    What the resolver finds by a search path keeps the name that it has there.
    """
    name = source.identifier
    is_searched = Ar.GetResolver().IsContextDependentPath(name) and not os.path.exists(name)
    return relative_path(source.realPath, output) if source.realPath and not is_searched else name
