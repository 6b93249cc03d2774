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

from warp_artic.constraints.rows import rate_response_start
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
    with_derivatives,
)
from warp_artic.math.rotation import ratio
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.solver.rows.problem import can_contradict, dependent_share, order_place, range_end, range_first

INFEASIBLE_SCALE = wp.constant(1000.0)
"""How many times larger impulses of contradicting rows are than those of others."""


@wp.func
def solve_by_orthogonalization(
    model: ModelArrays, work: WorkArrays, chosen: Real, count: int, first_nonsymmetric: int, worker: int
):
    """Add the impulses of the working set where `chosen`; positive where its rows contradict each other.

    `work.rhs` are the velocities that it misses; see `held.solve_working_set` for what is written.
    """
    zero = chosen - chosen
    orthogonalize(model, work, work.orthogonal_rows[0, worker], count, worker)
    work.orthogonal_rows[0, worker] = count
    set_T(model, work, count, first_nonsymmetric, worker)
    solve_T(model, work, count, first_nonsymmetric, worker)
    for a in range(count):
        y = work.rhs[a, worker] * work.Q_square_inverse[a, worker]
        work.rhs[a, worker] = y
        y = where_positive(chosen, y, zero)
        own = a * (model.dof_count + model.row_count)
        for dof in range(work.span_first[a, worker], work.span_end[a, worker]):
            work.innovation[dof, worker] = work.innovation[dof, worker] + work.Q[own + dof, worker] * y
        work.is_met[a, worker] = where_positive(chosen, work.is_independent[a, worker], work.is_met[a, worker])
    solve_R(model, work, work.rhs, count, worker)
    for a in range(count):
        work.infeasibility[a, worker] = where_positive(chosen, work.infeasibility[a, worker], zero)
        work.consistent_impulse[a, worker] = where_positive(
            chosen, work.rhs[a, worker], work.consistent_impulse[a, worker]
        )
    contradiction = add_infeasible_impulses(model, work, count, worker)
    for a in range(count):
        is_active = where_positive(chosen, work.in_working_set[a, worker], zero)
        work.trial_impulse[a, worker] = where_positive(is_active, work.rhs[a, worker], work.trial_impulse[a, worker])
    return contradiction


@wp.func
def orthogonalize(model: ModelArrays, work: WorkArrays, known: int, count: int, worker: int):
    """Write Q, its duals  weight Q_a / <Q_a, Q_a>  and R of the working set; Q is zero where a row depends on others.

    Rows before `known` are kept up to the first that has entered or left the working set; later ones are found again,
    in the environments concerned.
    """
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    changed = zero
    for a in range(count):
        is_active = work.in_working_set[a, worker]
        redone = one
        if a < known:
            before = work.was_in_working_set[a, worker]
            changed = maximum(changed, absolute(is_active - before))
            redone = changed * maximum(is_active, before)
        if any_positive(redone):
            redone = one
            if a < known and work.span_first[a, worker] < work.span_end[a, worker]:
                redone = changed
            orthogonalize_row(model, work, a, worker, redone)
        if a >= known:
            changed = one


@wp.func
def orthogonalize_row(model: ModelArrays, work: WorkArrays, a: int, worker: int, redone: Real):
    """Write Q_a, its dual and R_ab where `redone` is one."""
    one = real(1.0, redone)
    zero = one - one
    dofs = model.dof_count
    is_active = work.in_working_set[a, worker]
    own = a * (dofs + model.row_count)
    order = order_place(model, work, a, worker)
    square = copy_innovations(model, work, a, worker, redone)
    # Where most of p_a cancels, the rest is no longer orthogonal: there the projection is done once more (Kahan).
    again = is_active * redone
    work.was_in_working_set[a, worker] = is_active
    left = square
    passes = int(0)
    while passes < 2 and any_positive(again):
        for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
            for b in range(range_first(model, work, k, worker), range_end(model, work, k, worker)):
                if any_positive(work.is_independent[b, worker] * again):
                    r = project_out(model, work, a, b, worker, again)
                    place = a * model.row_count + b
                    work.R_factor[place, worker] = work.R_factor[place, worker] + r
        left = zero
        for dof in range(work.span_first[a, worker], work.span_end[a, worker]):
            q = work.Q[own + dof, worker]
            left = left + q * q * work.innovation_weight[dof, worker]
        for i in range(dofs, work.compliance_entry_end[a, worker]):
            q = work.Q[own + i, worker]
            left = left + q * q * work.innovation_weight[i, worker]
        again = where_positive(square * ratio(1.0, 4.0, one) - left, again, zero)
        passes += 1
    least = dependent_share(model, work, work.gathered[a, worker], model.rounding[1, 0], worker)
    is_independent = where_positive(left - square * least, is_active, zero)
    inverse = is_independent / where_positive(is_independent, left, one)
    is_independent = where_positive(redone, is_independent, work.is_independent[a, worker])
    inverse = where_positive(redone, inverse, work.Q_square_inverse[a, worker])
    if any_positive(is_active):
        for dof in range(work.span_first[a, worker], work.span_end[a, worker]):
            q = work.Q[own + dof, worker] * is_independent
            work.Q[own + dof, worker] = q
            work.Q_dual[own + dof, worker] = q * work.innovation_weight[dof, worker] * inverse
        for i in range(dofs, work.compliance_entry_end[a, worker]):
            q = work.Q[own + i, worker] * is_independent
            work.Q[own + i, worker] = q
            work.Q_dual[own + i, worker] = q * work.innovation_weight[i, worker] * inverse
    work.Q_square_inverse[a, worker] = inverse
    work.is_independent[a, worker] = is_independent


