"""The authored start state, as it is put into chosen environments."""

from __future__ import annotations

import logging

import numpy as np
import warp as wp

from warp_artic.mechanisms.group import mechanisms_in
from warp_artic.mechanisms.start import initial_state
from warp_artic.sim.arrays.views import environment_indices
from warp_artic.sim.change.chosen import on_device
from warp_artic.sim.change.give_contacts import forget_given_contacts
from warp_artic.sim.change.sleep import start_asleep
from warp_artic.sim.run.layout import laid_out
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import follow_links, go_to

LOG = logging.getLogger("warp_artic")
ONE_TIME = "time samples are followed, and time is that of all copies: it begins anew where all are reset at once"
"""What is said where something beside the actions follows time, and chosen environments are reset."""


def reset(run: Run, environments=None) -> None:
    """See `Simulation.reset`."""
    chosen = environment_indices(environments, run.environments)
    run.idle.end(run.steps_done)
    if run.groups:
        _put_to_start(run, chosen)
    for body in run.elastic.bodies:
        body.reset(chosen)
    if run.islands:
        run.islands.forget(chosen)
    forget_given_contacts(run, on_device(chosen, run.device))
    if environments is None:
        go_to(run, 0)
    elif run.has_time_samples and run.steps_done and not run.has_told_of_time:
        run.has_told_of_time = True
        LOG.warning("reset: %s", ONE_TIME)
    run.set_anew()
    start_asleep(run, chosen)
    follow_links(run)


def _put_to_start(run: Run, chosen: np.ndarray) -> None:
    """Write the start state to chosen environments."""
    if run.start is None or run.start[0] is not run.scene:
        groups = run.groups
        names = tuple(initial_state(mechanisms_in(run.scene, groups[0].members[:1]), groups[0].origins[:1]))
        run.start = run.scene, names, _column(run, names)
    _, names, values = run.start
    table = run.tables.of_state(names, range(len(run.members)))
    table.put(values, on_device(chosen, run.device))


def _column(run: Run, names: tuple[str, ...]) -> wp.array:
    """The start of all rows of the state, one field after the other, shape (rows, 1)."""
    laid = laid_out(run.scene, run.settings)
    groups = run.groups
    found = [initial_state(mechanisms_in(laid, group.members), group.origins) for group in groups]
    parts = []
    for name in names:
        for group, own in zip(groups, found):
            values = own[name]
            room = np.zeros((len(values), group.field(name).scalars.shape[0]))
            room[:, : values.shape[1]] = values
            parts.append(room.ravel())
    scalar = groups[0].columns.numbers.scalar
    return wp.array(np.concatenate(parts)[:, None], dtype=scalar, device=run.device)
