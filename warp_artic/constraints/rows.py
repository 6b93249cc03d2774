"""Constraint rows: the contract between a constraint family and a solver.

A row speaks about the velocity y = J v+ of its Jacobian at the end of the step and about the impulse z along its
force Jacobian P, which is J^T but for tendons whose forces do not follow from their length:
    y + compliance z = y*,   y* = y clamped to [lower, upper]  (a single value for an equality)
    |z| <= hold, else |z| = slide  (a bound on the impulse, and what is left of it once it gives way)
A family writes, each step: the velocity bounds [lower, upper], the compliance, the impulse bounds (hold, slide) and
the entries of J and P. A row outside its velocity bounds becomes active, is given its response Y = M^-1 P, and is
solved; an inactive row costs a comparison. J is sparse: `row_terms` entries on the dofs `term_dof`. Rows with the same
P share a response.

A row of a tree with a force law that is linear in v+ (an unsaturated drive, a damper) is better folded into the factors
of the articulated inertia, where it is exact; see `drive`.
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
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.model.islands import island_dof
from warp_artic.phases.impulse_response import innovate, keep_innovations, pass_outward, respond

RECOVERY = wp.constant(0.2)
"""Share of a violated limit that is taken back in a step."""
SETTLES = wp.constant(2e-6)
"""Violation that is taken back by a velocity [rad or m]: what curves and rounding of a step leave of limits."""


BENT = wp.constant(0.05)
"""Part of the sum of |J_k v_k| by which |J v+| along a path that bends may be larger than |J v|."""


TANGENT = wp.constant(0.0001)
"""Part of the sum of |J_k v_k| by which J v may differ from that of a motion along what a row holds."""


REDUNDANT = wp.constant(1e-6)
"""Tolerance by which rows that hold positions are redundant: no more than this share is left of G_aa after elimination
of the rows before it, or |J|^2 is no more than this share of the largest that it could be."""


@wp.func
def set_velocity_bounds(work: WorkArrays, row: int, worker: int, lower: Real, upper: Real):
    """Write the velocities that a row allows."""
    work.velocity_bounds[2 * row, worker] = lower
    work.velocity_bounds[2 * row + 1, worker] = upper


@wp.func
def set_impulse_bounds(work: WorkArrays, row: int, worker: int, hold: Real, slide: Real):
    """Write the largest impulse of a row, and the impulse it keeps where that is not enough."""
    work.impulse_bounds[2 * row, worker] = hold
    work.impulse_bounds[2 * row + 1, worker] = slide


@wp.func
def set_unbounded_impulse(work: WorkArrays, row: int, worker: int, like: Real):
    """No bound on the impulse of a row."""
    infinite = real(1.0, like) / real(0.0, like)
    set_impulse_bounds(work, row, worker, infinite, infinite)


@wp.func
def set_jacobian_entry(work: WorkArrays, term: int, worker: int, value: Real):
    """Write an entry of J, and the same of P."""
    work.J[term, worker] = value
    work.P[term, worker] = value


@wp.func
def allow_every_velocity(work: WorkArrays, row: int, worker: int, enabled: Real):
    """Free the velocity of a row where it is not enabled."""
    infinite = real(1.0, enabled) / real(0.0, enabled)
    lower = work.velocity_bounds[2 * row, worker]
    upper = work.velocity_bounds[2 * row + 1, worker]
    set_velocity_bounds(
        work, row, worker, where_positive(enabled, lower, neg(infinite)), where_positive(enabled, upper, infinite)
    )


@wp.func
def set_unit_jacobian(model: ModelArrays, work: WorkArrays, row: int, worker: int, like: Real):
    """J = P = 1 on the only dof of a row."""
    set_jacobian_entry(work, model.row_term[row], worker, real(1.0, like))


@wp.func
def gap_velocity(gap: Real, h: Real):
    """The velocity that uses up a gap in one step; of a violation (gap < 0) a share, of no more than SETTLES of it."""
    return where_positive(neg(gap), maximum(gap, real(-SETTLES, gap)) * real(RECOVERY, gap), gap) / h


@wp.func
def set_position_bounds(work: WorkArrays, row: int, worker: int, y: Real, lower: Real, upper: Real, h: Real):
    """Keep a position y in [lower, upper] at the end of the step, or from going on where it is beyond one of them."""
    set_velocity_bounds(work, row, worker, neg(gap_velocity(y - lower, h)), gap_velocity(upper - y, h))


@wp.func
def violation_of(y: Real, lower: Real, upper: Real):
    """How far a position is beyond [lower, upper], from which `constraints.limit_projection` moves it back.

    Velocities are not changed for that: they would last.
    """
    return maximum(maximum(lower - y, y - upper), real(0.0, y))


@wp.func
def row_rate(model: ModelArrays, work: WorkArrays, rates: Array, row: int, worker: int):
    """J times the rates of the dofs."""
    start = model.row_term[row]
    y = work.J[start, worker] * rates[model.term_dof[start], worker]
    for term in range(start + 1, start + model.row_terms[row]):
        y = y + work.J[term, worker] * rates[model.term_dof[term], worker]
    return y


@wp.func
def start_rate(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """J v of a row with the velocities at the start of a substep, and the sum of the sizes of its terms."""
    y = real(0.0, work.v[0, worker])
    size = y
    for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
        part = work.J[term, worker] * work.v[model.term_dof[term], worker]
        y = y + part
        size = size + absolute(part)
    return y, size


@wp.func
def bent_speed(target: Real, y: Real, size: Real):
    """J v+ that is wanted along a path that bends, but no faster than J v = y: then impulses do no work."""
    most = absolute(y) + size * real(BENT, y)
    # Where all are zero, derivatives are those of what is wanted.
    return minimum(most, maximum(neg(most), target))


@wp.func
def is_tangent(model: ModelArrays, work: WorkArrays, row: int, worker: int, bend: Real):
    """One where J v is that of a motion along what a row holds, `bend`, but for terms of second order; else zero."""
    y, size = start_rate(model, work, row, worker)
    zero = real(0.0, bend)
    excess = absolute(y - bend) - absolute(bend) - size * real(TANGENT, zero)
    return where_positive(excess, zero, real(1.0, zero))


@wp.func
def row_velocity(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """y = J v+ with the velocities so far."""
    return row_rate(model, work, work.v_next, row, worker)


@wp.func
def prepare_response(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Compute the response of a row unless it is known for the present factors."""
    response = model.row_response_index[row]
    if work.ready[response, worker] == 0:
        respond(model, work, model.response_row[response], response * model.dof_count, worker)
        work.ready[response, worker] = 1


