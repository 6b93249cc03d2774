"""All active constraint rows together: one dense factorisation for each guess of which rows hold.

With G = J M^-1 P over the active rows (P their pushes), each row is either
    held:   sum_b G_ab z_b + compliance z_a = y*_a - y_a     (its equality, or the end of its window that it is beyond)
    given:  z_a = 0 (a stop that is let go) or +-slide       (a bound that has given way)
The guess is improved until it is its own answer: a held stop that would have to pull is let go, one that is let go and
is beyond its window is held again, a held row beyond its bound slides, a sliding one that is carried past its goal is
held.
After a few guesses only the first contradiction of an environment is changed, which ends for every solvable problem
(Murty's least-index rule).

The diagonal is raised by a small share (1e-6 in float32, 1e-10 in float64), so that redundant rows share their impulse
and rows that contradict each other stay bounded; refinement by the residual takes the error of that back where there is
an answer, and one Gauss-Seidel sweep at the end takes what rounding leaves, so that what sticks does not creep.
No iteration error is left, whatever the ratio of masses; the cost grows with the cube of the active rows.
"""

import warp as wp

from warp_artic.constraints.rows import row_velocity
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.pgs import sweep_rows

BOLD_GUESSES = wp.constant(6)
"""Guesses in which every contradiction is changed at once; later ones change the first alone, which cannot cycle."""


@wp.func
def gather_rows(model: ModelArrays, work: WorkArrays, slot: int):
    """List the rows that are active in any environment of the column; returns how many there are."""
    count = int(0)
    for row in range(model.row_count):
        if any_positive(work.active[row, slot]):
            work.gathered[count, slot] = row
            count += 1
    return count


@wp.func
def coupling(model: ModelArrays, work: WorkArrays, row: int, other: int, slot: int):
    """G: the velocity of `row` that a unit impulse of `other` causes."""
    start = model.row_term[row]
    response = model.row_slot[other] * model.dof_count
    g = work.coefficient[start, slot] * work.response[response + model.term_dof[start], slot]
    for term in range(start + 1, start + model.row_terms[row]):
        g = g + work.coefficient[term, slot] * work.response[response + model.term_dof[term], slot]
    return g


