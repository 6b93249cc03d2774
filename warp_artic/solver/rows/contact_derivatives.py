"""Derivatives of impulses that are found by splitting (`solver.rows.contact_splitting`).

Turns end where impulses are known, which they may be from the start: their derivatives are not known by then. By the
theorem of implicit functions they follow from the equations F(z) = 0 of the branch taken, with  u = G z + y_free -
R anchor  of a row, s the unit vector along the slip of a point, and p that across:
    a point that pushes   u_n = b,   and does not   z = 0
    that sticks           u_t = 0,   that slides    s . z_t = - mu z_n,   |u_t| p . z_t + mu z_n p . u_t = 0
    any other row that has its target   u = target,   at its bound   z = bound,   else   z = 0
With A = dF/dz by values,  z - A^-1 F(z)  has the derivatives of the answer, whatever those of z are.

These are of dual numbers alone, of which each has one environment.

Source: Griewank and Walther, Evaluating Derivatives (2008), section 15.1.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    mul,
    neg,
    real,
    sqrt,
    sub,
    where_positive,
    with_derivatives,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.contact_rows import STICKS, friction_excess, is_contact, is_normal
from warp_artic.solver.rows.factors import triangle
from warp_artic.solver.rows.orthogonal import eliminate_by_T, substitute_back_T
from warp_artic.solver.rows.problem import order_place, range_end, range_first


@wp.func
def differentiate_impulses(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Give the impulses of gathered rows, `work.split_impulse`, their derivatives; G is that of `factor_penalized`."""
    for a in range(count):
        set_delassus_row(model, work, a, count, worker)
        work.rhs[a, worker] = velocity_beyond(model, work, a, count, worker)
    for a in range(count):
        if is_normal(model, work, a, worker):
            set_point_equations(model, work, a, count, worker)
        elif not is_contact(model, work, a, worker):
            set_row_equation(model, work, a, count, worker)
    for a in range(count):
        work.rhs[a, worker] = eliminate_by_T(model, work, a, count, 0, worker)
        pivot = work.T_factor[a * model.row_count + a, worker]
        one = real(1.0, pivot)
        is_known = absolute(pivot) - model.rounding[0, 0] * work.delassus_diagonal[a, worker]
        work.T_pivot_inverse[a, worker] = where_positive(
            is_known, one / where_positive(is_known, pivot, one), one - one
        )
    substitute_back_T(model, work, count, 0, worker)
    for a in range(count):
        z = work.split_impulse[a, worker]
        work.split_impulse[a, worker] = with_derivatives(z, z - work.rhs[a, worker])


@wp.func
def set_delassus_row(model: ModelArrays, work: WorkArrays, a: int, count: int, worker: int):
    """Write row a of G, with R and compliances, to that of T; it is zero for rows that do not meet a."""
    own = a * model.row_count
    order = order_place(model, work, a, worker)
    for b in range(count):
        work.T_factor[own + b, worker] = real(0.0, work.y_free[a, worker])
    work.T_factor[own + a, worker] = work.split_diagonal[a, worker]
    for r in range(model.earlier_range[order], model.earlier_range[order + 1]):
        for b in range(range_first(model, work, r, worker), range_end(model, work, r, worker)):
            work.T_factor[own + b, worker] = work.delassus[triangle(a) + b, worker] * work.row_mask[b, worker]
    for r in range(model.later_range[order], model.later_range[order + 1]):
        for b in range(range_first(model, work, r, worker), range_end(model, work, r, worker)):
            work.T_factor[own + b, worker] = work.delassus[triangle(b) + a, worker] * work.row_mask[b, worker]


