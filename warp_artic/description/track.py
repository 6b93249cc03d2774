"""A value that is given over time."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Track:
    """Values over time from the start of the simulation, constant before the first and after the last one."""

    times: tuple[float, ...]
    """Increasing [s]."""
    values: tuple[float, ...]
    """As many, in the unit of what is given."""
    is_held: bool = False
    """Whether values are held until the next one; else they are interpolated linearly."""

    def at(self, time: float) -> float:
        """The value at a time [s]."""
        after = bisect_right(self.times, time)
        if after == 0 or after == len(self.times) or self.is_held:
            return self.values[max(after - 1, 0)]
        start, end = self.times[after - 1 : after + 1]
        share = (time - start) / (end - start)
        return (1.0 - share) * self.values[after - 1] + share * self.values[after]
