"""Pictures and loops of a motion, with labels, by the tracer and Pillow (extra `render`)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from warp_artic.description.drawing import Motion
from warp_artic.errors import SettingsError
from warp_artic.looking.camera import camera_axes, fitted
from warp_artic.looking.geometry import Geometry
from warp_artic.looking.packed_drawing import extent, lowest
from warp_artic.looking.trace import Tracer, grid_cell
from warp_artic.sim.files.whole_file import written_whole
from warp_artic.usd.source import Source

STILL = (".png", ".webp", ".jpg")
MOVING = (".webp", ".gif")
FAINTEST = 0.22
"""Strength of the first of several poses in one picture; the last one has 1."""
TUBE = 0.005
"""Radius of tendons, by the size of what is seen."""
INK = (58, 66, 75)


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a picture is taken."""

    width: int = 640
    height: int = 440
    azimuth: float = -60.0
    elevation: float = 14.0
    """Of the camera, from the first level axis and above it [deg]."""
    ground: bool = True
    scale: bool = True
    """Whether the length of a bar on the ground is told."""
    label: str = ""
    clock: bool = False
    trails: tuple[str, ...] = ()
    """Bodies, or shapes on them, whose paths are shown."""
    device: str = "cpu"

    def __post_init__(self):
        if not (16 <= self.width <= 8192 and 16 <= self.height <= 8192):
            raise SettingsError(f"size: {self.width}x{self.height}; from 16 to 8192 pixels are allowed")


