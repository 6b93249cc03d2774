"""Limits of joints (`joint_rows`) that bear what a point of an island pushes: they are solved before the next point.

Of the limits r, the one that takes off most of the response G of the point, with c = J_r Y of the point, leaves it
    G - c c_n / (G_r + C)
as if it were an equality. So a light limb at its limit bears what is heavy; sweeps alone, of which each finds a small
share of what is missing, would take too long. Friction may give way, and is not held.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.joint_rows import joint_rows

COUPLED = wp.constant(0.05)
"""Share of the response of a point that a row which bears it takes off, from which on it is solved after the point."""


@cache
def bearing_rows(precision: str) -> SimpleNamespace:
    """The functions `solve` and `borne_response`, of the mechanism of one side of a point, -1 where it has none."""
    types = island_types(precision)
    T, V, Movers, Points = types.T, types.V, types.Movers, types.Points
    solve_row = joint_rows(precision).solve_one

    @wp.func
    def coupling(movers: Movers, points: Points, env: int, row: int, term: int):
        """What J v of a row changes by with unit impulses of a point, whose terms of the mechanism begin at `term`."""
        own_terms = env * movers.term_count
        change = V()
        for t in range(movers.row_term[row], movers.row_term[row + 1]):
            change += movers.J[own_terms + t] * points.Y[term + movers.term_dof[t]]
        return change

    @wp.func
    def solve_bearing(movers: Movers, points: Points, point: int, m: int, term: int, part: T):
        """Solve the rows of a mechanism that bear something: what a point pushes is held before the next one."""
        if m >= 0:
            env = points.environment[point]
            listed = env * movers.row_count + movers.row_first[m]
            for place in range(movers.bearing_count[env * movers.count + m]):
                row = movers.bearing[listed + place]
                change = coupling(movers, points, env, row, term)[0]
                G = movers.G[env * movers.row_count + row]
                if change * change > T(COUPLED) * G * points.normal[point][0]:
                    solve_row(movers, env, m, row, part)

    @wp.func
    def borne_response(movers: Movers, points: Points, point: int, m: int, term: int):
        """What the row that bears most of what a point pushes takes off J M^-1 J^T, by its column of the normal.

        A row holds as an equality where the point presses it against its bound, unless it may give way.
        """
        most = V()
        if m >= 0:
            env = points.environment[point]
            listed = env * movers.row_count + movers.row_first[m]
            for place in range(movers.bearing_count[env * movers.count + m]):
                row = movers.bearing[listed + place]
                k = env * movers.row_count + row
                total = movers.borne[k] + movers.impulse[k]
                change = coupling(movers, points, env, row, term)
                gives_way = wp.isfinite(movers.impulse_lower[k]) and wp.isfinite(movers.impulse_upper[k])
                if change[0] * total < T(0.0) and not gives_way:
                    borne = change * change[0] / (movers.G[k] + movers.compliance[k])
                    if borne[0] > most[0]:
                        most = borne
        return most

    return SimpleNamespace(solve=solve_bearing, borne_response=borne_response)
