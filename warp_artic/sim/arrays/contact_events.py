"""Which colliders have begun to touch, still touch, and touch no more: between two looks, and over a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.sim.arrays.contacts import Contact


@dataclass(frozen=True)
class ContactChanges:
    """What has changed from some contacts to later ones, in the order of the contacts."""

    started: tuple[Contact, ...]
    """They touch, and did not before."""
    stayed: tuple[Contact, ...]
    """They touch as before."""
    ended: tuple[Contact, ...]
    """They touched, as they did then, and do not any more."""


@dataclass(frozen=True)
class ContactEvent:
    """Two colliders that begin to touch in an environment, or end it."""

    time: float
    """Of the first record at which it is so [s]."""
    environment: int
    colliders: tuple[str, str]
    """Prim paths."""
    is_start: bool

    def __str__(self) -> str:
        verb = "begin to touch" if self.is_start else "touch no more"
        return (
            f"{self.colliders[0]} and {self.colliders[1]} {verb} in environment {self.environment} at {self.time:g} s"
        )


def contact_changes(before: Sequence[Contact], now: Sequence[Contact]) -> ContactChanges:
    """What has changed from some contacts to those of now."""
    old, new = ({(one.environment, one.colliders) for one in contacts} for contacts in (before, now))
    return ContactChanges(
        started=tuple(one for one in now if (one.environment, one.colliders) not in old),
        stayed=tuple(one for one in now if (one.environment, one.colliders) in old),
        ended=tuple(one for one in before if (one.environment, one.colliders) not in new),
    )


def contact_events(names: Sequence[str], time: np.ndarray, forces: np.ndarray) -> list[ContactEvent]:
    """The events of records, by time.

    Args:
        names: Of the points: the paths of both colliders, and a number.
        time: Of the records [s], shape (R,).
        forces: At the points, shape (R, E, P, 3).
    """
    pairs: dict[tuple[str, str], list[int]] = {}
    for point, name in enumerate(names):
        first, second = name.split(":")[:2]
        pairs.setdefault((first, second), []).append(point)
    found = []
    for colliders, points in pairs.items():
        touch = forces[:, :, points].any(axis=(2, 3))
        changes = np.diff(touch.astype(np.int8), axis=0, prepend=np.int8(0))
        for record, environment in zip(*(place.tolist() for place in np.nonzero(changes))):
            is_start = bool(changes[record, environment] > 0)
            found.append(ContactEvent(float(time[record]), environment, colliders, is_start))
    return sorted(found, key=lambda one: (one.time, one.environment, one.colliders))
