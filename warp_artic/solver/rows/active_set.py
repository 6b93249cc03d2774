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
move. With nonsymmetric rows the first row with a violation changes its status instead, which ends wherever all
principal minors of G are positive (Murty, Note on a Bard-type scheme for solving the complementarity problem, 1974);
elsewhere there may be several solutions or none.
Only leaving: after GUESSES working sets for each row that takes part no row enters any more, which ends always; then no
bound is exceeded and no stop pulls, but rows that should be at their targets may not be.

Where rows of the working set contradict each other and none leaves for its impulse, the last of them is taken out: it
slides, or is left out of the problem if its impulse has no bound.

With impulse bounds that do not change there is one answer, however it is found. So a row leaves at the most that it can
hold, `hold`; once that is solved, the bounds of those that slide become `slide`, and the loop goes on.
"""

import warp as wp

from warp_artic.constraints.rows import sized_change_of_rate
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
from warp_artic.model.families import IS_CONTACT, has_trait
from warp_artic.model.islands import in_mask, in_only_mask
from warp_artic.solver.rows.held import solve_working_set

PATIENCE = wp.constant(3.0)
"""Block pivots in a row that may leave as many violations as there were before, or more."""
GUESSES = wp.constant(4.0)
"""Working sets for each row that takes part, after which rows only leave."""


@wp.func
def find_working_set(
    model: ModelArrays, work: WorkArrays, known: int, count: int, first_nonsymmetric: int, has_slides: bool, worker: int
):
    """Change the working set until it has no violations in any environment; returns how many sets there were.

    `has_slides` says whether any row has hold > slide. An environment without violations keeps its working set,
    whatever the others need.
    """
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    more_than_all = real(float(model.row_count + 1), one)
    fewest = more_than_all
    patience = zero
    is_single = zero
    is_nonsymmetric = zero
    for a in range(first_nonsymmetric, count):
        differs = work.nonsymmetric[work.gathered[a, worker], worker] * work.row_mask[a, worker]
        is_nonsymmetric = where_positive(differs, one, is_nonsymmetric)
    most = real(GUESSES, one)
    for a in range(count):
        most = most + where_positive(work.row_mask[a, worker], real(GUESSES, one), zero)
    unchanged = int(known)
    guesses = int(0)
    unsolved = bool(True)
    while unsolved:
        contradiction = solve_working_set(model, work, unchanged, count, first_nonsymmetric, guesses == 0, worker)
        leaving, entering = find_violations(model, work, count, worker)
        unchanged = count
        guesses += 1
        only_leaving = where_positive(real(float(guesses), one) - most, one, zero)
        entering = where_positive(only_leaving, zero, entering)
        violations = in_only_mask(model, work, worker, leaving + entering)
        # What changes the problem itself: a row is taken out of it, or what slides gets a lower bound.
        changes = drop_contradicting_row(model, work, count, contradiction * is_single, leaving, worker)
        violations = where_positive(changes, zero, violations)
        if has_slides:
            changes = maximum(changes, let_rows_slide(model, work, count, violations + changes, worker))
        unsolved = any_positive(violations + changes)
        if unsolved:
            patience = where_positive(fewest - violations, real(PATIENCE, one), patience - one)
            fewest = where_positive(changes, more_than_all, minimum(fewest, violations))
            patience = where_positive(only_leaving, zero, patience)
            is_wrong = where_positive(violations, one, zero)
            single = is_wrong * is_single * (one - only_leaving * is_nonsymmetric)
            block_pivots = where_positive(patience, is_wrong - single, zero)
            starts_single = is_wrong - single - block_pivots
            pivot_block(work, count, block_pivots, starts_single, contradiction, worker)
            if any_positive(single):
                pivot_single(work, count, single * (one - is_nonsymmetric), worker)
                pivot_least(work, count, single * is_nonsymmetric, worker)
            is_single = where_positive(changes, zero, maximum(is_single, starts_single))
    return guesses


@wp.func
def find_violations(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write the violations of a working set and the velocities of rows with its impulses, `work.y_trial`.

    Returns how many rows are to leave it and how many are to enter, in the environments of the mask. A velocity is
    violated by more than it is known to, the rounding error of its terms; that of a row is stored as its square by the
    Delassus diagonal, the energy that it is worth. Impulses of contacts are given.
    """
    zero = real(0.0, work.y_free[0, worker])
    one = real(1.0, zero)
    leaving = zero
    entering = zero
    for a in range(count):
        work.impulse_violation[a, worker] = zero
        work.velocity_violation[a, worker] = zero
        if not has_trait(model, work.gathered[a, worker], IS_CONTACT):
            leaves, violation = find_violation(model, work, a, worker)
            leaving = leaving + leaves
            entering = entering + where_positive(violation, one, zero)
    return leaving, entering


