"""Problems with known answers: pendulums, oscillators, flights, the heavy top."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipj, ellipk

from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link

# ---------------------------------------------------------------------------------------------------------------------
# The heavy top of the multibody literature: pinned at the origin, centre of mass 1 m away, fast spin about that line.
# ---------------------------------------------------------------------------------------------------------------------

HEAVY_TOP_ANGULAR_VELOCITY = (0.0, 150.0, -4.61538)
"""At the start [rad/s]; body and world axes agree there."""
HEAVY_TOP_GRAVITY = (0.0, 0.0, -9.81)
HEAVY_TOP_ENERGY = 5435.69679086555
"""Kinetic and potential, zero height at the pin [J]."""
HEAVY_TOP_QUATERNION = {
    0.1: (0.17733806, 0.91497516, -0.14582601, 0.33182291),
    0.2: (0.43878109, 0.5457284, 0.08939975, -0.70827915),
    1.0: (-0.27828572, 0.53182461, -0.32017614, 0.73294398),
}
"""R_WL as a quaternion xyzw, to eight digits, by time [s]."""


def heavy_top() -> Articulation:
    """The heavy top, started upright along +Y: R_WL = 1."""
    path = "/World/top/pin"
    link = Link(
        path="/World/top/body",
        mass=15.0,
        center_of_mass=(0.0, 1.0, 0.0),
        inertia=(0.234375, 0.0, 0.0, 0.46875, 0.0, 0.234375),
    )
    dofs = tuple(
        Dof(name=f"{path}:{axis.value}", axis=axis, velocity=velocity)
        for axis, velocity in zip((Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z), HEAVY_TOP_ANGULAR_VELOCITY)
    )
    pin = Joint(path=path, parent=WORLD, child=0, dofs=dofs)
    return Articulation(path="/World/top", links=(link,), joints=(pin,))


def heavy_top_start() -> State:
    """The state the heavy top starts from."""
    return State(joint_position=np.zeros(3), joint_velocity=np.array(HEAVY_TOP_ANGULAR_VELOCITY))


# ---------------------------------------------------------------------------------------------------------------------
# Pendulums
# ---------------------------------------------------------------------------------------------------------------------


def pendulum_period(amplitude: float, length: float, gravity: float = 9.81) -> float:
    """Period [s] of a swing from rest at `amplitude` [rad] from hanging; `length` is I / (m d), of the axis [m]."""
    return 4.0 * np.sqrt(length / gravity) * ellipk(np.sin(0.5 * amplitude) ** 2)


def pendulum_angle(time, amplitude: float, length: float, gravity: float = 9.81) -> tuple[np.ndarray, np.ndarray]:
    """Angle from hanging [rad] and its rate [rad/s] at times [s] after rest at `amplitude`.

    sin(angle / 2) = k cd(w t) with k = sin(amplitude / 2), w^2 = g / length.
    """
    k, w = np.sin(0.5 * amplitude), np.sqrt(gravity / length)
    sn, cn, dn, _ = ellipj(w * np.asarray(time, float), k * k)
    half_sine = k * cn / dn
    half_rate = -k * w * (1.0 - k * k) * sn / dn**2
    return 2.0 * np.arcsin(half_sine), 2.0 * half_rate / np.sqrt(1.0 - half_sine**2)


def double_pendulum_acceleration(q, v, masses=(1.0, 1.0), lengths=(1.0, 1.0), gravity: float = 9.81) -> np.ndarray:
    """Joint accelerations (2) [rad/s^2] of two point masses; q (2) from hanging, the second relative to the first.

    In absolute angles a, b with d = a - b:
        (m1 + m2) l1 a'' + m2 l2 b'' cos d + m2 l2 b'^2 sin d + (m1 + m2) g sin a = 0
        l2 b'' + l1 a'' cos d - l1 a'^2 sin d + g sin b = 0
    """
    (m1, m2), (l1, l2) = masses, lengths
    a, b = q[0], q[0] + q[1]
    a_rate, b_rate = v[0], v[0] + v[1]
    c, s = np.cos(a - b), np.sin(a - b)
    matrix = np.array([[(m1 + m2) * l1, m2 * l2 * c], [l1 * c, l2]])
    right = -np.array(
        [m2 * l2 * b_rate**2 * s + (m1 + m2) * gravity * np.sin(a), -l1 * a_rate**2 * s + gravity * np.sin(b)]
    )
    a_second, b_second = np.linalg.solve(matrix, right)
    return np.array([a_second, b_second - a_second])


# ---------------------------------------------------------------------------------------------------------------------
# One dof
# ---------------------------------------------------------------------------------------------------------------------


def oscillator(time, x0: float, v0: float, mass: float, stiffness: float, damping: float, force: float = 0.0):
    """Position and velocity of m x'' + d x' + k x = f at times [s]; two arrays of the shape of `time`."""
    time = np.asarray(time, float)
    if stiffness == 0.0 or damping**2 == 4.0 * stiffness * mass:
        raise ValueError("needs two distinct roots and a spring")
    offset = force / stiffness
    root = np.sqrt(complex(damping**2 - 4.0 * stiffness * mass))
    fast, slow = (-damping - root) / (2.0 * mass), (-damping + root) / (2.0 * mass)
    weight = (v0 - slow * (x0 - offset)) / (fast - slow)
    other = x0 - offset - weight
    parts = weight * np.exp(fast * time), other * np.exp(slow * time)
    return offset + (parts[0] + parts[1]).real, (fast * parts[0] + slow * parts[1]).real


def backward_euler_step(
    x: float, v: float, dt: float, inertia: float, stiffness: float, damping: float, target=0.0, velocity_target=0.0
) -> tuple[float, float]:
    """Position and velocity after one implicit step of a drive on a constant inertia.

    I (v+ - v) / h = k (target - x - h v+) + d (velocity_target - v+),  x+ = x + h v+
    """
    drive = stiffness * (target - x) + damping * velocity_target
    v_next = (inertia * v + dt * drive) / (inertia + dt * damping + dt * dt * stiffness)
    return x + dt * v_next, v_next


def flight(time, position, velocity, gravity=(0.0, 0.0, -9.81)) -> np.ndarray:
    """Centre of mass [m] in free flight at times [s], shape (T, 3)."""
    time = np.asarray(time, float)[:, None]
    return np.asarray(position) + time * np.asarray(velocity) + 0.5 * time**2 * np.asarray(gravity)
