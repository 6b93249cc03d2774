"""What steps remember of trees that touch something: what rows beside those of contacts bear, as contacts do.

Where bodies rest, contacts push loads into joints. Impulses of contacts begin with those of the step before. If those
of other rows began from zero, a limit that bears what contacts push would take part only once these are found as if it
were not there, and sweeps and turns would end before they have found it all again: what rests would creep. So a row
begins with what it has borne for two steps, which is no impact,
    z = the smaller one of its impulses in both,   zero where they have pushed to different sides,
and a limit that begins with an impulse takes part from the start. With sweeps not all rows do (`solver.rows.pgs`).
Islands in which an impact is passed on begin with none. Among many bodies `islands.joint_rows` does the same.
"""

import warp as wp

from warp_artic.math.numbers import Real, maximum, minimum, real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import FROM_OUTSIDE
from warp_artic.phases.integrate import find_asleep


def bearing_rows(tree) -> list[int]:
    """The numbers of such rows among all rows of a tree."""
    if tree.kinds["contact"] == 0:
        return []
    return [number for number, row in enumerate(tree.rows) if not row.family.traits & FROM_OUTSIDE]


@wp.func
def load_bearing(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Read what rows bore in the last two steps; nothing before a first step."""
    started = state.started[0, block]
    for k in range(2 * model.bearing_rows):
        z = state.bearing_impulse[k, block]
        work.borne[k, worker] = where_positive(started, z, real(0.0, z))
    for place in range(model.bearing_rows):
        start_bearing(model, work, place, worker)


@wp.func
def keep_bearing(model: ModelArrays, work: WorkArrays, worker: int):
    """Remember the impulses of a substep."""
    for place in range(model.bearing_rows):
        work.borne[2 * place + 1, worker] = work.borne[2 * place, worker]
        work.borne[2 * place, worker] = work.impulse[model.bearing_row[place], worker]
        start_bearing(model, work, place, worker)


@wp.func
def start_bearing(model: ModelArrays, work: WorkArrays, place: int, worker: int):
    """Write what a row begins with."""
    last = work.borne[2 * place, worker]
    before = work.borne[2 * place + 1, worker]
    zero = real(0.0, last)
    lower = minimum(last, maximum(before, zero))
    upper = maximum(last, minimum(before, zero))
    work.row_start[model.bearing_row[place], worker] = where_positive(last, lower, upper)


@wp.func
def store_bearing(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Write the impulses of a step to the state, but not those of environments that have failed or sleep."""
    kept = maximum(state.failure[0, block], find_asleep(model, state, block))
    for k in range(2 * model.bearing_rows):
        state.bearing_impulse[k, block] = where_positive(kept, state.bearing_impulse[k, block], work.borne[k, worker])


@wp.func
def begin_without_loads(model: ModelArrays, work: WorkArrays, island: int, chosen: Real, worker: int):
    """Have the rows of an island begin with no impulse, where `chosen`."""
    for place in range(model.bearing_rows):
        row = model.bearing_row[place]
        if model.row_island[row] == island:
            z = work.row_start[row, worker]
            work.row_start[row, worker] = where_positive(chosen, real(0.0, z), z)