@wp.func
def find_violation(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """Write the violations of a row; returns whether it is to leave, and by how much its velocity is violated."""
    zero = real(0.0, work.y_free[0, worker])
    one = real(1.0, zero)
    row = work.gathered[a, worker]
    z = work.trial_impulse[a, worker]
    target = work.target[a, worker]
    is_active = work.in_working_set[a, worker]
    bound = work.present_bound[a, worker]
    lower = work.velocity_bounds[2 * row, worker]
    upper = work.velocity_bounds[2 * row + 1, worker]
    is_stop = upper - lower
    y = work.y_free[a, worker]
    size = absolute(y) + absolute(target)
    if any_positive(work.row_mask[a, worker] - is_active):
        change, terms = sized_change_of_rate(model, work, row, worker)
        y = y + change
        size = size + terms
    known_to = size * model.rounding[0, 0]
    # A stop pushes into its bounds: up from the lower end, down from the upper one.
    pulls = pulling_impulse(target - lower, z) * work.delassus_diagonal[a, worker] - known_to
    pulls = where_positive(is_stop, where_positive(pulls, one, zero), zero)
    exceeds = where_positive(absolute(z) - bound, one, zero)
    leaves = in_mask(model, work, row, worker, maximum(pulls, exceeds) * is_active)
    # A given impulse is wrong if it carries its row past the target; no impulse is, outside of the velocity bounds.
    reached = y + work.compliance[row, worker] * z
    past = where_positive(z, reached - target, where_positive(neg(z), target - reached, zero))
    outside = where_positive(is_stop, maximum(lower - y, y - upper), zero)
    outside = where_positive(bound, outside, zero)
    violation = where_positive(absolute(z), past, outside) - known_to
    violation = maximum(violation, zero) * (work.row_mask[a, worker] - is_active) * (one - work.is_tabu[a, worker])
    violation = in_mask(model, work, row, worker, violation)
    work.y_trial[a, worker] = y
    work.impulse_violation[a, worker] = leaves
    work.velocity_violation[a, worker] = violation * violation / work.delassus_diagonal[a, worker]
    return leaves, violation


@wp.func
def pulling_impulse(above_lower: Real, z: Real):
    """The part of an impulse that pulls out of the bounds: z at the upper end, `above_lower` > 0, else -z."""
    return where_positive(above_lower, z, neg(z))


@wp.func
def drop_contradicting_row(
    model: ModelArrays, work: WorkArrays, count: int, contradiction: Real, leaving: Real, worker: int
):
    """Take the last contradicting row out of the working set where no row leaves; says where there is one.

    As none leaves, impulses along the contradiction could grow without end, which proves that no velocity satisfies all
    of these rows (Farkas). The row depends on those before it, so that an orthogonal basis without it stays one.
    """
    zero = real(0.0, contradiction)
    one = real(1.0, contradiction)
    waiting = where_positive(leaving, zero, where_positive(contradiction, one, zero))
    found = zero
    if any_positive(waiting):
        for k in range(count):
            a = count - 1 - k
            mask = work.environment_mask[model.row_island[work.gathered[a, worker]], worker]
            drops = where_positive(absolute(work.infeasibility[a, worker]) * mask, waiting, zero)
            waiting = waiting - drops
            found = found + drops
            bound = work.present_bound[a, worker]
            has_bound = is_finite(bound)
            z = work.trial_impulse[a, worker]
            given = where_positive(has_bound, where_positive(z, bound, neg(bound)), zero)
            work.trial_impulse[a, worker] = where_positive(drops, given, z)
            work.in_working_set[a, worker] = where_positive(drops, zero, work.in_working_set[a, worker])
            mask = work.row_mask[a, worker]
            work.row_mask[a, worker] = where_positive(drops, has_bound * mask, mask)
    return found


@wp.func
def let_rows_slide(model: ModelArrays, work: WorkArrays, count: int, unsolved: Real, worker: int):
    """Lower the bounds of rows that slide to `slide`, where not `unsolved`; says where there are such rows.

    Until then their bounds are those of rows that stick, with which the solution is unique, however it is found.
    """
    zero = real(0.0, unsolved)
    one = real(1.0, unsolved)
    found = zero
    for a in range(count):
        row = work.gathered[a, worker]
        slide = work.impulse_bounds[2 * row + 1, worker]
        stays = work.in_working_set[a, worker] + unsolved + one - work.environment_mask[model.row_island[row], worker]
        z = where_positive(stays, zero, work.trial_impulse[a, worker])
        excess = where_positive(absolute(z), work.present_bound[a, worker] - slide, zero)
        less = where_positive(z, slide, neg(slide))
        work.present_bound[a, worker] = where_positive(excess, slide, work.present_bound[a, worker])
        work.trial_impulse[a, worker] = where_positive(excess, less, work.trial_impulse[a, worker])
        found = maximum(found, where_positive(excess, real(1.0, z), zero))
    return found


@wp.func
def leave_working_set(work: WorkArrays, a: int, leaves: Real, worker: int):
    """Give a row that leaves its impulse from then on: none if it is a stop that pulls, else its bound."""
    row = work.gathered[a, worker]
    z = work.trial_impulse[a, worker]
    lower = work.velocity_bounds[2 * row, worker]
    bound = work.present_bound[a, worker]
    given = where_positive(z, bound, neg(bound))
    is_stop = work.velocity_bounds[2 * row + 1, worker] - lower
    pulls = where_positive(is_stop, pulling_impulse(work.target[a, worker] - lower, z), neg(bound))
    given = where_positive(pulls, real(0.0, z), given)
    work.trial_impulse[a, worker] = where_positive(leaves, given, z)
    work.in_working_set[a, worker] = where_positive(leaves, real(0.0, z), work.in_working_set[a, worker])


@wp.func
def enter_working_set(work: WorkArrays, a: int, enters: Real, worker: int):
    """Put a row into the working set, a stop with the end of its velocity bounds that it is beyond as its target."""
    row = work.gathered[a, worker]
    lower = work.velocity_bounds[2 * row, worker]
    upper = work.velocity_bounds[2 * row + 1, worker]
    nearest = minimum(maximum(work.y_trial[a, worker], lower), upper)
    is_stop = where_positive(upper - lower, enters, real(0.0, enters))
    work.target[a, worker] = where_positive(is_stop, nearest, work.target[a, worker])
    work.in_working_set[a, worker] = where_positive(enters, real(1.0, enters), work.in_working_set[a, worker])


@wp.func
def pivot_block(
    work: WorkArrays, count: int, block_pivots: Real, starts_single: Real, contradiction: Real, worker: int
):
    """Change the status of every row with a violation where `block_pivots`; where `starts_single`, only let rows leave.

    There the impulses that are left are the first feasible ones: none for rows of a contradicting working set.
    """
    zero = real(0.0, block_pivots)
    for a in range(count):
        leave_working_set(work, a, work.impulse_violation[a, worker] * (block_pivots + starts_single), worker)
        enter_working_set(work, a, work.velocity_violation[a, worker] * block_pivots, worker)
        z = where_positive(work.in_working_set[a, worker] * contradiction, zero, work.trial_impulse[a, worker])
        work.feasible_impulse[a, worker] = where_positive(starts_single, z, work.feasible_impulse[a, worker])
        work.has_entered[a, worker] = where_positive(starts_single, zero, work.has_entered[a, worker])
        work.is_tabu[a, worker] = where_positive(starts_single, zero, work.is_tabu[a, worker])


@wp.func
def pivot_single(work: WorkArrays, count: int, single: Real, worker: int):
    """Go from the feasible impulses towards those of the working set until a row is at its bound, which leaves.

    If none is, the row with the largest velocity violation enters. Only where `single`.
    """
    zero = real(0.0, single)
    one = real(1.0, zero)
    step = one
    any_leaves = zero
    largest = zero
    for a in range(count):
        leaves = work.impulse_violation[a, worker]
        z = work.trial_impulse[a, worker]
        old = work.feasible_impulse[a, worker]
        bound = work.present_bound[a, worker]
        end = where_positive(absolute(z) - bound, where_positive(z, bound, neg(bound)), zero)
        own_step = minimum(maximum((end - old) / where_positive(leaves, z - old, one), zero), one)
        own_step = where_positive(leaves, own_step, one)
        work.step_to_bound[a, worker] = own_step
        step = minimum(step, own_step)
        any_leaves = maximum(any_leaves, leaves)
        largest = maximum(largest, work.velocity_violation[a, worker])
    waiting = (one - any_leaves) * single
    for a in range(count):
        old = work.feasible_impulse[a, worker]
        violation = work.velocity_violation[a, worker]
        leaves = where_positive(work.step_to_bound[a, worker] - step, zero, work.impulse_violation[a, worker] * single)
        enters = where_positive(largest - violation, zero, violation * waiting)
        waiting = where_positive(enters, zero, waiting)
        feasible = old + step * (work.trial_impulse[a, worker] - old)
        leave_working_set(work, a, leaves, worker)
        enter_working_set(work, a, enters, worker)
        feasible = where_positive(leaves, work.trial_impulse[a, worker], feasible)
        work.feasible_impulse[a, worker] = where_positive(single, feasible, old)
        # A row that leaves as soon as it has entered was beyond by a rounding error; it waits until others move.
        tabu = where_positive(step, zero, work.is_tabu[a, worker])
        tabu = where_positive(leaves * work.has_entered[a, worker], where_positive(step, zero, one), tabu)
        work.is_tabu[a, worker] = where_positive(single, tabu, work.is_tabu[a, worker])
        work.has_entered[a, worker] = where_positive(enters, one, zero)


@wp.func
def pivot_least(work: WorkArrays, count: int, chosen: Real, worker: int):
    """Change the status of the first row with a violation, where `chosen` (Murty)."""
    zero = real(0.0, chosen)
    waiting = where_positive(chosen, real(1.0, chosen), zero)
    for a in range(count):
        leaves = work.impulse_violation[a, worker] * waiting
        enters = work.velocity_violation[a, worker] * waiting
        waiting = where_positive(leaves + enters, zero, waiting)
        leave_working_set(work, a, leaves, worker)
        enter_working_set(work, a, enters, worker)
