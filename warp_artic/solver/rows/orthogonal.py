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

STRAIN = wp.constant(1000.0)
"""How many times larger impulses of contradicting rows are than those of others."""


@wp.func
def solve_by_basis(model: ModelArrays, work: WorkArrays, poor: Real, count: int, lopsided: int, slot: int):
    """The same where `poor`, by Gram-Schmidt."""
    zero = poor - poor
    orthogonalize(model, work, work.basis_rows[0, slot], count, slot)
    work.basis_rows[0, slot] = count
    set_couplings(model, work, count, lopsided, slot)
    eliminate(model, work, count, lopsided, slot)
    for a in range(count):
        y = work.right[a, slot] * work.inverse[a, slot]
        work.right[a, slot] = y
        y = where_positive(poor, y, zero)
        own = a * (model.dof_count + model.row_count)
        for dof in range(work.first[a, slot], work.end[a, slot]):
            work.kick[dof, slot] = work.kick[dof, slot] + work.basis[own + dof, slot] * y
        work.met[a, slot] = where_positive(poor, work.is_new[a, slot], work.met[a, slot])
    spread(model, work, work.right, count, slot)
    for a in range(count):
        work.strain[a, slot] = where_positive(poor, work.strain[a, slot], zero)
        work.relaxed[a, slot] = where_positive(poor, work.right[a, slot], work.relaxed[a, slot])
    contradiction = add_strain(model, work, count, slot)
    for a in range(count):
        chosen = where_positive(poor, work.held[a, slot], zero)
        work.trial[a, slot] = where_positive(chosen, work.right[a, slot], work.trial[a, slot])
    return contradiction


@wp.func
def orthogonalize(model: ModelArrays, work: WorkArrays, known: int, count: int, slot: int):
    """Write Q, its duals  weight Q_a / <Q_a, Q_a>  and R of the held rows; Q is zero where one says nothing new.

    Of the rows before `known` they are as they were, up to the first that is held where it was not, or the other way
    round: what is found anew is what comes after that, in the environments where it is so.
    """
    one = real(1.0, work.y_free[0, slot])
    zero = one - one
    changed = zero
    for a in range(count):
        held = work.held[a, slot]
        redone = one
        if a < known:
            before = work.was_held[a, slot]
            changed = maximum(changed, absolute(held - before))
            redone = changed * maximum(held, before)
        if any_positive(redone):
            redone = one
            if a < known and work.first[a, slot] < work.end[a, slot]:
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
    held = work.held[a, slot]
    own = a * (dofs + model.row_count)
    whole = copy_push(model, work, a, slot, redone)
    # What is left of a sum that cancels has lost its right angles: there the projection is done once more.
    again = held * redone
    work.was_held[a, slot] = held
    left = whole
    passes = int(0)
    while passes < 2 and any_positive(again):
        for b in range(a):
            if any_positive(work.is_new[b, slot] * again):
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
    is_new = where_positive(redone, is_new, work.is_new[a, slot])
    inverse = where_positive(redone, inverse, work.inverse[a, slot])
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
def copy_push(model: ModelArrays, work: WorkArrays, a: int, slot: int, redone: Real):
    """Start Q_a with p_a, or with nothing where the row is not held; returns <p_a, p_a>.

    Where `redone` is not one Q_a stays as it is; it is one in all environments where Q_a is nothing in all of them.
    """
    row = work.gathered[a, slot]
    held = work.held[a, slot]
    own = a * (model.dof_count + model.row_count)
    source = model.row_slot[row] * model.dof_count
    whole = real(0.0, held)
    zero = whole
    first = model.row_first[row]
    end = model.row_end[row]
    if not any_positive(held):
        work.first[a, slot] = first
        work.end[a, slot] = first
    else:
        if not any_positive(real(0.5, held) - redone):
            work.first[a, slot] = first
            work.end[a, slot] = end
        for dof in range(work.first[a, slot], first):
            work.basis[own + dof, slot] = where_positive(redone, zero, work.basis[own + dof, slot])
        for dof in range(end, work.end[a, slot]):
            work.basis[own + dof, slot] = where_positive(redone, zero, work.basis[own + dof, slot])
        for dof in range(first, end):
            work.basis[own + dof, slot] = where_positive(redone, zero, work.basis[own + dof, slot])
        for k in range(model.row_supports[row]):
            dof = model.support_dof[model.row_support[row] + k]
            p = work.response[source + k, slot] * held
            work.basis[own + dof, slot] = where_positive(redone, p, work.basis[own + dof, slot])
            whole = whole + p * p * work.weight[dof, slot]
        for i in range(model.dof_count, work.entry_end[a, slot]):
            work.basis[own + i, slot] = where_positive(redone, zero, work.basis[own + i, slot])
        if work.entry[a, slot] >= 0:
            place = own + work.entry[a, slot]
            work.basis[place, slot] = where_positive(redone, held, work.basis[place, slot])
            whole = whole + held * work.weight[work.entry[a, slot], slot]
    for b in range(a):
        place = a * model.row_count + b
        work.ratios[place, slot] = where_positive(redone, zero, work.ratios[place, slot])
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
                for k in range(model.row_supports[row]):
                    dof = model.support_dof[model.row_support[row] + k]
                    if dof >= work.first[b, slot] and dof < work.end[b, slot]:
                        own = own + work.response[rate + k, slot] * work.dual[other + dof, slot]
                if work.entry[a, slot] >= 0 and work.entry[a, slot] < work.entry_end[b, slot]:
                    own = own + work.dual[other + work.entry[a, slot], slot]
                t = where_positive(twist, where_positive(work.is_new[b, slot], own, t), t)
            work.couplings[a * model.row_count + b, slot] = t


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
            for b in range(a):
                t = work.ratios[a * m + b, slot]
                if a >= lopsided:
                    t = work.couplings[a * m + b, slot] * work.pivot[b, slot]
                if any_positive(absolute(t)):
                    x = x - t * work.right[b, slot]
                    if b >= lopsided:
                        for c in range(b + 1, count):
                            change = t * work.couplings[b * m + c, slot]
                            work.couplings[a * m + c, slot] = work.couplings[a * m + c, slot] - change
            if any_positive(work.held[a, slot] - work.is_new[a, slot]):
                find_strain(model, work, a, lopsided, slot, x)
            work.right[a, slot] = x
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
def find_strain(model: ModelArrays, work: WorkArrays, a: int, lopsided: int, slot: int, x: Real):
    """Write what is left, x, for a row that says nothing new: if it is more than rounding it contradicts those before.

    `work.right` has what there was, and of rows before what is solved.
    """
    size = absolute(work.right[a, slot])
    for b in range(a):
        t = work.ratios[a * model.row_count + b, slot]
        if a >= lopsided:
            t = work.couplings[a * model.row_count + b, slot] * work.pivot[b, slot]
        size = size + absolute(t * work.right[b, slot])
    contradicts = absolute(x) - size * model.rounding[0, 0] * real(8.0, x)
    contradicts = where_positive(work.held[a, slot] - work.is_new[a, slot], contradicts, real(0.0, x))
    work.strain[a, slot] = where_positive(contradicts, x / work.mobility[a, slot], real(0.0, x))


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
