"""Joint limits that support a contact point of an island: they are solved right after it, before the next point.

The limit r that reduces the response G of the point most, with c = J_r Y of the point, leaves it
    G - c c_n / (G_r + C)
as if it were an equality. So a light limb at its limit supports a heavy body; sweeps alone would converge too slowly.
Friction may give way, and supports nothing.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.joint_rows import joint_rows

COUPLED = wp.constant(0.05)
"""Share of the response of a point that a row takes off, from which on it is solved after the point."""


@cache
def supporting_rows(precision: str) -> SimpleNamespace:
    """The functions `solve` and `supported_response`, of the mechanism of one side of a point, -1 where it has none."""
    types = island_types(precision)
    T, V, Mechanisms, Points = types.T, types.V, types.Mechanisms, types.Points
    solve_row = joint_rows(precision).solve_one

    @wp.func
    def coupling(mechanisms: Mechanisms, points: Points, env: int, row: int, term: int):
        """What J v of a row changes by with unit impulses of a point, whose terms of the mechanism begin at `term`."""
        own_terms = env * mechanisms.term_count
        change = V()
        for t in range(mechanisms.row_term[row], mechanisms.row_term[row + 1]):
            change += mechanisms.J[own_terms + t] * points.Y[term + mechanisms.term_dof[t]]
        return change

    @wp.func
    def solve_supporting(mechanisms: Mechanisms, points: Points, point: int, m: int, term: int, part: T):
        """Solve the rows of a mechanism that support a point."""
        if m >= 0:
            env = points.environment[point]
            listed = env * mechanisms.row_count + mechanisms.row_first[m]
            for index in range(mechanisms.supporting_count[env * mechanisms.count + m]):
                row = mechanisms.supporting[listed + index]
                change = coupling(mechanisms, points, env, row, term)[0]
                G = mechanisms.G[env * mechanisms.row_count + row]
                if change * change > T(COUPLED) * G * points.normal[point][0]:
                    solve_row(mechanisms, env, m, row, part)

    @wp.func
    def supported_response(mechanisms: Mechanisms, points: Points, point: int, m: int, term: int):
        """What the row that supports a point most takes off the normal's column of J M^-1 J^T.

        A row holds as an equality where the point presses it against its bound, unless it may give way.
        """
        most = V()
        if m >= 0:
            env = points.environment[point]
            listed = env * mechanisms.row_count + mechanisms.row_first[m]
            for index in range(mechanisms.supporting_count[env * mechanisms.count + m]):
                row = mechanisms.supporting[listed + index]
                k = env * mechanisms.row_count + row
                total = mechanisms.accumulated[k] + mechanisms.impulse[k]
                change = coupling(mechanisms, points, env, row, term)
                gives_way = wp.isfinite(mechanisms.impulse_lower[k]) and wp.isfinite(mechanisms.impulse_upper[k])
                gives_way = gives_way or total * mechanisms.bears[k] < T(0.0)
                if change[0] * total < T(0.0) and not gives_way:
                    supported = change * change[0] / (mechanisms.G[k] + mechanisms.compliance[k])
                    if supported[0] > most[0]:
                        most = supported
        return most

    return SimpleNamespace(solve=solve_supporting, supported_response=supported_response)
