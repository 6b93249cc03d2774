"""An ellipsoid that rolls on a plane without slip, in float64: a rattleback, where its axes of inertia are turned.

In axes of the body, with n the upward normal, A the semi-axes, r from the centre of mass to the point of contact, and w
the angular velocity:
    r = d - A^2 n / |A n|,   v = - w x r,   dn/dt = - w x n
    I dw/dt + w x I w = r x F,   F = m (dv/dt + w x v + g n)
Source: Kane and Levinson, Realistic mathematical modeling of the rattleback (1982); so are the numbers of STONE.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from tests.oracles.rotations import cross, matrix_from_quaternion

G = 9.81


@dataclass(frozen=True)
class Stone:
    """An ellipsoid with its mass."""

    semi_axes: tuple[float, float, float] = (0.2, 0.03, 0.02)
    """[m]"""
    offset: tuple[float, float, float] = (0.0, 0.0, -0.01)
    """Of the centre of mass from the middle of the ellipsoid [m]."""
    mass: float = 1.0
    inertia: tuple[tuple[float, float, float], ...] = ((2e-4, -2e-5, 0.0), (-2e-5, 1.6e-3, 0.0), (0.0, 0.0, 1.7e-3))
    """About the centre of mass [kg m^2]."""

    def contact(self, n: np.ndarray) -> np.ndarray:
        """r."""
        A = np.array(self.semi_axes)
        return -np.array(self.offset) - A * A * n / np.linalg.norm(A * n)

    def contact_rate(self, n: np.ndarray, n_rate: np.ndarray) -> np.ndarray:
        """dr/dt."""
        A = np.array(self.semi_axes)
        size = np.linalg.norm(A * n)
        size_rate = (A * n) @ (A * n_rate) / size
        return A * A * (n * size_rate / size - n_rate) / size

    def rates(self, _time: float, state: np.ndarray) -> np.ndarray:
        """Of a quaternion xyzw, and of w in axes of the body."""
        x, y, z, scalar = state[:4]
        w, inertia = state[4:], np.array(self.inertia)
        n = matrix_from_quaternion(state[:4])[2]
        n_rate = -cross(w, n)
        r, r_rate = self.contact(n), self.contact_rate(n, n_rate)
        across = cross(r, np.eye(3))  # across @ u = r x u
        known = self.mass * cross(r, G * n - cross(w, r_rate) - cross(w, cross(w, r)))
        w_rate = np.linalg.solve(inertia - self.mass * across @ across, known - cross(w, inertia @ w))
        turn = 0.5 * np.array([*(scalar * w + cross((x, y, z), w)), -np.dot((x, y, z), w)])
        return np.array([*turn, *w_rate])

    def rolled(self, tilt: float, spin: float, time: np.ndarray) -> np.ndarray:
        """Angular velocities in the world [rad/s], shape (times, 3): tilted about its x axis, then spun about z."""
        start = Rotation.from_rotvec([tilt, 0.0, 0.0])
        state = np.array([*start.as_quat(), *start.inv().apply([0.0, 0.0, spin])])
        found = solve_ivp(self.rates, (0.0, time[-1]), state, method="DOP853", t_eval=time, rtol=1e-10, atol=1e-12)
        return Rotation.from_quat(found.y[:4].T).apply(found.y[4:].T)

    def start(self, tilt: float, spin: float) -> tuple[np.ndarray, np.ndarray, Rotation]:
        """Where the middle of the ellipsoid is, the velocity of the centre of mass there, and how it is turned."""
        turned = Rotation.from_rotvec([tilt, 0.0, 0.0])
        r = turned.apply(self.contact(turned.as_matrix()[2]))
        return -r - turned.apply(self.offset), -np.cross([0.0, 0.0, spin], r), turned


STONE = Stone()
