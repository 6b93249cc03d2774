"""What rows of joints allow beside what they do in a step without contacts (`joint_rows`, `limited_drives`).

Friction that slides without contacts has its largest impulse already, and a soft limit that of its spring.
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
    T, Movers = types.T, types.Movers
    Rows = wp.array2d(dtype=T)
    rows, of_drives = joint_rows(precision), limited_drives(precision)
    row_rate, answer_rows = rows.rate, rows.answer
    Drive, take_drive, hold_drives = of_drives.Drive, of_drives.take, of_drives.hold

    @wp.func
    def write_bounds(movers: Movers, env: int, mover: int, row: int, least: T, most: T, impulse: T, compliance: T):
        """Write bounds beside what a row bears without contacts: friction that slides all it can, a spring or drive by
        its law."""
        k = env * movers.row_count + row
        free = row_rate(movers, env, mover, row, movers.free)
        impulse_lower = -impulse
        impulse_upper = impulse
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
            if wp.abs(free) > T(SLIDES) * impulse * movers.G[k]:
                impulse_lower += wp.sign(free) * impulse
                impulse_upper += wp.sign(free) * impulse
        elif compliance > T(0.0):
            if free < least:
                impulse_lower = (free - least) / compliance
            elif free > most:
                impulse_upper = (free - most) / compliance
        movers.compliance[k] = compliance
        movers.impulse_lower[k] = impulse_lower
        movers.impulse_upper[k] = impulse_upper
        movers.least[k] = lower
        movers.most[k] = upper

    @wp.kernel(**OPTIONS)
    def take_rows(
        bounds: Rows,
        gradients: Rows,
        pushes: Rows,
        yielding: Rows,
        drives: Rows,
        forces: Rows,
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
        has_drives = bool(False)
        gives_way = bool(False)
        for row in range(start, movers.row_first[number + 1]):
            for term in range(movers.row_term[row], movers.row_term[row + 1]):
                movers.J[env * movers.term_count + term] = gradients[term - first, column]
                movers.P[env * movers.term_count + term] = pushes[term - first, column]
            k = env * movers.row_count + row
            movers.speed[k] = row_rate(movers, env, number, row, movers.start)
            movers.holds[k] = 0
            if movers.is_drive[row] == 1:
                dof = movers.term_dof[movers.row_term[row]]
                entry = DRIVE_SIZE * dof
                law = Drive(
                    forces[dof, column], drives[entry, column], drives[entry + 1, column], drives[entry + 2, column]
                )
                take_drive(movers, env, number, row, law, h)
                has_drives = bool(True)
                gives_way = gives_way or movers.holds[k] == 0
        if has_drives:
            begin = env * movers.inverse_count + movers.inverse_first[number]
            for entry in range(yielding.shape[0]):
                movers.yielding[begin + entry] = yielding[entry, column]
        if gives_way:
            hold_drives(movers, env, number)
        else:
            answer_rows(movers, env, number)
        for row in range(start, movers.row_first[number + 1]):
            if movers.is_drive[row] == 0:
                entry = SIZE * (row - start)
                write_bounds(
                    movers,
                    env,
                    number,
                    row,
                    bounds[entry, column],
                    bounds[entry + 1, column],
                    bounds[entry + 2, column] * h,
                    bounds[entry + 3, column],
                )

    return take_rows
