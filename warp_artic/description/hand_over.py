"""When an articulation is kinematic: within spans of time it moves as it is animated, before and after by forces.

Coordinates x(t) are the positions of its joints, then position and quaternion of its root where that floats; between
samples they are cubic (Hermite, with slopes by central differences). Where a span begins during a run, with the
coordinates x_0 at that time and their rates r_0, motion goes back to the animation c(t) within the blend time b:

    x = (1 - s) (x_0 + r_0 t (1 - u / 2)) + s c,    u = t / b,    s = u^2 (3 - 2 u),    t from the start of the span,

which begins with the velocity that was, and ends with that of the animation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

BLEND = 0.25
"""Time in which motion goes back to the animation [s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HandOver:
    """The spans of one articulation, and how it moves in them."""

    path: str
    """Of the articulation."""
    spans: tuple[tuple[float, float], ...]
    """Start and end of each, from the start of the simulation [s]; the first may start, the last end, at infinity."""
    start: float
    """Time of the first sample [s]."""
    interval: float
    """Between samples [s]."""
    coordinates: np.ndarray
    """At the samples, shape (T, D), or (T, D + 7) of a floating root."""
    velocities: np.ndarray
    """Of joints, then linear and angular of the root as in the state, shape (T, D) or (T, D + 6)."""
    blend: float = BLEND

    def span_at(self, time: float, slack: float) -> tuple[float, float] | None:
        """The span that a time is in, with both of its ends."""
        return next((span for span in self.spans if span[0] - slack <= time <= span[1] + slack), None)

    def begins_within(self, time: float, step: float) -> bool:
        """Whether a span begins in the step after a time."""
        return any(time < first <= time + step for first, _ in self.spans)

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities of the animation."""
        place = np.clip((time - self.start) / self.interval, 0.0, len(self.coordinates) - 1.0)
        k = min(int(place), max(len(self.coordinates) - 2, 0))
        ends = [k, min(k + 1, len(self.coordinates) - 1)]
        (x_0, x_1), (m_0, m_1), t = self.coordinates[ends], self._slopes[ends], place - k
        x = x_0 + t * (m_0 + t * (3.0 * (x_1 - x_0) - 2.0 * m_0 - m_1 + t * (2.0 * (x_0 - x_1) + m_0 + m_1)))
        v_0, v_1 = self.velocities[ends]
        return x, (1.0 - t) * v_0 + t * v_1

    @cached_property
    def _slopes(self) -> np.ndarray:
        """By samples."""
        return np.gradient(self.coordinates, axis=0) if len(self.coordinates) > 1 else 0.0 * self.coordinates


def share(time: float, blend: float) -> tuple[float, float]:
    """u and s at a time since the start of a span."""
    u = min(time / blend, 1.0) if blend > 0.0 and math.isfinite(time) else 1.0
    return u, u * u * (3.0 - 2.0 * u)
