"""How long steps take, for us and for the peers alike."""

from __future__ import annotations

import time
from collections.abc import Callable

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""Wall time, and what the processor spends on this process alone."""
MOST_STEPS = 20_000
LEAST_RUNS = 3
SETTLED = 16
"""Steps after which models are measured: what is driven past a limit is held by then."""


def measure(
    steps: Callable[[int], None],
    environments: int,
    repeats: int,
    seconds: float,
    settled: int = SETTLED,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Microseconds for an environment and step, or evaluation, of each repeat of about the given length.

    `steps` makes that many steps of all environments; the first `settled` ones are not measured. Where one alone takes
    longer than a repeat should, there are fewer of them, but not fewer than three if more were asked for.
    """
    steps(settled)
    count, spent = 1, _seconds(steps, 1, clock)
    while spent < 0.1 * seconds and count < MOST_STEPS:
        count = min(10 * count, MOST_STEPS)
        spent = _seconds(steps, count, clock)
    count = max(1, min(MOST_STEPS, round(count * seconds / spent)))
    times: list[float] = []
    while len(times) < repeats and (len(times) < LEAST_RUNS or sum(times) < 2.0 * repeats * seconds):
        times.append(_seconds(steps, count, clock))
    return [1e6 * each / (count * environments) for each in times]


def _seconds(steps: Callable[[int], None], count: int, clock: Callable[[], float]) -> float:
    begin = clock()
    steps(count)
    return clock() - begin
