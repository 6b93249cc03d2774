"""Loop joints break at the end of a step in which they have transmitted too much, and do nothing from the next one on.

    |force| > break_force   or   |torque| > break_torque,
the means over the step of what is reported as `loop_force`: about the origin of the second joint frame, of held axes
and of limits, without drives of free axes. What has failed or sleeps does not break. The state keeps that a joint has
broken, in which step, and by which force and torque; the joint holds again where somebody writes zero.

Source: document 004 (breakage).
"""

import warp as wp

from warp_artic.constraints.dispatch import add_load
from warp_artic.constraints.forces import row_force
from warp_artic.constraints.loop_joint import read_broken
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    maximum,
    mul,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.phases.integrate import find_asleep


@wp.func
def load_loops(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Read which loop joints are broken; they have transmitted nothing yet."""
    read_broken(model, state, work, block, worker)
    for k in range(6 * model.loop_count):
        work.loop_force[k, worker] = real(0.0, work.loop_is_broken[0, worker])


@wp.func
def add_loads(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real, weight: Real):
    """Add what they have transmitted in a substep of length h, with its weight."""
    for row in range(model.row_count):
        force = weight * row_force(model, work, row, worker, h)
        if any_positive(absolute(force)):
            add_load(model, work, row, block, worker, force)


@wp.func
def break_loops(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Write which of them have broken in a step, of a state that is stored; these are not calm."""
    keeps = maximum(state.failure[0, block], find_asleep(model, state, block))
    clock = state.clock[0, block]
    zero = clock - clock
    for loop in range(model.loop_count):
        F = load_vec3(work.loop_force, 6 * loop, worker)
        turn = load_vec3(work.loop_force, 6 * loop + 3, worker)
        force = sqrt(dot(F, F))
        torque = sqrt(dot(turn, turn))
        excess = maximum(force - model.loop_break_force[loop, block], torque - model.loop_break_torque[loop, block])
        broken = work.loop_is_broken[loop, worker]
        newly = where_positive(maximum(keeps, broken), zero, where_positive(excess, real(1.0, zero), zero))
        state.loop_broken[loop, block] = where_positive(newly, newly, state.loop_broken[loop, block])
        note_break(state, 3 * loop, block, broken, newly, clock)
        note_break(state, 3 * loop + 1, block, broken, newly, force)
        note_break(state, 3 * loop + 2, block, broken, newly, torque)
        work.calm[0, worker] = where_positive(newly, zero, work.calm[0, worker])


@wp.func
def note_break(state: StateArrays, row: int, block: int, broken: Real, newly: Real, value: Real):
    """Write a value where a joint has just broken, leave it where it is broken, and take it away elsewhere."""
    old = state.loop_breakage[row, block]
    state.loop_breakage[row, block] = where_positive(newly, value, where_positive(broken, old, broken - broken))
