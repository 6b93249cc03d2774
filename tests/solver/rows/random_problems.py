"""Random row problems of every kind, and slow and obvious solutions of them."""

from dataclasses import replace
from itertools import product

import numpy as np

from tests.solver.rows.problems import Problems


def random_problems(seed, count, rows, dofs, ratio=1.0, **kinds) -> Problems:
    """Problems with masses between 1 / ratio and 1; `kinds` are those of `with_bounds` and the shares below.

    redundant: every row after the first two is, by this chance, a sum of rows before it; compliant: rows by this chance
    have compliance; nonsymmetric: the size of P - J^T.
    """
    rng = np.random.default_rng(seed)
    shape = count, rows
    J = rng.normal(size=(count, rows, dofs))
    D = ratio ** -rng.random((count, dofs))
    redundant = kinds.pop("redundant", 0.0)
    compliant = kinds.pop("compliant", 0.0)
    nonsymmetric = kinds.pop("nonsymmetric", 0.0)
    for a in range(2, rows):
        mix = rng.integers(-2, 3, size=(count, a)) * (rng.random((count, 1)) < redundant)
        depends = np.abs(mix).max(axis=1) > 0
        J[:, a] = np.where(depends[:, None], np.einsum("kb,kbn->kn", mix, J[:, :a]), J[:, a])
        J[:, a][np.abs(J[:, a]).max(axis=1) < 1e-9] = 0.0
    compliance = np.where(rng.random(shape) < compliant, 10.0 ** rng.uniform(-3, 1, shape), 0.0)
    P = None
    if nonsymmetric:
        P = np.swapaxes(J, 1, 2) + nonsymmetric * rng.normal(size=(count, dofs, rows))
    problems = Problems(
        J=J, D=D, v_free=rng.normal(size=(count, dofs)), compliance=compliance, P=P, lower=np.zeros(shape),
        upper=np.zeros(shape), hold=np.full(shape, np.inf), slide=np.full(shape, np.inf),
    )  # fmt: skip
    return with_bounds(problems, rng, **kinds)


