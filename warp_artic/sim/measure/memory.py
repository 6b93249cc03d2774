"""How much memory a run has on its device."""

from __future__ import annotations

from typing import NamedTuple

import warp as wp

from warp_artic.sim.run.state import Run


class Memory(NamedTuple):
    """Bytes on the device."""

    fields: int
    """State, control, parameters and outputs, which grow with the environments."""
    tables: int
    """What is the same for all environments."""
    work: int
    """Work spaces of one thread."""


def memory_of(run: Run) -> Memory:
    """What the arrays of a run take."""
    fields = tables = work = 0
    for group in run.groups:
        for named in (group.state, group.control, group.parameters, group.outputs):
            fields += sum(field.scalars.capacity for field in named.values())
        tables += sum(array.capacity for name, array in _arrays(group.arrays.model) if name not in group.parameters)
        work += sum(array.capacity for _, array in _arrays(group.works[0]))
    return Memory(fields, tables, work)


def _arrays(struct) -> list[tuple[str, wp.array]]:
    values = ((name, getattr(struct, name)) for name in struct._cls.vars)
    return [(name, value) for name, value in values if isinstance(value, wp.array)]
