"""How many iterations a scene or a setting may ask for: one range, in one sentence."""

from __future__ import annotations

from numbers import Integral

LEAST = {"position_iterations": 1, "velocity_iterations": 0}
MOST = 1_000_000


def wrong_iterations(name: str, count: object) -> str | None:
    """What is wrong with a count of a name, such as "is 0, must be ..."; None where nothing is."""
    is_whole = isinstance(count, (Integral, float)) and not isinstance(count, bool) and count == count // 1
    if is_whole and LEAST[name] <= count <= MOST:
        return None
    shown = f"{count:.10g}" if isinstance(count, float) else repr(count)
    return f"is {shown}, must be a whole number of at least {LEAST[name]} and at most {MOST}"
