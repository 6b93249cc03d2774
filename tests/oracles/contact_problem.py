"""Frictional contacts in one step: the problem, how far impulses are from Coulomb's law, and a solver by proximal ADMM.

    v+ = v_free + M^-1 J^T z,   y = J v+,   u = y + R (z - z_before) - b n
    0 <= u_n,  z_n >= 0,  one of them with equality
    |z_t| <= mu z_n,  and where u_t is not zero  z_t = - mu z_n u_t / |u_t|
Rows of a contact: along its normal n, then along its two tangents. R = 0 is the rigid law. With w = u + mu |u_t| n, the
shift of De Saxce, the law says that z is in the cone |z_t| <= mu z_n, w in its dual, and z w = 0: so that
    z = project(z - w / s)   onto the cone, for any s > 0,
and by how much it is not so measures what is wrong with z.

The solver splits z into x, which has the velocities, and y in the cone, with the multiplier w and the penalty rho:
    x <- (G + R + (eta + rho) 1)^-1 (w + eta x + rho y - u_free - mu |w_t| n)
    y <- project(x - w / rho),   w <- w + rho (y - x)
All y obey the cone; at the end w is u with its shift.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np


@dataclass(frozen=True, kw_only=True)
class ContactProblem:
    """N velocities and C contacts."""

    mass: np.ndarray
    """M, shape (N, N)."""
    jacobian: np.ndarray
    """J, shape (3 C, N)."""
    free_velocity: np.ndarray
    """Velocities at the end of the step without contacts, shape (N)."""
    target: np.ndarray
    """b, least velocity along each normal, shape (C) [m/s]."""
    friction: np.ndarray
    """mu, shape (C)."""
    compliance: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """R, shape (3 C) [m/s by N s]; without rows that of rigid contacts."""
    impulse_before: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """z_before, shape (3 C) [N s]; without rows zero."""

    @property
    def count(self) -> int:
        """How many contacts there are."""
        return len(self.target)

    @cached_property
    def response(self) -> np.ndarray:
        """M^-1 J^T, shape (N, 3 C)."""
        return np.linalg.solve(self.mass, self.jacobian.T)

    @cached_property
    def matrix(self) -> np.ndarray:
        """G = J M^-1 J^T, shape (3 C, 3 C)."""
        return self.jacobian @ self.response

    @cached_property
    def scale(self) -> np.ndarray:
        """Mean diagonal of the block of each contact in G, shape (C)."""
        return np.diag(self.matrix).reshape(-1, 3).mean(axis=1)

    @property
    def softness(self) -> np.ndarray:
        """R, shape (3 C)."""
        return self.compliance if len(self.compliance) else np.zeros(3 * self.count)

    @cached_property
    def free_slip(self) -> np.ndarray:
        """u of z = 0, shape (3 C)."""
        u = self.jacobian @ self.free_velocity
        u[::3] -= self.target
        return u - self.softness * self.impulse_before if len(self.impulse_before) else u

    @cached_property
    def speed(self) -> float:
        """Largest speed of a contact without impulses [m/s]."""
        return float(np.linalg.norm((self.jacobian @ self.free_velocity).reshape(-1, 3), axis=1).max(initial=0.0))

    def velocity(self, z: np.ndarray) -> np.ndarray:
        """v+ under impulses z, shape (N)."""
        return self.free_velocity + self.response @ z

    def slip(self, z: np.ndarray) -> np.ndarray:
        """u under impulses z, a row each contact, shape (C, 3)."""
        return (self.free_slip + self.matrix @ z + self.softness * z).reshape(-1, 3)

    def softened(self, normal: float, tangent: float, impulse_before=None) -> ContactProblem:
        """The problem with R these shares of the response of each contact alone: normal, and mean of the tangents."""
        own = np.diag(self.matrix).reshape(-1, 3)
        across = tangent * 0.5 * (own[:, 1] + own[:, 2])
        R = np.stack([normal * own[:, 0], across, across], axis=1).ravel()
        before = np.zeros(0) if impulse_before is None else impulse_before
        return replace(self, compliance=R, impulse_before=before)


def project(x: np.ndarray, friction: np.ndarray) -> np.ndarray:
    """The points of the cones |z_t| <= mu z_n nearest to the rows of x, shape (C, 3)."""
    normal, across = x[:, 0], np.hypot(x[:, 1], x[:, 2])
    on_cone = np.maximum((normal + friction * across) / (1.0 + friction**2), 0.0)
    ratio = friction * on_cone / np.where(across > 1e-200, across, 1.0)
    outside = np.stack([on_cone, ratio * x[:, 1], ratio * x[:, 2]], axis=1)
    inside = (across <= friction * normal) & (normal >= 0.0)
    return np.where(inside[:, None], x, outside)


def shifted(u: np.ndarray, friction: np.ndarray) -> np.ndarray:
    """w = u + mu |u_t| n of rows u, shape (C, 3)."""
    w = u.copy()
    w[:, 0] += friction * np.hypot(u[:, 1], u[:, 2])
    return w


def errors(problem: ContactProblem, z: np.ndarray) -> np.ndarray:
    """By how much impulses miss the law, as a velocity of each contact, shape (C) [m/s]."""
    s = problem.scale[:, None]
    rows = z.reshape(-1, 3)
    w = shifted(problem.slip(z), problem.friction)
    return np.linalg.norm(s * (rows - project(rows - w / s, problem.friction)), axis=1)


def residual(problem: ContactProblem, z: np.ndarray) -> float:
    """The largest of the errors [m/s]."""
    return float(errors(problem, z).max(initial=0.0))


def solved(problem: ContactProblem, *, tolerance: float = 1e-11, iterations: int = 50000, start=None) -> np.ndarray:
    """Impulses z, shape (3 C), whose residual is at most `tolerance` of the largest free speed.

    Raises ArithmeticError where they are not found.
    """
    mu, size = problem.friction, 3 * problem.count
    enough = tolerance * max(problem.speed, np.abs(problem.target).max(initial=0.0))
    A = problem.matrix + np.diag(problem.softness)
    bounds = np.linalg.eigvalsh(A)
    eta, rho = 1e-6 * bounds[-1], np.sqrt(bounds[-1] * max(bounds[0], 1e-5 * bounds[-1]))
    inverse = np.linalg.inv(A + (eta + rho) * np.eye(size))
    x = np.zeros(size) if start is None else start.copy()
    y, w = x.copy(), np.zeros(size)
    for count in range(1, iterations + 1):
        push = w + eta * x + rho * y - problem.free_slip
        push[::3] -= mu * np.hypot(w[1::3], w[2::3])
        x_next = inverse @ push
        y_next = project((x_next - w / rho).reshape(-1, 3), mu).ravel()
        w = w + rho * (y_next - x_next)
        apart = np.abs(x_next - y_next).max() * problem.scale.mean()
        moved = np.abs(rho * (y_next - y) + eta * (x_next - x)).max()
        x, y = x_next, y_next
        if count % 10:
            continue
        if residual(problem, y) <= enough:
            return y
        if apart > 10.0 * moved or moved > 10.0 * apart:
            rho *= 4.0 if apart > moved else 0.25
            inverse = np.linalg.inv(A + (eta + rho) * np.eye(size))
    raise ArithmeticError(f"{iterations} iterations leave {residual(problem, y):g} m/s, wanted is {enough:g}")
