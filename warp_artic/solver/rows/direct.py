"""The direct solver: all active rows together, without an iteration error, whatever the ratio of masses.

The rows are gathered, those that were gathered before with the same force Jacobians keep their part of the Delassus
matrix; the loop of `solver.rows.active_set` starts with the working set of the last answer in the step, and rows that
are new in it; what can slide, and is new, slides if it did before the step. Rows are gathered from the last family to
the first: stops, mimic joints, tendons, friction, drives. Of rows that contradict each other the first ones hold.

The Delassus matrix is found once, which takes the paths of rows to the root; then a working set costs the cube of its
size, at a small factor. Of a lane every environment pays for the rows that any of them has in its working set.
"""

import warp as wp

from warp_artic.constraints.rows import add_kick, row_rate, row_response, row_velocity
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
from warp_artic.solver.rows.active_set import improve_guess
from warp_artic.solver.rows.factors import set_delassus, triangle
from warp_artic.solver.rows.problem import gather_rows


@wp.func
def settle_direct(model: ModelArrays, work: WorkArrays, slot: int, iterations: int):
    """Solve the active rows together; `iterations` is not used."""
    count, known, lopsided = gather_rows(model, work, slot)
    if count > 0:
        set_delassus(model, work, known, count, slot)
        loosens = set_first_guess(model, work, known, count, slot)
        improve_guess(model, work, known, count, lopsided, loosens, slot)
        take_solution(model, work, count, slot)


@wp.func
def set_first_guess(model: ModelArrays, work: WorkArrays, known: int, count: int, slot: int):
    """Hold what is new, and what was held in the last answer of this step; the rest slides or is let go as it was.

    Says whether any row holds more than it slides with.
    """
    loosens = bool(False)
    for a in range(count):
        row = work.gathered[a, slot]
        part = work.part[a, slot]
        zero = real(0.0, part)
        one = real(1.0, part)
        lower = work.window[2 * row, slot]
        upper = work.window[2 * row + 1, slot]
        most = work.bound[2 * row, slot]
        slide = work.bound[2 * row + 1, slot]
        bound = maximum(most, slide)
        if any_positive(most - slide):
            loosens = bool(True)
        y = row_velocity(model, work, row, slot)
        goal = minimum(maximum(y, lower), upper)
        given = zero
        is_given = zero
        is_known = zero
        stance = work.stance[row, slot]
        if any_positive(stance):
            # Windows and bounds are not always those of the last answer, and an end that is known may be none.
            side = work.side[row, slot]
            end = where_positive(side, lower, where_positive(neg(side), upper, goal))
            is_known = stance * is_finite(end)
            goal = where_positive(is_known, end, goal)
            given = where_positive(side, bound, where_positive(neg(side), neg(bound), zero))
            is_given = where_positive(stance - real(1.5, part), is_finite(given), zero)
        # What can slide and is not known slides as the velocities before the step have it.
        missing = goal - row_rate(model, work, work.v, row, slot)
        sliding = where_positive(missing, bound, where_positive(neg(missing), neg(bound), zero))
        slides = where_positive(stance, zero, where_positive(absolute(missing), is_finite(bound), zero))
        given = where_positive(slides, sliding, given)
        is_given = maximum(is_given, slides)
        # Inside a window that has been opened there is nothing to be held at.
        inside = where_positive(is_given + is_known, zero, minimum(y - lower, upper - y))
        given = where_positive(inside, zero, given)
        is_given = where_positive(inside, one, is_given)
        work.goal[a, slot] = goal
        work.bearing[a, slot] = bound
        work.held[a, slot] = part * (one - is_given)
        work.trial[a, slot] = where_positive(part * is_given, given, zero)
        work.y_free[a, slot] = row_rate(model, work, work.v_free, row, slot)
        if a >= known:
            # A tendon may push against its own length, so that only its compliance makes it yield.
            r = work.delassus[triangle(a) + a, slot]
            work.mobility[a, slot] = where_positive(r, r, one)
            lopsided = work.lopsided[row, slot]
            if any_positive(lopsided):
                r = absolute(row_response(model, work, row, slot) + work.compliance[row, slot])
                work.mobility[a, slot] = where_positive(lopsided * r, r, work.mobility[a, slot])
        work.barred[a, slot] = zero
    return loosens


@wp.func
def take_solution(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Take over impulses and velocities; a held row on one dof without compliance gives its velocity exactly."""
    joining = work.joining[0, slot]
    zero = real(0.0, joining)
    one = real(1.0, joining)
    for dof in range(model.dof_count):
        v = work.v_next[dof, slot]
        work.v_next[dof, slot] = where_positive(joining, work.v_free[dof, slot], v)
        work.kick[dof, slot] = where_positive(joining, work.kick[dof, slot], zero)
    add_kick(model, work, work.v_next, slot)
    for a in range(count):
        row = work.gathered[a, slot]
        part = work.part[a, slot] * joining
        goal = work.goal[a, slot]
        held = work.held[a, slot]
        z = where_positive(held, work.relaxed[a, slot], work.trial[a, slot])
        work.impulse[row, slot] = where_positive(joining, where_positive(part, z, zero), work.impulse[row, slot])
        at_upper = where_positive(goal - work.window[2 * row, slot], one, neg(one))
        side = where_positive(held, neg(at_upper), where_positive(z, one, where_positive(neg(z), neg(one), zero)))
        work.stance[row, slot] = where_positive(part, one + one - held, work.stance[row, slot])
        work.side[row, slot] = where_positive(part, side, work.side[row, slot])
        if model.row_terms[row] == 1:
            dof = model.row_dof[row]
            exact = where_positive(work.compliance[row, slot], zero, joining * work.met[a, slot])
            v = goal / work.coefficient[model.row_term[row], slot]
            work.v_next[dof, slot] = where_positive(exact, v, work.v_next[dof, slot])
