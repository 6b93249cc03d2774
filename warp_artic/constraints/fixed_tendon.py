"""Fixed tendons (Tendon Dynamics, equations 1-5):  L = offset + sum c_i q_i,  S = sum c_i v_i, and on each dof
    (k (rest - L) - d S) r_i + k_lim Delta r_i,   Delta = the change that brings L back to the nearest limit.

The spring and the limit are a row each, of the kinds of `spring`, with e = L - rest, J = c and the push r.
"""

import warp as wp

from warp_artic.constraints.spring import set_spring_row, set_stop_spring_row, spring_theta
from warp_artic.constraints.tension import tension
from warp_artic.math.numbers import Real, add, any_positive, mul, real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import Array, ModelArrays, StateArrays, WorkArrays


@wp.func
def tendon_length(model: ModelArrays, positions: Array, place: int, row: int, column: int):
    """L at the joint positions in column `place` of an array."""
    tendon = model.row_item[row]
    first = model.tendon_term[tendon]
    start = model.row_term[row]
    length = model.tendon_offset[tendon, column]
    for k in range(model.row_terms[row]):
        q = positions[model.term_dof[start + k] - model.root_dofs, place]
        length = length + model.tendon_coefficient[first + k, column] * q
    return length


@wp.func
def tendon_rate(model: ModelArrays, state: StateArrays, row: int, column: int):
    """S at the velocities of the state."""
    first = model.tendon_term[model.row_item[row]]
    start = model.row_term[row]
    rate = real(0.0, model.tendon_coefficient[first, column])
    for k in range(model.row_terms[row]):
        v = state.joint_velocity[model.term_dof[start + k] - model.root_dofs, column]
        rate = rate + model.tendon_coefficient[first + k, column] * v
    return rate


@wp.func
def tendon_force(model: ModelArrays, row: int, column: int, length: Real, rate: Real):
    """The force of a tendon; zero where it is not enabled."""
    tendon = model.row_item[row]
    force = tension(
        length,
        rate,
        model.tendon_rest_length[tendon, column],
        model.tendon_stiffness[tendon, column],
        model.tendon_damping[tendon, column],
        model.tendon_limit_stiffness[tendon, column],
        model.tendon_lower[tendon, column],
        model.tendon_upper[tendon, column],
    )
    return where_positive(model.tendon_enabled[tendon, column], force, real(0.0, force))


@wp.func
def set_tendon_coefficients(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int):
    """Write J = c and the push r; says whether the tendon is enabled in any environment of the column."""
    first = model.tendon_term[model.row_item[row]]
    start = model.row_term[row]
    for k in range(model.row_terms[row]):
        work.coefficient[start + k, slot] = model.tendon_coefficient[first + k, column]
        work.push[start + k, slot] = model.tendon_force_coefficient[first + k, column]
    return any_positive(model.tendon_enabled[model.row_item[row], column])


@wp.func
def set_fixed_tendon_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the spring and damper of a tendon."""
    tendon = model.row_item[row]
    enabled = model.tendon_enabled[tendon, column]
    k = where_positive(enabled, model.tendon_stiffness[tendon, column], real(0.0, h))
    d = where_positive(enabled, model.tendon_damping[tendon, column], real(0.0, h))
    e = tendon_length(model, work.position, slot, row, column) - model.tendon_rest_length[tendon, column]
    set_spring_row(model, work, row, slot, e, k, d, spring_theta(work, row, slot, k, d, h), h)


@wp.func
def set_fixed_tendon_limit_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the limits of a tendon."""
    tendon = model.row_item[row]
    zero = real(0.0, h)
    k = where_positive(model.tendon_enabled[tendon, column], model.tendon_limit_stiffness[tendon, column], zero)
    set_stop_spring_row(
        model,
        work,
        row,
        slot,
        tendon_length(model, work.position, slot, row, column),
        model.tendon_lower[tendon, column],
        model.tendon_upper[tendon, column],
        k,
        zero,
        spring_theta(work, row, slot, k, zero, h),
        h,
    )
