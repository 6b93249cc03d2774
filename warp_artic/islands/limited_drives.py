"""Drives with a maximum force in an island: they answer within the step, until they give way.

With z_0, the impulse of a drive in a step without contacts, and s, what it gives beside that,
    z_0 + s = h (start - slope v+),   |z_0 + s| <= h f_max.
z_0 is what that step reports; the law as it is measured (`solver.held_response`) tells how far beyond f_max a drive
would be. One that holds is part of M^-1, as a row with C = 1 / (h slope). One that would exceed its force is a row
    J v + C s = free + C (h (start - slope free) - z_0),   - h f_max - z_0 <= s <= h f_max - z_0
beside the others (`joint_rows`). Impulses that were found while it held are found again then: they are those at
something that does not give way. As in a step, each pass can only release further drives.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs
from warp_artic.islands.joint_rows import joint_rows

SATURATED = wp.constant(1.0 - 1e-5)
"""Share of its maximum force from which on a drive has left M^-1 without contacts."""


@cache
def limited_drives(precision: str) -> SimpleNamespace:
    """The struct `Drive`, the function `take`, of one, and `hold` and `release`, of those of mechanisms."""
    types = island_types(precision)
    T, Movers = types.T, types.Movers
    Islands, Island = island_structs()
    rows = joint_rows(precision)
    row_rate, answer_rows = rows.rate, rows.answer

    @wp.struct
    class Drive:
        """Of a dof, in a step without contacts."""

        force: T  # that it gives
        start: T
        slope: T
        most: T

    @wp.func
    def take_drive(movers: Movers, env: int, m: int, row: int, law: Drive, h: T):
        """Write the law of a drive, which holds unless it gives all it can without contacts."""
        k = env * movers.row_count + row
        free = row_rate(movers, env, m, row, movers.free)
        most = h * law.most
        z = wp.clamp(h * law.force, -most, most)
        C = T(1.0) / (h * law.slope)
        bound = free
        movers.holds[k] = 1
        if wp.abs(z) > T(SATURATED) * most:
            excess = h * (law.start - law.slope * free) - z
            bound += C * wp.max(excess * wp.sign(z), T(0.0)) * wp.sign(z)
            movers.holds[k] = 0
        movers.least[k] = bound
        movers.most[k] = bound
        movers.compliance[k] = C
        if not wp.isfinite(law.most):
            movers.compliance[k] = law.most  # it is part of M^-1 already
        movers.impulse_lower[k] = -most - z
        movers.impulse_upper[k] = most - z

    @wp.func
    def hold_drives(movers: Movers, env: int, m: int):
        """Write M^-1 with the drives that hold, from the one without any of them, and how rows answer."""
        dofs = movers.dofs[m]
        first = env * movers.inverse_count + movers.inverse_first[m]
        for entry in range(first, first + dofs * dofs):
            movers.inverse[entry] = movers.yielding[entry]
        for row in range(movers.row_first[m], movers.row_first[m + 1]):
            k = env * movers.row_count + row
            C = movers.compliance[k]
            if movers.holds[k] == 1 and wp.isfinite(C):
                driven = movers.term_dof[movers.row_term[row]]
                scale = T(1.0) / (C + movers.inverse[first + driven * (dofs + 1)])
                for dof in range(dofs):
                    if dof != driven:
                        share = movers.inverse[first + dof * dofs + driven] * scale
                        for other in range(dofs):
                            taken = share * movers.inverse[first + driven * dofs + other]
                            entry = first + dof * dofs + other
                            movers.inverse[entry] = movers.inverse[entry] - taken
                for other in range(dofs):
                    entry = first + driven * dofs + other
                    movers.inverse[entry] = movers.inverse[entry] * C * scale
        answer_rows(movers, env, m)

    @wp.func
    def release_drives(movers: Movers, islands: Islands, island: Island):
        """Release the drives that exceed their force with the velocities found; returns how many."""
        count = int(0)
        for place in range(island.first_mover, island.end_mover):
            m = islands.movers[place]
            released = int(0)
            for row in range(movers.row_first[m], movers.row_first[m + 1]):
                k = island.env * movers.row_count + row
                if movers.holds[k] == 1:
                    y = row_rate(movers, island.env, m, row, movers.v)
                    s = (movers.least[k] - y) / movers.compliance[k]
                    if s < movers.impulse_lower[k] or s > movers.impulse_upper[k]:
                        movers.holds[k] = 0
                        released += 1
            if released > 0:
                hold_drives(movers, island.env, m)
            count += released
        return count

    return SimpleNamespace(Drive=Drive, take=take_drive, hold=hold_drives, release=release_drives)
