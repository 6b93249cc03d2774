"""Impulses of a working set by factors of its Delassus matrix, and whether its pivots say that these are good enough.

    G_ab = <p_a, p_b>,   G_aa = <p_a, p_a> + compliance_a,   G = L diag(d) L^T
G is found once for rows whose force Jacobians stay; a working set costs its factors. <p_a, p_b> has only the dofs
between both rows and the root.

The pivot d_a is what is left of G_aa beside the rows before it: G_aa times the square of the sine of the angle between
p_a and those. The residual of the first solution, found by the innovations and not by G, is solved for once more: then
the error grows with the root of the condition of G, as that of Gram-Schmidt does. A row whose pivot is no more than
rounding depends on those before it, and gets no impulse. Where it contradicts those, where a pivot is small and yet
more than that, and where a row is nonsymmetric, `solver.rows.orthogonal` solves instead, which takes several times as
long.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
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
from warp_artic.model.arrays import ModelArrays, WorkArrays

SMALL = wp.constant(0.01)
"""Pivots are good enough down to this share of the diagonal."""
FINE = wp.constant(0.25)
"""Above this share they leave no more than rounding."""
NOTHING = wp.constant(0.5)
"""Pivots are nothing below so many times what a solved number is known to, as a share of the diagonal."""
AGREED = wp.constant(32.0)
"""A row that says nothing new agrees with those before to so many times what a solved number is known to."""


@wp.func
def triangle(a: int):
    """Where row a of a lower triangle starts."""
    return a * (a + 1) // 2


@wp.func
def set_delassus(model: ModelArrays, work: WorkArrays, known: int, count: int, slot: int):
    """Write the rows of G from `known` on."""
    for a in range(known, count):
        row = work.gathered[a, slot]
        push = model.row_slot[row] * model.dof_count
        start = model.row_support[row]
        own = work.compliance[row, slot]
        for k in range(model.row_supports[row]):
            p = work.response[push + k, slot]
            scaled = p * work.D_inverse[model.support_dof[start + k], slot]
            work.scaled[k, slot] = scaled
            own = own + p * scaled
        if model.branched_rows > 0:
            for dof in range(model.dof_count):
                work.change[dof, slot] = real(0.0, own)
            for k in range(model.row_supports[row]):
                work.change[model.support_dof[start + k], slot] = work.scaled[k, slot]
        place = triangle(a)
        for b in range(a):
            work.delassus[place + b, slot] = product(model, work, row, work.gathered[b, slot], slot)
        work.delassus[place + a, slot] = own


@wp.func
def product(model: ModelArrays, work: WorkArrays, row: int, other: int, slot: int):
    """<p, p_other> with p / D in `work.scaled`, and by dofs in `work.change` if any row has several paths.

    Innovations start at the root, so that of two paths the first ones are those of the same dofs, and no others.
    """
    total = real(0.0, work.D_inverse[0, slot])
    push = model.row_slot[other] * model.dof_count
    if model.row_is_branched[row] + model.row_is_branched[other] == 0:
        shared = model.shared_dofs[model.row_link[row] * model.link_count + model.row_link[other]]
        for k in range(shared):
            total = total + work.response[push + k, slot] * work.scaled[k, slot]
    else:
        for k in range(model.row_supports[other]):
            dof = model.support_dof[model.row_support[other] + k]
            total = total + work.response[push + k, slot] * work.change[dof, slot]
    return total


@wp.func
def factor(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """Write L and 1 / d of the held rows, zero of those that say nothing new.

    Returns how many rows are held in any environment, what is positive where factors are not good enough, and where
    what they leave is to be solved for.
    """
    poor = real(0.0, work.y_free[0, slot])
    rough = poor
    picked = int(0)
    for a in range(count):
        held = work.held[a, slot]
        if any_positive(held):
            work.picked[picked, slot] = a
            poor = maximum(poor, work.lopsided[work.gathered[a, slot], slot] * held)
            share = factor_row(model, work, a, picked, slot)
            rough = maximum(rough, real(FINE, share) - share)
            poor = maximum(poor, where_positive(share - real(SMALL, share), held - held, work.met[a, slot]))
            picked += 1
    return picked, poor, rough


@wp.func
def factor_row(model: ModelArrays, work: WorkArrays, a: int, i: int, slot: int):
    """Write row i of L, that of row a of G, and 1 / d_i.

    Returns the pivot's share of the diagonal; one where the row says nothing new or is not held.
    """
    held = work.held[a, slot]
    one = real(1.0, held)
    zero = one - one
    source = triangle(a)
    own = triangle(i)
    whole = where_positive(held, work.delassus[source + a, slot], one)
    d = whole
    for j in range(i):
        b = work.picked[j, slot]
        both = held * work.held[b, slot]
        left = where_positive(both, work.delassus[source + b, slot], zero)
        other = triangle(j)
        for k in range(j):
            left = left - work.scaled[k, slot] * work.lower[other + k, slot]
        share = left * work.pivot[j, slot]
        work.scaled[j, slot] = left
        work.lower[own + j, slot] = share
        d = d - left * share
    is_new = where_positive(d - whole * model.rounding[0, 0] * real(NOTHING, held), held, zero)
    work.pivot[i, slot] = is_new / where_positive(is_new, d, one)
    work.met[a, slot] = is_new
    return where_positive(is_new, d / whole, one)


@wp.func
def solve_factored(model: ModelArrays, work: WorkArrays, picked: int, slot: int):
    """Solve  L diag(d) L^T x = residual  in its place, `work.residual`, for the rows that are held in any environment.

    Positive where a row that says nothing new contradicts those before.
    """
    contradiction = real(0.0, work.residual[0, slot])
    for i in range(picked):
        a = work.picked[i, slot]
        own = triangle(i)
        x = work.residual[i, slot]
        size = absolute(x)
        for j in range(i):
            change = work.lower[own + j, slot] * work.residual[j, slot]
            x = x - change
            size = size + absolute(change)
        work.residual[i, slot] = x
        beyond = absolute(x) - size * model.rounding[0, 0] * real(AGREED, x)
        contradiction = maximum(contradiction, beyond * (work.held[a, slot] - work.met[a, slot]))
    for k in range(picked):
        i = picked - 1 - k
        x = work.residual[i, slot] * work.pivot[i, slot]
        for j in range(i + 1, picked):
            x = x - work.lower[triangle(j) + i, slot] * work.residual[j, slot]
        work.residual[i, slot] = x
    return contradiction
