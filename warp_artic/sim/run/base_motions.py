"""Moves kinematic bodies, which carry trees and touch links: where they are and how they move, in the middle and at the
end of a step.

With the displacement D_k at time k h, the velocity of the step from k to k + 1 is V = (D_{k+1} - D_k) / h, that at a
time k the mean of the two steps beside it, none at the start, and the acceleration of a step the difference of the
velocities at its ends by h. They are second order where the motion is smooth, and what is sudden, as a start with some
speed, comes to the links as the impulse that it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.constraints.contact_tables import contact_motions
from warp_artic.description.base_motion import BaseMotion, MotionTable, turns_between
from warp_artic.description.scene import Scene
from warp_artic.mechanisms.group import Group, mechanisms_in
from warp_artic.model.base import base_rows


@dataclass(frozen=True)
class _Moved:
    """What a motion moves: rows of a parameter of a mechanism."""

    group: Group
    place: int
    """Of the mechanism in the group."""
    name: str
    """Of the parameter."""
    number: int
    """Of the motion among its rows."""
    motion: BaseMotion

    @property
    def origin(self) -> np.ndarray:
        """What places of the mechanism are relative to."""
        return self.group.origins[self.place]


class BaseMotions:
    """What kinematic bodies carry and touch in a simulation."""

    def __init__(self, scene: Scene, groups: Sequence[Group], h: float):
        self._moved = [one for group in groups for one in _moved_in(scene, group)]
        self._h = h
        self._table = MotionTable([one.motion for one in self._moved])
        self.names = tuple(dict.fromkeys(one.name for one in self._moved))
        """Of the parameters that it writes."""
        for group in groups:
            for name in self.names:
                group.expand_parameter(name)

    def __bool__(self) -> bool:
        return bool(self._moved)

    def place_middle(self, step: int) -> None:
        """Place bodies in the middle of a step, counted from zero."""
        if not self._moved:
            return
        rotations, positions, V = self._motion(np.array([step - 1.0, step, step + 1.0, step + 2.0, step + 0.5]))
        first, last = (V[0] + V[1]) / 2.0 if step > 0 else 0.0 * V[0], (V[1] + V[2]) / 2.0
        accelerations = (last - first) / self._h
        for number, one in enumerate(self._moved):
            parts = rotations[-1, number], positions[-1, number], V[1, number], accelerations[number]
            self._write(one, base_rows(*parts), step + 0.5)

    def place_end(self, step: int) -> None:
        """Place bodies at the end of a step, counted from zero."""
        if not self._moved:
            return
        rotations, positions, V = self._motion(np.array([step, step + 1.0, step + 2.0]))
        velocities = (V[0] + V[1]) / 2.0 if step >= 0 else 0.0 * V[0]
        for number, one in enumerate(self._moved):
            self._write(one, base_rows(rotations[1, number], positions[1, number], velocities[number]), step + 1.0)

    def _motion(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rotations and translations since the start at places in time, by steps, and from each place to the next
        angular and linear velocities (places - 1, bodies, 6).
        """
        about = np.array([one.origin for one in self._moved]).reshape(-1, 3)
        rotations, positions, quaternions = self._table.displacements(places * self._h, about)
        turns = turns_between(quaternions[:-1], quaternions[1:])
        return rotations, positions, np.concatenate([turns, np.diff(positions, axis=0)], axis=-1) / self._h

    def _write(self, moved: _Moved, rows: np.ndarray, place: float) -> None:
        if moved.name == "contact_motion":
            rows = np.concatenate([rows, self._surface_rows(moved, rows[9:12], place)])
        first = moved.number * len(rows)
        moved.group.write_rows(moved.name, moved.place, np.arange(first, first + len(rows)), rows)

    def _surface_rows(self, moved: _Moved, position: np.ndarray, place: float) -> np.ndarray:
        """The velocity of a surface at a place in time, by steps: angular, and linear where the base is placed."""
        surface = moved.motion.surface
        if surface is None:
            return np.zeros(6)
        return np.concatenate(surface.at(moved.motion.at(place * self._h), moved.origin + position))


def _moved_in(scene: Scene, group: Group) -> Iterator[_Moved]:
    """What is moved in the mechanisms of a group."""
    for place, mechanism in enumerate(mechanisms_in(scene, group.members)):
        for one in mechanism.articulations:
            if one.base_motion is not None:
                yield _Moved(group, place, "base", 0, one.base_motion)
        for number, motion in enumerate(contact_motions(mechanism)):
            yield _Moved(group, place, "contact_motion", number, motion)
