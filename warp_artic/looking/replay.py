"""Replay of a recording or a layer in a browser: play, pause, scrub, speed, environment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from warp_artic.looking.viewer import Viewer
from warp_artic.usd.source import Source, open_source

FRAME = 1.0 / 30.0
"""Least time between two pictures [s]."""


class Replay:
    """Shows the frames of a source as its controls say.

    Args:
        server: A `viser.ViserServer`.
        source: What is shown.
        stage: Of a recording, if one was named.
        frames_per_second: Of its frames.
    """

    def __init__(self, server: Any, source: Source, stage: str | None, frames_per_second: float):
        self.source, self.motion = source, source.motion()
        self.stage, self.rate, self.environment = stage, frames_per_second, 0
        self.viewer = Viewer(server, source.drawing, self.motion)
        gui, times = server.gui, self.motion.time
        self.is_playing = False
        self.play = gui.add_button("Play")
        self.clock = gui.add_slider(
            "time [s]", float(times[0]), max(float(times[-1]), float(times[0]) + 1e-6), 1e-3, float(times[0])
        )
        self.speed = gui.add_slider("speed", 0.05, 2.0, 0.05, 1.0)
        count = source.recording.environment_count if source.recording is not None else 1
        if count > 1:
            self.chosen = gui.add_slider("environment", 0, count - 1, 1, 0)
            self.chosen.on_update(lambda event: self.choose(self.chosen.value))
        self.viewer.switches(self.redraw)
        self.play.on_click(lambda event: self.toggle())
        self.clock.on_update(lambda event: self.redraw() if event.client is not None else None)
        self.redraw()

    def toggle(self) -> None:
        """Play or pause; from the start again at the end."""
        if not self.is_playing and self.clock.value >= self.motion.time[-1] - 1e-3:
            self.clock.value = float(self.motion.time[0])
        self.is_playing = not self.is_playing
        self.play.label = "Pause" if self.is_playing else "Play"

    def choose(self, environment: int) -> None:
        """Show another environment of the recording."""
        self.environment = environment
        self.motion = open_source(self.source.name, self.stage, environment, self.rate).motion()
        self.redraw()

    def redraw(self) -> None:
        """Show the frame that is nearest to the time of the slider."""
        frame = int(np.argmin(np.abs(self.motion.time - self.clock.value)))
        points = {path: values[frame] for path, values in self.motion.points.items()}
        self.viewer.show(self.motion.poses[frame], points, *self._recorded(frame))

    def _recorded(self, frame: int) -> tuple[dict[str, float], tuple[np.ndarray, np.ndarray] | None]:
        """Shares of the forces of tendons, and contacts, at a frame of a recording."""
        recording = self.source.recording
        if recording is None:
            return {}, None
        row = min(int(np.searchsorted(recording.time, self.motion.time[frame] - 1e-9)), recording.time.size - 1)
        contacts = None
        if recording.contact_force.size and recording.contact_position.size:
            own = (recording.contact_position[row, self.environment], recording.contact_force[row, self.environment])
            contacts = (own[0].astype(float), own[1].astype(float))
        return tendon_shares(recording, row, self.environment), contacts

    def run(self, is_over: Callable[[], bool]) -> None:
        """Play where it is to be played, until it is over."""
        before = time.perf_counter()
        while not is_over():
            time.sleep(FRAME)
            now = time.perf_counter()
            if self.is_playing:
                now_shown = self.clock.value + self.speed.value * (now - before)
                self.clock.value = min(now_shown, float(self.motion.time[-1]))
                self.redraw()
                if self.clock.value >= self.motion.time[-1]:
                    self.toggle()
            before = now


def tendon_shares(recording, row: int, environment: int) -> dict[str, float]:
    """The force of each tendon in a record by the largest force of all in the recording."""
    found = {}
    for names, values in (
        (recording.tendon_names, recording.tendon_force),
        (recording.mesh_tendon_names, recording.mesh_tendon_tension),
    ):
        if values.size:
            largest = float(np.nanmax(np.abs(values[:, environment]))) or 1.0
            own = np.abs(np.nan_to_num(values[row, environment].astype(float))) / largest
            found |= dict(zip(names, own.tolist()))
    return found