@wp.func
def prepare_rate(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Compute the innovations of J of a row whose P is another, unless they are known."""
    place = model.row_rate_response_index[row]
    if place != model.row_response_index[row] and work.ready[place, worker] == 0:
        nonsymmetric = real(0.0, work.D_inverse[0, worker])
        for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
            difference = absolute(work.J[term, worker] - work.P[term, worker])
            # One that is zero counts where it has derivatives, in whatever term.
            if any_positive(difference):
                nonsymmetric = maximum(nonsymmetric, difference)
        work.nonsymmetric[row, worker] = nonsymmetric
        if any_positive(nonsymmetric):
            innovate(model, work, work.J, row, worker)
            keep_innovations(model, work, row, place * model.dof_count, worker)
        work.ready[place, worker] = 1


@wp.func
def rate_response_start(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """First entry of the innovations of a row's J: those of P unless it is nonsymmetric."""
    place = model.row_response_index[row]
    if any_positive(work.nonsymmetric[row, worker]):
        place = model.row_rate_response_index[row]
    return place * model.dof_count


@wp.func
def forget_rate(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Have the innovations of J of a row computed again, after J has changed while its P has not."""
    if model.row_rate_response_index[row] != model.row_response_index[row]:
        work.ready[model.row_rate_response_index[row], worker] = 0


@wp.func
def forget_response(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Have the response of a row computed again, and what J has beside it, after its P has changed in a substep."""
    work.ready[model.row_response_index[row], worker] = 0
    work.known_rows[0, worker] = 0
    forget_rate(model, work, row, worker)


@wp.func
def apply_impulse(model: ModelArrays, work: WorkArrays, row: int, worker: int, impulse: Real):
    """Add what an impulse of a row changes to the velocities so far."""
    response = model.row_response_index[row] * model.dof_count
    island = model.row_island[row]
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        work.v_next[dof, worker] = work.v_next[dof, worker] + work.response[response + dof, worker] * impulse


@wp.func
def add_responses(
    model: ModelArrays, work: WorkArrays, impulses: Array, first: int, end: int, rates: Array, worker: int
):
    """Add what impulses of the rows from `first` to `end` change to the rates of the dofs."""
    found = bool(False)
    zero = real(0.0, rates[0, worker])
    for row in range(first, end):
        z = impulses[row, worker]
        if any_positive(absolute(z)):
            response = model.row_response_index[row] * model.dof_count
            if model.innovations_only == 0:
                island = model.row_island[row]
                for k in range(model.island_first[island], model.island_first[island + 1]):
                    dof = island_dof(model, k)
                    rates[dof, worker] = rates[dof, worker] + work.response[response + dof, worker] * z
            else:
                if not found:
                    for dof in range(model.dof_count):
                        work.innovation[dof, worker] = zero
                found = bool(True)
                add_innovations(model, work, row, z, worker)
    if found:
        add_velocity_change(model, work, rates, worker)


@wp.func
def add_innovations(model: ModelArrays, work: WorkArrays, row: int, impulse: Real, worker: int):
    """Add the innovations of an impulse of a row to `work.innovation`."""
    first_P = model.row_response_index[row] * model.dof_count
    start = model.row_support[row]
    for k in range(model.row_supports[row]):
        dof = model.support_dof[start + k]
        work.innovation[dof, worker] = work.innovation[dof, worker] + work.response[first_P + k, worker] * impulse


@wp.func
def change_of_rate(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """What innovations add to the velocity of a row, from these by D in `work.scaled_innovation`."""
    rate = rate_response_start(model, work, row, worker)
    start = model.row_support[row]
    change = real(0.0, work.D_inverse[0, worker])
    for k in range(model.row_supports[row]):
        change = change + work.response[rate + k, worker] * work.scaled_innovation[model.support_dof[start + k], worker]
    return change


@wp.func
def sized_change_of_rate(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """The same, and the sum of the sizes of its terms, of which rounding errors are a share."""
    rate = rate_response_start(model, work, row, worker)
    start = model.row_support[row]
    change = real(0.0, work.D_inverse[0, worker])
    size = change
    for k in range(model.row_supports[row]):
        term = work.response[rate + k, worker] * work.scaled_innovation[model.support_dof[start + k], worker]
        change = change + term
        size = size + absolute(term)
    return change, size


@wp.func
def add_velocity_change(model: ModelArrays, work: WorkArrays, rates: Array, worker: int):
    """Add the change of rates  W^T D^-1 w  that the innovations w in `work.innovation` cause: one outward pass."""
    zero = real(0.0, rates[0, worker])
    for dof in range(model.dof_count):
        work.u[dof, worker] = work.innovation[dof, worker]
    pass_outward(model, work, work.velocity_change, 0, worker, vec3(zero, zero, zero))
    for dof in range(model.dof_count):
        rates[dof, worker] = rates[dof, worker] + work.velocity_change[dof, worker]


@wp.func
def row_response(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """J Y: the velocity of a row that a unit impulse along it causes."""
    if model.innovations_only == 1:
        prepare_rate(model, work, row, worker)
        first_P = model.row_response_index[row] * model.dof_count
        rate = rate_response_start(model, work, row, worker)
        total = real(0.0, work.D_inverse[0, worker])
        first = model.row_support[row]
        for k in range(model.row_supports[row]):
            p = work.response[first_P + k, worker] * work.D_inverse[model.support_dof[first + k], worker]
            total = total + work.response[rate + k, worker] * p
        return total
    return response_along(model, work, row, row, worker)


@wp.func
def response_along(model: ModelArrays, work: WorkArrays, row: int, other: int, worker: int):
    """The velocity of a row that a unit impulse along another one causes, where responses are kept by dofs."""
    start = model.row_term[row]
    response = model.row_response_index[other] * model.dof_count
    r = work.J[start, worker] * work.response[response + model.term_dof[start], worker]
    for term in range(start + 1, start + model.row_terms[row]):
        r = r + work.J[term, worker] * work.response[response + model.term_dof[term], worker]
    return r


@wp.func
def delassus_entry(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """J M^-1 P of a row whose J and P are written."""
    forget_response(model, work, row, worker)
    prepare_response(model, work, row, worker)
    return row_response(model, work, row, worker)


@wp.func
def project(y_free: Real, r: Real, lower: Real, upper: Real, compliance: Real, hold: Real, slide: Real):
    """The impulse z of a row whose velocity without it is y_free and with it y_free + r z; none where nothing moves."""
    gives = r + compliance
    z = where_positive(gives, (minimum(maximum(y_free, lower), upper) - y_free) / gives, r - r)
    sliding = where_positive(z, slide, neg(slide))
    return where_positive(absolute(z) - hold, sliding, z)
