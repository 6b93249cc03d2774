"""Puts articulations where they are animated, after each step that ends in a span in which they are kinematic.

What touches one then meets its masses as they move, which the step after it sets right. At the end of a span the
articulation is where the animation has it, with its velocity, and moves on by forces.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warp_artic.description.hand_over import HandOver, share
from warp_artic.description.scene import Scene
from warp_artic.sim.arrays.views import Member

SLACK = 1e-6
"""Of a time step: rounding of times."""


class HandOvers:
    """The articulations of a scene that are kinematic at times."""

    def __init__(self, scene: Scene, members: Sequence[Member], h: float):
        by_path = {scene.articulations[member.index].path: member for member in members}
        self._own = [_Kinematic(one, by_path[one.path], h) for one in scene.hand_overs]

    def __bool__(self) -> bool:
        return bool(self._own)

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of the articulations."""
        return tuple(one.hand_over.path for one in self._own)

    def apply(self, time: float) -> list[int]:
        """Write the state at a time where it is animated; which articulations that is."""
        return [one.index for one in self._own if one.apply(time)]

    def forget(self) -> None:
        """Nothing is known of how a span began."""
        for one in self._own:
            one.forget()


class _Kinematic:
    """One articulation."""

    def __init__(self, hand_over: HandOver, member: Member, h: float):
        self.hand_over = hand_over
        self.index = member.index
        self._member, self._h = member, h
        self._dofs = member.rows("joint_position")
        self._is_floating = bool(member.rows("root_pose"))
        self._origin = member.group.origins[member.place]
        self.forget()

    def forget(self) -> None:
        self._span: tuple[float, float] | None = None
        self._before: np.ndarray | None = None
        self._begun: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def apply(self, time: float) -> bool:
        """Write the state, if it is animated at a time."""
        span = self.hand_over.span_at(time, SLACK * self._h)
        if span is None:
            self._span = self._begun = None
            if self.hand_over.begins_within(time, self._h):
                self._before = self._coordinates()
            return False
        if span != self._span:
            self._begun = self._begin() if np.isfinite(span[0]) and self._before is not None else None
            self._span, self._before = span, None
        x, v = (values[:, None] for values in self.hand_over.at(time))
        if self._begun is not None:
            x, v = self._blended(x, v, time - span[0])
        self._write(x, v)
        return True

    def _begin(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, their rates, and velocities, of all environments, where a span begins."""
        x = self._coordinates()
        return x, (x - self._near(self._before, x)) / self._h, self._velocities()

    def _blended(self, x: np.ndarray, v: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
        x_0, r_0, v_0 = self._begun
        u, s = share(max(time, 0.0), self.hand_over.blend)
        own = x_0 + r_0 * max(time, 0.0) * (1.0 - u / 2.0)
        return (1.0 - s) * self._near(own, x) + s * x, (1.0 - s) * (1.0 - u) * v_0 + s * v

    def _near(self, x: np.ndarray, other: np.ndarray) -> np.ndarray:
        """The same coordinates, quaternions with the sign that is nearer to others."""
        if not self._is_floating:
            return x
        flips = np.where((x[-4:] * other[-4:]).sum(axis=0) < 0.0, -1.0, 1.0)
        return np.concatenate([x[:-4], flips * x[-4:]])

    def _coordinates(self) -> np.ndarray:
        """Of all environments, shape (N, E)."""
        x = self._member.array("joint_position").numpy().astype(float)
        if not self._is_floating:
            return x
        pose = self._member.array("root_pose").numpy()[0].astype(float)
        pose[:3] += self._origin[:, None]
        return np.concatenate([x, pose])

    def _velocities(self) -> np.ndarray:
        v = self._member.array("joint_velocity").numpy().astype(float)
        return np.concatenate([v, self._member.array("root_velocity").numpy()[0]]) if self._is_floating else v

    def _write(self, x: np.ndarray, v: np.ndarray) -> None:
        count = self._dofs
        rows = {"joint_position": x[:count], "joint_velocity": v[:count]}
        if self._is_floating:
            pose = x[count:].copy()
            pose[:3] -= self._origin[:, None]
            pose[3:] /= np.linalg.norm(pose[3:], axis=0)
            rows |= {"root_pose": pose[None], "root_velocity": v[None, count:]}
        for name, values in rows.items():
            array = self._member.array(name)
            if array.size:
                array.assign(np.ascontiguousarray(np.broadcast_to(values, array.shape)))
