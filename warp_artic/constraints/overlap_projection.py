"""Shapes that overlap, moved apart at the end of a step without a velocity that lasts.

A velocity that takes back a deep overlap within a step throws bodies that are placed in each other, the higher the
shorter the step. And where joints, their limits and other contacts leave an overlap no way out, it would do so again in
every step, each time with more energy. So points that are deep in another shape are held at y_n >= 0, and the way w
that `constraints.contact_law` wants back in a step is a change of positions d, by impulses z of normals and s of
limits and e of loops, mimic joints and gears,
    d = M^-1 (J_n^T z + J_s^T s + J_e^T e),   z >= 0,  J_n d + R z >= w,  one of them with equality,   J_e d = - C
with R = YIELD reach, w = - max(gap, 0) at the other points, and limits that d does not pass. R gives way where several
points want what joints cannot do; `reach` is that of `constraints.contact_lever`. Sweeps of projected Gauss-Seidel find
d, and the steps that follow take back what these leave; only J_e d = - C, and that limits which push are not passed, is
made exact then (`constraints.tied_path`). Else limits would be taken back in their joints alone, and a mechanism whose
joints hold it in itself would walk, and gain energy, by what its root moves with d.
C is the error of a mimic joint, which would otherwise come back as a velocity of the next step: where sweeps leave much
of an impact to it, that throws light links. It is zero for loops, which are closed for themselves.
Velocities stay as they were. Among many bodies `islands.solve` does the same where bodies have joints.
"""

import warp as wp

from warp_artic.constraints.contact_lever import YIELD
from warp_artic.constraints.contact_motion import gap_before
from warp_artic.constraints.limit_projection import SETTLED, limit_range, linearize_limit, move_masked
from warp_artic.constraints.mimic import mimic_error
from warp_artic.constraints.rows import add_responses, prepare_response, row_rate, row_response, row_velocity
from warp_artic.constraints.tied_path import tie_path, ties
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import MOVES_DOFS_ALIKE, has_trait

SWEEPS = wp.constant(8)
"""Over all rows."""