@wp.func
def copy_innovations(model: ModelArrays, work: WorkArrays, a: int, worker: int, redone: Real):
    """Start Q_a with p_a, or with zero where the row is not in the working set; returns <p_a, p_a>.

    Where `redone` is not one Q_a stays as it is; it is one in all environments if Q_a is zero in all of them.
    """
    row = work.gathered[a, worker]
    is_active = work.in_working_set[a, worker]
    own = a * (model.dof_count + model.row_count)
    source = model.row_response_index[row] * model.dof_count
    square = real(0.0, is_active)
    zero = square
    first = model.row_first[row]
    end = model.row_end[row]
    if not any_positive(is_active):
        work.span_first[a, worker] = first
        work.span_end[a, worker] = first
    else:
        if not any_positive(real(0.5, is_active) - redone):
            work.span_first[a, worker] = first
            work.span_end[a, worker] = end
        for dof in range(work.span_first[a, worker], first):
            work.Q[own + dof, worker] = where_positive(redone, zero, work.Q[own + dof, worker])
        for dof in range(end, work.span_end[a, worker]):
            work.Q[own + dof, worker] = where_positive(redone, zero, work.Q[own + dof, worker])
        for dof in range(first, end):
            work.Q[own + dof, worker] = where_positive(redone, zero, work.Q[own + dof, worker])
        for k in range(model.row_supports[row]):
            dof = model.support_dof[model.row_support[row] + k]
            p = work.response[source + k, worker] * is_active
            work.Q[own + dof, worker] = where_positive(redone, p, work.Q[own + dof, worker])
            square = square + p * p * work.innovation_weight[dof, worker]
        for i in range(model.dof_count, work.compliance_entry_end[a, worker]):
            work.Q[own + i, worker] = where_positive(redone, zero, work.Q[own + i, worker])
        if work.compliance_entry[a, worker] >= 0:
            place = own + work.compliance_entry[a, worker]
            work.Q[place, worker] = where_positive(redone, is_active, work.Q[place, worker])
            square = square + is_active * work.innovation_weight[work.compliance_entry[a, worker], worker]
    order = order_place(model, work, a, worker)
    for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for b in range(range_first(model, work, k, worker), range_end(model, work, k, worker)):
            place = a * model.row_count + b
            work.R_factor[place, worker] = where_positive(redone, zero, work.R_factor[place, worker])
    return square


@wp.func
def project_out(model: ModelArrays, work: WorkArrays, a: int, b: int, worker: int, again: Real):
    """Take from Q_a its component along Q_b where `again` is one; returns <Q_a, Q_b> / <Q_b, Q_b>."""
    own = a * (model.dof_count + model.row_count)
    other = b * (model.dof_count + model.row_count)
    entries = work.compliance_entry_end[b, worker]
    r = real(0.0, again)
    first = wp.max(work.span_first[a, worker], work.span_first[b, worker])
    for dof in range(first, wp.min(work.span_end[a, worker], work.span_end[b, worker])):
        r = r + work.Q_dual[other + dof, worker] * work.Q[own + dof, worker]
    for i in range(model.dof_count, entries):
        r = r + work.Q_dual[other + i, worker] * work.Q[own + i, worker]
    r = r * again
    if any_positive(absolute(r)):
        for dof in range(work.span_first[b, worker], work.span_first[a, worker]):
            work.Q[own + dof, worker] = real(0.0, again)
        for dof in range(work.span_end[a, worker], work.span_end[b, worker]):
            work.Q[own + dof, worker] = real(0.0, again)
        work.span_first[a, worker] = wp.min(work.span_first[a, worker], work.span_first[b, worker])
        work.span_end[a, worker] = wp.max(work.span_end[a, worker], work.span_end[b, worker])
        for dof in range(work.span_first[b, worker], work.span_end[b, worker]):
            work.Q[own + dof, worker] = work.Q[own + dof, worker] - r * work.Q[other + dof, worker]
        for i in range(model.dof_count, entries):
            work.Q[own + i, worker] = work.Q[own + i, worker] - r * work.Q[other + i, worker]
    return r


