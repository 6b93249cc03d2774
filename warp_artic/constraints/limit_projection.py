"""Joints that are beyond their limits after a step, brought back onto them.

Limits of finite rotations are passed by what a step curves by, and limits of one dof where a run starts, where somebody
moves them, or where an impact throws a joint beyond.
"""

import warp as wp

from warp_artic.constraints.rotation_coordinates import limit_at, limit_value, set_rotation_jacobian, start_rotation
from warp_artic.constraints.rows import (
    RECOVERY,
    add_responses,
    prepare_response,
    row_rate,
    row_response,
    row_velocity,
)
from warp_artic.constraints.tied_path import can_tie, tie_path
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
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.roots import pose_rows
from warp_artic.phases.integrate import move_joints

SETTLED = wp.constant(1e-6)
"""What a limit may be missed by [rad or m]."""

EXACT = wp.constant(1e-12)
"""The same of finite rotations in double precision [rad]."""


HOLDS = wp.constant(6)
"""Times that joints beyond their limits are brought back in a step."""


HOLDS_BY_INERTIA = wp.constant(2)
"""The first of these times, when the mechanism moves by the least change in terms of M; later the joint alone does."""

LOCKED = wp.constant(1e-6)
"""Share of the response of a limit below which mimic joints and loops hold it."""


@wp.func
def hold_limits(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real, is_last: int):
    """Bring joints that have passed limits back onto them, by the shortest way in terms of M that mimic joints allow.

    Else mimic joints would take back by a velocity, which lasts, what a way of the joint alone does to them. What two
    such ways leave is taken back in the joint alone. Velocities stay as they were. A limit that was violated before may
    still be by what `rows.RECOVERY` leaves; it is taken back once in a step of length h, in the last substep, and as
    fast as velocity limits allow in all of it.
    """
    passes = int(0)
    while passes < HOLDS and find_way_back(model, work, block, worker, passes, h, is_last):
        move_masked(model, work, block, worker)
        passes += 1


