"""What loops, mimic joints and gears do to a path that contacts have changed (`constraints.contact_impacts`).

With the rows e that tie dofs together, J of these and a change x of the path without them, it is to be
    x + M^-1 J^T z,   G z = - J x,   G = J M^-1 J^T
by conjugate gradients with the diagonal D of G, in each island by itself (r what is left, p the direction):
    x += a M^-1 J^T p,   r -= a G p,   a = r D^-1 r / p G p,   p = D^-1 r + (ratio of r D^-1 r to that before) p
as many turns as there are rows, in exact numbers; redundant rows have no more to do. Rows may be given rates that x is
to have, and limits may be among them.

Source: Hestenes and Stiefel, Methods of conjugate gradients for solving linear systems (1952).
"""

import warp as wp

from warp_artic.constraints.rows import add_responses, row_rate, row_response
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    div,
    is_finite,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import HOLDS_POSITIONS, MOVES_DOFS_ALIKE, has_trait

MOST_TURNS = wp.constant(60)
"""After which what is left is left to the laws of the rows."""


@wp.func
def tie_path(model: ModelArrays, work: WorkArrays, worker: int, end: int, is_whole: int):
    """Add to `work.contact_path` what the rows before `end` do that tie dofs together.

    If `is_whole` is 1 those that are not active do so too. `work.tie_left` has their rates. From `model.stop_row` on
    these are limits, for which `work.tie_scale` has 1 where they are among them.
    """
    begin_ties(model, work, worker, end, is_whole)
    turns = int(0)
    while turns < MOST_TURNS and is_left(model, work, worker):
        follow_direction(model, work, worker, end)
        turn_direction(model, work, worker, end)
        turns += 1


@wp.func
def can_tie(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """One where a row ties dofs together, be it that it acts or that velocities satisfy it: it does not give way."""
    zero = real(0.0, work.active[row, worker])
    if has_trait(model, row, HOLDS_POSITIONS | MOVES_DOFS_ALIKE):
        hard = where_positive(work.compliance[row, worker], zero, real(1.0, zero))
        return hard * is_finite(work.velocity_bounds[2 * row, worker])
    return zero


@wp.func
def ties(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """One where a row ties dofs together and is active."""
    return can_tie(model, work, row, worker) * work.active[row, worker]


@wp.func
def begin_ties(model: ModelArrays, work: WorkArrays, worker: int, end: int, is_whole: int):
    """Write what is left of each row, D^-1 and the first direction; and r D^-1 r of each island."""
    zero = real(0.0, work.contact_path[0, worker])
    one = real(1.0, zero)
    for island in range(model.island_count):
        work.tie_left_over[island, worker] = zero
    for row in range(end):
        mask = work.tie_scale[row, worker]
        left = zero
        inverse = zero
        if row < model.stop_row:
            mask = can_tie(model, work, row, worker)
            if is_whole == 0:
                mask = mask * work.active[row, worker]
        if any_positive(mask):
            left = mask * (work.tie_left[row, worker] - row_rate(model, work, work.contact_path, row, worker))
            D = row_response(model, work, row, worker)
            inverse = where_positive(D, mask / where_positive(D, D, one), zero)
        island = model.row_island[row]
        work.tie_left[row, worker] = left
        work.tie_scale[row, worker] = inverse
        work.tie_direction[row, worker] = inverse * left
        work.tie_left_over[island, worker] = work.tie_left_over[island, worker] + left * inverse * left
    known = model.rounding[0, 0]
    for island in range(model.island_count):
        work.tie_known[island, worker] = known * known * work.tie_left_over[island, worker]


@wp.func
def is_left(model: ModelArrays, work: WorkArrays, worker: int):
    """Whether more than rounding is left in any island."""
    found = bool(False)
    for island in range(model.island_count):
        found = found or any_positive(work.tie_left_over[island, worker] - work.tie_known[island, worker])
    return found


@wp.func
def follow_direction(model: ModelArrays, work: WorkArrays, worker: int, end: int):
    """Move along the direction as far as it makes what is left less, in islands that have more than rounding left."""
    zero = real(0.0, work.contact_path[0, worker])
    one = real(1.0, zero)
    for dof in range(model.dof_count):
        work.tie_rate[dof, worker] = zero
    add_responses(model, work, work.tie_direction, 0, end, work.tie_rate, worker)
    for island in range(model.island_count):
        work.tie_curve[island, worker] = zero
    for row in range(end):
        if any_positive(work.tie_scale[row, worker]):
            island = model.row_island[row]
            p = work.tie_direction[row, worker]
            curve = p * row_rate(model, work, work.tie_rate, row, worker)
            work.tie_curve[island, worker] = work.tie_curve[island, worker] + curve
    for island in range(model.island_count):
        curve = work.tie_curve[island, worker]
        left = work.tie_left_over[island, worker]
        goes = where_positive(left - work.tie_known[island, worker], curve, zero)
        work.tie_curve[island, worker] = where_positive(goes, left / where_positive(curve, curve, one), zero)
    for dof in range(model.dof_count):
        a = work.tie_curve[model.dof_island[dof], worker]
        work.contact_path[dof, worker] = work.contact_path[dof, worker] + a * work.tie_rate[dof, worker]


@wp.func
def turn_direction(model: ModelArrays, work: WorkArrays, worker: int, end: int):
    """Write what is left after a move, and the next direction; islands that have only rounding left, or stay, end."""
    zero = real(0.0, work.contact_path[0, worker])
    one = real(1.0, zero)
    for island in range(model.island_count):
        work.tie_ratio[island, worker] = zero
    for row in range(end):
        scale = work.tie_scale[row, worker]
        if any_positive(scale):
            island = model.row_island[row]
            a = work.tie_curve[island, worker]
            moved = a * row_rate(model, work, work.tie_rate, row, worker)
            left = work.tie_left[row, worker] - where_positive(scale, moved, zero)
            work.tie_left[row, worker] = left
            work.tie_ratio[island, worker] = work.tie_ratio[island, worker] + left * scale * left
    for island in range(model.island_count):
        a = work.tie_curve[island, worker]
        before = work.tie_left_over[island, worker]
        left = where_positive(a, work.tie_ratio[island, worker], zero)
        work.tie_left_over[island, worker] = left
        work.tie_ratio[island, worker] = left / where_positive(before, before, one)
    for row in range(end):
        scale = work.tie_scale[row, worker]
        if any_positive(scale):
            again = work.tie_ratio[model.row_island[row], worker] * work.tie_direction[row, worker]
            work.tie_direction[row, worker] = scale * work.tie_left[row, worker] + again
