"""Projected Gauss-Seidel over the active rows.

Each iteration visits the active rows, gives each the impulse that solves it alone, and applies the difference through
its response. Of a point of contact it takes the normal, and then both tangents, up to the cone of the normal. It visits
them in reversed order first, then in order, so that what comes last has the last word: a sweep in both directions
leaves a real share below one of each error, and what many coupled rows leave of their errors in a step dies out in the
following ones, where sweeps in one direction can make it grow.

Impulses z of rows of the bounds b minimize  f = z^T (G + R) z / 2 + z^T (y_free - b),  with f = 0 without impulses.
With b = 0 that is the energy that they give. Contacts that rest under a load give none, as what takes small overlaps
back does less than gravity; so f < 0 also where b = 0 is taken for them, and their own b for those that bounce or are
soft. But contacts begin with their impulses of the step before, and friction follows its cone: where bodies are jammed,
sweeps may leave f > 0, and each step would add energy. So changes of f are added up. Islands that do not end with f <
0, by more than rounding, are solved again from no impulses; if they do so again, their impulses are made smaller, to
the share s with the least  f = s z^T (y_free - b) + s^2 z^T (G + R) z / 2. Overlaps without a load, as with a wall
beside a body, can ask for that as well: it falls for a step then.
"""

import warp as wp

from warp_artic.constraints.contact_motion import velocity_after
from warp_artic.constraints.rows import (
    apply_impulse,
    project,
    response_along,
    row_response,
    row_velocity,
)
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    is_finite,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import IS_CONTACT, MOVES_DOFS_ALIKE, TURNS_ROUND, has_trait


@wp.func
def solve_pgs(model: ModelArrays, work: WorkArrays, worker: int, iterations: int):
    """Solve the active rows one after the other, back and there, `iterations` times."""
    for sweep in range(2 * iterations):
        sweep_rows(model, work, worker, sweep % 2, 0)


@wp.func
def solve_pgs_with_contacts(model: ModelArrays, work: WorkArrays, worker: int, iterations: int):
    """The same, where there are points of contact: these in the same order among themselves, after the other rows."""
    zero = real(0.0, work.v_next[0, worker])
    for island in range(model.island_count):
        work.sweep_objective[island, worker] = zero
        work.sweep_changes[island, worker] = zero
    for k in range(model.contact_rows):
        start_contact_row(model, work, model.contact_row + k, worker)
    for place in range(model.bearing_rows):
        row = model.bearing_row[place]
        if has_trait(model, row, TURNS_ROUND) or (row >= model.stop_row and model.tying_rows == 0):
            start_row(model, work, row, worker)
    # Drives and mimic joints answer what contacts carried before contacts change it.
    sweep_rows(model, work, worker, 1, 1)
    sweep_both_ways(model, work, worker, iterations)
    for island in range(model.island_count):
        work.sweep_mask[island, worker] = work.environment_mask[island, worker]
    if find_increase(model, work, worker):
        for row in range(model.row_count):
            scale_impulse(model, work, row, zero, worker)
        for island in range(model.island_count):
            work.sweep_objective[island, worker] = zero
            work.sweep_changes[island, worker] = zero
        sweep_both_ways(model, work, worker, iterations)
        if find_increase(model, work, worker):
            lower_objective(model, work, worker)
    for island in range(model.island_count):
        work.environment_mask[island, worker] = work.sweep_mask[island, worker]


@wp.func
def bound_pushed_to(work: WorkArrays, row: int, z: Real, worker: int):
    """The bound on the side of which an impulse pushes."""
    return where_positive(z, work.velocity_bounds[2 * row, worker], work.velocity_bounds[2 * row + 1, worker])


