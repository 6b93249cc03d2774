"""What the solvers of contacts ask of gathered rows: which are of points, how far friction is used, what is missing.

Rows of contacts give way by R times what their impulses differ from anchors, so that supports share loads
(`constraints.contact_law`). Where it is known which points push and stick, velocities follow from linear equations
with a small part of R and without an anchor, which are solved twice, for what each answer leaves: proximal steps, which
leave what redundant points share as it was.
"""

import warp as wp

from warp_artic.constraints.contact_residual import slip_residual
from warp_artic.constraints.rows import add_innovations, change_of_rate
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import IS_CONTACT, has_trait
from warp_artic.solver.rows.active_set import pulling_impulse
from warp_artic.solver.rows.factors import factor_working_set, solve_consistent, triangle
from warp_artic.solver.rows.held import scale_innovations

STIFFEST = wp.constant(1.0 / 16384.0)
"""Part of R that is left where points stick, if their rows are known well enough."""
KNOWN = wp.constant(2000.0)
"""Times the relative rounding error of solved numbers: the least part of R that may be left."""
STICKS = wp.constant(0.999)
"""Part of the cone in which a point sticks."""


@wp.func
def is_contact(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """Whether a gathered row is of a point of contact."""
    return has_trait(model, work.gathered[a, worker], IS_CONTACT)


@wp.func
def is_normal(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """Whether a row is the normal of a contact; its tangents are the two rows before."""
    row = work.gathered[a, worker]
    return has_trait(model, row, IS_CONTACT) and model.row_item[row] % 3 == 0


@wp.func
def largest_velocity(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """The largest velocity of points to be solved: without impulses, of what these did before, and what others may do.

    Where there is none, the largest one that an overlap is to be taken back with. Another row a may give a point c the
    velocity |G_ca z_a| <= sqrt(G_cc G_aa) |z_a|, with the impulse that takes it alone to its target, or to its bound.
    """
    largest = real(0.0, work.y_free[0, worker])
    zero = largest
    one = real(1.0, zero)
    back = zero
    gives = zero
    pushes = zero
    for a in range(count):
        row = work.gathered[a, worker]
        takes = work.row_mask[a, worker] * work.environment_mask[model.row_island[row], worker]
        diagonal = work.split_diagonal[a, worker]
        response = maximum(diagonal - work.compliance[row, worker], zero)
        if is_contact(model, work, a, worker):
            size = absolute(work.y_free[a, worker]) + diagonal * absolute(work.split_impulse[a, worker])
            largest = maximum(largest, size * takes)
            gives = maximum(gives, response * takes)
            back = maximum(back, work.contact_back[model.row_item[row] // 3, worker] * takes)
        else:
            missing = absolute(work.target[a, worker] - work.y_free[a, worker])
            z = minimum(missing / where_positive(diagonal, diagonal, one), work.present_bound[a, worker])
            pushes = maximum(pushes, where_positive(takes * response, z * sqrt(response), zero))
    largest = maximum(largest, sqrt(gives) * pushes)
    return where_positive(largest, largest, back)


@wp.func
def friction_excess(model: ModelArrays, work: WorkArrays, a: int, worker: int, share: Real):
    """By how much friction is more than a share of the cone at a point whose normal is at a place; positive on it."""
    z_1 = work.split_impulse[a - 1, worker]
    z_2 = work.split_impulse[a - 2, worker]
    most = work.contact_friction[model.row_item[work.gathered[a, worker]] // 3, worker] * work.split_impulse[a, worker]
    size = sqrt(z_1 * z_1 + z_2 * z_2)
    return where_positive(most, size - share * most, real(1.0, most))


@wp.func
def bound_excess(work: WorkArrays, a: int, is_active: Real, worker: int):
    """By how much the impulse of a gathered row of no contact pulls, and by how much it is beyond its bound.

    Positive on the wrong side, where `is_active`; not positive elsewhere.
    """
    zero = real(0.0, is_active)
    row = work.gathered[a, worker]
    z = work.split_impulse[a, worker]
    lower = work.velocity_bounds[2 * row, worker]
    is_stop = where_positive(work.velocity_bounds[2 * row + 1, worker] - lower, is_active, zero)
    pull = where_positive(is_stop, pulling_impulse(work.target[a, worker] - lower, z), zero)
    excess = where_positive(is_active, absolute(z) - work.present_bound[a, worker], zero)
    return pull, excess


@wp.func
def set_change(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write the innovations of all impulses so far, from which `missing_velocity` follows."""
    zero = real(0.0, work.y_free[0, worker])
    for dof in range(model.dof_count):
        work.innovation[dof, worker] = zero
    for a in range(count):
        z = work.split_impulse[a, worker] * work.row_mask[a, worker]
        if any_positive(absolute(z)):
            add_innovations(model, work, work.gathered[a, worker], z, worker)
    scale_innovations(model, work, worker)


@wp.func
def largest_miss(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """The largest miss of the working set with the impulses so far, and of the laws of what is not in it."""
    set_change(model, work, count, worker)
    largest = real(0.0, work.y_free[0, worker])
    for a in range(count):
        is_active = work.in_working_set[a, worker]
        if not is_contact(model, work, a, worker):
            largest = maximum(largest, slip_miss(model, work, a, worker))
        if is_contact(model, work, a, worker) or any_positive(is_active):
            missing = missing_velocity(model, work, a, worker) * work.row_mask[a, worker]
            size = where_positive(is_active, absolute(missing), real(0.0, missing))
            if is_normal(model, work, a, worker):
                size = maximum(size, missing)
            largest = maximum(largest, size)
    return largest


@wp.func
def largest_slip_residual(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """The largest `slip_residual` of points that push and slide; innovations are those of all impulses."""
    largest = real(0.0, work.y_free[0, worker])
    zero = largest
    for a in range(count):
        if is_normal(model, work, a, worker):
            slides = where_positive(work.in_working_set[a - 1, worker], zero, work.in_working_set[a, worker])
            if any_positive(slides):
                mu = work.contact_friction[model.row_item[work.gathered[a, worker]] // 3, worker]
                residual = slip_residual(
                    work.split_impulse[a - 1, worker],
                    work.split_impulse[a - 2, worker],
                    neg(missing_velocity(model, work, a - 1, worker)),
                    neg(missing_velocity(model, work, a - 2, worker)),
                    mu * maximum(work.split_impulse[a, worker], zero),
                    maximum(work.split_diagonal[a - 1, worker], work.split_diagonal[a - 2, worker]),
                )
                largest = maximum(largest, slides * residual)
    return largest


@wp.func
def miss_velocities(model: ModelArrays, work: WorkArrays, count: int, factored: int, worker: int):
    """Write what the velocities of the working set miss with the impulses so far to `work.residual`; the largest."""
    set_change(model, work, count, worker)
    largest = real(0.0, work.y_free[0, worker])
    for i in range(factored):
        a = work.factored[i, worker]
        missing = missing_velocity(model, work, a, worker) * work.in_working_set[a, worker]
        work.residual[i, worker] = missing
        largest = maximum(largest, absolute(missing))
    return largest


@wp.func
def missing_velocity(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """What the velocity of a gathered row misses with the impulses so far, without R; innovations are those of all."""
    row = work.gathered[a, worker]
    y = work.y_free[a, worker] + change_of_rate(model, work, row, worker)
    compliance = work.compliance[row, worker]
    target = work.target[a, worker]
    if is_contact(model, work, a, worker):
        item = model.row_item[row]
        compliance = compliance - work.contact_give[item, worker]
        target = target - target
        if item % 3 == 0:
            target = work.contact_speed[item // 3, worker]
    return target - y - compliance * work.split_impulse[a, worker]


@wp.func
def slip_miss(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """By how much a gathered row of no contact moves with its impulse, where that is at a bound; else not positive.

    What is at its bound has not enough impulse for its target: it moves against it.
    """
    zero = real(0.0, work.y_free[a, worker])
    out = where_positive(work.in_working_set[a, worker], zero, work.row_mask[a, worker])
    z = work.split_impulse[a, worker]
    missing = missing_velocity(model, work, a, worker)
    moves = where_positive(z, neg(missing), where_positive(neg(z), missing, zero))
    return where_positive(out, moves, zero)


@wp.func
def stiffen_row(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """Have a row of contacts give way by a part of R only, in the matrix that is factored."""
    one = real(1.0, work.y_free[a, worker])
    less = one - maximum(real(STIFFEST, one), model.rounding[0, 0] * real(KNOWN, one))
    give = work.contact_give[model.row_item[work.gathered[a, worker]], worker]
    work.delassus[triangle(a) + a, worker] = work.split_diagonal[a, worker] - give * less


@wp.func
def solve_stiffened(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, worker: int):
    """Add to the impulses of the working set what brings its velocities to their targets, where `chosen`.

    Returns the largest miss of a velocity that is left, and how many rows are factored.
    """
    factored, _inaccurate, _refines = factor_working_set(model, work, count, worker)
    left = miss_velocities(model, work, count, factored, worker)
    for _turn in range(2):
        add_missing(model, work, factored, chosen, worker)
        left = miss_velocities(model, work, count, factored, worker)
    return left, factored


@wp.func
def add_missing(model: ModelArrays, work: WorkArrays, factored: int, chosen: Real, worker: int):
    """Add what brings the velocities in `work.residual` to their targets by the factors, where `chosen`."""
    solve_consistent(model, work, factored, worker)
    for i in range(factored):
        a = work.factored[i, worker]
        more = where_positive(work.in_working_set[a, worker] * chosen, work.residual[i, worker], chosen - chosen)
        work.split_impulse[a, worker] = work.split_impulse[a, worker] + more
