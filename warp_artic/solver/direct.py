"""All active constraint rows together, as the least change of velocities that they ask for.

The articulated inertias factor M^-1 = W^T D^-1 W: the inward pass takes a push p to its innovations W p, the outward
pass takes D^-1 W p to velocities (Jain, Robot and Multibody Dynamics, section 7.2). In innovations
    y_a = y_a(free) + <j_a, w>,   w = sum p_b z_b,   <x, y> = sum x_i y_i / D_i,
with one entry more for a row with compliance, of that weight. Each row is either
    held:   <j_a, w> = y*_a - y_a(free)   (its equality, or the end of its window that it is beyond)
    given:  z_a = 0 (a stop that is let go) or +-slide       (a bound that has given way)
The held rows are solved by modified Gram-Schmidt of their p, p_a = Q_a + sum R_ba Q_b. The error grows with the root of
the condition of G = J M^-1 P, which is never formed, so that float32 does for a mass ratio of a thousand.

A row that says nothing new beside those before it gets no impulse: redundant rows change nothing, and of rows that
contradict each other the first ones hold. Stops come first, then mimic joints, tendons, friction and drives.

Where rows without bounds contradict each other, so that impulses along them could grow without end, the last of them
is left out if no answer is found with it.

The guess of what is held starts as the last answer in the step was, and with what is new held. It is improved until it
is its own answer: a held stop that would have to pull is let go, one that is let go and is beyond its window is held
again, a held row beyond its bound slides, a sliding one that is carried past its goal is held. All this is changed at
once while there is less and less of it (Judice and Pires, A block principal pivoting algorithm for bounded linear
complementarity problems, 1992). Where there is not, one takes what is feasible of the impulses and goes from feasible
ones to feasible ones, a row at a time, which ends where pushes are J^T (Lawson and Hanson, Solving Least Squares
Problems, chapter 23; Stark and Parker, Bounded-Variable Least Squares, 1995). Only what follows the first row that is
changed is made orthogonal again. With bounds that do not change there is one answer, however it is found: rows give
way at what they can hold, and only once that is solved do those that slide get less, and it is solved again.
No iteration error is left, whatever the ratio of masses; the cost grows with the square of the active rows.
"""

import warp as wp

from warp_artic.constraints.rows import (
    add_kick,
    prepare_rate,
    rate_place,
    row_rate,
    row_response,
    row_velocity,
)
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
from warp_artic.math.rotation import ratio
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays

PATIENCE = wp.constant(3.0)
"""Guesses in which every contradiction is changed at once though there are not fewer of them than ever before."""
GUESSES = wp.constant(4)
"""So many guesses for each row; from then on rows are only let go, so that no impulse is against its bounds."""
STRAIN = wp.constant(1000.0)
"""How many times larger impulses of contradicting rows are than those of others."""


@wp.func
def forget_guess(model: ModelArrays, work: WorkArrays, slot: int, zero: Real):
    """Know nothing about which rows are held."""
    for row in range(model.row_count):
        work.stance[row, slot] = zero


@wp.func
def gather_rows(model: ModelArrays, work: WorkArrays, slot: int):
    """List the rows that are active in any environment that joins, stops first, and the entries of innovations.

    Returns how many rows there are, and the first one whose push is another than its J^T.
    """
    joining = work.joining[0, slot]
    count = int(0)
    entries = int(model.dof_count)
    lopsided = int(model.row_count)
    for dof in range(model.dof_count):
        work.weight[dof, slot] = work.D_inverse[dof, slot]
    for k in range(model.row_count):
        row = model.row_count - 1 - k
        taking_part = work.active[row, slot] * joining
        if any_positive(taking_part):
            prepare_rate(model, work, row, slot)
            if any_positive(work.lopsided[row, slot]):
                lopsided = wp.min(lopsided, count)
            work.part[count, slot] = taking_part
            work.gathered[count, slot] = row
            work.entry[count, slot] = -1
            compliance = work.compliance[row, slot]
            if any_positive(compliance):
                work.entry[count, slot] = entries
                work.weight[entries, slot] = compliance
                entries += 1
            work.entry_end[count, slot] = entries
            count += 1
    return count, lopsided


