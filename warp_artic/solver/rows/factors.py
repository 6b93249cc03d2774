"""Impulses of a working set by factors of its Delassus matrix, and whether its pivots say that these are good enough.

    G_ab = <p_a, p_b>,   G_aa = <p_a, p_a> + compliance_a,   G = L diag(d) L^T
G is found once for rows whose force Jacobians stay, and only for those that are in a working set: most rows of dry
friction that slide never are. A working set costs its factors. <p_a, p_b> has only the dofs between both rows and the
root.

The pivot d_a is what is left of G_aa beside the rows before it: G_aa times the square of the sine of the angle between
p_a and those. The residual of the first solution, found by the innovations and not by G, is solved for once more, or
twice: then the error grows with the root of the condition of G, as that of Gram-Schmidt does. With a smallest share s
of the diagonal each turn leaves about rounding / s^2 of the residual, so that pivots are good enough from a multiple of
the root of rounding on; the last pivot of a chain of n equal bodies that hangs on the first has a share of about 2 / n.
A row whose pivot is no more than rounding depends on those before it, and gets no impulse. Where it contradicts those,
where a pivot is small and yet more than that, and where a row is nonsymmetric, `solver.rows.orthogonal` solves instead,
which takes several times as long, and grows as the cube of their number.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.solver.rows.problem import can_contradict, dependent_share, order_place, range_end, range_first

SMALLEST_GOOD_PIVOT = wp.constant(7.0)
"""Pivots are good enough down to this share of the diagonal, times the root of what a solved number is known to.

That is a hundredth in single precision, in which rows that depend on others would seem to contradict them beyond.
"""
PIVOT_WITHOUT_REFINEMENT = wp.constant(0.25)
"""Above this share of the diagonal, for all rows, the residual is no more than rounding."""
PIVOT_WITH_ONE_REFINEMENT = wp.constant(0.01)
"""Above this share the residual of the second solution is no more than that."""
DEPENDENT_PIVOT = wp.constant(0.5)
"""A row depends on those before it if its pivot, as a share of the diagonal, is below so many times the relative
rounding error of solved numbers."""
CONSISTENT = wp.constant(32.0)
"""A row that depends on others is consistent with them to so many times the relative rounding error of solved
numbers."""


@wp.func
def triangle(a: int):
    """Where row a of a lower triangle starts."""
    return a * (a + 1) // 2


@wp.func
def set_delassus(model: ModelArrays, work: WorkArrays, known: int, count: int, worker: int):
    """Write the diagonal of G from row `known` on; the products of a row are found once it is in a working set."""
    branches = int(0)
    for a in range(count):
        branches = wp.max(branches, model.row_is_branched[work.gathered[a, worker]])
    work.has_branches[0, worker] = branches
    if branches == 1:
        for dof in range(model.dof_count):
            work.scaled_branches[dof, worker] = real(0.0, work.D_inverse[0, worker])
    for a in range(known, count):
        row = work.gathered[a, worker]
        response = model.row_response_index[row] * model.dof_count
        start = model.row_support[row]
        own = work.compliance[row, worker]
        for k in range(model.row_supports[row]):
            p = work.response[response + k, worker]
            own = own + p * (p * work.D_inverse[model.support_dof[start + k], worker])
        work.delassus[triangle(a) + a, worker] = own
        work.has_products[a, worker] = 0


@wp.func
def find_products(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """Write G_ab of a row and all rows that have been in a working set and that it meets.

    It is the later row of the two that is scaled by D^-1, so that G does not depend on which of them was in one first.
    """
    row = work.gathered[a, worker]
    order = order_place(model, work, a, worker)
    scale_response(model, work, row, worker)
    for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for b in range(range_first(model, work, r, worker), range_end(model, work, r, worker)):
            if work.has_products[b, worker] == 1:
                other = work.gathered[b, worker]
                if model.row_is_branched[row] + model.row_is_branched[other] == 0:
                    work.delassus[triangle(a) + b, worker] = product_on_path(model, work, row, other, worker)
                else:
                    work.delassus[triangle(a) + b, worker] = product_on_branches(model, work, other, worker)
    clear_branches(model, work, row, worker)
    for r in range(model.later_range[order], model.later_range[order + 1]):
        for b in range(range_first(model, work, r, worker), range_end(model, work, r, worker)):
            if work.has_products[b, worker] == 1:
                later = work.gathered[b, worker]
                if model.row_is_branched[row] + model.row_is_branched[later] == 0:
                    work.delassus[triangle(b) + a, worker] = product_with_later(model, work, row, later, worker)
                else:
                    scale_response(model, work, later, worker)
                    work.delassus[triangle(b) + a, worker] = product_on_branches(model, work, row, worker)
                    clear_branches(model, work, later, worker)
    work.has_products[a, worker] = 1


@wp.func
def scale_response(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Write D^-1 p of a row, and by dofs too if any gathered row has branches."""
    response = model.row_response_index[row] * model.dof_count
    start = model.row_support[row]
    for k in range(model.row_supports[row]):
        dof = model.support_dof[start + k]
        scaled = work.response[response + k, worker] * work.D_inverse[dof, worker]
        work.scaled_response[k, worker] = scaled
        if work.has_branches[0, worker] == 1:
            work.scaled_branches[dof, worker] = scaled