@wp.func
def set_couplings(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Write G of the gathered rows, their velocities without impulses, and the first guess: what is beyond is held."""
    for a in range(count):
        row = work.gathered[a, slot]
        y = row_velocity(model, work, row, slot)
        for b in range(count):
            g = coupling(model, work, row, work.gathered[b, slot], slot)
            work.couplings[a * model.row_count + b, slot] = g
            y = y - g * work.impulse[work.gathered[b, slot], slot]
        work.y_free[a, slot] = y
        lower = work.window[2 * row, slot]
        upper = work.window[2 * row + 1, slot]
        zero = real(0.0, y)
        active = work.active[row, slot]
        beyond = where_positive(maximum(lower - y, y - upper), active, zero)
        work.held[a, slot] = where_positive(upper - lower, beyond, active)
        work.goal[a, slot] = minimum(maximum(y, lower), upper)
        work.trial[a, slot] = zero


@wp.func
def solve_guess(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Solve for the impulses of the present guess, `work.trial`, by elimination in the order of the rows."""
    stride = model.row_count
    zero = real(0.0, work.y_free[0, slot])
    one = real(1.0, zero)
    for a in range(count):
        row = work.gathered[a, slot]
        held = work.held[a, slot]
        given = work.trial[a, slot]
        work.right[a, slot] = where_positive(held, work.goal[a, slot] - work.y_free[a, slot], given)
        for b in range(count):
            entry = work.couplings[a * stride + b, slot]
            other = zero
            if a == b:
                entry = entry * (one + model.rounding[1, 0]) + work.compliance[row, slot]
                other = one
            work.factors[a * stride + b, slot] = where_positive(held, entry, other)
    for a in range(count):
        pivot = one / work.factors[a * stride + a, slot]
        for b in range(a + 1, count):
            factor = work.factors[b * stride + a, slot] * pivot
            work.factors[b * stride + a, slot] = factor
            if any_positive(absolute(factor)):
                for c in range(a + 1, count):
                    entry = work.factors[b * stride + c, slot]
                    work.factors[b * stride + c, slot] = entry - factor * work.factors[a * stride + c, slot]
    substitute(model, work, count, slot)
    for a in range(count):
        work.trial[a, slot] = work.right[a, slot]


@wp.func
def substitute(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Solve with the factors, in place of `work.right`."""
    stride = model.row_count
    for a in range(count):
        x = work.right[a, slot]
        for b in range(a):
            x = x - work.factors[a * stride + b, slot] * work.right[b, slot]
        work.right[a, slot] = x
    for k in range(count):
        a = count - 1 - k
        x = work.right[a, slot]
        for b in range(a + 1, count):
            x = x - work.factors[a * stride + b, slot] * work.right[b, slot]
        work.right[a, slot] = x / work.factors[a * stride + a, slot]


@wp.func
def refine(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Solve for what the held rows still miss, and add it."""
    zero = real(0.0, work.y_free[0, slot])
    for a in range(count):
        row = work.gathered[a, slot]
        missing = work.goal[a, slot] - work.y_free[a, slot] - work.compliance[row, slot] * work.trial[a, slot]
        for b in range(count):
            missing = missing - work.couplings[a * model.row_count + b, slot] * work.trial[b, slot]
        work.right[a, slot] = where_positive(work.held[a, slot], missing, zero)
    substitute(model, work, count, slot)
    for a in range(count):
        work.trial[a, slot] = work.trial[a, slot] + work.right[a, slot]


@wp.func
def improve_guess(model: ModelArrays, work: WorkArrays, count: int, slot: int, bold: int):
    """Change what contradicts itself, or unless `bold` the first such row; says whether any environment had one."""
    changed = bool(False)
    zero = real(0.0, work.y_free[0, slot])
    one = real(1.0, zero)
    for a in range(count):
        y = work.y_free[a, slot]
        for b in range(count):
            y = y + work.couplings[a * model.row_count + b, slot] * work.trial[b, slot]
        work.right[a, slot] = y
    may_change = one
    for a in range(count):
        row = work.gathered[a, slot]
        z = work.trial[a, slot]
        y = work.right[a, slot]
        lower = work.window[2 * row, slot]
        upper = work.window[2 * row + 1, slot]
        is_stop = upper - lower
        held = work.held[a, slot]
        goal = work.goal[a, slot]
        # What a velocity is known to; smaller contradictions are rounding.
        tolerance = (absolute(work.y_free[a, slot]) + absolute(goal)) * model.rounding[0, 0]
        # A stop pushes into its window: up from the lower end, down from the upper one.
        stiffness = work.couplings[a * model.row_count + a, slot]
        pulls = where_positive(goal - lower, z, neg(z)) * stiffness - tolerance
        lets_go = where_positive(is_stop, where_positive(pulls, held * may_change, zero), zero)
        gives_way = where_positive(absolute(z) - work.bound[2 * row, slot], held * may_change - lets_go, zero)
        slide = work.bound[2 * row + 1, slot]
        slides = where_positive(z, slide, neg(slide))
        # A given impulse is wrong where the row is carried past its goal by it, or is let go outside its window.
        reach = y + work.compliance[row, slot] * z
        past = where_positive(z, reach - goal, where_positive(neg(z), goal - reach, zero))
        beyond = where_positive(is_stop, maximum(lower - y, y - upper), zero)
        beyond = where_positive(absolute(z), zero, beyond)
        given = work.active[row, slot] - held
        returns = where_positive(maximum(past, beyond) - tolerance, given * may_change, zero)
        nearest = minimum(maximum(y, lower), upper)
        work.goal[a, slot] = where_positive(returns, where_positive(is_stop, nearest, goal), goal)
        work.held[a, slot] = held - lets_go - gives_way + returns
        given_value = where_positive(lets_go, zero, where_positive(gives_way, slides, z))
        work.trial[a, slot] = where_positive(work.held[a, slot], z, given_value)
        change = lets_go + gives_way + returns
        if any_positive(change):
            changed = bool(True)
        if bold == 0:
            may_change = may_change - change
    return changed


@wp.func
def settle_direct(model: ModelArrays, work: WorkArrays, slot: int, iterations: int):
    """Solve the active rows together; `iterations` is not used."""
    count = gather_rows(model, work, slot)
    set_couplings(model, work, count, slot)
    guesses = int(0)
    unsolved = count > 0
    while unsolved:
        solve_guess(model, work, count, slot)
        guesses += 1
        unsolved = guesses < BOLD_GUESSES + 30 * count
        if unsolved:
            unsolved = improve_guess(model, work, count, slot, int(guesses < BOLD_GUESSES))
    refine(model, work, count, slot)
    refine(model, work, count, slot)
    joining = work.joining[0, slot]
    for a in range(count):
        row = work.gathered[a, slot]
        old = work.impulse[row, slot]
        impulse = where_positive(joining * work.active[row, slot], work.trial[a, slot], old)
        work.impulse[row, slot] = impulse
        change = impulse - old
        response = model.row_slot[row] * model.dof_count
        for dof in range(model.dof_count):
            work.v_next[dof, slot] = work.v_next[dof, slot] + work.response[response + dof, slot] * change
    sweep_rows(model, work, slot, 1)
