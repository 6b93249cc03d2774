"""Projected Gauss-Seidel over the active rows.

Each iteration visits the active rows, gives each the impulse that solves it alone, and applies the difference through
its response. Of a point of contact it takes the normal, and then both tangents, up to the cone of the normal. It visits
them in reversed order first, then in order, so that what comes last has the last word: a sweep in both directions
leaves a real share below one of each error, and what many coupled rows leave of their errors in a step dies out in the
following ones, where sweeps in one direction can make it grow.
"""

import warp as wp

from warp_artic.constraints.contact_motion import velocity_after
from warp_artic.constraints.rows import project, push_row, row_response, row_velocity
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
def solve_pgs(model: ModelArrays, work: WorkArrays, slot: int, iterations: int):
    """Solve the active rows one after the other, back and there, `iterations` times."""
    for sweep in range(2 * iterations):
        sweep_rows(model, work, slot, sweep % 2)


@wp.func
def solve_pgs_with_contacts(model: ModelArrays, work: WorkArrays, slot: int, iterations: int):
    """The same, where there are points of contact: these in the same order among themselves, after the other rows."""
    for k in range(model.contact_rows):
        start_contact_row(model, work, model.contact_row + k, slot)
    for sweep in range(2 * iterations):
        sweep_rows(model, work, slot, sweep % 2)
        sweep_contacts(model, work, slot, sweep % 2)


@wp.func
def start_contact_row(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """Begin with the impulse of the step before, where a direction of a point of contact has none yet."""
    takes = work.active[row, slot] * work.environment_mask[model.row_island[row], slot]
    if any_positive(takes):
        z = work.impulse[row, slot]
        before = work.contact_start[model.row_item[row], slot]
        take_direction(model, work, row, before, where_positive(absolute(z), z - z, takes), slot)


@wp.func
def sweep_contacts(model: ModelArrays, work: WorkArrays, slot: int, forward: int):
    """Solve the active points of contact one after the other, in order or, if `forward` is 0, in reversed order."""
    count = model.contact_rows // 3
    for k in range(count):
        place = forward * k + (1 - forward) * (count - 1 - k)
        row = model.contact_row + 3 * place
        if any_positive(work.active[row, slot]):
            sweep_contact(model, work, row, slot)


@wp.func
def sweep_contact(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """Solve one, whose normal has the row."""
    item = model.row_item[row]
    takes = work.active[row, slot] * work.environment_mask[model.row_island[row], slot]
    zero = takes - takes
    one = real(1.0, takes)
    old = work.impulse[row, slot]
    z = sweep_direction(model, work, row, work.contact_speed[item // 3, slot], slot)
    z = where_positive(takes, maximum(z, zero), old)
    work.impulse[row, slot] = z
    push_row(model, work, row, slot, z - old)
    z_1 = sweep_direction(model, work, row + 1, zero, slot)
    z_2 = sweep_direction(model, work, row + 2, zero, slot)
    most = work.contact_friction[item // 3, slot] * z
    size = sqrt(z_1 * z_1 + z_2 * z_2)
    share = where_positive(size - most, most / where_positive(size, size, one), one)
    take_direction(model, work, row + 1, z_1 * share, takes, slot)
    take_direction(model, work, row + 2, z_2 * share, takes, slot)


@wp.func
def sweep_direction(model: ModelArrays, work: WorkArrays, row: int, target: Real, slot: int):
    """The impulse that solves one direction of a point of contact alone, without a bound."""
    item = model.row_item[row]
    r = row_response(model, work, row, slot)
    # What a row gives way by for the sake of a direct solution is not wanted here.
    gives = r + work.compliance[row, slot] - work.contact_give[item, slot]
    missing = target - velocity_after(model, work, row, slot) + r * work.impulse[row, slot]
    return where_positive(gives, missing / gives, r - r)


@wp.func
def take_direction(model: ModelArrays, work: WorkArrays, row: int, z: Real, takes: Real, slot: int):
    """Give a tangent its impulse where `takes`."""
    old = work.impulse[row, slot]
    impulse = where_positive(takes, z, old)
    work.impulse[row, slot] = impulse
    push_row(model, work, row, slot, impulse - old)


@wp.func
def sweep_rows(model: ModelArrays, work: WorkArrays, slot: int, forward: int):
    """Solve the active rows one after the other, in order or, if `forward` is 0, in reversed order."""
    last = model.row_count - 1
    for k in range(model.row_count):
        row = forward * k + (1 - forward) * (last - k)
        active = work.active[row, slot]
        joining = work.environment_mask[model.row_island[row], slot]
        if any_positive(active) and not has_trait(model, row, IS_CONTACT):
            old = work.impulse[row, slot]
            r = row_response(model, work, row, slot)
            y_free = row_velocity(model, work, row, slot) - r * old
            solved = project(
                y_free,
                r,
                work.window[2 * row, slot],
                work.window[2 * row + 1, slot],
                work.compliance[row, slot],
                work.bound[2 * row, slot],
                work.bound[2 * row + 1, slot],
            )
            impulse = where_positive(active * joining, solved, old)
            work.impulse[row, slot] = impulse
            push_row(model, work, row, slot, impulse - old)
