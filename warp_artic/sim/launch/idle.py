"""Steps in which everything sleeps, on a CPU: they are counted and not launched.

They change nothing but clocks, and a launch takes as long as the step of a small robot. What somebody has views of is
compared with what it was, before each step; a graph that others launch could change anything. Whether all sleep is
looked up once in the time that a tree rests before it sleeps. On CUDA steps are launched: to look would wait for the
device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warp_artic.mechanisms.group import Group


class IdleSteps:
    """Knows whether everything sleeps, and how long."""

    def __init__(self, groups: Sequence[Group], sleep_steps: int):
        self._groups = groups
        self._sleep_steps = sleep_steps
        self._is_possible = sleep_steps > 0
        self._until_look = sleep_steps
        self._lent: dict[str, list[memoryview]] = {}
        self._seen: list[tuple[Callable[[], bytes], bytes]] = []
        self.since: int | None = None
        """The count of steps from which on none was launched; None while steps are."""

    def forbid(self) -> None:
        """Somebody else may change arrays unseen, from now on."""
        self._is_possible = False

    def lend(self, name: str, steps_done: int) -> None:
        """Somebody has a view of an array, from now on."""
        if name not in self._lent:
            self.end(steps_done)
            self._lent[name] = [memoryview(group.field(name).scalars.numpy()) for group in self._groups]

    def is_undisturbed(self) -> bool:
        """Whether nobody has written to what they have views of since everything sleeps."""
        for read, seen in self._seen:
            if read() != seen:
                return False
        return True

    def look(self, count: int, steps_done: int) -> None:
        """After a launch of `count` steps, to see whether everything sleeps."""
        self._until_look -= count
        if self._is_possible and self._until_look <= 0:
            self._until_look = self._sleep_steps
            if all(self._is_asleep(group) for group in self._groups):
                self.since = steps_done
                lent = [values for own in self._lent.values() for values in own]
                self._seen = [(values.tobytes, values.tobytes()) for values in lent]

    def end(self, steps_done: int) -> None:
        """Before anything changes, or clocks are read: bring them up to date."""
        if self.since is not None:
            for group in self._groups:
                group.state["clock"].scalars.numpy()[...] += steps_done - self.since
            self.since = None
            self._until_look = self._sleep_steps

    def _is_asleep(self, group: Group) -> bool:
        rest, failure = (
            group.state[name].scalars.numpy()[0, : group.columns.count] for name in ("steps_at_rest", "failure")
        )
        return bool(((rest >= self._sleep_steps) | (failure > 0)).all())
