"""Fixed tendons (Tendon Dynamics, equations 1-5):  L = offset + sum c_i q_i,  S = sum c_i v_i, and on each dof
    (k (rest - L) - d S) r_i + k_lim Delta r_i,   Delta = the change that brings L back to the nearest limit.

L and S are those at the end of the step: L + reach S+, with q the position that forces are evaluated at. The spring and
the limit are a row each, with J = c and the push r:
    spring:  y + z / (h slope) = k (rest - L) / slope,   slope = d + reach k
    limit:   y + z / (h reach k_lim) = the nearest end of [(lower - L) / reach, (upper - L) / reach] if y is outside it.
"""

import warp as wp

from warp_artic.constraints.rows import allow_every_velocity, set_unbounded, set_window
from warp_artic.constraints.tension import tension
from warp_artic.math.numbers import Real, add, div, minimum, mul, real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays


@wp.func
def tendon_length(model: ModelArrays, state: StateArrays, row: int, column: int):
    """L at the positions of the state."""
    tendon = model.row_item[row]
    first = model.tendon_term[tendon]
    start = model.row_term[row]
    length = model.tendon_offset[tendon, column]
    for k in range(model.row_terms[row]):
        q = state.joint_position[model.term_dof[start + k] - model.root_dofs, column]
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
    """J = c and the push r."""
    first = model.tendon_term[model.row_item[row]]
    start = model.row_term[row]
    for k in range(model.row_terms[row]):
        work.coefficient[start + k, slot] = model.tendon_coefficient[first + k, column]
        work.push[start + k, slot] = model.tendon_force_coefficient[first + k, column]


@wp.func
def set_fixed_tendon_row(
    model: ModelArrays, state: StateArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real, reach: Real
):
    """Fill the row of the spring and damper of a tendon."""
    tendon = model.row_item[row]
    one = real(1.0, h)
    k = model.tendon_stiffness[tendon, column]
    slope = model.tendon_damping[tendon, column] + reach * k
    safe = where_positive(slope, slope, one)
    goal = k * (model.tendon_rest_length[tendon, column] - tendon_length(model, state, row, column)) / safe
    set_window(work, row, slot, goal, goal)
    allow_every_velocity(work, row, slot, minimum(slope, model.tendon_enabled[tendon, column]))
    work.compliance[row, slot] = one / (h * safe)
    set_unbounded(work, row, slot, h)
    set_tendon_coefficients(model, work, row, column, slot)


@wp.func
def set_fixed_tendon_limit_row(
    model: ModelArrays, state: StateArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real, reach: Real
):
    """Fill the row of the limits of a tendon."""
    tendon = model.row_item[row]
    one = real(1.0, h)
    k = model.tendon_limit_stiffness[tendon, column]
    safe = where_positive(k, k, one)
    length = tendon_length(model, state, row, column)
    lower = (model.tendon_lower[tendon, column] - length) / reach
    set_window(work, row, slot, lower, (model.tendon_upper[tendon, column] - length) / reach)
    allow_every_velocity(work, row, slot, minimum(k, model.tendon_enabled[tendon, column]))
    work.compliance[row, slot] = one / (h * reach * safe)
    set_unbounded(work, row, slot, h)
    set_tendon_coefficients(model, work, row, column, slot)
