"""How long things take that take turns: all of them see the machine as quiet as it gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

Run = Callable[[int], float]
"""Makes that many steps, or evaluations, of all environments, and says how many seconds they took."""
Start = Callable[[], Sequence[Run]]
"""Makes what is to be timed ready; its runs take turns as well."""

MOST_STEPS = 20_000


class NotMeasuredError(Exception):
    """Why there are no figures."""


def take_turns(starts: Sequence[Start], repeats: int, seconds: float) -> list[list[list[float]] | str]:
    """Of each start the seconds of a step in each repeat, for each of its runs; or why there are none.

    A repeat takes about the given seconds, unless a single step takes longer.
    """
    found = [_attempt(partial(_begin, start, seconds)) for start in starts]
    for _ in range(repeats):
        for place, turns in enumerate(found):
            if not isinstance(turns, str):
                found[place] = _attempt(partial(_again, turns))
    return [turns if isinstance(turns, str) else [times for _, _, times in turns] for turns in found]


def _begin(start: Start, seconds: float) -> list[tuple[Run, int, list[float]]]:
    """The runs, each with how many steps take so long, and room for times."""
    return [(run, _count(run, seconds), []) for run in start()]


def _again(turns: list[tuple[Run, int, list[float]]]):
    for run, count, times in turns:
        times.append(run(count) / count)
    return turns


def _count(run: Run, seconds: float) -> int:
    """How many steps take about so long; the first may have kernels to load, and a call has a cost of its own."""
    run(1)
    count, spent = 1, run(1)
    while spent < 0.5 * seconds and count < MOST_STEPS:
        count = min(10 * count, round(count * seconds / spent), MOST_STEPS)
        spent = run(count)
    return max(1, min(MOST_STEPS, round(count * seconds / spent)))


def _attempt(measure: Callable):
    try:
        return measure()
    except NotMeasuredError as reason:
        return str(reason)
