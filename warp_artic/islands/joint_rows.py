"""Friction, limits and other rows of joints with bounded impulses in an island, solved beside its points.

The step that follows has these rows too (`constraints.bounded_rows`), so contact impulses have to take them into
account. With s, the impulse of a row so far, less that of a step without contacts,
    least_i <= J v + C s <= most_i,   t impulse_lower <= s <= t impulse_upper,
    least_i = min(least, t least + (1 - t) J v_0) after a part t of the step, and most_i likewise.
What bears a load steadily has the same share of its bound in all substeps: else it would let go in the last ones.
Motion without contacts keeps these bounds with s = 0 (`take_rows`). A drive, with one bound, keeps to that motion
in each part of the step. Y = M^-1 P and G = J Y, with the P of `constraints.rows`.

A stop that bears z_0 without contacts keeps to that motion as well, as long as it bears: it pushes one way, and so
    t z_0 + s >= 0   where J v + C s = t least + (1 - t) J v_0,   else  t z_0 + s = 0,
of a lower one. What contacts lift off it is what it lets go of, and no more.

Impulses start from those of the last substep of the step before, as those of points do. If they started from zero,
sweeps would leave velocities in each step where the friction of joints bears a load, and what rests would creep.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs

IMPACT_GROWTH = wp.constant(2.0)
"""Growth of an impulse in a substep from which on it is an impact."""


@cache
def joint_rows(precision: str) -> SimpleNamespace:
    """Functions of one row, of the rows of a mechanism, `write_responses` to `end_round`, and of an island."""
    types = island_types(precision)
    T, Mechanisms = types.T, types.Mechanisms
    Islands, Island = island_structs()

    @wp.func
    def first_dof(mechanisms: Mechanisms, env: int, mechanism: int):
        return env * mechanisms.dof_count + mechanisms.first[mechanism]

    @wp.func
    def row_rate(mechanisms: Mechanisms, env: int, mechanism: int, row: int, x: wp.array(dtype=T)):
        """J x."""
        own = first_dof(mechanisms, env, mechanism)
        own_terms = env * mechanisms.term_count
        rate = T(0.0)
        for term in range(mechanisms.row_term[row], mechanisms.row_term[row + 1]):
            rate += mechanisms.J[own_terms + term] * x[own + mechanisms.term_dof[term]]
        return rate

    @wp.func
    def push_row(mechanisms: Mechanisms, env: int, mechanism: int, row: int, z: T, x: wp.array(dtype=T)):
        """x += Y z"""
        own = first_dof(mechanisms, env, mechanism)
        first_Y = env * mechanisms.Y_count + mechanisms.row_Y[row]
        for dof in range(mechanisms.dofs[mechanism]):
            x[own + dof] = x[own + dof] + mechanisms.Y[first_Y + dof] * z

    @wp.func
    def write_row_response(mechanisms: Mechanisms, env: int, mechanism: int, row: int):
        """Write Y; returns G."""
        dofs = mechanisms.dofs[mechanism]
        inverse = env * mechanisms.inverse_count + mechanisms.inverse_first[mechanism]
        own_terms = env * mechanisms.term_count
        first_Y = env * mechanisms.Y_count + mechanisms.row_Y[row]
        for dof in range(dofs):
            total = T(0.0)
            for term in range(mechanisms.row_term[row], mechanisms.row_term[row + 1]):
                entry = inverse + dof * dofs + mechanisms.term_dof[term]
                total += mechanisms.inverse[entry] * mechanisms.P[own_terms + term]
            mechanisms.Y[first_Y + dof] = total
        G = T(0.0)
        for term in range(mechanisms.row_term[row], mechanisms.row_term[row + 1]):
            G += mechanisms.J[own_terms + term] * mechanisms.Y[first_Y + mechanisms.term_dof[term]]
        return G

    @wp.func
    def write_row_responses(mechanisms: Mechanisms, env: int, m: int):
        """Write Y and G of all rows; drives that are part of M^-1 have none."""
        for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
            k = env * mechanisms.row_count + row
            mechanisms.G[k] = write_row_response(mechanisms, env, m, row)
            if mechanisms.holds[k] == 1:
                mechanisms.G[k] = T(0.0)

    @wp.func
    def solve_row(mechanisms: Mechanisms, env: int, m: int, row: int, part: T):
        """Solve a row; returns its impulse in the substep."""
        k = env * mechanisms.row_count + row
        G = mechanisms.G[k]
        z = mechanisms.impulse[k]
        found = z
        if G > T(0.0):
            before = (T(1.0) - part) * mechanisms.speed[k]
            least = part * mechanisms.velocity_lower[k] + before
            most = part * mechanisms.velocity_upper[k] + before
            bears = part * mechanisms.bears[k]
            if mechanisms.is_drive[row] == 0:
                if bears <= T(0.0):
                    least = wp.min(mechanisms.velocity_lower[k], least)
                if bears >= T(0.0):
                    most = wp.max(mechanisms.velocity_upper[k], most)
            C = mechanisms.compliance[k]
            total = mechanisms.accumulated[k]
            y = row_rate(mechanisms, env, m, row, mechanisms.v) - G * z + C * total
            low = bears + total + (least - y) / (G + C)
            high = bears + total + (most - y) / (G + C)
            found = wp.max(low, T(0.0)) + wp.min(high, T(0.0)) - bears
            found = wp.clamp(found, part * mechanisms.impulse_lower[k], part * mechanisms.impulse_upper[k]) - total
            mechanisms.impulse[k] = found
            if found != z:
                push_row(mechanisms, env, m, row, found - z, mechanisms.v)
        return found

    @wp.func
    def solve_rows(mechanisms: Mechanisms, islands: Islands, island: Island, part: T):
        """Solve the rows in a substep that ends after a `part` of the step, and list which have an impulse."""
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            listed = island.env * mechanisms.row_count + mechanisms.row_first[m]
            count = int(0)
            for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
                if solve_row(mechanisms, island.env, m, row, part) != T(0.0):
                    mechanisms.supporting[listed + count] = row
                    count += 1
            mechanisms.supporting_count[island.env * mechanisms.count + m] = count

    @wp.func
    def recall_rows(mechanisms: Mechanisms, env: int, m: int):
        """Begin with the impulses of the step before; what is part of M^-1 has none."""
        for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
            k = env * mechanisms.row_count + row
            z = wp.where(mechanisms.G[k] > T(0.0), mechanisms.row_warm[k], T(0.0))
            mechanisms.impulse[k] = z
            mechanisms.initial[k] = z
            mechanisms.accumulated[k] = T(0.0)
        mechanisms.supporting_count[env * mechanisms.count + m] = 0

    @wp.func
    def forget_rows(mechanisms: Mechanisms, env: int, m: int):
        """Begin without impulses."""
        for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
            mechanisms.impulse[env * mechanisms.row_count + row] = T(0.0)

    @wp.func
    def keep_rows(mechanisms: Mechanisms, env: int, m: int):
        """Keep the impulses of the last substep for the next step."""
        for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
            k = env * mechanisms.row_count + row
            mechanisms.row_warm[k] = mechanisms.impulse[k]

    @wp.func
    def warm_start_rows(mechanisms: Mechanisms, islands: Islands, island: Island):
        """Apply the impulses of the substep before."""
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
                z = mechanisms.impulse[island.env * mechanisms.row_count + row]
                if z != T(0.0):
                    push_row(mechanisms, island.env, m, row, z, mechanisms.v)

    @wp.func
    def end_rows(mechanisms: Mechanisms, env: int, m: int):
        """Sum up impulses at the end of a substep; rows of a mechanism with an impact go on without it."""
        hit = mechanisms.is_hit[env * mechanisms.count + m] == 1
        for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
            k = env * mechanisms.row_count + row
            z = mechanisms.impulse[k]
            mechanisms.accumulated[k] = mechanisms.accumulated[k] + z
            if hit and wp.abs(z) > T(IMPACT_GROWTH) * wp.abs(mechanisms.initial[k]):
                z = mechanisms.initial[k]
            mechanisms.impulse[k] = z
            mechanisms.initial[k] = z

    @wp.func
    def end_round(mechanisms: Mechanisms, env: int, m: int):
        """Sum up the impulses of rows in a round of impacts, and go on from what the substep begins with."""
        for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
            k = env * mechanisms.row_count + row
            mechanisms.accumulated[k] = mechanisms.accumulated[k] + mechanisms.impulse[k]
            mechanisms.impulse[k] = mechanisms.initial[k]

    return SimpleNamespace(
        first_dof=first_dof,
        rate=row_rate,
        push=push_row,
        write_responses=write_row_responses,
        solve_one=solve_row,
        solve=solve_rows,
        recall=recall_rows,
        forget=forget_rows,
        keep=keep_rows,
        warm_start=warm_start_rows,
        end=end_rows,
        end_round=end_round,
    )
