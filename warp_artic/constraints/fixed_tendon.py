"""Fixed tendons (Tendon Dynamics, equations 1-5):  L = offset + sum c_i q_i,  S its rate, and on each dof
    (k (rest - L) - d S) r_i + k_lim Delta r_i,   Delta = the change that brings L back to the nearest limit.
S = sum c_i qdot_i, and (...) r_i is the force on qdot_i: of joints with several rotations see `coupling`.

The spring and the limit are a row each, of the kinds of `spring`, with e = L - rest, J the gradient of L and the push
that of sum r_i q_i.
"""

import warp as wp

from warp_artic.constraints.coupling import (
    combination_in_step,
    combine_positions,
    combine_rates,
    set_combination,
)
from warp_artic.constraints.spring import set_spring_row, set_stop_spring_row, spring_theta
from warp_artic.constraints.tension import tension
from warp_artic.math.numbers import Real, add, any_positive, mul, real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import Array, ModelArrays, StateArrays, WorkArrays


@wp.func
def tendon_length(model: ModelArrays, positions: Array, place: int, row: int, column: int):
    """L at the joint positions in column `place` of an array."""
    tendon = model.row_item[row]
    first = model.tendon_term[tendon]
    length = combine_positions(model, model.tendon_coefficient, first, positions, place, row, column)
    return model.tendon_offset[tendon, column] + length


@wp.func
def tendon_rate(model: ModelArrays, state: StateArrays, row: int, column: int):
    """S at a state."""
    first = model.tendon_term[model.row_item[row]]
    return combine_rates(
        model, model.tendon_coefficient, first, state.joint_position, state.joint_velocity, 0, column, row, column
    )


@wp.func
def tendon_length_in_step(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """L as the rows of a tendon see it at the start of a step of h, after their J is written."""
    tendon = model.row_item[row]
    first = model.tendon_term[tendon]
    length = combination_in_step(model, work, model.tendon_coefficient, first, row, column, slot, h)
    return model.tendon_offset[tendon, column] + length


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
def set_tendon_coefficients(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Write J and the push in a step of h; says whether the tendon is enabled in any environment of the column."""
    first = model.tendon_term[model.row_item[row]]
    set_combination(model, work, work.coefficient, model.tendon_coefficient, first, row, column, slot, h)
    set_combination(model, work, work.push, model.tendon_force_coefficient, first, row, column, slot, h)
    return any_positive(model.tendon_enabled[model.row_item[row], column])


@wp.func
def set_fixed_tendon_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the spring and damper of a tendon."""
    tendon = model.row_item[row]
    enabled = model.tendon_enabled[tendon, column]
    k = where_positive(enabled, model.tendon_stiffness[tendon, column], real(0.0, h))
    d = where_positive(enabled, model.tendon_damping[tendon, column], real(0.0, h))
    e = tendon_length_in_step(model, work, row, column, slot, h) - model.tendon_rest_length[tendon, column]
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
        tendon_length_in_step(model, work, row, column, slot, h),
        model.tendon_lower[tendon, column],
        model.tendon_upper[tendon, column],
        k,
        zero,
        spring_theta(work, row, slot, k, zero, h),
        h,
    )
