"""What a file shows: a stage at rest, a stage with time samples, or a recording over its stage."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pxr import Usd, UsdGeom

from warp_artic.description.diagnostic import Diagnostic
from warp_artic.description.drawing import Drawing, Motion
from warp_artic.description.scene import Scene
from warp_artic.errors import ArticError
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.instances import with_instances
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.origin import is_origin, origin_path
from warp_artic.usd.read_drawing import read_drawing
from warp_artic.usd.read_motion import frame_times, played, read_motion
from warp_artic.usd.read_stage import inspect_stage


@dataclass(frozen=True, eq=False)
class Source:
    """A file, opened to be looked at."""

    name: str
    """The file as it was given."""
    stage_path: str
    """The file of the stage."""
    stage: Usd.Stage
    """What is drawn; of a recording a stage in memory over that of the file."""
    drawing: Drawing
    scene: Scene | None
    """None where the stage cannot be simulated."""
    diagnostics: tuple[Diagnostic, ...]
    recording: Recording | None = None
    warning: str = ""
    """What may be wrong with it, in a sentence."""
    times: tuple[float, ...] = (0.0,)
    """Of its frames [s]."""

    def motion(self) -> Motion:
        """Where everything is in its frames."""
        return read_motion(self.stage, self.drawing, np.array(self.times))


def open_source(
    path: str | os.PathLike,
    stage: str | os.PathLike | None = None,
    environment: int = 0,
    frames_per_second: float = 60.0,
) -> Source:
    """Open a stage, a layer with time samples, or a recording (.npz).

    Args:
        path: The file.
        stage: The stage of a recording; by default the one that the recording says it is of.
        environment: Of the recording.
        frames_per_second: Frames at equal times from the start; and one at the last record.

    Raises:
        StageError: A file is no stage, or the recording is of another one.
        SettingsError: A file is no recording, or does not say what it is of, or has no such environment.
    """
    name = os.fspath(path)
    if Path(name).suffix != ".npz":
        opened = open_stage(name)
        scene, diagnostics = _inspected(opened)
        drawing = read_drawing(opened, scene)
        times = tuple(frame_times(opened, frames_per_second).tolist()) if _moves(opened, drawing, scene) else (0.0,)
        return Source(name, name, opened, drawing, scene, diagnostics, times=times)
    recording = Recording.load(name)
    stage_path = os.fspath(stage if stage is not None else origin_path(recording, name))
    authored = open_stage(stage_path)
    scene, diagnostics = _inspected(authored)
    warning = ""
    if not is_origin(recording, authored):
        warning = f"{stage_path}: has changed since {name} was recorded"
    still = Source(name, stage_path, authored, Drawing(bodies=()), scene, diagnostics, warning=warning)
    return with_recording(still, recording, environment, frames_per_second)


def with_recording(source: Source, recording: Recording, environment: int, frames_per_second: float) -> Source:
    """A stage with the motion of a recording of it; see `open_source`."""
    times = record_times(recording.time, frames_per_second)
    shown = played(source.stage, recording, environment, times)
    drawing = read_drawing(shown, source.scene)
    return replace(source, stage=shown, drawing=drawing, recording=recording, times=tuple(times.tolist()))


def record_times(time: np.ndarray, frames_per_second: float) -> np.ndarray:
    """Times of records, a frame apart where records are closer than that; the first and the last are among them."""
    if time.size < 2:
        return time
    every = max(1, round(1.0 / (frames_per_second * float(np.median(np.diff(time))))))
    return np.unique(np.append(time[::every], time[-1]))


def _moves(stage: Usd.Stage, drawing: Drawing, scene: Scene | None) -> bool:
    """Whether a stage has a motion of its own: of its links, or of anything where it has no links."""
    has_links = scene is not None and bool(scene.link_names)
    if any(one.deforms for one in (*(drawing.without_skin() if has_links else drawing).parts, *drawing.strands)):
        return True
    paths = scene.link_names if has_links else drawing.bodies
    stage = with_instances(stage, in_time=True).stage
    prims = (UsdGeom.Xformable(stage.GetPrimAtPath(path)) for path in paths)
    return any(prim and prim.TransformMightBeTimeVarying() for prim in prims)


def _inspected(stage: Usd.Stage) -> tuple[Scene | None, tuple[Diagnostic, ...]]:
    """The scene of a stage, where there is one, and what is said of it."""
    try:
        found = inspect_stage(stage)
    except ArticError:
        return None, ()
    return found.scene, found.diagnostics
