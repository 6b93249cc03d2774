"""Bounds of rows of joints, relative to their impulses in a step without contacts (`joint_rows`, `limited_drives`).

Friction that slides without contacts has its largest impulse already, and a soft limit that of its spring. Friction
that holds has what its margin (`constraints.margins`) leaves, in the direction of its part of the forces of that step,
and a hard stop what its own says that it would let go of, at the end at which that step leaves it.
"""

from functools import cache

import warp as wp

from warp_artic.constraints.bounded_rows import DRIVE_SIZE, SIZE
from warp_artic.islands.arrays import island_types
from warp_artic.islands.joint_rows import joint_rows
from warp_artic.islands.limited_drives import limited_drives

SLIDES = wp.constant(1e-3)
"""Speed without contacts with which a dof slides in its friction, as a share of what friction can change it by."""
OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def take_rows_kernel(precision: str) -> wp.Kernel:
    """Take the rows of mechanisms with joints, with Y and G."""
    types = island_types(precision)
    T, Mechanisms = types.T, types.Mechanisms
    Rows = wp.array2d(dtype=T)
    rows, of_drives = joint_rows(precision), limited_drives(precision)
    row_rate, write_row_responses = rows.rate, rows.write_responses
    Drive, take_drive, hold_drives = of_drives.Drive, of_drives.take, of_drives.hold

    @wp.func
    def write_bounds(
        mechanisms: Mechanisms,
        env: int,
        mechanism: int,
        row: int,
        least: T,
        most: T,
        impulse: T,
        compliance: T,
        held: T,
    ):
        """Write the bounds of a row less its impulse without contacts: of what holds and of hard stops it is `held`."""
        k = env * mechanisms.row_count + row
        free = row_rate(mechanisms, env, mechanism, row, mechanisms.free)
        impulse_lower = -impulse
        impulse_upper = impulse
        bears = T(0.0)
        lower = wp.min(least, free)
        upper = wp.max(most, free)
        if wp.isfinite(impulse) and compliance > T(0.0):
            z = wp.clamp((least - free) / compliance, -impulse, impulse)
            impulse_lower -= z
            impulse_upper -= z
            lower = least - compliance * z
            upper = lower
        elif wp.isfinite(impulse):
            lower = least
            upper = most
            if wp.abs(free) > T(SLIDES) * impulse * mechanisms.G[k]:
                impulse_lower += wp.sign(free) * impulse
                impulse_upper += wp.sign(free) * impulse
            else:
                impulse_lower -= held
                impulse_upper -= held
        elif compliance > T(0.0):
            bears = (wp.max(least - free, T(0.0)) + wp.min(most - free, T(0.0))) / compliance
        elif held > T(0.0):
            bears = wp.where(free - least < most - free, held, -held)
            lower = wp.where(bears > T(0.0), free, lower)
            upper = wp.where(bears < T(0.0), free, upper)
        mechanisms.bears[k] = bears
        mechanisms.compliance[k] = compliance
        mechanisms.impulse_lower[k] = impulse_lower
        mechanisms.impulse_upper[k] = impulse_upper
        mechanisms.velocity_lower[k] = lower
        mechanisms.velocity_upper[k] = upper

    @wp.func
    def held_impulse(
        mechanisms: Mechanisms,
        env: int,
        mechanism: int,
        row: int,
        parts: Rows,
        first: int,
        column: int,
        margin: T,
        impulse: T,
        h: T,
    ):
        """What a row holds with, of at most `impulse`, of a stop its size.

        The part of friction of the forces on dofs begins at `first`.
        """
        along = T(0.0)
        for term in range(mechanisms.row_term[row], mechanisms.row_term[row + 1]):
            force = parts[first + mechanisms.term_dof[term], column]
            along += mechanisms.P[env * mechanisms.term_count + term] * force
        z = T(0.0)
        if wp.isfinite(impulse) and margin < T(0.0):
            z = wp.sign(along) * wp.max(impulse + h * margin, T(0.0))
        elif wp.isfinite(margin):
            z = wp.max(-h * margin, T(0.0))
        return z

    @wp.kernel(**OPTIONS)
    def take_rows(
        bounds: Rows,
        gradients: Rows,
        pushes: Rows,
        yielding: Rows,
        drives: Rows,
        parts: Rows,
        margins: Rows,
        rows: wp.array(dtype=int),
        row_parts: wp.array(dtype=int),
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        h: T,
        mechanisms: Mechanisms,
    ):
        env, several = wp.tid()
        column = columns[several] + env
        number = numbers[several]
        start = mechanisms.row_first[number]
        first = mechanisms.row_term[start]
        has_drives = bool(False)
        gives_way = bool(False)
        for row in range(start, mechanisms.row_first[number + 1]):
            for term in range(mechanisms.row_term[row], mechanisms.row_term[row + 1]):
                mechanisms.J[env * mechanisms.term_count + term] = gradients[term - first, column]
                mechanisms.P[env * mechanisms.term_count + term] = pushes[term - first, column]
            k = env * mechanisms.row_count + row
            mechanisms.speed[k] = row_rate(mechanisms, env, number, row, mechanisms.start)
            mechanisms.holds[k] = 0
            if mechanisms.is_drive[row] == 1:
                dof = mechanisms.term_dof[mechanisms.row_term[row]]
                part = row_parts[row - start] * mechanisms.dofs[number]
                entry = DRIVE_SIZE * dof
                law = Drive(
                    parts[part + dof, column],
                    drives[entry, column],
                    drives[entry + 1, column],
                    drives[entry + 2, column],
                )
                take_drive(mechanisms, env, number, row, law, h)
                has_drives = bool(True)
                gives_way = gives_way or mechanisms.holds[k] == 0
        if has_drives:
            begin = env * mechanisms.inverse_count + mechanisms.inverse_first[number]
            for entry in range(yielding.shape[0]):
                mechanisms.yielding[begin + entry] = yielding[entry, column]
        if gives_way:
            hold_drives(mechanisms, env, number)
        else:
            write_row_responses(mechanisms, env, number)
        for row in range(start, mechanisms.row_first[number + 1]):
            if mechanisms.is_drive[row] == 0:
                entry = SIZE * (row - start)
                impulse = bounds[entry + 2, column] * h
                held = T(0.0)
                if margins.shape[0] > 0:
                    part = row_parts[row - start] * mechanisms.dofs[number]
                    margin = margins[rows[row - start], column]
                    held = held_impulse(mechanisms, env, number, row, parts, part, column, margin, impulse, h)
                write_bounds(
                    mechanisms,
                    env,
                    number,
                    row,
                    bounds[entry, column],
                    bounds[entry + 1, column],
                    impulse,
                    bounds[entry + 3, column],
                    held,
                )

    return take_rows
