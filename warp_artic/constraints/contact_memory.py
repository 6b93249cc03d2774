"""What steps remember of contacts: the impulses of the step before, at each point of the pair in the world."""

import warp as wp

from warp_artic.constraints.contact import tangents
from warp_artic.constraints.contact_motion import contact_sign
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
def load_contacts(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int, substeps: int):
    """Read the impulses of the step before; write the share of an overlap that a substep takes back."""
    work.contact_recovery[0, worker] = real(0.5 / float(substeps), model.gravity[0, block])
    for point in range(model.contact_point_count):
        sign = contact_sign(model, point, state.contact_impact[point, block])
        for k in range(3 * point, 3 * point + 3):
            work.contact_memory[k, worker] = sign * state.contact_impulse[k, block]
        work.contact_hits[point, worker] = state.contact_impact[point, block]
        work.contact_hit_before[point, worker] = state.contact_impact[point, block]
        work.contact_left[point, worker] = real(0.0, model.gravity[0, block])
        work.contact_left_over[point, worker] = real(0.0, model.gravity[0, block])


@wp.func
def keep_contacts(model: ModelArrays, work: WorkArrays, worker: int):
    """Remember the impulses of a substep, in world axes, and which are of impacts: none of points that are not near."""
    work.measures_bias[0, worker] = real(0.0, work.v[0, worker])
    for row in range(model.contact_row, model.contact_row + model.contact_rows):
        if model.row_item[row] % 3 == 0:
            point = model.row_item[row] // 3
            n = load_vec3(work.contact_point, 7 * point + 3, worker)
            t_1, t_2 = tangents(n)
            z_n = work.impulse[row, worker] + work.given[row, worker]
            z_1 = work.impulse[row + 1, worker] + work.given[row + 1, worker]
            z_2 = work.impulse[row + 2, worker] + work.given[row + 2, worker]
            total = n * z_n + t_1 * z_1 + t_2 * z_2
            store_vec3(work.contact_memory, 3 * point, worker, total)
            hits = where_positive(work.contact_near[point, worker], work.contact_hits[point, worker], real(0.0, n.x))
            work.contact_hits[point, worker] = hits
            work.contact_hit_before[point, worker] = hits


@wp.func
def store_contacts(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Write the impulses of a step to the state, but not those of environments that have failed or sleep."""
    kept = maximum(state.failure[0, block], find_asleep(model, state, block))
    for point in range(model.contact_point_count):
        sign = contact_sign(model, point, kept)
        for k in range(3 * point, 3 * point + 3):
            old = state.contact_impulse[k, block]
            state.contact_impulse[k, block] = where_positive(kept, old, sign * work.contact_memory[k, worker])
        old = state.contact_impact[point, block]
        state.contact_impact[point, block] = where_positive(kept, old, work.contact_hits[point, worker])
        old = state.contact_residual[point, block]
        left = maximum(old, work.contact_left_over[point, worker])
        state.contact_residual[point, block] = where_positive(kept, old, left)
        old = state.contact_crowded[point, block]
        crowded = maximum(old, work.contact_left[point, worker])
        state.contact_crowded[point, block] = where_positive(kept, old, crowded)
