"""Drives with a maximum force in an island: part of the response M^-1 until they saturate.

With z_0, the impulse of a drive in a step without contacts, and s, its change by contacts,
    z_0 + s = h (start - slope v+),   |z_0 + s| <= h f_max.
z_0 is what that step reports; the law as it is measured (`solver.held_response`) tells how far beyond f_max a drive
would be. One that holds is part of M^-1, as a row with C = 1 / (h slope). One that would exceed its force is a row
    J v + C s = free + C (h (start - slope free) - z_0),   - h f_max - z_0 <= s <= h f_max - z_0
beside the others (`joint_rows`). Impulses are then found again: those found while the drive held are too large. As in
a step, each pass can only release further drives.
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
    T, Mechanisms = types.T, types.Mechanisms
    Islands, Island = island_structs()
    rows = joint_rows(precision)
    row_rate, write_row_responses = rows.rate, rows.write_responses

    @wp.struct
    class Drive:
        """Of a dof, in a step without contacts."""

        force: T  # that it gives
        start: T
        slope: T
        max_force: T

    @wp.func
    def take_drive(mechanisms: Mechanisms, env: int, m: int, row: int, law: Drive, h: T):
        """Write the law of a drive, which holds unless it gives all it can without contacts."""
        k = env * mechanisms.row_count + row
        free = row_rate(mechanisms, env, m, row, mechanisms.free)
        most = h * law.max_force
        z = wp.clamp(h * law.force, -most, most)
        C = T(1.0) / (h * law.slope)
        bound = free
        mechanisms.holds[k] = 1
        if wp.abs(z) > T(SATURATED) * most:
            excess = h * (law.start - law.slope * free) - z
            bound += C * wp.max(excess * wp.sign(z), T(0.0)) * wp.sign(z)
            mechanisms.holds[k] = 0
        mechanisms.velocity_lower[k] = bound
        mechanisms.velocity_upper[k] = bound
        mechanisms.compliance[k] = C
        if not wp.isfinite(law.max_force):
            mechanisms.compliance[k] = law.max_force  # it is part of M^-1 already
        mechanisms.impulse_lower[k] = -most - z
        mechanisms.impulse_upper[k] = most - z

    @wp.func
    def hold_drives(mechanisms: Mechanisms, env: int, m: int):
        """Write M^-1 with the drives that hold, from the one without any of them, and the responses of rows."""
        dofs = mechanisms.dofs[m]
        first = env * mechanisms.inverse_count + mechanisms.inverse_first[m]
        for entry in range(first, first + dofs * dofs):
            mechanisms.inverse[entry] = mechanisms.yielding[entry]
        for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
            k = env * mechanisms.row_count + row
            C = mechanisms.compliance[k]
            if mechanisms.holds[k] == 1 and wp.isfinite(C):
                driven = mechanisms.term_dof[mechanisms.row_term[row]]
                scale = T(1.0) / (C + mechanisms.inverse[first + driven * (dofs + 1)])
                for dof in range(dofs):
                    if dof != driven:
                        share = mechanisms.inverse[first + dof * dofs + driven] * scale
                        for other in range(dofs):
                            taken = share * mechanisms.inverse[first + driven * dofs + other]
                            entry = first + dof * dofs + other
                            mechanisms.inverse[entry] = mechanisms.inverse[entry] - taken
                for other in range(dofs):
                    entry = first + driven * dofs + other
                    mechanisms.inverse[entry] = mechanisms.inverse[entry] * C * scale
        write_row_responses(mechanisms, env, m)

    @wp.func
    def release_drives(mechanisms: Mechanisms, islands: Islands, island: Island):
        """Release the drives that exceed their force with the velocities found; returns how many."""
        count = int(0)
        for index in range(island.first_mechanism, island.end_mechanism):
            m = islands.mechanisms[index]
            released = int(0)
            for row in range(mechanisms.row_first[m], mechanisms.row_first[m + 1]):
                k = island.env * mechanisms.row_count + row
                if mechanisms.holds[k] == 1:
                    y = row_rate(mechanisms, island.env, m, row, mechanisms.v)
                    s = (mechanisms.velocity_lower[k] - y) / mechanisms.compliance[k]
                    if s < mechanisms.impulse_lower[k] or s > mechanisms.impulse_upper[k]:
                        mechanisms.holds[k] = 0
                        released += 1
            if released > 0:
                hold_drives(mechanisms, island.env, m)
            count += released
        return count

    return SimpleNamespace(Drive=Drive, take=take_drive, hold=hold_drives, release=release_drives)