@wp.func
def lower_objective(model: ModelArrays, work: WorkArrays, worker: int):
    """Make the impulses of islands that are solved smaller, to the share of them with the least f."""
    zero = real(0.0, work.v_next[0, worker])
    for island in range(model.island_count):
        work.sweep_slope[island, worker] = zero
    for row in range(model.row_count):
        z = work.impulse[row, worker]
        takes = work.active[row, worker] * work.environment_mask[model.row_island[row], worker] * absolute(z)
        if any_positive(takes):
            slope = z * objective_slope(model, work, row, worker)
            island = model.row_island[row]
            total = work.sweep_slope[island, worker]
            work.sweep_slope[island, worker] = total + where_positive(takes, slope, zero)
    for island in range(model.island_count):
        end = work.sweep_slope[island, worker]
        bend = real(2.0, end) * (end - work.sweep_objective[island, worker])
        share = where_positive(bend, (bend - end) / where_positive(bend, bend, real(1.0, end)), zero)
        work.sweep_share[island, worker] = minimum(maximum(share, zero), real(1.0, end))
    for row in range(model.row_count):
        scale_impulse(model, work, row, work.sweep_share[model.row_island[row], worker], worker)


@wp.func
def objective_slope(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """y + R z - b  of a row, with the b that is counted of contacts."""
    z = work.impulse[row, worker]
    if has_trait(model, row, IS_CONTACT):
        y = velocity_after(model, work, row, worker) - counted_speed(model, work, row, worker)
        return y + contact_softness(model, work, row, worker) * z
    y = row_velocity(model, work, row, worker) + work.compliance[row, worker] * z
    return y - bound_pushed_to(work, row, z, worker)


@wp.func
def scale_impulse(model: ModelArrays, work: WorkArrays, row: int, share: Real, worker: int):
    """Leave a share of the impulse of a row of islands that are solved."""
    z = work.impulse[row, worker]
    takes = work.active[row, worker] * work.environment_mask[model.row_island[row], worker]
    if any_positive(takes * absolute(z)):
        take_impulse(model, work, row, share * z, takes, worker)


@wp.func
def sweep_both_ways(model: ModelArrays, work: WorkArrays, worker: int, iterations: int):
    """Sweep over all active rows, back and there."""
    for sweep in range(2 * iterations):
        sweep_rows(model, work, worker, sweep % 2, 1)
        sweep_contacts(model, work, worker, sweep % 2)


@wp.func
def find_increase(model: ModelArrays, work: WorkArrays, worker: int):
    """Leave only islands to be solved whose f is not known to be below zero; says whether there are any."""
    worst = real(0.0, work.v_next[0, worker])
    for island in range(model.island_count):
        mask = work.environment_mask[island, worker]
        rounding = real(4.0, worst) * model.rounding[0, 0] * work.sweep_changes[island, worker]
        above = where_positive(work.sweep_objective[island, worker] + rounding, mask, mask - mask)
        work.environment_mask[island, worker] = above
        worst = maximum(worst, above)
    return any_positive(worst)


@wp.func
def add_to_objective(model: ModelArrays, work: WorkArrays, row: int, change: Real, takes: Real, worker: int):
    """Count a change of f in the island of a row where `takes`."""
    island = model.row_island[row]
    change = where_positive(takes, change, takes - takes)
    work.sweep_objective[island, worker] = work.sweep_objective[island, worker] + change
    work.sweep_changes[island, worker] = work.sweep_changes[island, worker] + absolute(change)


@wp.func
def start_contact_row(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Begin with the impulse of the step before, where a direction of a point of contact has none yet."""
    takes = work.active[row, worker] * work.environment_mask[model.row_island[row], worker]
    if any_positive(takes):
        item = model.row_item[row]
        z = work.impulse[row, worker]
        zero = z - z
        takes = where_positive(absolute(z), zero, takes)
        before = where_positive(takes, work.contact_start[item, worker], zero)
        y = velocity_after(model, work, row, worker) - counted_speed(model, work, row, worker)
        change = before * (y + real(0.5, z) * contact_gives(model, work, row, worker) * before)
        add_to_objective(model, work, row, change, takes, worker)
        take_impulse(model, work, row, before, takes, worker)


@wp.func
def start_row(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Begin with what a row of a joint has borne (`constraints.bearing_rows`), where it has no impulse yet.

    Friction does so, and stops where no loop or mimic joint ties dofs together: these rows take all of an error of
    positions back in a step, and what sweeps leave of one and the other would grow from step to step.
    """
    takes = work.active[row, worker] * work.environment_mask[model.row_island[row], worker]
    z = work.impulse[row, worker]
    before = where_positive(takes, where_positive(absolute(z), z, work.row_start[row, worker]), z)
    if any_positive(absolute(before - z)):
        r = row_response(model, work, row, worker)
        y_free = row_velocity(model, work, row, worker) - r * z
        add_row_to_objective(model, work, row, y_free, r, z, before, worker)
        take_impulse(model, work, row, before, takes, worker)


@wp.func
def sweep_contacts(model: ModelArrays, work: WorkArrays, worker: int, forward: int):
    """Solve the active points of contact one after the other, in order or, if `forward` is 0, in reversed order."""
    count = model.contact_rows // 3
    for k in range(count):
        place = forward * k + (1 - forward) * (count - 1 - k)
        row = model.contact_row + 3 * place
        if any_positive(work.active[row, worker]):
            sweep_contact(model, work, row, worker)
            if model.tying_rows > 0:
                sweep_ties(model, work, model.row_island[row], work.active[row, worker], worker)


@wp.func
def sweep_ties(model: ModelArrays, work: WorkArrays, island: int, takes: Real, worker: int):
    """Solve the rows of an island that tie dofs together, and stops after them: what a point pushes takes along what is
    tied to it, where `takes`."""
    for row in range(model.row_count):
        holds = has_trait(model, row, MOVES_DOFS_ALIKE) or row >= model.stop_row
        if holds and not has_trait(model, row, IS_CONTACT) and model.row_island[row] == island:
            sweep_row(model, work, row, takes, worker, 1)


@wp.func
def sweep_contact(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Solve one, whose normal has the row."""
    item = model.row_item[row]
    takes = work.active[row, worker] * work.environment_mask[model.row_island[row], worker]
    zero = takes - takes
    old = work.impulse[row, worker]
    gives = contact_gives(model, work, row, worker)
    y = velocity_after(model, work, row, worker) + (gives - row_response(model, work, row, worker)) * old
    missing = y - work.contact_speed[item // 3, worker]
    y = y - counted_speed(model, work, row, worker)
    per = where_positive(gives, real(1.0, takes) / where_positive(gives, gives, real(1.0, takes)), zero)
    z = where_positive(takes, where_positive(gives, maximum(old - missing * per, zero), zero), old)
    add_to_objective(model, work, row, (z - old) * (y + real(0.5, z) * gives * (z - old)), takes, worker)
    work.impulse[row, worker] = z
    apply_impulse(model, work, row, worker, z - old)
    sweep_friction(model, work, row, work.contact_friction[item // 3, worker] * z, takes, worker)


@wp.func
def sweep_friction(model: ModelArrays, work: WorkArrays, row: int, most: Real, takes: Real, worker: int):
    """Solve both tangents of a point together, or where that is beyond the cone go against the slip, onto it.

    The step against the slip is that of the largest response, which no direction overshoots.
    """
    zero = takes - takes
    one = real(1.0, takes)
    old_1 = work.impulse[row + 1, worker]
    old_2 = work.impulse[row + 2, worker]
    y_1 = velocity_after(model, work, row + 1, worker)
    y_2 = velocity_after(model, work, row + 2, worker)
    G_11 = row_response(model, work, row + 1, worker)
    G_22 = row_response(model, work, row + 2, worker)
    G_12 = response_along(model, work, row + 1, row + 2, worker)
    half = real(0.5, one) * (G_11 - G_22)
    response = real(0.5, one) * (G_11 + G_22) + sqrt(half * half + G_12 * G_12)
    determinant = G_11 * G_22 - G_12 * G_12
    is_whole = determinant - model.rounding[0, 0] * response * response
    per = where_positive(is_whole, one / where_positive(is_whole, determinant, one), zero)
    z_1 = old_1 - (G_22 * y_1 - G_12 * y_2) * per
    z_2 = old_2 - (G_11 * y_2 - G_12 * y_1) * per
    outside = where_positive(is_whole, sqrt(z_1 * z_1 + z_2 * z_2) - most, one)
    per = where_positive(response, one / where_positive(response, response, one), zero)
    z_1 = where_positive(outside, where_positive(response, old_1 - y_1 * per, zero), z_1)
    z_2 = where_positive(outside, where_positive(response, old_2 - y_2 * per, zero), z_2)
    size = sqrt(z_1 * z_1 + z_2 * z_2)
    share = where_positive(size - most, most / where_positive(size, size, one), one)
    dz_1 = where_positive(takes, z_1 * share - old_1, zero)
    dz_2 = where_positive(takes, z_2 * share - old_2, zero)
    bend = real(0.5, one) * (G_11 * dz_1 * dz_1 + G_22 * dz_2 * dz_2) + G_12 * dz_1 * dz_2
    add_to_objective(model, work, row, dz_1 * y_1 + dz_2 * y_2 + bend, takes, worker)
    take_impulse(model, work, row + 1, z_1 * share, takes, worker)
    take_impulse(model, work, row + 2, z_2 * share, takes, worker)


@wp.func
def counted_speed(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """b of a direction of a point that bounces or is soft, else zero."""
    item = model.row_item[row]
    speed = real(0.0, work.v_next[0, worker])
    if item % 3 == 0:
        own = maximum(work.contact_hits[item // 3, worker], contact_softness(model, work, row, worker))
        speed = where_positive(own, work.contact_speed[item // 3, worker], speed)
    return speed


@wp.func
def contact_softness(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """R of a direction of a point, without what it gives way by for the sake of a direct solution."""
    return work.compliance[row, worker] - work.contact_give[model.row_item[row], worker]


@wp.func
def contact_gives(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """G + R of a direction of a point."""
    return row_response(model, work, row, worker) + contact_softness(model, work, row, worker)


@wp.func
def take_impulse(model: ModelArrays, work: WorkArrays, row: int, z: Real, takes: Real, worker: int):
    """Give a row its impulse where `takes`."""
    old = work.impulse[row, worker]
    impulse = where_positive(takes, z, old)
    work.impulse[row, worker] = impulse
    apply_impulse(model, work, row, worker, impulse - old)


@wp.func
def sweep_rows(model: ModelArrays, work: WorkArrays, worker: int, forward: int, counts: int):
    """Solve the active rows one after the other, in order or, if `forward` is 0, in reversed order.

    Those of contacts are left out; f is counted if `counts` is 1.
    """
    last = model.row_count - 1
    for k in range(model.row_count):
        row = forward * k + (1 - forward) * (last - k)
        if not has_trait(model, row, IS_CONTACT):
            sweep_row(model, work, row, work.active[row, worker], worker, counts)


@wp.func
def sweep_row(model: ModelArrays, work: WorkArrays, row: int, takes: Real, worker: int, counts: int):
    """Solve a row that is of no contact, where it is active and `takes`."""
    active = work.active[row, worker] * takes
    mask = work.environment_mask[model.row_island[row], worker]
    if any_positive(active):
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
        if counts == 1:
            add_row_to_objective(model, work, row, y_free, r, old, impulse, worker)
        work.impulse[row, worker] = impulse
        apply_impulse(model, work, row, worker, impulse - old)


@wp.func
def add_row_to_objective(
    model: ModelArrays, work: WorkArrays, row: int, y_free: Real, r: Real, old: Real, new: Real, worker: int
):
    """Count what a change of the impulse of a row changes of f; it pushes towards the bound on its own side."""
    dz = new - old
    mean = real(0.5, dz) * (new + old)
    bound = bound_pushed_to(work, row, mean, worker)
    change = dz * (y_free - bound + (r + work.compliance[row, worker]) * mean)
    add_to_objective(model, work, row, change, absolute(dz), worker)
