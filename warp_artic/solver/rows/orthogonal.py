"""Impulses of a working set by modified Gram-Schmidt of the innovations of its rows.

With one entry more for each row with compliance, of that weight, so that <p_a, p_a> is G_aa (`solver.rows.problem`):
    p_a = Q_a + sum over b < a of R_ba Q_b,   <Q_a, Q_b> = 0,   T_ab = <j_a, Q_b> / <Q_b, Q_b>   (R^T where J = P^T)
    T x = target - y,   impulses = R^-1 x
The error grows with the root of the condition of G, and G itself is not used, so that float32 does for a mass ratio of
a thousand, and rows that nearly depend on others keep what they add.

Q_a is zero for a row that depends on those before it. Where such a row contradicts them, impulses that move nothing are
added, along the dependence and larger than all others: what would exceed its bound first is the row that leaves.
"""

import warp as wp

from warp_artic.constraints.rows import rate_place
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.math.rotation import ratio
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.solver.rows.problem import can_contradict, dependent_share, order_place, range_end, range_first

INFEASIBLE_SCALE = wp.constant(1000.0)
"""How many times larger impulses of contradicting rows are than those of others."""


@wp.func
def solve_by_orthogonalization(
    model: ModelArrays, work: WorkArrays, chosen: Real, count: int, first_nonsymmetric: int, slot: int
):
    """Add the impulses of the working set where `chosen`; positive where its rows contradict each other.

    `work.rhs` are the velocities that it misses; see `held.solve_working_set` for what is written.
    """
    zero = chosen - chosen
    orthogonalize(model, work, work.orthogonal_rows[0, slot], count, slot)
    work.orthogonal_rows[0, slot] = count
    set_T(model, work, count, first_nonsymmetric, slot)
    solve_T(model, work, count, first_nonsymmetric, slot)
    for a in range(count):
        y = work.rhs[a, slot] * work.Q_square_inverse[a, slot]
        work.rhs[a, slot] = y
        y = where_positive(chosen, y, zero)
        own = a * (model.dof_count + model.row_count)
        for dof in range(work.span_first[a, slot], work.span_end[a, slot]):
            work.innovation[dof, slot] = work.innovation[dof, slot] + work.Q[own + dof, slot] * y
        work.is_met[a, slot] = where_positive(chosen, work.is_independent[a, slot], work.is_met[a, slot])
    solve_R(model, work, work.rhs, count, slot)
    for a in range(count):
        work.infeasibility[a, slot] = where_positive(chosen, work.infeasibility[a, slot], zero)
        work.consistent_impulse[a, slot] = where_positive(chosen, work.rhs[a, slot], work.consistent_impulse[a, slot])
    contradiction = add_infeasible_impulses(model, work, count, slot)
    for a in range(count):
        is_active = where_positive(chosen, work.in_working_set[a, slot], zero)
        work.trial_impulse[a, slot] = where_positive(is_active, work.rhs[a, slot], work.trial_impulse[a, slot])
    return contradiction


@wp.func
def orthogonalize(model: ModelArrays, work: WorkArrays, known: int, count: int, slot: int):
    """Write Q, its duals  weight Q_a / <Q_a, Q_a>  and R of the working set; Q is zero where a row depends on others.

    Of the rows before `known` they are kept up to the first that has left the working set or entered it: what is found
    anew is what comes after that, in the environments where it is so.
    """
    one = real(1.0, work.y_free[0, slot])
    zero = one - one
    changed = zero
    for a in range(count):
        is_active = work.in_working_set[a, slot]
        redone = one
        if a < known:
            before = work.was_in_working_set[a, slot]
            changed = maximum(changed, absolute(is_active - before))
            redone = changed * maximum(is_active, before)
        if any_positive(redone):
            redone = one
            if a < known and work.span_first[a, slot] < work.span_end[a, slot]:
                redone = changed
            orthogonalize_row(model, work, a, slot, redone)
        if a >= known:
            changed = one