@wp.func
def set_T(model: ModelArrays, work: WorkArrays, count: int, first_nonsymmetric: int, worker: int):
    """Write the rows  T_ab = <j_a, Q_b> / <Q_b, Q_b>  from the first nonsymmetric one on; before it T_ab is R_ba."""
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    for a in range(first_nonsymmetric, count):
        row = work.gathered[a, worker]
        nonsymmetric = work.nonsymmetric[row, worker] * work.in_working_set[a, worker]
        rate = rate_response_start(model, work, row, worker)
        for b in range(count):
            work.T_factor[a * model.row_count + b, worker] = zero
        work.T_factor[a * model.row_count + a, worker] = one
        order = order_place(model, work, a, worker)
        for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
            for b in range(range_first(model, work, k, worker), range_end(model, work, k, worker)):
                work.T_factor[a * model.row_count + b, worker] = work.R_factor[a * model.row_count + b, worker]
        for b in range(count):
            t = work.T_factor[a * model.row_count + b, worker]
            if any_positive(nonsymmetric) and any_positive(work.is_independent[b, worker]):
                own = zero
                other = b * (model.dof_count + model.row_count)
                for k in range(model.row_supports[row]):
                    dof = model.support_dof[model.row_support[row] + k]
                    if dof >= work.span_first[b, worker] and dof < work.span_end[b, worker]:
                        own = own + work.response[rate + k, worker] * work.Q_dual[other + dof, worker]
                entry = work.compliance_entry[a, worker]
                if entry >= 0 and entry < work.compliance_entry_end[b, worker]:
                    own = own + work.Q_dual[other + entry, worker]
                own = where_positive(work.is_independent[b, worker], own, t)
                t = where_positive(nonsymmetric, own, with_derivatives(t, own))
            work.T_factor[a * model.row_count + b, worker] = t


@wp.func
def solve_T(model: ModelArrays, work: WorkArrays, count: int, first_nonsymmetric: int, worker: int):
    """Solve  T x = rhs  in its place; T is lower triangular but for the rows from the first nonsymmetric one on."""
    m = model.row_count
    one = real(1.0, work.y_free[0, worker])
    for a in range(count):
        work.infeasibility[a, worker] = one - one
        work.T_pivot_inverse[a, worker] = one
        if any_positive(work.in_working_set[a, worker]):
            if a < first_nonsymmetric:
                x = eliminate_by_R(model, work, a, worker)
            else:
                x = eliminate_by_T(model, work, a, count, first_nonsymmetric, worker)
            if any_positive(work.in_working_set[a, worker] - work.is_independent[a, worker]):
                find_infeasibility(model, work, a, first_nonsymmetric, worker, x)
            work.rhs[a, worker] = x
            if a >= first_nonsymmetric:
                t = work.T_factor[a * m + a, worker]
                enough = absolute(t) - model.rounding[0, 0]
                work.T_pivot_inverse[a, worker] = where_positive(
                    enough, one / where_positive(enough, t, one), one - one
                )
    substitute_back_T(model, work, count, first_nonsymmetric, worker)


@wp.func
def substitute_back_T(model: ModelArrays, work: WorkArrays, count: int, first_nonsymmetric: int, worker: int):
    """Solve with what elimination has left of T, an upper triangle from the first nonsymmetric row on, in rhs."""
    for k in range(count):
        a = count - 1 - k
        x = work.rhs[a, worker]
        if a >= first_nonsymmetric:
            for b in range(a + 1, count):
                x = x - work.T_factor[a * model.row_count + b, worker] * work.rhs[b, worker]
        work.rhs[a, worker] = x * work.T_pivot_inverse[a, worker]


