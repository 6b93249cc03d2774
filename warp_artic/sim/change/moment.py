"""All that steps of mechanisms depend on, kept as it is, and put back in every bit.

A snapshot has parts that users choose, each with a value for each environment. A moment is for a run that makes other
steps in between: it has every field as it is, and those that all environments share stay shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import warp as wp

from warp_artic.description.track import Track
from warp_artic.mechanisms.group import Group
from warp_artic.model.field import Field
from warp_artic.sim.run.state import Run


@dataclass(frozen=True)
class Moment:
    """State, control and parameters of a run, without elastic bodies and contacts that are found before steps."""

    fields: tuple[dict[str, wp.array], ...]
    """Scalars of each field, by group."""
    tracks: dict[tuple[str, str], Track]
    """What followed values over time."""
    steps_done: int


def take_moment(run: Run) -> Moment:
    """A copy, on the device."""
    run.idle.end(run.steps_done)
    fields = tuple({name: wp.clone(field.scalars) for name, field in _fields(group)} for group in run.groups)
    return Moment(fields, dict(run.tracks), run.steps_done)


def put_moment(run: Run, moment: Moment) -> None:
    """Put a copy back; a parameter that has a value for each environment since then keeps one for each."""
    run.idle.end(run.steps_done)
    for group, kept in zip(run.groups, moment.fields):
        for name, field in _fields(group):
            if field.scalars.shape == kept[name].shape:
                wp.copy(field.scalars, kept[name])
            else:
                field.fill(kept[name].numpy()[:, 0])
    run.tracks.clear()
    run.tracks.update(moment.tracks)
    run.steps_done = moment.steps_done
    run.set_anew()


@contextmanager
def as_it_was(run: Run, moment: Moment) -> Iterator[None]:
    """Put the run back to a moment; on exit, restore its present state."""
    present = take_moment(run)
    put_moment(run, moment)
    try:
        yield
    finally:
        put_moment(run, present)


def _fields(group: Group) -> Iterator[tuple[str, Field]]:
    for fields in (group.parameters, group.state, group.control):
        yield from fields.items()
