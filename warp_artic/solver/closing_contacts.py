"""Shapes that push each other are not pressed into each other by what closes loops.

What brings velocities back to J v+ = 0 (`solver.close_loops`) is small where a step resolves the motion. Where light
links of a closed chain turn far in a step, as planks of a rope bridge do that something heavy falls on, it would take
back what contacts have given them. Where it makes the normal velocity y_n of a point that has pushed less than
min(y_n, 0) by more than is an impact, STILL |gravity| h, v+ is changed once more in its island, by
    J v+ = 0,   y_n >= min(y_n before, 0),  z_n >= 0,  and friction that keeps slip as it is,
with all points that have pushed, as they were in the middle of the step. Others are left to the next step: joints
cannot do what all that are near would want.
"""

import warp as wp

from warp_artic.constraints.bearing_rows import begin_without_loads
from warp_artic.constraints.contact_law import STILL, add_contact_load
from warp_artic.constraints.rows import allow_every_velocity, row_rate, row_velocity, set_velocity_bounds
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
    sqrt,
    sub,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ForceArrays, ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.model.islands import if_dof_joined
from warp_artic.solver.tree_work import add_outer_impulse, share_from_outside


@wp.func
def find_pressed(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Mark the islands in which the change `work.v_next` presses points; says whether there are any.

    `contact_speed` becomes the least change of a normal velocity from then on.
    """
    zero = real(0.0, h)
    one = real(1.0, h)
    g = load_vec3(model.gravity, 0, block)
    still = real(STILL, h) * sqrt(dot(g, g)) * h
    found = bool(False)
    for island in range(model.island_count):
        work.contact_presses[island, worker] = zero
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        island = model.row_island[row]
        point = model.row_item[row] // 3
        pushed = has_pushed(model, work, row, worker)
        if model.island_is_looped[island] == 1 and any_positive(pushed):
            y = row_rate(model, work, work.v, row, worker) + work.contact_drift[3 * point, worker]
            least = minimum(y, zero) - y - row_velocity(model, work, row, worker)
            pressed = where_positive(pushed, where_positive(least - still, one, zero), zero)
            work.contact_speed[point, worker] = least
            work.contact_presses[island, worker] = maximum(work.contact_presses[island, worker], pressed)
            found = found or any_positive(pressed)
    return found


@wp.func
def has_pushed(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Positive where the point of a normal has pushed in the last substep."""
    point = model.row_item[row] // 3
    before = load_vec3(work.contact_memory, 3 * point, worker)
    return work.contact_near[point, worker] * dot(before, before)


@wp.func
def hold_contacts(model: ModelArrays, work: WorkArrays, worker: int):
    """Have all points that have pushed take part in the islands that are marked, and only these be changed."""
    zero = real(0.0, work.v_next[0, worker])
    one = real(1.0, zero)
    for island in range(model.island_count):
        work.loop_is_open[island, worker] = work.contact_presses[island, worker]
        begin_without_loads(model, work, island, one, worker)
    for k in range(model.contact_rows // 3):
        normal = model.contact_row + 3 * k
        point = model.row_item[normal] // 3
        takes_part = where_positive(has_pushed(model, work, normal, worker), one, zero)
        takes_part = takes_part * work.contact_presses[model.row_island[normal], worker]
        for row in range(normal, normal + 3):
            item = model.row_item[row]
            work.active[row, worker] = takes_part
            work.contact_start[item, worker] = zero
            work.contact_anchor[item, worker] = zero
            work.contact_drift[item, worker] = zero
        set_velocity_bounds(work, normal, worker, work.contact_speed[point, worker], one / zero)
        allow_every_velocity(work, normal, worker, takes_part)


@wp.func
def add_contact_changes(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h: Real,
    with_forces: int,
):
    """Add the impulses of these points to their mean forces, and to what has acted on trees."""
    half = real(0.5, h)
    failure = state.failure[0, block]
    for row in range(model.contact_row, model.contact_row + model.contact_rows):
        z = where_positive(failure, failure - failure, work.impulse[row, worker])
        if any_positive(absolute(z)):
            if with_forces == 1:
                add_contact_load(model, work, forces.contact_force, row, block, block, worker, z / h)
            if model.guards_trees == 1:
                outer = share_from_outside(model, work, row, worker)
                for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
                    dof = model.term_dof[term]
                    mean = work.v[dof, worker] + half * work.v_next[dof, worker]
                    own = if_dof_joined(model, work, dof, worker, z)
                    add_outer_impulse(model, work, dof, work.P[term, worker] * own, mean, own, worker, outer)
