"""Projected Gauss-Seidel over the active rows.

Each iteration visits the active rows, gives each the impulse that solves it alone, and applies the difference through
its response. Of a point of contact it takes the normal, and then both tangents, up to the cone of the normal. It visits
them in reversed order first, then in order, so that what comes last has the last word: a sweep in both directions
leaves a real share below one of each error, and what many coupled rows leave of their errors in a step dies out in the
following ones, where sweeps in one direction can make it grow.
"""

import warp as wp

from warp_artic.constraints.contact_motion import velocity_after
from warp_artic.constraints.rows import apply_impulse, project, row_response, row_velocity
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    mul,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import IS_CONTACT, has_trait


@wp.func
def solve_pgs(model: ModelArrays, work: WorkArrays, worker: int, iterations: int):
    """Solve the active rows one after the other, back and there, `iterations` times."""
    for sweep in range(2 * iterations):
        sweep_rows(model, work, worker, sweep % 2)


@wp.func
def solve_pgs_with_contacts(model: ModelArrays, work: WorkArrays, worker: int, iterations: int):
    """The same, where there are points of contact: these in the same order among themselves, after the other rows."""
    for k in range(model.contact_rows):
        start_contact_row(model, work, model.contact_row + k, worker)
    for sweep in range(2 * iterations):
        sweep_rows(model, work, worker, sweep % 2)
        sweep_contacts(model, work, worker, sweep % 2)


@wp.func
def start_contact_row(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Begin with the impulse of the step before, where a direction of a point of contact has none yet."""
    takes = work.active[row, worker] * work.environment_mask[model.row_island[row], worker]
    if any_positive(takes):
        z = work.impulse[row, worker]
        before = work.contact_start[model.row_item[row], worker]
        take_direction(model, work, row, before, where_positive(absolute(z), z - z, takes), worker)


@wp.func
def sweep_contacts(model: ModelArrays, work: WorkArrays, worker: int, forward: int):
    """Solve the active points of contact one after the other, in order or, if `forward` is 0, in reversed order."""
    count = model.contact_rows // 3
    for k in range(count):
        place = forward * k + (1 - forward) * (count - 1 - k)
        row = model.contact_row + 3 * place
        if any_positive(work.active[row, worker]):
            sweep_contact(model, work, row, worker)


@wp.func
def sweep_contact(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Solve one, whose normal has the row."""
    item = model.row_item[row]
    takes = work.active[row, worker] * work.environment_mask[model.row_island[row], worker]
    zero = takes - takes
    one = real(1.0, takes)
    old = work.impulse[row, worker]
    z = sweep_direction(model, work, row, work.contact_speed[item // 3, worker], worker)
    z = where_positive(takes, maximum(z, zero), old)
    work.impulse[row, worker] = z
    apply_impulse(model, work, row, worker, z - old)
    z_1 = sweep_direction(model, work, row + 1, zero, worker)
    z_2 = sweep_direction(model, work, row + 2, zero, worker)
    most = work.contact_friction[item // 3, worker] * z
    size = sqrt(z_1 * z_1 + z_2 * z_2)
    share = where_positive(size - most, most / where_positive(size, size, one), one)
    take_direction(model, work, row + 1, z_1 * share, takes, worker)
    take_direction(model, work, row + 2, z_2 * share, takes, worker)


@wp.func
def sweep_direction(model: ModelArrays, work: WorkArrays, row: int, target: Real, worker: int):
    """The impulse that solves one direction of a point of contact alone, without a bound."""
    item = model.row_item[row]
    r = row_response(model, work, row, worker)
    # What a row gives way by for the sake of a direct solution is not wanted here.
    gives = r + work.compliance[row, worker] - work.contact_give[item, worker]
    missing = target - velocity_after(model, work, row, worker) + r * work.impulse[row, worker]
    return where_positive(gives, missing / gives, r - r)


@wp.func
def take_direction(model: ModelArrays, work: WorkArrays, row: int, z: Real, takes: Real, worker: int):
    """Give a tangent its impulse where `takes`."""
    old = work.impulse[row, worker]
    impulse = where_positive(takes, z, old)
    work.impulse[row, worker] = impulse
    apply_impulse(model, work, row, worker, impulse - old)


@wp.func
def sweep_rows(model: ModelArrays, work: WorkArrays, worker: int, forward: int):
    """Solve the active rows one after the other, in order or, if `forward` is 0, in reversed order."""
    last = model.row_count - 1
    for k in range(model.row_count):
        row = forward * k + (1 - forward) * (last - k)
        active = work.active[row, worker]
        mask = work.environment_mask[model.row_island[row], worker]
        if any_positive(active) and not has_trait(model, row, IS_CONTACT):
            old = work.impulse[row, worker]
            r = row_response(model, work, row, worker)
            y_free = row_velocity(model, work, row, worker) - r * old
            solved = project(
                y_free,
                r,
                work.velocity_bounds[2 * row, worker],
                work.velocity_bounds[2 * row + 1, worker],
                work.compliance[row, worker],
                work.impulse_bounds[2 * row, worker],
                work.impulse_bounds[2 * row + 1, worker],
            )
            impulse = where_positive(active * mask, solved, old)
            work.impulse[row, worker] = impulse
            apply_impulse(model, work, row, worker, impulse - old)
