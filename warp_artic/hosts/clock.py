"""Whole time steps for a host whose frames are of any length."""

from __future__ import annotations

import math
from numbers import Real

from warp_artic.errors import SettingsError

ROUNDING = 1e-6
"""Of a time step: by how much the sum of frames may miss a whole number of steps."""


class StepClock:
    """Counts the time steps that are due; what is left of a frame counts for the next one.

    Args:
        dt: Time step [s].
    """

    def __init__(self, dt: float):
        self.dt = dt
        self._left = 0.0

    def advance(self, time: float) -> int:
        """How many time steps end within the next `time` [s].

        Raises:
            SettingsError: The time is not a finite number of at least zero.
        """
        if isinstance(time, bool) or not isinstance(time, Real) or not 0.0 <= time < math.inf:
            raise SettingsError(f"dt: {time!r} is not a finite number of at least 0")
        due = self._left + float(time)
        count = math.floor(due / self.dt + ROUNDING)
        self._left = due - count * self.dt
        return count

    def restart(self) -> None:
        """Forget what is left."""
        self._left = 0.0
