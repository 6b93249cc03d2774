"""What the solvers of contacts ask of gathered rows: which are of points, how far friction is used, what is missing.

Rows of contacts give way by R times what their impulses differ from anchors, so that supports share loads
(`constraints.contact_pair`). Where it is known which points push and stick, velocities follow from linear equations
with a small part of R and without an anchor, which are solved twice, for what each answer leaves: proximal steps, which
leave what redundant points share as it was.
"""

import warp as wp

from warp_artic.constraints.rows import add_innovations, change_of_rate
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    maximum,
    mul,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import IS_CONTACT, has_trait
from warp_artic.solver.rows.factors import factor_working_set, solve_consistent, triangle
from warp_artic.solver.rows.held import scale_innovations

STIFFEST = wp.constant(1.0 / 16384.0)
"""Part of R that is left where points stick, if their rows are known well enough."""
KNOWN = wp.constant(2000.0)
"""Times that a solved number is known to which is the least part of R that may be left."""
STICKS = wp.constant(0.999)
"""Part of the cone in which a point sticks."""


@wp.func
def is_contact(model: ModelArrays, work: WorkArrays, a: int, slot: int):
    """Whether a gathered row is of a point of contact."""
    return has_trait(model, work.gathered[a, slot], IS_CONTACT)


@wp.func
def is_normal(model: ModelArrays, work: WorkArrays, a: int, slot: int):
    """Whether it is of its normal; those of the tangents are at the two places before."""
    row = work.gathered[a, slot]
    return has_trait(model, row, IS_CONTACT) and model.row_item[row] % 3 == 0


@wp.func
def largest_velocity(model: ModelArrays, work: WorkArrays, count: int, slot: int):
    """The largest velocity of rows that are to be solved, without impulses, and of what these did before."""
    largest = real(0.0, work.y_free[0, slot])
    for a in range(count):
        if is_contact(model, work, a, slot):
            size = absolute(work.y_free[a, slot]) + work.split_diagonal[a, slot] * absolute(work.split_impulse[a, slot])
            solved = work.environment_mask[model.row_island[work.gathered[a, slot]], slot]
            largest = maximum(largest, size * work.row_mask[a, slot] * solved)
    return largest


@wp.func
def friction_excess(model: ModelArrays, work: WorkArrays, a: int, slot: int, share: Real):
    """By how much friction is more than a share of the cone at a point whose normal is at a place; positive on it."""
    z_1 = work.split_impulse[a - 1, slot]
    z_2 = work.split_impulse[a - 2, slot]
    most = work.contact_friction[model.row_item[work.gathered[a, slot]] // 3, slot] * work.split_impulse[a, slot]
    size = sqrt(z_1 * z_1 + z_2 * z_2)
    return where_positive(most, size - share * most, real(1.0, most))


@wp.func
def miss_velocities(model: ModelArrays, work: WorkArrays, count: int, factored: int, slot: int):
    """Write what the velocities of the working set miss with the impulses so far to `work.residual`; the largest."""
    zero = real(0.0, work.y_free[0, slot])
    largest = zero
    for dof in range(model.dof_count):
        work.innovation[dof, slot] = zero
    for a in range(count):
        z = work.split_impulse[a, slot] * work.row_mask[a, slot]
        if any_positive(absolute(z)):
            add_innovations(model, work, work.gathered[a, slot], z, slot)
    scale_innovations(model, work, slot)
    for i in range(factored):
        a = work.factored[i, slot]
        missing = missing_velocity(model, work, a, slot) * work.in_working_set[a, slot]
        work.residual[i, slot] = missing
        largest = maximum(largest, absolute(missing))
    return largest


@wp.func
def missing_velocity(model: ModelArrays, work: WorkArrays, a: int, slot: int):
    """What the velocity of a gathered row misses with the impulses so far, without R; innovations are those of all."""
    row = work.gathered[a, slot]
    y = work.y_free[a, slot] + change_of_rate(model, work, row, slot)
    compliance = work.compliance[row, slot]
    target = work.target[a, slot]
    if is_contact(model, work, a, slot):
        item = model.row_item[row]
        compliance = compliance - work.contact_give[item, slot]
        target = target - target
        if item % 3 == 0:
            target = work.contact_speed[item // 3, slot]
    return target - y - compliance * work.split_impulse[a, slot]


@wp.func
def stiffen_row(model: ModelArrays, work: WorkArrays, a: int, slot: int):
    """Have a row of contacts give way by a part of R only, in the matrix that is factored."""
    one = real(1.0, work.y_free[a, slot])
    less = one - maximum(real(STIFFEST, one), model.rounding[0, 0] * real(KNOWN, one))
    give = work.contact_give[model.row_item[work.gathered[a, slot]], slot]
    work.delassus[triangle(a) + a, slot] = work.split_diagonal[a, slot] - give * less


@wp.func
def solve_stiffened(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, slot: int):
    """Add to the impulses of the working set what brings its velocities to their targets, where `chosen`.

    Returns the largest miss of a velocity before and after.
    """
    factored, _inaccurate, _refines = factor_working_set(model, work, count, slot)
    missed = miss_velocities(model, work, count, factored, slot)
    left = missed
    for _turn in range(2):
        solve_consistent(model, work, factored, slot)
        for i in range(factored):
            a = work.factored[i, slot]
            more = where_positive(work.in_working_set[a, slot] * chosen, work.residual[i, slot], missed - missed)
            work.split_impulse[a, slot] = work.split_impulse[a, slot] + more
        left = miss_velocities(model, work, count, factored, slot)
    return missed, left
