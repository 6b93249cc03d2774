"""Velocity bounds of limits of finite rotations, corrected for what y is at the end of the step.

With t = (1 - w) h the time that the joint moves with v, and J where it is then,
    c h / 2 = (J v t - (y(t) - y)) h / t^2
is the speed at which y leaves a limit along which it slides, in the middle of the step, by its curvature c alone. There
v and v+ are tangents of the same curve, and the impulse at its corner turns J v = c h / 2 into J v+ = - c h / 2: the
energy stays. What comes in fast has a larger J v, and is stopped along J; q+ is brought onto the limit afterwards
(`limit_projection`). In steps without a middle, t = 0, y(end) says how much of J v is reversed (SHAKE).
"""

import warp as wp

from warp_artic.constraints.rotation_coordinates import (
    CONE_LIMIT_ORDER,
    in_axes,
    limit_value,
    start_rotation,
)
from warp_artic.constraints.rows import gap_velocity, row_rate, row_velocity, set_velocity_bounds
from warp_artic.joints import spherical, swing
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ModelArrays, WorkArrays

TANGENT = wp.constant(1.1)
"""Share of c h / 2 that a limit may reverse of J v to make a joint follow its curve, but never more than J v."""


CURVATURE_TOLERANCE = wp.constant(1e-5)
"""What a limit may be missed by where velocities follow its curve, before positions are brought back onto it [rad]."""


@wp.func
def solved_rates(model: ModelArrays, work: WorkArrays, row: int, dof: int, count: int, worker: int, excess: Real):
    """v+ of a rotational joint without the excess of a row, in the axes of M."""
    v = work.v_next
    J = work.J
    term = model.row_term[row]
    solved = in_axes(model, dof, count, v[dof, worker], v[dof + 1, worker], v[dof + count - 1, worker])
    way = in_axes(model, dof, count, J[term, worker], J[term + 1, worker], J[term + count - 1, worker])
    square = dot(way, way)
    return solved - way * (excess / where_positive(square, square, real(1.0, excess)))


@wp.func
def moved_rotation(model: ModelArrays, item: int, count: int, block: int, start: Vec3, v: Vec3, time: Real):
    """Public positions of a rotational joint in the axes of M after a time with v, which is in these axes."""
    sign = model.dof_sign[item, block]
    phi = start * sign
    if count == 2:
        a, b = swing.advance(phi.x, phi.y, v.x * sign, v.y * sign, time)
        phi = vec3(a, b, real(0.0, time))
    else:
        phi = spherical.advance(phi, v * sign, time)
    return phi * sign


@wp.func
def straight_bounds(work: WorkArrays, row: int, worker: int, rate: Real, h: Real):
    """The velocity bounds of a row with J v = `rate` if its y did not curve."""
    weight = work.free_weight[0, worker]
    drift = (real(1.0, h) - weight) * rate
    y = work.coordinate[3 * row, worker]
    lower = neg(gap_velocity(y - work.coordinate[3 * row + 1, worker], h) + drift) / weight
    upper = (gap_velocity(work.coordinate[3 * row + 2, worker] - y, h) - drift) / weight
    return lower, upper


@wp.func
def within_reversal(work: WorkArrays, row: int, worker: int, lower: Real, upper: Real, correction: Real):
    """A correction of bounds that reverses no more of J v than a limit may to be followed."""
    zero = real(0.0, correction)
    reversed = work.reversible_speed[row, worker]
    above = maximum(neg(maximum(reversed, zero)) - upper - correction, zero)
    below = maximum(lower + correction + minimum(reversed, zero), zero)
    return correction + above - below


