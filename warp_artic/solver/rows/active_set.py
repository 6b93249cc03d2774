"""The active-set loop: which rows are in the working set, at their targets, and which are at bounds of their impulses.

Each row of the problem is either
    in the working set:   y_a + compliance z_a = target_a   (its equality, or an end of its velocity bounds)
    at a bound:           z_a = 0 (a stop that is let go) or +- its impulse bound (a row that slides)
and `solver.rows.held` has the impulses of a working set. It is wrong where
    a stop in it pulls, or an impulse in it exceeds its bound              (impulse violation: the row leaves the set)
    a stop that is let go leaves its velocity bounds, or a sliding row
    is carried past its target by its own impulse                          (velocity violation: the row enters the set)

Block pivoting: all violations are changed at once as long as their number falls below the least so far, and PATIENCE
times more (Judice and Pires, A block principal pivoting algorithm for bounded linear complementarity problems, 1992).
Single pivoting: after that the loop goes on from feasible impulses to feasible impulses, one row at a time, which ends
where P = J^T (Lawson and Hanson, Solving Least Squares Problems, chapter 23; Stark and Parker, Bounded-Variable Least
Squares, 1995). A row that leaves as soon as it has entered was let in by a rounding error: it is tabu until others
move.
Only leaving: after GUESSES working sets for each row no row enters any more, which ends always; then no bound is
exceeded and no stop pulls, but rows that should be at their targets may not be.

Where rows of the working set contradict each other and none leaves for its impulse, the last of them is taken out: it
slides, or is left out of the problem if its impulse has no bound.

With impulse bounds that do not change there is one answer, however it is found. So a row leaves at the most that it can
hold, `hold`; once that is solved, the bounds of those that slide become `slide`, and the loop goes on.
"""

import warp as wp

from warp_artic.constraints.rows import change_of_rate
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
from warp_artic.solver.rows.held import solve_held

PATIENCE = wp.constant(3.0)
"""Guesses in which every contradiction is changed at once though there are not fewer of them than ever before."""
GUESSES = wp.constant(4)
"""So many guesses for each row of a tree, after which rows only yield."""


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
