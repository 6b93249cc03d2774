"""What a solution leaves of the law of contacts, as velocities: the natural map of each point,

    normal:    G_nn |z_n - max(0, z_n - (y_n + C z_n - b) / G_nn)|,   C that of a spring or a deep overlap, else zero
    friction:  G_tt |z_t - w|,  w the nearest to z_t - y_t / G_tt with |w| <= mu z_n

They are zero where y and z obey the law (`constraints.contact_pair`), and else about as large as the velocity that is
wrong. What rows give way by for the sake of a solver is part of it. Impacts that were passed on have no single law.
"""

import warp as wp

from warp_artic.constraints.contact_motion import velocity_after
from warp_artic.math.numbers import (  # noqa: F401 (operators)
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
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def measure_residuals(model: ModelArrays, work: WorkArrays, worker: int):
    """Keep the largest residual of each point, with the impulses and velocities v+ of a substep."""
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        point = model.row_item[row] // 3
        active = work.active[row, worker]
        if any_positive(active):
            passed = work.contact_has_passed[model.row_island[row], worker]
            left = maximum(normal_residual(model, work, row, worker), friction_residual(model, work, row, worker))
            left = where_positive(passed, passed - passed, where_positive(active, left, active - active))
            work.contact_left_over[point, worker] = maximum(work.contact_left_over[point, worker], left)


@wp.func
def normal_residual(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """That of the normal whose row is given."""
    item = model.row_item[row]
    z = work.impulse[row, worker]
    G = work.row_delassus[row, worker]
    one = real(1.0, z)
    y = velocity_after(model, work, row, worker) - work.contact_speed[item // 3, worker]
    y = y + (work.compliance[row, worker] - work.contact_give[item, worker]) * z
    size = where_positive(G, G, one)
    return absolute(z - maximum(z - y / size, one - one)) * size


@wp.func
def friction_residual(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """That of both tangents after the normal whose row is given."""
    point = model.row_item[row] // 3
    zero = real(0.0, work.impulse[row, worker])
    one = real(1.0, zero)
    G = maximum(work.row_delassus[row + 1, worker], work.row_delassus[row + 2, worker])
    size = where_positive(G, G, one)
    z_1 = work.impulse[row + 1, worker]
    z_2 = work.impulse[row + 2, worker]
    w_1 = z_1 - velocity_after(model, work, row + 1, worker) / size
    w_2 = z_2 - velocity_after(model, work, row + 2, worker) / size
    most = work.contact_friction[point, worker] * maximum(work.impulse[row, worker], zero)
    length = sqrt(w_1 * w_1 + w_2 * w_2)
    share = minimum(most / where_positive(length, length, one), one)
    miss_1 = z_1 - w_1 * share
    miss_2 = z_2 - w_2 * share
    return sqrt(miss_1 * miss_1 + miss_2 * miss_2) * size