@wp.func
def orthogonalize_row(model: ModelArrays, work: WorkArrays, a: int, slot: int, redone: Real):
    """Write Q_a, its dual and R_ab where `redone` is one."""
    one = real(1.0, redone)
    zero = one - one
    dofs = model.dof_count
    is_active = work.in_working_set[a, slot]
    own = a * (dofs + model.row_count)
    order = order_place(model, work, a, slot)
    square = copy_innovations(model, work, a, slot, redone)
    # Where most of p_a cancels, the rest is no longer orthogonal: there the projection is done once more (Kahan).
    again = is_active * redone
    work.was_in_working_set[a, slot] = is_active
    left = square
    passes = int(0)
    while passes < 2 and any_positive(again):
        for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
            for b in range(range_first(model, work, k, slot), range_end(model, work, k, slot)):
                if any_positive(work.is_independent[b, slot] * again):
                    r = project_out(model, work, a, b, slot, again)
                    place = a * model.row_count + b
                    work.R_factor[place, slot] = work.R_factor[place, slot] + r
        left = zero
        for dof in range(work.span_first[a, slot], work.span_end[a, slot]):
            q = work.Q[own + dof, slot]
            left = left + q * q * work.innovation_weight[dof, slot]
        for i in range(dofs, work.compliance_entry_end[a, slot]):
            q = work.Q[own + i, slot]
            left = left + q * q * work.innovation_weight[i, slot]
        again = where_positive(square * ratio(1.0, 4.0, one) - left, again, zero)
        passes += 1
    least = dependent_share(model, work.gathered[a, slot], model.rounding[1, 0])
    is_independent = where_positive(left - square * least, is_active, zero)
    inverse = is_independent / where_positive(is_independent, left, one)
    is_independent = where_positive(redone, is_independent, work.is_independent[a, slot])
    inverse = where_positive(redone, inverse, work.Q_square_inverse[a, slot])
    if any_positive(is_active):
        for dof in range(work.span_first[a, slot], work.span_end[a, slot]):
            q = work.Q[own + dof, slot] * is_independent
            work.Q[own + dof, slot] = q
            work.Q_dual[own + dof, slot] = q * work.innovation_weight[dof, slot] * inverse
        for i in range(dofs, work.compliance_entry_end[a, slot]):
            q = work.Q[own + i, slot] * is_independent
            work.Q[own + i, slot] = q
            work.Q_dual[own + i, slot] = q * work.innovation_weight[i, slot] * inverse
    work.Q_square_inverse[a, slot] = inverse
    work.is_independent[a, slot] = is_independent


@wp.func
def copy_innovations(model: ModelArrays, work: WorkArrays, a: int, slot: int, redone: Real):
    """Start Q_a with p_a, or with zero where the row is not in the working set; returns <p_a, p_a>.

    Where `redone` is not one Q_a stays as it is; it is one in all environments if Q_a is zero in all of them.
    """
    row = work.gathered[a, slot]
    is_active = work.in_working_set[a, slot]
    own = a * (model.dof_count + model.row_count)
    source = model.row_slot[row] * model.dof_count
    square = real(0.0, is_active)
    zero = square
    first = model.row_first[row]
    end = model.row_end[row]
    if not any_positive(is_active):
        work.span_first[a, slot] = first
        work.span_end[a, slot] = first
    else:
        if not any_positive(real(0.5, is_active) - redone):
            work.span_first[a, slot] = first
            work.span_end[a, slot] = end
        for dof in range(work.span_first[a, slot], first):
            work.Q[own + dof, slot] = where_positive(redone, zero, work.Q[own + dof, slot])
        for dof in range(end, work.span_end[a, slot]):
            work.Q[own + dof, slot] = where_positive(redone, zero, work.Q[own + dof, slot])
        for dof in range(first, end):
            work.Q[own + dof, slot] = where_positive(redone, zero, work.Q[own + dof, slot])
        for k in range(model.row_supports[row]):
            dof = model.support_dof[model.row_support[row] + k]
            p = work.response[source + k, slot] * is_active
            work.Q[own + dof, slot] = where_positive(redone, p, work.Q[own + dof, slot])
            square = square + p * p * work.innovation_weight[dof, slot]
        for i in range(model.dof_count, work.compliance_entry_end[a, slot]):
            work.Q[own + i, slot] = where_positive(redone, zero, work.Q[own + i, slot])
        if work.compliance_entry[a, slot] >= 0:
            place = own + work.compliance_entry[a, slot]
            work.Q[place, slot] = where_positive(redone, is_active, work.Q[place, slot])
            square = square + is_active * work.innovation_weight[work.compliance_entry[a, slot], slot]
    order = order_place(model, work, a, slot)
    for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for b in range(range_first(model, work, k, slot), range_end(model, work, k, slot)):
            place = a * model.row_count + b
            work.R_factor[place, slot] = where_positive(redone, zero, work.R_factor[place, slot])
    return square


