"""What a solution leaves of the law of contacts, as velocities: the natural map of each point,

    normal:    G_nn |z_n - max(0, z_n - (y_n + C z_n - b) / G_nn)|,   C that of a spring or a deep overlap, else zero
    friction:  G_tt |z_t - w|,  w the nearest to z_t - y_t / G_tt with |w| <= mu z_n

They are zero where y and z obey the law (`constraints.contact_law`), and else about as large as the velocity that is
wrong. What rows give way by for the sake of a solver is part of it. Impacts that were passed on have no single law.
"""

import warp as wp

from warp_artic.constraints.contact_motion import time_of_rate, velocity_after
from warp_artic.math.directions import choose
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_vec3, store_vec3


@wp.func
def measure_residuals(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Keep the largest residual of each point, with the impulses and velocities v+ of a substep, and J v+ + o."""
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        point = model.row_item[row] // 3
        active = work.active[row, worker]
        if any_positive(active):
            passed = work.contact_has_passed[model.row_island[row], worker]
            y = vec3(
                velocity_after(model, work, row, worker),
                velocity_after(model, work, row + 1, worker),
                velocity_after(model, work, row + 2, worker),
            )
            later = time_of_rate(work, point, worker, h) + h
            rate = y - load_vec3(work.contact_bias, 3 * point, worker) * later
            rate = vec3(rate.x - work.contact_roll[point, worker], rate.y, rate.z)
            store_vec3(work.contact_rate, 3 * point, worker, choose(active, rate, rate - rate))
            left = friction_residual(work, row, point, y, worker)
            left = maximum(left, normal_residual(work, row, point, y.x, worker))
            left = where_positive(passed, passed - passed, where_positive(active, left, active - active))
            work.contact_left_over[point, worker] = maximum(work.contact_left_over[point, worker], left)


@wp.func
def normal_residual(work: WorkArrays, row: int, point: int, y: Real, worker: int):
    """That of the normal whose row is given, with its velocity."""
    z = work.impulse[row, worker]
    G = work.row_delassus[row, worker]
    one = real(1.0, z)
    y = y - work.contact_speed[point, worker]
    y = y + (work.compliance[row, worker] - work.contact_give[3 * point, worker]) * z
    size = where_positive(G, G, one)
    return absolute(z - maximum(z - y / size, one - one)) * size


@wp.func
def friction_residual(work: WorkArrays, row: int, point: int, y: Vec3, worker: int):
    """That of both tangents after the normal whose row is given, with the velocities of all three."""
    zero = real(0.0, work.impulse[row, worker])
    G = maximum(work.row_delassus[row + 1, worker], work.row_delassus[row + 2, worker])
    most = work.contact_friction[point, worker] * maximum(work.impulse[row, worker], zero)
    return slip_residual(work.impulse[row + 1, worker], work.impulse[row + 2, worker], y.y, y.z, most, G)


@wp.func
def slip_residual(z_1: Real, z_2: Real, y_1: Real, y_2: Real, most: Real, G: Real):
    """That of friction with two parts, no more than `most`, for the slip along both tangents."""
    one = real(1.0, G)
    size = where_positive(G, G, one)
    w_1 = z_1 - y_1 / size
    w_2 = z_2 - y_2 / size
    length = sqrt(w_1 * w_1 + w_2 * w_2)
    share = minimum(most / where_positive(length, length, one), one)
    miss_1 = z_1 - w_1 * share
    miss_2 = z_2 - w_2 * share
    return sqrt(miss_1 * miss_1 + miss_2 * miss_2) * size
