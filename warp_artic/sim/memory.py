"""How much memory a simulation has on its device."""

from __future__ import annotations

import warp as wp


def bytes_on_device(simulation) -> int:
    """Bytes of all arrays: parameters, state, control, outputs, tables and work space."""
    size = 0
    for group in simulation._groups:
        fields = (*group.parameters.values(), *group.state.values(), *group.control.values(), *group.outputs.values())
        size += sum(field.scalars.capacity for field in fields)
        for struct, own in ((group.arrays.model, set(group.parameters)), (group.arrays.work, set())):
            values = (getattr(struct, name) for name in struct._cls.vars if name not in own)
            size += sum(value.capacity for value in values if isinstance(value, wp.array))
    return size
