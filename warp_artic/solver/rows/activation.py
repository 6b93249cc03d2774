"""Which rows take part in the row problem of a step: those whose velocity is outside of its bounds.

A row becomes active in the environments in which the velocities so far leave its bounds, and stays active for the step;
where impulses are found by sweeps from those of the step before, contacts that had one are active from the start, and
so are limits that have borne a load beside contacts.
Rows whose velocity leaves its bounds only by the impulses of others join in the next round, which solves again in just
those environments, the environment mask, and in the islands that they are of: what an environment does never depends on
its neighbours in a lane, nor what an island does on the others.
"""

import warp as wp

from warp_artic.constraints.rows import prepare_response, row_velocity
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    is_finite,
    maximum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import IS_CONTACT, has_trait


@wp.func
def activate_rows(model: ModelArrays, work: WorkArrays, worker: int):
    """Activate the rows that are outside their velocity bounds; says whether there are new ones."""
    found = bool(False)
    for island in range(model.island_count):
        work.environment_mask[island, worker] = real(0.0, work.v_next[0, worker])
    # Those of limits on speeds join by `speed_limit.turn_limits`.
    left_out = 3 * model.speed_limits
    for k in range(model.row_count - left_out):
        row = int(k)
        if k >= model.limit_row:
            row = k + left_out
        if activate_row(model, work, row, worker):
            found = bool(True)
    return found


@wp.func
def activate_row(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Activate a row where it is outside its velocity bounds; says whether it is new anywhere.

    Tangents of a point of contact become active with its normal.
    """
    if has_trait(model, row, IS_CONTACT) and not may_touch(model, work, row, worker):
        return False
    y = row_velocity(model, work, row, worker)
    lower = work.velocity_bounds[2 * row, worker]
    upper = work.velocity_bounds[2 * row + 1, worker]
    outside = maximum(lower - y, y - upper)
    turns = row >= model.turn_row and row < model.turn_row + model.turn_rows
    if turns or model.is_dual == 1 or model.innovations_only == 0:
        # An equality that holds already has an impulse whose value is zero, and whose derivatives are not. Of turning
        # friction the row across the rolling holds but for rounding: it takes part always. So it is with sweeps, of
        # which a row that joins late, because it held but for rounding, makes twice as many.
        holds = where_positive(maximum(upper - lower, absolute(outside)), real(0.0, y), real(1.0, y))
        outside = maximum(outside, holds)
    active = work.active[row, worker]
    newly = where_positive(outside, real(1.0, y) - active - work.stopped[0, worker], real(0.0, y))
    if not any_positive(newly):
        return False
    last = row
    if has_trait(model, row, IS_CONTACT):
        last = row + 2
    activate(model, work, row, last, newly, worker)
    return True


@wp.func
def activate_loaded(model: ModelArrays, work: WorkArrays, worker: int):
    """Activate the points of contact that begin with an impulse of the step before; says whether there are new ones.

    What one of them carried together with others is not to be left to these until velocities leave its bounds.
    """
    found = bool(False)
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        if may_touch(model, work, row, worker):
            item = model.row_item[row]
            active = work.active[row, worker]
            zero = active - active
            loaded = where_positive(work.contact_start[item, worker], work.contact_near[item // 3, worker], zero)
            loaded = loaded * is_finite(work.velocity_bounds[2 * row, worker])
            newly = where_positive(loaded, real(1.0, active) - active, zero)
            if any_positive(newly):
                found = bool(True)
                activate(model, work, row, row + 2, newly, worker)
    return found


@wp.func
def activate_bearing(model: ModelArrays, work: WorkArrays, worker: int):
    """Activate the stops that begin with an impulse, as rows that hold there; says whether there are new ones."""
    found = bool(False)
    for place in range(model.bearing_rows):
        row = model.bearing_row[place]
        if row >= model.stop_row:
            z = work.row_start[row, worker]
            active = work.active[row, worker]
            end = where_positive(z, work.velocity_bounds[2 * row, worker], work.velocity_bounds[2 * row + 1, worker])
            bears = where_positive(absolute(z), is_finite(end), active - active)
            newly = where_positive(bears, real(1.0, z) - active - work.stopped[0, worker], active - active)
            if any_positive(newly):
                found = bool(True)
                activate(model, work, row, row, newly, worker)
                if model.innovations_only == 1:
                    work.last_status[row, worker] = where_positive(newly, real(1.0, z), work.last_status[row, worker])
                    work.last_side[row, worker] = where_positive(newly, z, work.last_side[row, worker])
    return found


@wp.func
def activate(model: ModelArrays, work: WorkArrays, row: int, last: int, newly: Real, worker: int):
    """Activate a row, and those up to the last one, which take part with it, where it is new."""
    for k in range(row, last + 1):
        work.active[k, worker] = maximum(work.active[row, worker], newly)
    island = model.row_island[row]
    work.environment_mask[island, worker] = maximum(work.environment_mask[island, worker], newly)


@wp.func
def may_touch(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Whether a row is the normal of a point of contact that may touch in any environment."""
    item = model.row_item[row]
    return item % 3 == 0 and any_positive(work.contact_near[item // 3, worker])


@wp.func
def prepare_responses(model: ModelArrays, work: WorkArrays, worker: int):
    """Compute the responses that the active rows need and do not have."""
    for row in range(model.row_count):
        if any_positive(work.active[row, worker]):
            prepare_response(model, work, row, worker)