@wp.func
def move_masked(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Move the positions of the islands in `work.environment_mask` by `work.v_next`."""
    one = real(1.0, work.v_next[0, worker])
    if model.placed_rows > 0:
        for dof in range(model.dof_count):
            moved = work.environment_mask[model.dof_island[dof], worker]
            more = where_positive(moved, work.v_next[dof, worker], one - one)
            work.shift[dof, worker] = work.shift[dof, worker] + more
    move_joints(model, work, work.end_position, work.end_root, block, worker, one, 0, 1)
    for item in range(model.dof_count - model.root_dofs):
        moved = work.environment_mask[model.dof_island[model.root_dofs + item], worker]
        work.position[item, worker] = where_positive(
            moved, work.end_position[item, worker], work.position[item, worker]
        )
    for k in range(pose_rows(model.root_dofs)):
        moved = work.environment_mask[model.dof_island[6 * (k // 7)], worker]
        work.root[k, worker] = where_positive(moved, work.end_root[k, worker], work.root[k, worker])


@wp.func
def stop_value(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """The coordinate of a limit at the positions so far, and its lower and upper end."""
    if row < model.row_count - model.rotation_rows:
        item = model.row_item[row]
        return work.position[item, worker], model.limit_lower[item, block], model.limit_upper[item, block]
    dof = model.term_dof[model.row_term[row]]
    phi = start_rotation(model, work, dof, dof - model.root_dofs, model.row_terms[row], worker)
    return limit_value(model, row, block, phi)


@wp.func
def limit_range(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """The least and the largest change of the coordinate of a limit; what is passed already may be so still."""
    q, lower, upper = stop_value(model, work, row, block, worker)
    zero = q - q
    return minimum(lower - q, zero), maximum(upper - q, zero)


@wp.func
def linearize_limit(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """Write J of a limit at the positions so far; returns J J^T."""
    if row < model.row_count - model.rotation_rows:
        return real(1.0, work.v_next[0, worker])
    dof = model.term_dof[model.row_term[row]]
    phi = start_rotation(model, work, dof, dof - model.root_dofs, model.row_terms[row], worker)
    y, J, lower, upper = limit_at(model, row, block, phi)
    set_rotation_jacobian(model, work, row, worker, J)
    return dot(J, J)


@wp.func
def fastest_way_back(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """The rate of the coordinate of a limit with which the way along its J keeps the velocity limits of the dofs."""
    if row < model.row_count - model.rotation_rows:
        return model.velocity_limit[model.row_item[row], block]
    start = model.row_term[row]
    end = start + model.row_terms[row]
    square = work.J[start, worker] * work.J[start, worker]
    for term in range(start + 1, end):
        square = square + work.J[term, worker] * work.J[term, worker]
    fastest = real(1.0, square) / real(0.0, square)
    for term in range(start, end):
        own = absolute(work.J[term, worker])
        most = model.velocity_limit[model.term_dof[term] - model.root_dofs, block] * square
        fastest = where_positive(own, minimum(fastest, most / where_positive(own, own, square)), fastest)
    return fastest


@wp.func
def violation_left(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real, is_last: int):
    """What may be left of the violation that a substep starts with: all, but for a share in the last of a step of h."""
    violation = work.tolerance[row, worker]
    if is_last == 1 and any_positive(violation):
        fastest = fastest_way_back(model, work, row, block, worker)
        violation = violation - minimum(violation * real(RECOVERY, h), h * fastest)
    return violation


@wp.func
def find_way_back(model: ModelArrays, work: WorkArrays, block: int, worker: int, passes: int, h: Real, is_last: int):
    """Write to `work.v_next` how the dofs are to move so that no limit is passed; says whether any has to."""
    zero = real(0.0, h)
    settled = minimum(real(SETTLED, h), maximum(model.rounding[0, 0], real(EXACT, h)))
    found = bool(False)
    for island in range(model.island_count):
        work.environment_mask[island, worker] = zero
    for row in range(model.stop_row, model.row_count):
        y, lower, upper = stop_value(model, work, row, block, worker)
        left = violation_left(model, work, row, block, worker, h, is_last)
        over = y - upper - left
        under = lower - y - left
        missed = settled
        if row < model.row_count - model.rotation_rows:
            missed = real(SETTLED, h)
        passed = maximum(over, under) - missed
        if any_positive(passed):
            if not found:
                for k in range(model.dof_count):
                    work.v_next[k, worker] = zero
            found = bool(True)
            island = model.row_island[row]
            mask = where_positive(passed, real(1.0, h), zero)
            work.environment_mask[island, worker] = maximum(work.environment_mask[island, worker], mask)
            square = linearize_limit(model, work, row, block, worker)
            way = where_positive(over, neg(over), under) - row_velocity(model, work, row, worker)
            way = where_positive(passed, way, zero)
            if passes < HOLDS_BY_INERTIA:
                prepare_response(model, work, row, worker)
                if model.mimic_rows > 0:
                    add_tied_way(model, work, row, way, worker)
                else:
                    work.smooth[row, worker] = way / row_response(model, work, row, worker)
                    add_responses(model, work, work.smooth, row, row + 1, work.v_next, worker)
            else:
                start = model.row_term[row]
                for term in range(start, start + model.row_terms[row]):
                    k = model.term_dof[term]
                    work.v_next[k, worker] = work.v_next[k, worker] + work.J[term, worker] * way / square
    return found


@wp.func
def add_tied_way(model: ModelArrays, work: WorkArrays, row: int, way: Real, worker: int):
    """Add the way of a limit along its response, less what mimic joints and loops do not let it have.

    Nothing where they leave nothing of it.
    """
    zero = way - way
    one = real(1.0, way)
    for dof in range(model.dof_count):
        work.contact_path[dof, worker] = zero
    work.smooth[row, worker] = one
    add_responses(model, work, work.smooth, row, row + 1, work.contact_path, worker)
    for tied in range(model.stop_row):
        work.tie_left[tied, worker] = zero
        if any_positive(can_tie(model, work, tied, worker)):
            prepare_response(model, work, tied, worker)
    tie_path(model, work, worker, model.stop_row, 1)
    rate = row_rate(model, work, work.contact_path, row, worker)
    left = rate - real(LOCKED, way) * row_response(model, work, row, worker)
    share = where_positive(left, way / where_positive(left, rate, one), zero)
    for dof in range(model.dof_count):
        work.v_next[dof, worker] = work.v_next[dof, worker] + share * work.contact_path[dof, worker]
