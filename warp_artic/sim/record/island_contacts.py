"""Contacts of many bodies over a recording: a list of who touched whom and how hard, as any two colliders may.

Row k says that in the step before a record, in an environment, two colliders touched, and the force on the second one.
Rows are in the order of records, environments and colliders.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warp_artic.sim.arrays.contact_events import ContactEvent
from warp_artic.sim.arrays.contacts import contact_signs
from warp_artic.sim.islands.contact_islands import ContactIslands


class IslandContactRecords:
    """Collects them, record by record."""

    def __init__(self, islands: ContactIslands, dt: float):
        self._islands, self._dt = islands, dt
        self._contacts = [np.zeros((0, 4), np.int64)]
        self._forces = [np.zeros((0, 3))]

    def take(self, record: int) -> None:
        """Add those of the last step to a record."""
        points = self._islands.impulses()
        pairs = np.stack([points[name] for name in ("environment", "first", "second")], axis=1)
        touching, which = np.unique(pairs[points["world"].any(axis=1)], axis=0, return_inverse=True)
        forces = np.zeros((len(touching), 3))
        np.add.at(forces, which.ravel(), points["world"][points["world"].any(axis=1)].astype(float) / self._dt)
        self._contacts.append(np.column_stack([np.full(len(touching), record), touching]))
        self._forces.append(forces)

    def arrays(self) -> dict[str, np.ndarray]:
        """By the names of the fields of a recording."""
        return {
            "island_contact": np.concatenate(self._contacts),
            "island_contact_force": np.concatenate(self._forces),
        }


def island_force_over_time(
    contact: np.ndarray,
    force: np.ndarray,
    colliders: Sequence[str],
    shape: tuple[int, int],
    links: Sequence[str],
    path: str,
    by: str | None,
    others: Sequence[str],
) -> np.ndarray:
    """The sum of the forces on what is at a path, shape (records, environments, 3); see `contact_signs`."""
    names = [f"{colliders[first]}:{colliders[second]}:0" for first, second in contact[:, 2:].tolist()]
    signs = contact_signs(names, links, path, by, (*colliders, *others))
    found = np.zeros((*shape, 3))
    np.add.at(found, (contact[:, 0], contact[:, 1]), signs[:, None] * force)
    return found


def island_contact_events(contact: np.ndarray, colliders: Sequence[str], time: np.ndarray) -> list[ContactEvent]:
    """Which of them begin and end to touch, by time."""
    records: dict[tuple[int, int, int], list[int]] = {}
    for record, *pair in contact.tolist():
        records.setdefault(tuple(pair), []).append(record)
    found = []
    for (environment, first, second), own in records.items():
        pair, touched = (colliders[first], colliders[second]), set(own)
        starts = [(record, True) for record in own if record - 1 not in touched]
        ends = [(record + 1, False) for record in own if record + 1 not in touched and record + 1 < len(time)]
        found += [ContactEvent(float(time[record]), environment, pair, is_start) for record, is_start in starts + ends]
    return sorted(found, key=lambda one: (one.time, one.environment, one.colliders))
