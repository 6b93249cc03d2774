"""Friction and limits of single joints in an island (`constraints.bounded_rows`), solved beside its points.

The step that follows has these rows too, so that impulses of contacts have to take them into account. With s, the
impulse of a row so far beside that of a step without contacts,
    least_i <= J v + C s <= most_i,   impulse_lower <= s <= impulse_upper,
    least_i = min(least, t least + (1 - t) J v_0) after a part t of the step, and most_i likewise.
Motion without contacts keeps these bounds with s = 0. Friction that slides in it has its largest impulse already, and a
soft limit that of its spring. As of points, Y = M^-1 J^T and G = J Y (`responses`).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.bounded_rows import SIZE
from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs

SLIDES = wp.constant(1e-3)
"""Speed without contacts with which a dof slides in its friction, as a share of what friction can change it by."""
OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def joint_rows(precision: str) -> SimpleNamespace:
    """Functions of rows: of one, `rate`, `push` and `solve_one`, and of all in an island."""
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
    def solve_row(movers: Movers, env: int, m: int, row: int, part: T):
        """Solve a row; returns its impulse in the substep."""
        k = env * movers.row_count + row
        G = movers.G[k]
        z = movers.impulse[k]
        found = z
        if G > T(0.0):
            before = (T(1.0) - part) * movers.speed[k]
            least = wp.min(movers.least[k], part * movers.least[k] + before)
            most = wp.max(movers.most[k], part * movers.most[k] + before)
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
        movers.bearing_count[env * movers.count + m] = 0

    @wp.func
    def warm_start_rows(movers: Movers, islands: Islands, island: Island):
        """Apply the impulses of the substep before."""
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            for row in range(movers.row_first[m], movers.row_first[m + 1]):
                k = island.env * movers.row_count + row
                z = movers.impulse[k]
                movers.borne[k] = movers.borne[k] + z
                if z != T(0.0):
                    push_row(movers, island.env, m, row, z, movers.v)

    return SimpleNamespace(
        first_dof=first_dof,
        rate=row_rate,
        push=push_row,
        solve_one=solve_row,
        solve=solve_rows,
        forget=forget_rows,
        warm_start=warm_start_rows,
    )


@cache
def take_rows_kernel(precision: str) -> wp.Kernel:
    """Take the rows of mechanisms with joints, with Y and G."""
    types = island_types(precision)
    T, Movers = types.T, types.Movers
    Rows = wp.array2d(dtype=T)
    row_rate = joint_rows(precision).rate

    @wp.func
    def write_response(movers: Movers, env: int, mover: int, row: int):
        """Write Y; returns G."""
        dofs = movers.dofs[mover]
        inverse = env * movers.inverse_count + movers.inverse_first[mover]
        own_terms = env * movers.term_count
        first_Y = env * movers.Y_count + movers.row_Y[row]
        for dof in range(dofs):
            total = T(0.0)
            for term in range(movers.row_term[row], movers.row_term[row + 1]):
                entry = inverse + dof * dofs + movers.term_dof[term]
                total += movers.inverse[entry] * movers.J[own_terms + term]
            movers.Y[first_Y + dof] = total
        G = T(0.0)
        for term in range(movers.row_term[row], movers.row_term[row + 1]):
            G += movers.J[own_terms + term] * movers.Y[first_Y + movers.term_dof[term]]
        return G

    @wp.func
    def write_bounds(movers: Movers, k: int, free: T, least: T, most: T, impulse: T, compliance: T):
        """Write bounds beside what a row bears without contacts: friction that slides all it can, a spring by its
        law."""
        impulse_lower = -impulse
        impulse_upper = impulse
        lower = least
        upper = most
        if wp.isfinite(impulse):
            if wp.abs(free) > T(SLIDES) * impulse * movers.G[k]:
                impulse_lower += wp.sign(free) * impulse
                impulse_upper += wp.sign(free) * impulse
        elif compliance > T(0.0):
            if free < least:
                impulse_lower = (free - least) / compliance
            elif free > most:
                impulse_upper = (free - most) / compliance
            lower = wp.min(least, free)
            upper = wp.max(most, free)
        movers.impulse_lower[k] = impulse_lower
        movers.impulse_upper[k] = impulse_upper
        movers.least[k] = lower
        movers.most[k] = upper

    @wp.kernel(**OPTIONS)
    def take_rows(
        bounds: Rows,
        gradients: Rows,
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        h: T,
        movers: Movers,
    ):
        env, several = wp.tid()
        column = columns[several] + env
        number = numbers[several]
        start = movers.row_first[number]
        first = movers.row_term[start]
        for row in range(start, movers.row_first[number + 1]):
            for term in range(movers.row_term[row], movers.row_term[row + 1]):
                movers.J[env * movers.term_count + term] = gradients[term - first, column]
            k = env * movers.row_count + row
            movers.speed[k] = row_rate(movers, env, number, row, movers.start)
            movers.G[k] = write_response(movers, env, number, row)
            entry = SIZE * (row - start)
            compliance = bounds[entry + 3, column]
            movers.compliance[k] = compliance
            free = row_rate(movers, env, number, row, movers.free)
            least = bounds[entry, column]
            most = bounds[entry + 1, column]
            write_bounds(movers, k, free, least, most, bounds[entry + 2, column] * h, compliance)

    return take_rows
