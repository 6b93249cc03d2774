"""The response of a mechanism to generalized impulses with its constraints held: M_c^-1, from M^-1 of its trees.

    M_c^-1 = M^-1 - M^-1 P (J M^-1 P + C)^-1 J M^-1
of the rows that are equalities without a bound on their impulse, with their compliances C: loop joints, mimic joints,
rods, tendons and springs that act both ways. One row after another, with A = M^-1 at first:
    y = A P,   x = J A,   A -= y x / (J y + C)
A row that depends on those before it has no response left, and is left out, as in a step (`solver.rows.problem`). Stops
and friction are left out too: they may give way. Those of links are written as `constraints.bounded_rows` says, as if
v+ acted in all of the step.

Springs and dampers of dofs, drives among them, follow as rows J = P = 1 with C = 1 / (h slope) (`phases.implicit`): a
stiff drive acts within the step. Their slopes are those of the factors of a step, with springs between the dofs of a
joint (`phases.joint_springs`), so that impulses change velocities as they do there. One with a maximum force may give
way: M_c^-1 without those is written too, and
    f = start - slope v+,   |f| <= most
of each, for those that find out whether it does (`islands.limited_drives`).
"""

import warp as wp

from warp_artic.constraints.bounded_rows import DRIVE_SIZE, write_bounds
from warp_artic.constraints.dispatch import measure_row, set_held_gradient, set_held_law
from warp_artic.constraints.drive import clear_efforts, fold_drives, leave_drives_out
from warp_artic.constraints.drive_envelope import braking_bound
from warp_artic.constraints.rows import prepare_response, row_response
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    is_finite,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.model.arrays import Array, ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import FROM_OUTSIDE, HOLDS, has_trait
from warp_artic.phases.implicit import joint_resistance, joint_weights
from warp_artic.phases.joint_accelerations import accelerate_links
from warp_artic.phases.joint_springs import pair
from warp_artic.solver.bare_dynamics import factor_bare
from warp_artic.solver.constraint_impulses import place_rows
from warp_artic.solver.rows.problem import dependent_share
from warp_artic.solver.step import set_position_weight
from warp_artic.solver.velocities import factor


@wp.func
def hold_constraints(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    free: Array,
    held: Array,
    block: int,
    worker: int,
    has_middle: int,
    h: Real,
):
    """Write M_c^-1 by rows to `held`, with the compliances of a step of length h, from M^-1 in `free`."""
    clear_efforts(model, work, worker, real(0.0, h))
    for dof in range(model.dof_count):
        work.effort[dof, worker] = real(0.0, h)
    factor_bare(model, state, control, work, block, worker)
    accelerate_links(model, work, work.vdot, block, worker)
    set_position_weight(state, work, block, worker, has_middle)
    place_rows(model, state, work, block, worker, h)
    for entry in range(model.dof_count * model.dof_count):
        held[entry, block] = free[entry, block]
    # Rows that share their P have the response of the first one, as in a step.
    for row in range(model.row_count):
        set_held_row(model, work, row, block, worker, h)
    for k in range(model.row_count):
        row = model.row_count - 1 - k
        if may_hold(model, row):
            holds = is_held(work, row, worker)
            if any_positive(holds):
                hold_row(model, work, free, held, row, block, worker, holds)


@wp.func
def measure_held_rows(
    model: ModelArrays,
    work: WorkArrays,
    rows: wp.array(dtype=int),
    bounds: Array,
    gradients: Array,
    pushes: Array,
    block: int,
    worker: int,
    has_middle: int,
    h: Real,
):
    """Write the bounds of `rows` that may hold, their J to `gradients`, and P to `pushes`."""
    begin_bounds(model, work, worker, has_middle, h)
    place = int(0)
    for number in range(rows.shape[0]):
        if may_hold(model, rows[number]):
            measure_held_bounds(model, work, rows[number], number, place, bounds, gradients, pushes, block, worker, h)
        place += model.row_terms[rows[number]]