class Pictures:
    """Takes pictures of a source, all from one place.

    Args:
        source: What is seen.
        look: How.
        times: Between which all must be in the picture [s].
    """

    def __init__(self, source: Source, look: Look, times: Sequence[float]):
        self.look, self.motion = look, source.motion()
        drawing = source.drawing
        self.frames = [int(np.argmin(np.abs(self.motion.time - time))) for time in times]
        seen = _part_of(self.motion, self.frames)
        low, high = extent(drawing, seen)
        size = float(np.linalg.norm(high - low)) or 1.0
        geometry = Geometry(drawing, self.motion, TUBE * size, _shares(source), look.trails)
        if not len(geometry.triangles):
            raise SettingsError(f"{source.name}: there is nothing to see: no shape, link or tendon")
        ground = drawing.ground if drawing.ground is not None else lowest(drawing, [seen])
        axes = camera_axes(look.azimuth, look.elevation, drawing.up)
        few = np.unique(np.linspace(min(self.frames), max(self.frames), 24).astype(int)).tolist()
        points = np.concatenate([geometry.frame(frame)[0] for frame in few])
        self.camera = fitted(points, axes, look.width, look.height)
        self.cell = grid_cell(size)
        self.center = 0.5 * (low + high)
        height = ground if look.ground else None
        self.tracer = Tracer(geometry, self.camera, drawing.up, height, self.cell, look.device)

    def still(self) -> np.ndarray:
        """One picture of all times, from faint to strong, as bytes (H, W, 3)."""
        poses = [self.tracer.take(frame) for frame in self.frames]
        (first, _), (last, share) = poses[0], poses[-1]
        # What stays, with the shadows of the last pose; under that pose what the first one leaves to see.
        result = last + share[..., None] * (first - last)
        for order, (colors, share) in enumerate(poses):
            later = order / (len(poses) - 1) if len(poses) > 1 else 1.0
            weight = ((FAINTEST + (1.0 - FAINTEST) * later**1.5) * share)[..., None]
            result = result + weight * (colors - result)
        return self._labelled(result, self.frames[-1])

    def loop(self, advance: Callable[[int], object]) -> list[np.ndarray]:
        """A picture of each time, as bytes (H, W, 3)."""
        found = []
        for frame in self.frames:
            found.append(self._labelled(self.tracer.take(frame)[0], frame))
            advance(1)
        return found

    def _labelled(self, colors: np.ndarray, frame: int) -> np.ndarray:
        """A picture with its label, the time and the scale."""
        pillow = load_pillow()
        image = pillow.fromarray(np.round(255.0 * colors).astype(np.uint8))
        draw, font = _drawing_on(image)
        room = max(8, self.look.height // 40)
        if self.look.label:
            draw.text((room, room), self.look.label, fill=INK, font=font)
        if self.look.clock:
            text = f"{self.motion.time[frame]:.2f} s"
            draw.text((self.look.width - room, room), text, fill=INK, font=font, anchor="ra")
        if self.look.scale:
            length, pixels = _bar(self.camera.scale_at(self.center), self.look.width)
            y = self.look.height - room
            draw.line([(room, y), (room + pixels, y)], fill=INK, width=2)
            for x in (room, room + pixels):
                draw.line([(x, y - 4), (x, y)], fill=INK, width=2)
            draw.text((room + pixels + 8, y + 4), _length(length), fill=INK, font=font, anchor="ls")
        return np.asarray(image)


def write_still(output: str | os.PathLike, picture: np.ndarray) -> None:
    """Write a picture as its name says."""
    image = load_pillow().fromarray(picture)
    with written_whole(output) as partial:
        image.save(partial, **({"quality": 88, "method": 6} if Path(output).suffix == ".webp" else {}))


def write_loop(output: str | os.PathLike, pictures: Sequence[np.ndarray], frames_per_second: float) -> None:
    """Write pictures as a loop, .webp or .gif."""
    pillow = load_pillow()
    images = [pillow.fromarray(one) for one in pictures]
    if Path(output).suffix == ".gif":
        palette = images[len(images) // 2].quantize(128)
        images = [one.quantize(palette=palette, dither=pillow.Dither.NONE) for one in images]
        options = {"optimize": True, "disposal": 1}
    else:
        options = {"quality": 72, "method": 4, "minimize_size": True}
    with written_whole(output) as partial:
        duration = round(1000.0 / frames_per_second)
        images[0].save(partial, save_all=True, append_images=images[1:], duration=duration, loop=0, **options)


def load_pillow() -> ModuleType:
    """Pillow's module of images.

    Raises:
        SettingsError: It is not installed; the sentence says how it is.
    """
    try:
        from PIL import Image
    except ImportError:
        raise SettingsError("pictures need Pillow: pip install 'warp-artic[render]'") from None
    return Image


def _drawing_on(image):
    """What draws on an image, and a font in a size that goes with it."""
    from PIL import ImageDraw, ImageFont

    return ImageDraw.Draw(image), ImageFont.load_default(max(12, image.height // 30))


def _part_of(motion: Motion, frames: Sequence[int]) -> Motion:
    """The motion from the first to the last of some frames."""
    own = slice(min(frames), max(frames) + 1)
    points = {path: values[own] for path, values in motion.points.items()}
    return Motion(time=motion.time[own], poses=motion.poses[own], points=points)


def _shares(source: Source) -> dict[str, np.ndarray]:
    """The force of each tendon by the largest of the run, at the frames of a source."""
    recording = source.recording
    if recording is None:
        return {}
    rows = np.minimum(np.searchsorted(recording.time, np.array(source.times) - 1e-9), recording.time.size - 1)
    found = {}
    for names, quantity in (
        (recording.tendon_names, recording.tendon_force),
        (recording.mesh_tendon_names, recording.mesh_tendon_tension),
    ):
        values = np.abs(np.nan_to_num(quantity[rows, 0].astype(float)))
        largest = float(values.max(initial=0.0)) or 1.0
        for column, name in enumerate(names if values.shape[1] else ()):
            found[name] = values[:, column] / largest
    return found


def _bar(pixels_per_meter: float, width: int) -> tuple[float, int]:
    """A round length [m], and its pixels, at most a fifth of the width."""
    most = 0.2 * width / pixels_per_meter
    power = 10.0 ** math.floor(math.log10(most))
    length = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= most)
    return length, round(length * pixels_per_meter)


def _length(meters: float) -> str:
    """A length as people say it."""
    for unit, size in (("km", 1e3), ("m", 1.0), ("cm", 1e-2), ("mm", 1e-3)):
        if meters >= 0.999 * size:
            return f"{meters / size:g} {unit}"
    return f"{meters:g} m"
