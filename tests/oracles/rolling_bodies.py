"""Bodies with joints of which balls roll on the plane z = 0 without slip, in float64 and maximal coordinates.

With v and w of each body in world axes, forces f and gyroscopic torques, and J of joints, mimic joints and contacts:
    M dv/dt = f + J^T z,   J dv/dt = - dJ/dt v,   z of least norm where J is redundant
A ball of the radius R that rolls has  v + w x (0, 0, -R) = 0.  dJ/dt v is a central difference along v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from tests.contact_stages import Solid
from tests.oracles.rotations import cross

G = 9.81
SPAN = 1e-6
"""Of the central difference [s]."""


@dataclass(frozen=True, kw_only=True)
class Joint:
    """Between two bodies that are not turned at the start."""

    kind: str
    """`Revolute`, `Prismatic` or `Spherical`."""
    bodies: tuple[int, int]
    anchor: tuple[float, float, float]
    """At the start, in the world [m]."""
    axis: int = 1
    """X, Y or Z."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A spring between two points of two bodies that pulls where it is longer than at rest."""

    bodies: tuple[int, int]
    points: tuple[tuple[float, float, float], tuple[float, float, float]]
    """At the start, in the world [m]."""
    stiffness: float
    rest: float
    """[m]"""


@dataclass(frozen=True, kw_only=True)
class RollingBodies:
    """What rolls, and what is joined to it."""

    bodies: Sequence[Solid]
    rolling: Sequence[int] = (0,)
    """The balls that do."""
    joints: Sequence[Joint] = ()
    equal: Sequence[tuple[int, int, float]] = ()
    """Joints a and b, and a gear g:  q_a + g q_b = 0."""
    efforts: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    """Of the joints, from their coordinates and velocities; a spherical joint has none, and zero here."""
    lines: Sequence[Line] = ()

    def places(self, time: np.ndarray) -> np.ndarray:
        """Of the centres [m], shape (times, bodies, 3)."""
        return self._solved(time)[:, :, :3]

    def turning(self, time: np.ndarray) -> np.ndarray:
        """Angular velocities in the world [rad/s], shape (times, bodies, 3)."""
        return self._solved(time)[:, :, 10:]

    @cached_property
    def _known(self) -> dict[bytes, np.ndarray]:
        """What has been solved, by times."""
        return {}

    def _solved(self, time: np.ndarray) -> np.ndarray:
        if (known := self._known.get(time.tobytes())) is not None:
            return known
        start = np.array([[*one.position, *one.quaternion, *one.velocity, *one.turning] for one in self.bodies])
        # Central differences leave 1e-9 of rates: below that an order of eight takes many steps for nothing.
        options = {"t_eval": time, "rtol": 1e-8, "atol": 1e-9, "method": "DOP853"}
        found = solve_ivp(self._rates, (0.0, time[-1]), start.ravel(), **options)
        return self._known.setdefault(time.tobytes(), found.y.T.reshape(len(time), len(self.bodies), 13))

    def contact_forces(self, time: np.ndarray) -> np.ndarray:
        """On the balls that roll, in the world [N], shape (times, rolling, 3)."""
        count = len(self.rolling)
        return np.array([self._dynamics(one)[1][: 3 * count].reshape(count, 3) for one in self._solved(time)])

    def _rates(self, _time: float, flat: np.ndarray) -> np.ndarray:
        state = flat.reshape(-1, 13)
        q, v, w = state[:, 3:7], state[:, 7:10], state[:, 10:]
        xyz, scalar = q[:, :3], q[:, 3:]
        turn = 0.5 * np.column_stack([scalar * w + np.cross(w, xyz), -(w * xyz).sum(axis=1)])
        return np.column_stack([v, turn, self._dynamics(state)[0]]).ravel()

    def _dynamics(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, shape (bodies, 6), and z."""
        p, q, v = state[:, :3], state[:, 3:7], state[:, 7:]
        R = Rotation.from_quat(q).as_matrix()
        masses, inertias = (np.array([getattr(one, name) for one in self.bodies]) for name in ("mass", "inertia"))
        I_W = R @ (inertias[:, :, None] * np.swapaxes(R, 1, 2))
        M = np.zeros((6 * len(p), 6 * len(p)))
        f = np.zeros((len(p), 6))
        for k, w in enumerate(v[:, 3:]):
            M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = masses[k] * np.eye(3)
            M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = I_W[k]
            f[k, 2] = -masses[k] * G
            f[k, 3:] = -cross(w, I_W[k] @ w)
        f = f.ravel()
        for line in self.lines:
            f = f + self._pull(line, p, R)
        if self.efforts:
            S = self._coordinate_gradients(p, R)
            f = f + S.T @ self.efforts(self._coordinates(p, R), S @ v.ravel())
        J = self._gradient(p, R)
        ahead, behind = (self._gradient(*moved(p, R, v, sign * SPAN)) for sign in (1.0, -1.0))
        bias = (ahead - behind) @ v.ravel() / (2.0 * SPAN)
        free = np.linalg.solve(M, f)
        response = np.linalg.solve(M, J.T)
        z = np.linalg.lstsq(J @ response, -bias - J @ free, rcond=1e-10)[0]
        return (free + response @ z).reshape(-1, 6), z

    def _arms(self, joint: Joint, R: np.ndarray) -> list[np.ndarray]:
        """From the centres of both bodies to the anchor on each, in the world."""
        return [R[k] @ (np.array(joint.anchor) - self.bodies[k].position) for k in joint.bodies]

    def _row(self, bodies, linear, angular) -> np.ndarray:
        row = np.zeros((len(self.bodies), 6))
        for k, d, t in zip(bodies, linear, angular, strict=True):
            row[k, :3] += d
            row[k, 3:] += t
        return row.ravel()

    def _point_row(self, joint: Joint, p, R, direction: np.ndarray) -> np.ndarray:
        """Of the velocity of the anchor of the second body against the point of the first that is there."""
        first, second = joint.bodies
        arm = self._arms(joint, R)[1]
        beside = p[second] + arm - p[first]
        angular = (-cross(beside, direction), cross(arm, direction))
        return self._row(joint.bodies, (-direction, direction), angular)

    def _gradient(self, p: np.ndarray, R: np.ndarray) -> np.ndarray:
        rows = []
        for k in self.rolling:
            down = np.array([0.0, 0.0, -self.bodies[k].size[0]])
            rows += [self._row([k], [d], [cross(down, d)]) for d in np.eye(3)]
        for joint in self.joints:
            axes = R[joint.bodies[0]].T
            others = [axes[k] for k in range(3) if k != joint.axis]
            held = others if joint.kind == "Prismatic" else list(np.eye(3))
            rows += [self._point_row(joint, p, R, d) for d in held]
            turns = {"Spherical": [], "Revolute": others, "Prismatic": list(np.eye(3))}[joint.kind]
            rows += [self._row(joint.bodies, [0.0 * d, 0.0 * d], [-d, d]) for d in turns]
        S = self._coordinate_gradients(p, R)
        rows += [S[a] + g * S[b] for a, b, g in self.equal]
        return np.array(rows)

    def _coordinate_gradients(self, p, R) -> np.ndarray:
        """Of the coordinates of all joints, a row each."""
        rows = []
        for joint in self.joints:
            d = R[joint.bodies[0]][:, joint.axis]
            if joint.kind == "Prismatic":
                rows.append(self._point_row(joint, p, R, d))
            else:
                rows.append(self._row(joint.bodies, [0.0 * d, 0.0 * d], [-d, d]) * (joint.kind == "Revolute"))
        return np.array(rows)

    def _coordinates(self, p, R) -> np.ndarray:
        values = []
        for joint in self.joints:
            first, second = joint.bodies
            if joint.kind == "Prismatic":
                arms = self._arms(joint, R)
                values.append((p[second] + arms[1] - p[first] - arms[0]) @ R[first][:, joint.axis])
            else:
                turn = Rotation.from_matrix(R[first].T @ R[second]).as_rotvec()
                values.append(turn[joint.axis] * (joint.kind == "Revolute"))
        return np.array(values)

    def _pull(self, line: Line, p, R) -> np.ndarray:
        arms = [R[k] @ (np.array(x) - self.bodies[k].position) for k, x in zip(line.bodies, line.points, strict=True)]
        ends = [p[k] + arm for k, arm in zip(line.bodies, arms, strict=True)]
        way = ends[1] - ends[0]
        size = np.linalg.norm(way)
        F = way / size * line.stiffness * max(size - line.rest, 0.0)
        return self._row(line.bodies, (F, -F), (cross(arms[0], F), -cross(arms[1], F)))


def moved(p: np.ndarray, R: np.ndarray, v: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Places and attitudes after a time with constant velocities."""
    return p + time * v[:, :3], Rotation.from_rotvec(time * v[:, 3:]).as_matrix() @ R