@wp.func
def may_hold(model: ModelArrays, row: int):
    """Whether a row may hold dofs against each other, for all that is in the mechanism itself."""
    return has_trait(model, row, HOLDS) and not has_trait(model, row, FROM_OUTSIDE)


@wp.func
def set_held_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill a row that may hold dofs against each other."""
    if may_hold(model, row):
        if set_held_gradient(model, work, row, block, worker, h):
            prepare_response(model, work, row, worker)
            work.row_delassus[row, worker] = row_response(model, work, row, worker)
        set_held_law(model, work, row, block, worker, h)


@wp.func
def begin_bounds(model: ModelArrays, work: WorkArrays, worker: int, has_middle: int, h: Real):
    """Have laws say what they want of velocities in all of a step."""
    ahead = real(0.5 * float(has_middle), h) * h
    work.position_weight[0, worker] = real(1.0, h)
    work.since_placed[0, worker] = neg(ahead)
    for dof in range(model.dof_count):
        work.shift[dof, worker] = neg(ahead * work.v[dof, worker])


@wp.func
def measure_held_bounds(
    model: ModelArrays,
    work: WorkArrays,
    row: int,
    number: int,
    place: int,
    bounds: Array,
    gradients: Array,
    pushes: Array,
    block: int,
    worker: int,
    h: Real,
):
    """Write numbers, J and P of a row that may hold; one that does has no bounds."""
    set_held_row(model, work, row, block, worker, h)
    holds = is_held(work, row, worker)
    infinite = real(1.0, h) / real(0.0, h)
    least = where_positive(holds, neg(infinite), work.velocity_bounds[2 * row, worker])
    most = where_positive(holds, infinite, work.velocity_bounds[2 * row + 1, worker])
    force = work.impulse_bounds[2 * row, worker] / h
    write_bounds(bounds, number, block, least, most, force, work.compliance[row, worker])
    first = model.row_term[row]
    for term in range(model.row_terms[row]):
        gradients[place + term, block] = work.J[first + term, worker]
        pushes[place + term, block] = work.P[first + term, worker]


@wp.func
def is_held(work: WorkArrays, row: int, worker: int):
    """One where a row is an equality without a bound on its impulse, else zero."""
    width = work.velocity_bounds[2 * row + 1, worker] - work.velocity_bounds[2 * row, worker]
    one = real(1.0, width)
    return where_positive(absolute(width), one - one, one) * (one - is_finite(work.impulse_bounds[2 * row, worker]))


@wp.func
def hold_row(
    model: ModelArrays,
    work: WorkArrays,
    free: Array,
    held: Array,
    row: int,
    block: int,
    worker: int,
    holds: Real,
):
    """Take a row into the response, where it `holds`."""
    n = model.dof_count
    zero = holds - holds
    one = real(1.0, holds)
    first = model.row_term[row]
    end = first + model.row_terms[row]
    before = zero
    left = zero
    for dof in range(n):
        y = zero
        x = zero
        for term in range(first, end):
            other = model.term_dof[term]
            y = y + held[dof * n + other, block] * work.P[term, worker]
            x = x + work.J[term, worker] * held[other * n + dof, block]
        work.u[dof, worker] = y
        work.vdot[dof, worker] = x
    for term in range(first, end):
        dof = model.term_dof[term]
        left = left + work.J[term, worker] * work.u[dof, worker]
        for other in range(first, end):
            entry = dof * n + model.term_dof[other]
            before = before + work.J[term, worker] * free[entry, block] * work.P[other, worker]
    gives = left + work.compliance[row, worker]
    takes_part = gives - dependent_share(model, work, row, model.rounding[0, 0], worker) * before
    inverse = where_positive(takes_part, holds / where_positive(takes_part, gives, one), zero)
    for dof in range(n):
        work.u[dof, worker] = work.u[dof, worker] * inverse
    take_off_product(model, work, held, block, worker)


@wp.func
def hold_drives(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    held: Array,
    yielding: Array,
    drives: Array,
    block: int,
    worker: int,
    has_middle: int,
    h: Real,
):
    """Take springs and dampers of dofs into the response in `held`, those with a maximum force last.

    Their laws are written to `drives`, and the response without them to `yielding`.
    """
    n = model.dof_count
    ahead = real(0.5 * float(has_middle), h) * h
    if model.acceleration_drives == 1:
        leave_drives_out(model, control, work, block, worker)
        for row in range(model.row_count):
            measure_row(model, work, row, block, worker, h)
    fold_drives(model, control, work, block, worker, h, 1)
    factor(model, control, work, block, worker, h)
    for dof in range(model.root_dofs, n):
        link = model.dof_link[dof]
        if model.link_is_coupled[link] == 0:
            slope, _drag = steady_law(model, work, dof, block, worker, h)
            hold_dof(model, work, held, dof, h * slope, block, worker)
        elif dof == model.link_dof[link]:
            hold_coupled_joint(model, work, held, link, block, worker, h)
    for entry in range(n * n):
        yielding[entry, block] = held[entry, block]
    for dof in range(model.root_dofs, n):
        item = dof - model.root_dofs
        steady_slope, steady_drag = steady_law(model, work, dof, block, worker, h)
        slope, drag = folded_law(work, dof, worker, h)
        slope = slope - steady_slope
        hold_dof(model, work, held, dof, h * slope, block, worker)
        v = work.v[dof, worker]
        # Positions are those of the middle here, and the step has its drives where it starts.
        bias = work.drive_bias[item, worker] + ahead * work.spring[dof, worker] * v
        drives[DRIVE_SIZE * dof, block] = bias - (drag - steady_drag) * v
        drives[DRIVE_SIZE * dof + 1, block] = slope
        drives[DRIVE_SIZE * dof + 2, block] = largest_drive_force(model, work, item, block, worker)


@wp.func
def are_drives_steady(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """One where no drive may give way, so that the factors are those of the response, else zero."""
    one = real(1.0, h)
    steady = one
    for dof in range(model.root_dofs, model.dof_count):
        slope, _drag = folded_law(work, dof, worker, h)
        yields = is_finite(largest_drive_force(model, work, dof - model.root_dofs, block, worker))
        steady = where_positive(yields * absolute(slope), one - one, steady)
    return steady


@wp.func
def folded_law(work: WorkArrays, dof: int, worker: int, h: Real):
    """slope and drag of `phases.implicit` of the spring and damper of a dof, as the factors have them."""
    theta = work.theta[dof, worker]
    resistance = joint_resistance(work.spring[dof, worker], work.damper[dof, worker], work.reach[dof, worker], h)
    return theta * resistance, (real(1.0, h) - theta) * resistance


@wp.func
def steady_law(model: ModelArrays, work: WorkArrays, dof: int, block: int, worker: int, h: Real):
    """slope and drag of what does not give way: of viscous friction alone, where a drive has a maximum force."""
    item = dof - model.root_dofs
    one = real(1.0, h)
    yields = is_finite(largest_drive_force(model, work, item, block, worker))
    slope, drag = folded_law(work, dof, worker, h)
    viscous = model.friction_viscous[item, block]
    inertia = one / work.D_inverse[dof, worker] - h * slope
    theta, _reach = joint_weights(one - one, viscous, inertia, work.free_weight[0, worker], h)
    slope = where_positive(yields, theta * viscous, slope)
    drag = where_positive(yields, (one - theta) * viscous, drag)
    return slope, drag


@wp.func
def largest_drive_force(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """What a drive can resist with."""
    if model.drive_envelopes == 1:
        return braking_bound(model, work, item, block, worker)
    return model.drive_max_force[item, block]


@wp.func
def hold_coupled_joint(model: ModelArrays, work: WorkArrays, held: Array, link: int, block: int, worker: int, h: Real):
    """Take a joint with springs between its dofs into the response; without these, where a drive of it may give way.

    What they add to the mass matrix is  C = L D L^T  with D >= 0, a column of L after the other.
    """
    zero = real(0.0, h)
    one = real(1.0, h)
    first = model.link_dof[link]
    dofs = model.link_dofs[link]
    scale = work.theta[first, worker] * work.reach[first, worker] * h * h
    for j in range(dofs):
        most = largest_drive_force(model, work, first + j - model.root_dofs, block, worker)
        scale = where_positive(is_finite(most), zero, scale)
    c_0, _drag = steady_law(model, work, first, block, worker, h)
    c_1, _drag = steady_law(model, work, first + 1, block, worker, h)
    c_2 = zero
    c_01 = scale * work.cross_spring[pair(first, 0, 1), worker]
    c_02 = zero
    c_12 = zero
    if dofs == 3:
        c_2, _drag = steady_law(model, work, first + 2, block, worker, h)
        c_02 = scale * work.cross_spring[pair(first, 0, 2), worker]
        c_12 = scale * work.cross_spring[pair(first, 1, 2), worker]
    c_0 = c_0 * h
    inverse = where_positive(c_0, one / where_positive(c_0, c_0, one), zero)
    hold_sum(model, work, held, first, dofs, vec3(one, c_01 * inverse, c_02 * inverse), c_0, block, worker)
    c_1 = c_1 * h - c_01 * c_01 * inverse
    c_12 = c_12 - c_01 * c_02 * inverse
    c_2 = c_2 * h - c_02 * c_02 * inverse
    inverse = where_positive(c_1, one / where_positive(c_1, c_1, one), zero)
    hold_sum(model, work, held, first, dofs, vec3(zero, one, c_12 * inverse), c_1, block, worker)
    hold_sum(model, work, held, first, dofs, vec3(zero, zero, one), c_2 - c_12 * c_12 * inverse, block, worker)


@wp.func
def hold_dof(model: ModelArrays, work: WorkArrays, held: Array, dof: int, c: Real, block: int, worker: int):
    """Take what a spring and damper add to the mass matrix at a dof, c = h slope, into the response."""
    n = model.dof_count
    own = held[dof * n + dof, block]
    if any_positive(c):
        one = real(1.0, c)
        inverse = where_positive(own, one, one - one) * c / (one + c * own)
        for other in range(n):
            work.u[other, worker] = held[other * n + dof, block] * inverse
            work.vdot[other, worker] = held[dof * n + other, block]
        take_off_product(model, work, held, block, worker)


@wp.func
def hold_sum(
    model: ModelArrays, work: WorkArrays, held: Array, first: int, dofs: int, a: Vec3, c: Real, block: int, worker: int
):
    """The same of c a a^T at up to three dofs of a joint; none where c is not positive."""
    n = model.dof_count
    if any_positive(c):
        zero = real(0.0, c)
        own = zero
        for other in range(n):
            work.u[other, worker] = zero
            work.vdot[other, worker] = zero
            for k in range(dofs):
                work.u[other, worker] = work.u[other, worker] + held[other * n + first + k, block] * entry(a, k)
                work.vdot[other, worker] = work.vdot[other, worker] + held[(first + k) * n + other, block] * entry(a, k)
        for k in range(dofs):
            own = own + entry(a, k) * work.u[first + k, worker]
        one = real(1.0, c)
        takes = where_positive(own, where_positive(c, one, zero), zero)
        inverse = takes * c / (one + where_positive(takes, c * own, zero))
        for other in range(n):
            work.u[other, worker] = work.u[other, worker] * inverse
        take_off_product(model, work, held, block, worker)


@wp.func
def entry(a: Vec3, k: int):
    """One of the entries of a vector."""
    found = a.x
    if k == 1:
        found = a.y
    if k == 2:
        found = a.z
    return found


@wp.func
def take_off_product(model: ModelArrays, work: WorkArrays, held: Array, block: int, worker: int):
    """Take `work.u` times `work.vdot` off a matrix."""
    n = model.dof_count
    for dof in range(n):
        for other in range(n):
            entry = dof * n + other
            held[entry, block] = held[entry, block] - work.u[dof, worker] * work.vdot[other, worker]
