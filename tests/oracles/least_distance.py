"""One semi-implicit step of an articulation with drives, tendons, hard mimic joints and stops, in double precision.

The new velocity is the one nearest to the free one that the stops and mimic joints allow (Gauss):
    min (v - v_free)^T A (v - v_free) / 2   with   E v = e,   lower <= q + h v <= upper
    A = M + h sum (d + h k) c c^T,   A v_free = M v + h (sum k (rest - L) c - C - g)
over the springs and dampers (k, d) on lengths L = c q of drives and tendons, all at the end of the step. A mimic joint
takes back nine tenths of its error, a stop that is passed a fifth. The stops are solved as a least distance problem by
nonnegative least squares (Lawson and Hanson, Solving Least Squares Problems, chapter 23).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space, solve_triangular
from scipy.optimize import nnls

from tests.oracles import rigid
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation


def stepped(tree: Articulation, q: np.ndarray, v: np.ndarray, h: float, gravity) -> tuple[np.ndarray, np.ndarray]:
    """q and v, shapes (D), after a step of h [s] of a tree of revolute and prismatic joints on a fixed base."""
    placed = rigid.motion(tree, State(joint_position=q, joint_velocity=v, root_pose=None, root_velocity=None))
    A = rigid.mass_matrix(placed)
    right = A @ v - h * (rigid.coriolis_effort(placed) + rigid.gravity_effort(placed, gravity))
    for k, d, rest, c in springs(tree):
        A = A + h * (d + h * k) * np.outer(c, c)
        right = right + h * k * (rest - c @ q) * c
    E, e = mimic_rates(tree, q, h)
    lower, upper = stop_rates(tree, q, h)
    after = nearest(A, np.linalg.solve(A, right), E, e, lower, upper)
    return q + h * after, after


def springs(tree: Articulation):
    """Stiffness, damping, rest length and coefficients (D) of each drive and each fixed tendon."""
    for index, drive in enumerate(dof.drive for dof in tree.dofs):
        if drive is not None:
            yield drive.stiffness, drive.damping, drive.position_target, np.eye(len(tree.dofs))[index]
    for tendon in tree.fixed_tendons:
        c = np.zeros(len(tree.dofs))
        c[list(tendon.dofs)] = tendon.coefficients
        yield tendon.stiffness, tendon.damping, tendon.rest_length - tendon.offset, c


def mimic_rates(tree: Articulation, q: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """E (mimics, D) and e of the hard mimic joints."""
    E = np.zeros((len(tree.mimics), len(tree.dofs)))
    for row, mimic in zip(E, tree.mimics):
        row[list(mimic.dofs)] = mimic.gears
    return E, -0.9 / h * (E @ q + [mimic.offset for mimic in tree.mimics])


def stop_rates(tree: Articulation, q: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest velocity that the stops of each dof allow, shapes (D)."""
    below = np.array([dof.limit.lower if dof.limit else -np.inf for dof in tree.dofs]) - q
    above = np.array([dof.limit.upper if dof.limit else np.inf for dof in tree.dofs]) - q
    return np.where(below > 0.0, 0.2, 1.0) * below / h, np.where(above < 0.0, 0.2, 1.0) * above / h


def nearest(A, free, E, e, lower, upper) -> np.ndarray:
    """The velocity nearest to `free` in the metric A with E v = e and lower <= v <= upper."""
    N = null_space(E) if len(E) else np.eye(len(free))
    base = np.linalg.lstsq(E, e, rcond=None)[0] if len(E) else np.zeros(len(free))
    # v = base + N y, and w = L^T (y - y_free) has the unit metric.
    L = np.linalg.cholesky(N.T @ A @ N)
    y_free = np.linalg.solve(N.T @ A @ N, N.T @ A @ (free - base))
    rows = np.vstack([N[np.isfinite(lower)], -N[np.isfinite(upper)]])
    ends = np.concatenate([(lower - base)[np.isfinite(lower)], (base - upper)[np.isfinite(upper)]])
    y = y_free
    if len(rows):
        C = solve_triangular(L, rows.T, lower=True).T
        d = ends - rows @ y_free
        scale = max(np.abs(d).max(), 1e-300)
        y = y_free + scale * solve_triangular(L, least_distance(C, d / scale), lower=True, trans=1)
    return base + N @ y


def least_distance(C: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The shortest w with C w >= d."""
    E = np.vstack([C.T, d])
    target = np.zeros(len(E))
    target[-1] = 1.0
    u, _ = nnls(E, target, maxiter=100 * len(d))
    residual = E @ u - target
    return -residual[:-1] / residual[-1]
