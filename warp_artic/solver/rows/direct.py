"""The direct solver: all active rows together, without an iteration error, whatever the ratio of masses.

The rows are gathered, those that were gathered before with the same force Jacobians keep their part of the Delassus
matrix; the loop of `solver.rows.active_set` starts with the working set of the last answer in the step, and rows that
are new in it; what can slide, and is new, slides if it did before the step. Rows are gathered from the last family to
the first: stops, mimic joints, tendons, friction, drives. Of rows that contradict each other the first ones hold.

The Delassus matrix is found once, which takes the paths of rows to the root; then a working set costs the cube of its
size, at a small factor. Of a lane every environment pays for the rows that any of them has in its working set.
"""

import warp as wp

from warp_artic.constraints.contact_motion import add_drift
from warp_artic.constraints.rows import add_velocity_change, row_rate, row_response, row_velocity
from warp_artic.math.numbers import (  # noqa: F401 (operators)
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
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.active_set import find_working_set
from warp_artic.solver.rows.factors import set_delassus, triangle
from warp_artic.solver.rows.problem import gather_rows


@wp.func
def solve_direct(model: ModelArrays, work: WorkArrays, worker: int, iterations: int):
    """Solve the active rows together; `iterations` is not used."""
    count, known, first_nonsymmetric = gather_rows(model, work, worker)
    if count > 0:
        set_delassus(model, work, known, count, worker)
        has_slides = set_first_working_set(model, work, known, count, worker)
        find_working_set(model, work, known, count, first_nonsymmetric, has_slides, worker)
        take_solution(model, work, count, worker)


@wp.func
def set_first_working_set(model: ModelArrays, work: WorkArrays, known: int, count: int, worker: int):
    """Start with the working set of the last answer in this step, and with the rows that are new since then.

    A row that is new and can slide starts at a bound instead, if it slides with the velocities before the step. Says
    whether any row has hold > slide.
    """
    has_slides = bool(False)
    for a in range(count):
        row = work.gathered[a, worker]
        mask = work.row_mask[a, worker]
        zero = real(0.0, mask)
        one = real(1.0, mask)
        lower = work.velocity_bounds[2 * row, worker]
        upper = work.velocity_bounds[2 * row + 1, worker]
        hold = work.impulse_bounds[2 * row, worker]
        slide = work.impulse_bounds[2 * row + 1, worker]
        bound = maximum(hold, slide)
        if any_positive(hold - slide):
            has_slides = bool(True)
        y = row_velocity(model, work, row, worker)
        target = minimum(maximum(y, lower), upper)
        given = zero
        at_bound = zero
        is_known = zero
        status = work.last_status[row, worker]
        if any_positive(status):
            # Velocity and impulse bounds may have changed since the last answer, and an end that was finite be none.
            side = work.last_side[row, worker]
            end = where_positive(side, lower, where_positive(neg(side), upper, target))
            is_known = status * is_finite(end)
            target = where_positive(is_known, end, target)
            given = where_positive(side, bound, where_positive(neg(side), neg(bound), zero))
            at_bound = where_positive(status - real(1.5, mask), is_finite(given), zero)
        missing = target - row_rate(model, work, work.v, row, worker)
        sliding = where_positive(missing, bound, where_positive(neg(missing), neg(bound), zero))
        slides = where_positive(status, zero, where_positive(absolute(missing), is_finite(bound), zero))
        given = where_positive(slides, sliding, given)
        at_bound = maximum(at_bound, slides)
        # A new row whose velocity bounds have been opened since it became active may have no target to be held at.
        inside = where_positive(at_bound + is_known, zero, minimum(y - lower, upper - y))
        given = where_positive(inside, zero, given)
        at_bound = where_positive(inside, one, at_bound)
        work.target[a, worker] = target
        work.present_bound[a, worker] = bound
        work.in_working_set[a, worker] = mask * (one - at_bound)
        work.trial_impulse[a, worker] = where_positive(mask * at_bound, given, zero)
        work.y_free[a, worker] = row_rate(model, work, work.v_free, row, worker)
        add_drift(model, work, a, row, worker)
        if a >= known:
            set_delassus_diagonal(model, work, a, row, worker)
        work.is_tabu[a, worker] = zero
    return has_slides


@wp.func
def set_delassus_diagonal(model: ModelArrays, work: WorkArrays, a: int, row: int, worker: int):
    """Write G_aa, by its size: J_a M^-1 P_a of a nonsymmetric row may be negative; one where it is zero."""
    r = work.delassus[triangle(a) + a, worker]
    one = real(1.0, r)
    diagonal = where_positive(r, r, one)
    nonsymmetric = work.nonsymmetric[row, worker]
    if any_positive(nonsymmetric):
        r = absolute(row_response(model, work, row, worker) + work.compliance[row, worker])
        diagonal = where_positive(nonsymmetric * r, r, diagonal)
    work.delassus_diagonal[a, worker] = diagonal


@wp.func
def take_solution(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write impulses, v+ and the status of rows in the environments of the mask.

    A row at its target that has one dof and no compliance gives the velocity of that dof exactly.
    """
    zero = real(0.0, work.environment_mask[0, worker])
    one = real(1.0, zero)
    for dof in range(model.dof_count):
        mask = work.environment_mask[model.dof_island[dof], worker]
        v = work.v_next[dof, worker]
        work.v_next[dof, worker] = where_positive(mask, work.v_free[dof, worker], v)
        work.innovation[dof, worker] = where_positive(mask, work.innovation[dof, worker], zero)
    add_velocity_change(model, work, work.v_next, worker)
    for a in range(count):
        row = work.gathered[a, worker]
        mask = work.environment_mask[model.row_island[row], worker]
        takes_part = work.row_mask[a, worker] * mask
        target = work.target[a, worker]
        is_active = work.in_working_set[a, worker]
        z = where_positive(is_active, work.consistent_impulse[a, worker], work.trial_impulse[a, worker])
        work.impulse[row, worker] = where_positive(mask, where_positive(takes_part, z, zero), work.impulse[row, worker])
        at_upper = where_positive(target - work.velocity_bounds[2 * row, worker], one, neg(one))
        side = where_positive(is_active, neg(at_upper), where_positive(z, one, where_positive(neg(z), neg(one), zero)))
        work.last_status[row, worker] = where_positive(takes_part, one + one - is_active, work.last_status[row, worker])
        work.last_side[row, worker] = where_positive(takes_part, side, work.last_side[row, worker])
        if model.row_terms[row] == 1:
            dof = model.row_dof[row]
            exact = where_positive(work.compliance[row, worker], zero, mask * work.is_met[a, worker])
            v = target / work.J[model.row_term[row], worker]
            work.v_next[dof, worker] = where_positive(exact, v, work.v_next[dof, worker])
