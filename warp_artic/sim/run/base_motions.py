"""Carries trees along with kinematic bodies: where their base is, how it moves, in the middle and at the end of a step.

With the displacement D_k at time k h, the velocity of the step from k to k + 1 is V = (D_{k+1} - D_k) / h, that at a
time k the mean of the two steps beside it, none at the start, and the acceleration of a step the difference of the
velocities at its ends by h. They are second order where the motion is smooth, and what is sudden, as a start with some
speed, comes to the links as the impulse that it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.pose import rotation_vector_from_matrix
from warp_artic.description.scene import Scene
from warp_artic.model.base import base_rows
from warp_artic.sim.arrays.views import Member


class BaseMotions:
    """The trees of a simulation that kinematic bodies carry."""

    def __init__(self, scene: Scene, members: Sequence[Member], h: float):
        found = ((member, scene.articulations[member.index].base_motion) for member in members)
        self._carried = [(member, motion) for member, motion in found if motion is not None]
        self._h = h
        for member in members if self._carried else ():
            member.group.expand_parameter("base")

    def __bool__(self) -> bool:
        return bool(self._carried)

    def place_middle(self, step: int) -> None:
        """Place bases in the middle of a step, counted from zero."""
        h = self._h
        for member, motion in self._carried:
            origin = member.group.origins[member.place]
            rotation, position = motion.displacement((step + 0.5) * h, origin)
            first, last = (self._velocity_at(motion, origin, step + k) for k in (0, 1))
            velocity = self._velocity_of(motion, origin, step)
            self._write(member, base_rows(rotation, position, velocity, (last - first) / h))

    def place_end(self, step: int) -> None:
        """Place bases at the end of a step, counted from zero."""
        for member, motion in self._carried:
            origin = member.group.origins[member.place]
            rotation, position = motion.displacement((step + 1) * self._h, origin)
            self._write(member, base_rows(rotation, position, self._velocity_at(motion, origin, step + 1)))

    def _velocity_at(self, motion: BaseMotion, origin: np.ndarray, step: int) -> np.ndarray:
        """Angular, then linear velocity of the base at the beginning of a step."""
        if step == 0:
            return np.zeros(6)
        return (self._velocity_of(motion, origin, step - 1) + self._velocity_of(motion, origin, step)) / 2.0

    def _velocity_of(self, motion: BaseMotion, origin: np.ndarray, step: int) -> np.ndarray:
        """The same in the whole of a step."""
        (R_0, p_0), (R_1, p_1) = (motion.displacement((step + k) * self._h, origin) for k in (0, 1))
        return np.concatenate([rotation_vector_from_matrix(R_1 @ R_0.T), p_1 - p_0]) / self._h

    def _write(self, member: Member, rows: np.ndarray) -> None:
        member.group.write_rows("base", member.place, np.arange(len(rows)), rows)