def nearly_at_rest(seed, count, dofs, stops, ratio) -> Problems:
    """Every dof has dry friction, and stops push on up to three of them each, against loads that these hold at rest.

    Where friction sticks beside a stop, their rows depend on each other, and differ in their targets by rounding.
    """
    rng = np.random.default_rng(seed)
    rows = dofs + stops
    reach = np.abs(np.arange(dofs)[:, None] - np.arange(dofs))
    coupling = rng.normal(size=(count, dofs, dofs)) * 0.7**reach + np.eye(dofs)
    D = ratio ** -rng.random((count, dofs))
    own = np.zeros((count, rows, dofs))
    own[:, :dofs] = np.eye(dofs)
    for k in range(stops):
        first = 3 * rng.integers(0, dofs // 3)
        own[:, dofs + k, first : first + 3] = rng.normal(size=(count, 3))
    J = own @ coupling
    held = rng.normal(size=(count, dofs)) * 0.3 * (rng.random((count, dofs)) < 0.8)
    z = np.concatenate([held, -rng.exponential(size=(count, stops)) * 3.0], axis=1)
    lower, upper, hold = np.zeros((count, rows)), np.zeros((count, rows)), np.full((count, rows), np.inf)
    lower[:, dofs:] = -np.inf
    upper[:, dofs:] = -1e-8 * rng.random((count, stops))
    hold[:, :dofs] = 0.3 * rng.uniform(0.5, 2.0, size=(count, dofs))
    return Problems(
        J=J, D=D, v_free=-np.einsum("kmn,km->kn", J, z) / D, compliance=np.zeros((count, rows)), lower=lower,
        upper=upper, hold=hold, slide=hold,
    )  # fmt: skip


def with_bounds(problems, rng, bounded=0.0, stops=0.0, two_sided=0.0, consistent=True) -> Problems:
    """Rows are bounded (a box of impulses) or stops by these chances, or stops with two ends; others are equalities.

    `consistent`: there is a velocity that all rows allow.
    """
    shape = problems.lower.shape
    kind = rng.random(shape)
    target = rng.normal(size=shape)
    slack = np.zeros(shape)
    if consistent:
        target = np.einsum("kmn,kn->km", problems.J, rng.normal(size=problems.v_free.shape))
        slack = rng.exponential(size=shape) * (rng.random(shape) < 0.7)
    lower, upper = target.copy(), target.copy()
    is_stop = kind < stops
    lower[is_stop], upper[is_stop] = -np.inf, np.inf
    up = rng.random(shape) < 0.5
    lower = np.where(is_stop & up, target - slack, lower)
    upper = np.where(is_stop & ~up, target + slack, upper)
    both = is_stop & (rng.random(shape) < two_sided)
    lower, upper = np.where(both, target - slack, lower), np.where(both, target + rng.exponential(size=shape), upper)
    is_bounded = (kind >= stops) & (kind < stops + bounded)
    size = np.exp(rng.normal(size=shape)) / np.maximum(np.einsum("kaa->ka", problems.delassus), 1e-3)
    hold = np.where(is_bounded, np.abs(size), np.inf)
    return replace(problems, lower=lower, upper=upper, hold=hold, slide=hold)


def enumerated(problems: Problems, tolerance=1e-7):
    """Of each problem an answer by trying all working sets (K, m), and how many different answers were found.

    A working set says of each row whether it is at its lower end, its upper end, at no impulse or at a bound.
    """
    K, m, _ = problems.J.shape
    G, y_free = problems.delassus, problems.y_free
    answers = np.full((K, m), np.nan)
    found = np.zeros(K, int)
    best = np.full(K, np.inf)
    scale = np.abs(y_free) + np.abs(np.where(np.isfinite(problems.lower), problems.lower, 0.0))
    scale = 1.0 + scale.max(axis=1, keepdims=True)
    equal = problems.lower == problems.upper
    for status in product((-2, -1, 0, 1, 2), repeat=m):
        status = np.array(status)
        # -1 and 1: held at the lower and the upper end; -2 and 2: at the bounds of the impulse; 0: no impulse.
        held = np.abs(status) == 1
        possible = ~(equal & ((status == 0) | (status == 1))).any(axis=1)
        possible &= np.isfinite(np.where(status == -1, problems.lower, 0.0)).all(axis=1)
        possible &= np.isfinite(np.where(status == 1, problems.upper, 0.0)).all(axis=1)
        possible &= np.isfinite(np.where(np.abs(status) == 2, problems.hold, 0.0)).all(axis=1)
        possible &= ~((np.abs(status) == 2) & (problems.hold == 0)).any(axis=1)
        which = np.flatnonzero(possible)
        if not which.size:
            continue
        z = np.sign(status) * np.where(np.abs(status) == 2, problems.hold[which], 0.0)
        if held.any():
            target = np.where(status == -1, problems.lower[which], problems.upper[which])[:, held]
            own = G[which][:, held]
            rhs = target - y_free[which][:, held] - np.einsum("kab,kb->ka", own, z)
            pinv = np.linalg.pinv(own[:, :, held], rcond=1e-11)
            z[:, held] = np.einsum("kab,kb->ka", pinv, rhs)
        s = y_free[which] + np.einsum("kab,kb->ka", G[which], z)
        low, high, bound = problems.lower[which], problems.upper[which], problems.hold[which]
        known = tolerance * scale[which]
        wrong = np.where(np.abs(z) > bound * (1 + tolerance), np.inf, 0.0)
        below, above = np.maximum(low - s, 0.0), np.maximum(s - high, 0.0)
        free = ~equal[which]
        wrong = np.maximum(wrong, np.where(held, np.abs(s - np.where(status == -1, low, high)), 0.0))
        wrong = np.maximum(wrong, np.where(held & free & (status == -1), np.maximum(-z, 0.0), 0.0))
        wrong = np.maximum(wrong, np.where(held & free & (status == 1), np.maximum(z, 0.0), 0.0))
        wrong = np.maximum(wrong, np.where(status == 0, np.maximum(below, above), 0.0))
        wrong = np.maximum(wrong, np.where(status == 2, np.maximum(s - low, 0.0), 0.0))
        wrong = np.maximum(wrong, np.where(status == -2, np.maximum(high - s, 0.0), 0.0))
        fits = (wrong <= known).all(axis=1)
        error = wrong.max(axis=1)
        for k in np.flatnonzero(fits):
            place = which[k]
            other = found[place] == 0 or np.abs(G[place] @ (answers[place] - z[k])).max() > 1e-4
            found[place] += other
            if error[k] < best[place]:
                best[place], answers[place] = error[k], z[k]
    return answers, found


def lemke(G: np.ndarray, q: np.ndarray) -> np.ndarray | None:
    """z >= 0 with G z + q >= 0 and z (G z + q) = 0 (Lemke's complementary pivoting), or None on a ray."""
    m = len(q)
    if (q >= 0).all():
        return np.zeros(m)
    table = np.hstack([np.eye(m), -G, -np.ones((m, 1)), q[:, None]])
    basis = list(range(m))
    row, enters = int(np.argmin(q)), 2 * m
    for _ in range(200 * m):
        leaves = basis[row]
        table[row] /= table[row, enters]
        others = np.arange(m) != row
        table[others] -= np.outer(table[others, enters], table[row])
        basis[row] = enters
        if leaves == 2 * m:
            z = np.zeros(2 * m + 1)
            z[basis] = table[:, -1]
            return z[m : 2 * m]
        enters = leaves + m if leaves < m else leaves - m
        usable = table[:, enters] > 1e-12
        if not usable.any():
            return None
        ratios = np.where(usable, table[:, -1] / np.where(usable, table[:, enters], 1.0), np.inf)
        least = np.flatnonzero(ratios <= ratios.min() * (1 + 1e-12) + 1e-300)
        row = int(next((k for k in least if basis[k] == 2 * m), least[0]))
    return None
