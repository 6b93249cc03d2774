"""All active constraint rows together: which of them hold, and the impulses with which they do.

Each row is either
    held:   y_a + compliance z_a = y*_a   (its equality, or the end of its window that it is beyond)
    given:  z_a = 0 (a stop that is let go) or +-bound       (a bound that has given way)
and `solver.held_rows` has the impulses of a guess of what is held. Stops come first, then mimic joints, tendons,
friction and drives, and of rows that contradict each other the first ones hold. Where no answer is found with all of
them, the last one gives way: it slides, or is left out if its impulse has no bound.

The guess starts as the last answer with the same factors was, and with what is new held; what can slide, and is not in
such an answer, slides if it did before the step. It is improved until it is its own answer: a held stop that would have
to pull is let go, one that is let go and is beyond its window is held again, a held row beyond its bound slides, a
sliding one that is carried past its goal is held. All this is changed at once while there is less and less of it
(Judice and Pires, A block principal pivoting algorithm for bounded linear complementarity problems, 1992). Where there
is not, one takes what is feasible of the impulses and goes from feasible ones to feasible ones, a row at a time, which
ends where pushes are J^T (Lawson and Hanson, Solving Least Squares Problems, chapter 23; Stark and Parker, Bounded-
Variable Least Squares, 1995). After a number of guesses rows only yield, which ends always: then no bound is exceeded
and no stop pulls, but rows that should hold may not.

With bounds that do not change there is one answer, however it is found. So rows yield at the most that they can hold,
and once that is solved, those that slide get what slides, and it is solved again.
No iteration error is left, whatever the ratio of masses. The products of all active rows are found once, which takes
their paths to the root; then a guess costs the cube of the rows held, though at a small factor. Of a lane every
environment pays for the rows that any of them holds.
"""

import warp as wp

from warp_artic.constraints.rows import add_kick, change_of_rate, prepare_rate, row_rate, row_response, row_velocity
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
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.delassus import set_delassus, triangle
from warp_artic.solver.held_rows import solve_held

PATIENCE = wp.constant(3.0)
"""Guesses in which every contradiction is changed at once though there are not fewer of them than ever before."""
GUESSES = wp.constant(4)
"""So many guesses for each row of a tree, after which rows only yield."""


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
def forget_guess(model: ModelArrays, work: WorkArrays, slot: int, zero: Real):
    """Know nothing about which rows are held, nor of their pushes."""
    work.known_rows[0, slot] = 0
    for row in range(model.row_count):
        work.stance[row, slot] = zero


@wp.func
def gather_rows(model: ModelArrays, work: WorkArrays, slot: int):
    """List the rows that are active in any environment, stops first, and the entries of innovations.

    Those of environments that do not join are held as they are, so that what is known of their pushes stays known.
    Returns how many rows there are, how many of the first ones are where they were in the last list with the same
    pushes, and the first one whose push is another than its J^T.
    """
    count = int(0)
    known = int(work.known_rows[0, slot])
    entries = int(model.dof_count)
    lopsided = int(model.row_count)
    for dof in range(model.dof_count):
        work.weight[dof, slot] = work.D_inverse[dof, slot]
    for k in range(model.row_count):
        row = model.row_count - 1 - k
        taking_part = work.active[row, slot]
        if any_positive(taking_part):
            prepare_rate(model, work, row, slot)
            if any_positive(work.lopsided[row, slot]):
                lopsided = wp.min(lopsided, count)
            work.part[count, slot] = taking_part
            if work.gathered[count, slot] != row:
                known = wp.min(known, count)
            work.gathered[count, slot] = row
            work.entry[count, slot] = -1
            compliance = work.compliance[row, slot]
            if any_positive(compliance):
                work.entry[count, slot] = entries
                work.weight[entries, slot] = compliance
                entries += 1
            work.entry_end[count, slot] = entries
            count += 1
    known = wp.min(known, count)
    work.known_rows[0, slot] = count
    return count, known, lopsided


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
def improve_guess(
    model: ModelArrays, work: WorkArrays, known: int, count: int, lopsided: int, loosens: bool, slot: int
):
    """Change the guess until it is its own answer in every environment; returns how many there were.

    One that is its own answer stays as it is, whatever the others need.
    """
    one = real(1.0, work.y_free[0, slot])
    zero = one - one
    all_rows = real(float(model.row_count + 1), one)
    fewest = all_rows
    patience = zero
    careful = zero
    joining = work.joining[0, slot]
    found = int(known)
    guesses = int(0)
    unsolved = bool(True)
    while unsolved:
        strained = solve_held(model, work, found, count, lopsided, slot)
        yielding, returning = judge(model, work, count, slot)
        found = count
        guesses += 1
        is_tired = guesses > GUESSES * (model.row_count + 1)
        if is_tired:
            returning = zero
        wrong = (yielding + returning) * joining
        eases = give_way(work, count, strained * careful * joining, yielding, slot)
        wrong = where_positive(eases, zero, wrong)
        if loosens:
            eases = maximum(eases, slip(model, work, count, wrong + eases + one - joining, slot))
        unsolved = any_positive(wrong + eases)
        if unsolved:
            patience = where_positive(fewest - wrong, real(PATIENCE, one), patience - one)
            fewest = where_positive(eases, all_rows, minimum(fewest, wrong))
            if is_tired:
                patience = zero
                careful = zero
            works = where_positive(wrong, one, zero)
            stepping = works * careful
            bold = where_positive(patience, works - stepping, zero)
            entering = works - stepping - bold
            change_guess(work, count, bold, entering, strained, slot)
            if any_positive(stepping):
                step_towards_guess(work, count, stepping, slot)
            careful = where_positive(eases, zero, careful + entering)
    return guesses