@wp.func
def set_first_guess(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Hold what is new, and what was held in the last answer of this step; the rest slides or is let go as it was."""
    for a in range(count):
        row = work.gathered[a, slot]
        part = work.part[a, slot]
        zero = real(0.0, part)
        one = real(1.0, part)
        lower = work.window[2 * row, slot]
        upper = work.window[2 * row + 1, slot]
        bound = maximum(work.bound[2 * row, slot], work.bound[2 * row + 1, slot])
        stance = work.stance[row, slot]
        side = work.side[row, slot]
        # Windows and bounds are not always those of the last answer, and an end that is known may be none.
        y = row_velocity(model, work, row, slot)
        nearest = minimum(maximum(y, lower), upper)
        end = where_positive(side, lower, where_positive(neg(side), upper, nearest))
        goal = where_positive(stance * is_finite(end), end, nearest)
        given = where_positive(side, bound, where_positive(neg(side), neg(bound), zero))
        is_given = where_positive(stance - real(1.5, part), is_finite(given), zero)
        work.goal[a, slot] = goal
        work.bearing[a, slot] = bound
        work.held[a, slot] = part * (one - is_given)
        work.trial[a, slot] = where_positive(part * is_given, given, zero)
        work.y_free[a, slot] = row_rate(model, work, work.v_free, row, slot)
        work.mobility[a, slot] = row_response(model, work, row, slot)
        work.barred[a, slot] = zero


@wp.func
def orthogonalize(model: ModelArrays, work: WorkArrays, changed: int, count: int, slot: int):
    """Write Q, its duals  weight Q_a / <Q_a, Q_a>  and R of the held rows; Q is zero where one says nothing new.

    Of the rows before `changed` they are known.
    """
    one = real(1.0, work.y_free[0, slot])
    zero = one - one
    dofs = model.dof_count
    for a in range(changed, count):
        held = work.held[a, slot]
        own = a * (dofs + model.row_count)
        whole = copy_push(model, work, a, slot)
        # What is left of a sum that cancels has lost its right angles: there the projection is done once more.
        again = held
        left = whole
        passes = int(0)
        while passes < 2 and any_positive(again):
            for b in range(a):
                if any_positive(work.is_new[b, slot]):
                    r = project_out(model, work, a, b, slot, again)
                    place = a * model.row_count + b
                    work.ratios[place, slot] = work.ratios[place, slot] + r
            left = zero
            for dof in range(work.first[a, slot], work.end[a, slot]):
                q = work.basis[own + dof, slot]
                left = left + q * q * work.weight[dof, slot]
            for i in range(dofs, work.entry_end[a, slot]):
                q = work.basis[own + i, slot]
                left = left + q * q * work.weight[i, slot]
            again = where_positive(whole * ratio(1.0, 4.0, one) - left, again, zero)
            passes += 1
        is_new = where_positive(left - whole * model.rounding[1, 0], held, zero)
        inverse = is_new / where_positive(is_new, left, one)
        if any_positive(held):
            for dof in range(work.first[a, slot], work.end[a, slot]):
                q = work.basis[own + dof, slot] * is_new
                work.basis[own + dof, slot] = q
                work.dual[own + dof, slot] = q * work.weight[dof, slot] * inverse
            for i in range(dofs, work.entry_end[a, slot]):
                q = work.basis[own + i, slot] * is_new
                work.basis[own + i, slot] = q
                work.dual[own + i, slot] = q * work.weight[i, slot] * inverse
        work.inverse[a, slot] = inverse
        work.is_new[a, slot] = is_new


@wp.func
def copy_push(model: ModelArrays, work: WorkArrays, a: int, slot: int):
    """Start Q_a with p_a, or with nothing where the row is not held; returns <p_a, p_a>."""
    row = work.gathered[a, slot]
    held = work.held[a, slot]
    own = a * (model.dof_count + model.row_count)
    source = model.row_slot[row] * model.dof_count
    whole = real(0.0, held)
    work.first[a, slot] = model.row_first[row]
    work.end[a, slot] = model.row_first[row]
    if any_positive(held):
        work.end[a, slot] = model.row_end[row]
        for dof in range(model.row_first[row], model.row_end[row]):
            p = work.response[source + dof, slot] * held
            work.basis[own + dof, slot] = p
            whole = whole + p * p * work.weight[dof, slot]
        for i in range(model.dof_count, work.entry_end[a, slot]):
            work.basis[own + i, slot] = real(0.0, held)
        if work.entry[a, slot] >= 0:
            work.basis[own + work.entry[a, slot], slot] = held
            whole = whole + held * work.weight[work.entry[a, slot], slot]
    for b in range(a):
        work.ratios[a * model.row_count + b, slot] = real(0.0, held)
    return whole


@wp.func
def project_out(model: ModelArrays, work: WorkArrays, a: int, b: int, slot: int, again: Real):
    """Take from Q_a what it has of Q_b where `again` is one; returns how much that is."""
    own = a * (model.dof_count + model.row_count)
    other = b * (model.dof_count + model.row_count)
    entries = work.entry_end[b, slot]
    r = real(0.0, again)
    for dof in range(wp.max(work.first[a, slot], work.first[b, slot]), wp.min(work.end[a, slot], work.end[b, slot])):
        r = r + work.dual[other + dof, slot] * work.basis[own + dof, slot]
    for i in range(model.dof_count, entries):
        r = r + work.dual[other + i, slot] * work.basis[own + i, slot]
    r = r * again
    if any_positive(absolute(r)):
        for dof in range(work.first[b, slot], work.first[a, slot]):
            work.basis[own + dof, slot] = real(0.0, again)
        for dof in range(work.end[a, slot], work.end[b, slot]):
            work.basis[own + dof, slot] = real(0.0, again)
        work.first[a, slot] = wp.min(work.first[a, slot], work.first[b, slot])
        work.end[a, slot] = wp.max(work.end[a, slot], work.end[b, slot])
        for dof in range(work.first[b, slot], work.end[b, slot]):
            work.basis[own + dof, slot] = work.basis[own + dof, slot] - r * work.basis[other + dof, slot]
        for i in range(model.dof_count, entries):
            work.basis[own + i, slot] = work.basis[own + i, slot] - r * work.basis[other + i, slot]
    return r


@wp.func
def set_couplings(model: ModelArrays, work: WorkArrays, count: int, lopsided: int, slot: int):
    """Write  T_ab = <j_a, Q_b> / <Q_b, Q_b>  from `lopsided` on; before, where j_a is p_a, it is R_ba."""
    one = real(1.0, work.y_free[0, slot])
    zero = one - one
    for a in range(lopsided, count):
        row = work.gathered[a, slot]
        twist = work.lopsided[row, slot] * work.held[a, slot]
        rate = rate_place(model, work, row, slot)
        for b in range(count):
            t = zero
            if b < a:
                t = work.ratios[a * model.row_count + b, slot]
            if b == a:
                t = one
            if any_positive(twist) and any_positive(work.is_new[b, slot]):
                own = zero
                other = b * (model.dof_count + model.row_count)
                first = wp.max(model.row_first[row], work.first[b, slot])
                for dof in range(first, wp.min(model.row_end[row], work.end[b, slot])):
                    own = own + work.response[rate + dof, slot] * work.dual[other + dof, slot]
                if work.entry[a, slot] >= 0 and work.entry[a, slot] < work.entry_end[b, slot]:
                    own = own + work.dual[other + work.entry[a, slot], slot]
                t = where_positive(twist, where_positive(work.is_new[b, slot], own, t), t)
            work.couplings[a * model.row_count + b, slot] = t


@wp.func
def give_impulses(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Write w of the given impulses, and what they leave for the held rows."""
    zero = real(0.0, work.y_free[0, slot])
    for dof in range(model.dof_count):
        work.kick[dof, slot] = zero
    for a in range(count):
        given = where_positive(work.held[a, slot], zero, work.trial[a, slot])
        if any_positive(absolute(given)):
            row = work.gathered[a, slot]
            push = model.row_slot[row] * model.dof_count
            for dof in range(model.row_first[row], model.row_end[row]):
                work.kick[dof, slot] = work.kick[dof, slot] + work.response[push + dof, slot] * given
    for dof in range(model.dof_count):
        work.change[dof, slot] = work.kick[dof, slot] * work.weight[dof, slot]
    for a in range(count):
        y = work.y_free[a, slot] + rate_change(model, work, a, slot)
        work.right[a, slot] = (work.goal[a, slot] - y) * work.held[a, slot]


@wp.func
def rate_change(model: ModelArrays, work: WorkArrays, a: int, slot: int):
    """<j_a, w> of the entries of the dofs, from w / D in `work.change`."""
    row = work.gathered[a, slot]
    rate = rate_place(model, work, row, slot)
    change = real(0.0, work.y_free[a, slot])
    for dof in range(model.row_first[row], model.row_end[row]):
        change = change + work.response[rate + dof, slot] * work.change[dof, slot]
    return change


@wp.func
def eliminate(model: ModelArrays, work: WorkArrays, count: int, lopsided: int, slot: int):
    """Solve  T x = right  in its place; T is lower triangular but for what rows from `lopsided` on add."""
    m = model.row_count
    one = real(1.0, work.y_free[0, slot])
    for a in range(count):
        work.strain[a, slot] = one - one
        work.pivot[a, slot] = one
        if any_positive(work.held[a, slot]):
            x = work.right[a, slot]
            size = absolute(x)
            for b in range(a):
                t = work.ratios[a * m + b, slot]
                if a >= lopsided:
                    t = work.couplings[a * m + b, slot] * work.pivot[b, slot]
                if any_positive(absolute(t)):
                    known = t * work.right[b, slot]
                    x = x - known
                    size = size + absolute(known)
                    if b >= lopsided:
                        for c in range(b + 1, count):
                            change = t * work.couplings[b * m + c, slot]
                            work.couplings[a * m + c, slot] = work.couplings[a * m + c, slot] - change
            work.right[a, slot] = x
            # What is left for a row that says nothing new contradicts those before, if it is more than rounding.
            contradicts = absolute(x) - size * model.rounding[0, 0] * real(8.0, x)
            contradicts = where_positive(work.held[a, slot] - work.is_new[a, slot], contradicts, one - one)
            work.strain[a, slot] = where_positive(contradicts, x / work.mobility[a, slot], one - one)
            if a >= lopsided:
                t = work.couplings[a * m + a, slot]
                enough = absolute(t) - model.rounding[0, 0]
                work.pivot[a, slot] = where_positive(enough, one / where_positive(enough, t, one), one - one)
    for k in range(count):
        a = count - 1 - k
        x = work.right[a, slot]
        if a >= lopsided:
            for b in range(a + 1, count):
                x = x - work.couplings[a * m + b, slot] * work.right[b, slot]
        work.right[a, slot] = x * work.pivot[a, slot]


@wp.func
def solve_guess(model: ModelArrays, work: WorkArrays, changed: int, count: int, lopsided: int, slot: int):
    """Write the impulses of the present guess, `work.trial`, and their w, `work.kick`.

    Rows before `changed` are held as in the guess before. Says where held rows contradict each other.
    """
    orthogonalize(model, work, changed, count, slot)
    set_couplings(model, work, count, lopsided, slot)
    give_impulses(model, work, count, slot)
    eliminate(model, work, count, lopsided, slot)
    for a in range(count):
        y = work.right[a, slot] * work.inverse[a, slot]
        work.right[a, slot] = y
        own = a * (model.dof_count + model.row_count)
        for dof in range(work.first[a, slot], work.end[a, slot]):
            work.kick[dof, slot] = work.kick[dof, slot] + work.basis[own + dof, slot] * y
    for dof in range(model.dof_count):
        work.change[dof, slot] = work.kick[dof, slot] * work.weight[dof, slot]
    spread(model, work, work.right, count, slot)
    contradiction = add_strain(model, work, count, slot)
    for a in range(count):
        work.trial[a, slot] = where_positive(work.held[a, slot], work.right[a, slot], work.trial[a, slot])
    return contradiction


@wp.func
def spread(model: ModelArrays, work: WorkArrays, impulses: Array, count: int, slot: int):
    """From the impulses along Q to those along p, in their place."""
    for k in range(count):
        a = count - 1 - k
        z = impulses[a, slot]
        for b in range(a + 1, count):
            z = z - work.ratios[b * model.row_count + a, slot] * impulses[b, slot]
        impulses[a, slot] = z


@wp.func
def add_strain(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Have rows that contradict each other push against each other, harder than all else, so that what can yields.

    Says where there are any.
    """
    zero = real(0.0, work.y_free[0, slot])
    contradiction = zero
    for a in range(count):
        contradiction = maximum(contradiction, absolute(work.strain[a, slot]))
    if any_positive(contradiction):
        largest = contradiction
        for a in range(count):
            largest = maximum(largest, absolute(work.right[a, slot]))
        spread(model, work, work.strain, count, slot)
        scale = real(STRAIN, largest) * largest / where_positive(contradiction, contradiction, real(1.0, largest))
        for a in range(count):
            work.right[a, slot] = work.right[a, slot] + scale * work.strain[a, slot]
    return contradiction


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
        y = work.y_free[a, slot] + rate_change(model, work, a, slot)
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
def drop(work: WorkArrays, count: int, strained: Real, yielding: Real, slot: int):
    """Leave out the last row that contradicts others where none of them yields; says where there is one.

    Their impulses could grow without end, which proves that no velocity satisfies them all.
    """
    zero = real(0.0, strained)
    one = real(1.0, strained)
    waiting = where_positive(yielding, zero, where_positive(strained, one, zero))
    drops = zero
    if any_positive(waiting):
        for k in range(count):
            a = count - 1 - k
            endless = one - is_finite(work.bearing[a, slot])
            dropped = where_positive(absolute(work.strain[a, slot]), waiting * endless, zero)
            waiting = waiting - dropped
            drops = drops + dropped
            work.part[a, slot] = where_positive(dropped, zero, work.part[a, slot])
            work.held[a, slot] = where_positive(dropped, zero, work.held[a, slot])
            work.trial[a, slot] = where_positive(dropped, zero, work.trial[a, slot])
    return drops


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
def release(model: ModelArrays, work: WorkArrays, a: int, yields: Real, slot: int):
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
def hold(model: ModelArrays, work: WorkArrays, a: int, returns: Real, slot: int):
    """Hold a row at its goal, a stop at the end of its window that it is beyond; `work.right` has its velocity."""
    row = work.gathered[a, slot]
    lower = work.window[2 * row, slot]
    upper = work.window[2 * row + 1, slot]
    nearest = minimum(maximum(work.right[a, slot], lower), upper)
    is_stop = where_positive(upper - lower, returns, real(0.0, returns))
    work.goal[a, slot] = where_positive(is_stop, nearest, work.goal[a, slot])
    work.held[a, slot] = where_positive(returns, real(1.0, returns), work.held[a, slot])


@wp.func
def change_guess(
    model: ModelArrays, work: WorkArrays, count: int, bold: Real, entering: Real, strained: Real, slot: int
):
    """Change every contradiction where that is `bold`; where `entering`, find feasible impulses: let go what yields.

    Returns the first row that is held or not otherwise than before.
    """
    zero = real(0.0, bold)
    changed = int(count)
    for a in range(count):
        yields = work.yields[a, slot] * (bold + entering)
        returns = work.beyond[a, slot] * bold
        release(model, work, a, yields, slot)
        hold(model, work, a, returns, slot)
        z = where_positive(work.held[a, slot] * strained, zero, work.trial[a, slot])
        work.feasible[a, slot] = where_positive(entering, z, work.feasible[a, slot])
        work.returned[a, slot] = where_positive(entering, zero, work.returned[a, slot])
        work.barred[a, slot] = where_positive(entering, zero, work.barred[a, slot])
        if any_positive(yields + returns):
            changed = wp.min(changed, a)
    return changed


@wp.func
def step_towards_guess(model: ModelArrays, work: WorkArrays, count: int, careful: Real, slot: int):
    """Go from feasible impulses towards those of the guess until a row yields, else hold the one most beyond.

    Only where that is `careful`. Returns the first row that is held or not otherwise than before.
    """
    zero = real(0.0, careful)
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
    waiting = (one - blocked) * careful
    changed = int(count)
    for a in range(count):
        old = work.feasible[a, slot]
        yields = where_positive(work.share_to_bound[a, slot] - step, zero, work.yields[a, slot] * careful)
        returns = where_positive(furthest - work.beyond[a, slot], zero, work.beyond[a, slot] * waiting)
        waiting = where_positive(returns, zero, waiting)
        feasible = old + step * (work.trial[a, slot] - old)
        release(model, work, a, yields, slot)
        hold(model, work, a, returns, slot)
        feasible = where_positive(yields, work.trial[a, slot], feasible)
        work.feasible[a, slot] = where_positive(careful, feasible, old)
        # A row that yields as soon as it is held was beyond by a rounding error; it waits for others to move.
        barred = where_positive(step, zero, work.barred[a, slot])
        barred = where_positive(yields * work.returned[a, slot], where_positive(step, zero, one), barred)
        work.barred[a, slot] = where_positive(careful, barred, work.barred[a, slot])
        work.returned[a, slot] = where_positive(returns, one, zero)
        if any_positive(yields + returns):
            changed = wp.min(changed, a)
    return changed


@wp.func
def settle_direct(model: ModelArrays, work: WorkArrays, slot: int, iterations: int):
    """Solve the active rows together; `iterations` is not used."""
    count, lopsided = gather_rows(model, work, slot)
    if count > 0:
        set_first_guess(model, work, count, slot)
        one = real(1.0, work.y_free[0, slot])
        zero = one - one
        all_rows = real(float(model.row_count + 1), one)
        fewest = all_rows
        patience = zero
        careful = zero
        changed = int(0)
        guesses = int(0)
        unsolved = bool(True)
        while unsolved:
            strained = solve_guess(model, work, changed, count, lopsided, slot)
            yielding, returning = judge(model, work, count, slot)
            drops = drop(work, count, strained * careful, yielding, slot)
            is_tired = guesses >= GUESSES * (model.row_count + 1)
            if is_tired:
                returning = zero
            wrong = (yielding + returning) * (one - drops)
            eases = drops + slip(model, work, count, wrong + drops, slot)
            guesses += 1
            unsolved = any_positive(wrong + eases)
            if unsolved:
                patience = where_positive(fewest - wrong, real(PATIENCE, one), patience - one)
                fewest = minimum(fewest, wrong)
                entering = where_positive(wrong, where_positive(patience, zero, one - careful), zero)
                if is_tired:
                    entering = where_positive(wrong, one, zero)
                    careful = zero
                bold = (one - careful) * (one - entering) * (one - drops)
                careful = where_positive(eases, zero, careful)
                changed = change_guess(model, work, count, bold, entering, strained, slot)
                if any_positive(careful):
                    changed = wp.min(changed, step_towards_guess(model, work, count, careful, slot))
                careful = careful + entering
                fewest = where_positive(eases, all_rows, fewest)
        take_solution(model, work, count, slot)


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
        part = work.part[a, slot]
        z = work.trial[a, slot]
        goal = work.goal[a, slot]
        held = work.held[a, slot]
        work.impulse[row, slot] = where_positive(joining, where_positive(part, z, zero), work.impulse[row, slot])
        at_upper = where_positive(goal - work.window[2 * row, slot], one, neg(one))
        side = where_positive(held, neg(at_upper), where_positive(z, one, where_positive(neg(z), neg(one), zero)))
        work.stance[row, slot] = where_positive(part, one + one - held, work.stance[row, slot])
        work.side[row, slot] = where_positive(part, side, work.side[row, slot])
        if model.row_terms[row] == 1:
            dof = model.row_dof[row]
            exact = where_positive(work.compliance[row, slot], zero, joining * work.is_new[a, slot])
            v = goal / work.coefficient[model.row_term[row], slot]
            work.v_next[dof, slot] = where_positive(exact, v, work.v_next[dof, slot])