@wp.func
def clear_branches(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Have none again of a row that `scale_response` wrote by dofs."""
    if work.has_branches[0, worker] == 1:
        start = model.row_support[row]
        for k in range(start, start + model.row_supports[row]):
            work.scaled_branches[model.support_dof[k], worker] = real(0.0, work.D_inverse[0, worker])


@wp.func
def product_on_path(model: ModelArrays, work: WorkArrays, row: int, other: int, worker: int):
    """<p, p_other> with D^-1 p of a row in `work.scaled_response`; neither has branches.

    Innovations start at the root, so that of two paths the first ones are those of the same dofs, and no others.
    """
    total = real(0.0, work.D_inverse[0, worker])
    response = model.row_response_index[other] * model.dof_count
    for k in range(model.shared_dofs[model.row_link[row] * model.link_count + model.row_link[other]]):
        total = total + work.response[response + k, worker] * work.scaled_response[k, worker]
    return total


@wp.func
def product_with_later(model: ModelArrays, work: WorkArrays, row: int, later: int, worker: int):
    """<p, p_later>, in the same order of operations, with a row whose D^-1 p is not at hand."""
    total = real(0.0, work.D_inverse[0, worker])
    own = model.row_response_index[row] * model.dof_count
    response = model.row_response_index[later] * model.dof_count
    start = model.row_support[later]
    for k in range(model.shared_dofs[model.row_link[row] * model.link_count + model.row_link[later]]):
        scaled = work.response[response + k, worker] * work.D_inverse[model.support_dof[start + k], worker]
        total = total + work.response[own + k, worker] * scaled
    return total


@wp.func
def product_on_branches(model: ModelArrays, work: WorkArrays, other: int, worker: int):
    """The same with D^-1 p in `work.scaled_branches`."""
    total = real(0.0, work.D_inverse[0, worker])
    response = model.row_response_index[other] * model.dof_count
    for k in range(model.row_supports[other]):
        dof = model.support_dof[model.row_support[other] + k]
        total = total + work.response[response + k, worker] * work.scaled_branches[dof, worker]
    return total


@wp.func
def factor_working_set(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write L and 1 / d of the working set, zero of rows that depend on those before; `work.is_met` says which do not.

    Rows that are in the working set of any environment are numbered again, `work.factored`. Returns how many they are,
    what is positive where factors are not good enough, and the smallest share of a pivot in its diagonal.
    """
    inaccurate = real(0.0, work.y_free[0, worker])
    smallest = real(1.0, inaccurate)
    good = sqrt(model.rounding[0, 0]) * real(SMALLEST_GOOD_PIVOT, inaccurate)
    factored = int(0)
    if model.all_rows_meet == 0:
        for a in range(count):
            work.elimination[a, worker] = real(0.0, inaccurate)
    for a in range(count):
        is_active = work.in_working_set[a, worker]
        work.factored_before[a, worker] = factored
        if any_positive(is_active):
            if work.has_products[a, worker] == 0:
                find_products(model, work, a, worker)
            work.factored[factored, worker] = a
            inaccurate = maximum(inaccurate, work.nonsymmetric[work.gathered[a, worker], worker] * is_active)
            share = factor_row(model, work, a, factored, worker)
            smallest = minimum(smallest, share)
            is_good = share - good
            inaccurate = maximum(inaccurate, where_positive(is_good, is_active - is_active, work.is_met[a, worker]))
            factored += 1
    work.factored_before[count, worker] = factored
    return factored, inaccurate, smallest


@wp.func
def factor_first(model: ModelArrays, work: WorkArrays, k: int, worker: int):
    """The first row of L in a range of rows that meet another."""
    return work.factored_before[range_first(model, work, k, worker), worker]


@wp.func
def factor_end(model: ModelArrays, work: WorkArrays, k: int, worker: int):
    """The end of those rows of L."""
    return work.factored_before[range_end(model, work, k, worker), worker]


@wp.func
def factor_row(model: ModelArrays, work: WorkArrays, a: int, i: int, worker: int):
    """Write row i of L, that of row a of G, and 1 / d_i.

    Returns the pivot's share of the diagonal; one where the row depends on others or is not in the working set.
    """
    is_active = work.in_working_set[a, worker]
    one = real(1.0, is_active)
    zero = one - one
    source = triangle(a)
    own = triangle(i)
    diagonal = where_positive(is_active, work.delassus[source + a, worker], one)
    d = diagonal
    order = order_place(model, work, a, worker)
    for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for j in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
            b = work.factored[j, worker]
            both = is_active * work.in_working_set[b, worker]
            left = where_positive(both, work.delassus[source + b, worker], zero)
            left = eliminate_entry(model, work, b, j, worker, left)
            share = left * work.pivot_inverse[j, worker]
            work.elimination[j, worker] = left
            work.L_factor[own + j, worker] = share
            d = d - left * share
    if model.all_rows_meet == 0:
        # The next row may not meet all that this one does.
        for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
            for j in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
                work.elimination[j, worker] = zero
    rounding = model.rounding[0, 0] * real(DEPENDENT_PIVOT, is_active)
    least = diagonal * dependent_share(model, work, work.gathered[a, worker], rounding, worker)
    is_independent = where_positive(d - least, is_active, zero)
    work.pivot_inverse[i, worker] = is_independent / where_positive(is_independent, d, one)
    work.is_met[a, worker] = is_independent
    return where_positive(is_independent, d / diagonal, one)


@wp.func
def eliminate_entry(model: ModelArrays, work: WorkArrays, b: int, j: int, worker: int, value: Real):
    """A value G_ij less  sum d_k L_ik L_jk  over the rows k before j, which is row b of G, that j meets."""
    if model.all_rows_meet == 1:
        return subtract_products(work, triangle(j), 0, j, worker, value)
    left = value
    order = order_place(model, work, b, worker)
    for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
        first = factor_first(model, work, r, worker)
        left = subtract_products(work, triangle(j), first, factor_end(model, work, r, worker), worker, left)
    return left


@wp.func
def subtract_products(work: WorkArrays, other: int, first: int, end: int, worker: int, value: Real):
    """A value less  sum d_k L_ik L_jk  over a range of k; row j of L starts at `other`."""
    left = value
    for k in range(first, end):
        left = left - work.elimination[k, worker] * work.L_factor[other + k, worker]
    return left


@wp.func
def solve_factored(model: ModelArrays, work: WorkArrays, factored: int, worker: int):
    """Solve  L diag(d) L^T x = residual  in its place, `work.residual`.

    Positive where a row that depends on others contradicts them: by how much its velocity misses what they leave it.
    `work.infeasibility` of such a row is what it misses.
    """
    contradiction = real(0.0, work.residual[0, worker])
    for i in range(factored):
        a = work.factored[i, worker]
        own = triangle(i)
        x = work.residual[i, worker]
        size = absolute(x)
        order = order_place(model, work, a, worker)
        for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
            for j in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
                change = work.L_factor[own + j, worker] * work.residual[j, worker]
                x = x - change
                size = size + absolute(change)
        work.residual[i, worker] = x
        missed = absolute(x) - size * model.rounding[0, 0] * real(CONSISTENT, x)
        missed = missed * can_contradict(model, work.gathered[a, worker], x)
        missed = missed * (work.in_working_set[a, worker] - work.is_met[a, worker])
        work.infeasibility[a, worker] = where_positive(missed, x, work.infeasibility[a, worker])
        contradiction = maximum(contradiction, missed)
    substitute_back(model, work, factored, worker)
    return contradiction


@wp.func
def solve_consistent(model: ModelArrays, work: WorkArrays, factored: int, worker: int):
    """Solve the same where it does not matter whether rows that depend on others contradict them."""
    substitute_forward(model, work, work.residual, factored, worker)
    substitute_back(model, work, factored, worker)


@wp.func
def substitute_forward(model: ModelArrays, work: WorkArrays, values: Array, factored: int, worker: int):
    """Solve  L x = values  in their place."""
    for i in range(factored):
        own = triangle(i)
        x = values[i, worker]
        order = order_place(model, work, work.factored[i, worker], worker)
        for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
            for j in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
                x = x - work.L_factor[own + j, worker] * values[j, worker]
        values[i, worker] = x


@wp.func
def substitute_back(model: ModelArrays, work: WorkArrays, factored: int, worker: int):
    """Solve  diag(d) L^T x = residual  in its place."""
    for k in range(factored):
        i = factored - 1 - k
        x = work.residual[i, worker] * work.pivot_inverse[i, worker]
        order = order_place(model, work, work.factored[i, worker], worker)
        for r in range(model.later_range[order], model.later_range[order + 1]):
            for j in range(factor_first(model, work, r, worker), factor_end(model, work, r, worker)):
                x = x - work.L_factor[triangle(j) + i, worker] * work.residual[j, worker]
        work.residual[i, worker] = x