@wp.func
def set_bent_bounds(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real, placed: Vec3):
    """Write the velocity bounds of a row of which J, y and its limits are written, from the rotation that J is of."""
    zero = real(0.0, h)
    rate = row_rate(model, work, work.v, row, worker)
    tangent = rate
    before = (real(1.0, h) - work.free_weight[0, worker]) * h
    if any_positive(before):
        curved = value_along(model, row, block, placed, work.coordinate[3 * row + 2, worker])
        curved = curved - work.coordinate[3 * row, worker]
        tangent = (before * rate - curved) * h / (before * before) * real(TANGENT, h)
    work.reversible_speed[row, worker] = maximum(minimum(rate, tangent), zero) + minimum(maximum(rate, tangent), zero)
    lower, upper = straight_bounds(work, row, worker, rate, h)
    correction = within_reversal(work, row, worker, lower, upper, zero)
    work.curvature_correction[row, worker] = correction
    set_velocity_bounds(work, row, worker, lower + correction, upper + correction)


@wp.func
def value_along(model: ModelArrays, row: int, block: int, phi: Vec3, upper: Real):
    """y of a row; of a cone as a share of its angle in the direction of phi, times `upper`."""
    y, _lower, widest = limit_value(model, row, block, phi)
    if model.row_family[row] == CONE_LIMIT_ORDER:
        y = y * upper / widest
    return y


@wp.func
def placed_rotation(model: ModelArrays, work: WorkArrays, dof: int, count: int, block: int, worker: int, h: Real):
    """Public positions of a rotational joint after it has moved with v in a step of h, in the axes of M."""
    item = dof - model.root_dofs
    start = start_rotation(model, work, dof, item, count, worker)
    v = in_axes(model, dof, count, work.v[dof, worker], work.v[dof + 1, worker], work.v[dof + count - 1, worker])
    return moved_rotation(model, item, count, block, start, v, (real(1.0, h) - work.free_weight[0, worker]) * h)


@wp.func
def may_need_correction(model: ModelArrays, work: WorkArrays, row: int, worker: int, h: Real):
    """Positive where a limit is active, or may be once its curve counts.

    That is (h w)^2 cot(angle) / 2 of a cone that is followed all around it: it is looked at where 4 (h w)^2 would do.
    """
    y = row_velocity(model, work, row, worker)
    gap = minimum(y - work.velocity_bounds[2 * row, worker], work.velocity_bounds[2 * row + 1, worker] - y)
    rate = real(0.0, y)
    for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
        rate = rate + absolute(work.v_next[model.term_dof[term], worker])
    return maximum(work.active[row, worker], rate * rate * h * real(4.0, h) - gap)


@wp.func
def correct_bounds(
    model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real, mask: Real, is_start: bool
):
    """Move the velocity bounds of a row by what the end of the step, with v+ so far, misses of its linear prediction.

    If `is_start` that is v+ without rows, but for what leaves these bounds along J.

    Only where `mask` is positive, and by more than a rounding error: then it returns 1.
    """
    dof = model.term_dof[model.row_term[row]]
    item = dof - model.root_dofs
    count = model.row_terms[row]
    weight = work.free_weight[0, worker]
    zero = real(0.0, h)
    solved = row_velocity(model, work, row, worker)
    within = solved
    if is_start:
        within = minimum(
            maximum(solved, work.velocity_bounds[2 * row, worker]), work.velocity_bounds[2 * row + 1, worker]
        )
    middle = placed_rotation(model, work, dof, count, block, worker, h)
    v = solved_rates(model, work, row, dof, count, worker, solved - within)
    end = moved_rotation(model, item, count, block, middle, v, weight * h)
    rate = row_rate(model, work, work.v, row, worker)
    path = value_along(model, row, block, end, work.coordinate[3 * row + 2, worker]) - work.coordinate[3 * row, worker]
    correction = within - (path - (real(1.0, h) - weight) * h * rate) / (weight * h)
    lower, upper = straight_bounds(work, row, worker, rate, h)
    correction = within_reversal(work, row, worker, lower, upper, correction)
    old = work.curvature_correction[row, worker]
    moves = where_positive(absolute(correction - old) * weight * h - real(CURVATURE_TOLERANCE, h), mask, zero)
    correction = where_positive(moves, correction, old)
    work.curvature_correction[row, worker] = correction
    set_velocity_bounds(work, row, worker, lower + correction, upper + correction)
    return moves
