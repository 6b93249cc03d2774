"""The active constraint rows: which take part in a step, and their solution.

A row takes part from when its velocity is outside its bounds. Rows are activated and solved in turn, until none is
outside; in between impacts are passed on, turning friction is bounded by them, and speed limits turned.
"""

import warp as wp

from warp_artic.constraints.bouncing_limit import drop_bounces, place_bounces, prepare_bounces, put_off_bounces
from warp_artic.constraints.contact_turn import bound_by_impacts
from warp_artic.constraints.dispatch import set_rows
from warp_artic.constraints.rows import add_responses
from warp_artic.constraints.speed_limit import turn_limits
from warp_artic.constraints.tree_velocity import place_tree
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    div,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ModelArrays, WorkArrays
from warp_artic.solver.history import largest_of_islands
from warp_artic.solver.rows.activation import activate_bearing, activate_loaded, activate_rows, prepare_responses
from warp_artic.solver.rows.impacts import begin_impacts, pass_impacts_on
from warp_artic.solver.rows.problem import forget_working_set

IMPACT_SWEEPS = wp.constant(32)
"""Fewest sweeps over what bounces beside others or is tied to them: no later step makes up for what an impact has left.
"""


@wp.func
def solve_rows(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h: Real,
    has_middle: int,
    sweeps: int,
    solver: wp.Function,
    continues: int,
):
    """v+ with constraint rows, from that without them.

    Where an island `begins` its rows are set. If `continues` is 1, rows and factors of the others are those of the
    answer before, v+ is to be found again where `work.is_changed`, and what is known of that answer is where to begin.
    """
    zero = real(0.0, h)
    begins = int(0)
    for island in range(model.island_count):
        begins = wp.max(begins, work.begins[island, worker])
    if begins == 1:
        if model.bouncing_limits > 0:
            prepare_bounces(model, control, work, block, worker, h)
        if model.tree_limits > 0:
            place_tree(model, work, block, worker)
        set_rows(model, work, block, worker, h)
        if model.innovations_only == 1:
            forget_working_set(model, work, worker, zero)
    has_changed = any_positive(largest_of_islands(model, work.is_changed, worker))
    if has_changed:
        for dof in range(model.dof_count):
            work.v_free[dof, worker] = work.v[dof, worker] + h * work.vdot[dof, worker]
        add_responses(model, work, work.given, 0, model.row_count, work.v_free, worker)
        for dof in range(model.dof_count):
            changed = work.is_changed[model.dof_island[dof], worker]
            work.v_next[dof, worker] = where_positive(changed, work.v_free[dof, worker], work.v_next[dof, worker])
    if continues == 1 and has_changed:
        for row in range(model.row_count):
            changed = work.is_changed[model.row_island[row], worker]
            work.impulse[row, worker] = where_positive(changed, zero, work.impulse[row, worker])
            if row >= model.limit_row and row < model.limit_row + 3 * model.speed_limits:
                work.active[row, worker] = where_positive(changed, zero, work.active[row, worker])
    solve_active_rows(model, work, block, worker, h, has_middle, sweeps, solver, continues)


@wp.func
def solve_active_rows(
    model: ModelArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h: Real,
    has_middle: int,
    sweeps: int,
    solver: wp.Function,
    continues: int,
):
    """Activate rows and solve them until no row is outside its velocity bounds."""
    zero = real(0.0, h)
    for island in range(model.island_count):
        changed = work.is_changed[island, worker]
        work.direction_rounds[island, worker] = where_positive(changed, zero, work.direction_rounds[island, worker])
        work.is_met_where_placed[island, worker] = where_positive(
            changed, zero, work.is_met_where_placed[island, worker]
        )
    passes = bool(False)
    bounces_wait = bool(False)
    if model.bouncing_limits > 0 and model.stop_row > 0:
        bounces_wait = put_off_bounces(model, work, block, worker, h)
    if model.contact_rows > 0:
        passes = begin_impacts(model, work, worker, h)
    unsolved = activate_rows(model, work, worker)
    if model.contact_rows > 0:
        bearing = activate_bearing(model, work, worker)
        unsolved = unsolved or bearing
    if model.contact_rows > 0 and model.innovations_only == 0:
        loaded = activate_loaded(model, work, worker)
        unsolved = unsolved or loaded
    if continues == 1:
        for row in range(model.row_count):
            if any_positive(work.active[row, worker] * work.is_changed[model.row_island[row], worker]):
                unsolved = bool(True)
        for island in range(model.island_count):
            if work.begins[island, worker] == 0:
                work.environment_mask[island, worker] = work.is_changed[island, worker]
    turns_wait = model.turn_rows > 0
    rounds = int(0)
    turns = int(sweeps)
    goes = bool(True)
    while goes:
        if unsolved:
            prepare_responses(model, work, worker)
            solver(model, work, worker, turns)
            turns = sweeps
            unsolved = activate_rows(model, work, worker)
            if not unsolved and model.bouncing_limits > 0 and not bounces_wait:
                unsolved = drop_bounces(model, work, block, worker, h)
        if bounces_wait and not unsolved:
            place_bounces(model, work, block, worker, h)
            unsolved = activate_rows(model, work, worker)
            bounces_wait = bool(False)
            if unsolved and model.tying_rows + model.bouncing_limits > 1:
                turns = wp.max(sweeps, IMPACT_SWEEPS)
        if passes and not unsolved:
            rounds += 1
            found, again = pass_impacts_on(model, work, block, worker, h, has_middle, rounds)
            unsolved = found
            passes = again
        if turns_wait and not passes and not unsolved:
            unsolved = bound_by_impacts(model, work, block, worker)
            turns_wait = bool(False)
        if not unsolved and model.speed_limits > 0:
            unsolved = turn_limits(model, work, block, worker, h, has_middle)
        goes = unsolved