@wp.func
def judge(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Find what contradicts the guess: held rows that yield, given ones that return and by how much they are beyond.

    Returns how many yield and how many return. Each is wrong by more than what a velocity is known to.
    """
    zero = real(0.0, work.y_free[0, slot])
    one = real(1.0, zero)
    yielding = zero
    returning = zero
    for a in range(count):
        row = work.gathered[a, slot]
        z = work.trial[a, slot]
        goal = work.goal[a, slot]
        held = work.held[a, slot]
        bound = work.bearing[a, slot]
        lower = work.window[2 * row, slot]
        upper = work.window[2 * row + 1, slot]
        is_stop = upper - lower
        known = (absolute(work.y_free[a, slot]) + absolute(goal)) * model.rounding[0, 0]
        y = work.y_free[a, slot]
        if any_positive(work.part[a, slot] - held):
            y = y + change_of_rate(model, work, row, slot)
        # A stop pushes into its window: up from the lower end, down from the upper one.
        pulls = pull(goal - lower, z) * work.mobility[a, slot] - known
        pulls = where_positive(is_stop, where_positive(pulls, one, zero), zero)
        exceeds = where_positive(absolute(z) - bound, one, zero)
        yields = maximum(pulls, exceeds) * held
        # A given impulse is wrong where the row is carried past its goal by it, or is let go outside its window.
        reach = y + work.compliance[row, slot] * z
        past = where_positive(z, reach - goal, where_positive(neg(z), goal - reach, zero))
        outside = where_positive(is_stop, maximum(lower - y, y - upper), zero)
        outside = where_positive(bound, outside, zero)
        beyond = where_positive(absolute(z), past, outside) - known
        beyond = maximum(beyond, zero) * (work.part[a, slot] - held) * (one - work.barred[a, slot])
        work.right[a, slot] = y
        work.yields[a, slot] = yields
        work.beyond[a, slot] = beyond * beyond / work.mobility[a, slot]
        yielding = yielding + yields
        returning = returning + where_positive(beyond, one, zero)
    return yielding, returning


@wp.func
def pull(above_lower: Real, z: Real):
    """The impulse away from the window of a stop that is held at its lower end, or `above_lower` that."""
    return where_positive(above_lower, z, neg(z))


@wp.func
def give_way(work: WorkArrays, count: int, strained: Real, yielding: Real, slot: int):
    """Have the last row that contradicts others give way where no row yields; says where there is one.

    As none yields, their impulses could grow without end, which proves that no velocity satisfies them all. That row
    says nothing new beside those before, so that what is orthogonal stays so.
    """
    zero = real(0.0, strained)
    one = real(1.0, strained)
    waiting = where_positive(yielding, zero, where_positive(strained, one, zero))
    found = zero
    if any_positive(waiting):
        for k in range(count):
            a = count - 1 - k
            gives = where_positive(absolute(work.strain[a, slot]), waiting, zero)
            waiting = waiting - gives
            found = found + gives
            bound = work.bearing[a, slot]
            z = where_positive(work.trial[a, slot], bound, neg(bound))
            stays = is_finite(bound)
            work.trial[a, slot] = where_positive(gives, where_positive(stays, z, zero), work.trial[a, slot])
            work.held[a, slot] = where_positive(gives, zero, work.held[a, slot])
            work.part[a, slot] = where_positive(gives, stays * work.part[a, slot], work.part[a, slot])
    return found


@wp.func
def slip(model: ModelArrays, work: WorkArrays, count: int, wrong: Real, slot: int):
    """Leave rows that slide what they slide with, where the guess is its own answer; says where there are such rows.

    Until then they have what they can hold at most: with that the answer is the only one, however it is found.
    """
    zero = real(0.0, wrong)
    slips = zero
    for a in range(count):
        slide = work.bound[2 * work.gathered[a, slot] + 1, slot]
        z = where_positive(work.held[a, slot] + wrong, zero, work.trial[a, slot])
        excess = where_positive(absolute(z), work.bearing[a, slot] - slide, zero)
        less = where_positive(z, slide, neg(slide))
        work.bearing[a, slot] = where_positive(excess, slide, work.bearing[a, slot])
        work.trial[a, slot] = where_positive(excess, less, work.trial[a, slot])
        slips = maximum(slips, where_positive(excess, real(1.0, z), zero))
    return slips


@wp.func
def release(work: WorkArrays, a: int, yields: Real, slot: int):
    """Give a held row the impulse that it has once it yields: none if it is a stop that pulls, else its bound."""
    row = work.gathered[a, slot]
    z = work.trial[a, slot]
    lower = work.window[2 * row, slot]
    bound = work.bearing[a, slot]
    given = where_positive(z, bound, neg(bound))
    pulls = where_positive(work.window[2 * row + 1, slot] - lower, pull(work.goal[a, slot] - lower, z), neg(bound))
    given = where_positive(pulls, real(0.0, z), given)
    work.trial[a, slot] = where_positive(yields, given, z)
    work.held[a, slot] = where_positive(yields, real(0.0, z), work.held[a, slot])


@wp.func
def hold(work: WorkArrays, a: int, returns: Real, slot: int):
    """Hold a row at its goal, a stop at the end of its window that it is beyond; `work.right` has its velocity."""
    row = work.gathered[a, slot]
    lower = work.window[2 * row, slot]
    upper = work.window[2 * row + 1, slot]
    nearest = minimum(maximum(work.right[a, slot], lower), upper)
    is_stop = where_positive(upper - lower, returns, real(0.0, returns))
    work.goal[a, slot] = where_positive(is_stop, nearest, work.goal[a, slot])
    work.held[a, slot] = where_positive(returns, real(1.0, returns), work.held[a, slot])


@wp.func
def change_guess(work: WorkArrays, count: int, bold: Real, entering: Real, strained: Real, slot: int):
    """Change every contradiction where that is `bold`; where `entering`, take feasible impulses: let go what yields."""
    zero = real(0.0, bold)
    for a in range(count):
        yields = work.yields[a, slot] * (bold + entering)
        returns = work.beyond[a, slot] * bold
        release(work, a, yields, slot)
        hold(work, a, returns, slot)
        z = where_positive(work.held[a, slot] * strained, zero, work.trial[a, slot])
        work.feasible[a, slot] = where_positive(entering, z, work.feasible[a, slot])
        work.returned[a, slot] = where_positive(entering, zero, work.returned[a, slot])
        work.barred[a, slot] = where_positive(entering, zero, work.barred[a, slot])


@wp.func
def step_towards_guess(work: WorkArrays, count: int, stepping: Real, slot: int):
    """Go from feasible impulses towards those of the guess until a row yields, else hold the one most beyond.

    Only where `stepping`.
    """
    zero = real(0.0, stepping)
    one = real(1.0, zero)
    step = one
    blocked = zero
    furthest = zero
    for a in range(count):
        yields = work.yields[a, slot]
        z = work.trial[a, slot]
        old = work.feasible[a, slot]
        bound = work.bearing[a, slot]
        end = where_positive(absolute(z) - bound, where_positive(z, bound, neg(bound)), zero)
        share = minimum(maximum((end - old) / where_positive(yields, z - old, one), zero), one)
        share = where_positive(yields, share, one)
        work.share_to_bound[a, slot] = share
        step = minimum(step, share)
        blocked = maximum(blocked, yields)
        furthest = maximum(furthest, work.beyond[a, slot])
    waiting = (one - blocked) * stepping
    for a in range(count):
        old = work.feasible[a, slot]
        yields = where_positive(work.share_to_bound[a, slot] - step, zero, work.yields[a, slot] * stepping)
        returns = where_positive(furthest - work.beyond[a, slot], zero, work.beyond[a, slot] * waiting)
        waiting = where_positive(returns, zero, waiting)
        feasible = old + step * (work.trial[a, slot] - old)
        release(work, a, yields, slot)
        hold(work, a, returns, slot)
        feasible = where_positive(yields, work.trial[a, slot], feasible)
        work.feasible[a, slot] = where_positive(stepping, feasible, old)
        # A row that yields as soon as it is held was beyond by a rounding error; it waits for others to move.
        barred = where_positive(step, zero, work.barred[a, slot])
        barred = where_positive(yields * work.returned[a, slot], where_positive(step, zero, one), barred)
        work.barred[a, slot] = where_positive(stepping, barred, work.barred[a, slot])
        work.returned[a, slot] = where_positive(returns, one, zero)


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
