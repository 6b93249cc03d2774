"""A run that is written as value clips while it goes on, and that another process can go on with."""

from __future__ import annotations

from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.sim.files.whole_file import remove_left
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.simulation import Simulation
from warp_artic.usd.write_clips import ClipWriter

CHECKPOINT = "run.npz"
"""The state after the last complete clip."""


class Clips:
    """The clips of a run, each of `stretch` time steps, the last one shorter."""

    def __init__(self, stage, simulation: Simulation, arguments, stretch: int, guides: Scene | None):
        rate = arguments.frames_per_second
        self.writer = ClipWriter(stage, arguments.output, frames_per_second=rate, guides=guides)
        self.stretch = stretch
        self.count = 0
        self._simulation = simulation
        self._resumes = arguments.resume
        self._checkpoint = self.writer.folder / CHECKPOINT
        folder = self.writer.folder
        if folder.is_dir():
            remove_left(folder)
        if not arguments.resume and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SettingsError(f"{folder}: has a run already; --resume continues it, else remove the folder")

    def take_up(self, steps: int) -> int:
        """Continue after the last complete clip, if a run of this many steps is resumed; how many are done."""
        if not self._resumes or not self._checkpoint.exists():
            return 0
        simulation = self._simulation
        simulation.load(self._checkpoint)
        done, dt = simulation.steps_done, simulation.settings.dt
        if done % self.stretch:
            raise SettingsError(
                f"{self._checkpoint}: is after {done} steps, no whole number of clips of {self.stretch} steps; "
                "use the same --clips as before"
            )
        if done > steps:
            raise SettingsError(
                f"{self._checkpoint}: is at {done * dt:g} s, past the {steps * dt:g} s of this run; "
                "--resume continues a run, and removes nothing of it"
            )
        self.count = done // self.stretch
        self.writer.take_up([(k * self.stretch * dt, (k + 1) * self.stretch * dt) for k in range(self.count)])
        return done

    def end_here(self, recording: Recording) -> None:
        """Have the layer end where this run was taken up, which is where it was to end."""
        if self.count:
            self.writer.end_here(recording)

    def steps_per_record(self, first: int, last: int) -> int:
        """How many steps of a stretch, given by its first and last one, lie between two frames; one where none fits."""
        steps = 1.0 / (self.writer.rate * self._simulation.settings.dt)
        whole = round(steps)
        fits = whole > 0 and abs(steps - whole) < 1e-6 and first % whole == 0 and (last - first) % whole == 0
        return whole if fits else 1

    def write(self, recording: Recording) -> None:
        """Write the next clip, and then the state to go on from, where that is after whole clips."""
        self.writer.write(recording)
        if self._simulation.steps_done % self.stretch == 0:
            self._simulation.save(self._checkpoint)
        self.count += 1
