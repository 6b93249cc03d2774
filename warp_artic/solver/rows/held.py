"""The impulses of a working set, beside given impulses of the rows that are at bounds.

They are found by factors of the Delassus matrix (`solver.rows.factors`) and, in the environments where these are not
good enough, by Gram-Schmidt of the innovations of the rows (`solver.rows.orthogonal`). A row that depends on those
before it gets no impulse: redundant rows change nothing, and of rows that contradict each other the first ones hold.

With dual numbers J and P^T of a row may be equal with derivatives that are not. Factors have P alone: a last refinement
by the velocities that J gives, of which only the derivatives are taken, has those of both.
"""

import warp as wp

from warp_artic.constraints.rows import add_innovations, change_of_rate
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    is_finite,
    maximum,
    mul,
    neg,
    real,
    sub,
    where_positive,
    with_derivatives,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.factors import (
    PIVOT_WITH_ONE_REFINEMENT,
    PIVOT_WITHOUT_REFINEMENT,
    factor_working_set,
    solve_consistent,
    solve_factored,
)
from warp_artic.solver.rows.orthogonal import solve_by_orthogonalization


@wp.func
def solve_working_set(
    model: ModelArrays, work: WorkArrays, known: int, count: int, first_nonsymmetric: int, is_first: bool, worker: int
):
    """Write the impulses of all rows, `work.trial_impulse`, and w = sum p_a z_a of them, `work.innovation`.

    Where rows of the working set contradict each other, a part of their impulses that moves nothing shows which one
    leaves; without it, they are `work.consistent_impulse`. `work.is_met` says which rows are at their targets. Rows
    before `known` are those of the working set before, with the same innovations. Returns where rows contradict.
    Of the first working set, which is a guess, rows that contradict others leave if they can slide.
    """
    contradiction = real(0.0, work.y_free[0, worker])
    work.orthogonal_rows[0, worker] = wp.min(work.orthogonal_rows[0, worker], known)
    give_impulses(model, work, count, worker)
    inaccurate = solve_by_factors(model, work, count, first_nonsymmetric, worker)
    if is_first and any_positive(inaccurate) and let_contradicting_slide(work, inaccurate, count, worker):
        give_impulses(model, work, count, worker)
        inaccurate = solve_by_factors(model, work, count, first_nonsymmetric, worker)
    if any_positive(inaccurate):
        contradiction = solve_by_orthogonalization(model, work, inaccurate, count, first_nonsymmetric, worker)
    scale_innovations(model, work, worker)
    return contradiction


@wp.func
def let_contradicting_slide(work: WorkArrays, chosen: Real, count: int, worker: int):
    """Have rows that contradict those before them begin at their impulse bounds, if these are finite, where `chosen`.

    Says whether there are any. What sticks beside a stop is such a row, in each step in which the stop is reached
    again.
    """
    found = bool(False)
    for a in range(count):
        missed = where_positive(chosen, work.infeasibility[a, worker], chosen - chosen)
        bound = work.present_bound[a, worker]
        leaves = where_positive(absolute(missed), is_finite(bound), missed - missed)
        if any_positive(leaves):
            found = bool(True)
        given = where_positive(missed, bound, neg(bound))
        work.trial_impulse[a, worker] = where_positive(leaves, given, work.trial_impulse[a, worker])
        work.in_working_set[a, worker] = where_positive(leaves, missed - missed, work.in_working_set[a, worker])
    return found


@wp.func
def scale_innovations(model: ModelArrays, work: WorkArrays, worker: int):
    """Write D^-1 w."""
    for dof in range(model.dof_count):
        work.scaled_innovation[dof, worker] = work.innovation[dof, worker] * work.innovation_weight[dof, worker]


@wp.func
def give_impulses(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write w of the given impulses, and by how much they miss the targets of the working set, `work.rhs`."""
    zero = real(0.0, work.y_free[0, worker])
    found = bool(False)
    for dof in range(model.dof_count):
        work.innovation[dof, worker] = zero
    for a in range(count):
        given = where_positive(work.in_working_set[a, worker], zero, work.trial_impulse[a, worker])
        if any_positive(absolute(given)):
            found = bool(True)
            add_innovations(model, work, work.gathered[a, worker], given, worker)
    scale_innovations(model, work, worker)
    for a in range(count):
        y = work.y_free[a, worker]
        if found and any_positive(work.in_working_set[a, worker]):
            y = y + change_of_rate(model, work, work.gathered[a, worker], worker)
        work.rhs[a, worker] = (work.target[a, worker] - y) * work.in_working_set[a, worker]


@wp.func
def of_turn(turn: int, first: Real, second: Real):
    """What belongs to the second refinement, or to the first one."""
    if turn == 2:
        return second
    return first


@wp.func
def solve_by_factors(model: ModelArrays, work: WorkArrays, count: int, first_nonsymmetric: int, worker: int):
    """Add the impulses of the working set by factors of G, refined; positive where these are not good enough.

    There none is added.
    """
    zero = real(0.0, work.y_free[0, worker])
    for a in range(count):
        is_active = work.in_working_set[a, worker]
        work.infeasibility[a, worker] = zero
        work.is_met[a, worker] = zero
        work.consistent_impulse[a, worker] = zero
        work.trial_impulse[a, worker] = where_positive(is_active, zero, work.trial_impulse[a, worker])
    factored, inaccurate, smallest = factor_working_set(model, work, count, worker)
    once = real(PIVOT_WITHOUT_REFINEMENT, smallest) - smallest
    twice = real(PIVOT_WITH_ONE_REFINEMENT, smallest) - smallest
    turns = int(1)
    if any_positive(once):
        turns = 2
    if any_positive(twice):
        turns = 3
    differentiates = int(model.is_dual == 1 and first_nonsymmetric < count)
    for turn in range(turns + differentiates):
        refines = of_turn(turn, once, twice)
        if turn == turns:
            refines = real(1.0, smallest)
        for i in range(factored):
            a = work.factored[i, worker]
            missing = work.rhs[a, worker]
            if turn > 0:
                row = work.gathered[a, worker]
                change = change_of_rate(model, work, row, worker)
                change = change + work.compliance[row, worker] * work.consistent_impulse[a, worker]
                missing = (work.target[a, worker] - work.y_free[a, worker] - change) * work.in_working_set[a, worker]
                missing = where_positive(refines, missing, zero)
            work.residual[i, worker] = missing
        if turn == turns:
            solve_consistent(model, work, factored, worker)
        else:
            contradiction = solve_factored(model, work, factored, worker)
            if turn == 0:
                inaccurate = maximum(inaccurate, contradiction)
        for i in range(factored):
            a = work.factored[i, worker]
            is_active = work.in_working_set[a, worker]
            more = where_positive(inaccurate, zero, where_positive(is_active, work.residual[i, worker], zero))
            if turn == turns:
                more = with_derivatives(zero, more)
            z = work.consistent_impulse[a, worker] + more
            work.consistent_impulse[a, worker] = z
            work.trial_impulse[a, worker] = where_positive(is_active, z, work.trial_impulse[a, worker])
            add_innovations(model, work, work.gathered[a, worker], more, worker)
        if turn < turns + differentiates - 1:
            scale_innovations(model, work, worker)
    return inaccurate
