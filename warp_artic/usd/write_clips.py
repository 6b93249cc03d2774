"""A run in value clips: a layer over a stage, and beside it files with the samples of a stretch of time each.

    run.usda              sublayers the stage; says which attributes change, and when each clip plays
    run.clips/0000.usdc   the samples of the first stretch, both of its ends included
    run.clips/0001.usdc   ...

Whoever opens the layer sees one long animation, and reads the clips that it looks at. A clip is written when its
stretch has been simulated, and only then does the layer play it: what is there is always whole. Curves of tendons are
coloured by the largest tension of their clip until the run is finished, and then by that of the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from pxr import Sdf, Vt

from warp_artic.description.scene import Scene
from warp_artic.errors import SolveError, StageError
from warp_artic.sim.files.whole_file import remove_left
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.layer_file import check_output, relative_path, write_layer
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.time_samples import frame_rate
from warp_artic.usd.write_meshes import largest_tension, recolor_curves
from warp_artic.usd.write_results import describe_run, write_motion

CLIP_SET = "warpArtic"
MANIFEST = "manifest.usda"
"""The file that lists the attributes of clips."""


class ClipWriter:
    """Writes consecutive recordings of a run, each as a clip.

    Args:
        stage: What was simulated, or its file.
        output: The layer over it: .usd, .usda or .usdc. Clips go to the folder of this name that ends in `.clips`.
        environment: The one that is written.
        frames_per_second: Of the samples; by default as the stage has it.
        guides: The scene whose joints are shown, as `write_results` has it.

    Raises:
        SettingsError: The output cannot be written, or the frames per second are no finite number above 0.
        StageError: The stage has no file.
    """

    def __init__(
        self,
        stage,
        output,
        environment: int = 0,
        frames_per_second: float | None = None,
        guides: Scene | None = None,
    ):
        self._stage = open_stage(stage)
        check_output(self._stage, output)
        self.output = Path(output)
        self.folder = clip_folder(output)
        self._environment = environment
        self._guides = guides
        root = self._stage.GetRootLayer()
        self.rate = frame_rate(self._stage, frames_per_second)
        """Frames in a second."""
        self._start = root.startTimeCode if root.HasStartTimeCode() else 0.0
        self._codes_per_second = root.timeCodesPerSecond
        self._ends: list[tuple[float, float]] = []

    def take_up(self, stretches: list[tuple[float, float]]) -> None:
        """Go on after clips that are there, given by the times at which their stretches begin and end [s].

        Raises:
            StageError: One of them cannot be read.
        """
        for number in range(len(stretches)):
            _opened(self._clip(number), has_samples=False)
        self._ends = [(self._code(first), self._code(last)) for first, last in stretches]
        remove_left(self.folder)
        remove_left(self.output.parent, self.output.name)

    def end_here(self, recording: Recording) -> None:
        """Have the layer end with the clips so far: any later ones go. `recording` says how the run was made."""
        self._write_run(_opened(self.folder / MANIFEST), recording)
        for path in self.folder.glob("*.usdc"):
            if path.stem.isdecimal() and int(path.stem) >= len(self._ends):
                path.unlink()

    def write(self, recording: Recording) -> Path:
        """Write the next clip: of a recording that begins with the record that ends the one before; its file."""
        times = self._times(recording)
        codes = [self._code(time) for time in times]
        layer = Sdf.Layer.CreateAnonymous(".usda")
        layer.timeCodesPerSecond = self._codes_per_second
        write_motion(layer, self._stage, recording, self._environment, times, codes, self._guides)
        manifest = _separate(layer, codes[0])
        path = self._clip(len(self._ends))
        with self._all_or_none([path, self.folder / MANIFEST]):
            write_layer(layer, path)
            if not self._ends:
                write_layer(manifest, self.folder / MANIFEST)
            self._ends.append((codes[0], codes[-1]))
            self._write_run(manifest, recording)
        return path

    def finish(self) -> None:
        """Give the curves of tendons in all clips the colours of one run."""
        files = [self._clip(number) for number in range(len(self._ends))]
        largest = [largest_tension(_opened(file)) for file in files]
        for file, own in zip(files, largest):
            if own < max(largest):
                layer = _opened(file)
                recolor_curves(layer, max(largest))
                write_layer(layer, file)

    @contextmanager
    def _all_or_none(self, files: list[Path]) -> Iterator[None]:
        """Files of the folder that are written together: where one fails, those that were not there before go."""
        new = [file for file in files if not file.exists()]
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise SolveError(f"{self.folder}: cannot be written: {error.strerror or error}") from error
        ends = list(self._ends)
        try:
            yield
        except BaseException:
            self._ends = ends
            with suppress(OSError):
                for file in new:
                    file.unlink(missing_ok=True)
                self.folder.rmdir()
            raise

    def _clip(self, number: int) -> Path:
        return self.folder / f"{number:04d}.usdc"

    def _times(self, recording: Recording) -> np.ndarray:
        """The frames of the whole run that are in a recording, and both of its ends."""
        first, last = recording.time[0], recording.time[-1]
        frames = np.arange(math.ceil(first * self.rate - 1e-6), math.floor(last * self.rate + 1e-6) + 1) / self.rate
        inner = frames[(frames > first + 1e-6 / self.rate) & (frames < last - 1e-6 / self.rate)]
        return np.unique([first, *inner, last])

    def _code(self, time: float) -> float:
        return self._start + float(time) * self._codes_per_second

    def _write_run(self, manifest: Sdf.Layer, recording: Recording) -> None:
        """Write the layer over the stage with all clips so far."""
        layer = Sdf.Layer.CreateAnonymous(".usda")
        layer.TransferContent(manifest)
        codes = [self._ends[0][0], self._ends[-1][1]]
        describe_run(layer, self._stage, recording, codes, self.output)
        files = (self._clip(number) for number in range(len(self._ends)))
        paths = [Sdf.AssetPath(relative_path(str(file), self.output)) for file in files]
        for prim in layer.rootPrims:
            clips = {
                "assetPaths": Sdf.AssetPathArray(paths),
                "primPath": str(prim.path),
                "manifestAssetPath": Sdf.AssetPath(relative_path(str(self.folder / MANIFEST), self.output)),
                "active": Vt.Vec2dArray([(first, number) for number, (first, _) in enumerate(self._ends)]),
                "times": Vt.Vec2dArray([(code, code) for code in codes]),
            }
            prim.SetInfo("clips", {CLIP_SET: clips})
        write_layer(layer, self.output)


def clip_folder(output) -> Path:
    """Where the clips of a layer are."""
    return Path(output).with_suffix(".clips")


def _opened(file: Path, has_samples: bool = True) -> Sdf.Layer:
    """A copy of a layer of the run in memory, or of its head alone."""
    try:
        layer = Sdf.Layer.OpenAsAnonymous(str(file), not has_samples)
    except Exception as error:  # what pxr raises differs between releases
        raise StageError(f"{file}: is no layer of a run; remove the folder, and start again") from error
    if layer is None:
        raise StageError(f"{file}: cannot be read; remove the folder, and start again")
    return layer


def _separate(layer: Sdf.Layer, code: float) -> Sdf.Layer:
    """Leave samples alone in a layer of motion; what attributes there are, and what is the same at all times, returned.

    What stays as it is in this stretch, but may change in another one, has one sample, at the first time code.
    """
    rest = Sdf.Layer.CreateAnonymous(".usda")
    rest.TransferContent(layer)
    found: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, found.append)
    with Sdf.ChangeBlock():
        for path in found:
            attribute = layer.GetAttributeAtPath(path)
            if attribute is None:
                continue
            if attribute.variability == Sdf.VariabilityUniform:
                attribute.owner.RemoveProperty(attribute)
                continue
            if not layer.GetNumTimeSamplesForPath(path):
                layer.SetTimeSample(path, code, attribute.default)
            attribute.ClearDefaultValue()
            kept = rest.GetAttributeAtPath(path)
            kept.ClearDefaultValue()
            kept.ClearInfo("timeSamples")
    return rest
