"""The impulses of a working set, beside given impulses of the rows that are at bounds.

They are found by factors of the Delassus matrix (`solver.rows.factors`) and, in the environments where these are not
good enough, by Gram-Schmidt of the innovations of the rows (`solver.rows.orthogonal`). A row that depends on those
before it gets no impulse: redundant rows change nothing, and of rows that contradict each other the first ones hold.
"""

import warp as wp

from warp_artic.constraints.rows import add_innovations, change_of_rate
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    absolute,
    add,
    any_positive,
    maximum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.factors import factor, solve_factored
from warp_artic.solver.rows.orthogonal import solve_by_basis


@wp.func
def solve_held(model: ModelArrays, work: WorkArrays, known: int, count: int, lopsided: int, slot: int):
    """Write the impulses of all rows, `work.trial`, and their w, `work.kick`; those that are not held are given.

    Those of held rows are `work.relaxed` without strain, which moves nothing, and `work.met` says which are at their
    goals. Rows before `known` are those of the guess before, with the same pushes. Says where held rows contradict each
    other.
    """
    contradiction = real(0.0, work.y_free[0, slot])
    work.basis_rows[0, slot] = wp.min(work.basis_rows[0, slot], known)
    give_impulses(model, work, count, slot)
    poor = solve_by_factors(model, work, count, slot)
    if any_positive(poor):
        contradiction = solve_by_basis(model, work, poor, count, lopsided, slot)
    for dof in range(model.dof_count):
        work.change[dof, slot] = work.kick[dof, slot] * work.weight[dof, slot]
    return contradiction


@wp.func
def give_impulses(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Write w of the given impulses, and what they leave for the held rows."""
    zero = real(0.0, work.y_free[0, slot])
    found = bool(False)
    for dof in range(model.dof_count):
        work.kick[dof, slot] = zero
    for a in range(count):
        given = where_positive(work.held[a, slot], zero, work.trial[a, slot])
        if any_positive(absolute(given)):
            found = bool(True)
            row = work.gathered[a, slot]
            add_innovations(model, work, row, given, slot)
    for dof in range(model.dof_count):
        work.change[dof, slot] = work.kick[dof, slot] * work.weight[dof, slot]
    for a in range(count):
        y = work.y_free[a, slot]
        if found and any_positive(work.held[a, slot]):
            y = y + change_of_rate(model, work, work.gathered[a, slot], slot)
        work.right[a, slot] = (work.goal[a, slot] - y) * work.held[a, slot]


@wp.func
def solve_by_factors(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Add the impulses of held rows by the factors of G; positive where these are not good enough: there none is added.

    What they leave is found by their innovations and solved for as well.
    """
    zero = real(0.0, work.y_free[0, slot])
    for a in range(count):
        held = work.held[a, slot]
        work.strain[a, slot] = zero
        work.met[a, slot] = zero
        work.relaxed[a, slot] = zero
        work.trial[a, slot] = where_positive(held, zero, work.trial[a, slot])
    picked, poor, rough = factor(model, work, count, slot)
    turns = int(1)
    if any_positive(rough):
        turns = 2
    for turn in range(turns):
        for i in range(picked):
            a = work.picked[i, slot]
            left = work.right[a, slot]
            if turn == 1:
                change = (
                    change_of_rate(model, work, work.gathered[a, slot], slot)
                    + work.compliance[work.gathered[a, slot], slot] * work.relaxed[a, slot]
                )
                left = (work.goal[a, slot] - work.y_free[a, slot] - change) * work.held[a, slot]
                left = where_positive(rough, left, zero)
            work.residual[i, slot] = left
        contradiction = solve_factored(model, work, picked, slot)
        if turn == 0:
            poor = maximum(poor, contradiction)
        for i in range(picked):
            a = work.picked[i, slot]
            row = work.gathered[a, slot]
            more = where_positive(poor, zero, where_positive(work.held[a, slot], work.residual[i, slot], zero))
            z = work.relaxed[a, slot] + more
            work.relaxed[a, slot] = z
            work.trial[a, slot] = where_positive(work.held[a, slot], z, work.trial[a, slot])
            add_innovations(model, work, row, more, slot)
        if turn == 0:
            for dof in range(model.dof_count):
                work.change[dof, slot] = work.kick[dof, slot] * work.weight[dof, slot]
    return poor
