"""Friction, limits and what else gives way in an island (`constraints.bounded_rows`), solved beside its points.

The step that follows has these rows too, so that impulses of contacts have to take them into account. With s, the
impulse of a row so far beside that of a step without contacts,
    least_i <= J v + C s <= most_i,   impulse_lower <= s <= impulse_upper,
    least_i = min(least, t least + (1 - t) J v_0) after a part t of the step, and most_i likewise.
Motion without contacts keeps these bounds with s = 0 (`take_rows`). A drive, with one bound, keeps to that motion
in each part of the step. Y = M^-1 P and G = J Y, with the P of `constraints.rows`.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs

GROWS = wp.constant(2.0)
"""How many times the impulse that a substep begins with is an impact."""


@cache
def joint_rows(precision: str) -> SimpleNamespace:
    """Functions of one row, `rate`, `push`, `solve_one`, of those of a mechanism, `answer`, `end`, and of an island."""
    types = island_types(precision)
    T, Movers = types.T, types.Movers
    Islands, Island = island_structs()

    @wp.func
    def first_dof(movers: Movers, env: int, mover: int):
        return env * movers.dof_count + movers.first[mover]

    @wp.func
    def row_rate(movers: Movers, env: int, mover: int, row: int, x: wp.array(dtype=T)):
        """J x."""
        own = first_dof(movers, env, mover)
        own_terms = env * movers.term_count
        rate = T(0.0)
        for term in range(movers.row_term[row], movers.row_term[row + 1]):
            rate += movers.J[own_terms + term] * x[own + movers.term_dof[term]]
        return rate

    @wp.func
    def push_row(movers: Movers, env: int, mover: int, row: int, z: T, x: wp.array(dtype=T)):
        """x += Y z"""
        own = first_dof(movers, env, mover)
        first_Y = env * movers.Y_count + movers.row_Y[row]
        for dof in range(movers.dofs[mover]):
            x[own + dof] = x[own + dof] + movers.Y[first_Y + dof] * z

    @wp.func
    def answer_row(movers: Movers, env: int, mover: int, row: int):
        """Write Y; returns G."""
        dofs = movers.dofs[mover]
        inverse = env * movers.inverse_count + movers.inverse_first[mover]
        own_terms = env * movers.term_count
        first_Y = env * movers.Y_count + movers.row_Y[row]
        for dof in range(dofs):
            total = T(0.0)
            for term in range(movers.row_term[row], movers.row_term[row + 1]):
                entry = inverse + dof * dofs + movers.term_dof[term]
                total += movers.inverse[entry] * movers.P[own_terms + term]
            movers.Y[first_Y + dof] = total
        G = T(0.0)
        for term in range(movers.row_term[row], movers.row_term[row + 1]):
            G += movers.J[own_terms + term] * movers.Y[first_Y + movers.term_dof[term]]
        return G

    @wp.func
    def answer_rows(movers: Movers, env: int, m: int):
        """Write Y and G of all rows; drives that are part of M^-1 have none."""
        for row in range(movers.row_first[m], movers.row_first[m + 1]):
            k = env * movers.row_count + row
            movers.G[k] = answer_row(movers, env, m, row)
            if movers.holds[k] == 1:
                movers.G[k] = T(0.0)

    @wp.func
    def solve_row(movers: Movers, env: int, m: int, row: int, part: T):
        """Solve a row; returns its impulse in the substep."""
        k = env * movers.row_count + row
        G = movers.G[k]
        z = movers.impulse[k]
        found = z
        if G > T(0.0):
            before = (T(1.0) - part) * movers.speed[k]
            least = part * movers.least[k] + before
            most = part * movers.most[k] + before
            if movers.is_drive[row] == 0:
                least = wp.min(movers.least[k], least)
                most = wp.max(movers.most[k], most)
            C = movers.compliance[k]
            total = movers.borne[k]
            y = row_rate(movers, env, m, row, movers.v) - G * z + C * total
            low = total + (least - y) / (G + C)
            high = total + (most - y) / (G + C)
            found = wp.max(low, T(0.0)) + wp.min(high, T(0.0))
            found = wp.clamp(found, movers.impulse_lower[k], movers.impulse_upper[k]) - total
            movers.impulse[k] = found
            if found != z:
                push_row(movers, env, m, row, found - z, movers.v)
        return found

    @wp.func
    def solve_rows(movers: Movers, islands: Islands, island: Island, part: T):
        """Solve the rows in a substep that ends after a `part` of the step, and list which bear something."""
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            listed = island.env * movers.row_count + movers.row_first[m]
            count = int(0)
            for row in range(movers.row_first[m], movers.row_first[m + 1]):
                if solve_row(movers, island.env, m, row, part) != T(0.0):
                    movers.bearing[listed + count] = row
                    count += 1
            movers.bearing_count[island.env * movers.count + m] = count

    @wp.func
    def forget_rows(movers: Movers, env: int, m: int):
        """Begin without impulses."""
        for row in range(movers.row_first[m], movers.row_first[m + 1]):
            movers.impulse[env * movers.row_count + row] = T(0.0)
            movers.borne[env * movers.row_count + row] = T(0.0)
            movers.begun[env * movers.row_count + row] = T(0.0)
        movers.bearing_count[env * movers.count + m] = 0

    @wp.func
    def warm_start_rows(movers: Movers, islands: Islands, island: Island):
        """Apply the impulses of the substep before."""
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            for row in range(movers.row_first[m], movers.row_first[m + 1]):
                z = movers.impulse[island.env * movers.row_count + row]
                if z != T(0.0):
                    push_row(movers, island.env, m, row, z, movers.v)

    @wp.func
    def end_rows(movers: Movers, env: int, m: int):
        """Add up what rows have borne in a substep; those of a mechanism that is hit go on from what it began with."""
        hit = movers.is_hit[env * movers.count + m] == 1
        for row in range(movers.row_first[m], movers.row_first[m + 1]):
            k = env * movers.row_count + row
            z = movers.impulse[k]
            movers.borne[k] = movers.borne[k] + z
            if hit and wp.abs(z) > T(GROWS) * wp.abs(movers.begun[k]):
                z = movers.begun[k]
            movers.impulse[k] = z
            movers.begun[k] = z

    return SimpleNamespace(
        first_dof=first_dof,
        rate=row_rate,
        push=push_row,
        answer=answer_rows,
        solve_one=solve_row,
        solve=solve_rows,
        forget=forget_rows,
        warm_start=warm_start_rows,
        end=end_rows,
    )
