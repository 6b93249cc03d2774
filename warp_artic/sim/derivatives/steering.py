"""Controls of each step of a run, and what follows time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warp_artic.sim.change.motion import set_values
from warp_artic.sim.derivatives.quantities import quantity
from warp_artic.sim.run.state import Run


class Steering:
    """Writes what a step has of controls over time and of tracks, which the former take the place of.

    Args:
        run: The run, whose tracks of steered controls end.
        controls: Values for each step, shape (steps, E or 1, numbers).
    """

    def __init__(self, run: Run, controls: Mapping[str, np.ndarray]):
        self._run, self._controls = run, controls
        self._begun = run.steps_done
        self._written: dict[str, np.ndarray] = {}
        for key in [key for key in run.tracks if key[0] in controls]:
            run.tracks.pop(key)

    @property
    def names(self) -> tuple[str, ...]:
        """Fields that may have other values in each step."""
        return tuple(dict.fromkeys((*self._controls, *(name for name, _ in self._run.tracks))))

    @property
    def is_needed(self) -> bool:
        """Whether there are any."""
        return bool(self._controls or self._run.tracks)

    def go_to(self, number: int) -> None:
        """Be before a step."""
        self._run.steps_done = self._begun + number
        self._run.set_anew()

    def apply(self, number: int) -> None:
        """Write the controls of a step, where they are others than the last ones, and what follows time at its end."""
        run = self._run
        for name, table in self._controls.items():
            if name not in self._written or not np.array_equal(self._written[name], table[number]):
                self._written[name] = table[number]
                set_values(run, name, table[number].reshape(-1, *quantity(run, name).shape), None)
        run.tracks.apply((self._begun + number + 1) * run.settings.dt)
