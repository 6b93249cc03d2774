"""A loop over frames that steps a stage and shows it, for programs that hold a stage themselves.

with play(stage) as player:
    player.run(5.0)
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator

import numpy as np
from pxr import Usd

from warp_artic.errors import SettingsError
from warp_artic.hosts.backend import StageBackend
from warp_artic.hosts.live_layer import LiveLayer
from warp_artic.hosts.registry import load_backend
from warp_artic.usd.read_track import start_code

REMEMBERED = 3600
"""Frames that can be shown again, by default: a minute."""


def play(
    stage: Usd.Stage,
    *,
    frames_per_second: float = 60.0,
    backend: str | StageBackend = "warp_artic",
    remembered: int = REMEMBERED,
    **options,
) -> Player:
    """Simulate a stage and show it on a live layer, until `close` or the end of a `with` block.

    Args:
        stage: Is edited by nobody: what is shown lies on a layer of its own, below the session layer.
        frames_per_second: Of what is shown; steps of the simulation are those of the stage or of `settings`.
        backend: A registered stepping backend, or one at hand.
        remembered: Frames that can be shown again; the oldest are dropped.
        options: For `attach` of the backend, such as `settings`, `device` and `owner`.

    Raises:
        HostError: There is no such backend.
        StageError: The stage cannot be simulated as authored; it stays as it is.
        SettingsError: An argument has a value that is not allowed.
    """
    if not 0.0 < frames_per_second < math.inf:
        raise SettingsError(f"frames_per_second: {frames_per_second!r} is not a finite number above 0")
    own = load_backend(backend) if isinstance(backend, str) else backend
    own.attach(stage, **options)
    try:
        return Player(stage, own, frames_per_second, remembered)
    except BaseException:
        own.detach()
        raise


class Player:
    """A stage that is simulated and shown; from `play`."""

    def __init__(self, stage: Usd.Stage, backend: StageBackend, frames_per_second: float, remembered: int):
        self.stage = stage
        self.backend = backend
        self.frame = 0
        """Frames since the start or the last reset."""
        self.is_paused = False
        self._rate = frames_per_second
        self._frames: deque[tuple[int, np.ndarray, tuple]] = deque(maxlen=max(remembered, 1))
        self._layer = LiveLayer(stage)
        backend.leave_out(self._layer.layer)
        self._show()

    @property
    def time(self) -> float:
        """Simulated time that was shown last by a step [s]."""
        return self.frame / self._rate

    def advance(self, frames: int = 1) -> None:
        """Step and show some frames, or show the last one again while paused."""
        for _ in range(frames):
            if not self.is_paused:
                self.backend.step(1.0 / self._rate)
                self.frame += 1
            self._show()

    def run(self, seconds: float, *, is_paced: bool = True) -> None:
        """Advance for some time [s] of frames, as fast as a clock on the wall, or as fast as it goes."""
        for _ in self.frames(seconds, is_paced=is_paced):
            pass

    def frames(self, seconds: float = math.inf, *, is_paced: bool = True) -> Iterator[int]:
        """The same as an iterator, which gives the frame that is shown: for a loop that does more for each one."""
        begin, shown = time.perf_counter(), 0
        while shown < seconds * self._rate - 1e-9:
            self.advance()
            shown += 1
            if is_paced:
                time.sleep(max(0.0, begin + shown / self._rate - time.perf_counter()))
            yield self.frame

    def pause(self) -> None:
        """Let time stand still."""
        self.is_paused = True

    def resume(self) -> None:
        """Go on from where the simulation is, whatever is shown."""
        self.is_paused = False
        self._show()

    def reset(self) -> None:
        """Go back to the start state of the stage, and forget the frames."""
        self.backend.reset()
        self.frame = 0
        self._frames.clear()
        self._show()

    def seek(self, seconds: float) -> float:
        """Pause, and show the remembered frame that is nearest to a time [s]; the time of that frame."""
        self.pause()
        frame, poses, points = min(self._frames, key=lambda one: abs(one[0] - seconds * self._rate))
        self._publish(frame, poses, points)
        return frame / self._rate

    def close(self) -> None:
        """Take everything off the stage, which then is as it was; once more does nothing."""
        self._layer.close()
        self.backend.detach()

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def _show(self) -> None:
        """Show where links and the nodes of meshes are now."""
        report = self.backend.report
        if (report.links, report.meshes) != (self._layer.links, self._layer.meshes):
            self._frames.clear()
            self._layer.show(report.links, report.meshes)
        poses, points = self.backend.link_poses(), self.backend.mesh_points() if report.meshes else ()
        if not self._frames or self._frames[-1][0] != self.frame:
            self._frames.append((self.frame, poses, points))
        self._publish(self.frame, poses, points)

    def _publish(self, frame: int, poses: np.ndarray, points: tuple[np.ndarray, ...]) -> None:
        code = Usd.TimeCode(start_code(self.stage) + frame / self._rate * self.stage.GetTimeCodesPerSecond())
        self._layer.publish(poses, code, points)
