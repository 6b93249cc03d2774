"""How long steps take, for us and for the peers alike."""

from __future__ import annotations

import time
from collections.abc import Callable

MOST_STEPS = 20_000


def measure(
    steps: Callable[[int], None], environments: int, repeats: int, seconds: float, clock=time.perf_counter
) -> list[float]:
    """Microseconds for an environment and step, or evaluation, of each repeat of about the given length.

    `steps` makes that many steps of all environments.
    """
    steps(1)
    count, spent = 1, _seconds(steps, 1, clock)
    while spent < 0.1 * seconds and count < MOST_STEPS:
        count = min(10 * count, MOST_STEPS)
        spent = _seconds(steps, count, clock)
    count = max(1, min(MOST_STEPS, round(count * seconds / spent)))
    return [1e6 * _seconds(steps, count, clock) / (count * environments) for _ in range(repeats)]


def _seconds(steps: Callable[[int], None], count: int, clock: Callable[[], float]) -> float:
    begin = clock()
    steps(count)
    return clock() - begin
