"""Points of contact that stick, without the give of their rows, once it is known what sticks, slides and holds.

There the velocities with a small part of R and without an anchor follow from linear equations, which are solved twice,
for what each answer leaves (`contact_rows.solve_stiffened`), and then in turns with the friction of what slides, which
is in proportion to the normals. Points that leave the cone by it are let go, as other rows that leave their bounds, and
it is done again; points that come nearer than they may join. Where that leaves more, because they are not known well
enough, the answer is not taken.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    div,
    maximum,
    mul,
    neg,
    real,
    sub,
    where_positive,
    with_derivatives,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.contact_rows import (
    STICKS,
    add_missing,
    bound_excess,
    friction_excess,
    is_contact,
    is_normal,
    largest_miss,
    largest_slip_residual,
    miss_velocities,
    missing_velocity,
    slip_miss,
    solve_stiffened,
    stiffen_row,
)
from warp_artic.solver.rows.factors import triangle

ROUNDS = wp.constant(5)
"""Times that points may leave those that stick."""
SLIDING_TURNS = wp.constant(4)
"""Times that velocities are brought to their targets again with the friction of the normals before."""


@wp.func
def stiffen_contacts(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, tolerance: Real, worker: int):
    """Where `chosen`, have the points that stick give way by a part of R only, with the working set of other rows.

    Returns what velocities miss with the impulses of the splitting, where no better ones are found, and else by how
    much friction of what slides is not against its slip.
    """
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    for a in range(count):
        work.split_found[a, worker] = work.split_impulse[a, worker]
        work.split_dual[a, worker] = work.split_impulse[a, worker]
        if is_normal(model, work, a, worker):
            pushes = where_positive(work.split_impulse[a, worker], work.row_mask[a, worker], zero)
            sticks = where_positive(friction_excess(model, work, a, worker, real(STICKS, one)), zero, pushes)
            work.in_working_set[a, worker] = pushes
            work.in_working_set[a - 1, worker] = sticks
            work.in_working_set[a - 2, worker] = sticks
            for k in range(3):
                stiffen_row(model, work, a - k, worker)
    wrong = chosen
    missed = largest_miss(model, work, count, worker)
    rounds = int(0)
    while rounds < ROUNDS and any_positive(wrong):
        for a in range(count):
            z = work.split_impulse[a, worker]
            work.split_impulse[a, worker] = where_positive(wrong, work.split_dual[a, worker], z)
        _left, factored = solve_stiffened(model, work, count, wrong, worker)
        slide_with_normals(model, work, count, factored, wrong, worker)
        wrong = correct_rows(model, work, count, wrong, tolerance, worker)
        rounds += 1
    gains = where_positive(wrong, zero, missed - largest_miss(model, work, count, worker))
    slid = largest_slip_residual(model, work, count, worker)
    for a in range(count):
        work.delassus[triangle(a) + a, worker] = work.split_diagonal[a, worker]
        taken = gains * work.row_mask[a, worker]
        z = where_positive(taken, work.split_impulse[a, worker], work.split_found[a, worker])
        # Where both are the same this is the branch next to it on either side.
        z = with_derivatives(z, where_positive(wrong, work.split_found[a, worker], work.split_impulse[a, worker]))
        work.split_impulse[a, worker] = z
        if is_contact(model, work, a, worker):
            work.trial_impulse[a, worker] = z * work.row_mask[a, worker]
            work.in_working_set[a, worker] = zero
    return where_positive(wrong, missed, slid)


@wp.func
def slide_with_normals(model: ModelArrays, work: WorkArrays, count: int, factored: int, chosen: Real, worker: int):
    """Give what slides the friction of its normal, where `chosen`, and take turns with what that leaves of the rest."""
    zero = real(0.0, chosen)
    slides = zero
    for a in range(count):
        if is_normal(model, work, a, worker):
            is_out = work.in_working_set[a, worker] - work.in_working_set[a - 1, worker]
            mu = work.contact_friction[model.row_item[work.gathered[a, worker]] // 3, worker]
            slides = maximum(slides, where_positive(mu, is_out * chosen, zero))
    if any_positive(slides):
        scale_friction(model, work, count, slides, worker)
        for _turn in range(SLIDING_TURNS):
            miss_velocities(model, work, count, factored, worker)
            add_missing(model, work, factored, slides, worker)
            scale_friction(model, work, count, slides, worker)


@wp.func
def scale_friction(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, worker: int):
    """Give what slides the friction of its normal, along that of the splitting, where `chosen`."""
    one = real(1.0, chosen)
    zero = one - one
    for a in range(count):
        if is_normal(model, work, a, worker):
            before = work.split_found[a, worker]
            share = work.split_impulse[a, worker] / where_positive(before, before, one)
            share = where_positive(before, share, zero)
            slides = where_positive(work.in_working_set[a - 1, worker], zero, chosen)
            for k in range(1, 3):
                z = work.split_found[a - k, worker] * share
                work.split_impulse[a - k, worker] = where_positive(slides, z, work.split_impulse[a - k, worker])


@wp.func
def correct_rows(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, tolerance: Real, worker: int):
    """Take rows out of the working set that leave their bounds, and points into it that come nearer than they may.

    What pulls has no impulse then, what would need more than friction has that of the splitting, or of its bound. Says
    where there are any.
    """
    one = real(1.0, chosen)
    zero = one - one
    found = zero
    for a in range(count):
        if is_normal(model, work, a, worker):
            is_in = work.in_working_set[a, worker] * chosen
            pulls = where_positive(work.split_impulse[a, worker], zero, is_in)
            exceeds = where_positive(friction_excess(model, work, a, worker, one), is_in, zero)
            slides = exceeds * work.in_working_set[a - 1, worker]
            out = (one - work.in_working_set[a, worker]) * work.row_mask[a, worker] * chosen
            joins = where_positive(missing_velocity(model, work, a, worker) - tolerance, out, zero)
            found = maximum(found, maximum(joins, maximum(pulls, slides)))
            for k in range(3):
                leaves = pulls
                if k > 0:
                    leaves = maximum(pulls, slides)
                stays = where_positive(leaves, zero, work.in_working_set[a - k, worker])
                work.in_working_set[a - k, worker] = where_positive(joins, one, stays)
                base = work.split_dual[a - k, worker]
                base = where_positive(joins, work.split_found[a - k, worker], base)
                work.split_dual[a - k, worker] = where_positive(pulls, zero, base)
        elif not is_contact(model, work, a, worker):
            is_in = work.in_working_set[a, worker] * work.row_mask[a, worker] * chosen
            pull, excess = bound_excess(work, a, is_in, worker)
            leaves = where_positive(maximum(pull, excess), is_in, zero)
            joins = where_positive(slip_miss(model, work, a, worker) - tolerance, chosen, zero)
            found = maximum(found, maximum(joins, leaves))
            bound = where_positive(excess, work.present_bound[a, worker], zero)
            end = where_positive(work.split_impulse[a, worker], bound, neg(bound))
            stays = where_positive(leaves, zero, work.in_working_set[a, worker])
            work.in_working_set[a, worker] = where_positive(joins, one, stays)
            base = where_positive(joins, work.split_found[a, worker], work.split_dual[a, worker])
            work.split_dual[a, worker] = where_positive(leaves, end, base)
            given = where_positive(joins, zero, work.trial_impulse[a, worker])
            work.trial_impulse[a, worker] = where_positive(leaves, end, given)
    return found