@wp.func
def project_out(model: ModelArrays, work: WorkArrays, a: int, b: int, slot: int, again: Real):
    """Take from Q_a its component along Q_b where `again` is one; returns <Q_a, Q_b> / <Q_b, Q_b>."""
    own = a * (model.dof_count + model.row_count)
    other = b * (model.dof_count + model.row_count)
    entries = work.compliance_entry_end[b, slot]
    r = real(0.0, again)
    first = wp.max(work.span_first[a, slot], work.span_first[b, slot])
    for dof in range(first, wp.min(work.span_end[a, slot], work.span_end[b, slot])):
        r = r + work.Q_dual[other + dof, slot] * work.Q[own + dof, slot]
    for i in range(model.dof_count, entries):
        r = r + work.Q_dual[other + i, slot] * work.Q[own + i, slot]
    r = r * again
    if any_positive(absolute(r)):
        for dof in range(work.span_first[b, slot], work.span_first[a, slot]):
            work.Q[own + dof, slot] = real(0.0, again)
        for dof in range(work.span_end[a, slot], work.span_end[b, slot]):
            work.Q[own + dof, slot] = real(0.0, again)
        work.span_first[a, slot] = wp.min(work.span_first[a, slot], work.span_first[b, slot])
        work.span_end[a, slot] = wp.max(work.span_end[a, slot], work.span_end[b, slot])
        for dof in range(work.span_first[b, slot], work.span_end[b, slot]):
            work.Q[own + dof, slot] = work.Q[own + dof, slot] - r * work.Q[other + dof, slot]
        for i in range(model.dof_count, entries):
            work.Q[own + i, slot] = work.Q[own + i, slot] - r * work.Q[other + i, slot]
    return r


@wp.func
def set_T(model: ModelArrays, work: WorkArrays, count: int, first_nonsymmetric: int, slot: int):
    """Write the rows  T_ab = <j_a, Q_b> / <Q_b, Q_b>  from the first nonsymmetric one on; before it T_ab is R_ba."""
    one = real(1.0, work.y_free[0, slot])
    zero = one - one
    for a in range(first_nonsymmetric, count):
        row = work.gathered[a, slot]
        nonsymmetric = work.nonsymmetric[row, slot] * work.in_working_set[a, slot]
        rate = rate_place(model, work, row, slot)
        for b in range(count):
            work.T_factor[a * model.row_count + b, slot] = zero
        work.T_factor[a * model.row_count + a, slot] = one
        order = order_place(model, work, a, slot)
        for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
            for b in range(range_first(model, work, k, slot), range_end(model, work, k, slot)):
                work.T_factor[a * model.row_count + b, slot] = work.R_factor[a * model.row_count + b, slot]
        for b in range(count):
            t = work.T_factor[a * model.row_count + b, slot]
            if any_positive(nonsymmetric) and any_positive(work.is_independent[b, slot]):
                own = zero
                other = b * (model.dof_count + model.row_count)
                for k in range(model.row_supports[row]):
                    dof = model.support_dof[model.row_support[row] + k]
                    if dof >= work.span_first[b, slot] and dof < work.span_end[b, slot]:
                        own = own + work.response[rate + k, slot] * work.Q_dual[other + dof, slot]
                entry = work.compliance_entry[a, slot]
                if entry >= 0 and entry < work.compliance_entry_end[b, slot]:
                    own = own + work.Q_dual[other + entry, slot]
                t = where_positive(nonsymmetric, where_positive(work.is_independent[b, slot], own, t), t)
            work.T_factor[a * model.row_count + b, slot] = t


@wp.func
def solve_T(model: ModelArrays, work: WorkArrays, count: int, first_nonsymmetric: int, slot: int):
    """Solve  T x = rhs  in its place; T is lower triangular but for the rows from the first nonsymmetric one on."""
    m = model.row_count
    one = real(1.0, work.y_free[0, slot])
    for a in range(count):
        work.infeasibility[a, slot] = one - one
        work.T_pivot_inverse[a, slot] = one
        if any_positive(work.in_working_set[a, slot]):
            if a < first_nonsymmetric:
                x = eliminate_by_R(model, work, a, slot)
            else:
                x = eliminate_by_T(model, work, a, count, first_nonsymmetric, slot)
            if any_positive(work.in_working_set[a, slot] - work.is_independent[a, slot]):
                find_infeasibility(model, work, a, first_nonsymmetric, slot, x)
            work.rhs[a, slot] = x
            if a >= first_nonsymmetric:
                t = work.T_factor[a * m + a, slot]
                enough = absolute(t) - model.rounding[0, 0]
                work.T_pivot_inverse[a, slot] = where_positive(enough, one / where_positive(enough, t, one), one - one)
    for k in range(count):
        a = count - 1 - k
        x = work.rhs[a, slot]
        if a >= first_nonsymmetric:
            for b in range(a + 1, count):
                x = x - work.T_factor[a * m + b, slot] * work.rhs[b, slot]
        work.rhs[a, slot] = x * work.T_pivot_inverse[a, slot]


