"""How much memory a run has on its device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import warp as wp

from warp_artic.mechanisms.structs import arrays_for
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
        structs = arrays_for(group.columns.numbers)
        for named in (group.state, group.control, group.parameters, group.outputs):
            fields += sum(field.scalars.capacity for field in named.values())
        of_all = structs.Model.vars.keys() - group.parameters.keys()
        tables += _capacity(group.arrays.model, of_all)
        work += _capacity(group.works[0], structs.Work.vars)
    return Memory(fields, tables, work)


def _capacity(struct, names: Iterable[str]) -> int:
    """Bytes of the arrays among some members of a struct."""
    values = (getattr(struct, name) for name in names)
    return sum(value.capacity for value in values if isinstance(value, wp.array))