@wp.func
def velocity_beyond(model: ModelArrays, work: WorkArrays, a: int, count: int, worker: int):
    """u of a gathered row, of a normal less b."""
    row = work.gathered[a, worker]
    u = work.y_free[a, worker]
    for b in range(count):
        u = u + work.T_factor[a * model.row_count + b, worker] * work.split_impulse[b, worker]
    if is_contact(model, work, a, worker):
        item = model.row_item[row]
        u = u - work.contact_give[item, worker] * work.contact_anchor[item, worker]
        if item % 3 == 0:
            u = u - work.contact_speed[item // 3, worker]
    return u


@wp.func
def set_velocity_equation(model: ModelArrays, work: WorkArrays, a: int, count: int, target: Real, worker: int):
    """Write  u = target  of a gathered row: its row of A, which has no derivatives, and its F."""
    zero = real(0.0, target)
    for b in range(count):
        entry = a * model.row_count + b
        work.T_factor[entry, worker] = with_derivatives(work.T_factor[entry, worker], zero)
    work.rhs[a, worker] = work.rhs[a, worker] - target


@wp.func
def set_impulse_equation(model: ModelArrays, work: WorkArrays, a: int, count: int, given: Real, worker: int):
    """Write  z = given  of a gathered row, as velocities."""
    zero = real(0.0, given)
    scale = with_derivatives(work.delassus_diagonal[a, worker], zero)
    for b in range(count):
        work.T_factor[a * model.row_count + b, worker] = zero
    work.T_factor[a * model.row_count + a, worker] = scale
    work.rhs[a, worker] = scale * (work.split_impulse[a, worker] - given)


@wp.func
def set_row_equation(model: ModelArrays, work: WorkArrays, a: int, count: int, worker: int):
    """Write the equation of a row of no contact."""
    row = work.gathered[a, worker]
    z = work.split_impulse[a, worker]
    one = real(1.0, z)
    zero = one - one
    lower = work.velocity_bounds[2 * row, worker]
    upper = work.velocity_bounds[2 * row + 1, worker]
    bound = work.impulse_bounds[2 * row, worker]
    is_stop = where_positive(upper - lower, one, zero)
    is_open = where_positive(work.row_mask[a, worker], is_stop * where_positive(absolute(z), zero, one), one)
    if any_positive(is_open):
        set_impulse_equation(model, work, a, count, zero, worker)
    elif any_positive(where_positive(bound - absolute(z), zero, one)):
        set_impulse_equation(model, work, a, count, where_positive(z, bound, neg(bound)), worker)
    else:
        target = where_positive(is_stop, where_positive(z, lower, upper), lower)
        set_velocity_equation(model, work, a, count, target, worker)


@wp.func
def set_point_equations(model: ModelArrays, work: WorkArrays, a: int, count: int, worker: int):
    """Write the equations of a point of contact, whose normal is at a place."""
    one = real(1.0, work.rhs[a, worker])
    zero = one - one
    pushes = where_positive(work.split_impulse[a, worker], work.row_mask[a, worker], zero)
    slides = where_positive(friction_excess(model, work, a, worker, real(STICKS, one)), one, zero)
    if not any_positive(pushes):
        for k in range(3):
            set_impulse_equation(model, work, a - k, count, zero, worker)
    else:
        if any_positive(slides):
            set_slip_equations(model, work, a, count, worker)
        else:
            set_velocity_equation(model, work, a - 1, count, zero, worker)
            set_velocity_equation(model, work, a - 2, count, zero, worker)
        set_velocity_equation(model, work, a, count, zero, worker)


@wp.func
def set_slip_equations(model: ModelArrays, work: WorkArrays, a: int, count: int, worker: int):
    """Write the equations of the tangents of a point that slides, by components along both of them."""
    zero = real(0.0, work.rhs[a, worker])
    one = real(1.0, zero)
    mu = work.contact_friction[model.row_item[work.gathered[a, worker]] // 3, worker]
    scale = with_derivatives(work.delassus_diagonal[a, worker], zero)
    z_n = work.split_impulse[a, worker]
    z_1 = work.split_impulse[a - 1, worker]
    z_2 = work.split_impulse[a - 2, worker]
    u_1 = work.rhs[a - 1, worker]
    u_2 = work.rhs[a - 2, worker]
    slip = sqrt(u_1 * u_1 + u_2 * u_2)
    # Slip and friction are along one line, of which either may be zero.
    s_1 = u_1 - scale * z_1
    s_2 = u_2 - scale * z_2
    size = sqrt(s_1 * s_1 + s_2 * s_2)
    size = where_positive(size, size, one)
    s_1 = s_1 / size
    s_2 = s_2 / size
    weight = slip + scale * (mu * z_n)
    weight = where_positive(weight, scale / where_positive(weight, weight, one), zero)
    by_z = weight * slip
    by_u = weight * (mu * z_n)
    along = scale * (s_1 * z_1 + s_2 * z_2 + mu * z_n)
    across = by_z * (s_1 * z_2 - s_2 * z_1) + by_u * (s_1 * u_2 - s_2 * u_1)
    work.rhs[a - 1, worker] = s_1 * along - s_2 * across
    work.rhs[a - 2, worker] = s_2 * along + s_1 * across
    first = (a - 1) * model.row_count
    second = (a - 2) * model.row_count
    for b in range(count):
        across = by_u * (s_1 * work.T_factor[second + b, worker] - s_2 * work.T_factor[first + b, worker])
        along = zero
        if b == a:
            along = scale * mu
        elif b == a - 1:
            along = scale * s_1
            across = across - by_z * s_2
        elif b == a - 2:
            along = scale * s_2
            across = across + by_z * s_1
        work.T_factor[first + b, worker] = with_derivatives(s_1 * along - s_2 * across, zero)
        work.T_factor[second + b, worker] = with_derivatives(s_2 * along + s_1 * across, zero)
