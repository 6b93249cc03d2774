"""Loop joints: joints that are no branch of a tree, as equations between two links, or between a link and the world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from warp_artic.description.constraint import Constraint
from warp_artic.description.joint import Axis
from warp_artic.description.pose import Pose, rotation_vector_from_matrix
from warp_artic.description.start_pose import start_poses


@dataclass(frozen=True, kw_only=True)
class LoopJoint(Constraint):
    """A joint that closes a loop: the axes that are not free are held, and nothing acts along the others.

    The coordinates are those of `Joint`: translations are where the origin of the second frame is in the first one;
    several rotations are the twist, about the twist axis, and swings, about the other two.
    """

    NOUN: ClassVar[str] = "loop joint"
    LINKS: ClassVar[tuple[str, ...]] = ("link0", "link1")
    MAY_BE_WORLD: ClassVar[bool] = True

    link0: int
    """Index of the first link in the articulation that has the joint, or WORLD."""
    link1: int
    """Index of the second link in its articulation (`articulation1`), or WORLD."""
    frame0: Pose = Pose()
    """The joint frame in the first link (or in the world)."""
    frame1: Pose = Pose()
    """The joint frame in the second link (or in the world)."""
    free: tuple[Axis, ...] = ()
    """The axes along and about which it does not hold, in the order of `Axis`."""
    twist_axis: Axis = Axis.ROT_X
    """The axis of the twist where one or two rotations are free."""

    @property
    def held(self) -> tuple[Axis, ...]:
        """The axes that it holds, in the order of `Axis`."""
        return tuple(axis for axis in Axis if axis not in self.free)

    @property
    def words(self) -> dict[str, str]:
        """The axes that it holds."""
        return {"holds": ", ".join(axis.value for axis in self.held)}

    def problems(self, articulation) -> Iterator[str]:
        """What is wrong with it: what was found, and what is allowed."""
        yield from super().problems(articulation)
        if self.link0 == self.link1 and not self.articulation1:
            yield f"joins link {self.link0} with itself; it must join two links, or one and the world"
        if not self.held:
            yield "leaves all six axes free; it must hold one of them"


def start_gap(mechanism, loop: LoopJoint) -> tuple[float, float]:
    """By how much a loop joint of a mechanism is open at the start, along and about the axes that it holds [m, rad]."""
    poses = (*start_poses(mechanism), Pose())  # WORLD is the last one
    X_01 = (poses[loop.link0] @ loop.frame0).inverse() @ poses[loop.link1] @ loop.frame1
    held = [axis.index for axis in loop.held if axis.is_linear]
    distance = float(np.linalg.norm(np.asarray(X_01.position)[held]))
    return distance, _held_angle(loop, X_01.rotation)


def _held_angle(loop: LoopJoint, R_01: np.ndarray) -> float:
    """The angle by which frames are turned against each other about the axes that are held [rad]."""
    held = [axis.index for axis in loop.held if not axis.is_linear]
    if len(held) == 3:
        return float(np.linalg.norm(rotation_vector_from_matrix(R_01)))
    if len(held) == 2:
        free = 3 - sum(held)
        return float(np.arccos(np.clip(R_01[free, free], -1.0, 1.0)))
    if held == [loop.twist_axis.index]:
        (x, y, z), axis = rotation_vector_from_matrix(R_01), held[0]
        half = 0.5 * np.linalg.norm((x, y, z))
        sine = np.sinc(half / np.pi) * 0.5 * (x, y, z)[axis]
        return float(2.0 * abs(np.arctan2(sine, np.cos(half))))
    if held:
        twist = loop.twist_axis.index
        return float(abs(np.arcsin(np.clip(R_01[3 - twist - held[0], twist], -1.0, 1.0))))
    return 0.0
