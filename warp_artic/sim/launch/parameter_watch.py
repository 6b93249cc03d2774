"""Wakes trees whose parameters change: those parameters that a user has views of, before each launch of steps."""

from __future__ import annotations

from collections.abc import Sequence

import warp as wp

from warp_artic.kernels.columns import column_kernels_for
from warp_artic.mechanisms.group import Group


class ParameterWatch:
    """What was seen last of the parameters that anybody may write to."""

    def __init__(self, groups: Sequence[Group]):
        self._groups = groups
        self._seen: dict[str, list[wp.array]] = {}
        self._launches: list = []

    def add(self, name: str) -> None:
        """Watch a parameter, which each environment has for itself, from now on."""
        if name in self._seen:
            return
        self._seen[name] = [wp.clone(group.parameters[name].scalars) for group in self._groups]
        for group, seen in zip(self._groups, self._seen[name]):
            values, rest = group.parameters[name].scalars, group.state["steps_at_rest"].scalars
            launch = wp.launch(
                column_kernels_for(values.dtype).see,
                dim=(values.shape[0], group.columns.count),
                inputs=[values, seen, rest],
                device=values.device,
                record_cmd=True,
            )
            self._launches.append(launch)

    def accept(self) -> None:
        """See all as it is, without waking anybody."""
        for name, seen in self._seen.items():
            for group, values in zip(self._groups, seen):
                values.assign(group.parameters[name].scalars)

    def look(self) -> None:
        """Wake the environments in which a parameter is another than at the last look."""
        for launch in self._launches:
            launch.launch()
