"""The velocity that limits on speeds leave, as two independent statements about the least distance in terms of M:

    min (v - v_free)^T M (v - v_free) / 2   with   |J_i v + b_i| <= l_i,   C v <= c
once by the conditions that its only solution satisfies, once by SciPy's sequential least squares.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize, nnls


def unexplained(M, v_free, v, J, b, limits, C=(), c=(), known=1e-7) -> float:
    """The part of M (v_free - v) that no forces against limits that are reached, and stops, make up.

    J: shape (K, 3, N); b: (K, 3); limits: (K).  C: (S, N).  It is zero at the solution, and only there.
    """
    pushes = []
    for J_i, b_i, limit in zip(J, b, limits):
        y = J_i @ v + b_i
        speed = np.linalg.norm(y)
        assert speed <= limit + known * (1.0 + limit)
        if speed >= limit - known * (1.0 + limit):
            pushes.append(J_i.T @ y / max(speed, 1e-300))
    for row, most in zip(C, c):
        assert row @ v <= most + known
        if row @ v >= most - known:
            pushes.append(row)
    L = np.linalg.cholesky(M)
    wanted = np.linalg.solve(L, M @ (v_free - v))
    scale = np.linalg.norm(np.linalg.solve(L, M @ v_free))
    if not pushes:
        return np.linalg.norm(wanted) / scale
    _, rest = nnls(np.linalg.solve(L, np.array(pushes).T), wanted, maxiter=10000)
    return rest / scale


def nearest(M, v_free, J, b, limits) -> np.ndarray:
    """The solution without stops, by SciPy."""
    L = np.linalg.cholesky(M)
    x_free = L.T @ v_free
    B = np.array([np.linalg.solve(L, J_i.T).T for J_i in J])

    def room(x):
        return limits**2 - ((B @ x + b) ** 2).sum(-1)

    def slope(x):
        return -2.0 * np.einsum("ki,kij->kj", B @ x + b, B)

    scale = 1.0 / max(x_free @ x_free, 1.0)
    found = minimize(
        lambda x: 0.5 * scale * ((x - x_free) ** 2).sum(),
        np.zeros(len(x_free)),
        jac=lambda x: scale * (x - x_free),
        constraints={"type": "ineq", "fun": room, "jac": slope},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-16},
    )
    return np.linalg.solve(L.T, found.x)
