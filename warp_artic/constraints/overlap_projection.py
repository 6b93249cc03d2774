"""Shapes of jointed bodies that overlap after a step, moved apart without a velocity that lasts.

Joints, their limits and other contacts may leave an overlap no way out. A velocity against it would throw the mechanism
again in every step, each time with more energy. So points that are deep in another shape are held at y_n >= 0, and the
way w that `constraints.contact_pair` wants back in a step is a change of positions d, by impulses z of normals and s of
limits,
    d = M^-1 (J_n^T z + J_s^T s),   z >= 0,  J_n d + R z >= w,  one of them with equality,   R = YIELD reach
with w = - max(gap, 0) at the other points, and limits that d does not pass. R gives way where several points want
what joints cannot do; `reach` is that of `constraints.contact_lever`. Sweeps of projected Gauss-Seidel find d, and the
steps that follow take back what these leave. Velocities stay as they were.

Mechanisms with loops, mimic joints or gears have none of this (`solver.rows.levers`).
"""

import warp as wp

from warp_artic.constraints.contact_motion import gap_before
from warp_artic.constraints.limit_projection import linearize_limit, move_masked, stop_value
from warp_artic.constraints.rows import add_responses, prepare_response, row_response, row_velocity
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

YIELD = wp.constant(0.25)
"""R of a normal, beside that of `constraints.contact_pair`, as a share of `reach`."""
SWEEPS = wp.constant(8)
"""Over all normals and limits of a mechanism."""


@wp.func
def part_overlaps(model: ModelArrays, work: WorkArrays, block: int, worker: int):
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
        move_masked(model, work, block, worker)


@wp.func
def way_back(model: ModelArrays, work: WorkArrays, point: int, worker: int):
    """How far a point is to be moved apart; zero where it is not near."""
    near = work.contact_near[point, worker]
    return where_positive(near, work.contact_way_back[point, worker], near - near)


@wp.func
def find_deep_islands(model: ModelArrays, work: WorkArrays, worker: int):
    """Mark the islands in which a point is to go back; says whether there are any."""
    found = bool(False)
    for island in range(model.island_count):
        work.environment_mask[island, worker] = real(0.0, work.v_next[0, worker])
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        way = way_back(model, work, model.row_item[row] // 3, worker)
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
        way = way_back(model, work, point, worker)
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
        zero = mask - mask
        q, lower, upper = stop_value(model, work, row, block, worker)
        linearize_limit(model, work, row, block, worker)
        prepare_response(model, work, row, worker)
        r = row_response(model, work, row, worker)
        free = row_velocity(model, work, row, worker) - r * work.contact_passed[row, worker]
        target = minimum(maximum(free, minimum(lower - q, zero)), maximum(upper - q, zero))
        change_impulse(model, work, row, (target - free) / where_positive(r, r, real(1.0, r)), mask, worker)


@wp.func
def change_impulse(model: ModelArrays, work: WorkArrays, row: int, z: Real, mask: Real, worker: int):
    """Change the impulse of a row where `mask`, and what the dofs move by."""
    change = where_positive(mask, z - work.contact_passed[row, worker], mask - mask)
    if any_positive(absolute(change)):
        work.contact_passed[row, worker] = work.contact_passed[row, worker] + change
        work.smooth[row, worker] = change
        add_responses(model, work, work.smooth, row, row + 1, work.v_next, worker)