@wp.func
def eliminate_by_R(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """What the solved rows before a symmetric row leave of its rhs."""
    x = work.rhs[a, worker]
    order = order_place(model, work, a, worker)
    for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for b in range(range_first(model, work, k, worker), range_end(model, work, k, worker)):
            t = work.R_factor[a * model.row_count + b, worker]
            if any_positive(absolute(t)):
                x = x - t * work.rhs[b, worker]
    return x


@wp.func
def eliminate_by_T(model: ModelArrays, work: WorkArrays, a: int, count: int, first_nonsymmetric: int, worker: int):
    """What the solved rows before a row leave of its rhs, and of its row of T behind nonsymmetric ones."""
    m = model.row_count
    x = work.rhs[a, worker]
    for b in range(a):
        t = work.T_factor[a * m + b, worker] * work.T_pivot_inverse[b, worker]
        if any_positive(absolute(t)):
            x = x - t * work.rhs[b, worker]
            if b >= first_nonsymmetric:
                for c in range(b + 1, count):
                    change = t * work.T_factor[b * m + c, worker]
                    work.T_factor[a * m + c, worker] = work.T_factor[a * m + c, worker] - change
    return x


@wp.func
def find_infeasibility(model: ModelArrays, work: WorkArrays, a: int, first_nonsymmetric: int, worker: int, x: Real):
    """Write by which velocity x a row that depends on those before it contradicts them, zero if that is rounding.

    `work.rhs` has of rows before what is solved, and of this row what there was before elimination.
    """
    if a < first_nonsymmetric:
        size = size_before_R(model, work, a, worker)
    else:
        size = size_before_T(model, work, a, worker)
    contradicts = absolute(x) - size * model.rounding[0, 0] * real(8.0, x)
    is_dependent = work.in_working_set[a, worker] - work.is_independent[a, worker]
    contradicts = where_positive(is_dependent, contradicts, real(0.0, x))
    contradicts = contradicts * can_contradict(model, work.gathered[a, worker], x)
    work.infeasibility[a, worker] = where_positive(contradicts, x / work.delassus_diagonal[a, worker], real(0.0, x))


@wp.func
def size_before_R(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """The sum of the sizes of the rhs of a symmetric row and of all that has been taken from it."""
    size = absolute(work.rhs[a, worker])
    order = order_place(model, work, a, worker)
    for k in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for b in range(range_first(model, work, k, worker), range_end(model, work, k, worker)):
            size = size + absolute(work.R_factor[a * model.row_count + b, worker] * work.rhs[b, worker])
    return size


@wp.func
def size_before_T(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """The same behind nonsymmetric rows."""
    size = absolute(work.rhs[a, worker])
    for b in range(a):
        t = work.T_factor[a * model.row_count + b, worker] * work.T_pivot_inverse[b, worker]
        size = size + absolute(t * work.rhs[b, worker])
    return size


@wp.func
def solve_R(model: ModelArrays, work: WorkArrays, impulses: Array, count: int, worker: int):
    """Solve  R z = impulses  in their place: from impulses along Q to those along p."""
    for step in range(count):
        a = count - 1 - step
        z = impulses[a, worker]
        order = order_place(model, work, a, worker)
        for k in range(model.later_range[order], model.later_range[order + 1]):
            for b in range(range_first(model, work, k, worker), range_end(model, work, k, worker)):
                z = z - work.R_factor[b * model.row_count + a, worker] * impulses[b, worker]
        impulses[a, worker] = z


@wp.func
def add_infeasible_impulses(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Add impulses along the contradictions, larger than all others; says where there are any.

    They move nothing, as R maps them to the Q of dependent rows, which are zero. The largest ones exceed bounds first.
    """
    zero = real(0.0, work.y_free[0, worker])
    contradiction = zero
    for a in range(count):
        contradiction = maximum(contradiction, absolute(work.infeasibility[a, worker]))
    if any_positive(contradiction):
        largest = contradiction
        for a in range(count):
            largest = maximum(largest, absolute(work.rhs[a, worker]))
        solve_R(model, work, work.infeasibility, count, worker)
        scale = real(INFEASIBLE_SCALE, largest) * largest
        scale = scale / where_positive(contradiction, contradiction, real(1.0, largest))
        for a in range(count):
            work.rhs[a, worker] = work.rhs[a, worker] + scale * work.infeasibility[a, worker]
    return contradiction