@wp.func
def project_overlaps(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Move the joints of islands in which a point is to go back by the ways of their points."""
    if find_deep_islands(model, work, worker):
        for dof in range(model.dof_count):
            work.v_next[dof, worker] = real(0.0, work.v_next[dof, worker])
        for row in range(model.row_count):
            work.contact_passed[row, worker] = real(0.0, work.contact_passed[row, worker])
        for _sweep in range(SWEEPS):
            for k in range(model.contact_rows // 3):
                push_apart(model, work, model.contact_row + 3 * k, block, worker)
            for row in range(model.stop_row, model.row_count):
                keep_limit(model, work, row, block, worker)
            if model.tying_rows > 0:
                for row in range(model.stop_row):
                    keep_tied(model, work, row, block, worker)
        tie_change(model, work, block, worker)
        move_masked(model, work, block, worker)


@wp.func
def gap_change(work: WorkArrays, point: int, worker: int):
    """How far a point is to be moved apart; zero where it is not near."""
    near = work.contact_near[point, worker]
    return where_positive(near, work.contact_gap_change[point, worker], near - near)


@wp.func
def find_deep_islands(model: ModelArrays, work: WorkArrays, worker: int):
    """Mark the islands in which a point is to go back; says whether there are any."""
    found = bool(False)
    for island in range(model.island_count):
        work.environment_mask[island, worker] = real(0.0, work.v_next[0, worker])
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        way = gap_change(work, model.row_item[row] // 3, worker)
        if any_positive(way):
            found = bool(True)
            island = model.row_island[row]
            mask = work.environment_mask[island, worker]
            work.environment_mask[island, worker] = where_positive(way, real(1.0, way), mask)
    return found


@wp.func
def push_apart(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """Take a normal into account."""
    point = model.row_item[row] // 3
    mask = work.contact_near[point, worker] * work.environment_mask[model.row_island[row], worker]
    if any_positive(mask):
        zero = mask - mask
        way = gap_change(work, point, worker)
        least = where_positive(way, way, neg(maximum(gap_before(model, work, row, block, worker), zero)))
        prepare_response(model, work, row, worker)
        give = work.contact_give[3 * point, worker] + real(YIELD, mask) * work.contact_reach[point, worker]
        r = row_response(model, work, row, worker) + give
        z = work.contact_passed[row, worker]
        missing = least - row_velocity(model, work, row, worker) - give * z
        change_impulse(model, work, row, maximum(z + missing / where_positive(r, r, real(1.0, r)), zero), mask, worker)


@wp.func
def keep_limit(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """Take a limit into account."""
    mask = work.environment_mask[model.row_island[row], worker]
    if any_positive(mask):
        least, most = limit_range(model, work, row, block, worker)
        linearize_limit(model, work, row, block, worker)
        prepare_response(model, work, row, worker)
        r = row_response(model, work, row, worker)
        free = row_velocity(model, work, row, worker) - r * work.contact_passed[row, worker]
        target = minimum(maximum(free, least), most)
        change_impulse(model, work, row, (target - free) / where_positive(r, r, real(1.0, r)), mask, worker)


@wp.func
def keep_tied(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """Take a row into account that ties dofs together."""
    mask = ties(model, work, row, worker) * work.environment_mask[model.row_island[row], worker]
    if any_positive(mask):
        r = row_response(model, work, row, worker)
        missing = row_velocity(model, work, row, worker) + tied_error(model, work, row, block, worker)
        change = missing / where_positive(r, r, real(1.0, r))
        change_impulse(model, work, row, work.contact_passed[row, worker] - change, mask, worker)


@wp.func
def tied_error(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """C of a mimic joint at the positions so far; zero of a loop, which `solver.close_loops` closes."""
    if has_trait(model, row, MOVES_DOFS_ALIKE):
        return mimic_error(model, work.position, worker, row, block)
    return real(0.0, work.active[row, worker])


@wp.func
def tie_change(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Have the dofs move as the rows let them that tie dofs together, and no further than other limits let them."""
    one = real(1.0, work.v_next[0, worker])
    zero = one - one
    for dof in range(model.dof_count):
        work.contact_path[dof, worker] = work.v_next[dof, worker]
    for row in range(model.stop_row):
        work.tie_left[row, worker] = neg(tied_error(model, work, row, block, worker))
    for row in range(model.stop_row, model.row_count):
        z = work.contact_passed[row, worker]
        least, most = limit_range(model, work, row, block, worker)
        work.tie_scale[row, worker] = where_positive(absolute(z), one, zero)
        work.tie_left[row, worker] = where_positive(z, least, most)
    tie_path(model, work, worker, model.row_count, 0)
    for island in range(model.island_count):
        work.tie_ratio[island, worker] = one
    for row in range(model.stop_row, model.row_count):
        change = row_rate(model, work, work.contact_path, row, worker)
        least, most = limit_range(model, work, row, block, worker)
        over = maximum(change - most, least - change) - real(SETTLED, one)
        over = where_positive(work.tie_scale[row, worker], zero, over)
        share = where_positive(change, most, neg(least)) / where_positive(over, absolute(change), one)
        island = model.row_island[row]
        ratio = work.tie_ratio[island, worker]
        work.tie_ratio[island, worker] = where_positive(over, minimum(ratio, share), ratio)
    for dof in range(model.dof_count):
        share = work.tie_ratio[model.dof_island[dof], worker]
        work.v_next[dof, worker] = share * work.contact_path[dof, worker]


@wp.func
def change_impulse(model: ModelArrays, work: WorkArrays, row: int, z: Real, mask: Real, worker: int):
    """Change the impulse of a row where `mask`, and what the dofs move by."""
    change = where_positive(mask, z - work.contact_passed[row, worker], mask - mask)
    if any_positive(absolute(change)):
        work.contact_passed[row, worker] = work.contact_passed[row, worker] + change
        work.smooth[row, worker] = change
        add_responses(model, work, work.smooth, row, row + 1, work.v_next, worker)
