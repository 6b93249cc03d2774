"""Velocity bounds of limits of finite rotations, corrected for what y is at the end of the step.

A joint that slides along its limit so keeps its energy: the impulse at each corner of its path reverses the velocity
along J (SHAKE). Where that is not enough, as in a step that is inelastic, the velocity is stopped along J, and q+ is
brought onto the limit afterwards (`limit_projection`).
"""

import warp as wp

from warp_artic.constraints.rotation_coordinates import (
    CONE_LIMIT_ORDER,
    in_axes,
    limit_value,
    start_rotation,
    turn_to_middle,
)
from warp_artic.constraints.rows import row_rate, row_velocity, set_velocity_bounds
from warp_artic.joints import spherical, swing
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
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

REVERSED = wp.constant(1.1)
"""Share of a velocity that a limit may reverse to make a joint follow its curve."""


CURVATURE_TOLERANCE = wp.constant(1e-5)
"""The same where velocities follow its curve, before positions are brought back onto it [rad]."""


@wp.func
def solved_rates(
    model: ModelArrays, work: WorkArrays, row: int, dof: int, count: int, block: int, worker: int, h: Real, excess: Real
):
    """v+ of a rotational joint without the excess of a row, in the axes that M has at the start of the step."""
    v = work.v_next
    J = work.J
    term = model.row_term[row]
    solved = in_axes(model, dof, count, v[dof, worker], v[dof + 1, worker], v[dof + count - 1, worker])
    way = in_axes(model, dof, count, J[term, worker], J[term + 1, worker], J[term + count - 1, worker])
    square = dot(way, way)
    solved = solved - way * (excess / where_positive(square, square, real(1.0, h)))
    if count == 3:
        solved = turn_to_middle(model, work, dof, block, worker, h) * solved
    return solved


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

    y(q+) is not y + h J v+ for finite rotations; after one or two such corrections the limit holds at q+ itself. To
    follow a curve a limit reverses a velocity. Where it would have to do more, it would give energy: there it stops
    the joint as if it were straight, and `hold_limits` does the rest.
    """
    dof = model.term_dof[model.row_term[row]]
    item = dof - model.root_dofs
    count = model.row_terms[row]
    start = start_rotation(model, work, dof, item, count, worker)
    solved = row_velocity(model, work, row, worker)
    within = solved
    if is_start:
        within = minimum(
            maximum(solved, work.velocity_bounds[2 * row, worker]), work.velocity_bounds[2 * row + 1, worker]
        )
    v = solved_rates(model, work, row, dof, count, block, worker, h, solved - within)
    end = moved_rotation(model, item, count, block, start, v, h)
    before = work.coordinate[3 * row, worker]
    upper = work.coordinate[3 * row + 2, worker]
    after, lower_after, upper_after = limit_value(model, row, block, end)
    if model.row_family[row] == CONE_LIMIT_ORDER:
        after = after * upper / upper_after
    old = work.curvature_correction[row, worker]
    correction = within - (after - before) / h
    zero = real(0.0, h)
    y = row_rate(model, work, work.v, row, worker)
    straight_lower = work.velocity_bounds[2 * row, worker] - old
    straight_upper = work.velocity_bounds[2 * row + 1, worker] - old
    most = real(REVERSED, h)
    above = neg(maximum(y, zero) * most) - straight_upper - correction
    below = correction + straight_lower - maximum(neg(y), zero) * most
    correction = where_positive(
        minimum(above, neg(correction)), zero, where_positive(minimum(below, correction), zero, correction)
    )
    moves = where_positive(absolute(correction - old) * h - real(CURVATURE_TOLERANCE, h), mask, zero)
    shift = where_positive(moves, correction - old, zero)
    work.curvature_correction[row, worker] = old + shift
    set_velocity_bounds(
        work,
        row,
        worker,
        work.velocity_bounds[2 * row, worker] + shift,
        work.velocity_bounds[2 * row + 1, worker] + shift,
    )
    return moves
