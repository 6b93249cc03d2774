"""Linear combinations of joint positions,  L = offset + sum c_i q_i,  as fixed tendons and mimic joints couple them.

The position of a joint with one axis changes at its velocity. Those of two or three free rotations are the rotation
vector phi, with  phidot = Jr^-1(phi) v  (`joints.swing`, `joints.spherical`), so that all dofs of the joint change L:
    Ldot = J v,   J = Jr^-1(phi)^T c.
J turns with phi. In a step it is taken in the middle of what the joint does with v, after (1 - weight) h of it, and L
goes back from there along J, L - (1 - weight) h J v: that gives laws that look along J, such as those of `spring`, the
L of the middle, and with it second order and the energy of a spring.
"""

import warp as wp

from warp_artic.constraints.rotation_coordinates import component, in_axes
from warp_artic.constraints.rows import forget_response
from warp_artic.joints import spherical, swing
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    mul,
    neg,
    real,
    sub,
    vec3,
)
from warp_artic.math.rotation import quaternion_exp, quaternion_matrix
from warp_artic.math.spatial import dot, transpose_mul
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.phases.integrate import move_swing
from warp_artic.phases.kinematics import signed_triple


@wp.func
def combine_positions(
    model: ModelArrays, coefficients: Array, first: int, positions: Array, place: int, row: int, block: int
):
    """sum c_i q_i of the positions in column `place` of an array; the coefficients are from `first` on."""
    total = real(0.0, coefficients[first, block])
    term = int(model.row_term[row])
    end = term + model.row_terms[row]
    k = int(first)
    while term < end:
        item = model.term_dof[term] + model.term_place[term] - model.root_dofs
        total = total + coefficients[k, block] * positions[item, place]
        term += model.term_span[term]
        k += 1
    return total


@wp.func
def combine_rates(
    model: ModelArrays,
    coefficients: Array,
    first: int,
    positions: Array,
    velocities: Array,
    first_velocity: int,
    place: int,
    row: int,
    block: int,
):
    """The rate of that; velocities of joint dofs are in column `place` from row `first_velocity` on."""
    total = real(0.0, coefficients[first, block])
    term = int(model.row_term[row])
    end = term + model.row_terms[row]
    k = int(first)
    while term < end:
        span = model.term_span[term]
        dof = model.term_dof[term]
        item = dof - model.root_dofs
        if span == 1:
            total = total + coefficients[k, block] * velocities[first_velocity + item, place]
        else:
            phi = in_axes_of(model, positions, item, dof, span, place)
            v = in_axes_of(model, velocities, first_velocity + item, dof, span, place)
            # In the public direction both vectors have the sign that they have in the other one: J does not change.
            J = position_gradient(model, phi * model.dof_sign[item, block], dof, span, model.term_place[term])
            total = total + coefficients[k, block] * dot(J, v)
        term += span
        k += 1
    return total


@wp.func
def in_axes_of(model: ModelArrays, values: Array, row: int, dof: int, count: int, place: int):
    """Public positions or velocities of a joint with several rotations, as a vector in the axes of M."""
    return in_axes(model, dof, count, values[row, place], values[row + 1, place], values[row + count - 1, place])


@wp.func
def position_gradient(model: ModelArrays, phi: Vec3, dof: int, count: int, which: int):
    """The gradient in v of one component of the rotation vector of a joint, in the axes of M."""
    zero = real(0.0, phi.x)
    one = real(1.0, phi.x)
    g = in_axes(model, dof + which, 1, one, zero, zero)
    if count == 3:
        return spherical.rates(neg(phi), g)
    x, y = swing.rates(phi.x, phi.y, g.x, g.y)
    return vec3(x, y, zero)


@wp.func
def middle_vector(model: ModelArrays, work: WorkArrays, dof: int, count: int, block: int, worker: int, before: Real):
    """The rotation vector of a joint, parent -> child, after it has moved with v for a time."""
    item = dof - model.root_dofs
    phi = signed_triple(model, work.position, item, dof, count, block, worker)
    v = signed_triple(model, work.v, dof, dof, count, block, worker)
    if count == 3:
        return spherical.advance(phi, v, before)
    return move_swing(phi, v, before)


@wp.func
def time_with_v(work: WorkArrays, worker: int, h: Real):
    """How long joints that springs or constraints act on move with v."""
    return (real(1.0, h) - work.position_weight[0, worker]) * h


@wp.func
def set_combination(
    model: ModelArrays,
    work: WorkArrays,
    entries: Array,
    coefficients: Array,
    first: int,
    row: int,
    block: int,
    worker: int,
    h: Real,
):
    """Write the gradient of sum c_i q_i to `entries`, which are J or P of a row, in a step of h."""
    term = int(model.row_term[row])
    end = term + model.row_terms[row]
    k = int(first)
    while term < end:
        span = model.term_span[term]
        if span == 1:
            entries[term, worker] = coefficients[k, block]
        else:
            set_turning_entries(model, work, entries, term, coefficients[k, block], block, worker, h)
            forget_response(model, work, row, worker)
        term += span
        k += 1


@wp.func
def set_turning_entries(
    model: ModelArrays, work: WorkArrays, entries: Array, term: int, c: Real, block: int, worker: int, h: Real
):
    """Write the entries of one coefficient, on all dofs of a joint with several rotations."""
    dof = model.term_dof[term]
    count = model.term_span[term]
    before = time_with_v(work, worker, h)
    phi = middle_vector(model, work, dof, count, block, worker, before)
    J = position_gradient(model, phi, dof, count, model.term_place[term]) * c
    if count == 3:
        J = turn_to_placed(
            model, work, dof, block, worker, J, (real(1.0, h) - work.free_weight[0, worker]) * h - before
        )
    for k in range(count):
        entries[term + k, worker] = component(J, model.dof_axis[dof + k])


@wp.func
def turn_to_placed(model: ModelArrays, work: WorkArrays, dof: int, block: int, worker: int, J: Vec3, later: Real):
    """A gradient on a ball joint in the axes that M has `later`, where forces are evaluated."""
    if any_positive(absolute(later)):
        x, w = quaternion_exp(signed_triple(model, work.v, dof, dof, 3, block, worker) * later)
        return transpose_mul(quaternion_matrix(x, w), J)
    return J


@wp.func
def combination_in_step(
    model: ModelArrays, work: WorkArrays, coefficients: Array, first: int, row: int, block: int, worker: int, h: Real
):
    """sum c_i q_i as the laws of a row see it at the start of a step of h, whose J is written."""
    total = real(0.0, h)
    before = time_with_v(work, worker, h)
    term = int(model.row_term[row])
    end = term + model.row_terms[row]
    k = int(first)
    while term < end:
        span = model.term_span[term]
        dof = model.term_dof[term]
        c = coefficients[k, block]
        if span == 1:
            total = total + c * work.position[dof - model.root_dofs, worker]
        else:
            phi = middle_vector(model, work, dof, span, block, worker, before)
            moving = dof + model.term_place[term]
            q = component(phi, model.dof_axis[moving]) * model.dof_sign[moving - model.root_dofs, block]
            total = total + c * q - before * turning_rate(model, work, term, worker)
        term += span
        k += 1
    return total


@wp.func
def turning_rate(model: ModelArrays, work: WorkArrays, term: int, worker: int):
    """J v of the terms of one coefficient of a joint with several rotations."""
    rate = work.J[term, worker] * work.v[model.term_dof[term], worker]
    for k in range(term + 1, term + model.term_span[term]):
        rate = rate + work.J[k, worker] * work.v[model.term_dof[k], worker]
    return rate
