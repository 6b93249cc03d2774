"""The authored start state, as it is put into chosen environments."""

from __future__ import annotations

import numpy as np
import warp as wp

from warp_artic.model.group import initial_state
from warp_artic.sim.change.snapshot import on_device
from warp_artic.sim.elastic.node_masses import with_node_masses


def put_to_start(simulation, chosen: np.ndarray) -> None:
    """Write the start state to chosen environments of a simulation."""
    if simulation._start is None or simulation._start[0] is not simulation.scene:
        groups = simulation._groups
        names = tuple(initial_state([simulation.scene.articulations[groups[0].members[0]]], groups[0].origins[:1]))
        simulation._start = simulation.scene, names, _column(simulation, names)
    _, names, values = simulation._start
    table = simulation._row_tables.of_state(names, range(len(simulation.articulations)))
    table.put(values, on_device(chosen, simulation.device))


def _column(simulation, names: tuple[str, ...]) -> wp.array:
    """The start of all rows of the state, one field after the other, shape (rows, 1)."""
    loaded = with_node_masses(simulation.scene).articulations
    groups = simulation._groups
    found = [initial_state([loaded[index] for index in group.members], group.origins) for group in groups]
    parts = []
    for name in names:
        for group, own in zip(groups, found):
            values = own[name]
            room = np.zeros((len(values), group.field(name).scalars.shape[0]))
            room[:, : values.shape[1]] = values
            parts.append(room.ravel())
    scalar = groups[0].columns.numbers.scalar
    return wp.array(np.concatenate(parts)[:, None], dtype=scalar, device=simulation.device)
