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
from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.pose import rotation_vector_from_matrix
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
        self.names = tuple(dict.fromkeys(one.name for one in self._moved))
        """Of the parameters that it writes."""
        for group in groups:
            for name in self.names:
                group.expand_parameter(name)

    def __bool__(self) -> bool:
        return bool(self._moved)

    def place_middle(self, step: int) -> None:
        """Place bodies in the middle of a step, counted from zero."""
        h = self._h
        for one in self._moved:
            rotation, position = one.motion.displacement((step + 0.5) * h, one.origin)
            first, last = (self._velocity_at(one, step + k) for k in (0, 1))
            self._write(one, base_rows(rotation, position, self._velocity_of(one, step), (last - first) / h))

    def place_end(self, step: int) -> None:
        """Place bodies at the end of a step, counted from zero."""
        for one in self._moved:
            rotation, position = one.motion.displacement((step + 1) * self._h, one.origin)
            self._write(one, base_rows(rotation, position, self._velocity_at(one, step + 1)))

    def _velocity_at(self, moved: _Moved, step: int) -> np.ndarray:
        """Angular, then linear velocity of a body at the beginning of a step."""
        if step == 0:
            return np.zeros(6)
        return (self._velocity_of(moved, step - 1) + self._velocity_of(moved, step)) / 2.0

    def _velocity_of(self, moved: _Moved, step: int) -> np.ndarray:
        """The same in the whole of a step."""
        (R_0, p_0), (R_1, p_1) = (moved.motion.displacement((step + k) * self._h, moved.origin) for k in (0, 1))
        return np.concatenate([rotation_vector_from_matrix(R_1 @ R_0.T), p_1 - p_0]) / self._h

    def _write(self, moved: _Moved, rows: np.ndarray) -> None:
        first = moved.number * len(rows)
        moved.group.write_rows(moved.name, moved.place, np.arange(first, first + len(rows)), rows)


def _moved_in(scene: Scene, group: Group) -> Iterator[_Moved]:
    """What is moved in the mechanisms of a group."""
    for place, mechanism in enumerate(mechanisms_in(scene, group.members)):
        for one in mechanism.articulations:
            if one.base_motion is not None:
                yield _Moved(group, place, "base", 0, one.base_motion)
        for number, motion in enumerate(contact_motions(mechanism)):
            yield _Moved(group, place, "contact_motion", number, motion)
