"""What the menu of usdview does: simulate the stage that is open, live, and bake its motion into a layer beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pxr import Usd
from warp_artic.extensions.usd import play
from warp_artic.extensions.usd.player import Player

from warp_artic.errors import ArticError
from warp_artic.sim.simulation import Simulation
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.write_results import write_results

FRAMES_PER_SECOND = 60.0
DEFAULT_DURATION = 5.0
"""[s], of a stage without a time range."""


class Commands:
    """The two commands, on the `usdviewApi` that each gets.

    Args:
        start_timer: Calls a function every so many milliseconds from then on; gives what ends that.
    """

    def __init__(self, start_timer: Callable[[object, int, Callable[[], None]], Callable[[], None]]):
        self._start_timer = start_timer
        self._player: Player | None = None
        self._stop_timer: Callable[[], None] | None = None

    def simulate(self, api) -> None:
        """Step the stage and show it until the command comes again, which leaves the stage as it was."""
        if self._player is not None:
            self._end(api, "warp_artic: the stage is as it was")
            return
        api.PrintStatus("warp_artic: preparing; the first run on a machine compiles the kernels")
        try:
            self._player = play(api.stage, frames_per_second=FRAMES_PER_SECOND)
        except ArticError as error:
            api.PrintStatus(_one_line(error))
            return
        milliseconds = round(1000.0 / FRAMES_PER_SECOND)
        self._stop_timer = self._start_timer(api.qMainWindow, milliseconds, lambda: self._go_on(api))

    def bake(self, api) -> None:
        """Simulate the time range of the stage, and write the run layer beside it."""
        if self._player is not None:
            self._end(api, "")
        try:
            path = _beside(api.stage)
            simulation = Simulation(read_stage(api.stage))
            recording = simulation.record(round(_duration(api.stage) / simulation.dt))
            write_results(api.stage, recording, path)
        except ArticError as error:
            api.PrintStatus(_one_line(error))
            return
        failed = simulation.failures()
        api.PrintStatus(f"warp_artic: wrote {path}" + (f"; {failed[0]}" if failed else ""))

    def _go_on(self, api) -> None:
        """Show the next frame; what goes wrong ends the simulation."""
        if self._player.stage != api.stage:
            self._end(api, "warp_artic: another stage is open")
            return
        try:
            self._player.advance()
        except ArticError as error:
            self._end(api, _one_line(error))
            return
        api.PrintStatus(f"warp_artic: {self._player.time:.2f} s")
        api.UpdateViewport()

    def _end(self, api, text: str) -> None:
        self._stop_timer()
        self._player.close()
        self._player = self._stop_timer = None
        api.PrintStatus(text)
        api.UpdateViewport()


def _beside(stage: Usd.Stage) -> Path:
    """Where the run layer of a stage goes; in the folder where usdview runs if the stage is no file."""
    path = Path(stage.GetRootLayer().realPath or "stage.usda")
    return path.with_name(f"{path.stem}_run.usdc")


def _duration(stage: Usd.Stage) -> float:
    """The time range of a stage [s]."""
    if not stage.HasAuthoredTimeCodeRange():
        return DEFAULT_DURATION
    codes = stage.GetEndTimeCode() - stage.GetStartTimeCode()
    return codes / stage.GetTimeCodesPerSecond() if codes > 0.0 else DEFAULT_DURATION


def _one_line(error: ArticError) -> str:
    """The first sentence of an error, and how many more there are."""
    first, *others = str(error).splitlines()
    return f"warp_artic: {first}" + (f" (and {len(others)} more)" if others else "")
