"""What steps remember of contacts: the impulses of the step before, at each point of the pair in the world."""

import warp as wp

from warp_artic.constraints.contact import tangents
from warp_artic.constraints.contact_pair import contact_sign
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    add,
    maximum,
    mul,
    real,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.phases.integrate import find_asleep


@wp.func
def load_contacts(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Read the impulses of the step before."""
    for point in range(model.contact_point_count):
        sign = contact_sign(model, point, state.contact_impact[point, column])
        for k in range(3 * point, 3 * point + 3):
            work.contact_memory[k, slot] = sign * state.contact_impulse[k, column]
        work.contact_hits[point, slot] = state.contact_impact[point, column]
        work.contact_left[point, slot] = real(0.0, model.gravity[0, column])
        work.contact_left_over[point, slot] = real(0.0, model.gravity[0, column])


@wp.func
def keep_contacts(model: ModelArrays, work: WorkArrays, slot: int):
    """Remember the impulses of a substep, in world axes."""
    for row in range(model.contact_row, model.contact_row + model.contact_rows):
        if model.row_item[row] % 3 == 0:
            point = model.row_item[row] // 3
            n = load_vec3(work.contact_point, 7 * point + 3, slot)
            t_1, t_2 = tangents(n)
            z_n = work.impulse[row, slot] + work.given[row, slot]
            z_1 = work.impulse[row + 1, slot] + work.given[row + 1, slot]
            z_2 = work.impulse[row + 2, slot] + work.given[row + 2, slot]
            total = n * z_n + t_1 * z_1 + t_2 * z_2
            store_vec3(work.contact_memory, 3 * point, slot, total)


@wp.func
def store_contacts(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Write the impulses of a step to the state, but not those of environments that have failed or sleep."""
    kept = maximum(state.failure[0, column], find_asleep(model, state, column))
    for point in range(model.contact_point_count):
        sign = contact_sign(model, point, kept)
        for k in range(3 * point, 3 * point + 3):
            old = state.contact_impulse[k, column]
            state.contact_impulse[k, column] = where_positive(kept, old, sign * work.contact_memory[k, slot])
        old = state.contact_impact[point, column]
        state.contact_impact[point, column] = where_positive(kept, old, work.contact_hits[point, slot])
        old = state.contact_residual[point, column]
        left = maximum(old, work.contact_left_over[point, slot])
        state.contact_residual[point, column] = where_positive(kept, old, left)
        old = state.contact_crowded[point, column]
        crowded = maximum(old, work.contact_left[point, slot])
        state.contact_crowded[point, column] = where_positive(kept, old, crowded)