@wp.func
def eliminate_by_R(model: ModelArrays, work: WorkArrays, a: int, slot: int):
    """What the solved rows before a symmetric row leave of its rhs."""
    x = work.rhs[a, slot]
    order = order_place(model, work, a, slot)
    for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for b in range(range_first(model, work, k, slot), range_end(model, work, k, slot)):
            t = work.R_factor[a * model.row_count + b, slot]
            if any_positive(absolute(t)):
                x = x - t * work.rhs[b, slot]
    return x


@wp.func
def eliminate_by_T(model: ModelArrays, work: WorkArrays, a: int, count: int, first_nonsymmetric: int, slot: int):
    """What the solved rows before a row leave of its rhs, and of its row of T behind nonsymmetric ones."""
    m = model.row_count
    x = work.rhs[a, slot]
    for b in range(a):
        t = work.T_factor[a * m + b, slot] * work.T_pivot_inverse[b, slot]
        if any_positive(absolute(t)):
            x = x - t * work.rhs[b, slot]
            if b >= first_nonsymmetric:
                for c in range(b + 1, count):
                    change = t * work.T_factor[b * m + c, slot]
                    work.T_factor[a * m + c, slot] = work.T_factor[a * m + c, slot] - change
    return x


@wp.func
def find_infeasibility(model: ModelArrays, work: WorkArrays, a: int, first_nonsymmetric: int, slot: int, x: Real):
    """Write by which velocity x a row that depends on those before it contradicts them, zero if that is rounding.

    `work.rhs` has of rows before what is solved, and of this row what there was before elimination.
    """
    if a < first_nonsymmetric:
        size = size_before_R(model, work, a, slot)
    else:
        size = size_before_T(model, work, a, slot)
    contradicts = absolute(x) - size * model.rounding[0, 0] * real(8.0, x)
    is_dependent = work.in_working_set[a, slot] - work.is_independent[a, slot]
    contradicts = where_positive(is_dependent, contradicts, real(0.0, x))
    contradicts = contradicts * can_contradict(model, work.gathered[a, slot], x)
    work.infeasibility[a, slot] = where_positive(contradicts, x / work.delassus_diagonal[a, slot], real(0.0, x))


@wp.func
def size_before_R(model: ModelArrays, work: WorkArrays, a: int, slot: int):
    """The sum of the sizes of the rhs of a symmetric row and of all that has been taken from it."""
    size = absolute(work.rhs[a, slot])
    order = order_place(model, work, a, slot)
    for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for b in range(range_first(model, work, k, slot), range_end(model, work, k, slot)):
            size = size + absolute(work.R_factor[a * model.row_count + b, slot] * work.rhs[b, slot])
    return size


@wp.func
def size_before_T(model: ModelArrays, work: WorkArrays, a: int, slot: int):
    """The same behind nonsymmetric rows."""
    size = absolute(work.rhs[a, slot])
    for b in range(a):
        t = work.T_factor[a * model.row_count + b, slot] * work.T_pivot_inverse[b, slot]
        size = size + absolute(t * work.rhs[b, slot])
    return size


@wp.func
def solve_R(model: ModelArrays, work: WorkArrays, impulses: Array, count: int, slot: int):
    """Solve  R z = impulses  in their place: from impulses along Q to those along p."""
    for step in range(count):
        a = count - 1 - step
        z = impulses[a, slot]
        order = order_place(model, work, a, slot)
        for k in range(model.later_range[order], model.later_range[order + 1]):
            for b in range(range_first(model, work, k, slot), range_end(model, work, k, slot)):
                z = z - work.R_factor[b * model.row_count + a, slot] * impulses[b, slot]
        impulses[a, slot] = z


@wp.func
def add_infeasible_impulses(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Add impulses along the contradictions, larger than all others; says where there are any.

    They move nothing, as R maps them to the Q of dependent rows, which are zero. The largest ones exceed bounds first.
    """
    zero = real(0.0, work.y_free[0, slot])
    contradiction = zero
    for a in range(count):
        contradiction = maximum(contradiction, absolute(work.infeasibility[a, slot]))
    if any_positive(contradiction):
        largest = contradiction
        for a in range(count):
            largest = maximum(largest, absolute(work.rhs[a, slot]))
        solve_R(model, work, work.infeasibility, count, slot)
        scale = real(INFEASIBLE_SCALE, largest) * largest
        scale = scale / where_positive(contradiction, contradiction, real(1.0, largest))
        for a in range(count):
            work.rhs[a, slot] = work.rhs[a, slot] + scale * work.infeasibility[a, slot]
    return contradiction
